"""swiglu, geglu and their gradients, in one pass over memory.

Halves of one array are read and written where they are.
"""

from collections.abc import Collection, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from gluonish.core.spec import Spec
from gluonish.kernels.generated.pointwise import plan_pointwise, supports_program
from gluonish.kernels.generated.support import enabled
from gluonish.ops.fused.pointwise import Instruction, Program
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, Plan
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


class _AttachedHalves:
    """The kernel of halves in memory of a graph, whose layouts stay; see `FastKernel`."""

    __slots__ = ("_attrs", "_operands", "_pair", "_plan")

    def __init__(self, operands: Sequence[int], attrs: Attrs) -> None:
        self._operands = operands
        self._attrs = attrs
        self._pair: tuple[Any, tuple[Any, Any]] = (None, (None, None))  # an array and its halves
        self._plan: Plan | None = None

    def run(self, arrays: Sequence[Any]) -> None:
        """Compute the gated values."""
        out, data = [arrays[i] for i in self._operands]
        source, pair = self._pair
        if source is not data:
            pair = halves(data, self._attrs["axis"])
            self._pair = data, pair
        if self._plan is None:
            program = _program(GATED, form_of(self._attrs))
            self._plan = plan_pointwise((out,), pair, program).plan
        self._plan.run(out, *pair)

    def pack(self, arrays: Sequence[Any]) -> None:
        """Do nothing."""


def _attach_halves(
    xp: ModuleType, operands: Sequence[int], movable: Collection[int], attrs: Attrs
) -> _AttachedHalves:
    return _AttachedHalves(operands, attrs)


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
        (op, _kernel(f"{op.name}_halves", _supports_halves, run=_run_halves, attach=_attach_halves))
        for op in (SWIGLU, GEGLU)
    ),
    (GATED_BACKWARD, _kernel("gated_backward", _supports_backward, plan=_plan_backward)),
    (
        HALVES_BACKWARD,
        _kernel("gated_halves_backward", _supports_halves_backward, run=_run_backward),
    ),
)
