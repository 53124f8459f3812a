"""LRN: divide each element by a power of the sum of squares over neighboring channels.

References:
    A. Krizhevsky, I. Sutskever, G. Hinton, ImageNet Classification with Deep Convolutional Neural
        Networks, 2012.

L2Normalization: divide by the L2 norm.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice, integer, number
from gluonish.core.spec import PartialSpec, Shape, Spec, merge_dtypes, merge_shapes
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.unary import RSQRT, SQUARE
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, widen

# MXNet's files have two outputs; the second one is unused.
_NOTHING = (1,)

_SCHEMA = Schema(alpha=number(1e-4), beta=number(0.75), knorm=number(2.0), nsize=integer(low=0))


def _infer(data: Spec, *, nsize: int, **_: object) -> tuple[Spec, Spec]:
    if not is_floating(data.dtype) or len(data.shape) not in (2, 4):
        raise OperatorError(f"LRN: expected floating data of 2 or 4 axes, got {data}")
    if not nsize:
        raise OperatorError(f"LRN: expected nsize of at least 1, got {nsize}")
    return data, Spec(_NOTHING, data.dtype)


def _window_sums(xp: ModuleType, data: Any, reach: int) -> Any:
    """Return the sum of each channel and up to ``reach`` channels on either side."""
    total = data.copy()
    for distance in range(1, min(reach, data.shape[1] - 1) + 1):
        total[:, distance:] += data[:, :-distance]
        total[:, :-distance] += data[:, distance:]
    return total


def _base(xp: ModuleType, data: Any, *, alpha: float, knorm: float, nsize: int, **_: object) -> Any:
    """Return the base that is raised to the power beta."""
    base = _window_sums(xp, data * data, _reach(nsize))
    base *= data.dtype.type(alpha / nsize)
    base += data.dtype.type(knorm)
    return base


def _reach(nsize: int) -> int:
    """Return the number of channels on either side; an even size is rounded down."""
    return (nsize - 1) // 2


def _kernel(xp: ModuleType, outputs: tuple[Any, Any], data: Any, **attrs: Any) -> None:
    wide = widen(data)
    power = _base(xp, wide, **attrs) ** wide.dtype.type(-attrs["beta"])
    outputs[0][...] = wide * power
    outputs[1][...] = 0


def _gradient(g: tuple[V | None, ...], data: V, **attrs: Any) -> tuple[Any]:
    return (None if g[0] is None else apply(LRN_BACKWARD, (g[0], data), attrs),)


def _backward_kernel(xp: ModuleType, result: Any, grad: Any, data: Any, **attrs: Any) -> None:
    beta, nsize = attrs["beta"], attrs["nsize"]
    wide, grad = widen(data), widen(grad)
    base = _base(xp, wide, **attrs)
    scaled = grad * base ** wide.dtype.type(-beta)
    others = _window_sums(xp, scaled * wide / base, _reach(nsize))
    others *= wide.dtype.type(-2 * attrs["alpha"] * beta / nsize)
    others *= wide
    others += scaled
    result[...] = others


def _backward(grad: Any, data: Any, **attrs: Any) -> Any:
    """Compute `_backward_kernel`'s result with operators."""
    alpha, beta, nsize = attrs["alpha"], attrs["beta"], attrs["nsize"]
    dtype = np.dtype(data.dtype)
    x, g = cast(data, accumulator(dtype)), cast(grad, accumulator(dtype))
    reach = {"reach": _reach(nsize)}
    base = apply(_WINDOW_SUM, (x * x,), reach) * (alpha / nsize) + attrs["knorm"]
    scaled = g * base**-beta
    others = apply(_WINDOW_SUM, (scaled * x / base,), reach) * x
    return cast(scaled - others * (2 * alpha * beta / nsize), dtype)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    shape = merge_shapes(inputs[0].shape, outputs[0].shape, "LRN output")
    dtype = merge_dtypes(inputs[0].dtype, outputs[0].dtype, "LRN")
    inputs[0] = outputs[0] = PartialSpec(shape, dtype)
    outputs[1:] = [PartialSpec(_NOTHING, dtype)] * (len(outputs) - 1)


LRN = register(
    Operator(
        "LRN",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Local response normalization: data / (knorm + alpha / nsize * sum of squares) **\n"
            "beta.\n\n"
            "The sum is over the channel itself and (nsize - 1) // 2 channels on either side.\n\n"
            "Shapes: data (N, C) or (N, C, H, W), output the same."
        ),
        schema=_SCHEMA,
        outputs=2,
        visible=1,
        output_names=("output", "nothing"),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=True),
    )
)

LRN_BACKWARD = register(
    Operator(
        "_lrn_backward",
        lambda grad, data, **_: (data,),
        _backward_kernel,
        composite_gradient(_backward),
        doc="Gradient of LRN's data, from its output's gradient.",
        inputs=("grad", "data"),
        schema=_SCHEMA,
        execution=Execution(heavy=True),
    )
)


def _window_kernel(xp: ModuleType, out: Any, data: Any, *, reach: int) -> None:
    out[...] = _window_sums(xp, widen(data), reach)


def _window_gradient(g: V, data: V, **attrs: Any) -> tuple[V]:
    return (apply(_WINDOW_SUM, (g,), attrs),)


_WINDOW_SUM = register(
    Operator(
        "_lrn_window_sum",
        lambda data, **_: (data,),
        _window_kernel,
        _window_gradient,
        doc="Sum of each channel and of up to reach channels on either side.",
        schema=Schema(reach=integer(low=0)),
    )
)


def _axes(rank: int, mode: str) -> Shape:
    """Return the axes of the norm."""
    if mode == "channel":
        return (1,)
    return tuple(range(1 if mode == "instance" else 2, rank))


def _infer_l2_normalization(data: Spec, *, eps: float, mode: str) -> tuple[Spec, Spec]:
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


def _kernel_l2_normalization(xp: ModuleType, out: Any, data: Any, *, eps: float, mode: str) -> None:
    wide = widen(data)
    axes = _axes(data.ndim, mode)
    square = xp.add.reduce(wide * wide, axis=axes, keepdims=True)
    norm = xp.sqrt(square + wide.dtype.type(eps))
    out[0][...] = (wide / norm).astype(data.dtype)
    out[1][...] = norm.reshape(out[1].shape).astype(data.dtype)


def _backward_kernel_l2_normalization(
    xp: ModuleType, out: Any, grad: Any, data: Any, norms: Any, *, eps: float, mode: str
) -> None:
    axes = _axes(data.ndim, mode)
    norm = xp.expand_dims(widen(norms), axes)
    grad, unit = widen(grad), widen(data) / norm
    unit *= xp.add.reduce(grad * unit, axis=axes, keepdims=True)
    out[...] = ((grad - unit) / norm).astype(out.dtype)


def _backward_l2_normalization(grad: Any, data: Any, norms: Any, *, eps: float, mode: str) -> Any:
    """Compute `_backward_kernel`'s result with operators; norms are recomputed."""
    dtype = np.dtype(data.dtype)
    axes, wide = _axes(len(data.shape), mode), accumulator(dtype)
    grad, data = cast(grad, wide), cast(data, wide)
    inverse = RSQRT(sum_(SQUARE(data), axis=axes, keepdims=True) + eps)
    unit = data * inverse
    return cast((grad - unit * sum_(grad * unit, axis=axes, keepdims=True)) * inverse, dtype)


def _gradient_l2_normalization(
    g: tuple[V | None, ...], data: V, out: V, norms: V, *, eps: float, mode: str
) -> tuple[Any]:
    if g[0] is None:
        return (None,)
    attrs = {"eps": eps, "mode": mode}
    return (apply(L2_NORMALIZATION_BACKWARD, (g[0], data, norms), attrs),)


_L2_NORMALIZATION_SCHEMA = Schema(
    eps=number(1e-10), mode=choice("channel", "instance", "spatial", default="instance")
)

L2_NORMALIZATION = register(
    Operator(
        "L2Normalization",
        _infer_l2_normalization,
        _kernel_l2_normalization,
        Gradient(_gradient_l2_normalization, uses_output=True),
        doc=(
            "data divided by its L2 norm: the square root of its sum of squares plus eps.\n\n"
            "The sum is over all axes but the batch axis (instance), over axis 1 (channel), or\n"
            "over all axes after axis 1 (spatial).\n\n"
            "Shapes: data (N, C, ...), of at least 3 axes for spatial, output the same."
        ),
        schema=_L2_NORMALIZATION_SCHEMA,
        outputs=2,
        visible=1,
    )
)

L2_NORMALIZATION_BACKWARD = register(
    Operator(
        "_l2_normalization_backward",
        lambda grad, data, norms, **_: (data,),
        _backward_kernel_l2_normalization,
        composite_gradient(_backward_l2_normalization),
        doc=(
            "Gradient of L2Normalization's data, from the output's gradient, data and the\nnorms."
        ),
        inputs=("grad", "data", "norms"),
        schema=_L2_NORMALIZATION_SCHEMA,
    )
)
