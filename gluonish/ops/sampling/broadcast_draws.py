"""_draw_*: samplers of `gluon.probability`, whose parameters are arrays that broadcast.

_draw_gamma has a gradient by implicit reparameterization: a sample z of shape parameter a solves
P(a, z) = u for a fixed u, so that dz/da = -(dP/da) / (dP/dz).

References:
    M. Figurnov, S. Mohamed, A. Mnih, Implicit Reparameterization Gradients, NeurIPS 2018.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT32, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, dtype_attr
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.incomplete import GAMMA_SAMPLE_SLOPE
from gluonish.ops.facts import Execution, Gradient, ShapeFacts, zero_gradient
from gluonish.ops.registry import Operator, apply, register
from gluonish.ops.shape.broadcast_to import unbroadcast
from gluonish.ops.support import variates
from gluonish.ops.support.broadcasting import broadcast_shapes
from gluonish.ops.support.dtype_rules import named_dtype
from gluonish.ops.support.variates import fill

Key = tuple[int, int]


def _standard_gamma(xp: ModuleType, key: Key, index: Any, alpha: Any) -> Any:
    return variates.gamma(xp, key, index, alpha, xp.ones_like(alpha))


def _gamma_gradient(g: Any, alpha: Any, out: Any, **_attrs: Any) -> tuple[Any]:
    def by_alpha() -> Any:
        slope = apply(GAMMA_SAMPLE_SLOPE, (cast(alpha, out.dtype), out), {})
        return cast(unbroadcast(g * slope, alpha.shape), alpha.dtype)

    return (by_alpha,)


def _sampler(
    name: str, doc: str, draw: variates.Draw, *inputs: str, gradient: Any = zero_gradient
) -> Operator:
    """Register a sampler; its draw takes the parameters in the order of the inputs."""

    def infer(*parameters: Spec, size: Shape, dtype: np.dtype[Any]) -> tuple[Spec]:
        shape = size
        for spec in parameters:
            if spec.dtype == BOOL:
                raise OperatorError(f"{name}: expected numeric parameters, got {spec}")
            shape = broadcast_shapes(name, shape, spec.shape)
        if shape != size:
            raise OperatorError(
                f"{name}: expected a size that the parameters broadcast to, got {size} for "
                f"{', '.join(str(spec.shape) for spec in parameters)}"
            )
        if not is_floating(dtype):
            raise OperatorError(f"{name}: expected a floating dtype, got {dtype.name}")
        return (checked_spec(name, size, dtype),)

    def kernel(
        xp: ModuleType, out: Any, *parameters: Any, key: Key, size: Shape, dtype: np.dtype[Any]
    ) -> None:
        fill(xp, out, draw, key, parameters)

    return register(
        Operator(
            name,
            infer,
            kernel,
            gradient,
            doc=(
                f"{doc}.\n\nParameters out of range give NaN.\n\n"
                "Shapes: parameters any that broadcast to size, output size."
            ),
            inputs=inputs,
            schema=Schema(size=shape_attr(()), dtype=dtype_attr(FLOAT32)),
            execution=Execution(random=True, heavy=True),
            shapes=ShapeFacts(complete=named_dtype),
        )
    )


DRAWS = (
    _sampler(
        "_draw_gamma",
        "Draw from gamma distributions with shape parameter alpha and scale 1",
        _standard_gamma,
        "alpha",
        gradient=Gradient(_gamma_gradient, uses_output=True),
    ),
    _sampler(
        "_draw_poisson", "Draw from Poisson distributions with mean lam", variates.poisson, "lam"
    ),
    _sampler(
        "_draw_binomial",
        "Draw the number of successes in n trials of probability p",
        variates.binomial,
        "n",
        "p",
    ),
    _sampler(
        "_draw_negative_binomial",
        "Draw the number of failures before the n-th success, where a trial has probability p",
        variates.negative_binomial,
        "n",
        "p",
    ),
)
