# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Sequence
from gluonish.core.context import Context
from gluonish.core.dtype import DType
from gluonish.ndarray.namespace import make_operator_function as make_operator_function
from gluonish.ndarray.numpy import abs as abs
from gluonish.ndarray.numpy import absolute as absolute
from gluonish.ndarray.numpy import add as add
from gluonish.ndarray.numpy import arange as arange
from gluonish.ndarray.numpy import arccos as arccos
from gluonish.ndarray.numpy import arccosh as arccosh
from gluonish.ndarray.numpy import arcsin as arcsin
from gluonish.ndarray.numpy import arcsinh as arcsinh
from gluonish.ndarray.numpy import arctan as arctan
from gluonish.ndarray.numpy import arctan2 as arctan2
from gluonish.ndarray.numpy import arctanh as arctanh
from gluonish.ndarray.numpy import argmax as argmax
from gluonish.ndarray.numpy import argmin as argmin
from gluonish.ndarray.numpy import argsort as argsort
from gluonish.ndarray.numpy import around as around
from gluonish.ndarray.numpy import average as average
from gluonish.ndarray.numpy import bincount as bincount
from gluonish.ndarray.numpy import bitwise_and as bitwise_and
from gluonish.ndarray.numpy import bitwise_not as bitwise_not
from gluonish.ndarray.numpy import bitwise_or as bitwise_or
from gluonish.ndarray.numpy import bitwise_xor as bitwise_xor
from gluonish.ndarray.numpy import blackman as blackman
from gluonish.ndarray.numpy import broadcast_to as broadcast_to
from gluonish.ndarray.numpy import cbrt as cbrt
from gluonish.ndarray.numpy import ceil as ceil
from gluonish.ndarray.numpy import clip as clip
from gluonish.ndarray.numpy import column_stack as column_stack
from gluonish.ndarray.numpy import concatenate as concatenate
from gluonish.ndarray.numpy import copysign as copysign
from gluonish.ndarray.numpy import cos as cos
from gluonish.ndarray.numpy import cosh as cosh
from gluonish.ndarray.numpy import degrees as degrees
from gluonish.ndarray.numpy import delete as delete
from gluonish.ndarray.numpy import diag_indices_from as diag_indices_from
from gluonish.ndarray.numpy import diff as diff
from gluonish.ndarray.numpy import dsplit as dsplit
from gluonish.ndarray.numpy import dstack as dstack
from gluonish.ndarray.numpy import ediff1d as ediff1d
from gluonish.ndarray.numpy import einsum as einsum
from gluonish.ndarray.numpy import equal as equal
from gluonish.ndarray.numpy import exp as exp
from gluonish.ndarray.numpy import expand_dims as expand_dims
from gluonish.ndarray.numpy import expm1 as expm1
from gluonish.ndarray.numpy import eye as eye
from gluonish.ndarray.numpy import fix as fix
from gluonish.ndarray.numpy import flip as flip
from gluonish.ndarray.numpy import floor as floor
from gluonish.ndarray.numpy import full as full
from gluonish.ndarray.numpy import full_like as full_like
from gluonish.ndarray.numpy import greater as greater
from gluonish.ndarray.numpy import greater_equal as greater_equal
from gluonish.ndarray.numpy import hamming as hamming
from gluonish.ndarray.numpy import hanning as hanning
from gluonish.ndarray.numpy import histogram as histogram
from gluonish.ndarray.numpy import hsplit as hsplit
from gluonish.ndarray.numpy import hstack as hstack
from gluonish.ndarray.numpy import hypot as hypot
from gluonish.ndarray.numpy import identity as identity
from gluonish.ndarray.numpy import indices as indices
from gluonish.ndarray.numpy import isfinite as isfinite
from gluonish.ndarray.numpy import isinf as isinf
from gluonish.ndarray.numpy import isnan as isnan
from gluonish.ndarray.numpy import isneginf as isneginf
from gluonish.ndarray.numpy import isposinf as isposinf
from gluonish.ndarray.numpy import lcm as lcm
from gluonish.ndarray.numpy import ldexp as ldexp
from gluonish.ndarray.numpy import less as less
from gluonish.ndarray.numpy import less_equal as less_equal
from gluonish.ndarray.numpy import linspace as linspace
from gluonish.ndarray.numpy import log as log
from gluonish.ndarray.numpy import log10 as log10
from gluonish.ndarray.numpy import log1p as log1p
from gluonish.ndarray.numpy import log2 as log2
from gluonish.ndarray.numpy import logical_not as logical_not
from gluonish.ndarray.numpy import logspace as logspace
from gluonish.ndarray.numpy import matmul as matmul
from gluonish.ndarray.numpy import maximum as maximum
from gluonish.ndarray.numpy import mean as mean
from gluonish.ndarray.numpy import minimum as minimum
from gluonish.ndarray.numpy import mod as mod
from gluonish.ndarray.numpy import multiply as multiply
from gluonish.ndarray.numpy import nan_to_num as nan_to_num
from gluonish.ndarray.numpy import negative as negative
from gluonish.ndarray.numpy import nonzero as nonzero
from gluonish.ndarray.numpy import not_equal as not_equal
from gluonish.ndarray.numpy import ones as ones
from gluonish.ndarray.numpy import pad as pad
from gluonish.ndarray.numpy import percentile as percentile
from gluonish.ndarray.numpy import polyval as polyval
from gluonish.ndarray.numpy import power as power
from gluonish.ndarray.numpy import radians as radians
from gluonish.ndarray.numpy import reciprocal as reciprocal
from gluonish.ndarray.numpy import reshape as reshape
from gluonish.ndarray.numpy import rint as rint
from gluonish.ndarray.numpy import rot90 as rot90
from gluonish.ndarray.numpy import sign as sign
from gluonish.ndarray.numpy import sin as sin
from gluonish.ndarray.numpy import sinh as sinh
from gluonish.ndarray.numpy import sort as sort
from gluonish.ndarray.numpy import split as split
from gluonish.ndarray.numpy import sqrt as sqrt
from gluonish.ndarray.numpy import square as square
from gluonish.ndarray.numpy import stack as stack
from gluonish.ndarray.numpy import std as std
from gluonish.ndarray.numpy import subtract as subtract
from gluonish.ndarray.numpy import swapaxes as swapaxes
from gluonish.ndarray.numpy import take as take
from gluonish.ndarray.numpy import tan as tan
from gluonish.ndarray.numpy import tanh as tanh
from gluonish.ndarray.numpy import tensordot as tensordot
from gluonish.ndarray.numpy import tile as tile
from gluonish.ndarray.numpy import tril as tril
from gluonish.ndarray.numpy import true_divide as true_divide
from gluonish.ndarray.numpy import trunc as trunc
from gluonish.ndarray.numpy import unique as unique
from gluonish.ndarray.numpy import var as var
from gluonish.ndarray.numpy import vstack as vstack
from gluonish.ndarray.numpy import where as where
from gluonish.ndarray.numpy import zeros as zeros
from gluonish.numpy.array import ndarray
from gluonish.numpy_extension.operators import taking_np_arrays as taking_np_arrays
from gluonish.ops.face import prefixed as prefixed
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
    """1 with probability prob, or with is_logit with probability 1 / (1 + exp(-logit)), else 0."""
def bitwise_and_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise bitwise and of data and a number, in the dtype of data."""
def bitwise_or_scalar(
    data: ndarray,
    scalar: float = 1.0,
    is_int: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elementwise bitwise or of data and a number, in the dtype of data."""
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
    """The rows of data for which index is not 0, in order; axis must be 0."""
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
    """The values of data in another dtype; floats become integers by truncation toward zero, and
    wrap around."""
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
    """Positions drawn from 0 up to a, or up to the number of elements of the first input."""
def cholesky(
    A: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Cholesky factor: lower triangular L with A = L L^T, for symmetric positive definite A."""
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
    """A copy of data."""
def cvimdecode(
    buf: ndarray,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Decode the image in the bytes of a file."""
def cvimread(
    filename: str,
    flag: int = 1,
    to_rgb: bool | int = True,
    *,
    ctx: Context | str | None = None,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Read the image in a file; flag and to_rgb are those of _cvimdecode."""
def cvimresize(
    src: ndarray,
    w: int,
    h: int,
    interp: int = 1,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Resize an image to width w and height h; interp is that of _image_resize."""
def det(
    A: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Determinant of every matrix."""
def eig(
    A: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Eigenvalues of square matrices, and eigenvectors of length 1 as columns."""
def eigh(
    A: ndarray,
    UPLO: Literal["L", "U"] | str = "L",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Ascending eigenvalues of symmetric A, and its orthonormal eigenvectors as columns."""
def eigvals(
    A: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Eigenvalues of square matrices, in the order of LAPACK."""
def eigvalsh(
    A: ndarray,
    UPLO: Literal["L", "U"] | str = "L",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Ascending eigenvalues of symmetric A."""
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
    """Samples of the exponential distribution."""
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
    """Samples of the gamma distribution."""
def gather_nd(
    data: ndarray,
    indices: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Elements of data at points: column j of indices holds the M coordinates of point j."""
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
    """Samples of the Gumbel distribution."""
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
    """Inverse of every matrix."""
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
    """Samples of the logistic distribution."""
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
    """How often each class occurs in n trials: an array of counts for each element of size."""
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
    """Norm of vectors along one axis, or of matrices along two axes (rows, then columns)."""
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
    """Samples of the normal distribution."""
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
    """Samples of the normal distribution, an array of shape size for each parameter."""
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
    """Samples of the Pareto II (Lomax) distribution, from 0 on."""
def pinv(
    A: ndarray,
    rcond: ndarray,
    hermitian: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Pseudo-inverse of every matrix."""
def pinv_scalar_rcond(
    A: ndarray,
    rcond: float = 1e-15,
    hermitian: bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Pseudo-inverse of every matrix."""
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
    """Samples of the power distribution on (0, 1), with density a x^(a - 1)."""
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
    """Random integers, uniform on [low, high)."""
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
    """Samples of the Rayleigh distribution."""
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
    """Repeat each position along axis as often as repeats says, one number for all or one for each;
    without axis, data is flattened first."""
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
    """lhs with the points in indices set to rhs; of equal points the last one counts."""
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
    """The slices along axis 0 in random order."""
def slice(
    data: ndarray,
    begin: int | Sequence[int | None],
    end: int | Sequence[int | None],
    step: int | Sequence[int | None] = (),
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """The region from begin up to end in steps of step, as Python slices."""
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
    """lhs with a region replaced by rhs."""
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
    """data with a region set to a number."""
def slogdet(
    A: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Sign of the determinant of every matrix, and the logarithm of its absolute value."""
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
    """Singular value decomposition: U, s and V with A = U diag(s) V, singular values in descending
    order."""
def tensordot_int_axes(
    a: ndarray,
    b: ndarray,
    axes: int,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Sum of products over the last axes of a and the first axes of b; axes is their number."""
def tensorinv(
    a: ndarray,
    ind: int = 2,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Inverse of a as a matrix that maps its axes from ind on to those before."""
def tensorsolve(
    a: ndarray,
    b: ndarray,
    a_axes: int | Sequence[int] = (),
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Solve tensordot(a, x, x.ndim) = b for x: the last axes of a are those of x."""
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
    """Samples of the uniform distribution on [low, high)."""
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
    """Samples of the uniform distribution on [low, high), an array of shape size for each
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
    """Samples of the Weibull distribution."""
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
