"""Attach operators, indexing, copying and pickling to NDArray as methods.

The class cannot import the modules that implement them, because these import the class. Printing
and in-place arithmetic (``x += y``) are defined here.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, STORED_DTYPES, normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError, AutogradError
from gluonish.core.habit_tables import ARRAY
from gluonish.core.habits import add_habits
from gluonish.core.lazy import attach_methods
from gluonish.core.loading import load
from gluonish.core.spec import Spec
from gluonish.ndarray import recording
from gluonish.ndarray.copying import as_in_context, copyto, duplicate
from gluonish.ndarray.dlpack import to_dlpack_for_read, to_dlpack_for_write
from gluonish.ndarray.eager import invoke, record_call
from gluonish.ndarray.functions import split_v2
from gluonish.ndarray.indexing import get_item, set_item
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.numpy_operands import as_operand
from gluonish.ndarray.recording import RECORDING
from gluonish.ndarray.serialization import array_from_state, array_state
from gluonish.ndarray.truth import keeping
from gluonish.ops.elementwise import binary
from gluonish.ops.elementwise.arithmetic import scalar_attrs
from gluonish.ops.fluent import Fluent, reshape_arguments
from gluonish.ops.registry import find_operator
from gluonish.ops.shape.reshape import RESHAPE
from gluonish.ops.support.binary_row import Row
from gluonish.ops.support.shape_codes import resolve_shape


def _inplace(row: Row, symbol: str) -> Callable[[NDArray, Any], NDArray]:
    def method(self: NDArray, other: Any) -> NDArray:
        self._check_writable(symbol)
        if isinstance(other, np.ndarray):
            other = as_operand(self, other, row.broadcast.name)
        if not isinstance(other, NDArray):
            invoke(row.scalar, (self,), scalar_attrs(row, other), out=self)
            return self
        if other._edge is not None and recording.mode.get() & RECORDING:
            raise AutogradError(
                f"{symbol}: expected operands outside the recorded graph, got a right operand "
                "inside it; write x = x + y instead of x += y"
            )
        if other.shape != self.shape and len(other.shape) > len(self.shape):
            raise ArgumentError(
                f"{symbol}: expected an operand that broadcasts to {self.shape}, got {other.shape}"
            )
        invoke(row.broadcast, (self, other), {}, out=self)
        return self

    method.__doc__ = f"Return the array itself, after ``x {symbol} other``."
    return method


INPLACE_METHODS = {
    "__iadd__": _inplace(binary.ADD, "+="),
    "__isub__": _inplace(binary.SUBTRACT, "-="),
    "__imul__": _inplace(binary.MULTIPLY, "*="),
    "__itruediv__": _inplace(binary.DIVIDE, "/="),
    "__imod__": _inplace(binary.MODULO, "%="),
}


def array_repr(x: NDArray) -> str:
    """Return the values, shape and device, as in ``[1. 2.]`` and ``<NDArray 2 @cpu(0)>``."""
    values = x.asnumpy()
    if values.dtype == BFLOAT16 or values.dtype in STORED_DTYPES:
        values = values.astype(np.float32)
    shape = "x".join(map(str, x.shape))
    return f"\n{values}\n<{type(x).__name__} {shape} @{x.context}>"


def array_html(x: NDArray) -> str | None:
    """Return what a notebook shows of an array, as HTML; None if its values cannot be computed."""
    text: str | None = load("gluonish.ndarray.array_html").array_html(x)
    return text


_ROUND = find_operator("round")
# Methods named after operators that copy or move elements: a mask stays a mask.
_KEEPING = (
    *("broadcast_axes", "flip", "repeat", "reshape_like", "slice", "slice_axis", "slice_like"),
    *("swapaxes", "take", "tile", "transpose"),
)


def reshape(self: NDArray, *shape: Any, **kwargs: Any) -> NDArray:
    """Return a view of the array with another shape, in the same memory.

    Args:
        self: The array.
        *shape: The new shape, as ints or one tuple. 0 keeps the size of that axis, -1 infers a
            size, -2 copies all remaining sizes, -3 joins two axes, -4 splits an axis into the next
            two sizes.
        **kwargs: ``shape``; ``reverse``: whether to match these codes from the last axis.

    Raises:
        OperatorError: The new shape has another number of elements.
        ArgumentTypeError: NumPy's ``order`` is passed; `numpy.reshape` then uses its own code.
    """
    if "order" in kwargs:
        raise ArgumentTypeError("reshape: expected shape and reverse, got NumPy's order")
    attrs = RESHAPE.schema.parse("reshape", reshape_arguments(shape, kwargs))
    target = resolve_shape(self.shape, attrs["shape"], attrs["reverse"])
    spec = Spec(target, self._spec.dtype)
    view = NDArray(self._make_contiguous().reshape(target), spec, self._device, self._var)
    view._truth = self._truth
    if self._edge is not None and recording.mode.get() & recording.RECORDING:
        record_call(RESHAPE, (self,), attrs, (view,))
    return view


def _in_place(name: str, operator: str) -> Callable[..., NDArray]:
    """Return a method that only changes axes; with ``inplace`` it returns a view."""
    op, method = find_operator(operator), getattr(Fluent, name)
    names = tuple(op.schema.attributes)

    @keeping
    @wraps(method)
    def change(self: NDArray, *args: Any, inplace: bool = False, **kwargs: Any) -> NDArray:
        if len(args) > len(names):
            *args, inplace = args  # type: ignore[assignment]  # a list does as well
        if not inplace or not self.size:
            changed: NDArray = method(self, *args, **kwargs)
            return changed
        attrs = op.schema.parse(name, {**dict(zip(names, args, strict=False)), **kwargs})
        (spec,) = op.infer(self._spec, **attrs)
        view: NDArray = self.reshape(spec.shape)
        return view

    return change


@keeping
def broadcast_like(
    self: NDArray, other: Any = None, lhs_axes: Any = None, rhs_axes: Any = None, *, rhs: Any = None
) -> Any:
    """Broadcast the array to the shape of another.

    Args:
        self: The array.
        other: An array of the target shape.
        lhs_axes: Axes to stretch; None for all.
        rhs_axes: For each of them the axis of ``other``; None for all.
        rhs: The name of ``other`` for Symbols.

    Raises:
        ArgumentTypeError: Neither ``other`` nor ``rhs`` is passed, or both are.
    """
    if other is None or rhs is not None or lhs_axes is not None or rhs_axes is not None:
        return Fluent.broadcast_like(self, other, lhs_axes, rhs_axes, rhs=rhs)
    return self.broadcast_to(other.shape)


def round_(self: NDArray, decimals: int = 0, out: Any = None) -> NDArray:
    """Round to the nearest integers, halves away from 0.

    Args:
        self: The array.
        decimals: Must be 0, the default of `numpy.round`.
        out: Array to store the result in.

    Raises:
        ArgumentTypeError: ``decimals`` is not 0; `numpy.round` then uses its own code.
    """
    if decimals:
        raise ArgumentTypeError(f"round: expected decimals=0, got {decimals!r}; use numpy.round")
    rounded: NDArray = invoke(_ROUND, (self,), {}, out)
    return rounded


@keeping
def astype(self: NDArray, dtype: Any, copy: bool = True) -> NDArray:
    """Convert the array to another element type.

    Args:
        self: The array.
        dtype: The new element type.
        copy: False returns the array itself if it already has this dtype.
    """
    if not copy and normalize_dtype(dtype) == self._spec.dtype:
        return self
    cast: NDArray = Fluent.astype(self, dtype)
    return cast


def copy(self: NDArray) -> NDArray:
    """Return a copy on the same device."""
    return copyto(self, self.context)


def slice_assign(self: NDArray, rhs: Any, begin: Any, end: Any, step: Any) -> NDArray:
    """Assign to a slice of the array, and return the array itself.

    Args:
        self: The array.
        rhs: The values to assign; they broadcast to the slice.
        begin: First index along each axis; None for the start.
        end: Index after the last one along each axis; None for the end.
        step: Step along each axis; empty for 1.
    """
    steps = step or (None,) * len(begin)
    self[tuple(slice(*bounds) for bounds in zip(begin, end, steps, strict=True))] = rhs
    return self


def slice_assign_scalar(self: NDArray, value: float, begin: Any, end: Any, step: Any) -> NDArray:
    """Assign one number to a slice of the array, and return the array itself.

    Args:
        self: The array.
        value: The number.
        begin: First index along each axis; None for the start.
        end: Index after the last one along each axis; None for the end.
        step: Step along each axis; empty for 1.
    """
    return slice_assign(self, value, begin, end, step)


def as_nd_ndarray(self: NDArray) -> NDArray:
    """Return the array itself, which already is an ``nd`` array."""
    return self


def _at(self: NDArray, idx: int) -> Any:
    """Return ``self[idx]``, under MXNet's name."""
    return self[idx]


def _slice(self: NDArray, start: int | None, stop: int | None) -> Any:
    """Return ``self[start:stop]``, under MXNet's name."""
    return self[start:stop]


def _full(self: NDArray, value: float) -> NDArray:
    """Set all elements to a number, and return the array itself."""
    self[:] = value
    return self


def _sync_copyfrom(self: NDArray, source_array: Any) -> None:
    """Copy values into the array.

    Args:
        self: The array.
        source_array: A NumPy array of the same shape, or values convertible to one.

    Raises:
        ArgumentTypeError: The values are not convertible.
        ArgumentError: The shape differs.
    """
    try:
        source = np.asarray(source_array, dtype=self.dtype)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"_sync_copyfrom: expected an array, got {type(source_array).__name__}: {error}"
        ) from error
    if source.shape != self.shape:
        raise ArgumentError(f"_sync_copyfrom: expected shape {self.shape}, got {source.shape}")
    self[:] = source


# Operators of NumPy's arrays that NDArrays lack, and what to write instead.
_OPERATORS = {
    "__and__": ("&", "x * y of comparisons, nd.logical_and(x, y), or arrays of mx.np"),
    "__or__": ("|", "nd.logical_or(x, y), or arrays of mx.np"),
    "__xor__": ("^", "nd.logical_xor(x, y), or arrays of mx.np"),
    "__matmul__": ("@", "nd.dot(x, y), nd.batch_dot(x, y), or arrays of mx.np"),
}


def _refused_operator(sign: str, advice: str) -> Any:
    def refuse(self: NDArray, other: object) -> Any:
        if not isinstance(other, NDArray):
            return NotImplemented
        raise ArgumentTypeError(f"unsupported operand type(s) for {sign}: NDArrays; use {advice}")

    refuse.__doc__ = f"Refuse ``x {sign} y``, as MXNet does: use {advice}."
    return refuse


def attach() -> None:
    """Attach the methods to `NDArray`."""
    methods: dict[str, Any] = {
        "__apply__": staticmethod(invoke),
        "__copy__": duplicate,
        "__deepcopy__": duplicate,
        "__getitem__": get_item,
        "__getstate__": array_state,
        "__repr__": array_repr,
        "_repr_html_": array_html,
        "__setitem__": set_item,
        "__setstate__": array_from_state,
        "_at": _at,
        "_full": _full,
        "_numpy_operand": as_operand,
        "_slice": _slice,
        "_sync_copyfrom": _sync_copyfrom,
        "as_in_context": as_in_context,
        "as_in_ctx": as_in_context,
        "to_device": as_in_context,
        "as_nd_ndarray": as_nd_ndarray,
        "astype": astype,
        "broadcast_like": broadcast_like,
        "broadcast_to": keeping(Fluent.broadcast_to),
        "copy": copy,
        "expand_dims": _in_place("expand_dims", "expand_dims"),
        "flatten": _in_place("flatten", "Flatten"),
        "reshape": reshape,
        "round": round_,
        "slice_assign": slice_assign,
        "slice_assign_scalar": slice_assign_scalar,
        "split_v2": split_v2,
        "squeeze": _in_place("squeeze", "squeeze"),
        "to_dlpack_for_read": to_dlpack_for_read,
        "to_dlpack_for_write": to_dlpack_for_write,
        **INPLACE_METHODS,
    }
    for name, method in methods.items():
        setattr(NDArray, name, method)
    attach_methods(NDArray, _KEEPING, lambda name: keeping(getattr(Fluent, name)))
    add_habits(NDArray, ARRAY)
    for name, (sign, advice) in _OPERATORS.items():
        setattr(NDArray, name, _refused_operator(sign, advice))


attach()
