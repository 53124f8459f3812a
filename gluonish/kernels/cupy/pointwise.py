"""Programs of operators on single elements in one launch."""

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from gluonish.core.config import MXNET_FUSION_VERBOSE, MXNET_USE_FUSION
from gluonish.core.spec import Spec
from gluonish.kernels.cupy.pointwise_source import PointwiseKernel
from gluonish.kernels.cupy.random_numbers import key_arguments
from gluonish.kernels.cupy.source import compiled, without_gaps
from gluonish.kernels.generated.expressions import KINDS, supports
from gluonish.kernels.generated.loops import find_loops, row_major, stretch
from gluonish.kernels.generated.pointwise import specs_and_shapes
from gluonish.ops.fused.pointwise import (
    FUSED_POINTWISE,
    FUSED_POINTWISE_MANY,
    FUSED_POINTWISE_RANDOM,
    Program,
)
from gluonish.ops.kernel import BackEnd, FastKernel

_THREADS = 256  # as in the source
_MOST_32 = 2**31
# Products are rounded before anything is added, as by operators that run one after the other.
_OPTIONS = ("--fmad=false",)
_MAX_PLANS = 4096  # beyond it all are dropped; keeps memory bounded where shapes never repeat


class _Plan(NamedTuple):
    """What a call of certain layouts does.

    Attributes:
        kernel: Source and arguments.
        orders: For each argument that is an array, its axes in the order in which they lie.
        blocks: How many.
    """

    kernel: PointwiseKernel
    orders: tuple[tuple[int, ...], ...]
    blocks: int


_plans: dict[tuple[Any, ...], _Plan] = {}


def enabled() -> bool:
    """Whether generated kernels are switched on."""
    return MXNET_USE_FUSION.value


def _order(array: Any) -> tuple[int, ...]:
    """Return the axes of an array in the order in which they lie in memory, if it has no gaps."""
    axes = range(array.ndim)
    if array.flags.c_contiguous:
        return tuple(axes)
    return tuple(sorted(axes, key=lambda axis: -array.strides[axis]))


def _is_dense(array: Any) -> bool:
    if array.flags.c_contiguous:
        return True
    return bool(array.transpose(_order(array)).flags.c_contiguous)


def _strides(array: Any) -> tuple[int, ...]:
    if array.flags.c_contiguous:  # axes of one element have any
        return row_major(array.shape)
    return tuple(step // array.itemsize for step in array.strides)


def _new_plan(outputs: Sequence[Any], inputs: Sequence[Any], program: Program) -> _Plan:
    specs, owns = specs_and_shapes(outputs, inputs, program)
    shape = outputs[0].shape
    arrays = (*outputs, *inputs)
    strides = [
        stretch([*_strides(x), *(0,) * (len(own) - x.ndim)], own, shape)
        for x, own in zip(arrays, owns, strict=True)
    ]
    loops = find_loops(shape, [*strides, row_major(shape)])
    wide = outputs[0].size >= _MOST_32
    kernel = PointwiseKernel(program, specs, loops, wide=wide)
    if MXNET_FUSION_VERBOSE.value:
        sys.stderr.write(f"# {program}\n{kernel.text}\n")
    blocks = -(-outputs[0].size // (_THREADS * kernel.items))
    return _Plan(kernel, tuple(_order(arrays[i]) for i in kernel.used), blocks)


def _run(
    xp: Any,
    out: Any,
    *inputs: Any,
    num_args: int,
    program: Program,
    key: tuple[int, int] = (0, 0),
) -> None:
    outputs = out if isinstance(out, tuple) else (out,)
    targets = [x if _is_dense(x) else xp.empty(x.shape, x.dtype) for x in outputs]
    arrays = (*targets, *(x if _is_dense(x) else without_gaps(x) for x in inputs))
    known = (program, *[(x.dtype, x.shape, x.strides) for x in arrays])
    plan = _plans.get(known)
    if plan is None:
        if len(_plans) >= _MAX_PLANS:
            _plans.clear()
        plan = _plans[known] = _new_plan(targets, arrays[len(targets) :], program)
    kernel = plan.kernel
    args = [arrays[i] for i in kernel.used]
    for i, order in enumerate(plan.orders):
        if not args[i].flags.c_contiguous:
            args[i] = args[i].transpose(order)
    args += kernel.numbers
    if kernel.draws:
        args += key_arguments(key)
    of = ("pointwise", kernel.text)
    function = compiled(xp, of, "fused", lambda: kernel.text, _OPTIONS)
    function((plan.blocks,), (_THREADS,), tuple(args))
    for given, target in zip(outputs, targets, strict=True):
        if given is not target:
            given[...] = target


def _takes(*inputs: Spec, program: Program, **_: Any) -> bool:
    specs = program.specs(inputs)
    return not any(0 in spec.shape for spec in specs) and all(
        supports(op, attrs, [specs[i] for i in numbers])
        for op, numbers, attrs in program.instructions
    )


_KERNEL: dict[str, Any] = {"run": _run, "enabled": enabled, "makes": KINDS}

KERNELS = tuple(
    (op, FastKernel(BackEnd.CUPY, "fused_pointwise", _takes, **_KERNEL))
    for op in (FUSED_POINTWISE, FUSED_POINTWISE_MANY, FUSED_POINTWISE_RANDOM)
)
