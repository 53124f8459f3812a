"""GELU: data times the normal distribution function of data, or an approximation of it; and SiLU.

The approximations are data * sigmoid(v) with v = linear * data + cubic * data^3: the tanh form is
the usual 0.5 data (1 + tanh(sqrt(2 / pi) (data + 0.044715 data^3))), since (1 + tanh(u)) / 2 =
sigmoid(2 u).

References:
    D. Hendrycks, K. Gimpel, Gaussian Error Linear Units, 2016.
"""

import math
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.unary import ERF, EXP, SIGMOID
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.precision import widen

DENSITY = 1 / math.sqrt(2 * math.pi)  # of the normal distribution at 0


class Approximation(NamedTuple):
    """The coefficients of an approximation's sigmoid."""

    linear: float
    cubic: float


QUICK = Approximation(1.702, 0.0)
# By form; None is exact. silu, which is data * sigmoid(data), is computed alike.
FORMS: Mapping[str, Approximation | None] = {
    "erf": None,
    "tanh": Approximation(math.sqrt(8 / math.pi), math.sqrt(8 / math.pi) * 0.044715),
    "sigmoid": QUICK,
    "silu": Approximation(1.0, 0.0),
}
# The forms by LeakyReLU's act_type; ``gelu_erf`` is MXNet 2.0's name.
FORM_OF: Mapping[str, str] = {
    "gelu": "erf",
    "gelu_erf": "erf",
    "gelu_tanh": "tanh",
    "gelu_sigmoid": "sigmoid",
}


def _distribution(xp: ModuleType, x: Any) -> Any:
    """Return twice the normal distribution function of x."""
    error = xp.empty(x.shape, dtype=x.dtype)
    ERF.operator.kernel(xp, error, x * x.dtype.type(math.sqrt(0.5)))
    return error + 1


def _inner(x: Any, by: Approximation) -> Any:
    """Return the argument of an approximation's sigmoid."""
    inner = x * x.dtype.type(by.linear)
    if by.cubic:
        inner += x * x * x * x.dtype.type(by.cubic)
    return inner


def gelu(xp: ModuleType, x: Any, form: str) -> Any:
    """Return GELU of float32 or float64."""
    by = FORMS[form]
    if by is None:
        return _distribution(xp, x) * x / 2
    found = xp.empty(x.shape, dtype=x.dtype)
    SIGMOID.operator.kernel(xp, found, _inner(x, by))
    return found * x


def gelu_slope(xp: ModuleType, x: Any, form: str) -> Any:
    """Return the derivative of `gelu`."""
    by = FORMS[form]
    if by is None:
        density = xp.exp(x * x * x.dtype.type(-0.5)) * x.dtype.type(DENSITY)
        return _distribution(xp, x) * x.dtype.type(0.5) + x * density
    # 1 - sigmoid would lose the digits of a sigmoid near 1, and the next factors are large.
    inner = _inner(x, by)
    power = xp.exp(-abs(inner))
    inverse = 1 / (1 + power)
    rate = x * x * x.dtype.type(3 * by.cubic) + x.dtype.type(by.linear)
    value = xp.where(inner > 0, inverse, power * inverse)
    return value + power * inverse * inverse * x * rate


def second_slope(x: Any, form: str) -> Any:
    """Return the second derivative of `gelu`, with operators."""
    by = FORMS[form]
    square = x * x
    if by is None:
        return EXP(square * -0.5) * DENSITY * (2.0 - square)
    value = SIGMOID(x * by.linear + square * x * by.cubic)
    rate = square * (3 * by.cubic) + by.linear
    curved = x * (rate * rate * (1.0 - 2.0 * value) + x * (6 * by.cubic))
    return value * (1.0 - value) * (rate * 2.0 + curved)


def _infer(grad: Spec, data: Spec, **_: object) -> tuple[Spec]:
    for name, spec in (("grad", grad), ("data", data)):
        if not is_floating(spec.dtype):
            raise OperatorError(f"_gelu_backward: expected floating {name}, got {spec.dtype.name}")
    return (data,)


def _kernel(xp: ModuleType, out: Any, grad: Any, data: Any, *, form: str) -> None:
    out[...] = widen(grad) * gelu_slope(xp, widen(data), form)


def _gradient(g: V, grad: V, data: V, *, form: str) -> tuple[Any, Any]:
    return (
        apply(GELU_BACKWARD, (g, data), {"form": form}),
        lambda: g * grad * second_slope(data, form),
    )


GELU_BACKWARD = register(
    Operator(
        "_gelu_backward",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Gradient of LeakyReLU's data for the act_types that begin with 'gelu': for form\n"
            "'erf' grad times (the normal distribution function of data, plus data times its\n"
            "density). silu is data * sigmoid(data)."
        ),
        inputs=("grad", "data"),
        schema=Schema(form=choice(*FORMS, default="erf")),
        execution=Execution(elementwise=True, several_passes=True),
    )
)
