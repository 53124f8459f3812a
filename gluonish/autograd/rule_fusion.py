"""Fusing the steps of a gradient rule that work on single elements of large arrays.

They become one step whose kernel passes over memory once. What comes before them (often on smaller
arrays) and behind them (such as the sum of what broadcasting stretched) stays as it is.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.autograd.rule_trace import Rule, Step
from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import FLOAT16
from gluonish.core.spec import Shape
from gluonish.kernels.numba.compiler import available
from gluonish.kernels.numba.eager import pays
from gluonish.kernels.numba.expressions import supports
from gluonish.kernels.numba.machine_code import has_float16
from gluonish.kernels.numba.pointwise import plan_pointwise
from gluonish.ops.fused_pointwise import FUSED_POINTWISE_MANY, Instruction, Program
from gluonish.ops.kernel import RefusedError
from gluonish.ops.refusals import note_refusal

__all__ = ["Fused", "FusedKernel", "fuse"]


class FusedKernel:
    """The kernel of a program: the reference kernels until compiling pays, then a generated one.

    Args:
        program: What it computes.
        name: Of the operator whose gradient it is.
    """

    __slots__ = ("_elements", "_name", "_program")

    def __init__(self, program: Program, name: str) -> None:
        self._program = program
        self._name = name
        self._elements = 0  # that the reference kernels have computed

    def __call__(self, xp: ModuleType, outputs: Sequence[Any], *inputs: Any) -> None:
        """Fill the outputs."""
        program = self._program
        if pays(self._elements):
            try:
                bound = plan_pointwise(outputs, inputs, program)
            except RefusedError as error:
                note_refusal(self._name, error)
            else:
                bound.plan.run(*outputs, *inputs)
                return
        FUSED_POINTWISE_MANY.kernel(
            xp, tuple(outputs), *inputs, num_args=len(inputs), program=program
        )
        self._elements += outputs[0].size * len(program.instructions)


class Fused(NamedTuple):
    """A rule with some steps fused.

    Attributes:
        steps: All, in order.
        joined: The fused one.
        kernel: Its kernel.
        made: Numbers of what it makes.
    """

    steps: tuple[Step, ...]
    joined: Step
    kernel: FusedKernel
    made: tuple[int, ...]


def fuse(rule: Rule, name: str, least: int) -> Fused | None:
    """Return the steps of a rule with some of them fused.

    Args:
        rule: The rule.
        name: Of the operator whose gradient it is.
        least: Fewest elements of the arrays that the fused steps make.

    Returns:
        None where fewer than two steps can be fused.
    """
    shape = max((spec.shape for step in rule.steps for spec in step.specs), key=_size, default=())
    if _size(shape) < least or not (MXNET_USE_FUSION.value and available()):
        return None
    inside = [step for step in rule.steps if _fits(rule, step, shape)]
    if len(inside) < 2:
        return None
    made = {step.first for step in inside}
    before, behind = _others(rule, made)
    if any(number in behind for step in inside for number in step.inputs):
        return None
    outer = [step for step in rule.steps if step.first not in made]
    read = {number for step in outer for number in step.inputs} | set(rule.results)
    outputs = [number for number in sorted(made) if number in read]
    inputs = sorted({n for step in inside for n in step.inputs if n not in made})
    places = {number: i for i, number in enumerate([*inputs, *sorted(made)])}
    listed = [
        Instruction(step.op, tuple(places[n] for n in step.inputs), step.attrs) for step in inside
    ]
    program = Program(len(inputs), listed, [places[n] for n in outputs])
    specs = tuple(rule.specs[n] for n in outputs)
    joined = Step(FUSED_POINTWISE_MANY, {}, tuple(inputs), outputs[0], specs)
    first = [step for step in outer if step.first in before]
    last = [step for step in outer if step.first in behind]
    kernel = FusedKernel(program, name)
    return Fused((*first, joined, *last), joined, kernel, tuple(outputs))


def _size(shape: Shape) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def _fits(rule: Rule, step: Step, shape: Shape) -> bool:
    """Whether a step works on single elements of arrays of this shape, and can be generated."""
    specs = [rule.specs[number] for number in step.inputs]
    return (
        step.op.single
        and step.specs[0].shape == shape
        and supports(step.op, step.attrs, specs)
        and (has_float16() or all(spec.dtype != FLOAT16 for spec in (*specs, *step.specs)))
    )


def _others(rule: Rule, made: set[int]) -> tuple[set[int], set[int]]:
    """Return the numbers of what the other steps make, before the fused ones and behind them."""
    before: set[int] = set()
    behind: set[int] = set()
    for step in rule.steps:
        if step.first not in made:
            later = any(number in made or number in behind for number in step.inputs)
            numbers = range(step.first, step.first + len(step.specs))
            (behind if later else before).update(numbers)
    return before, behind
