"""Rules that treat weights as matrices: Adafactor and Muon.

References:
    N. Shazeer, M. Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory Cost, ICML 2018.
    K. Jordan et al., Muon: An optimizer for hidden layers in neural networks, 2024.
    J. Liu et al., Muon is Scalable for LLM Training, 2025 (the adjustment to AdamW's steps).
"""

from collections.abc import Sequence
from math import sqrt
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.schema import integer, number
from gluonish.core.spec import Shape
from gluonish.ops.registry import Attrs
from gluonish.ops.support.precision import widen
from gluonish.ops.updates.rules import Rule, clipped, norm, wide_norm, write_back


def factor_shapes(shape: Shape) -> tuple[Shape, Shape]:
    """Return the shapes of Adafactor's states: a mean for each row, and for each column.

    Weights of fewer than two axes have one mean for each element, and a second state of one
    element without a use; those of an empty weight, as a process has for weights that others
    update, are empty.
    """
    if 0 in shape:
        return shape, shape
    if len(shape) < 2:
        return shape, (1,)
    return (*shape[:-1], 1), (*shape[:-2], 1, shape[-1])


def least_divisor(dtype: np.dtype[Any], attrs: Attrs) -> float:
    """Return Adafactor's epsilon1, of the dtype if it is negative."""
    epsilon: float = attrs["epsilon1"]
    return epsilon if epsilon >= 0 else float(np.finfo(dtype).eps)


def _adafactor(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    rate, share, kept = rates
    if not w.size:
        return w
    epsilon = least_divisor(w.dtype, attrs)
    slope = clipped(xp, g, attrs["clip_gradient"])
    square = slope * slope
    row = widen(states[0])
    if w.ndim < 2:
        row += (square - row) * share
        var = row
    else:
        column = widen(states[1])
        row += (_mean(xp, square, -1) - row) * share
        column += (_mean(xp, square, -2) - column) * share
        write_back(states[1], column)
        var = row * column / xp.maximum(_mean(xp, row, -2), epsilon)
    write_back(states[0], row)
    step = slope / xp.sqrt(xp.maximum(var, epsilon * epsilon))
    root = sqrt(w.size)
    lengths = wide_norm(xp, w) / root, wide_norm(xp, step) / root
    step *= adafactor_size(xp, *lengths, rate, attrs).astype(w.dtype)
    return xp.subtract(w * kept, step, out=step)


def _mean(xp: ModuleType, x: Any, axis: int) -> Any:
    """Return the means along an axis, accumulated in float64 like `wide_norm`."""
    return x.mean(axis=axis, dtype=xp.float64, keepdims=True).astype(x.dtype)


def adafactor_size(
    xp: ModuleType, weight_length: Any, step_length: Any, rate: Any, attrs: Attrs
) -> Any:
    """Return the factors of Adafactor's steps in float64.

    Args:
        xp: The array module.
        weight_length: Root mean square of the weight.
        step_length: Root mean square of the step.
        rate: The relative step.
        attrs: epsilon2 and clip_threshold.
    """
    length = xp.maximum(step_length / attrs["clip_threshold"], 1)
    return xp.maximum(weight_length, attrs["epsilon2"]) * rate / length


def _orthogonal(xp: ModuleType, x: Any, attrs: Attrs) -> Any:
    """Return nearly the orthogonal factor of a matrix, by iterations of Newton and Schulz."""
    is_tall = x.shape[0] > x.shape[1]
    x = x.T if is_tall else x
    x = x / xp.maximum(norm(xp, x), attrs["epsilon"]).astype(x.dtype)
    square, mixed = (xp.empty((x.shape[0],) * 2, x.dtype) for _ in range(2))
    product = xp.empty_like(x)
    for _ in range(attrs["iterations"]):
        xp.matmul(x, x.T, out=square)
        xp.matmul(square, square, out=mixed)
        mixed *= attrs["c"]
        square *= attrs["b"]
        mixed += square
        xp.matmul(mixed, x, out=product)
        x *= attrs["a"]
        x += product
    return x.T if is_tall else x


def _muon(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, kept = rates
    if not w.size:
        return w
    momentum = attrs["momentum"]
    slope = clipped(xp, g, attrs["clip_gradient"])
    slope *= 1 - momentum
    mean = widen(states[0])
    mean *= momentum
    mean += slope
    write_back(states[0], mean)
    direction = mean
    if attrs["nesterov"]:
        slope += mean * momentum
        direction = slope
    rows, columns = w.shape[0], w.size // w.shape[0]
    step = _orthogonal(xp, direction.reshape(rows, columns), attrs).reshape(w.shape)
    factor = 0.2 * sqrt(max(rows, columns)) if attrs["matched"] else sqrt(max(1, rows / columns))
    step *= lr * factor
    return xp.subtract(w * kept, step, out=step)


ADAFACTOR = Rule(
    "adafactor",
    "Adafactor with the weight decay and the decay of the means among its rates",
    ("row", "column"),
    ("rate", "share", "kept"),
    _adafactor,
    {"epsilon1": number(-1.0), "epsilon2": number(1e-3), "clip_threshold": number(1.0)},
    uses_norms=True,
    state_shapes=factor_shapes,
)
MUON = Rule(
    "muon",
    "Muon with the decay factor of the weight among its rates",
    ("mean",),
    ("lr", "kept"),
    _muon,
    {
        "momentum": number(0.95),
        "nesterov": number(1.0),
        "a": number(3.4445),
        "b": number(-4.775),
        "c": number(2.0315),
        "epsilon": number(1e-7),
        "iterations": integer(low=0),
        "matched": number(0.0),
    },
    uses_norms=True,
)
