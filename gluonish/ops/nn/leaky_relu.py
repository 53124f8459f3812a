"""LeakyReLU: variants of relu that are not zero for negative inputs.

References:
    D.-A. Clevert et al., Fast and Accurate Deep Network Learning by Exponential Linear Units, 2015.
    K. He et al., Delving Deep into Rectifiers, 2015 (prelu).
    G. Klambauer et al., Self-Normalizing Neural Networks, 2017 (selu).
"""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice, number
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec
from gluonish.ops.elementwise.binary import GREATER, MINIMUM
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.nn.gelu import FORM_OF, GELU_BACKWARD, gelu
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import unbroadcast
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import complete_same
from gluonish.ops.support.philox import uniform
from gluonish.ops.support.precision import widen

# Klambauer et al., section 2: the fixed point of mean 0 and variance 1.
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_ALPHA = 1.6732632423543772848170429916717


def _input_names(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "gamma") if attrs["act_type"] == "prelu" else ("data",)


def _num_outputs(attrs: Attrs) -> int:
    return 2 if attrs["act_type"] == "rrelu" else 1


def gamma_shape(data: Shape, gamma: Shape) -> Shape:
    """Return the shape in which gamma broadcasts.

    A vector broadcasts along axis 1, or the only axis; a matrix along the first two, if it fits.
    """
    if len(data) < 2 or len(gamma) not in (1, 2) or gamma == (1,):
        return gamma
    if len(gamma) == 2 and (gamma[0] not in (1, data[0]) or gamma[1] not in (1, data[1])):
        return gamma
    return (*gamma, *(1,) * (len(data) - 2))


def _infer(
    data: Spec, gamma: Spec | None = None, *, act_type: str, **_: object
) -> tuple[Spec, ...]:
    if not is_floating(data.dtype):
        raise OperatorError(f"LeakyReLU: expected floating data, got {data.dtype.name}")
    if gamma is not None:
        shape = gamma_shape(data.shape, gamma.shape)
        padded = (1,) * (len(data.shape) - len(shape)) + shape
        if (
            len(padded) != len(data.shape)
            or any(n not in (1, m) for n, m in zip(padded, data.shape, strict=True))
            or gamma.dtype != data.dtype
        ):
            raise OperatorError(
                f"LeakyReLU: expected gamma that broadcasts along axis 1 of data {data}, got "
                f"{gamma}"
            )
    return (data,) * (2 if act_type == "rrelu" else 1)


def _below(xp: ModuleType, x: Any, negative: Any) -> Any:
    return xp.where(x > 0, x, negative)


def _gelu(form: str) -> Callable[[ModuleType, Any, float], Any]:
    return lambda xp, x, slope: gelu(xp, x, form)


# Functions of the data, in float32 or float64, and slope.
_FUNCTIONS: Mapping[str, Callable[[ModuleType, Any, float], Any]] = {
    "elu": lambda xp, x, slope: _below(xp, x, xp.expm1(xp.minimum(x, 0)) * slope),
    **{kind: _gelu(form) for kind, form in FORM_OF.items()},
    "leaky": lambda xp, x, slope: _below(xp, x, x * slope),
    "selu": lambda xp, x, slope: (
        _below(xp, x, xp.expm1(xp.minimum(x, 0)) * _SELU_ALPHA) * _SELU_SCALE
    ),
}


def _kernel(
    xp: ModuleType, outputs: Any, data: Any, gamma: Any = None, *, act_type: str, **attrs: Any
) -> None:
    out = outputs[0] if isinstance(outputs, tuple) else outputs
    wide = widen(data)
    if act_type == "prelu":
        factor = widen(gamma).reshape(gamma_shape(data.shape, gamma.shape))
        out[...] = _below(xp, wide, wide * factor)
    elif act_type == "rrelu":
        slopes = _random_slopes(xp, wide, **attrs)
        outputs[1][...] = xp.where(wide > 0, 1, slopes)
        out[...] = _below(xp, wide, wide * slopes)
    else:
        out[...] = _FUNCTIONS[act_type](xp, wide, attrs["slope"])


def _random_slopes(
    xp: ModuleType,
    data: Any,
    *,
    lower_bound: float,
    upper_bound: float,
    train: bool,
    key: tuple[int, int],
    **_: object,
) -> Any:
    """Return a random factor per element in training, else the mean of the factors."""
    if not train:
        return data.dtype.type((lower_bound + upper_bound) / 2)
    width = upper_bound - lower_bound
    return uniform(xp, key, data.shape, data.dtype) * width + lower_bound


def _gradient(g: tuple[V | None, ...], *values: V, act_type: str, **attrs: Any) -> tuple[Any, ...]:
    head, data = g[0], values[0]
    if head is None:
        return (None,) * (2 if act_type == "prelu" else 1)
    if act_type == "prelu":
        return _prelu_gradient(head, data, values[1])
    if act_type == "rrelu":
        return (head * values[2],)
    if act_type == "leaky":
        return (apply(_LEAKY_BACKWARD, (head, data), {"slope": attrs["slope"]}),)
    if act_type in FORM_OF:
        return (apply(GELU_BACKWARD, (head, data), {"form": FORM_OF[act_type]}),)
    scale, slope = (1.0, attrs["slope"])
    if act_type == "selu":
        scale, slope = _SELU_SCALE, _SELU_ALPHA * _SELU_SCALE
    # Below zero the output is slope (e^x - 1), so that its derivative is the output plus slope.
    positive = GREATER(data, 0.0)
    negative = (1.0 - positive) * (MINIMUM(values[1], 0.0) + slope)
    return (head * (positive * scale + negative),)


def _prelu_gradient(g: V, data: V, gamma: V) -> tuple[Any, Any]:
    shape = gamma_shape(data.shape, gamma.shape)
    negative = 1.0 - GREATER(data, 0.0)
    factor = gamma if shape == gamma.shape else reshape(gamma, shape)
    return (
        lambda: g * (1.0 + negative * (factor - 1.0)),
        lambda: reshape(unbroadcast(g * data * negative, shape), gamma.shape),
    )


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    data = inputs[:1]
    complete_same(data, outputs, attrs, "LeakyReLU")
    inputs[0] = data[0]
    outputs[1:] = outputs[:1] * (len(outputs) - 1)
    if attrs["act_type"] == "prelu":
        shape = inputs[0].shape
        known = inputs[1].shape
        if known is None and shape is not None:
            known = shape[1:2] if len(shape) > 1 else (1,)
        elif known is not None and shape is not None and len(shape) > 1:
            known = _filled_gamma(known, shape)
        inputs[1] = PartialSpec(known, inputs[1].dtype or inputs[0].dtype)


def _filled_gamma(gamma: Shape, data: Shape) -> Shape:
    """Return gamma's shape with unknown extents filled in from axes 0 and 1 of the data."""
    if len(gamma) > 2:
        return gamma
    axes = (1,) if len(gamma) == 1 else (0, 1)
    return tuple(data[i] if n == UNKNOWN else n for n, i in zip(gamma, axes, strict=False))


LEAKY_RELU = register(
    Operator(
        "LeakyReLU",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Leaky ReLU and its variants, elementwise, by act_type.\n\n"
            "Where data is positive, leaky, elu, prelu and rrelu return data itself. Where it\n"
            "is negative, they return slope * data (leaky), slope * (e^data - 1) (elu), gamma *\n"
            "data with gamma along axis 1 (prelu), or data times a random slope between\n"
            "lower_bound and upper_bound, outside training their mean (rrelu, which also\n"
            "returns the slopes). selu is a scaled elu, also where data is positive; gelu and\n"
            "gelu_erf are data times the normal distribution function of data, gelu_tanh and\n"
            "gelu_sigmoid its approximations data * sigmoid(1.595769 (data + 0.044715 data^3)),\n"
            "which is written with tanh elsewhere, and data * sigmoid(1.702 data).\n\n"
            "Shapes: data (N, C, ...) or any, gamma (C,), (1,), (N, C) or (1, C), outputs that of\n"
            "data."
        ),
        inputs=("data", "gamma"),
        active_inputs=_input_names,
        schema=Schema(
            act_type=choice(
                *("elu", "gelu", "leaky", "prelu", "rrelu", "selu"),
                *("gelu_erf", "gelu_tanh", "gelu_sigmoid"),
                default="leaky",
            ),
            slope=number(0.25),
            lower_bound=number(0.125),
            upper_bound=number(0.334),
        ),
        aliases=("_npx_leaky_relu",),
        outputs=_num_outputs,
        output_names=("output", "mask"),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(
            train_dependent=True,
            random=lambda attrs: attrs["act_type"] == "rrelu",
            several_passes=True,
        ),
    )
)


def _leaky_backward_kernel(xp: ModuleType, out: Any, grad: Any, data: Any, *, slope: float) -> None:
    wide = widen(grad)
    out[...] = xp.where(data > 0, wide, wide * slope)


def _leaky_backward_gradient(g: V, grad: V, data: V, *, slope: float) -> tuple[Any, None]:
    return apply(_LEAKY_BACKWARD, (g, data), {"slope": slope}), None


_LEAKY_BACKWARD = register(
    Operator(
        "_leaky_relu_backward",
        lambda grad, data, **_: (data,),
        _leaky_backward_kernel,
        _leaky_backward_gradient,
        doc="Gradient of LeakyReLU's data for act_type='leaky'.",
        inputs=("grad", "data"),
        schema=Schema(slope=number()),
        execution=Execution(elementwise=True, several_passes=True),
    )
)
