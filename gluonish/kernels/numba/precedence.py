"""Generated kernels in front of others on an operator, which get what they refuse."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.spec import Spec
from gluonish.kernels.numba.register import enabled
from gluonish.kernels.onednn import register as _onednn  # noqa: F401  # hangs its kernels on first
from gluonish.kernels.onednn.api import RefusedError
from gluonish.kernels.onednn.memory import Array
from gluonish.kernels.refusals import note_refusal
from gluonish.ops.registry import Attrs, FastKernel, Operator

__all__ = ["hang_in_front"]


def hang_in_front(
    op: Operator,
    name: str,
    takes: Callable[..., bool],
    plan: Callable[[Sequence[Array], Sequence[Array], Attrs], Any],
    usable: Callable[[], bool] = enabled,
) -> None:
    """Hang a kernel on an operator, in front of those that are there.

    Args:
        op: The operator.
        name: The kernel's, with the back end.
        takes: Called with the input specs and the attributes; True if the kernel is the fastest.
        plan: Called with outputs, inputs and attributes; finds or builds the plan. What it refuses
            goes to the first of the other kernels that takes the inputs, else to the reference.
        usable: Whether the kernel is switched on.
    """
    others = op.fast_kernels

    def other(inputs: Sequence[Array], attrs: Attrs) -> FastKernel | None:
        specs = [Spec(x.shape, x.dtype) for x in inputs]
        return op.select_fast("numpy", specs, attrs, others)

    def plan_or_other(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Any:
        try:
            return plan(outputs, inputs, attrs)
        except RefusedError:
            fast = other(inputs, attrs)
            if fast is None or fast.plan is None:
                raise
            return fast.plan(outputs, inputs, attrs)

    def kernel(xp: ModuleType, out: Any, *inputs: Array, **attrs: Any) -> None:
        outputs = (out,) if op.single else tuple(out)
        try:
            bound = plan(outputs, inputs, attrs)
        except RefusedError as error:
            fast = other(inputs, attrs)
            if fast is None:
                note_refusal(op.name, error)
            (op.kernel if fast is None else fast.kernel)(xp, out, *inputs, **attrs)
        else:
            arrays = (*outputs, *inputs)
            bound.plan.run(*[arrays[i] for i in bound.operands])

    fast = FastKernel(name, takes, kernel, usable, plan_or_other)
    op.hang(fast)
