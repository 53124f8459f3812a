"""percentile: percentiles along axes."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, number, optional
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.facts import Gradient
from gluonish.ops.numpy.comparison import EQUAL
from gluonish.ops.numpy.promotion import dtype_of, refuse_bool
from gluonish.ops.numpy.reduction import AXIS, all_axes, reduced_shape, sum_
from gluonish.ops.registry import Attrs, Operator, apply, find_operator, register
from gluonish.ops.shape.broadcast_to import unbroadcast
from gluonish.ops.shape.reshape import reshape

Axes = tuple[int, ...]


def _check_range(low: float, high: float) -> None:
    if not 0 <= low <= high <= 100:
        raise OperatorError(f"_npi_percentile: expected q in [0, 100], got {low} to {high}")


def _infer(
    a: Spec,
    q: Spec | None = None,
    *,
    axis: Axes | None,
    interpolation: str,
    keepdims: bool,
    q_scalar: float | None,
) -> tuple[Spec]:
    refuse_bool("_npi_percentile", a)
    if q_scalar is not None:
        _check_range(q_scalar, q_scalar)
    shares = () if q is None else q.shape
    if len(shares) > 1:
        raise OperatorError(f"_npi_percentile: expected q of at most one axis, got {shares}")
    shape = reduced_shape(a.shape, all_axes("_npi_percentile", len(a.shape), axis), keepdims)
    if a.size == 0 and 0 not in shape:
        raise OperatorError(
            f"_npi_percentile: expected an element or more to reduce, got shape {a.shape}"
        )
    return (Spec(shares + shape, FLOAT64 if a.dtype == FLOAT64 else FLOAT32),)


def _kernel(
    xp: ModuleType,
    out: Any,
    a: Any,
    q: Any = None,
    *,
    axis: Axes | None,
    interpolation: str,
    keepdims: bool,
    q_scalar: float | None,
) -> None:
    if q is not None and q.size:
        _check_range(float(q.min()), float(q.max()))
    if not out.size:
        return
    shares = q_scalar if q is None else q.astype(FLOAT64)
    axes = all_axes("_npi_percentile", a.ndim, axis)
    real = a.astype(FLOAT64)
    if axes:
        with np.errstate(all="ignore"):  # no warnings of infinities and NaN
            found = xp.percentile(real, shares, axis=axes, method=interpolation, keepdims=keepdims)
        out[...] = found.astype(out.dtype)
    else:  # nothing to reduce: each element equals all its percentiles
        out[...] = real.astype(out.dtype)


def _gradient(g: Any, a: Any, *rest: Any, **attrs: Any) -> tuple[Any, ...]:
    """Return the gradient by the array; it flows to the neighbours of the percentile alone."""
    *shares, out = rest
    if not is_floating(dtype_of(a)):
        return (None, *[None] * len(shares))

    def by_array() -> Any:
        value = cast(a, out.dtype)
        axes = all_axes("_npi_percentile", len(a.shape), attrs["axis"])
        lead = tuple(shares[0].shape) if shares else ()
        shape = lead + reduced_shape(a.shape, axes, keepdims=True)
        low, high = (
            reshape(apply(PERCENTILE, (a, *shares), {**attrs, "interpolation": way}), shape)
            for way in ("lower", "higher")
        )
        span = high - low
        step = (reshape(out, shape) - low) / (
            span + cast(apply(EQUAL, (span, span * 0), {}), out.dtype)
        )
        weight = apply(find_operator("BlockGrad"), (step,), {})
        head, total = reshape(g, shape), None
        for end, part in ((low, 1 - weight), (high, weight)):
            found = cast(apply(EQUAL, (value, end), {}), out.dtype)
            ties = sum_(found, tuple(n + len(lead) for n in axes), keepdims=True)
            ties = ties + cast(apply(EQUAL, (ties, ties * 0), {}), out.dtype)
            term = found * (head * part / ties)
            total = term if total is None else total + term
        return cast(unbroadcast(total, a.shape), dtype_of(a))

    return (by_array, *[None] * len(shares))


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("a", "q") if attrs["q_scalar"] is None else ("a",)


PERCENTILE = register(
    Operator(
        "_npi_percentile",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Percentiles along axis, all axes by default: for each value in q, along a new\n"
            "first axis, or for the number q_scalar, in [0, 100].\n\n"
            "The result is float32 unless a is float64. The gradient by a flows to the elements\n"
            "next to the percentile, which share it if they are equal; q has none.\n\n"
            "Shapes: a any, q () or (n,), output (*q.shape, *a's without the axes in axis)."
        ),
        inputs=("a", "q"),
        active_inputs=_inputs,
        schema=Schema(
            axis=AXIS,
            interpolation=choice(
                "higher", "linear", "lower", "midpoint", "nearest", default="linear"
            ),
            keepdims=boolean(False),
            q_scalar=optional(number()),
        ),
    )
)
