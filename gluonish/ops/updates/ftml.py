"""ftml_update: one step of Follow the Moving Leader.

References:
    S. Zheng, J. Kwok, Follow the Moving Leader in Deep Learning, ICML 2017.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.schema import integer, number
from gluonish.ops.optimizer_rules import Rule
from gluonish.ops.optimizer_update import single_update
from gluonish.ops.precision import widen
from gluonish.ops.registry import Attrs

__all__ = ["FTML", "FTML_UPDATE"]


def _step(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    """The gradient is clipped with the weight decay in it."""
    lr, wd = rates
    beta1, beta2, t = attrs["beta1"], attrs["beta2"], attrs["t"]
    limit = attrs["clip_grad"]
    slope = g + w * wd
    if limit >= 0:
        slope = xp.clip(slope, -limit, limit)
    d, v, z = map(widen, states)
    square = v * beta2 + slope * slope * (1 - beta2)
    corrections = np.subtract(1, np.power([beta1, beta2], float(t)))
    rate = float(corrections[0] / np.float64(lr))  # infinite, and no error, for a rate of 0
    scale = (xp.sqrt(square / float(corrections[1])) + attrs["epsilon"]) * rate
    moved = z * beta1 + slope * (1 - beta1) - (scale - d * beta1) * w
    for state, new in zip(states, (scale, square, moved), strict=True):
        state[...] = new
    return -moved / scale


FTML = Rule(
    "ftml",
    "Follow the Moving Leader",
    ("d", "v", "z"),
    ("lr", "wd"),
    _step,
    {
        "beta1": number(0.6),
        "beta2": number(0.999),
        "epsilon": number(1e-8),
        "t": integer(low=1),
    },
)

FTML_UPDATE = single_update(
    "ftml_update",
    FTML,
    {
        "lr": number(),
        **FTML.scalars,
        "wd": number(0.0),
        "rescale_grad": number(1.0),
        "clip_grad": number(-1.0),
    },
)
