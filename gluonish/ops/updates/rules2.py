"""Optimizer rules of MXNet 2.0, where they differ from those of MXNet 1.9.

In 2.0 all optimizers clip the gradient before they add weight decay, the denominators of AdaGrad,
RMSProp and Adamax are sums of a root and epsilon, and AdaDelta has a learning rate.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.schema import number
from gluonish.ops.registry import Attrs
from gluonish.ops.support.precision import widen
from gluonish.ops.updates.adaptive import ADADELTA, FTML_STEPS, NADAM
from gluonish.ops.updates.rules import (
    ADAGRAD,
    ADAM,
    RMSPROP,
    RMSPROP_CENTERED,
    Rule,
    clipped,
    decayed,
    write_back,
)
from gluonish.ops.updates.sign import DCASGD, DCASGD_MOMENTUM


def _clipping_first(rule: Rule) -> Rule:
    """Return a rule that clips the gradient before it adds weight decay, and not after it."""

    def step(
        xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
    ) -> Any:
        slope = clipped(xp, g, attrs["clip_gradient"])
        return rule.step(xp, w, slope, states, rates, {**attrs, "clip_gradient": -1.0})

    title = f"{rule.title}, of a gradient clipped before weight decay"
    return Rule(f"{rule.name}2", title, rule.states, rule.rates, step, rule.scalars)


ADAM2 = _clipping_first(ADAM)
NADAM2 = _clipping_first(NADAM)
FTML2 = _clipping_first(FTML_STEPS)
RMSPROP_CENTERED2 = _clipping_first(RMSPROP_CENTERED)


def _adagrad(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    (history,), (lr, wd) = states, rates
    slope = decayed(xp, w, g, wd, attrs)
    total = widen(history)
    total += slope * slope
    write_back(history, total)
    slope *= lr
    slope /= xp.sqrt(total) + attrs["epsilon"]
    return xp.subtract(w, slope, out=slope)


def _adadelta(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd = rates
    slope = decayed(xp, w, g, wd, attrs)
    attrs = {**attrs, "clip_gradient": -1.0}
    zero = xp.zeros_like(w)
    step = ADADELTA.step(xp, zero, slope, states, (lr, 0.0), attrs)  # the negative step
    step *= lr
    return xp.add(w, step, out=step)


def _rmsprop(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    (n,), (lr, wd) = states, rates
    slope = decayed(xp, w, g, wd, attrs)
    square = widen(n)
    square *= attrs["gamma1"]
    square += slope * slope * (1 - attrs["gamma1"])
    write_back(n, square)
    slope *= lr
    slope /= xp.sqrt(square) + attrs["epsilon"]
    return clipped(xp, xp.subtract(w, slope, out=slope), attrs["clip_weights"])


def _adamax(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd = rates
    slope = decayed(xp, w, g, wd, attrs)
    mean, largest = map(widen, states)
    mean *= attrs["beta1"]
    mean += slope * (1 - attrs["beta1"])
    largest *= attrs["beta2"]
    xp.maximum(largest, xp.abs(slope, out=slope), out=largest)
    for state, wide in zip(states, (mean, largest), strict=True):
        write_back(state, wide)
    step = xp.multiply(mean, lr, out=slope)
    step /= largest + attrs["epsilon"]
    return xp.subtract(w, step, out=step)


def _compensated(
    xp: ModuleType, w: Any, g: Any, previous: Any, rates: Sequence[float], attrs: Attrs
) -> Any:
    """Return the compensated step, and store the weight in ``previous``."""
    lr, wd = rates
    slope = decayed(xp, w, g, wd, attrs)
    drift = slope * slope
    drift *= attrs["lamda"]
    drift *= w - widen(previous)
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


def _like(rule: Rule, step: Any) -> Rule:
    title = f"{rule.title}, by the formula of MXNet 2.0"
    return Rule(f"{rule.name}2", title, rule.states, rule.rates, step, rule.scalars)


ADAGRAD2 = _like(ADAGRAD, _adagrad)
ADADELTA2 = _like(ADADELTA, _adadelta)
RMSPROP2 = _like(RMSPROP, _rmsprop)
DCASGD2 = _like(DCASGD, _dcasgd)
DCASGD_MOMENTUM2 = _like(DCASGD_MOMENTUM, _dcasgd_momentum)
ADAMAX2 = Rule(
    "adamax2",
    "Adamax without bias correction, by the formula of MXNet 2.0",
    ("mean", "largest"),
    ("lr", "wd"),
    _adamax,
    {"beta1": number(0.9), "beta2": number(0.999), "epsilon": number(1e-8)},
)

RULES2 = (
    ADADELTA2,
    ADAGRAD2,
    ADAM2,
    ADAMAX2,
    DCASGD2,
    DCASGD_MOMENTUM2,
    FTML2,
    NADAM2,
    RMSPROP2,
    RMSPROP_CENTERED2,
)
