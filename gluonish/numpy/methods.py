"""Operators and methods of all ``np`` values, which call the functions of this package.

`NumpyMethods` is the base class of traced ``np`` values and Symbols; `gluonish.numpy.array_methods`
attaches its methods to `ndarray`, whose module the functions import.
"""

from collections.abc import Callable
from typing import Any

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import (
    ArgumentError,
    NotSupportedError,
)
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.ndarray.eager import invoke
from gluonish.numpy import binary, elements, numerics, products, reductions, shapes
from gluonish.numpy.array import ndarray
from gluonish.numpy.binary import Row, combine
from gluonish.numpy.calls import call, check_order
from gluonish.numpy.protocol import array_function, array_ufunc
from gluonish.numpy.unary import unary_call
from gluonish.ops.registry import find_operator

__all__ = ["NumpyMethods"]


def _operator(row: Row, *, reverse: bool = False) -> Callable[[Any, Any], Any]:
    if reverse:

        def method(self: Any, other: Any) -> Any:
            return combine(row, other, self)

    else:

        def method(self: Any, other: Any) -> Any:
            if type(self) is ndarray and type(other) is ndarray:  # hot path: fewest Python calls
                return invoke(find_operator(row.pair), (self, other), {})
            return combine(row, self, other)

    method.__doc__ = row.doc
    return method


def _comparison(row: Row, *, unlike: bool) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return unlike if other is None else combine(row, self, other)

    method.__doc__ = row.doc
    return method


class NumpyMethods:
    """Operators and methods with NumPy's semantics.

    Methods named after a function of `mx.np` have its arguments.
    """

    __slots__ = ()

    __array_function__ = array_function
    __array_ufunc__ = array_ufunc

    __add__ = _operator(binary.ADD)
    __radd__ = _operator(binary.ADD, reverse=True)
    __sub__ = _operator(binary.SUBTRACT)
    __rsub__ = _operator(binary.SUBTRACT, reverse=True)
    __mul__ = _operator(binary.MULTIPLY)
    __rmul__ = _operator(binary.MULTIPLY, reverse=True)
    __truediv__ = _operator(binary.TRUE_DIVIDE)
    __rtruediv__ = _operator(binary.TRUE_DIVIDE, reverse=True)
    __floordiv__ = _operator(binary.FLOOR_DIVIDE)
    __rfloordiv__ = _operator(binary.FLOOR_DIVIDE, reverse=True)
    __mod__ = _operator(binary.MOD)
    __rmod__ = _operator(binary.MOD, reverse=True)
    __pow__ = _operator(binary.POWER)
    __rpow__ = _operator(binary.POWER, reverse=True)
    __and__ = _operator(binary.BITWISE_AND)
    __rand__ = _operator(binary.BITWISE_AND, reverse=True)
    __or__ = _operator(binary.BITWISE_OR)
    __ror__ = _operator(binary.BITWISE_OR, reverse=True)
    __xor__ = _operator(binary.BITWISE_XOR)
    __rxor__ = _operator(binary.BITWISE_XOR, reverse=True)
    __lshift__ = _operator(binary.LEFT_SHIFT)
    __rlshift__ = _operator(binary.LEFT_SHIFT, reverse=True)
    __rshift__ = _operator(binary.RIGHT_SHIFT)
    __rrshift__ = _operator(binary.RIGHT_SHIFT, reverse=True)
    __eq__ = _comparison(binary.EQUAL, unlike=False)
    __ne__ = _comparison(binary.NOT_EQUAL, unlike=True)
    __gt__ = _operator(binary.GREATER)
    __ge__ = _operator(binary.GREATER_EQUAL)
    __lt__ = _operator(binary.LESS)
    __le__ = _operator(binary.LESS_EQUAL)
    __hash__ = object.__hash__

    def __matmul__(self, other: Any) -> Any:
        return products.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return products.matmul(other, self)

    def __neg__(self) -> Any:
        return combine(binary.MULTIPLY, self, -1)  # converts bool to integers

    def __pos__(self) -> Any:
        return shapes.copy(self)

    def __abs__(self) -> Any:
        return unary_call("abs", "_npi_absolute", self)

    def __invert__(self) -> Any:
        return unary_call("invert", "_npi_bitwise_not", self)

    def __floor__(self) -> Any:
        return unary_call("floor", "_npi_floor", self)

    def __ceil__(self) -> Any:
        return unary_call("ceil", "_npi_ceil", self)

    def __trunc__(self) -> Any:
        return unary_call("trunc", "_npi_trunc", self)

    def __round__(self, n: int = 0) -> Any:
        return numerics.around(self, n or 0)

    @property
    def T(self) -> Any:  # NumPy's name
        """The value with its axes in reverse order."""
        return shapes.transpose(self)

    @property
    def mT(self) -> Any:  # NumPy's name
        """The value with its last two axes swapped.

        Raises:
            ArgumentError: There are fewer than two axes.
        """
        return shapes.matrix_transpose(self)

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Return whether all elements are true, over axes."""
        return reductions.all(self, axis, keepdims, out)

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Return whether any element is true, over axes."""
        return reductions.any(self, axis, keepdims, out)

    def argmax(self, axis: int | None = None, out: Any = None, keepdims: bool = False) -> Any:
        """Return the index of the maximum."""
        return reductions.argmax(self, axis, out, keepdims)

    def argmin(self, axis: int | None = None, out: Any = None, keepdims: bool = False) -> Any:
        """Return the index of the minimum."""
        return reductions.argmin(self, axis, out, keepdims)

    def argsort(
        self,
        axis: int | None = -1,
        kind: str | bool | None = None,
        order: bool | None = None,
        *,
        descending: bool = False,
        stable: bool = True,
    ) -> Any:
        """Return the indices that would sort the array."""
        return elements.argsort(self, axis, kind, order, descending=descending, stable=stable)

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Any:
        """Return the array converted to another dtype.

        Args:
            dtype: Element type.
            order: ``"K"`` or ``"C"``.
            casting: Must be ``"unsafe"``.
            subok: Must be True.
            copy: False returns the array itself if it already has this dtype.

        Raises:
            ArgumentError: ``casting`` or ``subok`` is not supported.
        """
        check_order("astype", order, "KC")
        if casting != "unsafe":
            raise ArgumentError(f"astype: expected casting 'unsafe', got {casting!r}")
        if not subok:
            raise ArgumentError("astype: expected subok True, got False")
        known = getattr(self, "dtype", None)
        if not copy and known is not None and normalize_dtype(dtype) == known:
            return self
        return call("_npi_cast", (self,), {"dtype": dtype}, what="astype")

    def clip(self, min: float | None = None, max: float | None = None, out: Any = None) -> Any:
        """Limit the values to a range."""
        return numerics.clip(self, min, max, out)

    def copy(self, order: str = "C") -> Any:
        """Return a copy."""
        check_order("copy", order)
        return shapes.copy(self)

    def cumsum(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        """Return the cumulative sum."""
        return reductions.cumsum(self, axis, dtype, out)

    def diag(self, k: int = 0, **kwargs: Any) -> Any:
        """Return a diagonal of a matrix, or a matrix with a vector as diagonal."""
        return shapes.diag(self, k)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """Return the diagonals of the matrices that two axes span, as the last axis."""
        return shapes.diagonal(self, offset, axis1, axis2)

    def dot(self, b: Any, out: Any = None) -> Any:
        """Return the product with ``b``: `np.dot`."""
        return products.dot(self, b, out)

    def flatten(self, order: str = "C") -> Any:
        """Return a flattened copy."""
        return shapes.reshape(self, -1, order)

    def ravel(self, order: str = "C") -> Any:
        """Return a flattened copy."""
        return shapes.reshape(self, -1, order)

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Return the maximum over axes."""
        return reductions.max(self, axis, keepdims, out)

    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Return the minimum over axes."""
        return reductions.min(self, axis, keepdims, out)

    def mean(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        """Return the mean over axes."""
        return reductions.mean(self, axis, dtype, out, keepdims)

    def nonzero(self) -> tuple[Any, ...]:
        """Return the indices of the elements that are not zero, one array for each axis."""
        return elements.nonzero(self)

    def prod(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        """Return the product over axes."""
        return reductions.prod(self, axis, dtype, out, keepdims)

    def repeat(self, repeats: int, axis: int | None = None) -> Any:
        """Return each element repeated."""
        return shapes.repeat(self, repeats, axis)

    def reshape(self, *args: Any, **kwargs: Any) -> Any:
        """Return a copy of another shape.

        Args:
            *args: The shape, as ints or as one tuple; one size may be -1, to be inferred.
            **kwargs: ``newshape`` or ``shape``: extents; ``order``: ``"C"``.
        """
        order = kwargs.pop("order", "C")
        names = [name for name in kwargs if name in ("newshape", "shape")]
        if len(kwargs) > len(names) or bool(args) == bool(names):
            raise ArgumentError(
                f"reshape: expected a shape and order, got {list(args)} and {sorted(kwargs)}"
            )
        shape = kwargs[names[0]] if names else args[0] if len(args) == 1 else args
        return shapes.reshape(self, shape, order)

    def round(self, decimals: int = 0, out: Any = None, **kwargs: Any) -> Any:
        """Round to a number of decimals."""
        return numerics.around(self, decimals, out, **kwargs)

    def sort(
        self,
        axis: int | None = -1,
        kind: str | bool | None = None,
        order: bool | None = None,
        *,
        descending: bool = False,
        stable: bool = True,
    ) -> Any:
        """Return a sorted copy by the rules of MXNet 2.0; else refused: NumPy sorts in place."""
        if follows_mxnet2():
            return elements.sort(self, axis, kind, order, descending=descending, stable=stable)
        raise NotSupportedError("sort: expected the function np.sort(x), got the method x.sort()")

    def broadcast_to(self, shape: Any) -> Any:
        """Return the value with axes of size 1 stretched to ``shape``; -2 keeps an axis."""
        return shapes.broadcast_to(self, shape)

    def squeeze(self, axis: Any = None) -> Any:
        """Return the array without axes of size 1."""
        return shapes.squeeze(self, axis)

    def std(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: int = 0,
        keepdims: bool = False,
        *,
        correction: int | None = None,
    ) -> Any:
        """Return the standard deviation over axes."""
        return reductions.std(self, axis, dtype, out, ddof, keepdims, correction=correction)

    def sum(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        """Return the sum over axes."""
        return reductions.sum(self, axis, dtype, keepdims, None, out)

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Swap two axes."""
        return shapes.swapaxes(self, axis1, axis2)

    def take(self, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
        """Return elements at given indices along an axis."""
        return elements.take(self, indices, axis, mode)

    def transpose(self, *axes: Any) -> Any:
        """Permute the axes, given as ints or a tuple; reversed by default."""
        order: Any = axes
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], list | tuple)):
            order = axes[0]
        return shapes.transpose(self, order or None)

    def var(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: int = 0,
        keepdims: bool = False,
        *,
        correction: int | None = None,
    ) -> Any:
        """Return the variance over axes."""
        return reductions.var(self, axis, dtype, out, ddof, keepdims, correction=correction)
