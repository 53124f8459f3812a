"""Incomplete gamma and beta functions of arrays that broadcast, their inverses and derivatives.

They are computed in float64, and have the cumulative distribution functions and quantiles of the
gamma, beta, t, F, Poisson, binomial and negative binomial distributions. First derivatives only.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.registry import Operator, apply, register
from gluonish.ops.shape.broadcast_to import unbroadcast
from gluonish.ops.support import incomplete
from gluonish.ops.support.broadcasting import broadcast_shapes
from gluonish.ops.support.incomplete import in_chunks


def _infer(name: str, count: int, *inputs: Spec) -> tuple[Spec, ...]:
    first = inputs[0]
    shape = first.shape
    for spec in inputs:
        if spec.dtype != first.dtype or not is_floating(spec.dtype):
            raise OperatorError(
                f"{name}: expected floating arrays of one dtype, got {', '.join(map(str, inputs))}"
            )
        shape = broadcast_shapes(name, shape, spec.shape)
    return (Spec(shape, first.dtype),) * count


def _function(
    name: str,
    doc: str,
    function: Callable[..., tuple[Any, ...]],
    inputs: tuple[str, ...],
    gradient: Any = None,
    outputs: int = 1,
) -> Operator:
    """Register an elementwise function of arrays that broadcast."""

    def infer(*specs: Spec) -> tuple[Spec, ...]:
        return _infer(name, outputs, *specs)

    def kernel(xp: ModuleType, out: Any, *values: Any) -> None:
        in_chunks(xp, function, (out,) if outputs == 1 else tuple(out), values)

    return register(
        Operator(
            name,
            infer,
            kernel,
            gradient,
            doc=f"{doc}.\n\nShapes: inputs any that broadcast, output the broadcast shape.",
            inputs=inputs,
            outputs=outputs,
            execution=Execution(heavy=True),
            shapes=ShapeFacts(),
        )
    )


def _products(g: Any, slopes: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(unbroadcast(g * slope, x.shape) for slope, x in zip(slopes, inputs, strict=True))


def _gammainc_gradient(g: Any, a: Any, x: Any) -> tuple[Any, ...]:
    return _products(g, apply(GAMMAINC_SLOPES, (a, x), {}), (a, x))


def _betainc_gradient(g: Any, a: Any, b: Any, x: Any) -> tuple[Any, ...]:
    return _products(g, apply(BETAINC_SLOPES, (a, b, x), {}), (a, b, x))


def _gammaincinv_gradient(g: Any, a: Any, p: Any, x: Any) -> tuple[Any, ...]:
    by_a, by_x = apply(GAMMAINC_SLOPES, (a, x), {})
    return _products(g, (-by_a / by_x, 1.0 / by_x), (a, p))


def _betaincinv_gradient(g: Any, a: Any, b: Any, p: Any, x: Any) -> tuple[Any, ...]:
    by_a, by_b, by_x = apply(BETAINC_SLOPES, (a, b, x), {})
    return _products(g, (-by_a / by_x, -by_b / by_x, 1.0 / by_x), (a, b, p))


GAMMAINC_SLOPES = _function(
    "_gammainc_slopes",
    "Derivatives of the regularized lower incomplete gamma function by a and x",
    incomplete.gamma_slopes,
    ("a", "x"),
    outputs=2,
)
BETAINC_SLOPES = _function(
    "_betainc_slopes",
    "Derivatives of the regularized incomplete beta function by a, b and x",
    incomplete.beta_slopes,
    ("a", "b", "x"),
    outputs=3,
)
GAMMA_SAMPLE_SLOPE = _function(
    "_gamma_sample_slope",
    "Derivative of a gamma sample x by its shape parameter a, at a constant probability P(a, x)",
    incomplete.gamma_sample_slope,
    ("a", "x"),
)
GAMMAINC = _function(
    "_gammainc",
    "Regularized lower incomplete gamma function P(a, x)",
    incomplete.gamma_cdf,
    ("a", "x"),
    _gammainc_gradient,
)
GAMMAINCINV = _function(
    "_gammaincinv",
    "The x with P(a, x) = p, of the regularized lower incomplete gamma function P",
    incomplete.gamma_quantile,
    ("a", "p"),
    Gradient(_gammaincinv_gradient, uses_output=True),
)
BETAINC = _function(
    "_betainc",
    "Regularized incomplete beta function I_x(a, b)",
    incomplete.beta_cdf,
    ("a", "b", "x"),
    _betainc_gradient,
)
BETAINCINV = _function(
    "_betaincinv",
    "The x with I_x(a, b) = p, of the regularized incomplete beta function I",
    incomplete.beta_quantile,
    ("a", "b", "p"),
    Gradient(_betaincinv_gradient, uses_output=True),
)
