"""What plans that call NumPy have in common: they depend on attributes only, not on memory."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

from gluonish.ops.kernel import Attached, Key

__all__ = ["NumpyPlan"]


class NumpyPlan(ABC):
    """A plan; a subclass says what runs."""

    __slots__ = ()

    def run(self, *arrays: Any, key: Key | None = None) -> None:
        """Run on the operands."""
        self.at(range(len(arrays))).run(arrays)

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
