"""transpose and SwapAxis: permute axes.

reverse: reverse the order of elements along axes.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.shape_rules import normalize_axes, normalize_axis, permuted, same_shape


def _infer(data: Spec, *, axes: Shape) -> tuple[Spec]:
    rank = len(data.shape)
    order = axes or tuple(range(rank))[::-1]
    if len(order) != rank:
        raise OperatorError(f"transpose: expected a permutation of {rank} axes, got {axes}")
    normalize_axes("transpose", order, rank)
    return (Spec(tuple(data.shape[axis] for axis in order), data.dtype),)


def _kernel(xp: ModuleType, out: Any, data: Any, *, axes: Shape) -> None:
    out[...] = data.transpose(axes) if axes else data.T


def _gradient(g: V, data: V, *, axes: Shape) -> tuple[Any]:
    rank = len(data.shape)
    back = [0] * len(axes)
    for position, axis in enumerate(axes):
        back[axis % rank] = position
    return (transpose(g, tuple(back)),)


def _order(rank: int, attrs: Attrs) -> Sequence[int]:
    return attrs["axes"] or range(rank)[::-1]


TRANSPOSE = register(
    Operator(
        "transpose",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Permute the axes: axis i of the output is axis axes[i] of data; without axes,\n"
            "reverse their order.\n\n"
            "Shapes: data any, output the same sizes in another order."
        ),
        schema=Schema(axes=shape(())),
        shapes=ShapeFacts(rule=permuted(_order)),
        execution=Execution(copies_only=True),
    )
)


def transpose(x: Any, axes: Shape = ()) -> Any:
    """Permute the axes of ``x``, or reverse them without ``axes``."""
    return apply(TRANSPOSE, (x,), {"axes": axes})


def _swap_infer(data: Spec, *, dim1: int, dim2: int) -> tuple[Spec]:
    extents = list(data.shape)
    i = normalize_axis("SwapAxis", dim1, len(extents))
    j = normalize_axis("SwapAxis", dim2, len(extents))
    extents[i], extents[j] = extents[j], extents[i]
    return (Spec(tuple(extents), data.dtype),)


def _swap_kernel(xp: ModuleType, out: Any, data: Any, *, dim1: int, dim2: int) -> None:
    out[...] = data.swapaxes(dim1, dim2)


def _swap_gradient(g: V, data: V, *, dim1: int, dim2: int) -> tuple[Any]:
    return (swap_axes(g, dim1, dim2),)


def _swap_order(rank: int, attrs: Attrs) -> Sequence[int]:
    order = list(range(rank))
    first, second = attrs["dim1"], attrs["dim2"]
    order[first], order[second] = order[second], order[first]
    return order


SWAP_AXIS = register(
    Operator(
        "SwapAxis",
        _swap_infer,
        _swap_kernel,
        _swap_gradient,
        doc=(
            "Swap two axes.\n\n"
            "Shapes: data any, output the same with the sizes of dim1 and dim2 swapped."
        ),
        schema=Schema(dim1=integer(0), dim2=integer(0)),
        aliases=("swapaxes", "_npi_swapaxes"),
        shapes=ShapeFacts(rule=permuted(_swap_order)),
        execution=Execution(copies_only=True),
    )
)


def swap_axes(x: Any, dim1: int, dim2: int) -> Any:
    """Swap two axes of ``x``."""
    return apply(SWAP_AXIS, (x,), {"dim1": dim1, "dim2": dim2})


def _infer_reverse(data: Spec, *, axis: Shape) -> tuple[Spec]:
    normalize_axes("reverse", axis, len(data.shape))
    return (data,)


def _kernel_reverse(xp: ModuleType, out: Any, data: Any, *, axis: Shape) -> None:
    out[...] = xp.flip(data, axis)


def _gradient_reverse(g: V, data: V, *, axis: Shape) -> tuple[Any]:
    return (reverse(g, axis),)


REVERSE = register(
    Operator(
        "reverse",
        _infer_reverse,
        _kernel_reverse,
        _gradient_reverse,
        doc=(
            "Reverse the order of elements along the axes in axis.\n\n"
            "Shapes: data any, output the same."
        ),
        schema=Schema(axis=shape()),
        aliases=("flip",),
        shapes=ShapeFacts(rule=same_shape()),
        execution=Execution(copies_only=True),
    )
)


def reverse(x: Any, axis: Shape) -> Any:
    """Reverse the order of elements along the axes ``axis``."""
    return apply(REVERSE, (x,), {"axis": axis})
