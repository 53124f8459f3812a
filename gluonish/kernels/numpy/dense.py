"""Small dense layers by NumPy, with precomputed arguments.

For small sizes, choosing a kernel takes longer than the product itself.

Also the base class of plans that call NumPy; these depend on attributes only, not on memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from gluonish.core.spec import Spec
from gluonish.ops.fused.operator import FUSED_DENSE
from gluonish.ops.kernel import Attached, BackEnd, Bound, FastKernel, Key
from gluonish.ops.nn.dense import FULLY_CONNECTED, has_vector_bias
from gluonish.ops.registry import Attrs

# Multiplications of a product up to which calling another library takes longer. Up to this size,
# OpenBLAS uses one thread. Beyond it, OpenBLAS's threads compete for the cores with the team of all
# other kernels: alternating with these, products took 1.5 ms, 100 times as long.
SMALL_PRODUCT = 1 << 18

# Maximum for each type code; it is larger for float64, which no other kernel supports.
_SMALL = {"f": SMALL_PRODUCT, "d": 96**3}


def is_small_product(dtype: np.dtype[Any], multiplications: int) -> bool:
    """Whether a matrix product is small enough to compute by NumPy."""
    return multiplications <= _SMALL.get(dtype.char, -1)


class NumpyPlan(ABC):
    """Base class of plans that call NumPy; subclasses implement `at`."""

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
        """Bind the plan to the operands' indices; the result may be used by any thread."""


@lru_cache(1024)
def _in_order(plan: NumpyPlan, count: int) -> Attached:
    """Bind a plan to ``count`` operands in order."""
    return plan.at(range(count))


_add = np.add  # saves an attribute look-up in each call


class SmallDense(NumpyPlan):
    """``out = relu(data weight^T + bias)``, with optional bias and relu.

    Args:
        is_row: Whether the result has only one row.
    """

    __slots__ = ("is_row", "relu")

    def __init__(self, *, relu: bool, is_row: bool) -> None:
        self.relu = relu
        self.is_row = is_row

    def at(self, operands: Sequence[int]) -> "_Attached":
        """Bind the plan to operands."""
        return _Attached(self, operands)


class _Attached:
    """A plan and the indices of its operands."""

    __slots__ = ("_bias", "_data", "_is_row", "_out", "_relu", "_weight")

    def __init__(self, plan: SmallDense, operands: Sequence[int]) -> None:
        self._out, self._data, self._weight = operands[:3]
        self._bias = operands[3] if len(operands) > 3 else None
        self._relu = plan.relu
        self._is_row = plan.is_row

    def run(self, arrays: Sequence[Any]) -> None:
        """Run on the arrays."""
        out = arrays[self._out]
        data = arrays[self._data]
        if data.ndim > 2:
            data = data.reshape(len(out), -1)
        data.dot(arrays[self._weight].T, out)
        if self._bias is not None:
            # Adding a row to a row takes half the time of a broadcast sum.
            target = out[0] if self._is_row else out
            _add(target, arrays[self._bias], target)
        if self._relu:
            np.maximum(out, out.dtype.type(0), out=out)

    def pack(self, arrays: Sequence[Any]) -> None:
        """Do nothing."""


_PLANS = {
    (relu, is_row): SmallDense(relu=relu, is_row=is_row)
    for relu in (False, True)
    for is_row in (False, True)
}


def _supports(
    data: Spec,
    weight: Spec,
    *rest: Spec,
    flatten: bool,
    activation: str | None = None,
    with_sum: bool = False,
    **_: Any,
) -> bool:
    if with_sum or activation not in (None, "relu") or not (flatten or len(data.shape) == 2):
        return False
    if len(data.shape) < 2 or not data.size or not has_vector_bias(data, weight, *rest):
        return False
    return is_small_product(data.dtype, data.size * weight.shape[0])


def _plan(outputs: Sequence[Any], inputs: Sequence[Any], attrs: Attrs) -> Bound:
    plan = _PLANS[attrs.get("activation") == "relu", len(outputs[0]) == 1]
    return Bound(plan)


KERNELS = tuple(
    (op, FastKernel(BackEnd.NUMPY, "dense", _supports, plan=_plan, packs=False))
    for op in (FULLY_CONNECTED, FUSED_DENSE)
)
