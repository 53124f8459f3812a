# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Sequence
from gluonish.core.context import Context
from gluonish.core.dtype import DType
from gluonish.ndarray.namespace import make_operator_function as make_operator_function
from gluonish.numpy.array import ndarray
from gluonish.numpy_extension.nd_namespaces.np import abs as abs
from gluonish.numpy_extension.nd_namespaces.np import absolute as absolute
from gluonish.numpy_extension.nd_namespaces.np import add as add
from gluonish.numpy_extension.nd_namespaces.np import arange as arange
from gluonish.numpy_extension.nd_namespaces.np import arccos as arccos
from gluonish.numpy_extension.nd_namespaces.np import arccosh as arccosh
from gluonish.numpy_extension.nd_namespaces.np import arcsin as arcsin
from gluonish.numpy_extension.nd_namespaces.np import arcsinh as arcsinh
from gluonish.numpy_extension.nd_namespaces.np import arctan as arctan
from gluonish.numpy_extension.nd_namespaces.np import arctan2 as arctan2
from gluonish.numpy_extension.nd_namespaces.np import arctanh as arctanh
from gluonish.numpy_extension.nd_namespaces.np import argmax as argmax
from gluonish.numpy_extension.nd_namespaces.np import argmin as argmin
from gluonish.numpy_extension.nd_namespaces.np import argsort as argsort
from gluonish.numpy_extension.nd_namespaces.np import around as around
from gluonish.numpy_extension.nd_namespaces.np import average as average
from gluonish.numpy_extension.nd_namespaces.np import bincount as bincount
from gluonish.numpy_extension.nd_namespaces.np import bitwise_and as bitwise_and
from gluonish.numpy_extension.nd_namespaces.np import bitwise_left_shift as bitwise_left_shift
from gluonish.numpy_extension.nd_namespaces.np import bitwise_not as bitwise_not
from gluonish.numpy_extension.nd_namespaces.np import bitwise_or as bitwise_or
from gluonish.numpy_extension.nd_namespaces.np import bitwise_right_shift as bitwise_right_shift
from gluonish.numpy_extension.nd_namespaces.np import bitwise_xor as bitwise_xor
from gluonish.numpy_extension.nd_namespaces.np import blackman as blackman
from gluonish.numpy_extension.nd_namespaces.np import broadcast_to as broadcast_to
from gluonish.numpy_extension.nd_namespaces.np import cbrt as cbrt
from gluonish.numpy_extension.nd_namespaces.np import ceil as ceil
from gluonish.numpy_extension.nd_namespaces.np import clip as clip
from gluonish.numpy_extension.nd_namespaces.np import column_stack as column_stack
from gluonish.numpy_extension.nd_namespaces.np import concatenate as concatenate
from gluonish.numpy_extension.nd_namespaces.np import copysign as copysign
from gluonish.numpy_extension.nd_namespaces.np import cos as cos
from gluonish.numpy_extension.nd_namespaces.np import cosh as cosh
from gluonish.numpy_extension.nd_namespaces.np import cumprod as cumprod
from gluonish.numpy_extension.nd_namespaces.np import degrees as degrees
from gluonish.numpy_extension.nd_namespaces.np import delete as delete
from gluonish.numpy_extension.nd_namespaces.np import diag_indices_from as diag_indices_from
from gluonish.numpy_extension.nd_namespaces.np import diff as diff
from gluonish.numpy_extension.nd_namespaces.np import dsplit as dsplit
from gluonish.numpy_extension.nd_namespaces.np import dstack as dstack
from gluonish.numpy_extension.nd_namespaces.np import ediff1d as ediff1d
from gluonish.numpy_extension.nd_namespaces.np import einsum as einsum
from gluonish.numpy_extension.nd_namespaces.np import equal as equal
from gluonish.numpy_extension.nd_namespaces.np import exp as exp
from gluonish.numpy_extension.nd_namespaces.np import expand_dims as expand_dims
from gluonish.numpy_extension.nd_namespaces.np import expm1 as expm1
from gluonish.numpy_extension.nd_namespaces.np import eye as eye
from gluonish.numpy_extension.nd_namespaces.np import fix as fix
from gluonish.numpy_extension.nd_namespaces.np import flip as flip
from gluonish.numpy_extension.nd_namespaces.np import floor as floor
from gluonish.numpy_extension.nd_namespaces.np import floor_divide as floor_divide
from gluonish.numpy_extension.nd_namespaces.np import fmax as fmax
from gluonish.numpy_extension.nd_namespaces.np import fmin as fmin
from gluonish.numpy_extension.nd_namespaces.np import fmod as fmod
from gluonish.numpy_extension.nd_namespaces.np import full as full
from gluonish.numpy_extension.nd_namespaces.np import full_like as full_like
from gluonish.numpy_extension.nd_namespaces.np import gcd as gcd
from gluonish.numpy_extension.nd_namespaces.np import greater as greater
from gluonish.numpy_extension.nd_namespaces.np import greater_equal as greater_equal
from gluonish.numpy_extension.nd_namespaces.np import hamming as hamming
from gluonish.numpy_extension.nd_namespaces.np import hanning as hanning
from gluonish.numpy_extension.nd_namespaces.np import histogram as histogram
from gluonish.numpy_extension.nd_namespaces.np import hsplit as hsplit
from gluonish.numpy_extension.nd_namespaces.np import hstack as hstack
from gluonish.numpy_extension.nd_namespaces.np import hypot as hypot
from gluonish.numpy_extension.nd_namespaces.np import identity as identity
from gluonish.numpy_extension.nd_namespaces.np import indices as indices
from gluonish.numpy_extension.nd_namespaces.np import isfinite as isfinite
from gluonish.numpy_extension.nd_namespaces.np import isinf as isinf
from gluonish.numpy_extension.nd_namespaces.np import isnan as isnan
from gluonish.numpy_extension.nd_namespaces.np import isneginf as isneginf
from gluonish.numpy_extension.nd_namespaces.np import isposinf as isposinf
from gluonish.numpy_extension.nd_namespaces.np import lcm as lcm
from gluonish.numpy_extension.nd_namespaces.np import ldexp as ldexp
from gluonish.numpy_extension.nd_namespaces.np import less as less
from gluonish.numpy_extension.nd_namespaces.np import less_equal as less_equal
from gluonish.numpy_extension.nd_namespaces.np import linspace as linspace
from gluonish.numpy_extension.nd_namespaces.np import log as log
from gluonish.numpy_extension.nd_namespaces.np import log10 as log10
from gluonish.numpy_extension.nd_namespaces.np import log1p as log1p
from gluonish.numpy_extension.nd_namespaces.np import log2 as log2
from gluonish.numpy_extension.nd_namespaces.np import logaddexp as logaddexp
from gluonish.numpy_extension.nd_namespaces.np import logical_and as logical_and
from gluonish.numpy_extension.nd_namespaces.np import logical_not as logical_not
from gluonish.numpy_extension.nd_namespaces.np import logical_or as logical_or
from gluonish.numpy_extension.nd_namespaces.np import logical_xor as logical_xor
from gluonish.numpy_extension.nd_namespaces.np import logspace as logspace
from gluonish.numpy_extension.nd_namespaces.np import matmul as matmul
from gluonish.numpy_extension.nd_namespaces.np import maximum as maximum
from gluonish.numpy_extension.nd_namespaces.np import mean as mean
from gluonish.numpy_extension.nd_namespaces.np import minimum as minimum
from gluonish.numpy_extension.nd_namespaces.np import mod as mod
from gluonish.numpy_extension.nd_namespaces.np import multiply as multiply
from gluonish.numpy_extension.nd_namespaces.np import nan_to_num as nan_to_num
from gluonish.numpy_extension.nd_namespaces.np import negative as negative
from gluonish.numpy_extension.nd_namespaces.np import nonzero as nonzero
from gluonish.numpy_extension.nd_namespaces.np import not_equal as not_equal
from gluonish.numpy_extension.nd_namespaces.np import ones as ones
from gluonish.numpy_extension.nd_namespaces.np import pad as pad
from gluonish.numpy_extension.nd_namespaces.np import percentile as percentile
from gluonish.numpy_extension.nd_namespaces.np import polyval as polyval
from gluonish.numpy_extension.nd_namespaces.np import power as power
from gluonish.numpy_extension.nd_namespaces.np import radians as radians
from gluonish.numpy_extension.nd_namespaces.np import reciprocal as reciprocal
from gluonish.numpy_extension.nd_namespaces.np import reshape as reshape
from gluonish.numpy_extension.nd_namespaces.np import rint as rint
from gluonish.numpy_extension.nd_namespaces.np import rot90 as rot90
from gluonish.numpy_extension.nd_namespaces.np import sign as sign
from gluonish.numpy_extension.nd_namespaces.np import sin as sin
from gluonish.numpy_extension.nd_namespaces.np import sinh as sinh
from gluonish.numpy_extension.nd_namespaces.np import sort as sort
from gluonish.numpy_extension.nd_namespaces.np import split as split
from gluonish.numpy_extension.nd_namespaces.np import sqrt as sqrt
from gluonish.numpy_extension.nd_namespaces.np import square as square
from gluonish.numpy_extension.nd_namespaces.np import stack as stack
from gluonish.numpy_extension.nd_namespaces.np import std as std
from gluonish.numpy_extension.nd_namespaces.np import subtract as subtract
from gluonish.numpy_extension.nd_namespaces.np import swapaxes as swapaxes
from gluonish.numpy_extension.nd_namespaces.np import take as take
from gluonish.numpy_extension.nd_namespaces.np import tan as tan
from gluonish.numpy_extension.nd_namespaces.np import tanh as tanh
from gluonish.numpy_extension.nd_namespaces.np import tensordot as tensordot
from gluonish.numpy_extension.nd_namespaces.np import tile as tile
from gluonish.numpy_extension.nd_namespaces.np import tril as tril
from gluonish.numpy_extension.nd_namespaces.np import triu as triu
from gluonish.numpy_extension.nd_namespaces.np import true_divide as true_divide
from gluonish.numpy_extension.nd_namespaces.np import trunc as trunc
from gluonish.numpy_extension.nd_namespaces.np import unique as unique
from gluonish.numpy_extension.nd_namespaces.np import var as var
from gluonish.numpy_extension.nd_namespaces.np import vstack as vstack
from gluonish.numpy_extension.nd_namespaces.np import where as where
from gluonish.numpy_extension.nd_namespaces.np import zeros as zeros
from gluonish.numpy_extension.operators import taking_np_arrays as taking_np_arrays
from gluonish.ops.frontend import prefixed as prefixed
from typing import Literal


def Custom(
    data: ndarray,
    op_type: str,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """An operator written in Python and registered with mx.operator.register."""
def add_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data + scalar."""
def arctan2_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise angle, in radians, of the point (x, y) with y = data and x = scalar."""
def bernoulli(
    input1: ndarray,
    prob: float | None,
    logit: float | None,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    is_logit: bool | int = ...,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw 1 with probability prob, or with is_logit 1 / (1 + exp(-logit)), else 0."""
def bitwise_and_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise bitwise and of data and a number, in the dtype of data."""
def bitwise_left_shift_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise left shift of data and a number, in the dtype of data."""
def bitwise_or_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise bitwise or of data and a number, in the dtype of data."""
def bitwise_right_shift_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise right shift of data and a number, in the dtype of data."""
def bitwise_xor_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise bitwise exclusive or of data and a number, in the dtype of data."""
def boolean_mask(
    data: ndarray,
    index: ndarray,
    axis: int = 0,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Select the rows of data where index is not 0, in order; axis must be 0."""
def boolean_mask_assign_scalar(
    data: ndarray,
    mask: ndarray,
    value: float,
    start_axis: int = 0,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """data with the number value where mask is true; mask covers the axes of data from start_axis
    on."""
def boolean_mask_assign_tensor(
    data: ndarray,
    mask: ndarray,
    value: ndarray,
    start_axis: int = 0,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """data with the elements of value where mask is true."""
def cast(
    data: ndarray,
    dtype: DType,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Cast data to another dtype."""
def choice(
    input1: ndarray,
    input2: ndarray | None = None,
    a: int | None = ...,
    size: int | Sequence[int] | None = ...,
    ctx: str = "cpu",
    replace: bool | int = True,
    weighted: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw indices below a, or below the number of elements of the first input."""
def cholesky(
    A: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Compute the Cholesky factor of symmetric positive definite A: lower triangular L with A = L
    L^T."""
def copysign_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise absolute value of data with the sign of scalar."""
def copyto(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Copy data."""
def cvimdecode(
    buf: ndarray,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Decode the bytes of an image file."""
def cvimread(
    filename: str,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    ctx: Context | str | None = None,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Read an image file; flag and to_rgb are as in _cvimdecode."""
def cvimresize(
    src: ndarray,
    w: int,
    h: int,
    interp: int = 1,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Resize an image to width w and height h; interp is as in _image_resize."""
def det(
    A: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Compute the determinant of every matrix."""
def eig(
    A: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Compute the eigenvalues of square matrices, and eigenvectors of length 1 as columns."""
def eigh(
    A: ndarray,
    UPLO: Literal["L", "U"] | str = "L",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Compute the eigenvalues of symmetric A in ascending order, and its orthonormal eigenvectors
    as columns."""
def eigvals(
    A: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Compute the eigenvalues of square matrices, in the order of LAPACK."""
def eigvalsh(
    A: ndarray,
    UPLO: Literal["L", "U"] | str = "L",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Compute the eigenvalues of symmetric A in ascending order."""
def equal_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data == scalar, as bool."""
def exponential(
    input1: ndarray,
    scale: float | None = 1.0,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw from the exponential distribution."""
def floor_divide_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise the largest integer that is not greater than data / scalar."""
def fmax_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise maximum of data and scalar; the other one where one is NaN."""
def fmin_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise minimum of data and scalar; the other one where one is NaN."""
def fmod_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise remainder of data / scalar, with the sign of data."""
def gamma(
    input1: ndarray,
    input2: ndarray | None = None,
    shape: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw from the gamma distribution."""
def gather_nd(
    data: ndarray,
    indices: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Gather elements of data at points: column j of indices holds the M coordinates of point j."""
def gcd_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise greatest common divisor of data and a number, in the dtype of data."""
def greater_equal_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data >= scalar, as bool."""
def greater_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data > scalar, as bool."""
def gumbel(
    input1: ndarray,
    input2: ndarray | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw from the Gumbel distribution."""
def hypot_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise square root of the sum of the squares of data and scalar."""
def insert_scalar(
    arr: ndarray,
    values: ndarray | None = None,
    val: float | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Insert values, or the number val, before position int_ind along axis."""
def insert_slice(
    arr: ndarray,
    values: ndarray | None = None,
    val: float | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Insert values, or the number val, before the positions of a slice along axis, one for
    each."""
def insert_tensor(
    arr: ndarray,
    values: ndarray | None = None,
    obj: ndarray | None = None,
    val: float | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Insert values, or the number val, before the positions in obj along axis, one for each."""
def inv(
    A: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Invert every matrix."""
def lcm_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise least common multiple of data and a number, in the dtype of data."""
def ldexp_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data times 2 to the power of scalar."""
def less_equal_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data <= scalar, as bool."""
def less_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data < scalar, as bool."""
def logaddexp_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise logarithm of exp(data) + exp(scalar)."""
def logical_and_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise logical and of data and a number, as bool."""
def logical_or_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise logical or of data and a number, as bool."""
def logical_xor_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise logical exclusive or of data and a number, as bool."""
def logistic(
    input1: ndarray,
    input2: ndarray | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw from the logistic distribution."""
def maximum_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise maximum of data and scalar."""
def minimum_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise minimum of data and scalar."""
def mod_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data modulo scalar, with the sign of the divisor and 0 for a divisor of 0."""
def multinomial(
    a: ndarray,
    n: int,
    pvals: float | Sequence[float] | None = None,
    size: int | Sequence[int] | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw how often each class occurs in n trials: an array of counts for each element of size."""
def multiply_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data * scalar."""
def norm(
    data: ndarray,
    ord: float = 2.0,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    flag: int = -1,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Compute the norm of vectors along one axis, or of matrices along two axes (rows, then
    columns)."""
def normal(
    input1: ndarray,
    input2: ndarray | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw from the normal distribution."""
def normal_n(
    input1: ndarray,
    input2: ndarray | None = None,
    loc: float | None = ...,
    scale: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw from the normal distribution, an array of shape size for each parameter."""
def not_equal_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data != scalar, as bool."""
def pareto(
    input1: ndarray,
    a: float | None = None,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw from the Pareto II (Lomax) distribution, which starts at 0."""
def pinv(
    A: ndarray,
    rcond: ndarray,
    hermitian: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Compute the pseudo-inverse of every matrix."""
def pinv_scalar_rcond(
    A: ndarray,
    rcond: float = 1e-15,
    hermitian: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Compute the pseudo-inverse of every matrix."""
def power_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data to the power of scalar."""
def powerd(
    input1: ndarray,
    a: float | None = None,
    size: int | Sequence[int] | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw from the power distribution on (0, 1), with density a x^(a - 1)."""
def random_randint(
    low: int,
    high: int,
    shape: int | Sequence[int] | None = None,
    ctx: str = "",
    dtype: DType | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw integers uniformly from [low, high)."""
def rarctan2_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise angle, in radians, of the point (x, y) with y = scalar and x = data."""
def rayleigh(
    input1: ndarray,
    scale: float | None = 1.0,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw from the Rayleigh distribution."""
def rbitwise_left_shift_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise left shift of a number and data, in the dtype of data."""
def rbitwise_right_shift_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise right shift of a number and data, in the dtype of data."""
def rcopysign_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise absolute value of scalar with the sign of data."""
def repeats(
    data: ndarray,
    repeats: int | Sequence[int],
    axis: int | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Repeat each position along axis repeats times, with one number for all or one for each;
    without axis, data is flattened first."""
def rfloor_divide_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise the largest integer that is not greater than scalar / data."""
def rfmod_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise remainder of scalar / data, with the sign of scalar."""
def rldexp_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise scalar times 2 to the power of data."""
def rmod_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise scalar modulo data, with the sign of the divisor and 0 for a divisor of 0."""
def rnn_param_concat(
    *data: ndarray | Sequence[ndarray],
    num_args: int = ...,
    dim: int = 1,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Join vectors; dim must be 0."""
def rpower_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise scalar to the power of data."""
def rsubtract_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise scalar - data."""
def rtrue_divide_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise scalar / data."""
def scatter_set_nd(
    lhs: ndarray,
    rhs: ndarray,
    indices: ndarray,
    shape: int | Sequence[int],
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Set the points of lhs at indices to rhs; the last of equal points wins."""
def share_memory(
    a: ndarray,
    b: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Whether two arrays share memory."""
def shuffle(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Shuffle the slices along axis 0."""
def slice(
    data: ndarray,
    begin: int | Sequence[int | None],
    end: int | Sequence[int | None],
    step: int | Sequence[int | None] = (),
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Slice data from begin up to end in steps of step, as Python slices."""
def slice_assign(
    lhs: ndarray,
    rhs: ndarray,
    begin: int | Sequence[int | None],
    end: int | Sequence[int | None],
    step: int | Sequence[int | None] = (),
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Replace a region of lhs by rhs."""
def slice_assign_scalar(
    data: ndarray,
    scalar: float = 0.0,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Set a region of data to a number."""
def slogdet(
    A: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Compute the sign of the determinant of every matrix, and the logarithm of its absolute
    value."""
def solve(
    A: ndarray,
    B: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Solve A X = B for X, with square matrices A."""
def subtract_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data - scalar."""
def svd(
    A: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Compute the singular value decomposition: U, s and V with A = U diag(s) V, singular values in
    descending order."""
def tensordot_int_axes(
    a: ndarray,
    b: ndarray,
    axes: int,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Sum products over the last axes of a and the first axes of b; axes is their number."""
def tensorinv(
    a: ndarray,
    ind: int = 2,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Invert a as a matrix whose rows are the first ind axes."""
def tensorsolve(
    a: ndarray,
    b: ndarray,
    a_axes: int | Sequence[int] = (),
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Solve tensordot(a, x, x.ndim) = b for x; the last axes of a are the axes of x."""
def true_divide_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise data / scalar."""
def uniform(
    input1: ndarray,
    input2: ndarray | None = None,
    low: float | None = ...,
    high: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw from the uniform distribution on [low, high)."""
def uniform_n(
    input1: ndarray,
    input2: ndarray | None = None,
    low: float | None = ...,
    high: float | None = ...,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    dtype: DType = ...,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw from the uniform distribution on [low, high), an array of shape size for each
    parameter."""
def weibull(
    input1: ndarray,
    a: float | None = None,
    size: int | Sequence[int] | None = None,
    ctx: str = "cpu",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Draw from the Weibull distribution."""
def where_lscalar(
    condition: ndarray,
    x: ndarray,
    scalar: float = 0.0,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """scalar where condition is not 0, else x, in the dtype of x."""
def where_rscalar(
    condition: ndarray,
    y: ndarray,
    scalar: float = 0.0,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """y where condition is not 0, else scalar, in the dtype of y."""
def where_scalar2(
    condition: ndarray,
    x: float = 0.0,
    y: float = 0.0,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """The number x where condition is not 0, else the number y, as float32."""
