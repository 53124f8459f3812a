"""Base class of plans that call NumPy; these depend on attributes only, not on memory."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from gluonish.ops.kernel import Attached, Key

# Multiplications of a product up to which another library's call takes longer. Up to it OpenBLAS
# uses one thread. Beyond it OpenBLAS's threads compete for the cores with the team of all other
# kernels: alternating with these, products took 1.5 ms, 100 times as long.
SMALL_PRODUCT = 1 << 18

# By type code; no other kernel supports float64.
_SMALL = {"f": SMALL_PRODUCT, "d": 96**3}


def is_small_product(dtype: np.dtype[Any], multiplications: int) -> bool:
    """Whether to compute a matrix product by NumPy."""
    return multiplications <= _SMALL.get(dtype.char, -1)


class NumpyPlan(ABC):
    """A plan; subclasses implement `at`."""

    __slots__ = ()

    def run(self, *arrays: Any, key: Key | None = None) -> None:
        """Run on the operands."""
        _in_order(self, len(arrays)).run(arrays)

    def packing(self, constant: Collection[int]) -> None:  # noqa: B027  # true of all plans here
        """Return None: nothing can be packed."""

    def attach(
        self,
        operands: Sequence[int],
        arrays: Sequence[Any],
        movable: Collection[int],
        packing: None = None,
    ) -> Attached:
        """Bind the plan to operands, at any addresses."""
        return self.at(operands)

    @abstractmethod
    def at(self, operands: Sequence[int]) -> Attached:
        """Bind the plan to operands, for any thread."""


@lru_cache(1024)
def _in_order(plan: NumpyPlan, count: int) -> Attached:
    """Bind a plan to operands in order."""
    return plan.at(range(count))
