"""Rules of gradient descent with compensation of delayed gradients.

References:
    S. Zheng et al., Asynchronous Stochastic Gradient Descent with Delay Compensation, ICML 2017.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.schema import number
from gluonish.ops.registry import Attrs
from gluonish.ops.support.precision import widen
from gluonish.ops.updates.rules import Rule, clipped, write_back


def _compensated(
    xp: ModuleType, w: Any, g: Any, previous: Any, rates: Sequence[float], attrs: Attrs
) -> Any:
    """Return the compensated step, and store the weight in ``previous``."""
    lr, wd = rates
    slope = clipped(xp, g, attrs["clip_gradient"])
    drift = slope * slope
    drift *= attrs["lamda"]
    drift *= w - widen(previous)
    slope += w * wd
    slope += drift
    slope *= lr
    previous[...] = w
    return slope


def _dcasgd(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    step = _compensated(xp, w, g, states[0], rates, attrs)
    return xp.subtract(w, step, out=step)


def _dcasgd_momentum(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    mom, previous = states
    step = _compensated(xp, w, g, previous, rates, attrs)
    velocity = widen(mom)
    velocity *= attrs["momentum"]
    velocity -= step
    write_back(mom, velocity)
    return xp.add(w, velocity, out=step)


DCASGD = Rule(
    "dcasgd",
    "delay-compensated gradient descent",
    ("previous",),
    ("lr", "wd"),
    _dcasgd,
    {"lamda": number(0.04)},
)
DCASGD_MOMENTUM = Rule(
    "dcasgd_mom",
    "delay-compensated gradient descent with momentum",
    ("mom", "previous"),
    ("lr", "wd"),
    _dcasgd_momentum,
    {"momentum": number(0.0), "lamda": number(0.04)},
)
