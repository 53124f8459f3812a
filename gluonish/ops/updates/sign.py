"""signsgd_update and signum_update: steps by the sign of the gradient or the momentum.

References:
    J. Bernstein, Y. Wang, K. Azizzadenesheli, A. Anandkumar, signSGD: Compressed Optimisation for
    Non-Convex Problems, ICML 2018.

Also rules of Lion, and of gradient descent with compensation of delayed gradients.

References:
    X. Chen et al., Symbolic Discovery of Optimization Algorithms, NeurIPS 2023.
    S. Zheng et al., Asynchronous Stochastic Gradient Descent with Delay Compensation, ICML 2017.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.schema import Attribute, Schema, number
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.precision import widen
from gluonish.ops.updates.rules import Rule, clipped, write_back
from gluonish.ops.updates.update import check_arrays, single_update

_ATTRIBUTES: dict[str, Attribute] = {
    "wd": number(0.0),
    "rescale_grad": number(1.0),
    "clip_gradient": number(-1.0),
}


def _infer(weight: Spec, grad: Spec, **_attrs: Any) -> tuple[Spec]:
    return (check_arrays("signsgd_update", (weight, grad), mixed=False),)


def _kernel(
    xp: ModuleType, out: Any, weight: Any, grad: Any, *, lr: float, wd: float, **_attrs: Any
) -> None:
    w = widen(weight)
    out[...] = w * (1 - lr * wd) - xp.sign(widen(grad)) * lr


SIGNSGD_UPDATE = register(
    Operator(
        "signsgd_update",
        _infer,
        _kernel,
        None,
        doc=(
            "Take one step of signSGD: return (1 - lr wd) weight - lr sign(grad).\n\n"
            "rescale_grad and clip_gradient do not change signs, and are ignored."
        ),
        inputs=("weight", "grad"),
        schema=Schema(lr=number(), **_ATTRIBUTES),
        shapes=ShapeFacts(complete=dtype_rule(0, 1)),
        execution=Execution(elementwise=True),
    )
)


def _signum_steps(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd, decay = rates
    momentum = attrs["momentum"]
    slope = clipped(xp, g, attrs["clip_gradient"])
    slope += w * wd
    velocity = widen(states[0]) * momentum - slope * (1 - momentum)
    states[0][...] = velocity
    return w * decay + xp.sign(velocity) * lr


def _signum(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd = rates
    return _signum_steps(xp, w, g, states, (lr, wd, 1 - lr * attrs["wd_lh"]), attrs)


def _signsgd(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, decay = rates
    return w * decay - xp.sign(g) * lr


def _lion(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, decay = rates
    slope = clipped(xp, g, attrs["clip_gradient"])
    mean = widen(states[0])
    blend = mean * attrs["beta1"] + slope * (1 - attrs["beta1"])
    mean *= attrs["beta2"]
    mean += slope * (1 - attrs["beta2"])
    write_back(states[0], mean)
    return w * decay - xp.sign(blend) * lr


LION = Rule(
    "lion",
    "Lion with the decay factor of the weight among its rates",
    ("mean",),
    ("lr", "kept"),
    _lion,
    {"beta1": number(0.9), "beta2": number(0.99)},
)
SIGNUM = Rule(
    "signum",
    "Signum",
    ("mom",),
    ("lr", "wd"),
    _signum,
    {"momentum": number(0.0), "wd_lh": number(0.0)},
)
SIGNUM_STEPS = Rule(
    "signum_steps",
    "Signum with the decay factor of the weight among its rates",
    ("mom",),
    ("lr", "wd", "kept"),
    _signum_steps,
    {"momentum": number(0.0)},
)
SIGNSGD = Rule("signsgd", "signSGD", (), ("lr", "kept"), _signsgd)

SIGNUM_UPDATE = single_update(
    "signum_update",
    SIGNUM,
    {"lr": number(), "momentum": number(0.0), **_ATTRIBUTES, "wd_lh": number(0.0)},
)


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
