"""Optimizer rules: new weight and new states from weight, gradient and states.

A `Rule` is the arithmetic of an optimizer, written once: the operators of `update` and
`multi_update` apply it to one weight or to several, the optimizers to all of their weights. The
gradient is scaled by rescale_grad, then clipped to [-clip_gradient, clip_gradient] unless
clip_gradient is negative. If a 16-bit weight has a float32 copy, the rule updates the copy.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from gluonish.core.schema import Attribute, number
from gluonish.core.spec import Shape
from gluonish.ops.registry import Attrs
from gluonish.ops.support.precision import widen

# (xp, weight, gradient, states, rates, scalars) -> new weight; weight and gradient in float32 or
# float64. The gradient is a scaled copy that the step may overwrite. Most steps compute in place:
# for large weights a new array for every term costs more than the arithmetic.
Step = Callable[[ModuleType, Any, Any, Sequence[Any], Sequence[float], Attrs], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """The arithmetic of an optimizer.

    Args:
        name: Name, used by generated kernels.
        title: Name in documentation.
        states: Names of the state arrays of each weight.
        rates: Names of the numbers of each weight.
        step: Computes the new weight, and updates the states in place.
        scalars: Attributes shared by all weights, besides rescale_grad and clip_gradient.
        uses_norms: Whether the step of an element depends on other elements of the array.
        state_shapes: Computes the shapes of the states from that of the weight; None if they are
            equal.
    """

    name: str
    title: str
    states: tuple[str, ...]
    rates: tuple[str, ...]
    step: Step
    scalars: Mapping[str, Attribute] = field(default_factory=dict)
    uses_norms: bool = False
    state_shapes: Callable[[Shape], tuple[Shape, ...]] | None = None

    def shapes_of(self, shape: Shape) -> tuple[Shape, ...]:
        """Return the shapes of the states of a weight of this shape."""
        return self.state_shapes(shape) if self.state_shapes else (shape,) * len(self.states)


def apply_rule(
    xp: ModuleType,
    rule: Rule,
    out: Any,
    arrays: Sequence[Any],
    mixed: bool,
    rates: Sequence[float],
    scalars: Attrs,
) -> None:
    """Update one weight, which may alias ``out``.

    Args:
        out: Receives the new weight.
        arrays: Weight, gradient and states, then the float32 weight if ``mixed``.
        mixed: Whether there is a float32 weight.
        rates: Values of ``rule.rates``.
        scalars: Values of rescale_grad, clip_gradient and ``rule.scalars``.
    """
    if not out.ndim:  # arithmetic would turn arrays of no axes into numbers
        out, arrays = out.reshape(1), [array.reshape(1) for array in arrays]
    weight, grad, *states = arrays
    master = states.pop() if mixed else weight
    w = widen(master)
    g = xp.multiply(grad, scalars["rescale_grad"], dtype=w.dtype)
    new = rule.step(xp, w, g, states, rates, scalars)
    if mixed:
        master[...] = new
    out[...] = new


def clipped(xp: ModuleType, array: Any, limit: float) -> Any:
    """Clip an array to [-limit, limit] in place, unless limit is negative."""
    return array if limit < 0 else xp.clip(array, -limit, limit, out=array)


def decayed(xp: ModuleType, w: Any, g: Any, wd: float, attrs: Attrs) -> Any:
    """Clip the gradient and add weight decay, in place."""
    slope = clipped(xp, g, attrs["clip_gradient"])
    if wd:
        slope += w * wd
    return slope


def write_back(state: Any, wide: Any) -> None:
    """Copy a widened state back; a state that was not widened is already updated."""
    if wide is not state:
        state[...] = wide


def _sgd(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd = rates
    slope = decayed(xp, w, g, wd, attrs)
    slope *= lr
    return xp.subtract(w, slope, out=slope)


def _momentum(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    (mom,), (lr, wd) = states, rates
    slope = decayed(xp, w, g, wd, attrs)
    slope *= lr
    velocity = widen(mom)
    velocity *= attrs["momentum"]
    velocity -= slope
    write_back(mom, velocity)
    return xp.add(w, velocity, out=slope)


def _nag(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    (mom,), (lr, wd) = states, rates
    step = decayed(xp, w, g, wd, attrs)
    step *= lr
    velocity = widen(mom)
    velocity *= attrs["momentum"]
    velocity -= step
    write_back(mom, velocity)
    return xp.subtract(w + velocity * attrs["momentum"], step, out=step)


def _nesterov(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    """Compute a step whose momentum decays with the new weight, as in MXNet's optimizer class."""
    (mom,), (lr, wd) = states, rates
    momentum = attrs["momentum"]
    slope = clipped(xp, g, attrs["clip_gradient"])
    velocity = widen(mom)
    new = w * wd
    new += slope
    new *= -lr
    new *= 1 + momentum
    new += velocity * (momentum * momentum)
    new += w
    slope += new * wd
    slope *= lr
    velocity *= momentum
    velocity -= slope
    write_back(mom, velocity)
    return new


def moments(states: Sequence[Any], slope: Any, attrs: Attrs) -> tuple[Any, Any]:
    """Update and return the running means of a gradient and its square; overwrites the gradient."""
    mean, var = states
    first, second = widen(mean), widen(var)
    first *= attrs["beta1"]
    first += slope * (1 - attrs["beta1"])
    slope *= slope
    slope *= 1 - attrs["beta2"]
    second *= attrs["beta2"]
    second += slope
    write_back(mean, first)
    write_back(var, second)
    return first, second


def _adam(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd = rates
    # Unlike in most rules, the gradient is clipped after weight decay is added.
    if wd:
        g += w * wd
    slope = clipped(xp, g, attrs["clip_gradient"])
    mean, var = moments(states, slope, attrs)
    step = xp.sqrt(var, out=slope)
    step += attrs["epsilon"]
    xp.divide(mean, step, out=step)
    step *= lr
    return xp.subtract(w, step, out=step)


def _adamw(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd, eta = rates
    slope = clipped(xp, g, attrs["clip_gradient"])
    mean, var = moments(states, slope, attrs)
    step = xp.sqrt(var, out=slope)
    step += attrs["epsilon"]
    xp.divide(mean, step, out=step)
    step *= lr
    step += w * wd
    step *= eta
    return xp.subtract(w, step, out=step)


def _rmsprop(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    (n,), (lr, wd) = states, rates
    if wd:
        g += w * wd
    slope = clipped(xp, g, attrs["clip_gradient"])
    square = widen(n)
    square *= attrs["gamma1"]
    square += slope * slope * (1 - attrs["gamma1"])
    write_back(n, square)
    slope *= lr
    slope /= xp.sqrt(square + attrs["epsilon"])
    return clipped(xp, xp.subtract(w, slope, out=slope), attrs["clip_weights"])


def _rmsprop_centered(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd = rates
    if wd:
        g += w * wd
    slope = clipped(xp, g, attrs["clip_gradient"])
    square, mean, delta = map(widen, states)
    square *= attrs["gamma1"]
    square += slope * slope * (1 - attrs["gamma1"])
    mean *= attrs["gamma1"]
    mean += slope * (1 - attrs["gamma1"])
    slope *= lr
    slope /= xp.sqrt(square - mean * mean + attrs["epsilon"])
    delta *= attrs["gamma2"]
    delta -= slope
    for state, wide in zip(states, (square, mean, delta), strict=True):
        write_back(state, wide)
    return clipped(xp, xp.add(w, delta, out=slope), attrs["clip_weights"])


def _adagrad(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    (history,), (lr, wd) = states, rates
    slope = clipped(xp, g, attrs["clip_gradient"])
    total = widen(history)
    total += slope * slope
    write_back(history, total)
    slope /= xp.sqrt(total + attrs["epsilon"])
    if wd:
        slope += w * wd
    slope *= lr
    return xp.subtract(w, slope, out=slope)


def lamb_direction(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    """Return the unscaled direction of LAMB's step; overwrites the gradient.

    Args:
        w: Weight.
        g: Scaled gradient.
        states: Mean and variance, updated in place.
        rates: Weight decay, and bias corrections of mean and variance.
        attrs: clip_gradient, beta1, beta2, epsilon.
    """
    wd, mean_share, var_share = rates
    slope = clipped(xp, g, attrs["clip_gradient"])
    mean, var = moments(states, slope, attrs)
    root = xp.sqrt(xp.divide(var, var_share, out=slope), out=slope)
    root += attrs["epsilon"]
    step = xp.divide(mean / mean_share, root, out=root)
    if wd:
        step += w * wd
    return step


def lamb_ratio(xp: ModuleType, weight_norm: Any, step_norm: Any, attrs: Attrs) -> Any:
    """Return the trust ratio of LAMB: the ratio of norms, 1 if one of them is 0.

    The weight's norm is clipped to lower_bound and upper_bound unless they are negative.
    """
    if attrs["lower_bound"] >= 0:
        weight_norm = xp.maximum(weight_norm, attrs["lower_bound"])
    if attrs["upper_bound"] >= 0:
        weight_norm = xp.minimum(weight_norm, attrs["upper_bound"])
    usable = (weight_norm != 0) & (step_norm != 0)
    return xp.where(usable, weight_norm / xp.where(usable, step_norm, 1), 1)


def norm(xp: ModuleType, x: Any) -> Any:
    """Return the 2-norm, accumulated in float64 to be nearly independent of the order."""
    return wide_norm(xp, x).astype(x.dtype)


def wide_norm(xp: ModuleType, x: Any) -> Any:
    """Return the 2-norm in float64."""
    wide = x.astype(xp.float64).ravel()
    return xp.sqrt(xp.dot(wide, wide))


def _lamb(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, *others = rates
    step = lamb_direction(xp, w, g, states, others, attrs)
    ratio = lamb_ratio(xp, norm(xp, w), norm(xp, step), attrs)
    step *= (ratio * lr).astype(w.dtype)
    return xp.subtract(w, step, out=step)


_RATES = ("lr", "wd")
_MOMENTUM = {"momentum": number(0.0)}
_ADAM = {"beta1": number(0.9), "beta2": number(0.999)}
_GAMMA = {"gamma1": number(0.95)}
_WEIGHTS = {"clip_weights": number(-1.0)}

SGD = Rule("sgd", "gradient descent", (), _RATES, _sgd)
SGD_MOMENTUM = Rule(
    "sgd_mom", "gradient descent with momentum", ("mom",), _RATES, _momentum, _MOMENTUM
)
NAG = Rule("nag_mom", "Nesterov's accelerated gradient", ("mom",), _RATES, _nag, _MOMENTUM)
NESTEROV = Rule(
    "nag",
    "Nesterov's accelerated gradient, as computed by the optimizer class,",
    ("mom",),
    _RATES,
    _nesterov,
    _MOMENTUM,
)
ADAM = Rule(
    "adam",
    "Adam without bias correction (the caller includes it in lr)",
    ("mean", "var"),
    _RATES,
    _adam,
    {**_ADAM, "epsilon": number(1e-8)},
)
ADAMW = Rule(
    "adamw",
    "Adam with decoupled weight decay, without bias correction (the caller includes it in lr)",
    ("mean", "var"),
    ("lr", "wd", "eta"),
    _adamw,
    {**_ADAM, "epsilon": number(1e-8)},
)
RMSPROP = Rule(
    "rmsprop",
    "RMSProp",
    ("n",),
    _RATES,
    _rmsprop,
    {**_GAMMA, "epsilon": number(1e-8), **_WEIGHTS},
)
RMSPROP_CENTERED = Rule(
    "rmspropalex",
    "centered RMSProp with momentum",
    ("n", "g", "delta"),
    _RATES,
    _rmsprop_centered,
    {**_GAMMA, "gamma2": number(0.9), "epsilon": number(1e-8), **_WEIGHTS},
)
ADAGRAD = Rule("adagrad", "AdaGrad", ("history",), _RATES, _adagrad, {"epsilon": number(1e-7)})
LAMB = Rule(
    "lamb",
    "LAMB",
    ("mean", "var"),
    ("lr", "wd", "mean_share", "var_share"),
    _lamb,
    {**_ADAM, "epsilon": number(1e-6), "lower_bound": number(-1.0), "upper_bound": number(-1.0)},
    uses_norms=True,
)

RULES = (SGD, SGD_MOMENTUM, NAG, NESTEROV, ADAM, ADAMW, RMSPROP, RMSPROP_CENTERED, ADAGRAD, LAMB)
