"""Rules whose steps are as long as the weight says: LARS and LANS; LAMB stands with the others.

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
from gluonish.ops.updates.rules import Rule, clipped, decayed, keep, lamb_ratio, moments, norm


def lars_ratio(
    xp: ModuleType, weight_norm: Any, grad_norm: Any, eta: Any, wd: Any, epsilon: float
) -> Any:
    """Return what LARS multiplies learning rates by.

    Args:
        grad_norm: Norms of their scaled gradients.
        eta: Trust coefficients; negative where the learning rate stays as it is.
        wd: Weight decays.
        epsilon: Keeps the division from zero.

    Returns:
        ``eta * weight_norm / (grad_norm + wd * weight_norm + epsilon)``; 1 where eta is negative or
        one of the norms is 0.
    """
    usable = (weight_norm > 0) & (grad_norm > 0) & (eta >= 0)
    below = grad_norm + weight_norm * wd + epsilon
    return xp.where(usable, weight_norm * eta / xp.where(usable, below, 1), 1)


def _lars(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd, eta = rates
    step = _lars_step(xp, w, g, (lr, wd, eta), attrs)
    return xp.subtract(w, step, out=step)


def _lars_momentum(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    *own, momentum = rates
    step = _lars_step(xp, w, g, own, attrs)
    moved = widen(states[0])
    moved *= momentum
    moved -= step
    keep(states[0], moved)
    return xp.add(w, moved, out=step)


def _lars_step(xp: ModuleType, w: Any, g: Any, rates: Sequence[float], attrs: Attrs) -> Any:
    lr, wd, eta = rates
    ratio = lars_ratio(xp, norm(xp, w), norm(xp, g), eta, wd, attrs["epsilon"])
    step = decayed(xp, w, g, wd, attrs)
    step *= (ratio * lr).astype(w.dtype)
    return step


def lans_shares(xp: ModuleType, norms: Sequence[Any], lr: Any, attrs: Attrs) -> tuple[Any, Any]:
    """Return what LANS multiplies its two directions by.

    Args:
        norms: Norms of weights, of the directions of means, and of those of gradients.
        lr: Learning rates.
        attrs: beta1, lower_bound and upper_bound.
    """
    weight, mean, grad = norms
    near = lamb_ratio(xp, weight, mean, attrs) * lr * attrs["beta1"]
    return near, lamb_ratio(xp, weight, grad, attrs) * lr * (1 - attrs["beta1"])


def _lans(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd, mean_share, var_share = rates
    slope = clipped(xp, g, attrs["clip_gradient"])
    length = norm(xp, slope)
    slope *= xp.where(length > 0, 1 / xp.where(length > 0, length, 1), 1).astype(w.dtype)
    own = slope.copy()
    mean, var = moments(states, slope, attrs)
    root = xp.sqrt(xp.divide(var, var_share, out=slope), out=slope)
    root += attrs["epsilon"]
    decay = w * wd
    averaged = mean / mean_share
    averaged /= root
    averaged += decay
    own /= root
    own += decay
    norms = [norm(xp, x) for x in (w, averaged, own)]
    near, far = lans_shares(xp, norms, lr, attrs)
    averaged *= near.astype(w.dtype)
    own *= far.astype(w.dtype)
    averaged += own
    return xp.subtract(w, averaged, out=averaged)


_TRUST = {"epsilon": number(0.0)}

LARS = Rule(
    "lars",
    "layer-wise adaptive gradient descent",
    (),
    ("lr", "wd", "eta"),
    _lars,
    _TRUST,
    whole=True,
)
LARS_MOMENTUM = Rule(
    "lars_mom",
    "layer-wise adaptive gradient descent with momentum",
    ("mom",),
    ("lr", "wd", "eta", "momentum"),
    _lars_momentum,
    _TRUST,
    whole=True,
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
    whole=True,
)
