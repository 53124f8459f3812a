"""div_sqrt_dim: data divided by the square root of its last extent."""

import math
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.support.broadcasting import complete_same
from gluonish.ops.support.precision import as_real


def _infer(data: Spec) -> tuple[Spec]:
    if not data.shape:
        raise OperatorError("_contrib_div_sqrt_dim: expected data of at least 1 axis, got ()")
    return (data,)


def _kernel(xp: ModuleType, out: Any, data: Any) -> None:
    wide = as_real(xp, data)
    out[...] = (wide / wide.dtype.type(math.sqrt(max(1, data.shape[-1])))).astype(out.dtype)


def _gradient(g: V, data: V) -> tuple[Any]:
    return (g / math.sqrt(max(1, data.shape[-1])),)


DIV_SQRT_DIM = register(
    Operator(
        "_contrib_div_sqrt_dim",
        _infer,
        _kernel,
        _gradient,
        doc="data (..., d) divided by sqrt(d); integers are truncated toward zero.",
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True),
    )
)
