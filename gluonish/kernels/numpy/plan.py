"""What plans that call NumPy have in common: they depend on attributes only, not on memory."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, Protocol

__all__ = ["Attached", "Bound", "NumpyPlan"]


class Attached(Protocol):
    """A plan and the places of its operands, for one caller at a time."""

    def run(self, arrays: Sequence[Any]) -> None:
        """Run on the arrays at the places."""

    def pack(self, arrays: Sequence[Any]) -> None:
        """Compute what can be computed ahead."""


class NumpyPlan(ABC):
    """A plan; a subclass says what runs."""

    __slots__ = ()

    def packing(self, stable: Collection[int]) -> None:  # noqa: B027  # true of all plans here
        """Nothing is computed ahead."""

    def attach(
        self,
        operands: Sequence[int],
        arrays: Sequence[Any],
        moving: Collection[int],
        packing: None = None,
    ) -> Attached:
        """Return what runs on arrays at these places, wherever they lie."""
        return self.at(operands)

    @abstractmethod
    def at(self, operands: Sequence[int]) -> Attached:
        """Return what runs on arrays at these places."""


class Bound(NamedTuple):
    """A plan for one call.

    Attributes:
        plan: The plan.
        operands: For each operand of the plan, which array it is: the output, then inputs.
    """

    plan: NumpyPlan
    operands: tuple[int, ...]
