"""Sum, mean and the gradient of broadcasting, by `gluonish.kernels.generated.sums`."""

from collections.abc import Callable, Sequence
from math import prod
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.spec import Shape, Spec
from gluonish.kernels.compiler import available
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.kernels.generated.sums import SMALL, has_plan, sums_plan, supports_dtype
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.reductions.reduction import MEAN, SUM, reduced_axes
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.shape.broadcast_to import SUM_TO_SHAPE, stretched_axes


class _Row(NamedTuple):
    """An operator that sums.

    Attributes:
        axes: Returns the reduced axes from the shape of data and the attributes.
        divides: Whether the sums are divided by the number of their terms.
    """

    op: Operator
    axes: Callable[..., Shape]
    divides: bool = False


def _by_axis(extents: Shape, *, axis: Shape | None, exclude: bool, **_: Any) -> Shape:
    return reduced_axes("sum", len(extents), axis, exclude)


def _by_shape(extents: Shape, *, shape: Shape) -> Shape:
    return stretched_axes(extents, shape)


_ROWS = (_Row(SUM, _by_axis), _Row(MEAN, _by_axis, True), _Row(SUM_TO_SHAPE, _by_shape))


def _in_memory(data: Array, axes: Shape) -> tuple[Array, Shape]:
    """Return the array with its axes in memory order, and the reduced axes.

    Raises:
        RefusedError: It has gaps, or the remaining axes have another order in memory.
    """
    if data.flags.c_contiguous:
        return data, axes
    order = sorted(range(data.ndim), key=lambda i: -data.strides[i])
    remaining = [i for i in order if i not in axes]
    transposed = data.transpose(order)
    if not transposed.flags.c_contiguous or remaining != sorted(remaining):
        raise RefusedError(f"sum: expected contiguous arrays, got strides {data.strides}")
    return transposed, tuple(i for i, axis in enumerate(order) if axis in axes)


def _plan(row: _Row, out: Array, data: Array, attrs: Attrs) -> KernelPlan:
    axes = row.axes(data.shape, **attrs)
    divisor = prod(data.shape[i] for i in axes) if row.divides else 1
    transposed, axes = _in_memory(data, axes)
    if not out.flags.c_contiguous:
        raise RefusedError(f"sum: expected a contiguous result, got strides {out.strides}")
    return sums_plan(transposed.shape, axes, float(divisor), data.dtype)


def _kernel(row: _Row) -> FastKernel:
    op = row.op

    def supports(data: Spec, **attrs: Any) -> bool:
        if not supports_dtype(data.dtype) or not data.size:
            return False
        return has_plan(data.shape, row.axes(data.shape, **attrs))

    def run(xp: ModuleType, out: Array, data: Array, **attrs: Any) -> None:
        if data.size < SMALL:  # not worth compiling
            op.kernel(xp, out, data, **attrs)
        else:
            _plan(row, out, data, attrs).run(out, data)

    def plan(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
        return Bound(_plan(row, outputs[0], inputs[0], attrs))

    name = f"exact_{op.name.lstrip('_')}"
    return FastKernel(BackEnd.GENERATED, name, supports, plan=plan, run=run, enabled=available)


KERNELS = tuple((row.op, _kernel(row)) for row in _ROWS)
