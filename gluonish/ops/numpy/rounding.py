"""around and nan_to_num: rounding, and replacement of NaN and infinities.

polyval: evaluation of a polynomial.
"""

from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number, optional
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.facts import Execution, ShapeFacts, zero_gradient
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.numpy.promotion import dtype_of, refuse_bool
from gluonish.ops.numpy.where import where
from gluonish.ops.registry import Operator, V, apply, find_operator, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import check_same_dtype, complete_same, infer_same
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import as_real, widen

_MOST_DECIMALS = 300  # larger powers of ten overflow


def _around_infer(x: Spec, *, decimals: int) -> tuple[Spec]:
    refuse_bool("_npi_around", x)
    return (x,)


def _around_kernel(xp: ModuleType, out: Any, x: Any, *, decimals: int) -> None:
    if decimals >= 0 and not is_floating(x.dtype):
        out[...] = x
        return
    decimals = max(-_MOST_DECIMALS, min(decimals, _MOST_DECIMALS))
    with np.errstate(all="ignore"):  # no warnings of infinities and NaN
        out[...] = xp.around(as_real(xp, x), decimals).astype(out.dtype)


AROUND = register(
    Operator(
        "_npi_around",
        _around_infer,
        _around_kernel,
        zero_gradient,
        doc="Round to a number of decimals, halves to the even neighbor.",
        inputs=("x",),
        schema=Schema(decimals=integer(0)),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True),
    )
)


def _largest(dtype: np.dtype[Any]) -> float:
    return float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]  # it has no types


def _nan_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    *,
    copy: bool,
    nan: float,
    posinf: float | None,
    neginf: float | None,
) -> None:
    if not is_floating(data.dtype):
        out[...] = data
        return
    largest = _largest(data.dtype)
    clean = xp.nan_to_num(
        widen(data),
        nan=nan,
        posinf=largest if posinf is None else posinf,
        neginf=-largest if neginf is None else neginf,
    )
    out[...] = clean.astype(out.dtype)


def _nan_gradient(g: V, data: V, **_attrs: Any) -> tuple[Any]:
    finite = apply(find_operator("_npi_isfinite"), (data,), {})
    return (where(finite, g, g * 0.0),)


NAN_TO_NUM = register(
    Operator(
        "_npi_nan_to_num",
        infer_same,
        _nan_kernel,
        _nan_gradient,
        doc=(
            "Replace NaN and infinities by nan, posinf and neginf.\n\n"
            "posinf and neginf are the largest and the lowest finite number by default. copy is\n"
            "accepted and ignored: the result is a new array."
        ),
        schema=Schema(
            copy=boolean(True),
            nan=number(0.0),
            posinf=optional(number()),
            neginf=optional(number()),
        ),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True),
    )
)


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
