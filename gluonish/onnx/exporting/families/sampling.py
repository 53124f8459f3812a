"""Random numbers: ONNX draws uniform and normal ones, from which the others are computed."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, INT64, is_floating
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import filled, softmax
from gluonish.onnx.exporting.tensors import Tensor


def _drawn(call: Call, kind: str) -> Tensor:
    """Draw uniform numbers in [0, 1), or standard normal ones, in the shape of the output."""
    dtype = call.out.dtype if is_floating(call.out.dtype) else FLOAT32
    like = filled(call.emitter, call.out.shape, 0, dtype)
    return call(f"Random{kind}Like", like, dtype=dtype)


def _number(call: Call, *names: str) -> float:
    """Return a parameter of the distribution: the first attribute that is present."""
    for name in names:
        if call.attrs.get(name) is not None:
            return float(call[name])
    raise call.refuse(f"its {names[0]} is an array; give a number")


def _uniform(call: Call) -> Tensor:
    low, high = _number(call, "low"), _number(call, "high")
    return _drawn(call, "Uniform") * (high - low) + low


def _normal(call: Call) -> Tensor:
    return _drawn(call, "Normal") * _number(call, "scale") + _number(call, "loc")


def _exponential(call: Call) -> Tensor:
    rate = 1 / _number(call, "lam") if "lam" in call.attrs else _number(call, "scale")
    return call("Log", 1.0 - _drawn(call, "Uniform")) * -rate


def _integers(call: Call) -> Tensor:
    low, high = int(call["low"]), int(call["high"])
    return call("Floor", _drawn(call, "Uniform") * float(high - low)).to(INT64) + low


def _inverse(function: Callable[[Call, Tensor], Tensor]) -> Callable[[Call], Tensor]:
    """Return a translator that samples by inverting a distribution function at uniform numbers."""
    return lambda call: function(call, _drawn(call, "Uniform") * (1 - 2e-7) + 1e-7)


def _gumbel(call: Call, u: Tensor) -> Tensor:
    made = call("Neg", call("Log", call("Neg", call("Log", u))))
    return made * _number(call, "scale") + _number(call, "loc")


def _logistic(call: Call, u: Tensor) -> Tensor:
    return call("Log", u / (1.0 - u)) * _number(call, "scale") + _number(call, "loc")


def _rayleigh(call: Call, u: Tensor) -> Tensor:
    return call("Sqrt", call("Log", u) * -2.0) * _number(call, "scale")


def _pareto(call: Call, u: Tensor) -> Tensor:
    return u ** (-1 / _number(call, "a")) - 1.0


def _power(call: Call, u: Tensor) -> Tensor:
    return u ** (1 / _number(call, "a"))


def _weibull(call: Call, u: Tensor) -> Tensor:
    return (-call("Log", u)) ** (1 / _number(call, "a"))


def _with_hidden(translate: Callable[[Call], Tensor]) -> Callable[[Call], list[Tensor | None]]:
    """Return a translator for an operator with hidden outputs, such as noise for its gradient."""

    def several(call: Call) -> list[Tensor | None]:
        if call.inputs and call.op.startswith("_npi_"):
            raise call.refuse("its parameters are arrays; give numbers")
        return [translate(call), *[None] * (len(call.outputs) - 1)]

    return several


def _bernoulli(call: Call) -> Tensor:
    uniform = _drawn(call, "Uniform")
    if call.inputs:
        given = call.x.to(uniform.dtype)
        chance = call("Sigmoid", given) if call["is_logit"] else given
    elif call.attrs.get("prob") is not None:
        chance = call.constant(float(call["prob"]), uniform.dtype)
    else:
        chance = call.constant(1 / (1 + np.exp(-float(call["logit"]))), uniform.dtype)
    return uniform < chance


def _multinomial(call: Call) -> Tensor:
    shape = call["shape"]
    count = int(np.prod(shape)) if shape else 1
    if call["get_prob"]:
        raise call.refuse("it also returns logarithms of probabilities; leave get_prob out")
    logs = call("Log", call.x if call.x.rank == 2 else call("Unsqueeze", call.x, [0]))
    made = call("Multinomial", softmax(logs, 1, log=True), sample_size=count, dtype=np.dtype("i4"))
    return call("Reshape", made, call.constant(list(call.out.fixed)))


TABLE: dict[str, Any] = {
    **dict.fromkeys(("_random_uniform", "_random_uniform_like"), _uniform),
    **dict.fromkeys(("_random_normal", "_random_normal_like"), _normal),
    **dict.fromkeys(("_random_exponential", "_random_exponential_like"), _exponential),
    "_random_randint": _integers,
    "_npi_uniform": _with_hidden(_uniform),
    "_npi_uniform_n": _with_hidden(_uniform),
    "_npi_normal": _with_hidden(_normal),
    "_npi_normal_n": _with_hidden(_normal),
    "_npi_exponential": _with_hidden(_exponential),
    "_npi_gumbel": _with_hidden(_inverse(_gumbel)),
    "_npi_logistic": _with_hidden(_inverse(_logistic)),
    "_npi_rayleigh": _with_hidden(_inverse(_rayleigh)),
    "_npi_pareto": _with_hidden(_inverse(_pareto)),
    "_npi_powerd": _with_hidden(_inverse(_power)),
    "_npi_weibull": _with_hidden(_inverse(_weibull)),
    "_npi_bernoulli": _bernoulli,
    "_sample_multinomial": _multinomial,
}
