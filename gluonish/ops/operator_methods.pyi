# mypy: disable-error-code="assignment, misc, override"
# pyright: reportAssignmentType=false, reportIncompatibleMethodOverride=false
# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Sequence
from gluonish.core.dtype import DType
from gluonish.ops.elementwise.arithmetic import Arithmetic as Arithmetic
from typing import Literal
from typing import Self

class OperatorMethods(Arithmetic):
    def abs(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise absolute value."""
    def arccos(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise inverse cosine."""
    def arccosh(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise inverse hyperbolic cosine."""
    def arcsin(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise inverse sine."""
    def arcsinh(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise inverse hyperbolic sine."""
    def arctan(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise inverse tangent."""
    def arctanh(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise inverse hyperbolic tangent."""
    def argmax(
        self,
        axis: int | None = None,
        keepdims: bool | int = False,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Return the index of the first maximum along axis, or over all elements in row-major
        order."""
    def argmax_channel(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Return the index of the first maximum along axis 1, in the dtype of data."""
    def argmin(
        self,
        axis: int | None = None,
        keepdims: bool | int = False,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Return the index of the first minimum along axis, or over all elements in row-major
        order."""
    def argsort(
        self,
        axis: int | None = -1,
        is_ascend: bool | int = True,
        dtype: DType = ...,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Return the indices, of type dtype, that sort the elements along axis."""
    def broadcast_axes(
        self,
        axis: int | Sequence[int] = (),
        size: int | Sequence[int] = (),
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Broadcast the axes in axis, all of size 1, to the sizes in size."""
    def cbrt(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise cube root."""
    def ceil(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise smallest integer not below data."""
    def clip(self, a_min: float, a_max: float, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Clip data to [a_min, a_max]."""
    def cos(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise cosine."""
    def cosh(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise hyperbolic cosine."""
    def degrees(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise conversion of radians to degrees."""
    def depth_to_space(self, block_size: int, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Rearrange channels into blocks of pixels."""
    def diag(
        self,
        k: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Extract diagonal k of the matrices in axes axis1 and axis2, as the last axis."""
    def exp(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise e to the power of data."""
    def expm1(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise e to the power of data, minus 1."""
    def fix(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise truncation toward zero to an integer."""
    def flip(self, axis: int | Sequence[int], *, out: Self | Sequence[Self] | None = None) -> Self:
        """Reverse the order of elements along the axes in axis."""
    def floor(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise largest integer not above data."""
    def log(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise natural logarithm."""
    def log10(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise decimal logarithm."""
    def log1p(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise natural logarithm of 1 + data."""
    def log2(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise binary logarithm."""
    def log_sigmoid(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise log of the sigmoid."""
    def log_softmax(
        self,
        axis: int = -1,
        temperature: float | None = None,
        dtype: DType | None = None,
        use_length: bool | int | None = False,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Logarithm of softmax along axis, of data / temperature."""
    def max(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Compute the maximum along axis, all axes by default; with exclude along all other
        axes."""
    def mean(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Compute the arithmetic mean along axis, all axes by default; with exclude along all other
        axes."""
    def min(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Compute the minimum along axis, all axes by default; with exclude along all other
        axes."""
    def mish(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise data * tanh(log(1 + exp(data)))."""
    def nanprod(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Compute the product of the elements that are not NaN along axis, all axes by default;
        with exclude along all other axes."""
    def nansum(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        out: Self | Sequence[Self] | None = None,
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
        out: Self | Sequence[Self] | None = None,
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
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Return rows of depth values: on_value at the index, off_value elsewhere."""
    def ones_like(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Return an array of 1s with the shape and dtype of data."""
    def pad(
        self,
        mode: Literal["constant", "edge", "reflect"] | str,
        pad_width: int | Sequence[int],
        constant_value: float = 0.0,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Pad data."""
    def pick(
        self,
        index: Self,
        axis: int | None = -1,
        keepdims: bool | int = False,
        mode: Literal["clip", "wrap"] | str = "clip",
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Pick one element of every row along axis, at the position in index."""
    def prod(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Compute the product along axis, all axes by default; with exclude along all other
        axes."""
    def radians(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise conversion of degrees to radians."""
    def rcbrt(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise 1 / cube root."""
    def reciprocal(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise 1 / data."""
    def relu(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise maximum of data and 0."""
    def repeat(
        self,
        repeats: int,
        axis: int | None = None,
        *,
        out: Self | Sequence[Self] | None = None,
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
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Reshape lhs to the shape of rhs."""
    def rint(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise nearest integer, halves downward."""
    def round(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise nearest integer, halves away from zero."""
    def rsqrt(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise 1 / square root."""
    def shape_array(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Return the shape of data, as int64."""
    def sigmoid(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise 1 / (1 + exp(-data))."""
    def sign(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise sign: -1, 0 or 1."""
    def sin(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise sine."""
    def sinh(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise hyperbolic sine."""
    def size_array(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Return the number of elements of data, as int64."""
    def slice(
        self,
        begin: int | Sequence[int | None],
        end: int | Sequence[int | None],
        step: int | Sequence[int | None] = (),
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Slice data from begin up to end in steps of step, as Python slices."""
    def slice_axis(
        self,
        axis: int,
        begin: int,
        end: int | None,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Slice data from begin up to end along axis; negative positions count from the end, and an
        end of None is the end of the axis."""
    def slice_like(
        self,
        shape_like: Self,
        axes: int | Sequence[int] = (),
        *,
        out: Self | Sequence[Self] | None = None,
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
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """e^x / sum of e^x along axis, of data / temperature."""
    def softmin(
        self,
        axis: int = -1,
        temperature: float | None = None,
        dtype: DType | None = None,
        use_length: bool | int | None = False,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """e^-x / sum of e^-x along axis, of data / temperature."""
    def sort(
        self,
        axis: int | None = -1,
        is_ascend: bool | int = True,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Sort the elements along axis; without axis, data is flattened first."""
    def space_to_depth(self, block_size: int, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Rearrange blocks of pixels into channels: the inverse of depth_to_space."""
    def split(
        self,
        num_outputs: int,
        axis: int = 1,
        squeeze_axis: bool | int = False,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> list[Self]:
        """Split data into num_outputs equal pieces along axis."""
    def sqrt(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise square root."""
    def square(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise square."""
    def sum(
        self,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | int = False,
        exclude: bool | int = False,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Compute the sum along axis, all axes by default; with exclude along all other axes."""
    def swapaxes(
        self,
        dim1: int = 0,
        dim2: int = 0,
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Swap two axes."""
    def take(
        self,
        indices: Self,
        axis: int = 0,
        mode: Literal["clip", "raise", "wrap"] | str = "clip",
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Take slices of a along axis at the positions in indices, which may have any dtype."""
    def tan(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise tangent."""
    def tanh(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise hyperbolic tangent."""
    def tile(self, reps: int | Sequence[int], *, out: Self | Sequence[Self] | None = None) -> Self:
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
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Return the k largest elements along axis in descending order, or with is_ascend the k
        smallest in ascending order."""
    def transpose(
        self,
        axes: int | Sequence[int] = (),
        *,
        out: Self | Sequence[Self] | None = None,
    ) -> Self:
        """Permute the axes: axis i of the output is axis axes[i] of data; without axes, reverse
        their order."""
    def trunc(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Elementwise truncation toward zero to an integer."""
    def zeros_like(self, *, out: Self | Sequence[Self] | None = None) -> Self:
        """Return an array of 0s with the shape and dtype of data."""
