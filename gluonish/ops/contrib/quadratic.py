"""quadratic: an elementwise polynomial of degree 2."""

from types import ModuleType
from typing import Any

from gluonish.core.schema import Schema, number
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.support.broadcasting import complete_same, infer_same
from gluonish.ops.support.precision import as_real


def _kernel(xp: ModuleType, out: Any, data: Any, *, a: float, b: float, c: float) -> None:
    x = as_real(xp, data)
    real = x.dtype.type
    out[...] = ((real(a) * x + real(b)) * x + real(c)).astype(out.dtype)


def _gradient(g: V, data: V, *, a: float, b: float, c: float) -> tuple[Any]:
    return (g * (data * (2.0 * a) + b),)


QUADRATIC = register(
    Operator(
        "_contrib_quadratic",
        infer_same,
        _kernel,
        _gradient,
        doc="Compute a * data^2 + b * data + c elementwise; truncate integers toward zero.",
        schema=Schema(a=number(0.0), b=number(0.0), c=number(0.0)),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True),
    )
)
