"""Activation: activation functions by name, and their gradient in one pass."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.unary import ABS, EXP, RELU, SIGMOID, SIGN, SOFTPLUS, SOFTSIGN, TANH
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.broadcasting import complete_same
from gluonish.ops.support.precision import widen

_FORWARD: Mapping[str, Callable[[ModuleType, Any, Any], None]] = {
    "relu": RELU.operator.kernel,
    "sigmoid": SIGMOID.operator.kernel,
    "softrelu": SOFTPLUS.operator.kernel,
    "softsign": SOFTSIGN.operator.kernel,
    "tanh": TANH.operator.kernel,
}

# The derivative in terms of the output y, for arrays.
_SLOPE: Mapping[str, Callable[[ModuleType, Any], Any]] = {
    "relu": lambda xp, y: y > 0,
    "sigmoid": lambda xp, y: y * (1 - y),
    "softrelu": lambda xp, y: -xp.expm1(-y),
    "softsign": lambda xp, y: xp.square(1 - xp.abs(y)),
    "tanh": lambda xp, y: 1 - y * y,
}

# The second derivative by y, for values; relu's is zero.
_CURVATURE: Mapping[str, Callable[[V], V]] = {
    "sigmoid": lambda y: 1.0 - y * 2.0,
    "softrelu": lambda y: EXP(-y),
    "softsign": lambda y: (ABS(y) - 1.0) * SIGN(y) * 2.0,
    "tanh": lambda y: y * -2.0,
}

_SCHEMA = Schema(act_type=choice(*_FORWARD))


def _infer(data: Spec, *, act_type: str) -> tuple[Spec]:
    if not is_floating(data.dtype):
        raise OperatorError(f"Activation: expected floating data, got {data.dtype.name}")
    return (data,)


def _kernel(xp: ModuleType, out: Any, data: Any, *, act_type: str) -> None:
    _FORWARD[act_type](xp, out, data)


def _gradient(g: V, data: V, out: V, *, act_type: str) -> tuple[Any]:
    return (apply(ACTIVATION_BACKWARD, (g, out), {"act_type": act_type}),)


def _backward_kernel(xp: ModuleType, result: Any, grad: Any, out: Any, *, act_type: str) -> None:
    result[...] = widen(grad) * _SLOPE[act_type](xp, widen(out))


def _backward_gradient(g: V, grad: V, out: V, *, act_type: str) -> tuple[Any, ...]:
    curvature = _CURVATURE.get(act_type)
    return (
        lambda: apply(ACTIVATION_BACKWARD, (g, out), {"act_type": act_type}),
        None if curvature is None else lambda: g * grad * curvature(out),
    )


ACTIVATION = register(
    Operator(
        "Activation",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Elementwise activation function: relu, sigmoid, softrelu log(1 + e^data), softsign\n"
            "data / (1 + |data|), or tanh."
        ),
        schema=_SCHEMA,
        aliases=("_npx_activation",),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True),
    )
)

ACTIVATION_BACKWARD = register(
    Operator(
        "_activation_backward",
        lambda grad, out, **_: (out,),
        _backward_kernel,
        _backward_gradient,
        doc="Gradient of Activation's data, from its output and the output's gradient.",
        inputs=("grad", "out"),
        schema=_SCHEMA,
        execution=Execution(elementwise=True, several_passes=True),
    )
)
