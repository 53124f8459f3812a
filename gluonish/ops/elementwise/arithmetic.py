"""Arithmetic for every kind of value: NDArray, graph value, Symbol.

Map Python's operators to registered operators. Arrays and graph values broadcast
(``broadcast_add``); a Symbol writes ``elemwise_add``, as MXNet's files do.

add_n: the sum of several arrays.
"""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from gluonish.core.dtype import BFLOAT16
from gluonish.core.errors import ArgumentError, ArgumentTypeError, OperatorError
from gluonish.core.habits import described_value
from gluonish.core.schema import Schema, as_number, integer
from gluonish.core.spec import Spec
from gluonish.ops.elementwise import binary
from gluonish.ops.elementwise.unary import ABS, NEGATIVE
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.binary_row import Row
from gluonish.ops.support.broadcasting import complete_same, refuse_truth_values
from gluonish.ops.support.precision import widen

_NUMBERS = (int, float, np.integer, np.floating, np.bool_, BFLOAT16.type)


def apply_row(row: Row, value: "Arithmetic", other: Any, *, reverse: bool = False) -> Any:
    """Apply a row to a value and another value or a number; ``reverse`` swaps the operands.

    Raises:
        ArgumentTypeError: ``other`` is neither a value nor a number.
    """
    if type(other) is float:
        op = row.rscalar if reverse else row.scalar
        return value.__apply__(op, (value,), {"scalar": other, "is_int": False})
    if hasattr(other, "__apply__"):
        op = row.broadcast if value._broadcasts else row.elemwise
        return value.__apply__(op, (other, value) if reverse else (value, other), {})
    if isinstance(other, np.ndarray):
        found = value._numpy_operand(other, row.broadcast.name)
        if found is not other:
            return apply_row(row, value, found, reverse=reverse)
    op = row.rscalar if reverse else row.scalar
    return value.__apply__(op, (value,), scalar_attrs(row, other))


def combine(row: Row, lhs: Any, rhs: Any, on_numbers: Callable[[Any, Any], Any]) -> Any:
    """Apply a row to two values or numbers; ``on_numbers`` computes the result of two numbers.

    Raises:
        ArgumentTypeError: An operand is neither a value nor a number.
    """
    if hasattr(lhs, "__apply__"):
        return apply_row(row, lhs, rhs)
    if hasattr(rhs, "__apply__"):
        return apply_row(row, rhs, lhs, reverse=True)
    scalar_attrs(row, lhs)
    scalar_attrs(row, rhs)
    return on_numbers(lhs, rhs)


def as_int(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], int]:
    """Wrap a comparison of two numbers so that it returns 0 or 1, like comparisons of arrays."""
    return lambda lhs, rhs: int(compare(lhs, rhs))


def scalar_attrs(row: Row, other: Any) -> Attrs:
    """Return the attributes of a row's operator on an array and a number.

    Raises:
        ArgumentTypeError: ``other`` is not a real number.
        ArgumentError: ``other`` is an integer beyond the range of floats.
    """
    if isinstance(other, _NUMBERS):
        try:
            scalar = as_number(other)
        except OverflowError:
            raise ArgumentError(
                f"{row.broadcast.name}: expected a number in the range of floats, got an integer "
                f"of {int(other).bit_length()} bits"
            ) from None
        return {"scalar": scalar, "is_int": isinstance(other, int | np.integer)}
    raise ArgumentTypeError(
        f"{row.broadcast.name}: expected an array or a number, got {described_value(other)}"
    )


class Arithmetic:
    """Mixin with Python's arithmetic operators."""

    __slots__ = ()
    __array_priority__ = 1000.0  # NumPy arrays and scalars on the left defer to our operators
    _broadcasts: ClassVar[bool] = True

    @staticmethod
    def __apply__(op: Operator, inputs: Sequence[Any], attrs: Attrs) -> Any:
        """Run or record an operator."""
        raise NotImplementedError

    def _numpy_operand(self, values: np.ndarray[Any, Any], what: str) -> Any:
        """Return a NumPy array as a value or number, or as it is where none can be made."""
        return values

    def __add__(self, other: Any) -> Any:
        return apply_row(binary.ADD, self, other)

    def __radd__(self, other: Any) -> Any:
        return apply_row(binary.ADD, self, other, reverse=True)

    def __sub__(self, other: Any) -> Any:
        return apply_row(binary.SUBTRACT, self, other)

    def __rsub__(self, other: Any) -> Any:
        return apply_row(binary.SUBTRACT, self, other, reverse=True)

    def __mul__(self, other: Any) -> Any:
        return apply_row(binary.MULTIPLY, self, other)

    def __rmul__(self, other: Any) -> Any:
        return apply_row(binary.MULTIPLY, self, other, reverse=True)

    def __truediv__(self, other: Any) -> Any:
        return apply_row(binary.DIVIDE, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return apply_row(binary.DIVIDE, self, other, reverse=True)

    def __mod__(self, other: Any) -> Any:
        return apply_row(binary.MODULO, self, other)

    def __rmod__(self, other: Any) -> Any:
        return apply_row(binary.MODULO, self, other, reverse=True)

    def __pow__(self, other: Any) -> Any:
        return apply_row(binary.POWER, self, other)

    def __rpow__(self, other: Any) -> Any:
        return apply_row(binary.POWER, self, other, reverse=True)

    def __eq__(self, other: object) -> Any:
        return False if other is None else apply_row(binary.EQUAL, self, other)

    def __ne__(self, other: object) -> Any:
        return True if other is None else apply_row(binary.NOT_EQUAL, self, other)

    def __gt__(self, other: Any) -> Any:
        return apply_row(binary.GREATER, self, other)

    def __ge__(self, other: Any) -> Any:
        return apply_row(binary.GREATER_EQUAL, self, other)

    def __lt__(self, other: Any) -> Any:
        return apply_row(binary.LESSER, self, other)

    def __le__(self, other: Any) -> Any:
        return apply_row(binary.LESSER_EQUAL, self, other)

    __hash__ = object.__hash__

    def __neg__(self) -> Any:
        return apply(NEGATIVE.operator, (self,), {})

    def __abs__(self) -> Any:
        return apply(ABS.operator, (self,), {})


def _infer(*arrays: Spec, num_args: int) -> tuple[Spec]:
    if any(spec != arrays[0] for spec in arrays):
        raise OperatorError(
            f"add_n: expected arrays of equal shape and dtype, got {', '.join(map(str, arrays))}"
        )
    refuse_truth_values("add_n", arrays[0])
    return (arrays[0],)


def _kernel(xp: ModuleType, out: Any, *arrays: Any, num_args: int) -> None:
    total = widen(arrays[0])
    for x in arrays[1:]:
        total = total + x
    out[...] = total.astype(out.dtype)


def _gradient(g: V, *arrays: V, num_args: int) -> tuple[Any, ...]:
    return (g,) * len(arrays)


ADD_N = register(
    Operator(
        "add_n",
        _infer,
        _kernel,
        _gradient,
        doc="Sum arrays of the same shape and dtype.",
        inputs=("args",),
        schema=Schema(num_args=integer(low=1)),
        aliases=("ElementWiseSum", "_sparse_ElementWiseSum", "_sparse_add_n"),
        shapes=ShapeFacts(complete=complete_same),
        variadic="num_args",
        execution=Execution(elementwise=True),
    )
)
