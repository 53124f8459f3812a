"""_npi_* samplers of NumPy's distributions, whose parameters are numbers or arrays.

Reparameterized samplers compute a smooth function of the parameters and of noise that does not
depend on them; they return the noise as a hidden output, and have a gradient.

References:
    D. Kingma, M. Welling, Auto-Encoding Variational Bayes, ICLR 2014.
    M. Figurnov, S. Mohamed, A. Mnih, Implicit Reparameterization Gradients, NeurIPS 2018, for
    `_npi_gamma`: a sample keeps its probability.

_npi_bernoulli: Bernoulli samples, by probability or logit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import (
    REQUIRED,
    Attribute,
    Schema,
    boolean,
    dtype_attr,
    number,
    optional,
    text,
)
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.incomplete import GAMMA_SAMPLE_SLOPE
from gluonish.ops.elementwise.unary import EXP, LOG
from gluonish.ops.facts import Execution, Gradient, ShapeFacts, zero_gradient
from gluonish.ops.registry import Attrs, Operator, apply, register
from gluonish.ops.sampling.numpy_limits import (
    active,
    as_floating,
    check_count,
    check_numbers,
    check_values,
    resolve_parameters,
    result_shape,
)
from gluonish.ops.sampling.random import check_limits, fill_uniform, work_dtype
from gluonish.ops.shape.broadcast_to import unbroadcast
from gluonish.ops.support import variates
from gluonish.ops.support.dtype_rules import named_dtype
from gluonish.ops.support.philox import normal, uniform
from gluonish.ops.support.variates import fill

Key = tuple[int, int]
Slope = Callable[[Any, Any], Any]  # (noise, parameter) -> derivative of the result, for values


@dataclass(frozen=True, slots=True)
class _Smooth:
    """A reparameterized distribution: a smooth function of noise and parameters.

    Args:
        noise: ``noise(xp, out, key)`` fills an array with noise.
        value: ``value(xp, noise, *parameters)`` returns the result.
        slopes: Derivatives by the parameters; None means 1.
    """

    noise: Callable[[ModuleType, Any, Key], None]
    value: Callable[..., Any]
    slopes: tuple[Slope | None, ...]


def _each(draw: variates.Draw) -> Callable[[ModuleType, Any, Key], None]:
    """Return a function that fills an array with samples from a sampler without parameters."""
    return lambda xp, out, key: fill(xp, out, draw, key, ())


def _fill_normal(xp: ModuleType, out: Any, key: Key) -> None:
    out[...] = normal(xp, key, out.shape, out.dtype)


def _gumbel(xp: ModuleType, key: Key, index: Any) -> Any:
    return -xp.log(variates.exponential(xp, key, index))


def _logistic(xp: ModuleType, key: Key, index: Any) -> Any:
    u = variates.open_uniform(xp, key, index)
    return xp.log(u) - xp.log1p(-u)


def _rayleigh(xp: ModuleType, key: Key, index: Any) -> Any:
    return xp.sqrt(2 * variates.exponential(xp, key, index))


def _power(xp: ModuleType, key: Key, index: Any, a: Any) -> Any:
    return xp.exp(variates.exponential(xp, key, index) / -a)


def _shifted(xp: ModuleType, noise: Any, loc: Any, scale: Any) -> Any:
    return loc + scale * noise


def _scaled(xp: ModuleType, noise: Any, scale: Any) -> Any:
    return scale * noise


def _noise_itself(noise: Any, _scale: Any) -> Any:
    return noise


_NORMAL = _Smooth(_fill_normal, _shifted, (None, _noise_itself))
_GUMBEL = _Smooth(_each(_gumbel), _shifted, (None, _noise_itself))
_LOGISTIC = _Smooth(_each(_logistic), _shifted, (None, _noise_itself))
_EXPONENTIAL = _Smooth(_each(variates.exponential), _scaled, (_noise_itself,))
_RAYLEIGH = _Smooth(_each(_rayleigh), _scaled, (_noise_itself,))
_PARETO = _Smooth(
    _each(variates.exponential),
    lambda xp, noise, a: xp.expm1(noise / a),
    (lambda noise, a: -(EXP(noise / a) * noise / (a * a)),),
)
_WEIBULL = _Smooth(
    _each(variates.exponential),
    lambda xp, noise, a: noise ** (1 / a),
    (lambda noise, a: -(EXP(LOG(noise) / a) * LOG(noise) / (a * a)),),
)


def _draw_smooth(smooth: _Smooth) -> Callable[..., None]:
    """Return a function that fills the result and the noise of a reparameterized sampler."""

    def draw(xp: ModuleType, outputs: Any, key: Key, *parameters: Any) -> None:
        out, noise = outputs
        smooth.noise(xp, noise, key)
        wide = [p if isinstance(p, float) else p.astype(noise.dtype) for p in parameters]
        out[...] = smooth.value(xp, noise, *wide).astype(out.dtype)

    return draw


def _draw_each(draw: variates.Draw) -> Callable[..., None]:
    """Return a function that fills a result element by element with a sampler."""
    return lambda xp, out, key, *parameters: fill(xp, out, draw, key, parameters)


def _smooth_gradient(names: tuple[str, ...], smooth: _Smooth) -> Callable[..., tuple[Any, ...]]:
    """Return the gradient rule of the parameter arrays."""

    def gradient(g: Any, *values: Any, **attrs: Any) -> tuple[Any, ...]:
        *arrays, _result, noise = values
        slopes = [
            slope for name, slope in zip(names, smooth.slopes, strict=True) if attrs[name] is None
        ]
        head = None if g[0] is None else cast(g[0], noise.dtype)
        found: list[Any] = []
        for array, slope in zip(arrays, slopes, strict=True):
            if head is None:
                found.append(None)
                continue
            grad = head if slope is None else head * slope(noise, cast(array, noise.dtype))
            found.append(cast(unbroadcast(grad, array.shape), array.dtype))
        return tuple(found)

    return gradient


def _gamma_gradient(g: Any, *values: Any, **attrs: Any) -> tuple[Any, ...]:
    """Return the gradients of the arrays among shape and scale."""
    *arrays, out = values
    work = work_dtype(out.dtype)
    left = iter(arrays)
    shape, scale = (
        cast(next(left), work) if attrs[name] is None else attrs[name]
        for name in ("shape", "scale")
    )
    head, standard = cast(g, work), cast(out, work) / scale
    found = []
    if attrs["shape"] is None:
        found.append(head * (apply(GAMMA_SAMPLE_SLOPE, (shape, standard), {}) * scale))
    if attrs["scale"] is None:
        found.append(head * standard)
    return tuple(
        cast(unbroadcast(grad, array.shape), array.dtype)
        for grad, array in zip(found, arrays, strict=True)
    )


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    outputs[0] = PartialSpec(outputs[0].shape, attrs.get("dtype", FLOAT32))


def _sampler(
    name: str,
    doc: str,
    names: tuple[str, ...],
    method: _Smooth | Callable[..., None],
    *,
    default: object = REQUIRED,
    attributes: tuple[str, ...] = ("size", "ctx"),
    gradient: Any = zero_gradient,
) -> Operator:
    """Register a sampler.

    Args:
        name: Operator name; the suffix _n prepends size to the parameters' shape.
        doc: Public documentation.
        names: Names of the parameters.
        method: Reparameterization, or ``(xp, out, key, *parameters)`` without a gradient.
        default: Default of all parameters.
        attributes: Further attributes.
        gradient: Gradient of a method that is not reparameterized, by its result.
    """
    smooth = method if isinstance(method, _Smooth) else None
    draw = _draw_smooth(method) if isinstance(method, _Smooth) else method

    def infer(*arrays: Spec, size: Shape | None, **attrs: Any) -> tuple[Spec, ...]:
        check_count(name, names, len(arrays), attrs)
        dtype: np.dtype[Any] = attrs.get("dtype", FLOAT32)
        if not is_floating(dtype):
            raise OperatorError(f"{name}: expected a floating dtype, got {dtype.name}")
        check_numbers(name, arrays)
        spec = Spec(result_shape(name, arrays, size, in_front=name.endswith("_n")), dtype)
        return (spec,) if smooth is None else (spec, spec._replace(dtype=work_dtype(dtype)))

    def kernel(xp: ModuleType, out: Any, *arrays: Any, key: Key, **attrs: Any) -> None:
        values = resolve_parameters(names, [as_floating(x) for x in arrays], attrs)
        check_values(xp, name, names, values)
        draw(xp, out, key, *values)

    known: dict[str, Attribute] = {
        "size": optional(shape_attr()),
        "ctx": text("cpu"),
        "dtype": dtype_attr(FLOAT32),
    }
    output = (
        "size followed by the parameters'"
        if name.endswith("_n")
        else "size, or without it the parameters'"
    )
    return register(
        Operator(
            name,
            infer,
            kernel,
            Gradient(
                gradient if smooth is None else _smooth_gradient(names, smooth),
                uses_output=smooth is not None or gradient is not zero_gradient,
            ),
            doc=(
                f"{doc}.\n\nA parameter of None is read from the next input. A parameter out of "
                "range\nraises an error when the result is waited for.\n\n"
                f"Shapes: parameters any that broadcast, output {output}."
            ),
            inputs=tuple(f"input{i + 1}" for i in range(len(names))),
            active_inputs=active(names),
            schema=Schema(
                **{parameter: optional(number(), default) for parameter in names},
                **{attribute: known[attribute] for attribute in attributes},
            ),
            outputs=1 if smooth is None else 2,
            visible=1,
            execution=Execution(random=True, heavy=True),
            shapes=ShapeFacts(complete=_complete),
        )
    )


_LOCATION = ("loc", "scale")
_TYPED = ("size", "ctx", "dtype")

NUMPY_SAMPLERS = (
    _sampler(
        "_npi_normal", "Draw from the normal distribution", _LOCATION, _NORMAL, attributes=_TYPED
    ),
    _sampler(
        "_npi_normal_n",
        "Draw from the normal distribution, an array of shape size for each parameter",
        _LOCATION,
        _NORMAL,
        attributes=_TYPED,
    ),
    _sampler(
        "_npi_uniform",
        "Draw from the uniform distribution on [low, high)",
        ("low", "high"),
        fill_uniform,
        attributes=_TYPED,
    ),
    _sampler(
        "_npi_uniform_n",
        "Draw from the uniform distribution on [low, high), an array of shape size for each "
        "parameter",
        ("low", "high"),
        fill_uniform,
        attributes=_TYPED,
    ),
    _sampler(
        "_npi_gamma",
        "Draw from the gamma distribution",
        ("shape", "scale"),
        _draw_each(variates.gamma),
        attributes=_TYPED,
        gradient=_gamma_gradient,
    ),
    _sampler("_npi_gumbel", "Draw from the Gumbel distribution", _LOCATION, _GUMBEL),
    _sampler("_npi_logistic", "Draw from the logistic distribution", _LOCATION, _LOGISTIC),
    _sampler(
        "_npi_exponential",
        "Draw from the exponential distribution",
        ("scale",),
        _EXPONENTIAL,
        default=1.0,
    ),
    _sampler(
        "_npi_rayleigh", "Draw from the Rayleigh distribution", ("scale",), _RAYLEIGH, default=1.0
    ),
    _sampler(
        "_npi_pareto",
        "Draw from the Pareto II (Lomax) distribution, which starts at 0",
        ("a",),
        _PARETO,
        default=None,
    ),
    _sampler("_npi_weibull", "Draw from the Weibull distribution", ("a",), _WEIBULL, default=None),
    _sampler(
        "_npi_powerd",
        "Draw from the power distribution on (0, 1), with density a x^(a - 1)",
        ("a",),
        _draw_each(_power),
        default=None,
        attributes=("size",),
    ),
)


_NAME = "_npi_bernoulli"
_RANGE = {"prob": ("from 0 to 1", lambda value: 0 <= value <= 1)}


def _parameter(attrs: Attrs) -> float | None:
    value: float | None = attrs["logit" if attrs["is_logit"] else "prob"]
    return value


def _active(attrs: Attrs) -> tuple[str, ...]:
    return () if _parameter(attrs) is not None else ("input1",)


def _infer(
    *arrays: Spec, size: Shape | None, ctx: str, dtype: np.dtype[Any], **attrs: Any
) -> tuple[Spec]:
    if len(arrays) != len(_active(attrs)):
        name = "logit" if attrs["is_logit"] else "prob"
        raise OperatorError(f"{_NAME}: expected {name} or an array, got {len(arrays)} arrays")
    check_numbers(_NAME, arrays)
    return (Spec(result_shape(_NAME, arrays, size), dtype),)


def _kernel(xp: ModuleType, out: Any, *arrays: Any, key: Key, **attrs: Any) -> None:
    if not attrs["is_logit"]:
        check_limits(_NAME, _RANGE, attrs)
    parameter = arrays[0] if arrays else _parameter(attrs)
    work = work_dtype(arrays[0].dtype) if arrays else FLOAT32
    p = xp.asarray(parameter).astype(work)
    if attrs["is_logit"]:
        p = 1 / (1 + xp.exp(-p))
    elif arrays and not bool(xp.all((p >= 0) & (p <= 1))):
        raise OperatorError(f"{_NAME}: expected prob from 0 to 1, got an array with other numbers")
    out[...] = (uniform(xp, key, out.shape, work) < p).astype(out.dtype)


BERNOULLI = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        zero_gradient,
        doc=(
            "Draw 1 with probability prob, or with is_logit 1 / (1 + exp(-logit)), else 0.\n\n"
            "If the parameter is None the input is used. Without size the result has the shape\n"
            "of the input.\n\n"
            "Shapes: input1 any that broadcasts to size, output size."
        ),
        inputs=("input1",),
        active_inputs=_active,
        schema=Schema(
            prob=optional(number(), REQUIRED),
            logit=optional(number(), REQUIRED),
            size=optional(shape_attr()),
            ctx=text("cpu"),
            dtype=dtype_attr(FLOAT32),
            is_logit=boolean(),
        ),
        execution=Execution(random=True),
        shapes=ShapeFacts(complete=named_dtype),
    )
)
