"""L2Normalization: divide by the L2 norm."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice, number
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.unary import RSQRT, SQUARE
from gluonish.ops.facts import Gradient
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, widen


def _axes(rank: int, mode: str) -> Shape:
    """Return the axes of the norm."""
    if mode == "channel":
        return (1,)
    return tuple(range(1 if mode == "instance" else 2, rank))


def _infer(data: Spec, *, eps: float, mode: str) -> tuple[Spec, Spec]:
    if not is_floating(data.dtype):
        raise OperatorError(f"L2Normalization: expected floating data, got {data}")
    low = 1 if mode == "instance" else 3
    if len(data.shape) < low:
        raise OperatorError(
            f"L2Normalization: expected data of at least {low} axes for mode {mode}, got "
            f"{data.shape}"
        )
    axes = _axes(len(data.shape), mode)
    norms = tuple(extent for i, extent in enumerate(data.shape) if i not in axes)
    return data, Spec(norms, data.dtype)


def _kernel(xp: ModuleType, out: Any, data: Any, *, eps: float, mode: str) -> None:
    wide = widen(data)
    axes = _axes(data.ndim, mode)
    square = xp.add.reduce(wide * wide, axis=axes, keepdims=True)
    norm = xp.sqrt(square + wide.dtype.type(eps))
    out[0][...] = (wide / norm).astype(data.dtype)
    out[1][...] = norm.reshape(out[1].shape).astype(data.dtype)


def _backward_kernel(
    xp: ModuleType, out: Any, grad: Any, data: Any, norms: Any, *, eps: float, mode: str
) -> None:
    axes = _axes(data.ndim, mode)
    norm = xp.expand_dims(widen(norms), axes)
    grad, unit = widen(grad), widen(data) / norm
    unit *= xp.add.reduce(grad * unit, axis=axes, keepdims=True)
    out[...] = ((grad - unit) / norm).astype(out.dtype)


def _backward(grad: Any, data: Any, norms: Any, *, eps: float, mode: str) -> Any:
    """Compute `_backward_kernel`'s result with operators; norms are recomputed."""
    dtype = np.dtype(data.dtype)
    axes, wide = _axes(len(data.shape), mode), accumulator(dtype)
    grad, data = cast(grad, wide), cast(data, wide)
    inverse = RSQRT(sum_(SQUARE(data), axis=axes, keepdims=True) + eps)
    unit = data * inverse
    return cast((grad - unit * sum_(grad * unit, axis=axes, keepdims=True)) * inverse, dtype)


def _gradient(
    g: tuple[V | None, ...], data: V, out: V, norms: V, *, eps: float, mode: str
) -> tuple[Any]:
    if g[0] is None:
        return (None,)
    attrs = {"eps": eps, "mode": mode}
    return (apply(L2_NORMALIZATION_BACKWARD, (g[0], data, norms), attrs),)


_SCHEMA = Schema(
    eps=number(1e-10), mode=choice("channel", "instance", "spatial", default="instance")
)

L2_NORMALIZATION = register(
    Operator(
        "L2Normalization",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "data divided by its L2 norm: the square root of its sum of squares plus eps.\n\n"
            "The sum is over all axes but the batch axis (instance), over axis 1 (channel), or\n"
            "over all axes after axis 1 (spatial).\n\n"
            "Shapes: data (N, C, ...), of at least 3 axes for spatial, output the same."
        ),
        schema=_SCHEMA,
        outputs=2,
        visible=1,
    )
)

L2_NORMALIZATION_BACKWARD = register(
    Operator(
        "_l2_normalization_backward",
        lambda grad, data, norms, **_: (data,),
        _backward_kernel,
        composite_gradient(_backward),
        doc=(
            "Gradient of L2Normalization's data, from the output's gradient, data and the\nnorms."
        ),
        inputs=("grad", "data", "norms"),
        schema=_SCHEMA,
    )
)
