"""Masks: results of comparisons that select elements as a key, as in ``x[x == 0] = v``.

Comparisons of `nd` return 0 and 1 in the dtype of their operands, as in MXNet, and a numeric key is
an array of indices. So the result of a comparison is marked as a mask (`NDArray._truth`), and a
marked key of the array's shape selects elements. Operations on masks alone return masks: products,
sums (true where any is), maxima, minima, ``1 - mask``, `logical_and` and the like, and operators
that copy or rearrange elements; as methods or as functions of `nd`. An unmarked array of 0 and 1 is
an array of indices. Under the name ``mxnet`` all numeric keys are indices.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from numbers import Real
from typing import Any, TypeVar, cast

import numpy as np

from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.elementwise import binary
from gluonish.ops.elementwise.arithmetic import apply_row
from gluonish.ops.registry import Attrs, Operator, apply
from gluonish.ops.support.binary_row import Row

Method = TypeVar("Method", bound=Callable[..., Any])
Apply = Callable[[Operator, Sequence[Any], Attrs], Any]

SUM = 2  # marks a sum of masks, whose elements may exceed 1


def _names(*rows: Row) -> frozenset[str]:
    return frozenset(op.name for row in rows for op in (row.elemwise, row.broadcast))


_COMPARING = (
    *(binary.EQUAL, binary.NOT_EQUAL, binary.GREATER, binary.GREATER_EQUAL),
    *(binary.LESSER, binary.LESSER_EQUAL),
    *(binary.LOGICAL_AND, binary.LOGICAL_OR, binary.LOGICAL_XOR),
)
# Operators whose results are marked.
COMPARISONS = _names(*_COMPARING) | {row.scalar.name for row in _COMPARING} | {"logical_not"}
# Operators whose results are marked if both arrays are.
_SUMS = _names(binary.ADD)
_JOINTS = _names(binary.SUBTRACT, binary.MULTIPLY, binary.MAXIMUM, binary.MINIMUM)
# Operators that copy or rearrange elements: their results are marked if the array is.
_MOVES = frozenset(
    (
        *("BlockGrad", "Cast", "Flatten", "Reshape", "SwapAxis", "_copy", "broadcast_axis"),
        *("broadcast_like", "broadcast_to", "expand_dims", "repeat", "reshape_like", "reverse"),
        *("slice", "slice_axis", "slice_like", "squeeze", "take", "tile", "transpose"),
    )
)


def applying(op: Operator) -> Apply:
    """Return `apply`, or a variant that marks masks without an additional Python call."""
    if op.name in _MOVES:
        return _apply_move
    if op.name in _SUMS:
        return _apply_sum
    return _apply_joint if op.name in _JOINTS else apply


def _apply_move(op: Operator, inputs: Sequence[Any], attrs: Attrs) -> Any:
    first = inputs[0]
    result = type(first).__apply__(op, inputs, attrs)
    if type(first) is NDArray and first._truth and type(result) is NDArray:
        result._truth = first._truth
    return result


def _applying_joint(mark: int) -> Apply:
    def apply_joint(op: Operator, inputs: Sequence[Any], attrs: Attrs) -> Any:
        lhs, rhs = inputs
        result = type(lhs).__apply__(op, inputs, attrs)
        if type(lhs) is NDArray and lhs._truth and type(rhs) is NDArray and rhs._truth:
            result._truth = max(mark, lhs._truth, rhs._truth)
        return result

    return apply_joint


_apply_sum, _apply_joint = _applying_joint(SUM), _applying_joint(True)


def marking(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a comparison function of ``nd`` to mark its results."""

    @wraps(function)
    def compare(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if type(result) is NDArray:
            result._truth = True
        return result

    return compare


def joining(function: Callable[..., Any], mark: int = True) -> Callable[..., Any]:
    """Wrap a function of two arrays to mark its result with ``mark`` if both arrays are masks."""

    @wraps(function)
    def join(lhs: Any, rhs: Any) -> Any:
        result = function(lhs, rhs)
        if type(lhs) is NDArray and lhs._truth and type(rhs) is NDArray and rhs._truth:
            result._truth = max(mark, lhs._truth, rhs._truth)
        return result

    return join


def subtracting(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a subtraction to mark its result if both arrays are masks, or for 1 minus a mask."""

    @wraps(function)
    def subtract(lhs: Any, rhs: Any) -> Any:
        result = function(lhs, rhs)
        if type(rhs) is NDArray and rhs._truth:
            _mark_difference(lhs, rhs, result)
        return result

    return subtract


def _mark_difference(lhs: Any, rhs: NDArray, result: NDArray) -> None:
    """Mark ``lhs - rhs`` if both are masks, or if it is ``1 - mask``."""
    if type(lhs) is NDArray:
        result._truth = lhs._truth and max(lhs._truth, rhs._truth)
    elif rhs._truth is True and isinstance(lhs, Real) and lhs == 1:
        result._truth = True


def keeping(method: Method) -> Method:
    """Wrap a method that copies or rearranges elements to return a mask for a mask."""

    @wraps(method)
    def keep(self: NDArray, *args: Any, **kwargs: Any) -> Any:
        result = method(self, *args, **kwargs)
        if type(self) is NDArray and self._truth and type(result) is NDArray:
            result._truth = self._truth
        return result

    return cast(Method, keep)


def as_mask(x: NDArray, key: Any) -> Any:
    """Return the key of ``x`` as a bool array if it is marked as a mask, else unchanged."""
    mask = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    if type(mask) is not NDArray or not mask._truth or mask.shape != x.shape or follows_mxnet():
        return key
    if mask._truth != SUM and not np.isin(mask.asnumpy(), (0, 1)).all():  # written to since
        return key
    return mask.detach().astype("bool")


def _comparison(row: Row, unlike: bool | None = None) -> Callable[[NDArray, Any], Any]:
    """Return a comparison method; ``unlike`` is the result of a comparison with None."""

    def compare(self: NDArray, other: Any) -> Any:
        if other is None and unlike is not None:
            return unlike
        result = apply_row(row, self, other)
        if type(result) is NDArray:
            result._truth = True
        return result

    return compare


def _joined(row: Row, mark: int = True) -> Callable[[NDArray, Any], Any]:
    """Return an arithmetic method whose result is a mask if both arrays are.

    Unlike `joining` it adds no Python call, as addition and multiplication are on the hot path.
    """

    def join(self: NDArray, other: Any) -> Any:
        if isinstance(other, NDArray):  # inlined `apply_row`
            result = self.__apply__(row.broadcast, (self, other), {})
        else:
            result = apply_row(row, self, other)
        if type(self) is NDArray and self._truth and type(other) is NDArray and other._truth:
            result._truth = max(mark, self._truth, other._truth)
        return result

    return join


def _subtracted_from(self: NDArray, other: Any) -> Any:
    result = apply_row(binary.SUBTRACT, self, other, reverse=True)
    if type(self) is NDArray and self._truth:
        _mark_difference(other, self, result)
    return result


def attach() -> None:
    """Attach the operators that mark their results to `NDArray`."""
    methods = {
        "__eq__": _comparison(binary.EQUAL, unlike=False),
        "__ne__": _comparison(binary.NOT_EQUAL, unlike=True),
        "__gt__": _comparison(binary.GREATER),
        "__ge__": _comparison(binary.GREATER_EQUAL),
        "__lt__": _comparison(binary.LESSER),
        "__le__": _comparison(binary.LESSER_EQUAL),
        "__add__": _joined(binary.ADD, SUM),
        "__mul__": _joined(binary.MULTIPLY),
        "__sub__": _joined(binary.SUBTRACT),
        "__rsub__": _subtracted_from,
    }
    for name, method in methods.items():
        method.__name__ = name
        method.__qualname__ = f"NDArray.{name}"
        setattr(NDArray, name, method)


attach()
