"""Small matrix products by NumPy, with precomputed arguments."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.spec import Spec
from gluonish.kernels.numpy.dense import NumpyPlan, is_small_product
from gluonish.ops.kernel import BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.linalg.matmul import DOT
from gluonish.ops.registry import Attrs


class SmallDot(NumpyPlan):
    """``out = a b`` of matrices, optionally transposed."""

    __slots__ = ("transpose_a", "transpose_b")

    def __init__(self, *, transpose_a: bool, transpose_b: bool) -> None:
        self.transpose_a = transpose_a
        self.transpose_b = transpose_b

    def at(self, operands: Sequence[int]) -> "_Attached":
        """Bind the plan to operands."""
        return _Attached(self, operands)


class _Attached:
    """A plan and the indices of its operands."""

    __slots__ = ("_lhs", "_out", "_rhs", "_transpose_a", "_transpose_b")

    def __init__(self, plan: SmallDot, operands: Sequence[int]) -> None:
        self._out, self._lhs, self._rhs = operands
        self._transpose_a = plan.transpose_a
        self._transpose_b = plan.transpose_b

    def run(self, arrays: Sequence[Any]) -> None:
        """Run on the arrays."""
        a = arrays[self._lhs]
        b = arrays[self._rhs]
        if self._transpose_a:
            a = a.T
        if self._transpose_b:
            b = b.T
        a.dot(b, arrays[self._out])

    def pack(self, arrays: Sequence[Any]) -> None:
        """Do nothing."""


_PLANS = {
    (a, b): SmallDot(transpose_a=a, transpose_b=b) for a in (False, True) for b in (False, True)
}


def _supports(lhs: Spec, rhs: Spec, *, transpose_b: bool, **_: Any) -> bool:
    if len(lhs.shape) != 2 or len(rhs.shape) != 2:
        return False
    if lhs.dtype != rhs.dtype:
        return False
    return is_small_product(lhs.dtype, lhs.size * rhs.shape[0 if transpose_b else 1])


def _plan(outputs: Sequence[Any], inputs: Sequence[Any], attrs: Attrs) -> Bound:
    if not outputs[0].flags.c_contiguous:
        raise RefusedError(f"dot: expected a contiguous result, got {outputs[0].strides}")
    return Bound(_PLANS[attrs["transpose_a"], attrs["transpose_b"]])


KERNELS = ((DOT, FastKernel(BackEnd.NUMPY, "dot", _supports, plan=_plan, packs=False)),)
