"""Functions of the ``nd`` namespace that are not operators: arithmetic with numbers on either side, waiting, splitting, DLPack."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentTypeError
from gluonish.engine import current_engine
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish.ops import binary
from gluonish.ops.binary import Row
from gluonish.ops.registry import apply, find_operator

__all__ = [
    "add",
    "divide",
    "equal",
    "from_dlpack",
    "greater",
    "greater_equal",
    "lesser",
    "lesser_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "modulo",
    "multiply",
    "not_equal",
    "power",
    "split_v2",
    "subtract",
    "to_dlpack_for_read",
    "to_dlpack_for_write",
    "true_divide",
    "waitall",
]


def _function(row: Row, name: str) -> Callable[[Any, Any], Any]:
    def function(lhs: Any, rhs: Any) -> Any:
        if isinstance(lhs, int | float) and isinstance(rhs, int | float):
            raise ArgumentTypeError(
                f"{name}: expected an array on at least one side, got two numbers"
            )
        return row(lhs, rhs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{row.broadcast.doc} Either side may be a number."
    return function


add = _function(binary.ADD, "add")
subtract = _function(binary.SUBTRACT, "subtract")
multiply = _function(binary.MULTIPLY, "multiply")
divide = _function(binary.DIVIDE, "divide")
true_divide = _function(binary.DIVIDE, "true_divide")
modulo = _function(binary.MODULO, "modulo")
maximum = _function(binary.MAXIMUM, "maximum")
minimum = _function(binary.MINIMUM, "minimum")
equal = _function(binary.EQUAL, "equal")
not_equal = _function(binary.NOT_EQUAL, "not_equal")
greater = _function(binary.GREATER, "greater")
greater_equal = _function(binary.GREATER_EQUAL, "greater_equal")
lesser = _function(binary.LESSER, "lesser")
lesser_equal = _function(binary.LESSER_EQUAL, "lesser_equal")
logical_and = _function(binary.LOGICAL_AND, "logical_and")
logical_or = _function(binary.LOGICAL_OR, "logical_or")
logical_xor = _function(binary.LOGICAL_XOR, "logical_xor")


def power(base: Any, exp: Any) -> Any:
    """Return ``base`` to the power of ``exp``, element by element; either may be a number."""
    return binary.POWER(base, exp)


def waitall() -> None:
    """Wait until everything that was pushed to the engine is done.

    Raises:
        OperatorError: if an operator failed and nobody has seen its error yet.
    """
    current_engine().wait_all()


def split_v2(
    ary: NDArray,
    indices_or_sections: int | Sequence[int],
    axis: int = 0,
    squeeze_axis: bool = False,
) -> Any:
    """Return the parts of an array along an axis.

    Args:
        ary: The array.
        indices_or_sections: Number of equal parts, or the positions at which to cut.
        axis: Axis to cut.
        squeeze_axis: Drop the axis from the parts, whose extent there must be 1.
    """
    op = find_operator("_split_v2")
    if isinstance(indices_or_sections, int):
        given: dict[str, Any] = {"indices": (), "sections": indices_or_sections}
    else:  # the operator wants the start of every part, the first included
        given = {"indices": (0, *indices_or_sections), "sections": 0}
    given |= {"axis": axis, "squeeze_axis": squeeze_axis}
    return apply(op, (ary,), op.schema.parse("split_v2", given))


def to_dlpack_for_read(data: NDArray) -> Any:
    """Return a DLPack capsule over the array's memory, for reading."""
    data.wait_to_read()
    return data._data.__dlpack__()


def to_dlpack_for_write(data: NDArray) -> Any:
    """Return a DLPack capsule over the array's memory, for writing."""
    data.wait_to_write()
    return data._data.__dlpack__()


class _Capsule:
    """Gives a bare DLPack capsule the interface that NumPy's importer asks for."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def from_dlpack(dlpack: Any, ctx: Context | None = None) -> NDArray:
    """Return an array with a copy of the values behind a DLPack capsule or an object that offers ``__dlpack__``."""
    exporter = dlpack if hasattr(dlpack, "__dlpack__") else _Capsule(dlpack)
    values = np.from_dlpack(exporter)
    return from_host(values, ctx, values.dtype)
