# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Mapping
from collections.abc import Sequence
from gluonish.core.dtype import DType
from gluonish.ops.frontend import prefixed as prefixed
from gluonish.symbol.numpy import abs as abs
from gluonish.symbol.numpy import absolute as absolute
from gluonish.symbol.numpy import add as add
from gluonish.symbol.numpy import arange as arange
from gluonish.symbol.numpy import arccos as arccos
from gluonish.symbol.numpy import arccosh as arccosh
from gluonish.symbol.numpy import arcsin as arcsin
from gluonish.symbol.numpy import arcsinh as arcsinh
from gluonish.symbol.numpy import arctan as arctan
from gluonish.symbol.numpy import arctan2 as arctan2
from gluonish.symbol.numpy import arctanh as arctanh
from gluonish.symbol.numpy import argmax as argmax
from gluonish.symbol.numpy import argmin as argmin
from gluonish.symbol.numpy import argsort as argsort
from gluonish.symbol.numpy import around as around
from gluonish.symbol.numpy import average as average
from gluonish.symbol.numpy import bincount as bincount
from gluonish.symbol.numpy import bitwise_and as bitwise_and
from gluonish.symbol.numpy import bitwise_left_shift as bitwise_left_shift
from gluonish.symbol.numpy import bitwise_not as bitwise_not
from gluonish.symbol.numpy import bitwise_or as bitwise_or
from gluonish.symbol.numpy import bitwise_right_shift as bitwise_right_shift
from gluonish.symbol.numpy import bitwise_xor as bitwise_xor
from gluonish.symbol.numpy import blackman as blackman
from gluonish.symbol.numpy import broadcast_to as broadcast_to
from gluonish.symbol.numpy import cbrt as cbrt
from gluonish.symbol.numpy import ceil as ceil
from gluonish.symbol.numpy import clip as clip
from gluonish.symbol.numpy import column_stack as column_stack
from gluonish.symbol.numpy import concatenate as concatenate
from gluonish.symbol.numpy import copysign as copysign
from gluonish.symbol.numpy import cos as cos
from gluonish.symbol.numpy import cosh as cosh
from gluonish.symbol.numpy import cumprod as cumprod
from gluonish.symbol.numpy import degrees as degrees
from gluonish.symbol.numpy import delete as delete
from gluonish.symbol.numpy import diag_indices_from as diag_indices_from
from gluonish.symbol.numpy import diff as diff
from gluonish.symbol.numpy import dsplit as dsplit
from gluonish.symbol.numpy import dstack as dstack
from gluonish.symbol.numpy import ediff1d as ediff1d
from gluonish.symbol.numpy import einsum as einsum
from gluonish.symbol.numpy import equal as equal
from gluonish.symbol.numpy import exp as exp
from gluonish.symbol.numpy import expand_dims as expand_dims
from gluonish.symbol.numpy import expm1 as expm1
from gluonish.symbol.numpy import eye as eye
from gluonish.symbol.numpy import fix as fix
from gluonish.symbol.numpy import flip as flip
from gluonish.symbol.numpy import floor as floor
from gluonish.symbol.numpy import floor_divide as floor_divide
from gluonish.symbol.numpy import fmax as fmax
from gluonish.symbol.numpy import fmin as fmin
from gluonish.symbol.numpy import fmod as fmod
from gluonish.symbol.numpy import full as full
from gluonish.symbol.numpy import full_like as full_like
from gluonish.symbol.numpy import gcd as gcd
from gluonish.symbol.numpy import greater as greater
from gluonish.symbol.numpy import greater_equal as greater_equal
from gluonish.symbol.numpy import hamming as hamming
from gluonish.symbol.numpy import hanning as hanning
from gluonish.symbol.numpy import histogram as histogram
from gluonish.symbol.numpy import hsplit as hsplit
from gluonish.symbol.numpy import hstack as hstack
from gluonish.symbol.numpy import hypot as hypot
from gluonish.symbol.numpy import identity as identity
from gluonish.symbol.numpy import indices as indices
from gluonish.symbol.numpy import isfinite as isfinite
from gluonish.symbol.numpy import isinf as isinf
from gluonish.symbol.numpy import isnan as isnan
from gluonish.symbol.numpy import isneginf as isneginf
from gluonish.symbol.numpy import isposinf as isposinf
from gluonish.symbol.numpy import lcm as lcm
from gluonish.symbol.numpy import ldexp as ldexp
from gluonish.symbol.numpy import less as less
from gluonish.symbol.numpy import less_equal as less_equal
from gluonish.symbol.numpy import linspace as linspace
from gluonish.symbol.numpy import log as log
from gluonish.symbol.numpy import log10 as log10
from gluonish.symbol.numpy import log1p as log1p
from gluonish.symbol.numpy import log2 as log2
from gluonish.symbol.numpy import logaddexp as logaddexp
from gluonish.symbol.numpy import logical_and as logical_and
from gluonish.symbol.numpy import logical_not as logical_not
from gluonish.symbol.numpy import logical_or as logical_or
from gluonish.symbol.numpy import logical_xor as logical_xor
from gluonish.symbol.numpy import logspace as logspace
from gluonish.symbol.numpy import matmul as matmul
from gluonish.symbol.numpy import maximum as maximum
from gluonish.symbol.numpy import mean as mean
from gluonish.symbol.numpy import minimum as minimum
from gluonish.symbol.numpy import mod as mod
from gluonish.symbol.numpy import multiply as multiply
from gluonish.symbol.numpy import nan_to_num as nan_to_num
from gluonish.symbol.numpy import negative as negative
from gluonish.symbol.numpy import nonzero as nonzero
from gluonish.symbol.numpy import not_equal as not_equal
from gluonish.symbol.numpy import ones as ones
from gluonish.symbol.numpy import pad as pad
from gluonish.symbol.numpy import percentile as percentile
from gluonish.symbol.numpy import polyval as polyval
from gluonish.symbol.numpy import power as power
from gluonish.symbol.numpy import radians as radians
from gluonish.symbol.numpy import reciprocal as reciprocal
from gluonish.symbol.numpy import reshape as reshape
from gluonish.symbol.numpy import rint as rint
from gluonish.symbol.numpy import rot90 as rot90
from gluonish.symbol.numpy import sign as sign
from gluonish.symbol.numpy import sin as sin
from gluonish.symbol.numpy import sinh as sinh
from gluonish.symbol.numpy import sort as sort
from gluonish.symbol.numpy import split as split
from gluonish.symbol.numpy import sqrt as sqrt
from gluonish.symbol.numpy import square as square
from gluonish.symbol.numpy import stack as stack
from gluonish.symbol.numpy import std as std
from gluonish.symbol.numpy import subtract as subtract
from gluonish.symbol.numpy import swapaxes as swapaxes
from gluonish.symbol.numpy import take as take
from gluonish.symbol.numpy import tan as tan
from gluonish.symbol.numpy import tanh as tanh
from gluonish.symbol.numpy import tensordot as tensordot
from gluonish.symbol.numpy import tile as tile
from gluonish.symbol.numpy import tril as tril
from gluonish.symbol.numpy import triu as triu
from gluonish.symbol.numpy import true_divide as true_divide
from gluonish.symbol.numpy import trunc as trunc
from gluonish.symbol.numpy import unique as unique
from gluonish.symbol.numpy import var as var
from gluonish.symbol.numpy import vstack as vstack
from gluonish.symbol.numpy import where as where
from gluonish.symbol.numpy import zeros as zeros
from gluonish.symbol.numpy_symbol import NumpySymbol
from gluonish.symbol.numpy_symbol import make_np_function as make_np_function
from typing import Literal


def Custom(
    data: NumpySymbol | None = None,
    op_type: str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """An operator written in Python and registered with mx.operator.register."""
def add_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data + scalar."""
def arctan2_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise angle, in radians, of the point (x, y) with y = data and x = scalar."""
def bernoulli(
    input1: NumpySymbol | None = None,
    prob: float | None = ...,
    logit: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    is_logit: bool | int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw 1 with probability prob, or with is_logit 1 / (1 + exp(-logit)), else 0."""
def bitwise_and_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise bitwise and of data and a number, in the dtype of data."""
def bitwise_left_shift_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise left shift of data and a number, in the dtype of data."""
def bitwise_or_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise bitwise or of data and a number, in the dtype of data."""
def bitwise_right_shift_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise right shift of data and a number, in the dtype of data."""
def bitwise_xor_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise bitwise exclusive or of data and a number, in the dtype of data."""
def boolean_mask(
    data: NumpySymbol | None = None,
    index: NumpySymbol | None = None,
    axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Select the rows of data where index is not 0, in order; axis must be 0."""
def boolean_mask_assign_scalar(
    data: NumpySymbol | None = None,
    mask: NumpySymbol | None = None,
    value: float = ...,
    start_axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """data with the number value where mask is true; mask covers the axes of data from start_axis
    on."""
def boolean_mask_assign_tensor(
    data: NumpySymbol | None = None,
    mask: NumpySymbol | None = None,
    value: NumpySymbol | None = None,
    start_axis: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """data with the elements of value where mask is true."""
def cast(
    data: NumpySymbol | None = None,
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Cast data to another dtype."""
def choice(
    input1: NumpySymbol | None = None,
    input2: NumpySymbol | None = None,
    a: int | None = ...,
    size: int | Sequence[int] | None = ...,
    ctx: str = "cpu",
    replace: bool | int = True,
    weighted: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw indices below a, or below the number of elements of the first input."""
def cholesky(
    A: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the Cholesky factor of symmetric positive definite A: lower triangular L with A = L
    L^T."""
def copysign_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise absolute value of data with the sign of scalar."""
def copyto(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Copy data."""
def cvimdecode(
    buf: NumpySymbol | None = None,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Decode the bytes of an image file."""
def cvimread(
    filename: str,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Read an image file; flag and to_rgb are as in _cvimdecode."""
def cvimresize(
    src: NumpySymbol | None = None,
    w: int = ...,
    h: int = ...,
    interp: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Resize an image to width w and height h; interp is as in _image_resize."""
def det(
    A: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the determinant of every matrix."""
def eig(
    A: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the eigenvalues of square matrices, and eigenvectors of length 1 as columns."""
def eigh(
    A: NumpySymbol | None = None,
    UPLO: Literal["L", "U"] | str = "L",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the eigenvalues of symmetric A in ascending order, and its orthonormal eigenvectors
    as columns."""
def eigvals(
    A: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the eigenvalues of square matrices, in the order of LAPACK."""
def eigvalsh(
    A: NumpySymbol | None = None,
    UPLO: Literal["L", "U"] | str = "L",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the eigenvalues of symmetric A in ascending order."""
def equal_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data == scalar, as bool."""
def exponential(
    input1: NumpySymbol | None = None,
    scale: float | None = 1.0,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw from the exponential distribution."""
def floor_divide_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise the largest integer that is not greater than data / scalar."""
def fmax_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise maximum of data and scalar; the other one where one is NaN."""
def fmin_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise minimum of data and scalar; the other one where one is NaN."""
def fmod_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise remainder of data / scalar, with the sign of data."""
def gamma(
    input1: NumpySymbol | None = None,
    input2: NumpySymbol | None = None,
    shape: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw from the gamma distribution."""
def gather_nd(
    data: NumpySymbol | None = None,
    indices: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Gather elements of data at points: column j of indices holds the M coordinates of point j."""
def gcd_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise greatest common divisor of data and a number, in the dtype of data."""
def greater_equal_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data >= scalar, as bool."""
def greater_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data > scalar, as bool."""
def gumbel(
    input1: NumpySymbol | None = None,
    input2: NumpySymbol | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw from the Gumbel distribution."""
def hypot_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise square root of the sum of the squares of data and scalar."""
def insert_scalar(
    arr: NumpySymbol | None = None,
    values: NumpySymbol | None = None,
    val: float | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Insert values, or the number val, before position int_ind along axis."""
def insert_slice(
    arr: NumpySymbol | None = None,
    values: NumpySymbol | None = None,
    val: float | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Insert values, or the number val, before the positions of a slice along axis, one for
    each."""
def insert_tensor(
    arr: NumpySymbol | None = None,
    values: NumpySymbol | None = None,
    obj: NumpySymbol | None = None,
    val: float | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Insert values, or the number val, before the positions in obj along axis, one for each."""
def inv(
    A: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Invert every matrix."""
def lcm_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise least common multiple of data and a number, in the dtype of data."""
def ldexp_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data times 2 to the power of scalar."""
def less_equal_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data <= scalar, as bool."""
def less_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data < scalar, as bool."""
def logaddexp_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise logarithm of exp(data) + exp(scalar)."""
def logical_and_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise logical and of data and a number, as bool."""
def logical_or_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise logical or of data and a number, as bool."""
def logical_xor_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise logical exclusive or of data and a number, as bool."""
def logistic(
    input1: NumpySymbol | None = None,
    input2: NumpySymbol | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw from the logistic distribution."""
def maximum_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise maximum of data and scalar."""
def minimum_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise minimum of data and scalar."""
def mod_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data modulo scalar, with the sign of the divisor and 0 for a divisor of 0."""
def multinomial(
    a: NumpySymbol | None = None,
    n: int = ...,
    pvals: float | Sequence[float] | None = None,
    size: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw how often each class occurs in n trials: an array of counts for each element of size."""
def multiply_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data * scalar."""
def norm(
    data: NumpySymbol | None = None,
    ord: float = 2.0,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    flag: int = -1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the norm of vectors along one axis, or of matrices along two axes (rows, then
    columns)."""
def normal(
    input1: NumpySymbol | None = None,
    input2: NumpySymbol | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw from the normal distribution."""
def normal_n(
    input1: NumpySymbol | None = None,
    input2: NumpySymbol | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw from the normal distribution, an array of shape size for each parameter."""
def not_equal_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data != scalar, as bool."""
def pareto(
    input1: NumpySymbol | None = None,
    a: float | None = None,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw from the Pareto II (Lomax) distribution, which starts at 0."""
def pinv(
    A: NumpySymbol | None = None,
    rcond: NumpySymbol | None = None,
    hermitian: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the pseudo-inverse of every matrix."""
def pinv_scalar_rcond(
    A: NumpySymbol | None = None,
    rcond: float = 1e-15,
    hermitian: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the pseudo-inverse of every matrix."""
def power_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data to the power of scalar."""
def powerd(
    input1: NumpySymbol | None = None,
    a: float | None = None,
    size: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw from the power distribution on (0, 1), with density a x^(a - 1)."""
def random_randint(
    low: int,
    high: int,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw integers uniformly from [low, high)."""
def rarctan2_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise angle, in radians, of the point (x, y) with y = scalar and x = data."""
def rayleigh(
    input1: NumpySymbol | None = None,
    scale: float | None = 1.0,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw from the Rayleigh distribution."""
def rbitwise_left_shift_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise left shift of a number and data, in the dtype of data."""
def rbitwise_right_shift_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise right shift of a number and data, in the dtype of data."""
def rcopysign_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise absolute value of scalar with the sign of data."""
def repeats(
    data: NumpySymbol | None = None,
    repeats: int | Sequence[int] = ...,
    axis: int | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Repeat each position along axis repeats times, with one number for all or one for each;
    without axis, data is flattened first."""
def rfloor_divide_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise the largest integer that is not greater than scalar / data."""
def rfmod_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise remainder of scalar / data, with the sign of scalar."""
def rldexp_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise scalar times 2 to the power of data."""
def rmod_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise scalar modulo data, with the sign of the divisor and 0 for a divisor of 0."""
def rnn_param_concat(
    *data: NumpySymbol | Sequence[NumpySymbol],
    num_args: int = ...,
    dim: int = 1,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Join vectors; dim must be 0."""
def rpower_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise scalar to the power of data."""
def rsubtract_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise scalar - data."""
def rtrue_divide_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise scalar / data."""
def scatter_set_nd(
    lhs: NumpySymbol | None = None,
    rhs: NumpySymbol | None = None,
    indices: NumpySymbol | None = None,
    shape: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Set the points of lhs at indices to rhs; the last of equal points wins."""
def share_memory(
    a: NumpySymbol | None = None,
    b: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Whether two arrays share memory."""
def shuffle(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Shuffle the slices along axis 0."""
def slice(
    data: NumpySymbol | None = None,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Slice data from begin up to end in steps of step, as Python slices."""
def slice_assign(
    lhs: NumpySymbol | None = None,
    rhs: NumpySymbol | None = None,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Replace a region of lhs by rhs."""
def slice_assign_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 0.0,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Set a region of data to a number."""
def slogdet(
    A: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the sign of the determinant of every matrix, and the logarithm of its absolute
    value."""
def solve(
    A: NumpySymbol | None = None,
    B: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Solve A X = B for X, with square matrices A."""
def subtract_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data - scalar."""
def svd(
    A: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute the singular value decomposition: U, s and V with A = U diag(s) V, singular values in
    descending order."""
def tensordot_int_axes(
    a: NumpySymbol | None = None,
    b: NumpySymbol | None = None,
    axes: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Sum products over the last axes of a and the first axes of b; axes is their number."""
def tensorinv(
    a: NumpySymbol | None = None,
    ind: int = 2,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Invert a as a matrix whose rows are the first ind axes."""
def tensorsolve(
    a: NumpySymbol | None = None,
    b: NumpySymbol | None = None,
    a_axes: int | Sequence[int] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Solve tensordot(a, x, x.ndim) = b for x; the last axes of a are the axes of x."""
def true_divide_scalar(
    data: NumpySymbol | None = None,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Elementwise data / scalar."""
def uniform(
    input1: NumpySymbol | None = None,
    input2: NumpySymbol | None = None,
    low: float | None = ...,
    high: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw from the uniform distribution on [low, high)."""
def uniform_n(
    input1: NumpySymbol | None = None,
    input2: NumpySymbol | None = None,
    low: float | None = ...,
    high: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw from the uniform distribution on [low, high), an array of shape size for each
    parameter."""
def weibull(
    input1: NumpySymbol | None = None,
    a: float | None = None,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Draw from the Weibull distribution."""
def where_lscalar(
    condition: NumpySymbol | None = None,
    x: NumpySymbol | None = None,
    scalar: float = 0.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """scalar where condition is not 0, else x, in the dtype of x."""
def where_rscalar(
    condition: NumpySymbol | None = None,
    y: NumpySymbol | None = None,
    scalar: float = 0.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """y where condition is not 0, else scalar, in the dtype of y."""
def where_scalar2(
    condition: NumpySymbol | None = None,
    x: float = 0.0,
    y: float = 0.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """The number x where condition is not 0, else the number y, as float32."""
