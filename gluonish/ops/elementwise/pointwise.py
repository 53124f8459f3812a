"""Elementwise functions of one array with attributes: clip, hard_sigmoid, smooth_l1, quadratic."""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, number
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.binary import GREATER, LESSER
from gluonish.ops.elementwise.unary import ABS, SIGN
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.broadcasting import complete_same, infer_numbers, infer_same
from gluonish.ops.support.precision import as_real, in_dtype


def _operator(
    name: str,
    kernel: Callable[..., None],
    gradient: Callable[..., tuple[Any]],
    doc: str,
    schema: Schema,
    *aliases: str,
    infer: Callable[..., tuple[Spec]] | None = None,
    several_passes: bool = False,
) -> Operator:
    return register(
        Operator(
            name,
            infer or infer_numbers(name),
            kernel,
            gradient,
            doc=doc,
            schema=schema,
            aliases=aliases,
            shapes=ShapeFacts(complete=complete_same),
            execution=Execution(elementwise=True, several_passes=several_passes),
        )
    )


def _clip(xp: ModuleType, out: Any, data: Any, *, a_min: float, a_max: float) -> None:
    if is_floating(out.dtype):
        low, high = out.dtype.type(a_min), out.dtype.type(a_max)
        out[...] = xp.where(data > high, high, xp.where(data < low, low, data))
        return
    limits = np.iinfo(out.dtype)
    low, high = (out.dtype.type(_int_bound(bound, limits)) for bound in (a_min, a_max))
    out[...] = xp.minimum(xp.maximum(data, low), high)


def _int_bound(bound: float, limits: "np.iinfo[Any]") -> int:
    """Return a bound truncated toward zero and clipped to the dtype's range."""
    if bound <= limits.min:
        return int(limits.min)
    return int(limits.max) if bound >= limits.max else int(bound)


def _clip_gradient(g: V, data: V, **bounds: float) -> tuple[Any]:
    return (apply(CLIP_BACKWARD, (g, data), bounds),)


def _clip_backward(
    xp: ModuleType, out: Any, grad: Any, data: Any, *, a_min: float, a_max: float
) -> None:
    # Test for outside, so that NaN counts as inside, as in MXNet. Data equal to a bound rounded to
    # their dtype are inside; bfloat16 arrays would compare with the unrounded bound.
    low, high = (in_dtype(data.dtype, x) if is_floating(data.dtype) else x for x in (a_min, a_max))
    out[...] = xp.where((data < low) | (data > high), out.dtype.type(0), grad)


def _clip_backward_gradient(g: V, grad: V, data: V, **bounds: float) -> tuple[Any, None]:
    return (lambda: apply(CLIP_BACKWARD, (g, data), bounds)), None


_BOUNDS = Schema(a_min=number(), a_max=number())

CLIP = _operator(
    "clip",
    _clip,
    _clip_gradient,
    "Clip data to [a_min, a_max].",
    _BOUNDS,
    "_npi_clip",
    "_sparse_clip",
)

CLIP_BACKWARD = register(
    Operator(
        "_clip_backward",
        lambda grad, data, **_: (grad,),
        _clip_backward,
        _clip_backward_gradient,
        doc="Compute the gradient of clip: grad, and 0 where data is out of bounds.",
        inputs=("grad", "data"),
        schema=_BOUNDS,
        execution=Execution(elementwise=True, several_passes=True),
    )
)


def _hard_sigmoid_infer(data: Spec, **_attrs: Any) -> tuple[Spec]:
    if not is_floating(data.dtype):
        raise OperatorError(f"hard_sigmoid: expected floating data, got {data}")
    return (data,)


def _hard_sigmoid(xp: ModuleType, out: Any, data: Any, *, alpha: float, beta: float) -> None:
    out[...] = xp.clip(as_real(xp, data) * alpha + beta, 0, 1).astype(out.dtype)


def _hard_sigmoid_gradient(g: V, data: Any, *, alpha: float, beta: float) -> tuple[Any]:
    line = data * alpha + beta
    return (g * alpha * GREATER(line, 0.0) * LESSER(line, 1.0),)


HARD_SIGMOID = _operator(
    "hard_sigmoid",
    _hard_sigmoid,
    _hard_sigmoid_gradient,
    "alpha * data + beta, clipped to [0, 1].",
    Schema(alpha=number(0.2), beta=number(0.5)),
    infer=_hard_sigmoid_infer,
)


def _edge(square: float) -> float:
    """Return the bound of the quadratic region, infinity for a scalar of 0."""
    return 1 / square if square else math.inf


def _smooth_l1(xp: ModuleType, out: Any, data: Any, *, scalar: float) -> None:
    real = as_real(xp, data)
    square = scalar * scalar
    size = xp.abs(real)
    inner = real * real * (0.5 * square)
    edge = _edge(square)
    out[...] = xp.where(size < edge, inner, size - 0.5 * edge).astype(out.dtype)


def _smooth_l1_gradient(g: V, data: Any, *, scalar: float) -> tuple[Any]:
    square = scalar * scalar
    inner = LESSER(ABS(data), _edge(square))
    return (g * (inner * data * square + (1.0 - inner) * SIGN(data)),)


SMOOTH_L1 = _operator(
    "smooth_l1",
    _smooth_l1,
    _smooth_l1_gradient,
    (
        "Compute the smooth L1 loss elementwise: (scalar * data)^2 / 2 where abs(data) <\n"
        "1 / scalar^2, else abs(data) - 0.5 / scalar^2."
    ),
    Schema(scalar=number(1.0)),
    "_npx_smooth_l1",
    several_passes=True,
)


def _quadratic(xp: ModuleType, out: Any, data: Any, *, a: float, b: float, c: float) -> None:
    x = as_real(xp, data)
    real = x.dtype.type
    out[...] = ((real(a) * x + real(b)) * x + real(c)).astype(out.dtype)


def _quadratic_gradient(g: V, data: V, *, a: float, b: float, c: float) -> tuple[Any]:
    return (g * (data * (2.0 * a) + b),)


QUADRATIC = _operator(
    "_contrib_quadratic",
    _quadratic,
    _quadratic_gradient,
    "Compute a * data^2 + b * data + c elementwise; truncate integers toward zero.",
    Schema(a=number(0.0), b=number(0.0), c=number(0.0)),
    infer=infer_same,
)
