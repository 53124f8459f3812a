"""swiglu, geglu and their gradients, in one pass over memory.

Halves of one array are read and written where they are.
"""

from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any

from gluonish.core.spec import Spec
from gluonish.kernels.generated.pointwise import plan_pointwise, supports_program
from gluonish.kernels.generated.support import enabled
from gluonish.ops.fused.pointwise import Instruction, Program
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel
from gluonish.ops.nn.gated import (
    GATED,
    GATED_BACKWARD,
    GEGLU,
    HALVES_BACKWARD,
    SWIGLU,
    form_of,
    halves,
)
from gluonish.ops.registry import Attrs, Operator

_SMALL = 1 << 10  # elements below which compiling does not pay


@cache
def _program(op: Operator, form: str) -> Program:
    count = len(op.inputs)
    outputs = range(count, count + op.num_outputs({}))
    return Program(count, [Instruction(op, tuple(range(count)), {"form": form})], outputs)


def _plan_both(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    return plan_pointwise(outputs, inputs, _program(GATED, form_of(attrs)))


def _plan_backward(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    return plan_pointwise(outputs, inputs, _program(GATED_BACKWARD, attrs["form"]))


def _run_halves(xp: ModuleType, out: Array, data: Array, *, axis: int, **attrs: Any) -> None:
    pair = halves(data, axis)
    plan_pointwise((out,), pair, _program(GATED, form_of(attrs))).plan.run(out, *pair)


def _run_backward(
    xp: ModuleType, out: Array, grad: Array, data: Array, *, axis: int, form: str
) -> None:
    outputs, inputs = halves(out, axis), (grad, *halves(data, axis))
    bound = plan_pointwise(outputs, inputs, _program(GATED_BACKWARD, form))
    bound.plan.run(*outputs, *inputs)


def _is_large(specs: Sequence[Spec]) -> bool:
    return specs[0].size >= _SMALL


def _supports_both(*specs: Spec, use_value: bool, **attrs: Any) -> bool:
    program = _program(GATED, form_of(attrs))
    return use_value and _is_large(specs) and supports_program(*specs, program=program)


def _supports_halves(data: Spec, *_: Spec, use_value: bool, **attrs: Any) -> bool:
    program = _program(GATED, form_of(attrs))
    return not use_value and _is_large([data]) and supports_program(data, data, program=program)


def _supports_backward(*specs: Spec, form: str) -> bool:
    program = _program(GATED_BACKWARD, form)
    return _is_large(specs) and supports_program(*specs, program=program)


def _supports_halves_backward(grad: Spec, data: Spec, *, form: str, **_: Any) -> bool:
    program = _program(GATED_BACKWARD, form)
    return _is_large([data]) and supports_program(data, data, data, program=program)


def _kernel(name: str, supports: Any, **how: Any) -> FastKernel:
    return FastKernel(BackEnd.GENERATED, name, supports, enabled=enabled, **how)


KERNELS = (
    *((op, _kernel(op.name, _supports_both, plan=_plan_both)) for op in (SWIGLU, GEGLU)),
    *(
        (op, _kernel(f"{op.name}_halves", _supports_halves, run=_run_halves))
        for op in (SWIGLU, GEGLU)
    ),
    (GATED_BACKWARD, _kernel("gated_backward", _supports_backward, plan=_plan_backward)),
    (
        HALVES_BACKWARD,
        _kernel("gated_halves_backward", _supports_halves_backward, run=_run_backward),
    ),
)
