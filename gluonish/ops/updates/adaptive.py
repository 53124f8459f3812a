"""Rules whose steps are scaled by what gradients were: AdaDelta, Adamax, Nadam.

References:
    M. D. Zeiler, ADADELTA: An Adaptive Learning Rate Method, 2012.
    D. P. Kingma, J. Ba, Adam: A Method for Stochastic Optimization, ICLR 2015 (Adamax).
    T. Dozat, Incorporating Nesterov Momentum into Adam, 2016.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.schema import number
from gluonish.ops.registry import Attrs
from gluonish.ops.support.precision import widen
from gluonish.ops.updates.rules import Rule, clipped, keep, moments

# What Adamax divides by at least: the smallest normal float32. A weight without any gradient so far
# has 0 / 0, which must not become NaN.
TINY = 2.0**-126


def _adadelta(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    """The learning rate has no part in it."""
    _, wd = rates
    rho, epsilon = attrs["rho"], attrs["epsilon"]
    slope = clipped(xp, g, attrs["clip_gradient"])
    square, moved = map(widen, states)
    square *= rho
    square += slope * slope * (1 - rho)
    step = xp.sqrt(moved + epsilon)
    step /= xp.sqrt(square + epsilon)
    step *= slope
    moved *= rho
    moved += step * step * (1 - rho)
    for state, wide in zip(states, (square, moved), strict=True):
        keep(state, wide)
    step += w * wd
    return xp.subtract(w, step, out=step)


def _adamax(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd = rates
    if wd:
        g += w * wd
    slope = clipped(xp, g, attrs["clip_gradient"])
    mean, largest = map(widen, states)
    mean *= attrs["beta1"]
    mean += slope * (1 - attrs["beta1"])
    largest *= attrs["beta2"]
    xp.maximum(largest, xp.abs(slope, out=slope), out=largest)
    for state, wide in zip(states, (mean, largest), strict=True):
        keep(state, wide)
    step = xp.multiply(mean, lr, out=slope)
    step /= xp.maximum(largest, TINY)
    return xp.subtract(w, step, out=step)


def _nadam(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd, own, ahead, var_share = rates
    if wd:
        g += w * wd
    slope = clipped(xp, g, attrs["clip_gradient"])
    step = slope * own
    mean, var = moments(states, slope, attrs)
    step += mean * ahead
    root = xp.sqrt(xp.divide(var, var_share, out=slope), out=slope)
    root += attrs["epsilon"]
    step /= root
    step *= lr
    return xp.subtract(w, step, out=step)


ADADELTA = Rule(
    "adadelta",
    "AdaDelta",
    ("square", "moved"),
    ("lr", "wd"),
    _adadelta,
    {"rho": number(0.9), "epsilon": number(1e-5)},
)
ADAMAX = Rule(
    "adamax",
    "Adamax without bias correction, which the caller puts into lr",
    ("mean", "largest"),
    ("lr", "wd"),
    _adamax,
    {"beta1": number(0.9), "beta2": number(0.999)},
)
NADAM = Rule(
    "nadam",
    "Nadam",
    ("mean", "var"),
    ("lr", "wd", "own", "ahead", "var_share"),
    _nadam,
    {"beta1": number(0.9), "beta2": number(0.999), "epsilon": number(1e-8)},
)
