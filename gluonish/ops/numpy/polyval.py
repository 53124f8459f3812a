"""polyval: evaluation of a polynomial."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.numpy.promotion import dtype_of, refuse_bool
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import widen


def _infer(p: Spec, x: Spec) -> tuple[Spec]:
    refuse_bool("_npi_polyval", p)
    check_same_dtype("_npi_polyval", p, x)
    if len(p.shape) != 1:
        raise OperatorError(f"_npi_polyval: expected coefficients p of one axis, got {p.shape}")
    return (x,)


def _kernel(xp: ModuleType, out: Any, p: Any, x: Any) -> None:
    p, x = widen(p), widen(x)
    total = xp.zeros(x.shape, x.dtype)
    for i in range(p.shape[0]):
        total = total * x + p[i]
    out[...] = total.astype(out.dtype)


def _horner(p: Any, x: Any) -> Any:
    total = zeros_like(x)
    for i in range(p.shape[0]):
        total = total * x + reshape(slice_axis(p, 0, i, i + 1), ())
    return total


_rule = composite_gradient(_horner)


def _gradient(g: V, p: V, x: V) -> tuple[Any, ...]:
    if not is_floating(dtype_of(p)):
        return None, None
    if p.shape[0] == 0:
        return zeros_like(p), zeros_like(x)
    return _rule(g, p, x)


POLYVAL = register(
    Operator(
        "_npi_polyval",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Evaluate the polynomial with coefficients p, highest power first, at x.\n\n"
            "Shapes: p (coefficients,), x any, output that of x."
        ),
        inputs=("p", "x"),
    )
)
