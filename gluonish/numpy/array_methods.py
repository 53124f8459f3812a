"""Attach methods to `ndarray`: those of `NumpyMethods`, and those of arrays only.

The class cannot define them, because the functions that they call import it.
"""

from collections.abc import Callable
from typing import Any

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError, OutOfBoundsError
from gluonish.ndarray.copying import as_in_context
from gluonish.ndarray.indexing import set_item
from gluonish.ndarray.methods import reshape as reshape_view
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy import binary, products
from gluonish.numpy.array import ndarray
from gluonish.numpy.binary import Row, combine
from gluonish.numpy.indexing import get_item
from gluonish.numpy.methods import NumpyMethods
from gluonish.numpy.signatures import name_function

__all__ = ["attach"]

# Methods that ``np`` arrays inherit from NDArray: operators of the same name.
_OPERATOR_METHODS = (
    *("abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "argmax_channel"),
    *("broadcast_axes", "cbrt", "ceil", "cos", "cosh", "degrees", "depth_to_space", "exp"),
    *("expand_dims", "expm1", "fix", "flip", "floor", "log", "log10", "log1p", "log2"),
    *("log_softmax", "nanprod", "nansum", "norm", "one_hot", "ones_like", "pad", "pick"),
    *("radians", "rcbrt", "reciprocal", "relu", "reshape_like", "rint", "rsqrt", "shape_array"),
    *("sigmoid", "sign", "sin", "sinh", "size_array", "slice", "slice_axis", "slice_like"),
    *("softmax", "softmin", "space_to_depth", "split", "split_v2", "sqrt", "square", "tan"),
    *("tanh", "tile", "topk", "trunc", "zeros_like"),
)


def _nd_method(name: str) -> Callable[..., Any]:
    inherited = getattr(NDArray, name)

    def method(self: NDArray, *args: Any, **kwargs: Any) -> Any:
        return inherited(self, *args, **kwargs)

    doc = f"Call `NDArray.{name}`, which MXNet does not support on ``np`` arrays."
    return name_function(method, name, doc)


def as_in_ctx(self: NDArray, ctx: Context) -> NDArray:
    """Return the array itself if it is on ``ctx``, else a copy on it."""
    if not isinstance(ctx, Context):
        raise ArgumentTypeError(f"as_in_ctx: expected a Context, got {type(ctx).__name__}")
    return as_in_context(self, ctx)


def item(self: NDArray, *args: Any) -> Any:
    """Return one element as a Python number.

    Args:
        self: The array.
        *args: Nothing, for an array of one element; an index into the flattened array; or an index
            for each axis, as ints or a tuple.

    Raises:
        ArgumentError: There are no arguments, and not exactly one element.
        ArgumentTypeError: The arguments are not an index.
        OutOfBoundsError: The index is out of bounds.
    """
    if not args and self.size != 1:
        raise ArgumentError(f"item: expected an array of size 1, got shape {self.shape}")
    try:
        return self.asnumpy().item(*args)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(f"item: expected an index, got {args} ({error})") from error
    except IndexError as error:
        raise OutOfBoundsError(
            f"item: expected an index within {self.shape}, got {args}"
        ) from error


def _inplace(row: Row, symbol: str) -> Callable[[Any, Any], Any]:
    def method(self: ndarray, other: Any) -> ndarray:
        self._check_writable(symbol)
        self[...] = combine(row, self, other)
        return self

    method.__doc__ = f"Return the array itself, after ``x {symbol} other``."
    return method


def _inplace_matmul(self: ndarray, other: Any) -> ndarray:
    """Return the array itself, after ``x @= other``."""
    self._check_writable("@=")
    self[...] = products.matmul(self, other)
    return self


# Attributes that Python defines in every class.
_CLASS_ATTRIBUTES = (
    *("__slots__", "__module__", "__doc__", "__dict__", "__weakref__"),
    *("__firstlineno__", "__static_attributes__"),  # Python 3.13
)


def attach() -> None:
    """Attach the methods to `ndarray`."""
    members = vars(NumpyMethods).items()
    methods: dict[str, Any] = {
        **{name: _nd_method(name) for name in _OPERATOR_METHODS},
        **{name: member for name, member in members if name not in _CLASS_ATTRIBUTES},
        "as_in_ctx": as_in_ctx,
        "__getitem__": get_item,
        "__setitem__": set_item,
        "__iadd__": _inplace(binary.ADD, "+="),
        "__isub__": _inplace(binary.SUBTRACT, "-="),
        "__imul__": _inplace(binary.MULTIPLY, "*="),
        "__itruediv__": _inplace(binary.TRUE_DIVIDE, "/="),
        "__imod__": _inplace(binary.MOD, "%="),
        "__iand__": _inplace(binary.BITWISE_AND, "&="),
        "__ior__": _inplace(binary.BITWISE_OR, "|="),
        "__ixor__": _inplace(binary.BITWISE_XOR, "^="),
        "__imatmul__": _inplace_matmul,
        "item": item,
        "reshape_view": reshape_view,
    }
    for name, method in methods.items():
        setattr(ndarray, name, method)


attach()
