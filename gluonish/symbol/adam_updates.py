"""Steps of AdamW as ``sym.contrib`` has them: the gradient's scale a number or a Symbol."""

from typing import Any

from gluonish.symbol.creation import full
from gluonish.symbol.namespace import operator_function
from gluonish.symbol.symbol import Symbol

__all__ = ["adamw_update", "mp_adamw_update"]


def adamw_update(
    weight: Symbol,
    grad: Symbol,
    mean: Symbol,
    var: Symbol,
    rescale_grad: Symbol | float,
    lr: float,
    eta: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    wd: float = 0,
    clip_gradient: float = -1,
    out: object = None,
    name: str | None = None,
    **kwargs: Any,
) -> Symbol:
    """Compose a step of AdamW; arguments of `gluonish.nd.contrib.adamw_update`."""
    del out
    rates = {"lr": lr, "eta": eta, "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "wd": wd}
    arrays = (weight, grad, mean, var, _scale(rescale_grad))
    step = operator_function("_adamw_update")
    made: Symbol = step(*arrays, clip_gradient=clip_gradient, name=name, **rates, **kwargs)
    return made


def mp_adamw_update(
    weight: Symbol,
    grad: Symbol,
    mean: Symbol,
    var: Symbol,
    weight32: Symbol,
    rescale_grad: Symbol | float,
    lr: float,
    eta: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    wd: float = 0,
    clip_gradient: float = -1,
    out: object = None,
    name: str | None = None,
    **kwargs: Any,
) -> Symbol:
    """Compose a step of AdamW on a 16-bit weight; see `gluonish.nd.contrib.mp_adamw_update`."""
    del out
    rates = {"lr": lr, "eta": eta, "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "wd": wd}
    arrays = (weight, grad, mean, var, weight32, _scale(rescale_grad))
    step = operator_function("_mp_adamw_update")
    made: Symbol = step(*arrays, clip_gradient=clip_gradient, name=name, **rates, **kwargs)
    return made


def _scale(rescale_grad: Symbol | float) -> Symbol:
    """Return the gradient's factor as a Symbol."""
    return rescale_grad if isinstance(rescale_grad, Symbol) else full((1,), rescale_grad)
