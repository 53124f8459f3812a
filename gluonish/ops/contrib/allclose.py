"""allclose: whether two arrays are equal within tolerances."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import UINT8
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, number
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.precision import as_real


def _infer(a: Spec, b: Spec, **_: object) -> tuple[Spec]:
    check_same_dtype("_contrib_allclose", a, b)
    if a.shape != b.shape:
        raise OperatorError(
            f"_contrib_allclose: expected arrays of equal shape, got {a.shape} and {b.shape}"
        )
    return (Spec((), UINT8),)


def _kernel(
    xp: ModuleType, out: Any, a: Any, b: Any, *, rtol: float, atol: float, equal_nan: bool
) -> None:
    a, b = as_real(xp, a), as_real(xp, b)
    finite = xp.isfinite(b)
    size = xp.where(finite, xp.abs(b), 0)
    near = (a == b) | (finite & (xp.abs(a - b) <= atol + rtol * size))
    if equal_nan:
        near |= xp.isnan(a) & xp.isnan(b)
    out[...] = near.all()


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    outputs[0] = PartialSpec((), UINT8)


ALLCLOSE = register(
    Operator(
        "_contrib_allclose",
        _infer,
        _kernel,
        None,
        doc=(
            "Return 1 if all |a - b| <= atol + rtol * |b|, else 0, as uint8.\n\n"
            "Infinities of the same sign are equal, and NaN equals NaN with equal_nan.\n\n"
            "Shapes: a and b the same, output ()."
        ),
        inputs=("a", "b"),
        schema=Schema(rtol=number(1e-5), atol=number(1e-8), equal_nan=boolean(True)),
        shapes=ShapeFacts(complete=_complete),
    )
)
