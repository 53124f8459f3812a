"""Plans for programs of elementwise operators.

Also the kernels of fused pointwise operators.
"""

import math
import re
import sys
from collections.abc import Sequence
from typing import Any

from gluonish.core.config import MXNET_FUSION_VERBOSE
from gluonish.core.dtype import FLOAT16
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import GRAIN, compile_kernel
from gluonish.kernels.compiler.machine_code import has_float16
from gluonish.kernels.generated.expressions import KINDS, aligned_shape, supports
from gluonish.kernels.generated.loops import Loops, broadcast_strides, find_loops, row_major
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.kernels.generated.pointwise_source import PointwiseSource
from gluonish.kernels.generated.support import enabled
from gluonish.kernels.onednn.memory import signature
from gluonish.ops.fused.pointwise import (
    FUSED_POINTWISE,
    FUSED_POINTWISE_MANY,
    FUSED_POINTWISE_RANDOM,
    Program,
)
from gluonish.ops.kernel import BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.registry import Attrs

_MAX_PLANS = 4096  # if exceeded, all are dropped, to bound memory if shapes never repeat

_ELEMENTARY = re.compile(
    r"\b(?:exp|expm1|log\w*|tanh|sigmoid|softplus|erf|\w*gamma\w*|philox_\w+)\("
)

_plans: dict[tuple[Any, ...], KernelPlan] = {}


def plan_pointwise(outputs: Sequence[Any], inputs: Sequence[Any], program: Program) -> Bound:
    """Return the plan of a program for these arrays, from the cache if possible.

    Args:
        outputs: Outputs of one shape.
        inputs: Inputs that broadcast to the outputs' shape.
        program: A program of operators that `expressions` supports.

    Raises:
        RefusedError: Arrays are empty or not aligned, the outputs have several shapes, or llvmlite
            is missing.
    """
    arrays = (*outputs, *inputs)
    key = (program, *map(signature, arrays))
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) >= _MAX_PLANS:
            _plans.clear()
        plan = _plans[key] = _new_plan(outputs, inputs, program)
    return Bound(plan)


def _source(
    outputs: Sequence[Any], inputs: Sequence[Any], program: Program
) -> tuple[PointwiseSource, Loops]:
    specs, array_shapes = specs_and_shapes(outputs, inputs, program)
    shape = outputs[0].shape
    strides = []
    for array, array_shape in zip((*outputs, *inputs), array_shapes, strict=True):
        found = broadcast_strides(array, array_shape, shape)
        if found is None:
            raise RefusedError(
                "fused_pointwise: expected aligned arrays, got one at an odd address"
            )
        strides.append(found)
    loops = find_loops(shape, [*strides, row_major(shape)])
    return PointwiseSource(program, specs, loops), loops


def _new_plan(outputs: Sequence[Any], inputs: Sequence[Any], program: Program) -> KernelPlan:
    source, loops = _source(outputs, inputs, program)
    if MXNET_FUSION_VERBOSE.value:
        sys.stderr.write(f"# {program}\n{source.text}\n")
    kernel = compile_kernel(source.text, ())
    *outer, inner = loops.extents
    extent = math.prod(outer) if outer else inner
    # Simple arithmetic needs twice as many elements for each thread; an elementary function costs
    # about three simple operators.
    grain = 2 * GRAIN // (1 + 3 * min(5, len(_ELEMENTARY.findall(source.text))))
    grain = max(1, grain // inner) if outer else grain
    return KernelPlan(kernel, source.params, extent, grain, source.key_at)


def specs_and_shapes(
    outputs: Sequence[Any], inputs: Sequence[Any], program: Program
) -> tuple[Sequence[Spec], list[tuple[int, ...]]]:
    """Return the specs of a program's values, and each array's shape aligned for broadcasting.

    Raises:
        RefusedError: The outputs are empty, or have several shapes.
    """
    shape = outputs[0].shape
    if any(x.shape != shape for x in outputs) or 0 in shape:
        raise RefusedError(
            f"fused_pointwise: expected outputs of equal shape, not empty, got "
            f"{', '.join(str(x.shape) for x in outputs)}"
        )
    specs = program.specs([Spec(x.shape, x.dtype) for x in inputs])
    return specs, [x.shape for x in outputs] + _input_shapes(program, specs)


def _input_shapes(program: Program, specs: Sequence[Spec]) -> list[tuple[int, ...]]:
    """Return each input's shape aligned for broadcasting."""
    shapes = [spec.shape for spec in specs[: program.num_inputs]]
    for op, inputs, attrs in program.instructions:
        read = [specs[i] for i in inputs]
        for position, number in enumerate(inputs):
            if number < program.num_inputs:
                shape = aligned_shape(op, attrs, read, position)
                if len(shape) > len(shapes[number]):
                    shapes[number] = shape
    return shapes


def supports_program(*inputs: Spec, program: Program, **_: Any) -> bool:
    """Whether a kernel can compute a program."""
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
                supports_program,
                plan=_plan,
                enabled=enabled,
                makes=KINDS,
            ),
        )
        for op in (FUSED_POINTWISE, FUSED_POINTWISE_MANY, FUSED_POINTWISE_RANDOM)
    ),
)
