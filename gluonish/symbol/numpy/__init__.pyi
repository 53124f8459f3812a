# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Mapping
from collections.abc import Sequence
from gluonish.core.dtype import DType
from gluonish.symbol.numpy import _internal as _internal
from gluonish.symbol.numpy import linalg as linalg
from gluonish.symbol.numpy import random as random
from gluonish.symbol.numpy_symbol import NumpySymbol
from gluonish.symbol.numpy_symbol import NumpySymbol as _Symbol
from typing import Any
from typing import Literal
import builtins

__all__ = [
    "linalg",
    "random",
]

def abs(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Absolute value."""
def absolute(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Absolute value."""
def acos(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Inverse cosine, in radians: `arccos`."""
def acosh(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Inverse hyperbolic cosine: `arccosh`."""
def add(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """x1 + x2."""
def all(
    data: NumpySymbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Whether all elements along axis are not 0, all axes by default, as bool."""
def allclose(
    a: Any,
    b: Any,
    rtol: Any = 1e-05,
    atol: Any = 1e-08,
    equal_nan: Any = False,
) -> NumpySymbol:
    """Returns True if two arrays are element-wise equal within a tolerance."""
def alltrue(*args: Any, **kwargs: Any) -> NumpySymbol:
    """Test whether all array elements along a given axis evaluate to True."""
def amax(
    a: NumpySymbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Maximum along axis, all axes by default."""
def amin(
    a: NumpySymbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Minimum along axis, all axes by default."""
def any(
    data: NumpySymbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Whether any element along axis is not 0, all axes by default, as bool."""
def append(arr: Any, values: Any, axis: Any = None) -> NumpySymbol:
    """Append values to an array along an axis; None flattens both first."""
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> NumpySymbol:
    """Apply a function to 1-D slices along the given axis."""
def apply_over_axes(func: Any, a: Any, axes: Any) -> NumpySymbol:
    """Apply a function repeatedly over multiple axes."""
def arange(
    start: float,
    stop: Any = None,
    step: Any = 1,
    dtype: Any = None,
    ctx: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Return evenly spaced values in [start, stop); with one bound only, in [0, bound)."""
def arccos(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Inverse cosine, in radians."""
def arccosh(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Inverse hyperbolic cosine."""
def arcsin(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Inverse sine, in radians."""
def arcsinh(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Inverse hyperbolic sine."""
def arctan(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Inverse tangent, in radians."""
def arctan2(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Angle of the point (x2, x1), in radians."""
def arctanh(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Inverse hyperbolic tangent."""
def argmax(a: Any, axis: Any = None, out: Any = None, keepdims: builtins.bool = False) -> NumpySymbol:
    """Return the index of the first largest element along an axis, as int64."""
def argmin(a: Any, axis: Any = None, out: Any = None, keepdims: builtins.bool = False) -> NumpySymbol:
    """Return the index of the first smallest element along an axis; arguments as for `argmax`."""
def argpartition(
    a: Any,
    kth: Any,
    axis: Any = -1,
    kind: Any = "introselect",
    order: Any = None,
) -> NumpySymbol:
    """Perform an indirect partition along the given axis using the"""
def argsort(
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
) -> NumpySymbol:
    """Return the indices that would sort an array, int64; arguments as for `sort`."""
def argwhere(a: Any) -> NumpySymbol:
    """Find the indices of array elements that are non-zero, grouped by element."""
def around(x: Any, decimals: int = 0, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Round to a number of decimals; halves go to the even neighbour."""
def array(object: Any, dtype: Any = None, ctx: Any = None, device: Any = None) -> NumpySymbol:
    """Create an array from a copy of other values."""
def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> NumpySymbol:
    """True if two arrays have the same shape and elements, False otherwise."""
def array_equiv(a1: Any, a2: Any) -> NumpySymbol:
    """Returns True if input arrays are shape consistent and all elements equal."""
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> NumpySymbol:
    """Split an array along an axis; the parts may differ in size by 1, larger ones first."""
def asarray(obj: Any, dtype: Any = None, device: Any = None, copy: Any = None) -> NumpySymbol:
    """Return values as an array; an array of this dtype and device is returned itself."""
def asin(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Inverse sine, in radians: `arcsin`."""
def asinh(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Inverse hyperbolic sine: `arcsinh`."""
def astype(x: Any, dtype: Any, *, copy: builtins.bool = True, device: Any = None) -> NumpySymbol:
    """Return an array converted to another dtype."""
def atan(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Inverse tangent, in radians: `arctan`."""
def atan2(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Angle of the point (x2, x1), in radians: `arctan2`."""
def atanh(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Inverse hyperbolic tangent: `arctanh`."""
def atleast_1d(
    *data: NumpySymbol | Sequence[NumpySymbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Each array with axes of size 1 added until it has 1, as in NumPy."""
def atleast_2d(
    *data: NumpySymbol | Sequence[NumpySymbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Each array with axes of size 1 added until it has 2, as in NumPy."""
def atleast_3d(
    *data: NumpySymbol | Sequence[NumpySymbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Each array with axes of size 1 added until it has 3, as in NumPy."""
def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: builtins.bool = False,
    out: Any = None,
) -> NumpySymbol:
    """Return the weighted mean over axes."""
def bincount(x: Any, weights: Any = None, minlength: int = 0) -> NumpySymbol:
    """Count the occurrences of each integer from 0, or sum their weights."""
def bitwise_and(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Bitwise and."""
def bitwise_invert(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Bitwise not: `invert`."""
def bitwise_left_shift(x1: Any, x2: Any, out: Any = None) -> NumpySymbol:
    """x1 * 2 ** x2 of integers."""
def bitwise_not(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Bitwise not; logical not for bool."""
def bitwise_or(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Bitwise or."""
def bitwise_right_shift(x1: Any, x2: Any, out: Any = None) -> NumpySymbol:
    """x1 // 2 ** x2 of integers."""
def bitwise_xor(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Bitwise exclusive or."""
def blackman(M: int, dtype: Any = None, ctx: Any = None, device: Any = None) -> NumpySymbol:
    """Return the Blackman window of ``M`` points."""
def bool(value: Any = False) -> NumpySymbol:
    """Boolean type (True or False), stored as a byte."""
def bool_(value: Any = False) -> NumpySymbol:
    """Boolean type (True or False), stored as a byte."""
def broadcast_arrays(*args: Any) -> NumpySymbol:
    """Return the arrays broadcast to one shape."""
def broadcast_to(array: Any, shape: Any) -> NumpySymbol:
    """Return the array with axes of size 1 stretched to ``shape``; for a number `np.full`."""
def can_cast(from_: Any, to: Any) -> NumpySymbol:
    """Return whether a type is converted to another by promotion."""
def cbrt(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Cube root."""
def ceil(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """The smallest integer that is not less than x."""
def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> NumpySymbol:
    """Construct an array from an index array and a list of arrays to choose from."""
def clip(a: Any, a_min: Any, a_max: Any, out: Any = None) -> NumpySymbol:
    """Limit values to [a_min, a_max]; None is no limit."""
def column_stack(tup: Any) -> NumpySymbol:
    """Stack arrays along axis 1; vectors become columns."""
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> NumpySymbol:
    """Return selected slices of an array along given axis."""
def concat(seq: Any, axis: Any = 0, out: Any = None) -> NumpySymbol:
    """Concatenate arrays along an axis: `concatenate`."""
def concatenate(seq: Any, axis: Any = 0, out: Any = None) -> NumpySymbol:
    """Concatenate arrays along an axis."""
def copy(
    a: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """A copy of a."""
def copysign(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """x1 with the sign of x2."""
def corrcoef(
    x: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = ...,
    ddof: Any = ...,
    *,
    dtype: Any = None,
) -> NumpySymbol:
    """Return Pearson product-moment correlation coefficients."""
def correlate(a: Any, v: Any, mode: Any = "valid") -> NumpySymbol:
    """Cross-correlation of two 1-dimensional sequences."""
def cos(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Cosine of radians."""
def cosh(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Hyperbolic cosine."""
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> NumpySymbol:
    """Counts the number of non-zero values in the array ``a``."""
def cov(
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> NumpySymbol:
    """Estimate a covariance matrix, given data and weights."""
def cross(
    a: Any,
    b: Any,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: Any = None,
) -> NumpySymbol:
    """Return the vector products of vectors of two or three elements; the other axes broadcast."""
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> NumpySymbol:
    """Return the cumulative product along an axis; None for the flattened array."""
def cumsum(
    a: NumpySymbol | None = None,
    axis: int | None = None,
    dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Cumulative sums along axis, or of all elements in row-major order."""
def cumulative_prod(
    x: Any,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: builtins.bool = False,
) -> NumpySymbol:
    """Return the cumulative product along an axis; arguments as for `cumulative_sum`."""
def cumulative_sum(
    x: Any,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: builtins.bool = False,
) -> NumpySymbol:
    """Return the cumulative sum along an axis."""
def deg2rad(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Degrees as radians."""
def degrees(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Radians as degrees."""
def delete(arr: Any, obj: Any, axis: Any = None) -> NumpySymbol:
    """Return a copy with subarrays along an axis deleted."""
def diag(
    data: NumpySymbol | None = None,
    k: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Diagonal k of a matrix; for a vector, the matrix with the vector on diagonal k."""
def diag_indices_from(arr: Any) -> NumpySymbol:
    """Return the indices of the main diagonal of an array with equal extents, one per axis."""
def diagflat(
    data: NumpySymbol | None = None,
    k: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """A matrix with all elements of data, in row-major order, on diagonal k."""
def diagonal(
    data: NumpySymbol | None = None,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """The diagonal at offset of the matrices in axes axis1 and axis2, which becomes the last
    axis."""
def diff(
    a: Any,
    n: int = 1,
    axis: int = -1,
    prepend: Any = None,
    append: Any = None,
) -> NumpySymbol:
    """Return the n-th differences of neighbouring elements along an axis."""
def digitize(x: Any, bins: Any, right: Any = False) -> NumpySymbol:
    """Return the indices of the bins to which each value in input array belongs."""
def divide(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """x1 / x2; float32 for integers."""
def divmod(*args: Any, **kwargs: Any) -> NumpySymbol:
    """Return element-wise quotient and remainder simultaneously."""
def dot(
    a: NumpySymbol | None = None,
    b: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Sum products over the last axis of a and the second-to-last axis of b, or b's only axis."""
def dsplit(ary: Any, indices_or_sections: Any) -> NumpySymbol:
    """Split an array of three or more axes along axis 2."""
def dstack(arrays: Any) -> NumpySymbol:
    """Stack arrays along axis 2, which is added if they have fewer axes."""
def dtype(dtype: Any, align: Any = False, copy: Any = False, **kwargs: Any) -> NumpySymbol:
    """dtype(dtype, align=False, copy=False, **kwargs) --"""
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> NumpySymbol:
    """Return the differences of neighbouring elements of the flattened array."""
def einsum(*operands: Any, **kwargs: Any) -> NumpySymbol:
    """Evaluate Einstein's summation convention: sums of products of arrays."""
def empty(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    ctx: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Return an array to be filled later, which is zeroed; arguments as for `zeros`."""
def empty_like(
    prototype: Any,
    dtype: Any = None,
    order: str = "C",
    subok: builtins.bool = False,
    shape: Any = None,
    *,
    device: Any = None,
) -> NumpySymbol:
    """Return an array of the same shape as another, to be filled later; it is zeroed."""
def equal(x1: Any, x2: Any, out: Any = None) -> NumpySymbol:
    """Whether x1 == x2."""
def exp(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """e to the power of x."""
def expand_dims(a: Any, axis: Any) -> NumpySymbol:
    """Return the array with new axes of size 1 at the positions ``axis`` of the result."""
def expm1(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """exp(x) - 1, accurate for small x."""
def extract(condition: Any, arr: Any) -> NumpySymbol:
    """Return the elements of an array that satisfy some condition."""
def eye(N: int, M: Any = None, k: int = 0, dtype: Any = None, **kwargs: Any) -> NumpySymbol:
    """Return a matrix with ones on a diagonal."""
def fabs(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Absolute value."""
def fill_diagonal(a: Any, val: Any, wrap: builtins.bool = False) -> NumpySymbol:
    """Write values to the main diagonal of an array, in place."""
def finfo(dtype: Any) -> NumpySymbol:
    """finfo(dtype)"""
def fix(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """The nearest integer towards zero."""
def flatnonzero(a: Any) -> NumpySymbol:
    """Return indices that are non-zero in the flattened version of a."""
def flip(m: Any, axis: Any = None, out: Any = None) -> NumpySymbol:
    """Return the array with the elements on axes, or on all, in reverse order."""
def fliplr(m: Any) -> NumpySymbol:
    """Return the array with axis 1 in reverse order."""
def flipud(m: Any) -> NumpySymbol:
    """Return the array with axis 0 in reverse order."""
def float16(value: Any = 0) -> NumpySymbol:
    """Half-precision floating-point number type."""
def float32(value: Any = 0) -> NumpySymbol:
    """Single-precision floating-point number type, compatible with C ``float``."""
def float64(value: Any = 0) -> NumpySymbol:
    """Double-precision floating-point number type, compatible with Python :class:`float` and C
    ``double``."""
def float_power(x1: Any, x2: Any) -> NumpySymbol:
    """Return ``x1`` to the power of ``x2``, in float64."""
def floor(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """The largest integer that is not greater than x."""
def floor_divide(x1: Any, x2: Any, out: Any = None) -> NumpySymbol:
    """The largest integer that is not greater than x1 / x2."""
def fmax(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """The larger one; the other one where one is NaN."""
def fmin(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """The smaller one; the other one where one is NaN."""
def fmod(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Remainder of x1 / x2, with the sign of x1."""
def frexp(*args: Any, **kwargs: Any) -> NumpySymbol:
    """Decompose the elements of x into mantissa and twos exponent."""
def from_dlpack(x: Any, *, device: Any = None, copy: Any = None) -> NumpySymbol:
    """Return an array on the memory of an array of another library."""
def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Return an array filled with one value."""
def full_like(
    a: Any,
    fill_value: float,
    dtype: Any = None,
    order: str = "C",
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Return an array of the same shape as another, filled with one value."""
def gcd(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Greatest common divisor of integers."""
def genfromtxt(*args: Any, **kwargs: Any) -> NumpySymbol:
    """Load data from a text file, with missing values handled as specified."""
def greater(x1: Any, x2: Any, out: Any = None) -> NumpySymbol:
    """Whether x1 > x2."""
def greater_equal(x1: Any, x2: Any, out: Any = None) -> NumpySymbol:
    """Whether x1 >= x2."""
def hamming(M: int, dtype: Any = None, ctx: Any = None, device: Any = None) -> NumpySymbol:
    """Return the Hamming window of ``M`` points."""
def hanning(M: int, dtype: Any = None, ctx: Any = None, device: Any = None) -> NumpySymbol:
    """Return the Hann window of ``M`` points."""
def heaviside(*args: Any, **kwargs: Any) -> NumpySymbol:
    """Compute the Heaviside step function."""
def histogram(
    a: Any,
    bins: Any = 10,
    range: Any = None,
    normed: Any = None,
    weights: Any = None,
    density: Any = None,
) -> NumpySymbol:
    """Compute a histogram: the number of elements in each bin, and the bin edges."""
def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    normed: Any = None,
    weights: Any = None,
    density: Any = None,
) -> NumpySymbol:
    """Compute the bi-dimensional histogram of two data samples."""
def histogram_bin_edges(
    a: Any,
    bins: Any = 10,
    range: Any = None,
    weights: Any = None,
) -> NumpySymbol:
    """Function to calculate only the edges of the bins used by the `histogram`"""
def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    normed: Any = None,
    weights: Any = None,
    density: Any = None,
) -> NumpySymbol:
    """Compute the multidimensional histogram of some data."""
def hsplit(ary: Any, indices_or_sections: Any) -> NumpySymbol:
    """Split along axis 1, a vector along axis 0; larger parts come first if they are not equal."""
def hstack(arrays: Any) -> NumpySymbol:
    """Stack arrays along axis 1; vectors along axis 0."""
def hypot(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """sqrt(x1 ** 2 + x2 ** 2)."""
def i0(x: Any) -> NumpySymbol:
    """Modified Bessel function of the first kind, order 0."""
def identity(n: int, dtype: Any = None, ctx: Any = None, device: Any = None) -> NumpySymbol:
    """Return the identity matrix of ``n`` rows, float32 by default."""
def iinfo(dtype: Any) -> NumpySymbol:
    """The limits of a type of integers: ``min``, ``max`` and ``bits``."""
def in1d(ar1: Any, ar2: Any, assume_unique: Any = False, invert: Any = False) -> NumpySymbol:
    """in1d"""
def indices(dimensions: Any, dtype: Any = None, ctx: Any = None, device: Any = None) -> NumpySymbol:
    """Return the indices of a grid, (N, *dimensions): for each axis the index of every element."""
def inner(a: Any, b: Any) -> NumpySymbol:
    """Return the sum of products over the last axes."""
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> NumpySymbol:
    """Return a copy with values inserted before given indices along an axis."""
def int16(value: Any = 0) -> NumpySymbol:
    """Signed integer type, compatible with C ``short``."""
def int32(value: Any = 0) -> NumpySymbol:
    """Signed integer type, compatible with C ``int``."""
def int64(value: Any = 0) -> NumpySymbol:
    """Signed integer type, compatible with C ``long``."""
def int8(value: Any = 0) -> NumpySymbol:
    """Signed integer type, compatible with C ``char``."""
def interp(
    x: Any,
    xp: Any,
    fp: Any,
    left: Any = None,
    right: Any = None,
    period: Any = None,
) -> NumpySymbol:
    """One-dimensional linear interpolation for monotonically increasing sample points."""
def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: Any = False,
    return_indices: Any = False,
) -> NumpySymbol:
    """Find the intersection of two arrays."""
def invert(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Bitwise not; logical not for bool."""
def isclose(
    a: Any,
    b: Any,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: builtins.bool = False,
) -> NumpySymbol:
    """Return where ``|a - b| <= atol + rtol * |b|``, as bool; equal infinities are close."""
def isdtype(dtype: Any, kind: Any) -> NumpySymbol:
    """Return whether an element type is of a kind."""
def isfinite(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Whether x is neither infinite nor NaN."""
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: Any = False,
    invert: Any = False,
) -> NumpySymbol:
    """Calculates ``element in test_elements``, broadcasting over `element` only."""
def isinf(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Whether x is infinite."""
def isnan(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Whether x is NaN."""
def isneginf(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Whether x is negative infinity."""
def isposinf(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Whether x is positive infinity."""
def ix_(*args: Any) -> NumpySymbol:
    """Construct an open mesh from multiple sequences."""
def kron(a: Any, b: Any) -> NumpySymbol:
    """Return the Kronecker product: each element of ``a`` times all of ``b``."""
def lcm(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Least common multiple of integers."""
def ldexp(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """x1 * 2 ** x2."""
def less(x1: Any, x2: Any, out: Any = None) -> NumpySymbol:
    """Whether x1 < x2."""
def less_equal(x1: Any, x2: Any, out: Any = None) -> NumpySymbol:
    """Whether x1 <= x2."""
def lexsort(*args: Any, **kwargs: Any) -> NumpySymbol:
    """Perform an indirect stable sort using a sequence of keys."""
def linspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: builtins.bool = True,
    retstep: builtins.bool = False,
    dtype: Any = None,
    axis: int = 0,
    ctx: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Return evenly spaced values from start to stop."""
def log(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Natural logarithm."""
def log10(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Logarithm to the base 10."""
def log1p(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """log(1 + x), accurate for small x."""
def log2(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Logarithm to the base 2."""
def logaddexp(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """log(exp(x1) + exp(x2))."""
def logical_and(x1: Any, x2: Any, out: Any = None) -> NumpySymbol:
    """Whether both are nonzero."""
def logical_not(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Whether x is zero."""
def logical_or(x1: Any, x2: Any, out: Any = None) -> NumpySymbol:
    """Whether one is nonzero."""
def logical_xor(x1: Any, x2: Any, out: Any = None) -> NumpySymbol:
    """Whether exactly one is nonzero."""
def logspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: builtins.bool = True,
    base: float = 10.0,
    dtype: Any = None,
    axis: int = 0,
    ctx: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Return ``base`` to the power of `linspace`; other arguments as for `linspace`."""
def matmul(a: Any, b: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Return the matrix product over the last two axes; the others broadcast."""
def matrix_transpose(x: Any = None, *, a: Any = None) -> NumpySymbol:
    """Return the array with its last two axes swapped."""
def max(
    a: NumpySymbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Maximum along axis, all axes by default."""
def maximum(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """The larger one."""
def may_share_memory(a: Any, b: Any, max_work: Any = None) -> NumpySymbol:
    """Return whether two arrays may share memory; see `shares_memory`."""
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: builtins.bool = False,
) -> NumpySymbol:
    """Return the mean over axes; arguments as for `sum`."""
def median(
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = None,
    keepdims: builtins.bool = False,
) -> NumpySymbol:
    """Return the median over axes: the middle element, or the mean of the two middle ones."""
def meshgrid(*xi: Any, **kwargs: Any) -> NumpySymbol:
    """Return the coordinates of a grid."""
def min(
    a: NumpySymbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Minimum along axis, all axes by default."""
def min_scalar_type(*args: Any, **kwargs: Any) -> NumpySymbol:
    """For scalar ``a``, returns the data type with the smallest size"""
def minimum(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """The smaller one."""
def mirr(*args: Any, **kwds: Any) -> NumpySymbol:
    """Not supported: NumPy removed ``mirr``; use the package numpy_financial."""
def mod(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Remainder of x1 / x2, with the sign of x2."""
def modf(*args: Any, **kwargs: Any) -> NumpySymbol:
    """Return the fractional and integral parts of an array, element-wise."""
def moveaxis(
    a: NumpySymbol | None = None,
    source: int | Sequence[int] = ...,
    destination: int | Sequence[int] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Move the axes in source to the positions in destination; the others keep their order."""
def msort(a: Any) -> NumpySymbol:
    """Return a copy sorted along axis 0."""
def multiply(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """x1 * x2."""
def nan_to_num(
    x: Any,
    copy: builtins.bool = True,
    nan: float = 0.0,
    posinf: Any = None,
    neginf: Any = None,
    **kwargs: Any,
) -> NumpySymbol:
    """Replace NaN and infinities by numbers."""
def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = ...) -> NumpySymbol:
    """Return the indices of the maximum values in the specified axis ignoring"""
def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = ...) -> NumpySymbol:
    """Return the indices of the minimum values in the specified axis ignoring"""
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> NumpySymbol:
    """Return the cumulative product along an axis, in which NaN counts as 1."""
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> NumpySymbol:
    """Return the cumulative sum along an axis, in which NaN counts as 0."""
def nanmax(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Any = None,
) -> NumpySymbol:
    """Return the largest element over axes that is not NaN; NaN where all are."""
def nanmedian(
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    keepdims: Any = ...,
) -> NumpySymbol:
    """Compute the median along the specified axis, while ignoring NaNs."""
def nanmin(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Any = None,
) -> NumpySymbol:
    """Return the smallest element over axes that is not NaN; arguments as for `nanmax`."""
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = ...,
    *,
    interpolation: Any = None,
) -> NumpySymbol:
    """Compute the qth percentile of the data along the specified axis,"""
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Any = None,
) -> NumpySymbol:
    """Return the product over axes of the elements that are not NaN."""
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = ...,
    *,
    interpolation: Any = None,
) -> NumpySymbol:
    """Compute the qth quantile of the data along the specified axis,"""
def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: builtins.bool = False,
) -> NumpySymbol:
    """Return the standard deviation over axes of the elements that are not NaN; see `nanvar`."""
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Any = None,
) -> NumpySymbol:
    """Return the sum over axes of the elements that are not NaN."""
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: builtins.bool = False,
) -> NumpySymbol:
    """Return the variance over axes of the elements that are not NaN."""
def ndarray(
    data: Any,
    spec: Any = None,
    device: Any = None,
    var: Any = None,
    link: Any = None,
) -> NumpySymbol:
    """A multi-dimensional array on a device, with NumPy's semantics."""
def ndim(a: Any) -> NumpySymbol:
    """Return the number of dimensions of an array."""
def negative(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """-x."""
def nonzero(a: Any) -> NumpySymbol:
    """Return the indices of the elements that are not zero, int64, one array for each axis."""
def not_equal(x1: Any, x2: Any, out: Any = None) -> NumpySymbol:
    """Whether x1 != x2."""
def npv(*args: Any, **kwds: Any) -> NumpySymbol:
    """Not supported: NumPy removed ``npv``; use the package numpy_financial."""
def ones(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    ctx: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Return an array of ones; arguments as for `zeros`."""
def ones_like(
    a: Any,
    dtype: Any = None,
    order: str = "C",
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Return ones of the same shape as an array; arguments as for `full_like`."""
def outer(a: Any, b: Any) -> NumpySymbol:
    """Return the products of all elements of ``a`` with all of ``b``: a matrix."""
def packbits(*args: Any, **kwargs: Any) -> NumpySymbol:
    """Packs the elements of a binary-valued array into bits in a uint8 array."""
def pad(x: Any, pad_width: Any = None, mode: str = "constant", **kwargs: Any) -> NumpySymbol:
    """Return the array with padding."""
def partition(
    a: Any,
    kth: Any,
    axis: Any = -1,
    kind: Any = "introselect",
    order: Any = None,
) -> NumpySymbol:
    """Return a partitioned copy of an array."""
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = None,
    interpolation: str = "linear",
    keepdims: builtins.bool = False,
) -> NumpySymbol:
    """Return the ``q``-th percentile of the elements over axes."""
def permute_dims(a: Any, axes: Any = None) -> NumpySymbol:
    """Return the array with its axes in the order of ``axes``: `transpose`."""
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> NumpySymbol:
    """Evaluate a piecewise-defined function."""
def pmt(*args: Any, **kwds: Any) -> NumpySymbol:
    """Not supported: NumPy removed ``pmt``; use the package numpy_financial."""
def poly(seq_of_zeros: Any) -> NumpySymbol:
    """Find the coefficients of a polynomial with the given sequence of roots."""
def polyadd(a1: Any, a2: Any) -> NumpySymbol:
    """Find the sum of two polynomials."""
def polydiv(u: Any, v: Any) -> NumpySymbol:
    """Returns the quotient and remainder of polynomial division."""
def polyfit(
    x: Any,
    y: Any,
    deg: Any,
    rcond: Any = None,
    full: Any = False,
    w: Any = None,
    cov: Any = False,
) -> NumpySymbol:
    """Least squares polynomial fit."""
def polyint(p: Any, m: Any = 1, k: Any = None) -> NumpySymbol:
    """Return an antiderivative (indefinite integral) of a polynomial."""
def polymul(a1: Any, a2: Any) -> NumpySymbol:
    """Find the product of two polynomials."""
def polysub(a1: Any, a2: Any) -> NumpySymbol:
    """Difference (subtraction) of two polynomials."""
def polyval(p: Any, x: Any) -> NumpySymbol:
    """Return the values at ``x`` of the polynomial with coefficients ``p``, the highest first."""
def positive(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Return a copy, ``+x``."""
def pow(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """x1 to the power of x2: `power`."""
def power(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """x1 to the power of x2."""
def ppmt(*args: Any, **kwds: Any) -> NumpySymbol:
    """Not supported: NumPy removed ``ppmt``; use the package numpy_financial."""
def prod(
    a: NumpySymbol | None = None,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Product along axis, all axes by default, in dtype."""
def product(
    a: NumpySymbol | None = None,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Product along axis, all axes by default, in dtype."""
def promote_types(*args: Any, **kwargs: Any) -> NumpySymbol:
    """Returns the data type with the smallest size and smallest scalar"""
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: builtins.bool = False) -> NumpySymbol:
    """Return the range of the elements over axes: the largest minus the smallest."""
def pv(*args: Any, **kwds: Any) -> NumpySymbol:
    """Not supported: NumPy removed ``pv``; use the package numpy_financial."""
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = None,
    interpolation: str = "linear",
    keepdims: builtins.bool = False,
) -> NumpySymbol:
    """Return the ``q``-th quantile of the elements, ``q`` in [0, 1]; see `percentile`."""
def rad2deg(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Radians as degrees."""
def radians(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Degrees as radians."""
def rate(*args: Any, **kwds: Any) -> NumpySymbol:
    """Not supported: NumPy removed ``rate``; use the package numpy_financial."""
def ravel(x: Any, order: str = "C") -> NumpySymbol:
    """Return a flattened copy."""
def real(val: Any) -> NumpySymbol:
    """Return a copy: arrays have no imaginary part."""
def reciprocal(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """1 / x."""
def remainder(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Remainder of x1 / x2, with the sign of x2."""
def repeat(a: Any, repeats: Any, axis: Any = None) -> NumpySymbol:
    """Repeat each element along an axis."""
def reshape(
    a: NumpySymbol | None = None,
    newshape: int | Sequence[int] = ...,
    order: str = "C",
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """The same elements in the same order in another shape; one size may be -1, and is then
    inferred."""
def resize(a: Any, new_shape: Any) -> NumpySymbol:
    """Return an array of a new shape, filled with repeated copies of the elements."""
def result_type(*arrays_and_dtypes: Any) -> NumpySymbol:
    """Return the element type of an operation on arrays, element types and numbers, such as a
    sum."""
def rint(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """The nearest integer; halves to the even one."""
def roll(
    data: NumpySymbol | None = None,
    shift: int | Sequence[int] | None = None,
    axis: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Shift elements by shift positions along axis; elements shifted past the end wrap around."""
def rollaxis(a: Any, axis: int, start: int = 0) -> NumpySymbol:
    """Return the array with an axis moved in front of another."""
def roots(p: Any) -> NumpySymbol:
    """Return the roots of a polynomial with coefficients given in p."""
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> NumpySymbol:
    """Rotate an array by ``k`` times 90 degrees, from the first of two axes towards the second."""
def round(x: Any, decimals: int = 0, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Round to a number of decimals: `around`."""
def round_(x: Any, decimals: int = 0, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Round to a number of decimals: `around`."""
def row_stack(arrays: Any) -> NumpySymbol:
    """Stack arrays along axis 0: `vstack`."""
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> NumpySymbol:
    """Find indices where elements should be inserted to maintain order."""
def select(condlist: Any, choicelist: Any, default: Any = 0) -> NumpySymbol:
    """Return an array drawn from elements in choicelist, depending on conditions."""
def set_printoptions(precision: Any = None, threshold: Any = None, **kwarg: Any) -> NumpySymbol:
    """Set NumPy's print options, which apply to NumPy arrays, too."""
def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> NumpySymbol:
    """Find the set difference of two arrays."""
def setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> NumpySymbol:
    """Find the set exclusive-or of two arrays."""
def shape(a: Any) -> NumpySymbol:
    """Return the shape of an array."""
def shares_memory(a: Any, b: Any, max_work: Any = None) -> NumpySymbol:
    """Return whether two arrays share memory."""
def sign(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """-1, 0 or 1."""
def signbit(*args: Any, **kwargs: Any) -> NumpySymbol:
    """Returns element-wise True where signbit is set (less than zero)."""
def sin(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Sine of radians."""
def sinh(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Hyperbolic sine."""
def size(a: Any, axis: Any = None) -> NumpySymbol:
    """Return the number of elements along a given axis."""
def sometrue(
    data: NumpySymbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Whether any element along axis is not 0, all axes by default, as bool."""
def sort(
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
) -> NumpySymbol:
    """Sort the elements along an axis; return a copy."""
def spacing(*args: Any, **kwargs: Any) -> NumpySymbol:
    """Return the distance between x and the nearest adjacent number."""
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> NumpySymbol:
    """Split an array along an axis."""
def sqrt(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Square root."""
def square(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """x * x."""
def squeeze(
    a: NumpySymbol | None = None,
    axis: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Remove the axes of size 1, or only those in axis."""
def stack(arrays: Any, axis: int = 0, out: Any = None) -> NumpySymbol:
    """Stack arrays of equal shape along a new axis."""
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: builtins.bool = False,
    *,
    correction: Any = None,
) -> NumpySymbol:
    """Return the standard deviation over axes; arguments as for `var`."""
def subtract(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """x1 - x2."""
def sum(
    a: NumpySymbol | None = None,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Sum along axis, all axes by default, in dtype."""
def swapaxes(a: Any, axis1: int, axis2: int) -> NumpySymbol:
    """Return the array with two axes swapped."""
def take(
    a: Any,
    indices: Any,
    axis: Any = None,
    mode: str = "raise",
    out: Any = None,
) -> NumpySymbol:
    """Return elements at given indices along an axis."""
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> NumpySymbol:
    """Return the elements at an index for each row along an axis, such as those of `argsort`."""
def tan(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Tangent of radians."""
def tanh(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Hyperbolic tangent."""
def tensordot(a: Any, b: Any, axes: Any = 2) -> NumpySymbol:
    """Return sums of products over some axes."""
def tile(A: Any, reps: Any) -> NumpySymbol:
    """Return the array repeated ``reps`` times along each axis."""
def trace(
    data: NumpySymbol | None = None,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Sum the diagonal at offset over the axes axis1 and axis2."""
def transpose(
    a: NumpySymbol | None = None,
    axes: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Permute the axes; without axes their order is reversed."""
def trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> NumpySymbol:
    """Return the integral along an axis by the trapezoidal rule."""
def tri(
    N: int,
    M: Any = None,
    k: int = 0,
    dtype: Any = None,
    ctx: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Return a matrix with ones on and below diagonal ``k``, and zeros above it."""
def tril(m: Any, k: int = 0) -> NumpySymbol:
    """Return a matrix with zeros above diagonal ``k``."""
def tril_indices(
    n: int,
    k: int = 0,
    m: Any = None,
    ctx: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Return the rows and the columns of the elements on and below a diagonal, int64."""
def tril_indices_from(arr: Any, k: Any = 0) -> NumpySymbol:
    """Return the indices for the lower-triangle of arr."""
def trim_zeros(filt: Any, trim: Any = "fb") -> NumpySymbol:
    """Remove values along a dimension which are zero along all other."""
def triu(m: Any, k: int = 0) -> NumpySymbol:
    """Return a matrix with zeros below diagonal ``k``."""
def triu_indices(
    n: int,
    k: int = 0,
    m: Any = None,
    ctx: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Return the rows and the columns of the elements on and above a diagonal, int64."""
def triu_indices_from(arr: Any, k: Any = 0) -> NumpySymbol:
    """Return the indices for the upper-triangle of arr."""
def true_divide(x1: Any, x2: Any, out: Any = None) -> NumpySymbol:
    """x1 / x2; float32 for integers."""
def trunc(x: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """The nearest integer towards zero."""
def uint16(value: Any = 0) -> NumpySymbol:
    """Unsigned integer type, compatible with C ``unsigned short``."""
def uint32(value: Any = 0) -> NumpySymbol:
    """Unsigned integer type, compatible with C ``unsigned int``."""
def uint64(value: Any = 0) -> NumpySymbol:
    """Unsigned signed integer type, 64bit on 64bit systems and 32bit on 32bit systems."""
def uint8(value: Any = 0) -> NumpySymbol:
    """Unsigned integer type, compatible with C ``unsigned char``."""
def union1d(ar1: Any, ar2: Any) -> NumpySymbol:
    """Find the union of two arrays."""
def unique(
    ar: Any,
    return_index: builtins.bool = False,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    axis: Any = None,
) -> NumpySymbol:
    """Return the distinct elements in ascending order."""
def unique_all(x: Any) -> NumpySymbol:
    """Return the distinct elements, with their indices, inverse indices and counts."""
def unique_counts(x: Any) -> NumpySymbol:
    """Return the distinct elements and the number of occurrences of each."""
def unique_inverse(x: Any) -> NumpySymbol:
    """Return the distinct elements and the indices that reconstruct the array from them."""
def unique_values(x: Any) -> NumpySymbol:
    """Return the distinct elements in ascending order."""
def unpackbits(*args: Any, **kwargs: Any) -> NumpySymbol:
    """Unpacks elements of a uint8 array into a binary-valued output array."""
def unravel_index(indices: Any, shape: Any, order: str = "C") -> NumpySymbol:
    """Convert flat indices to a tuple of indices along each axis."""
def unstack(x: Any, *, axis: int = 0) -> NumpySymbol:
    """Split an array along an axis into arrays without it."""
def unwrap(
    p: Any,
    discont: Any = None,
    axis: Any = -1,
    *,
    period: Any = 6.283185307179586,
) -> NumpySymbol:
    """Unwrap by taking the complement of large deltas with respect to the period."""
def vander(x: Any, N: Any = None, increasing: Any = False) -> NumpySymbol:
    """Generate a Vandermonde matrix."""
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: builtins.bool = False,
    *,
    correction: Any = None,
) -> NumpySymbol:
    """Return the variance over axes."""
def vdot(a: Any, b: Any) -> NumpySymbol:
    """Return the sum of products of all elements."""
def vecdot(
    x1: Any = None,
    x2: Any = None,
    axis: Any = -1,
    *,
    a: Any = None,
    b: Any = None,
) -> NumpySymbol:
    """Return the sums of products of two arrays over one axis; the other axes broadcast."""
def vsplit(ary: Any, indices_or_sections: Any) -> NumpySymbol:
    """Split an array of two or more axes along axis 0."""
def vstack(arrays: Any, out: Any = None) -> NumpySymbol:
    """Stack arrays along axis 0; vectors become rows."""
def where(condition: Any, x: Any = None, y: Any = None) -> NumpySymbol:
    """Return elements of ``x`` where a condition is true, and of ``y`` elsewhere."""
def zeros(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    ctx: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Return an array of zeros."""
def zeros_like(
    a: Any,
    dtype: Any = None,
    order: str = "C",
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Return zeros of the same shape as an array; arguments as for `full_like`."""
