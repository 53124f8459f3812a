"""Rules that scale steps by the history of gradients.

The rules are AdaDelta, AdaBelief, Adamax, Nadam, RAdam, FTML, FTRL-Proximal and GroupAdaGrad.

References:
    M. D. Zeiler, ADADELTA: An Adaptive Learning Rate Method, 2012.
    D. P. Kingma, J. Ba, Adam: A Method for Stochastic Optimization, ICLR 2015 (Adamax).
    J. Zhuang et al., AdaBelief Optimizer: Adapting Stepsizes by the Belief in Observed Gradients,
        NeurIPS 2020.
    L. Liu et al., On the Variance of the Adaptive Learning Rate and Beyond, ICLR 2020 (RAdam).
    T. Dozat, Incorporating Nesterov Momentum into Adam, 2016.
    S. Zheng, J. Kwok, Follow the Moving Leader in Deep Learning, ICML 2017.
    H. B. McMahan et al., Ad Click Prediction: a View from the Trenches, KDD 2013.
"""

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, number
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.precision import widen
from gluonish.ops.updates.rules import Rule, clipped, decayed, moments, write_back
from gluonish.ops.updates.update import single_update

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


def _adabelief(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd = rates
    if wd:
        g += w * wd
    slope = clipped(xp, g, attrs["clip_gradient"])
    mean, surprise = map(widen, states)
    mean *= attrs["beta1"]
    mean += slope * (1 - attrs["beta1"])
    surprise *= attrs["beta2"]
    surprise += xp.square(slope - mean) * (1 - attrs["beta2"])
    surprise += attrs["epsilon"]
    for state, wide in zip(states, (mean, surprise), strict=True):
        write_back(state, wide)
    step = mean / (xp.sqrt(surprise) + attrs["epsilon"])
    step *= lr
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


def _radam(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], rates: Sequence[float], attrs: Attrs
) -> Any:
    lr, wd, adaptive, kept = rates
    slope = decayed(xp, w, g, wd, attrs)
    mean, var = moments(states, slope, attrs)
    if adaptive:
        root = xp.sqrt(var, out=slope)
        root += attrs["epsilon"]
        step = xp.divide(mean, root, out=root)
        step *= lr
    else:
        step = xp.multiply(mean, lr, out=slope)
    return xp.subtract(w * kept, step, out=step)


RADAM = Rule(
    "radam",
    "RAdam with bias correction, rectification and decoupled decay among its rates",
    ("mean", "var"),
    ("lr", "wd", "adaptive", "kept"),
    _radam,
    {"beta1": number(0.9), "beta2": number(0.999), "epsilon": number(1e-8)},
)
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
ADABELIEF = Rule(
    "adabelief",
    "AdaBelief without bias correction (the caller includes it in lr)",
    ("mean", "var"),
    ("lr", "wd"),
    _adabelief,
    {"beta1": number(0.9), "beta2": number(0.999), "epsilon": number(1e-6)},
)
NADAM = Rule(
    "nadam",
    "Nadam",
    ("mean", "var"),
    ("lr", "wd", "own", "ahead", "var_share"),
    _nadam,
    {"beta1": number(0.9), "beta2": number(0.999), "epsilon": number(1e-8)},
)


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


def _step_ftrl(
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
    _step_ftrl,
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


_NAME = "_contrib_group_adagrad_update"


def _infer(weight: Spec, grad: Spec, history: Spec, **_: object) -> tuple[Spec]:
    if not weight.shape or not is_floating(weight.dtype) or grad != weight:
        raise OperatorError(
            f"{_NAME}: expected a floating weight (N, ...) and an equal grad, got {weight} and "
            f"{grad}"
        )
    rows = weight.shape[:1]
    if history.shape not in (rows, (*rows, 1)) or history.dtype != weight.dtype:
        raise OperatorError(
            f"{_NAME}: expected history {weight.dtype.name}{(*rows, 1)} for weight {weight}, "
            f"got {history}"
        )
    return (weight,)


def _kernel(
    xp: ModuleType,
    out: Any,
    weight: Any,
    grad: Any,
    history: Any,
    *,
    lr: float,
    rescale_grad: float,
    clip_gradient: float,
    epsilon: float,
) -> None:
    if not weight.size:
        out[...] = weight
        return
    g = widen(grad)
    real = g.dtype.type
    g = g * real(rescale_grad)
    if clip_gradient >= 0:
        g = xp.clip(g, real(-clip_gradient), real(clip_gradient))
    rows = g.reshape(len(g), math.prod(g.shape[1:]))
    history += (rows * rows).mean(axis=1).reshape(history.shape).astype(history.dtype)
    scale = real(lr) / xp.sqrt(widen(history).reshape(-1, 1) + real(epsilon))
    out[...] = widen(weight) - (rows * scale).reshape(weight.shape)


GROUP_ADAGRAD_UPDATE = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        None,
        doc=(
            "Take one step of AdaGrad with one history value for each row: return the new\n"
            "weight, and update history in place.\n\n"
            "The gradient is scaled by rescale_grad, and clipped to [-clip_gradient,\n"
            "clip_gradient] unless clip_gradient is negative. history increases by the mean\n"
            "square of each row; a row changes by -lr * gradient / sqrt(history + epsilon).\n\n"
            "Shapes: weight and grad (N, ...), history (N, 1) or (N,), output that of weight."
        ),
        inputs=("weight", "grad", "history"),
        schema=Schema(
            lr=number(),
            rescale_grad=number(1.0),
            clip_gradient=number(-1.0),
            epsilon=number(1e-5),
        ),
        execution=Execution(mutates=(2,)),
        shapes=ShapeFacts(complete=dtype_rule(0, 1, 2)),
    )
)
