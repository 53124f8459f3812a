"""LRN: divide each element by a power of the sum of squares over neighboring channels.

References:
    A. Krizhevsky, I. Sutskever, G. Hinton, ImageNet Classification with Deep Convolutional Neural
        Networks, 2012.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, number
from gluonish.core.spec import PartialSpec, Spec, merge_dtypes, merge_shapes
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.facts import Execution, ShapeFacts
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
    """Return the base of the power beta."""
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
