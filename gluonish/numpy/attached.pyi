# mypy: disable-error-code="assignment, misc, override"
# pyright: reportAssignmentType=false, reportIncompatibleMethodOverride=false
# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from gluonish.ndarray.indexing import set_item as _function_set_item
from gluonish.ndarray.methods import reshape as _function_reshape
from gluonish.ndarray.ndarray import NDArray as NDArray
from gluonish.numpy.array import ndarray
from gluonish.numpy.array_methods import _inplace_matmul as _function_inplace_matmul
from gluonish.numpy.array_methods import as_in_ctx as _function_as_in_ctx
from gluonish.numpy.array_methods import get_item as _function_get_item
from gluonish.numpy.array_methods import item as _function_item
from gluonish.numpy.methods import NumpyMethods as NumpyMethods
from gluonish.numpy.protocol import array_function as _function_array_function
from gluonish.numpy.protocol import array_ufunc as _function_array_ufunc
from typing import Any
from typing import Self

class AttachedMethods(NDArray):
    __abs__ = NumpyMethods.__abs__
    def __add__(self, other: Any) -> Self:
        """x1 + x2."""
    def __and__(self, other: Any) -> Self:
        """Bitwise and."""
    __array_function__ = _function_array_function
    __array_ufunc__ = _function_array_ufunc
    __ceil__ = NumpyMethods.__ceil__
    def __eq__(self, other: Any) -> Self:
        """Whether x1 == x2."""
    __floor__ = NumpyMethods.__floor__
    def __floordiv__(self, other: Any) -> Self:
        """The largest integer that is not greater than x1 / x2."""
    def __ge__(self, other: Any) -> Self:
        """Whether x1 >= x2."""
    __getitem__ = _function_get_item
    def __gt__(self, other: Any) -> Self:
        """Whether x1 > x2."""
    def __iadd__(self, other: Any) -> ndarray:
        """Return the array itself, after ``x += other``."""
    def __iand__(self, other: Any) -> ndarray:
        """Return the array itself, after ``x &= other``."""
    def __ifloordiv__(self, other: Any) -> ndarray:
        """Return the array itself, after ``x //= other``."""
    def __ilshift__(self, other: Any) -> ndarray:
        """Return the array itself, after ``x <<= other``."""
    __imatmul__ = _function_inplace_matmul
    def __imod__(self, other: Any) -> ndarray:
        """Return the array itself, after ``x %= other``."""
    def __imul__(self, other: Any) -> ndarray:
        """Return the array itself, after ``x *= other``."""
    __invert__ = NumpyMethods.__invert__
    def __ior__(self, other: Any) -> ndarray:
        """Return the array itself, after ``x |= other``."""
    def __ipow__(self, other: Any) -> ndarray:
        """Return the array itself, after ``x **= other``."""
    def __irshift__(self, other: Any) -> ndarray:
        """Return the array itself, after ``x >>= other``."""
    def __isub__(self, other: Any) -> ndarray:
        """Return the array itself, after ``x -= other``."""
    def __itruediv__(self, other: Any) -> ndarray:
        """Return the array itself, after ``x /= other``."""
    def __ixor__(self, other: Any) -> ndarray:
        """Return the array itself, after ``x ^= other``."""
    def __le__(self, other: Any) -> Self:
        """Whether x1 <= x2."""
    def __lshift__(self, other: Any) -> Self:
        """x1 * 2 ** x2 of integers."""
    def __lt__(self, other: Any) -> Self:
        """Whether x1 < x2."""
    __matmul__ = NumpyMethods.__matmul__
    def __mod__(self, other: Any) -> Self:
        """Remainder of x1 / x2, with the sign of x2."""
    def __mul__(self, other: Any) -> Self:
        """x1 * x2."""
    def __ne__(self, other: Any) -> Self:
        """Whether x1 != x2."""
    __neg__ = NumpyMethods.__neg__
    def __or__(self, other: Any) -> Self:
        """Bitwise or."""
    __pos__ = NumpyMethods.__pos__
    def __pow__(self, other: Any) -> Self:
        """x1 to the power of x2."""
    def __radd__(self, other: Any) -> Self:
        """x1 + x2."""
    def __rand__(self, other: Any) -> Self:
        """Bitwise and."""
    def __rfloordiv__(self, other: Any) -> Self:
        """The largest integer that is not greater than x1 / x2."""
    def __rlshift__(self, other: Any) -> Self:
        """x1 * 2 ** x2 of integers."""
    __rmatmul__ = NumpyMethods.__rmatmul__
    def __rmod__(self, other: Any) -> Self:
        """Remainder of x1 / x2, with the sign of x2."""
    def __rmul__(self, other: Any) -> Self:
        """x1 * x2."""
    def __ror__(self, other: Any) -> Self:
        """Bitwise or."""
    __round__ = NumpyMethods.__round__
    def __rpow__(self, other: Any) -> Self:
        """x1 to the power of x2."""
    def __rrshift__(self, other: Any) -> Self:
        """x1 // 2 ** x2 of integers."""
    def __rshift__(self, other: Any) -> Self:
        """x1 // 2 ** x2 of integers."""
    def __rsub__(self, other: Any) -> Self:
        """x1 - x2."""
    def __rtruediv__(self, other: Any) -> Self:
        """x1 / x2; float32 for integers."""
    def __rxor__(self, other: Any) -> Self:
        """Bitwise exclusive or."""
    __setitem__ = _function_set_item
    def __sub__(self, other: Any) -> Self:
        """x1 - x2."""
    def __truediv__(self, other: Any) -> Self:
        """x1 / x2; float32 for integers."""
    __trunc__ = NumpyMethods.__trunc__
    def __xor__(self, other: Any) -> Self:
        """Bitwise exclusive or."""
    all = NumpyMethods.all
    any = NumpyMethods.any
    argmax = NumpyMethods.argmax
    argmin = NumpyMethods.argmin
    argsort = NumpyMethods.argsort
    as_in_ctx = _function_as_in_ctx
    astype = NumpyMethods.astype
    broadcast_to = NumpyMethods.broadcast_to
    clip = NumpyMethods.clip
    copy = NumpyMethods.copy
    cumsum = NumpyMethods.cumsum
    diag = NumpyMethods.diag
    diagonal = NumpyMethods.diagonal
    dot = NumpyMethods.dot
    def expand_dims(self, *args: Any, **kwargs: Any) -> Self:
        """Call `expand_dims`, as on an NDArray; MXNet does not support it on ``np`` arrays."""
    flatten = NumpyMethods.flatten
    item = _function_item
    max = NumpyMethods.max
    mean = NumpyMethods.mean
    min = NumpyMethods.min
    nonzero = NumpyMethods.nonzero
    prod = NumpyMethods.prod
    ravel = NumpyMethods.ravel
    repeat = NumpyMethods.repeat
    reshape = NumpyMethods.reshape
    reshape_view = _function_reshape
    round = NumpyMethods.round
    sort = NumpyMethods.sort
    def split_v2(self, *args: Any, **kwargs: Any) -> Self:
        """Call `split_v2`, as on an NDArray; MXNet does not support it on ``np`` arrays."""
    squeeze = NumpyMethods.squeeze
    std = NumpyMethods.std
    sum = NumpyMethods.sum
    swapaxes = NumpyMethods.swapaxes
    take = NumpyMethods.take
    transpose = NumpyMethods.transpose
    var = NumpyMethods.var
    def __hash__(self) -> int: ...
