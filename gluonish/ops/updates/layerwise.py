"""Rules that scale steps by the norm of the weight: LARS and LANS; LAMB is in `rules`.

References:
    Y. You, I. Gitman, B. Ginsburg, Large Batch Training of Convolutional Networks, 2017.
    S. Zheng, H. Lin, S. Zha, M. Li, Accelerated Large Batch Optimization of BERT Pretraining in 54
    minutes, 2020.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.schema import number
from gluonish.ops.registry import Attrs
from gluonish.ops.support.precision import widen
from gluonish.ops.updates.rules import Rule, clipped, decayed, lamb_ratio, moments, norm, write_back


def lars_ratio(
    xp: ModuleType, weight_norm: Any, grad_norm: Any, eta: Any, wd: Any, epsilon: float
) -> Any:
    """Return the factor of the learning rate in LARS.

    It is ``eta * weight_norm / (grad_norm + wd * weight_norm + epsilon)``, or 1 if the trust
    coefficient eta is negative or a norm is 0. ``grad_norm`` is the norm of the scaled gradient.
    """
    usable = (weight_norm > 0) & (grad_norm > 0) & (eta >= 0)
    divisor = grad_norm + weight_norm * wd + epsilon
    return xp.where(usable, weight_norm * eta / xp.where(usable, divisor, 1), 1)


def _lars(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd, eta = rates
    step = _lars_step(xp, w, g, (lr, wd, eta), attrs)
    return xp.subtract(w, step, out=step)


def _lars_momentum(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    *lars_rates, momentum = rates
    step = _lars_step(xp, w, g, lars_rates, attrs)
    velocity = widen(states[0])
    velocity *= momentum
    velocity -= step
    write_back(states[0], velocity)
    return xp.add(w, velocity, out=step)


def _lars_step(xp: ModuleType, w: Any, g: Any, rates: Sequence[float], attrs: Attrs) -> Any:
    lr, wd, eta = rates
    ratio = lars_ratio(xp, norm(xp, w), norm(xp, g), eta, wd, attrs["epsilon"])
    step = decayed(xp, w, g, wd, attrs)
    step *= (ratio * lr).astype(w.dtype)
    return step


def lans_shares(xp: ModuleType, norms: Sequence[Any], lr: Any, attrs: Attrs) -> tuple[Any, Any]:
    """Return the factors of LANS's two directions: of the mean, and of the gradient.

    Args:
        norms: Norms of the weight, of the mean's direction, and of the gradient's direction.
        lr: Learning rate.
        attrs: beta1, lower_bound and upper_bound.
    """
    weight, mean, grad = norms
    mean_factor = lamb_ratio(xp, weight, mean, attrs) * lr * attrs["beta1"]
    return mean_factor, lamb_ratio(xp, weight, grad, attrs) * lr * (1 - attrs["beta1"])


def _lans(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd, mean_share, var_share = rates
    length = norm(xp, g)
    g *= xp.where(length > 0, 1 / xp.where(length > 0, length, 1), 1).astype(w.dtype)
    slope = clipped(xp, g, attrs["clip_gradient"])
    direct = slope.copy()
    mean, var = moments(states, slope, attrs)
    root = xp.sqrt(xp.divide(var, var_share, out=slope), out=slope)
    root += attrs["epsilon"]
    decay = w * wd
    averaged = mean / mean_share
    averaged /= root
    averaged += decay
    direct /= root
    direct += decay
    norms = [norm(xp, x) for x in (w, averaged, direct)]
    mean_factor, grad_factor = lans_shares(xp, norms, lr, attrs)
    averaged *= mean_factor.astype(w.dtype)
    direct *= grad_factor.astype(w.dtype)
    averaged += direct
    return xp.subtract(w, averaged, out=averaged)


_TRUST = {"epsilon": number(0.0)}

LARS = Rule(
    "lars",
    "layer-wise adaptive gradient descent",
    (),
    ("lr", "wd", "eta"),
    _lars,
    _TRUST,
    uses_norms=True,
)
LARS_MOMENTUM = Rule(
    "lars_mom",
    "layer-wise adaptive gradient descent with momentum",
    ("mom",),
    ("lr", "wd", "eta", "momentum"),
    _lars_momentum,
    _TRUST,
    uses_norms=True,
)
LANS = Rule(
    "lans",
    "LANS",
    ("mean", "var"),
    ("lr", "wd", "mean_share", "var_share"),
    _lans,
    {
        "beta1": number(0.9),
        "beta2": number(0.999),
        "epsilon": number(1e-6),
        "lower_bound": number(-1.0),
        "upper_bound": number(-1.0),
    },
    uses_norms=True,
)
