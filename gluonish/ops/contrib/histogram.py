"""_histogram: count elements in bins."""

import math
from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, numbers, optional
from gluonish.core.spec import PartialSpec, Spec, checked_spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.precision import as_real
from gluonish.ops.support.zero_gradient import zero_gradient

Bounds = tuple[float, ...] | None


def _active(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "bins") if attrs["bin_cnt"] is None else ("data",)


def _infer(
    data: Spec,
    bins: Spec | None = None,
    *,
    bin_cnt: int | None,
    range: Bounds,  # noqa: A002  # MXNet's name
) -> tuple[Spec, Spec]:
    if bins is None:
        if bin_cnt is None or range is None or len(range) != 2 or not range[0] < range[1]:
            raise OperatorError(
                "_histogram: expected bins, or bin_cnt and a range (low, high) with low < high, "
                f"got bin_cnt {bin_cnt} and range {range}"
            )
        if not all(map(math.isfinite, range)):
            raise OperatorError(f"_histogram: expected a finite range, got {range}")
        counts = checked_spec("_histogram", (bin_cnt,), INT64)
        return counts, Spec((bin_cnt + 1,), data.dtype)
    check_same_dtype("_histogram", data, bins)
    if len(bins.shape) != 1 or bins.shape[0] < 2 or range is not None:
        raise OperatorError(
            f"_histogram: expected bins of at least 2 edges and no range, got {bins.shape} and "
            f"{range}"
        )
    return Spec((bins.shape[0] - 1,), INT64), bins


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any],
    data: Any,
    bins: Any = None,
    *,
    bin_cnt: int | None,
    range: Bounds,  # noqa: A002  # MXNet's name
) -> None:
    counts, edges = outputs
    x = as_real(xp, data).reshape(-1).astype(xp.float64)
    if bins is None:
        low, high = range or (0.0, 1.0)
        limits = low + xp.arange(edges.size, dtype=xp.float64) * ((high - low) / counts.size)
        limits[-1] = high
        edges[...] = limits.astype(edges.dtype)
    else:
        limits = as_real(xp, bins).astype(xp.float64)
        edges[...] = bins
    x = x[(x >= limits[0]) & (x <= limits[-1])]
    # The last bin includes its upper edge.
    index = xp.minimum(xp.searchsorted(limits, x, side="right") - 1, counts.size - 1)
    counts[...] = xp.bincount(index, minlength=counts.size)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    outputs[0] = PartialSpec(outputs[0].shape, INT64)
    outputs[1] = PartialSpec(outputs[1].shape, inputs[0].dtype or outputs[1].dtype)


HISTOGRAM = register(
    Operator(
        "_histogram",
        _infer,
        _kernel,
        zero_gradient,
        doc=(
            "Count the elements of data in each bin, and return the edges of the bins.\n\n"
            "Without bins, range is divided into bin_cnt bins of equal width. A bin includes\n"
            "its lower edge, the last bin both edges; elements outside and NaN are not counted.\n\n"
            "Shapes: data any, bins (edges,) ascending, outputs (edges - 1,) as int64 and\n"
            "(edges,)."
        ),
        inputs=("data", "bins"),
        active_inputs=_active,
        schema=Schema(bin_cnt=optional(integer(low=1)), range=optional(numbers())),
        aliases=("_npi_histogram",),
        outputs=2,
        output_names=("output0", "output1"),
        shapes=ShapeFacts(complete=_complete),
    )
)
