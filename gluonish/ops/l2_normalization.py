"""L2Normalization: divide by the root of the sum of squares."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice, number
from gluonish.core.spec import Shape, Spec
from gluonish.ops.cast import cast
from gluonish.ops.composite import composite_gradient
from gluonish.ops.precision import accumulator, widen
from gluonish.ops.reduction import sum_
from gluonish.ops.registry import Operator, register
from gluonish.ops.unary import RSQRT, SQUARE

__all__ = ["L2_NORMALIZATION"]


def _axes(rank: int, mode: str) -> Shape:
    """Return the axes that one norm covers."""
    if mode == "channel":
        return (1,)
    return tuple(range(1 if mode == "instance" else 2, rank))


def _infer(data: Spec, *, eps: float, mode: str) -> tuple[Spec, Spec]:
    low = 2 if mode == "instance" else 3
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


def _plain(data: Any, *, eps: float, mode: str) -> tuple[Any]:
    dtype = np.dtype(data.dtype)
    wide = cast(data, accumulator(dtype))  # squares of 16-bit floats overflow from 256 on
    squares = sum_(SQUARE(wide), axis=_axes(len(data.shape), mode), keepdims=True)
    return (cast(wide * RSQRT(squares + eps), dtype),)


L2_NORMALIZATION = register(
    Operator(
        "L2Normalization",
        _infer,
        _kernel,
        composite_gradient(_plain),
        doc=(
            "data divided by the root of its sum of squares plus eps.\n\n"
            "The sum runs over all but the batch axis (instance), over axis 1 (channel), or\n"
            "over all behind it (spatial)."
        ),
        schema=Schema(
            eps=number(1e-10), mode=choice("channel", "instance", "spatial", default="instance")
        ),
        outputs=2,
        visible=1,
    )
)
