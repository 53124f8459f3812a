"""ftml_update: Follow the Moving Leader.

References:
    S. Zheng, J. Kwok, Follow the Moving Leader in Deep Learning, ICML 2017.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.schema import integer, number
from gluonish.ops.registry import Attrs
from gluonish.ops.support.precision import widen
from gluonish.ops.updates.rules import Rule, clipped
from gluonish.ops.updates.update import single_update


def _steps(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    """Compute a step; the gradient is clipped after weight decay is added."""
    rate, wd, var_share = rates
    beta1, beta2 = attrs["beta1"], attrs["beta2"]
    slope = clipped(xp, g + w * wd, attrs["clip_gradient"])
    d, v, z = map(widen, states)
    square = v * beta2 + slope * slope * (1 - beta2)
    scale = (xp.sqrt(square / var_share) + attrs["epsilon"]) * rate
    new_z = z * beta1 + slope * (1 - beta1) - (scale - d * beta1) * w
    for state, new in zip(states, (scale, square, new_z), strict=True):
        state[...] = new
    return -new_z / scale


def _step(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd = rates
    shares = np.subtract(1, np.power([attrs["beta1"], attrs["beta2"]], float(attrs["t"])))
    rate = float(shares[0] / np.float64(lr))  # infinity instead of an error for lr 0
    scalars = {**attrs, "clip_gradient": attrs["clip_grad"]}
    return _steps(xp, w, g, states, (rate, wd, float(shares[1])), scalars)


_STATES = ("d", "v", "z")
_SCALARS = {"beta1": number(0.6), "beta2": number(0.999), "epsilon": number(1e-8)}

FTML = Rule(
    "ftml",
    "Follow the Moving Leader",
    _STATES,
    ("lr", "wd"),
    _step,
    {**_SCALARS, "t": integer(low=1)},
)
FTML_STEPS = Rule(
    "ftml_steps",
    "Follow the Moving Leader with the step number included in its rates",
    _STATES,
    ("rate", "wd", "var_share"),
    _steps,
    _SCALARS,
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
