"""Rules that scale steps by the history of gradients: AdaDelta, Adamax, Nadam.

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
from gluonish.ops.updates.rules import Rule, clipped, moments, write_back

# The smallest divisor of Adamax, the smallest normal float32: a weight without gradients so far
# would have 0 / 0 = NaN.
TINY = 2.0**-126


def _adadelta(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    _, wd = rates  # AdaDelta has no learning rate
    rho, epsilon = attrs["rho"], attrs["epsilon"]
    slope = clipped(xp, g, attrs["clip_gradient"])
    square, delta = map(widen, states)
    square *= rho
    square += slope * slope * (1 - rho)
    step = xp.sqrt(delta + epsilon)
    step /= xp.sqrt(square + epsilon)
    step *= slope
    delta *= rho
    delta += step * step * (1 - rho)
    for state, wide in zip(states, (square, delta), strict=True):
        write_back(state, wide)
    step += w * wd
    return xp.subtract(w, step, out=step)


def _adamax(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd = rates
    if wd:
        g += w * wd
    slope = clipped(xp, g, attrs["clip_gradient"])
    mean, infinity_norm = map(widen, states)
    mean *= attrs["beta1"]
    mean += slope * (1 - attrs["beta1"])
    infinity_norm *= attrs["beta2"]
    xp.maximum(infinity_norm, xp.abs(slope, out=slope), out=infinity_norm)
    for state, wide in zip(states, (mean, infinity_norm), strict=True):
        write_back(state, wide)
    step = xp.multiply(mean, lr, out=slope)
    step /= xp.maximum(infinity_norm, TINY)
    return xp.subtract(w, step, out=step)


def _nadam(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd, grad_factor, mean_factor, var_share = rates
    if wd:
        g += w * wd
    slope = clipped(xp, g, attrs["clip_gradient"])
    step = slope * grad_factor
    mean, var = moments(states, slope, attrs)
    step += mean * mean_factor
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
    "Adamax without bias correction (the caller includes it in lr)",
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
