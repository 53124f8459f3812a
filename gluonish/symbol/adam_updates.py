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
    """Compose a step of AdamW.

    Args:
        weight: The weight.
        grad: Its gradient, of the same shape.
        mean: Running mean of the gradient, which moves along.
        var: Running mean of its square, which moves along.
        rescale_grad: Factor of the gradient, a number or a Symbol (1,); where it is 0, infinite or
            NaN, nothing moves.
        lr: Learning rate, without the factor ``eta``.
        eta: Factor of the whole step.
        beta1: Decay rate of ``mean``.
        beta2: Decay rate of ``var``.
        epsilon: Added to the root of ``var``.
        wd: Weight decay.
        clip_gradient: Largest magnitude of a scaled gradient; none below 0.
        out: Accepted; only arrays can be filled.
        name: Name of the node; made up where it is left out.
        kwargs: Attributes of the node.
    """
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
    """Compose a step of AdamW on a 16-bit weight.

    Args:
        weight: The weight, of 16 bits.
        grad: Its gradient, of the same shape.
        mean: Running mean of the gradient, which moves along.
        var: Running mean of its square, which moves along.
        weight32: The weight in float32, which is updated in place.
        rescale_grad: Factor of the gradient, a number or a Symbol (1,); where it is 0, infinite or
            NaN, nothing moves.
        lr: Learning rate, without the factor ``eta``.
        eta: Factor of the whole step.
        beta1: Decay rate of ``mean``.
        beta2: Decay rate of ``var``.
        epsilon: Added to the root of ``var``.
        wd: Weight decay.
        clip_gradient: Largest magnitude of a scaled gradient; none below 0.
        out: Accepted; only arrays can be filled.
        name: Name of the node; made up where it is left out.
        kwargs: Attributes of the node.
    """
    del out
    rates = {"lr": lr, "eta": eta, "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "wd": wd}
    arrays = (weight, grad, mean, var, weight32, _scale(rescale_grad))
    step = operator_function("_mp_adamw_update")
    made: Symbol = step(*arrays, clip_gradient=clip_gradient, name=name, **rates, **kwargs)
    return made


def _scale(rescale_grad: Symbol | float) -> Symbol:
    """Return the gradient's factor as a Symbol."""
    return rescale_grad if isinstance(rescale_grad, Symbol) else full((1,), rescale_grad)
