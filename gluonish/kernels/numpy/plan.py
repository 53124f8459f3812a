"""What plans that call NumPy have in common: they depend on attributes only, not on memory."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from gluonish.ops.kernel import Attached, Key

# Multiplications of a product up to which the call of another library takes longer. Up to there
# OpenBLAS uses one thread. Beyond it has threads of its own, which fight for the cores with the
# team of all other kernels: in turns with these, products took 1.5 ms, 100 times as long.
SMALL_PRODUCT = 1 << 18

# By type code; nobody else multiplies float64.
_SMALL = {"f": SMALL_PRODUCT, "d": 96**3}


def is_small_product(dtype: np.dtype[Any], multiplications: int) -> bool:
    """Whether NumPy is to compute a product of matrices of a dtype."""
    return multiplications <= _SMALL.get(dtype.char, -1)


class NumpyPlan(ABC):
    """A plan; a subclass says what runs."""

    __slots__ = ()

    def run(self, *arrays: Any, key: Key | None = None) -> None:
        """Run on the operands."""
        _whole(self, len(arrays)).run(arrays)

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
        """Return what runs on arrays at these places, in any thread."""


@lru_cache(1024)
def _whole(plan: NumpyPlan, count: int) -> Attached:
    """Return what runs a plan on its operands in order."""
    return plan.at(range(count))
