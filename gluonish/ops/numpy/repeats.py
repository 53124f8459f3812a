"""np.repeat with a number per index of an axis, and its gradient."""

import math
from itertools import accumulate
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.precision import accumulator, total
from gluonish.ops.support.shape_rules import normalize_axis

_NAME = "_npi_repeats"


def _infer(data: Spec, *, repeats: Shape, axis: int | None) -> tuple[Spec]:
    if any(n < 0 for n in repeats):
        raise OperatorError(f"{_NAME}: expected repeats of at least 0, got {repeats}")
    shape = (data.size,) if axis is None else data.shape
    along = 0 if axis is None else normalize_axis(_NAME, axis, len(shape))
    extent = shape[along]
    if len(repeats) not in (1, extent):
        raise OperatorError(
            f"{_NAME}: expected one number, or one for each of {extent} positions, as repeats, got "
            f"{len(repeats)}"
        )
    total = repeats[0] * extent if len(repeats) == 1 else sum(repeats)
    return (checked_spec(_NAME, (*shape[:along], total, *shape[along + 1 :]), data.dtype),)


def _kernel(xp: ModuleType, out: Any, data: Any, *, repeats: Shape, axis: int | None) -> None:
    out[...] = xp.repeat(data, list(repeats) if len(repeats) > 1 else sum(repeats), axis)


def _gradient(g: V, data: V, *, repeats: Shape, axis: int | None) -> tuple[Any]:
    along = 0 if axis is None else axis % len(data.shape)
    extent = math.prod(data.shape) if axis is None else data.shape[axis]
    each = repeats if len(repeats) == extent else repeats * extent
    summed = apply(_RUN_SUMS, (g,), {"lengths": each, "axis": along})
    return (summed if axis is not None else reshape(summed, data.shape),)


def _sums_infer(data: Spec, *, lengths: Shape, axis: int) -> tuple[Spec]:
    return (Spec((*data.shape[:axis], len(lengths), *data.shape[axis + 1 :]), data.dtype),)


def _sums_kernel(xp: ModuleType, out: Any, data: Any, *, lengths: Shape, axis: int) -> None:
    ends = accumulate(lengths)
    source, target = xp.moveaxis(data, axis, 0), xp.moveaxis(out, axis, 0)
    for i, (end, length) in enumerate(zip(ends, lengths, strict=True)):
        rows = source[end - length : end]
        target[i] = total(xp, rows, (0,), accumulator(data.dtype)).astype(out.dtype)


def _sums_gradient(g: V, data: V, *, lengths: Shape, axis: int) -> tuple[Any]:
    return (apply(NPI_REPEATS, (g,), {"repeats": lengths, "axis": axis}),)


NPI_REPEATS = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Repeat each position along axis repeats times, with one number for all or one for\n"
            "each; without axis, data is flattened first.\n\n"
            "Shapes: data any, output the same with the sum of repeats along axis."
        ),
        schema=Schema(repeats=shape_attr(), axis=optional(integer())),
    )
)

_RUN_SUMS = register(
    Operator(
        "_run_sums",
        _sums_infer,
        _sums_kernel,
        _sums_gradient,
        doc=(
            "Sums of successive runs of given lengths along axis: the gradient of repeats.\n\n"
            "Shapes: data any, output the same with as many positions along axis as lengths."
        ),
        schema=Schema(lengths=shape_attr(), axis=integer()),
    )
)
