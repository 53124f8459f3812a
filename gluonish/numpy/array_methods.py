"""Attach methods to `ndarray`: those of `NumpyMethods`, and those of arrays only.

The class cannot define them, because the functions that they call import it.

Also ``x[key]`` by NumPy's rules, on arrays and traced values.

Arrays are indexed as in ``nd``, but a single element has shape (). A key that contains traced
values becomes an operator.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NoValuesError, OutOfBoundsError
from gluonish.ndarray.copying import as_in_context
from gluonish.ndarray.indexing import (
    gather_by_key,
    host_key,
    is_basic,
    select,
    set_item,
    slice_by_key,
)
from gluonish.ndarray.methods import reshape as reshape_view
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy import binary, products, unary
from gluonish.numpy.array import ndarray
from gluonish.numpy.binary import Row, combine
from gluonish.numpy.calls import call, is_value, name_function
from gluonish.numpy.methods import NumpyMethods


def get_item(x: NDArray, key: Any) -> NDArray:
    """Return ``x[key]``: a view for a basic key that selects contiguous memory, else a copy.

    Raises:
        OutOfBoundsError: An index is out of bounds, or there are too many.
        ArgumentTypeError: The key is not an index.
    """
    return select(x, key, ())


def get_traced_item(x: Any, key: Any) -> Any:
    """Return ``x[key]`` of a traced value.

    Args:
        x: The value.
        key: A key as for an array; or a traced mask; or a key with traced integer indices.

    Raises:
        NoValuesError: A traced index is combined with other indices than full slices.
    """
    keys = key if isinstance(key, tuple) else (key,)
    traced = [i for i, k in enumerate(keys) if is_value(k) and not isinstance(k, NDArray)]
    if not traced:
        basic = is_basic(key)
        return slice_by_key(x, key, ()) if basic else gather_by_key(x, host_key(key), ())
    if len(keys) == 1 and keys[0].dtype == np.bool_:
        return call("_npi_boolean_mask", (x, keys[0]), {"axis": 0}, what="index")
    if len(traced) == 1 and all(_is_full_slice(k) for i, k in enumerate(keys) if i != traced[0]):
        (axis,) = traced
        index = keys[axis]
        if Ellipsis in [k for i, k in enumerate(keys) if i < axis]:
            axis = x.ndim - (len(keys) - axis)
        return call("_npi_take", (x, index), {"axis": axis, "mode": "wrap"}, what="index")
    if len(traced) == len(keys):
        indices = call("_npi_stack", keys, {"axis": 0, "num_args": len(keys)}, what="index")
        return call("_npi_gather_nd", (x, indices), what="index")
    raise NoValuesError(
        "index: expected traced values as the only indices besides full slices, got "
        f"{key!r}; use take or gather_nd"
    )


def _is_full_slice(key: Any) -> bool:
    return key is Ellipsis or (isinstance(key, slice) and key == slice(None))


__all__ = ["attach", "get_item", "get_traced_item"]

# Methods that ``np`` arrays inherit from NDArray: operators of the same name.
_OPERATOR_METHODS = (
    *("abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "argmax_channel"),
    *("broadcast_axes", "cbrt", "ceil", "cos", "cosh", "degrees", "depth_to_space", "exp"),
    *("expand_dims", "expm1", "fix", "flip", "floor", "log", "log10", "log1p", "log2"),
    *("log_sigmoid", "log_softmax", "mish", "nanprod", "nansum", "norm", "one_hot", "ones_like"),
    *("pad", "pick"),
    *("radians", "rcbrt", "reciprocal", "relu", "reshape_like", "rint", "rsqrt", "shape_array"),
    *("sigmoid", "sign", "sin", "sinh", "size_array", "slice", "slice_axis", "slice_like"),
    *("softmax", "softmin", "space_to_depth", "split", "split_v2", "sqrt", "square", "tan"),
    *("tanh", "tile", "topk", "trunc", "zeros_like"),
)


def _nd_method(name: str) -> Callable[..., Any]:
    inherited = getattr(unary, name) if name in unary.__all__ else getattr(NDArray, name)

    def method(self: NDArray, *args: Any, **kwargs: Any) -> Any:
        return inherited(self, *args, **kwargs)

    doc = f"Call `{name}`, as on an NDArray; MXNet does not support it on ``np`` arrays."
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
        "__ifloordiv__": _inplace(binary.FLOOR_DIVIDE, "//="),
        "__imod__": _inplace(binary.MOD, "%="),
        "__ipow__": _inplace(binary.POWER, "**="),
        "__ilshift__": _inplace(binary.LEFT_SHIFT, "<<="),
        "__irshift__": _inplace(binary.RIGHT_SHIFT, ">>="),
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
