"""_sample_*: samplers that draw an array of samples for each element of the parameters."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT32, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, dtype_attr, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.facts import Execution, ShapeFacts, zero_gradient
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.sampling.random import fill_uniform, work_dtype
from gluonish.ops.support import variates
from gluonish.ops.support.philox import normal, uniform
from gluonish.ops.support.shape_rules import Shapes, merge_shape
from gluonish.ops.support.variates import fill

Key = tuple[int, int]
Fill = Callable[..., None]  # (xp, out, key, *parameters)


def _standard(draw: Callable[..., Any], finish: Callable[..., Any]) -> Fill:
    """Return a function that fills an array with standard samples transformed by the parameters."""

    def filled(xp: ModuleType, out: Any, key: Key, *parameters: Any) -> None:
        work = work_dtype(out.dtype)
        drawn = draw(xp, key, out.shape, work)
        out[...] = finish(xp, drawn, *(p.astype(work) for p in parameters)).astype(out.dtype)

    return filled


def _each(draw: variates.Draw) -> Fill:
    """Return a function that fills an array element by element with a sampler."""

    def filled(xp: ModuleType, out: Any, key: Key, *parameters: Any) -> None:
        fill(xp, out, draw, key, parameters)

    return filled


def _sampler(name: str, doc: str, filled: Fill, *inputs: str) -> Operator:
    """Register a sampler.

    Args:
        name: ``_sample_`` and the distribution.
        doc: Public documentation.
        filled: Fills an array, with parameters that broadcast to it.
        *inputs: Names of the parameters.
    """
    distribution = name.removeprefix("_sample_")

    def infer(*parameters: Spec, shape: Shape, dtype: np.dtype[Any] | None) -> tuple[Spec]:
        first = parameters[0]
        if any(p != first for p in parameters) or first.dtype == BOOL:
            raise OperatorError(
                f"{name}: expected numeric {' and '.join(inputs)} of equal shape and dtype, got "
                f"{', '.join(map(str, parameters))}"
            )
        result = dtype or FLOAT32
        if not is_floating(result):
            raise OperatorError(f"{name}: expected a floating dtype, got {result.name}")
        return (checked_spec(name, first.shape + shape, result),)

    def kernel(
        xp: ModuleType,
        out: Any,
        *parameters: Any,
        key: Key,
        shape: Shape,
        dtype: np.dtype[Any] | None,
    ) -> None:
        columns = [p.reshape(p.shape + (1,) * len(shape)) for p in parameters]
        filled(xp, out, key, *columns)

    return register(
        Operator(
            name,
            infer,
            kernel,
            zero_gradient,
            doc=(
                f"{doc}.\n\nDraw an array of shape for each element of the parameters, as float32 "
                "unless\ndtype is set. Parameters out of range give NaN.\n\n"
                "Shapes: parameters all the same, output the parameters' shape followed by shape."
            ),
            inputs=inputs,
            schema=Schema(shape=shape_attr(()), dtype=optional(dtype_attr())),
            aliases=(f"sample_{distribution}",),
            execution=Execution(random=True, heavy=True),
            shapes=ShapeFacts(complete=_complete, rule=_infer_parameters),
        )
    )


def _complete(inputs: list[Any], outputs: list[Any], attrs: Any) -> None:
    """Complete all parameters with the shape and dtype of the known ones."""
    outputs[0] = outputs[0]._replace(dtype=attrs["dtype"] or FLOAT32)
    for i, spec in enumerate(inputs):
        for other in inputs:
            spec = spec._replace(
                shape=spec.shape or other.shape,
                dtype=other.dtype if spec.dtype is None else spec.dtype,
            )
        inputs[i] = spec


def _infer_parameters(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    """Infer parameters from the output without the axes of ``shape``, and vice versa."""
    added = attrs["shape"]
    out = outputs[0]
    if out is not None and len(out) >= len(added):
        for i in range(len(inputs)):
            merge_shape(inputs, i, out[: len(out) - len(added)])
    for known in inputs:
        if known is not None:
            merge_shape(outputs, 0, known + added)


SAMPLERS = (
    _sampler(
        "_sample_uniform",
        "Draw from uniform distributions on [low, high)",
        fill_uniform,
        "low",
        "high",
    ),
    _sampler(
        "_sample_normal",
        "Draw from normal distributions with mean mu and standard deviation sigma",
        _standard(normal, lambda xp, x, mu, sigma: mu + sigma * x),
        "mu",
        "sigma",
    ),
    _sampler(
        "_sample_exponential",
        "Draw from exponential distributions with rate lam",
        _standard(uniform, lambda xp, u, lam: -xp.log1p(-u) / lam),
        "lam",
    ),
    _sampler(
        "_sample_gamma",
        "Draw from gamma distributions with shape alpha and scale beta",
        _each(variates.gamma),
        "alpha",
        "beta",
    ),
    _sampler(
        "_sample_poisson",
        "Draw integers from Poisson distributions with mean lam",
        _each(variates.poisson),
        "lam",
    ),
    _sampler(
        "_sample_negative_binomial",
        "Draw numbers of failures before the k-th success, where each trial has probability p",
        _each(variates.negative_binomial),
        "k",
        "p",
    ),
    _sampler(
        "_sample_generalized_negative_binomial",
        "Draw integers from negative binomial distributions with mean mu and dispersion alpha",
        _each(variates.generalized_negative_binomial),
        "mu",
        "alpha",
    ),
)
