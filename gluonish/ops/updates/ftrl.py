"""ftrl_update: FTRL-Proximal.

References:
    H. B. McMahan et al., Ad Click Prediction: a View from the Trenches, KDD 2013.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.schema import number
from gluonish.ops.registry import Attrs
from gluonish.ops.support.precision import widen
from gluonish.ops.updates.rules import Rule
from gluonish.ops.updates.update import single_update


def _step(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd = rates
    limit = attrs["clip_gradient"]
    slope = g if limit < 0 else xp.clip(g, -limit, limit)
    z, n = map(widen, states)
    total = n + slope * slope
    root = xp.sqrt(total)
    new_z = z + slope - (root - xp.sqrt(n)) * w / lr
    states[0][...] = new_z
    states[1][...] = total
    share = xp.sign(new_z) * attrs["lamda1"] - new_z
    found = share / ((attrs["beta"] + root) / lr + wd)
    return xp.where(xp.abs(new_z) > attrs["lamda1"], found, found.dtype.type(0))


FTRL = Rule(
    "ftrl",
    "FTRL-Proximal",
    ("z", "n"),
    ("lr", "wd"),
    _step,
    {"lamda1": number(0.01), "beta": number(1.0)},
)

FTRL_UPDATE = single_update(
    "ftrl_update",
    FTRL,
    {
        "lr": number(),
        **FTRL.scalars,
        "wd": number(0.0),
        "rescale_grad": number(1.0),
        "clip_gradient": number(-1.0),
    },
    "_sparse_ftrl_update",
)
