# mypy: disable-error-code="assignment, misc, override"
# pyright: reportAssignmentType=false, reportIncompatibleMethodOverride=false
# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Mapping
from collections.abc import Sequence
from gluonish.core.dtype import DType
from gluonish.ops.fluent import Fluent as Fluent
from gluonish.symbol.backend import get_backend_symbol as _function_get_backend_symbol
from gluonish.symbol.backend import optimize_for as _function_optimize_for
from gluonish.symbol.binding import bind as _function_bind
from gluonish.symbol.binding import simple_bind as _function_simple_bind
from gluonish.symbol.composition import debug_str as _function_debug_str
from gluonish.symbol.composition import evaluate_symbol as _function_evaluate_symbol
from gluonish.symbol.creation import split_v2 as _function_split_v2
from gluonish.symbol.files import symbol_from_state as _function_symbol_from_state
from gluonish.symbol.methods import symbol_html as _function_symbol_html
from gluonish.symbol.numpy_symbol import NumpySymbol
from gluonish.symbol.shapes import infer_shape_partial as _function_infer_shape_partial
from gluonish.symbol.shapes import infer_type as _function_infer_type
from gluonish.symbol.shapes import infer_type_partial as _function_infer_type_partial
from gluonish.symbol.symbol import Symbol
from typing import Literal
from typing import Self

class AttachedMethods(Fluent):
    __setstate__ = _function_symbol_from_state
    _bind = _function_bind
    _repr_html_ = _function_symbol_html
    _simple_bind = _function_simple_bind
    def abs(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise absolute value."""
    def arccos(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise inverse cosine."""
    def arccosh(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise inverse hyperbolic cosine."""
    def arcsin(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise inverse sine."""
    def arcsinh(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise inverse hyperbolic sine."""
    def arctan(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise inverse tangent."""
    def arctanh(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise inverse hyperbolic tangent."""
    def argmax(
        self,
        axis: int | None = None,
        keepdims: bool | int = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Return the index of the first maximum along axis, or over all elements in row-major
        order."""
    def argmax_channel(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Return the index of the first maximum along axis 1, in the dtype of data."""
    def argmin(
        self,
        axis: int | None = None,
        keepdims: bool | int = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Return the index of the first minimum along axis, or over all elements in row-major
        order."""
    def argsort(
        self,
        axis: int | None = -1,
        is_ascend: bool | int = True,
        dtype: DType = ...,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Return the indices, of type dtype, that sort the elements along axis."""
    def as_nd_ndarray(self) -> Symbol:
        """Return the Symbol itself."""
    def as_np_ndarray(self) -> NumpySymbol:
        """Return the same outputs with NumPy's semantics."""
    bind = _function_bind
    def broadcast_axes(
        self,
        axis: int | Sequence[int] = (),
        size: int | Sequence[int] = (),
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Broadcast the axes in axis, all of size 1, to the sizes in size."""
    def cbrt(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise cube root."""
    def ceil(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise smallest integer not below data."""
    def clip(
        self,
        a_min: float,
        a_max: float,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Clip data to [a_min, a_max]."""
    def cos(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise cosine."""
    def cosh(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise hyperbolic cosine."""
    debug_str = _function_debug_str
    def degrees(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise conversion of radians to degrees."""
    def depth_to_space(
        self,
        block_size: int,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Rearrange channels into blocks of pixels."""
    def diag(
        self,
        k: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Extract diagonal k of the matrices in axes axis1 and axis2, as the last axis."""
    eval = _function_evaluate_symbol
    def exp(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise e to the power of data."""
    def expm1(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise e to the power of data, minus 1."""
    def fix(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise truncation toward zero to an integer."""
    def flip(
        self,
        axis: int | Sequence[int],
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Reverse the order of elements along the axes in axis."""
    def floor(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise largest integer not above data."""
    get_backend_symbol = _function_get_backend_symbol
    infer_shape_partial = _function_infer_shape_partial
    infer_type = _function_infer_type
    infer_type_partial = _function_infer_type_partial
    def log(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise natural logarithm."""
    def log10(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise decimal logarithm."""
    def log1p(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise natural logarithm of 1 + data."""
    def log2(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise binary logarithm."""
    def log_sigmoid(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise log of the sigmoid."""
    def log_softmax(
        self,
        axis: int = -1,
        temperature: float | None = None,
        dtype: DType | None = None,
        use_length: bool | int | None = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Logarithm of softmax along axis, of data / temperature."""
    def max(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Compute the maximum along axis, all axes by default; with exclude along all other
        axes."""
    def mean(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Compute the arithmetic mean along axis, all axes by default; with exclude along all other
        axes."""
    def min(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Compute the minimum along axis, all axes by default; with exclude along all other
        axes."""
    def mish(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise data * tanh(log(1 + exp(data)))."""
    def nanprod(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Compute the product of the elements that are not NaN along axis, all axes by default;
        with exclude along all other axes."""
    def nansum(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Compute the sum of the elements that are not NaN along axis, all axes by default; with
        exclude along all other axes."""
    def norm(
        self,
        ord: int = 2,
        axis: int | Sequence[int] | None = None,
        out_dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
        keepdims: bool | int = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Compute the norm along axis, or over all elements: the sum of absolute values (ord=1) or
        the square root of the sum of squares (ord=2)."""
    def one_hot(
        self,
        depth: int,
        on_value: float = 1.0,
        off_value: float = 0.0,
        dtype: DType = ...,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Return rows of depth values: on_value at the index, off_value elsewhere."""
    def ones_like(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Return an array of 1s with the shape and dtype of data."""
    optimize_for = _function_optimize_for
    def pad(
        self,
        mode: Literal["constant", "edge", "reflect"] | str,
        pad_width: int | Sequence[int],
        constant_value: float = 0.0,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Pad data."""
    def pick(
        self,
        index: Self,
        axis: int | None = -1,
        keepdims: bool | int = False,
        mode: Literal["clip", "wrap"] | str = "clip",
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Pick one element of every row along axis, at the position in index."""
    def prod(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Compute the product along axis, all axes by default; with exclude along all other
        axes."""
    def radians(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise conversion of degrees to radians."""
    def rcbrt(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise 1 / cube root."""
    def reciprocal(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise 1 / data."""
    def relu(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise maximum of data and 0."""
    def repeat(
        self,
        repeats: int,
        axis: int | None = None,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Repeat every element repeats times along axis; without axis, data is flattened first."""
    def reshape_like(
        self,
        rhs: Self,
        lhs_begin: int | None = None,
        lhs_end: int | None = None,
        rhs_begin: int | None = None,
        rhs_end: int | None = None,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Reshape lhs to the shape of rhs."""
    def rint(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise nearest integer, halves downward."""
    def round(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise nearest integer, halves away from zero."""
    def rsqrt(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise 1 / square root."""
    def shape_array(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Return the shape of data, as int64."""
    def sigmoid(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise 1 / (1 + exp(-data))."""
    def sign(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise sign: -1, 0 or 1."""
    simple_bind = _function_simple_bind
    def sin(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise sine."""
    def sinh(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise hyperbolic sine."""
    def size_array(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Return the number of elements of data, as int64."""
    def slice(
        self,
        begin: int | Sequence[int | None],
        end: int | Sequence[int | None],
        step: int | Sequence[int | None] = (),
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Slice data from begin up to end in steps of step, as Python slices."""
    def slice_axis(
        self,
        axis: int,
        begin: int,
        end: int | None,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Slice data from begin up to end along axis; negative positions count from the end, and an
        end of None is the end of the axis."""
    def slice_like(
        self,
        shape_like: Self,
        axes: int | Sequence[int] = (),
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Slice the first elements of data along axes (all by default), to the sizes of
        shape_like."""
    def softmax(
        self,
        length: Self | None = None,
        axis: int = -1,
        temperature: float | None = None,
        dtype: DType | None = None,
        use_length: bool | int | None = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """e^x / sum of e^x along axis, of data / temperature."""
    def softmin(
        self,
        axis: int = -1,
        temperature: float | None = None,
        dtype: DType | None = None,
        use_length: bool | int | None = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """e^-x / sum of e^-x along axis, of data / temperature."""
    def sort(
        self,
        axis: int | None = -1,
        is_ascend: bool | int = True,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Sort the elements along axis; without axis, data is flattened first."""
    def space_to_depth(
        self,
        block_size: int,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Rearrange blocks of pixels into channels: the inverse of depth_to_space."""
    def split(
        self,
        num_outputs: int,
        axis: int = 1,
        squeeze_axis: bool | int = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Split data into num_outputs equal pieces along axis."""
    split_v2 = _function_split_v2
    def sqrt(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise square root."""
    def square(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise square."""
    def sum(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Compute the sum along axis, all axes by default; with exclude along all other axes."""
    def swapaxes(
        self,
        dim1: int = 0,
        dim2: int = 0,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Swap two axes."""
    def take(
        self,
        indices: Self,
        axis: int = 0,
        mode: Literal["clip", "raise", "wrap"] | str = "clip",
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Take slices of a along axis at the positions in indices, which may have any dtype."""
    def tan(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise tangent."""
    def tanh(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise hyperbolic tangent."""
    def tile(
        self,
        reps: int | Sequence[int],
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Repeat the array reps[i] times along axis i; the shorter of the shape and reps is
        prepended with 1s."""
    def topk(
        self,
        axis: int | None = -1,
        k: int = 1,
        ret_typ: Literal["both", "indices", "mask", "value"] | str = "indices",
        is_ascend: bool | int = False,
        dtype: DType = ...,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Return the k largest elements along axis in descending order, or with is_ascend the k
        smallest in ascending order."""
    def transpose(
        self,
        axes: int | Sequence[int] = (),
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Permute the axes: axis i of the output is axis axes[i] of data; without axes, reverse
        their order."""
    def trunc(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Elementwise truncation toward zero to an integer."""
    def zeros_like(
        self,
        *,
        name: str | None = None,
        attr: Mapping[str, str] | None = None,
        out: None = None,
    ) -> Self:
        """Return an array of 0s with the shape and dtype of data."""
