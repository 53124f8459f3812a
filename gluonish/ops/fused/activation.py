"""Activation functions of fused operators, by name.

A fused operator has the attributes of `ATTRIBUTES`. Its reference kernel applies the operator of
that activation, so that results are the same.
"""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.schema import Attribute, boolean, choice, number
from gluonish.ops.elementwise.pointwise import CLIP, HARD_SIGMOID
from gluonish.ops.elementwise.unary import MISH, SIGMOID
from gluonish.ops.nn.activation import ACTIVATION, ACTIVATION_BACKWARD
from gluonish.ops.nn.leaky_relu import LEAKY_RELU
from gluonish.ops.registry import Operator, V, apply


class _Call(NamedTuple):
    """A unary operator and the attributes to call it with."""

    op: Operator
    attrs: dict[str, Any]


def _leaky(kind: str, alpha: float) -> _Call:
    bounds = LEAKY_RELU.schema.defaults
    attrs = {"act_type": kind, "slope": alpha}
    attrs |= {name: bounds[name] for name in ("lower_bound", "upper_bound")}
    return _Call(LEAKY_RELU, attrs)


def _parameterless(kind: str) -> Callable[[float, float], _Call]:
    return lambda alpha, beta: _Call(ACTIVATION, {"act_type": kind})


# Functions of the attributes alpha and beta. swish is data * sigmoid(alpha * data), which is not an
# operator: its entry is the second factor.
ACTIVATIONS: Mapping[str, Callable[[float, float], _Call]] = {
    "relu": _parameterless("relu"),
    "sigmoid": _parameterless("sigmoid"),
    "softrelu": _parameterless("softrelu"),
    "tanh": _parameterless("tanh"),
    "elu": lambda alpha, beta: _leaky("elu", alpha),
    "gelu": lambda alpha, beta: _leaky("gelu", alpha),
    "gelu_tanh": lambda alpha, beta: _leaky("gelu_tanh", alpha),
    "leaky": lambda alpha, beta: _leaky("leaky", alpha),
    "selu": lambda alpha, beta: _leaky("selu", alpha),
    "clip": lambda alpha, beta: _Call(CLIP, {"a_min": alpha, "a_max": beta}),
    "hard_sigmoid": lambda alpha, beta: _Call(HARD_SIGMOID, {"alpha": alpha, "beta": beta}),
    "mish": lambda alpha, beta: _Call(MISH.operator, {}),
    "swish": lambda alpha, beta: _Call(SIGMOID.operator, {}),
}

# Activations whose gradient is a function of the output.
REVERSIBLE = frozenset(("relu", "sigmoid", "softrelu", "tanh"))

ATTRIBUTES: Mapping[str, Attribute] = {
    "activation": choice(None, *ACTIVATIONS, default=None),
    "alpha": number(0.0),
    "beta": number(0.0),
    "with_sum": boolean(False),
}


class Finish(NamedTuple):
    """The epilogue of a fused operator: add an array, then apply an activation.

    Attributes:
        activation: Name of the function; None for none.
        alpha: First parameter of the function: the slope of leaky and elu, the lower bound of clip.
        beta: Second parameter of the function.
        with_sum: Whether an array is added first.
    """

    activation: str | None
    alpha: float
    beta: float
    with_sum: bool


def finish(xp: ModuleType, out: Any, result: Any, addend: Any, epilogue: Finish) -> None:
    """Apply the epilogue, overwriting ``result``; ``out`` may alias ``result`` or ``addend``."""
    if addend is not None:
        xp.add(result, addend, out=result)
    if epilogue.activation is None:
        if out is not result:
            out[...] = result
        return
    op, attrs = ACTIVATIONS[epilogue.activation](epilogue.alpha, epilogue.beta)
    if epilogue.activation != "swish":
        op.kernel(xp, out, result, **attrs)
        return
    factor = xp.multiply(result, result.dtype.type(epilogue.alpha))
    op.kernel(xp, factor, factor)
    xp.multiply(result, factor, out=out)


def finished(result: V, addend: V | None, epilogue: Finish) -> V:
    """Compute `finish` with operators."""
    x = result if addend is None else result + addend
    if epilogue.activation is None:
        return x
    op, attrs = ACTIVATIONS[epilogue.activation](epilogue.alpha, epilogue.beta)
    y: V = apply(op, (x * epilogue.alpha if epilogue.activation == "swish" else x,), attrs)
    return x * y if epilogue.activation == "swish" else y


def finished_gradient(g: V, out: V, epilogue: Finish) -> V | None:
    """Return the gradient of the activation's input; None if it needs more than the output."""
    if epilogue.activation is None:
        return g
    if epilogue.activation not in REVERSIBLE:
        return None
    found: V = apply(ACTIVATION_BACKWARD, (g, out), {"act_type": epilogue.activation})
    return found
