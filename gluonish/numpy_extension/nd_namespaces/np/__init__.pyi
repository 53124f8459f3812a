# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Sequence
from gluonish.core.dtype import DType
from gluonish.numpy import abs as abs
from gluonish.numpy import absolute as absolute
from gluonish.numpy import acos as acos
from gluonish.numpy import acosh as acosh
from gluonish.numpy import add as add
from gluonish.numpy import allclose as allclose
from gluonish.numpy import alltrue as alltrue
from gluonish.numpy import apply_along_axis as apply_along_axis
from gluonish.numpy import apply_over_axes as apply_over_axes
from gluonish.numpy import arccos as arccos
from gluonish.numpy import arccosh as arccosh
from gluonish.numpy import arcsin as arcsin
from gluonish.numpy import arcsinh as arcsinh
from gluonish.numpy import arctan as arctan
from gluonish.numpy import arctan2 as arctan2
from gluonish.numpy import arctanh as arctanh
from gluonish.numpy import argpartition as argpartition
from gluonish.numpy import argwhere as argwhere
from gluonish.numpy import array_equal as array_equal
from gluonish.numpy import array_equiv as array_equiv
from gluonish.numpy import asin as asin
from gluonish.numpy import asinh as asinh
from gluonish.numpy import atan as atan
from gluonish.numpy import atan2 as atan2
from gluonish.numpy import atanh as atanh
from gluonish.numpy import bitwise_and as bitwise_and
from gluonish.numpy import bitwise_invert as bitwise_invert
from gluonish.numpy import bitwise_left_shift as bitwise_left_shift
from gluonish.numpy import bitwise_not as bitwise_not
from gluonish.numpy import bitwise_or as bitwise_or
from gluonish.numpy import bitwise_right_shift as bitwise_right_shift
from gluonish.numpy import bitwise_xor as bitwise_xor
from gluonish.numpy import cbrt as cbrt
from gluonish.numpy import ceil as ceil
from gluonish.numpy import choose as choose
from gluonish.numpy import compress as compress
from gluonish.numpy import copysign as copysign
from gluonish.numpy import corrcoef as corrcoef
from gluonish.numpy import correlate as correlate
from gluonish.numpy import cos as cos
from gluonish.numpy import cosh as cosh
from gluonish.numpy import count_nonzero as count_nonzero
from gluonish.numpy import cov as cov
from gluonish.numpy import deg2rad as deg2rad
from gluonish.numpy import degrees as degrees
from gluonish.numpy import digitize as digitize
from gluonish.numpy import divide as divide
from gluonish.numpy import divmod as divmod
from gluonish.numpy import equal as equal
from gluonish.numpy import exp as exp
from gluonish.numpy import expm1 as expm1
from gluonish.numpy import extract as extract
from gluonish.numpy import fabs as fabs
from gluonish.numpy import fix as fix
from gluonish.numpy import flatnonzero as flatnonzero
from gluonish.numpy import floor as floor
from gluonish.numpy import floor_divide as floor_divide
from gluonish.numpy import fmax as fmax
from gluonish.numpy import fmin as fmin
from gluonish.numpy import fmod as fmod
from gluonish.numpy import frexp as frexp
from gluonish.numpy import gcd as gcd
from gluonish.numpy import genfromtxt as genfromtxt
from gluonish.numpy import greater as greater
from gluonish.numpy import greater_equal as greater_equal
from gluonish.numpy import heaviside as heaviside
from gluonish.numpy import histogram2d as histogram2d
from gluonish.numpy import histogram_bin_edges as histogram_bin_edges
from gluonish.numpy import histogramdd as histogramdd
from gluonish.numpy import hypot as hypot
from gluonish.numpy import i0 as i0
from gluonish.numpy import in1d as in1d
from gluonish.numpy import interp as interp
from gluonish.numpy import intersect1d as intersect1d
from gluonish.numpy import invert as invert
from gluonish.numpy import isfinite as isfinite
from gluonish.numpy import isin as isin
from gluonish.numpy import isinf as isinf
from gluonish.numpy import isnan as isnan
from gluonish.numpy import isneginf as isneginf
from gluonish.numpy import isposinf as isposinf
from gluonish.numpy import ix_ as ix_
from gluonish.numpy import lcm as lcm
from gluonish.numpy import ldexp as ldexp
from gluonish.numpy import less as less
from gluonish.numpy import less_equal as less_equal
from gluonish.numpy import lexsort as lexsort
from gluonish.numpy import log as log
from gluonish.numpy import log10 as log10
from gluonish.numpy import log1p as log1p
from gluonish.numpy import log2 as log2
from gluonish.numpy import logaddexp as logaddexp
from gluonish.numpy import logical_and as logical_and
from gluonish.numpy import logical_not as logical_not
from gluonish.numpy import logical_or as logical_or
from gluonish.numpy import logical_xor as logical_xor
from gluonish.numpy import maximum as maximum
from gluonish.numpy import min_scalar_type as min_scalar_type
from gluonish.numpy import minimum as minimum
from gluonish.numpy import mirr as mirr
from gluonish.numpy import mod as mod
from gluonish.numpy import modf as modf
from gluonish.numpy import multiply as multiply
from gluonish.numpy import nanargmax as nanargmax
from gluonish.numpy import nanargmin as nanargmin
from gluonish.numpy import nanmedian as nanmedian
from gluonish.numpy import nanpercentile as nanpercentile
from gluonish.numpy import nanquantile as nanquantile
from gluonish.numpy import ndim as ndim
from gluonish.numpy import negative as negative
from gluonish.numpy import not_equal as not_equal
from gluonish.numpy import npv as npv
from gluonish.numpy import packbits as packbits
from gluonish.numpy import partition as partition
from gluonish.numpy import piecewise as piecewise
from gluonish.numpy import pmt as pmt
from gluonish.numpy import poly as poly
from gluonish.numpy import polyadd as polyadd
from gluonish.numpy import polydiv as polydiv
from gluonish.numpy import polyfit as polyfit
from gluonish.numpy import polyint as polyint
from gluonish.numpy import polymul as polymul
from gluonish.numpy import polysub as polysub
from gluonish.numpy import pow as pow
from gluonish.numpy import power as power
from gluonish.numpy import ppmt as ppmt
from gluonish.numpy import promote_types as promote_types
from gluonish.numpy import pv as pv
from gluonish.numpy import rad2deg as rad2deg
from gluonish.numpy import radians as radians
from gluonish.numpy import rate as rate
from gluonish.numpy import reciprocal as reciprocal
from gluonish.numpy import remainder as remainder
from gluonish.numpy import rint as rint
from gluonish.numpy import roots as roots
from gluonish.numpy import searchsorted as searchsorted
from gluonish.numpy import select as select
from gluonish.numpy import setdiff1d as setdiff1d
from gluonish.numpy import setxor1d as setxor1d
from gluonish.numpy import sign as sign
from gluonish.numpy import signbit as signbit
from gluonish.numpy import sin as sin
from gluonish.numpy import sinh as sinh
from gluonish.numpy import size as size
from gluonish.numpy import spacing as spacing
from gluonish.numpy import sqrt as sqrt
from gluonish.numpy import square as square
from gluonish.numpy import subtract as subtract
from gluonish.numpy import tan as tan
from gluonish.numpy import tanh as tanh
from gluonish.numpy import tril_indices_from as tril_indices_from
from gluonish.numpy import trim_zeros as trim_zeros
from gluonish.numpy import triu_indices_from as triu_indices_from
from gluonish.numpy import true_divide as true_divide
from gluonish.numpy import trunc as trunc
from gluonish.numpy import union1d as union1d
from gluonish.numpy import unpackbits as unpackbits
from gluonish.numpy import unwrap as unwrap
from gluonish.numpy import vander as vander
from gluonish.numpy.array import ndarray as ndarray
from gluonish.numpy.composed import float_power as float_power
from gluonish.numpy.composed import isclose as isclose
from gluonish.numpy.composed import msort as msort
from gluonish.numpy.composed import nancumprod as nancumprod
from gluonish.numpy.composed import nancumsum as nancumsum
from gluonish.numpy.composed import nanmax as nanmax
from gluonish.numpy.composed import nanmin as nanmin
from gluonish.numpy.composed import positive as positive
from gluonish.numpy.composed import ptp as ptp
from gluonish.numpy.composed import real as real
from gluonish.numpy.composed import rollaxis as rollaxis
from gluonish.numpy.composed import trapz as trapz
from gluonish.numpy.constants import iinfo as iinfo
from gluonish.numpy.creation import arange as arange
from gluonish.numpy.creation import array as array
from gluonish.numpy.creation import asarray as asarray
from gluonish.numpy.creation import blackman as blackman
from gluonish.numpy.creation import empty as empty
from gluonish.numpy.creation import empty_like as empty_like
from gluonish.numpy.creation import eye as eye
from gluonish.numpy.creation import from_dlpack as from_dlpack
from gluonish.numpy.creation import full as full
from gluonish.numpy.creation import full_like as full_like
from gluonish.numpy.creation import hamming as hamming
from gluonish.numpy.creation import hanning as hanning
from gluonish.numpy.creation import identity as identity
from gluonish.numpy.creation import indices as indices
from gluonish.numpy.creation import linspace as linspace
from gluonish.numpy.creation import logspace as logspace
from gluonish.numpy.creation import ones as ones
from gluonish.numpy.creation import ones_like as ones_like
from gluonish.numpy.creation import tri as tri
from gluonish.numpy.creation import tril as tril
from gluonish.numpy.creation import triu as triu
from gluonish.numpy.creation import zeros as zeros
from gluonish.numpy.creation import zeros_like as zeros_like
from gluonish.numpy.elements import argsort as argsort
from gluonish.numpy.elements import bincount as bincount
from gluonish.numpy.elements import delete as delete
from gluonish.numpy.elements import histogram as histogram
from gluonish.numpy.elements import insert as insert
from gluonish.numpy.elements import nonzero as nonzero
from gluonish.numpy.elements import sort as sort
from gluonish.numpy.elements import take as take
from gluonish.numpy.elements import take_along_axis as take_along_axis
from gluonish.numpy.elements import unique as unique
from gluonish.numpy.elements import unravel_index as unravel_index
from gluonish.numpy.elements import where as where
from gluonish.numpy.joining import append as append
from gluonish.numpy.joining import array_split as array_split
from gluonish.numpy.joining import column_stack as column_stack
from gluonish.numpy.joining import concat as concat
from gluonish.numpy.joining import concatenate as concatenate
from gluonish.numpy.joining import dsplit as dsplit
from gluonish.numpy.joining import dstack as dstack
from gluonish.numpy.joining import hsplit as hsplit
from gluonish.numpy.joining import hstack as hstack
from gluonish.numpy.joining import row_stack as row_stack
from gluonish.numpy.joining import split as split
from gluonish.numpy.joining import stack as stack
from gluonish.numpy.joining import unstack as unstack
from gluonish.numpy.joining import vsplit as vsplit
from gluonish.numpy.joining import vstack as vstack
from gluonish.numpy.nan_reductions import nanprod as nanprod
from gluonish.numpy.nan_reductions import nanstd as nanstd
from gluonish.numpy.nan_reductions import nansum as nansum
from gluonish.numpy.nan_reductions import nanvar as nanvar
from gluonish.numpy.numerics import around as around
from gluonish.numpy.numerics import clip as clip
from gluonish.numpy.numerics import diff as diff
from gluonish.numpy.numerics import ediff1d as ediff1d
from gluonish.numpy.numerics import may_share_memory as may_share_memory
from gluonish.numpy.numerics import nan_to_num as nan_to_num
from gluonish.numpy.numerics import round as round
from gluonish.numpy.numerics import round_ as round_
from gluonish.numpy.numerics import shares_memory as shares_memory
from gluonish.numpy.printing import set_printoptions as set_printoptions
from gluonish.numpy.products import cross as cross
from gluonish.numpy.products import einsum as einsum
from gluonish.numpy.products import inner as inner
from gluonish.numpy.products import kron as kron
from gluonish.numpy.products import matmul as matmul
from gluonish.numpy.products import outer as outer
from gluonish.numpy.products import polyval as polyval
from gluonish.numpy.products import tensordot as tensordot
from gluonish.numpy.products import vdot as vdot
from gluonish.numpy.products import vecdot as vecdot
from gluonish.numpy.reductions import argmax as argmax
from gluonish.numpy.reductions import argmin as argmin
from gluonish.numpy.reductions import average as average
from gluonish.numpy.reductions import cumprod as cumprod
from gluonish.numpy.reductions import cumulative_prod as cumulative_prod
from gluonish.numpy.reductions import cumulative_sum as cumulative_sum
from gluonish.numpy.reductions import mean as mean
from gluonish.numpy.reductions import median as median
from gluonish.numpy.reductions import percentile as percentile
from gluonish.numpy.reductions import quantile as quantile
from gluonish.numpy.reductions import std as std
from gluonish.numpy.reductions import var as var
from gluonish.numpy.set_functions import unique_all as unique_all
from gluonish.numpy.set_functions import unique_counts as unique_counts
from gluonish.numpy.set_functions import unique_inverse as unique_inverse
from gluonish.numpy.set_functions import unique_values as unique_values
from gluonish.numpy.shapes import broadcast_arrays as broadcast_arrays
from gluonish.numpy.shapes import broadcast_to as broadcast_to
from gluonish.numpy.shapes import diag_indices_from as diag_indices_from
from gluonish.numpy.shapes import expand_dims as expand_dims
from gluonish.numpy.shapes import flip as flip
from gluonish.numpy.shapes import fliplr as fliplr
from gluonish.numpy.shapes import flipud as flipud
from gluonish.numpy.shapes import matrix_transpose as matrix_transpose
from gluonish.numpy.shapes import meshgrid as meshgrid
from gluonish.numpy.shapes import pad as pad
from gluonish.numpy.shapes import permute_dims as permute_dims
from gluonish.numpy.shapes import ravel as ravel
from gluonish.numpy.shapes import repeat as repeat
from gluonish.numpy.shapes import resize as resize
from gluonish.numpy.shapes import rot90 as rot90
from gluonish.numpy.shapes import shape as shape
from gluonish.numpy.shapes import swapaxes as swapaxes
from gluonish.numpy.shapes import tile as tile
from gluonish.numpy.triangles import fill_diagonal as fill_diagonal
from gluonish.numpy.triangles import tril_indices as tril_indices
from gluonish.numpy.triangles import triu_indices as triu_indices
from gluonish.numpy.type_functions import astype as astype
from gluonish.numpy.type_functions import can_cast as can_cast
from gluonish.numpy.type_functions import isdtype as isdtype
from gluonish.numpy.type_functions import result_type as result_type
from gluonish.numpy_extension.nd_namespaces.np import _internal as _internal
from gluonish.numpy_extension.nd_namespaces.np import linalg as linalg
from gluonish.numpy_extension.nd_namespaces.np import random as random
from numpy import bool as bool
from numpy import bool as bool_
from numpy import dtype as dtype
from numpy import finfo as finfo
from numpy import float16 as float16
from numpy import float32 as float32
from numpy import float64 as float64
from numpy import int16 as int16
from numpy import int32 as int32
from numpy import int64 as int64
from numpy import int8 as int8
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64
from numpy import uint8 as uint8
from typing import Literal
import builtins

__all__ = [
    "linalg",
    "random",
]

def all(
    data: ndarray,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Whether all elements along axis are not 0, all axes by default, as bool."""
def amax(
    a: ndarray,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Maximum along axis, all axes by default."""
def amin(
    a: ndarray,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Minimum along axis, all axes by default."""
def any(
    data: ndarray,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Whether any element along axis is not 0, all axes by default, as bool."""
def atleast_1d(
    *data: ndarray | Sequence[ndarray],
    num_args: int = ...,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Each array with axes of size 1 added until it has 1, as in NumPy."""
def atleast_2d(
    *data: ndarray | Sequence[ndarray],
    num_args: int = ...,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Each array with axes of size 1 added until it has 2, as in NumPy."""
def atleast_3d(
    *data: ndarray | Sequence[ndarray],
    num_args: int = ...,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> list[ndarray]:
    """Each array with axes of size 1 added until it has 3, as in NumPy."""
def copy(
    a: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """A copy of a."""
def cumsum(
    a: ndarray,
    axis: int | None = None,
    dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Cumulative sums along axis, or of all elements in row-major order."""
def diag(
    data: ndarray,
    k: int = 0,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Diagonal k of a matrix; for a vector, the matrix with the vector on diagonal k."""
def diagflat(
    data: ndarray,
    k: int = 0,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """A matrix with all elements of data, in row-major order, on diagonal k."""
def diagonal(
    data: ndarray,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """The diagonal at offset of the matrices in axes axis1 and axis2, which becomes the last
    axis."""
def dot(
    a: ndarray,
    b: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Sum products over the last axis of a and the second-to-last axis of b, or b's only axis."""
def max(
    a: ndarray,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Maximum along axis, all axes by default."""
def min(
    a: ndarray,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Minimum along axis, all axes by default."""
def moveaxis(
    a: ndarray,
    source: int | Sequence[int],
    destination: int | Sequence[int],
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Move the axes in source to the positions in destination; the others keep their order."""
def prod(
    a: ndarray,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Product along axis, all axes by default, in dtype."""
def product(
    a: ndarray,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Product along axis, all axes by default, in dtype."""
def reshape(
    a: ndarray,
    newshape: int | Sequence[int],
    order: str = "C",
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """The same elements in the same order in another shape; one size may be -1, and is then
    inferred."""
def roll(
    data: ndarray,
    shift: int | Sequence[int] | None = None,
    axis: int | Sequence[int] | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Shift elements by shift positions along axis; elements shifted past the end wrap around."""
def sometrue(
    data: ndarray,
    axis: int | Sequence[int] | None = None,
    keepdims: builtins.bool | int = False,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Whether any element along axis is not 0, all axes by default, as bool."""
def squeeze(
    a: ndarray,
    axis: int | Sequence[int] | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Remove the axes of size 1, or only those in axis."""
def sum(
    a: ndarray,
    axis: int | Sequence[int] | None = None,
    dtype: Literal[None, "bool", "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: builtins.bool | int = False,
    initial: float | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Sum along axis, all axes by default, in dtype."""
def trace(
    data: ndarray,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Sum the diagonal at offset over the axes axis1 and axis2."""
def transpose(
    a: ndarray,
    axes: int | Sequence[int] | None = None,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Permute the axes; without axes their order is reversed."""
