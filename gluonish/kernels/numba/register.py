"""Generated kernels on the operators that they serve: importing this module hangs them on.

Numba itself is imported when the first kernel has to be compiled.
"""

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import FLOAT16
from gluonish.core.spec import Spec
from gluonish.kernels.numba.compiler import available
from gluonish.kernels.numba.eager import SLOW, LargeKernel
from gluonish.kernels.numba.expressions import KINDS, supports
from gluonish.kernels.numba.machine_code import has_float16
from gluonish.kernels.numba.plan import Bound
from gluonish.kernels.numba.pointwise import plan_pointwise
from gluonish.kernels.onednn.api import RefusedError
from gluonish.kernels.refusals import note_refusal
from gluonish.ops import catalog as _catalog  # noqa: F401  # registers the operators
from gluonish.ops.fused_pointwise import (
    FUSED_POINTWISE,
    FUSED_POINTWISE_MANY,
    FUSED_POINTWISE_RANDOM,
    Program,
)
from gluonish.ops.registry import Attrs, FastKernel, Operator, find_operator

__all__ = ["enabled", "hang"]


def enabled() -> bool:
    """Whether generated kernels are switched on, and Numba is there."""
    return MXNET_USE_FUSION.value and sys.byteorder == "little" and available()


def _takes(*inputs: Spec, program: Program, **_: Any) -> bool:
    specs = program.specs(inputs)
    if any(0 in spec.shape for spec in specs):
        return False
    if any(spec.dtype == FLOAT16 for spec in specs) and not has_float16():
        return False
    return all(
        supports(op, attrs, [specs[i] for i in numbers])
        for op, numbers, attrs in program.instructions
    )


def _plan(outputs: Sequence[Any], inputs: Sequence[Any], attrs: Attrs) -> Bound:
    return plan_pointwise(outputs, inputs, attrs["program"])


def _kernel(
    xp: ModuleType,
    out: Any,
    *inputs: Any,
    num_args: int,
    program: Program,
    key: tuple[int, int] | None = None,
) -> None:
    outputs = out if isinstance(out, tuple) else (out,)
    try:
        plan = plan_pointwise(outputs, inputs, program).plan
    except RefusedError as error:
        note_refusal("fused_pointwise", error)
        runtime = {} if key is None else {"key": key}
        FUSED_POINTWISE.kernel(xp, out, *inputs, num_args=num_args, program=program, **runtime)
    else:
        plan.run(*outputs, *inputs, key=key)


_SERVED: tuple[Operator, ...] = (FUSED_POINTWISE, FUSED_POINTWISE_MANY, FUSED_POINTWISE_RANDOM)


def hang() -> None:
    """Hang the kernels on their operators: in front of other fast ones where they are fused."""
    for op in _SERVED:
        fast = FastKernel("numba.fused_pointwise", _takes, _kernel, enabled, _plan, makes=KINDS)
        op.hang(fast)
    for name in SLOW:
        op = find_operator(name)
        op.hang(LargeKernel(op).fast_kernel(), last=True)


hang()
