"""bincount, nonzero and unique: results whose shape depends on values.

_histogram: count elements in bins.
"""

import math
from types import ModuleType
from typing import Any

from gluonish.core.dtype import BOOL, INT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, numbers, optional
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, checked_spec
from gluonish.ops.elementwise.cast import convert
from gluonish.ops.facts import ShapeFacts, zero_gradient
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.host import add_at, scatter_accumulator
from gluonish.ops.support.precision import as_real, widen
from gluonish.ops.support.shape_rules import normalize_axis

_MOST_BINS = 2**31 - 1  # larger values in data are assumed to be mistakes


def _bincount_infer(
    data: Spec, weights: Spec | None = None, *, minlength: int, has_weights: bool
) -> tuple[Spec]:
    if is_floating(data.dtype) or data.dtype == BOOL:
        raise OperatorError(f"_npi_bincount: expected integers, got {data.dtype.name}")
    if len(data.shape) != 1:
        raise OperatorError(f"_npi_bincount: expected data of one axis, got {data.shape}")
    if weights is not None and weights.shape != data.shape:
        raise OperatorError(
            f"_npi_bincount: expected weights of shape {data.shape}, got {weights.shape}"
        )
    if minlength > _MOST_BINS:
        raise OperatorError(
            f"_npi_bincount: expected minlength up to {_MOST_BINS}, got {minlength}"
        )
    return (Spec((UNKNOWN,), data.dtype if weights is None else weights.dtype),)


def _bincount_measure(
    xp: ModuleType, data: Any, weights: Any = None, *, minlength: int, has_weights: bool
) -> tuple[Shape]:
    if not data.size:
        return ((max(0, minlength),),)
    low, high = int(data.min()), int(data.max())
    if low < 0 or high >= _MOST_BINS:
        raise OperatorError(
            f"_npi_bincount: expected numbers in [0, {_MOST_BINS}), got some from {low} to {high}"
        )
    return ((max(high + 1, minlength),),)


def _bincount_kernel(
    xp: ModuleType, out: Any, data: Any, weights: Any = None, *, minlength: int, has_weights: bool
) -> None:
    total = xp.zeros(out.shape, scatter_accumulator(out.dtype))
    values = xp.ones(data.shape, total.dtype) if weights is None else weights.astype(total.dtype)
    add_at(xp, total, data.astype(INT64), values)
    convert(out, total)


def _bincount_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "weights") if attrs["has_weights"] else ("data",)


BINCOUNT = register(
    Operator(
        "_npi_bincount",
        _bincount_infer,
        _bincount_kernel,
        zero_gradient,
        doc=(
            "The number of times that each integer from 0 to the largest occurs in data, with\n"
            "at least minlength bins.\n\n"
            "With weights it is the sum of the weights of each, in their dtype.\n\n"
            "Shapes: data and weights (n,), output (max(largest + 1, minlength),)."
        ),
        inputs=("data", "weights"),
        active_inputs=_bincount_inputs,
        schema=Schema(minlength=integer(0), has_weights=boolean(False)),
        shapes=ShapeFacts(measure=_bincount_measure),
    )
)


def _nonzero_infer(x: Spec) -> tuple[Spec]:
    return (Spec((UNKNOWN, max(1, len(x.shape))), INT64),)


def _nonzero_measure(xp: ModuleType, x: Any) -> tuple[Shape]:
    return ((int(xp.count_nonzero(x != 0)), max(1, x.ndim)),)


def _nonzero_kernel(xp: ModuleType, out: Any, x: Any) -> None:
    positions = xp.nonzero((x != 0).reshape(x.shape or (1,)))
    for column, position in enumerate(positions):
        out[:, column] = position


NONZERO = register(
    Operator(
        "_npx_nonzero",
        _nonzero_infer,
        _nonzero_kernel,
        zero_gradient,
        doc=(
            "Coordinates of the elements that are not 0, a row for each, as int64.\n\n"
            "Shapes: x any, output (count, axes)."
        ),
        inputs=("x",),
        aliases=("_npi_nonzero",),
        shapes=ShapeFacts(measure=_nonzero_measure),
    )
)


def _unique_count(attrs: Attrs) -> int:
    flags = ("return_index", "return_inverse", "return_counts")
    return 1 + sum(bool(attrs[name]) for name in flags)


def _unique_infer(
    data: Spec,
    *,
    return_index: bool,
    return_inverse: bool,
    return_counts: bool,
    axis: int | None,
) -> tuple[Spec, ...]:
    if data.dtype == BOOL:
        raise OperatorError("_npi_unique: expected numbers, got bool; cast the array with astype")
    shape: Shape = (UNKNOWN,)
    whole = data.size
    if axis is not None and data.shape:
        axis = normalize_axis("_npi_unique", axis, len(data.shape))
        shape = (*data.shape[:axis], UNKNOWN, *data.shape[axis + 1 :])
        whole = data.shape[axis]
    elif axis not in (None, 0, -1):
        raise OperatorError(f"_npi_unique: expected axis 0 of a number, got {axis}")
    count = Spec((UNKNOWN,), INT64)
    specs = [Spec(shape, data.dtype)]
    specs += [count] * return_index + [Spec((whole,), INT64)] * return_inverse
    return (*specs, *[count] * return_counts)


def _unique(xp: ModuleType, data: Any, axis: int | None) -> tuple[Any, ...]:
    """Return the indices of first occurrences, inverse and counts, in ascending order."""
    real = widen(data)
    if not data.ndim or axis is None:
        real, axis = real.reshape(-1), 0
    extent = real.shape[axis]
    if not extent:
        none = xp.zeros((0,), INT64)
        return none, none, none
    rows = xp.moveaxis(real, axis, 0).reshape(extent, real.size // extent)
    if rows.shape[1]:
        order = xp.lexsort(rows.T[::-1])  # first column is primary key, ties in order
        ordered = rows[order]
        new = xp.concatenate([xp.ones((1,), bool), _differ(xp, ordered[1:], ordered[:-1])])
    else:
        order = xp.arange(extent)
        new = order == 0
    starts = xp.nonzero(new)[0]
    inverse = xp.empty((extent,), INT64)
    inverse[order] = xp.cumsum(new) - 1
    ends = xp.concatenate([starts[1:], xp.asarray([extent])])
    return order[starts], inverse, ends - starts


def _differ(xp: ModuleType, a: Any, b: Any) -> Any:
    """Return which rows differ; NaN equals NaN."""
    return xp.any((a != b) & ~((a != a) & (b != b)), axis=1)


def _unique_measure(
    xp: ModuleType,
    data: Any,
    *,
    return_index: bool,
    return_inverse: bool,
    return_counts: bool,
    axis: int | None,
) -> tuple[Shape, ...]:
    first, inverse, _ = _unique(xp, data, axis)
    count = int(first.shape[0])
    shape: Shape = (count,)
    if axis is not None and data.ndim:
        at = axis % data.ndim
        shape = (*data.shape[:at], count, *data.shape[at + 1 :])
    shapes = [shape, *[(count,)] * return_index, *[inverse.shape] * return_inverse]
    return (*shapes, *[(count,)] * return_counts)


def _unique_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    *,
    return_index: bool,
    return_inverse: bool,
    return_counts: bool,
    axis: int | None,
) -> None:
    results = out if isinstance(out, tuple | list) else (out,)
    first, inverse, counts = _unique(xp, data, axis)
    flat = not data.ndim or axis is None
    source = data.reshape(-1) if flat else data
    results[0][...] = xp.take(source, first, axis=0 if flat else axis)
    optional = ((return_index, first), (return_inverse, inverse), (return_counts, counts))
    chosen = [found for want, found in optional if want]
    for result, found in zip(results[1:], chosen, strict=True):
        result[...] = found


UNIQUE = register(
    Operator(
        "_npi_unique",
        _unique_infer,
        _unique_kernel,
        zero_gradient,
        doc=(
            "The unique elements of data, ascending; with axis, its unique slices.\n\n"
            "Optional further outputs, as int64: the position of each one's first occurrence,\n"
            "the index of every element among the unique ones, and the number of occurrences\n"
            "of each.\n\n"
            "Shapes: data any, output (count,), or with axis data's with count there; the\n"
            "positions (count,), the indices (elements,), the counts (count,)."
        ),
        schema=Schema(
            return_index=boolean(False),
            return_inverse=boolean(False),
            return_counts=boolean(False),
            axis=optional(integer()),
        ),
        outputs=_unique_count,
        output_names=("output",),
        shapes=ShapeFacts(measure=_unique_measure),
    )
)


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
