"""The kernels of fused pointwise operators."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.dtype import FLOAT16
from gluonish.core.spec import Spec
from gluonish.kernels.compiler.machine_code import has_float16
from gluonish.kernels.generated.expressions import KINDS, supports
from gluonish.kernels.generated.pointwise import plan_pointwise
from gluonish.kernels.generated.support import enabled
from gluonish.ops.fused.pointwise import (
    FUSED_POINTWISE,
    FUSED_POINTWISE_MANY,
    FUSED_POINTWISE_RANDOM,
    Program,
)
from gluonish.ops.kernel import BackEnd, Bound, FastKernel
from gluonish.ops.registry import Attrs


def _supports(*inputs: Spec, program: Program, **_: Any) -> bool:
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


KERNELS = (
    *(
        (
            op,
            FastKernel(
                BackEnd.GENERATED,
                "fused_pointwise",
                _supports,
                plan=_plan,
                enabled=enabled,
                makes=KINDS,
            ),
        )
        for op in (FUSED_POINTWISE, FUSED_POINTWISE_MANY, FUSED_POINTWISE_RANDOM)
    ),
)
