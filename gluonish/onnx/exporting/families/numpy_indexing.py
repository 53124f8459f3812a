"""NumPy functions related to indexing: differences, insertion, percentiles, histograms."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT32, FLOAT64, INT32, INT64, is_floating
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import (
    axis_of,
    concat,
    filled,
    gather,
    reduced,
    reshaped,
    sliced,
    to_shape,
    transposed,
    unsqueezed,
)
from gluonish.onnx.exporting.tensors import Tensor


def _diag_indices(call: Call) -> Tensor:
    return call.constant(np.stack([np.arange(call.x.size(0))] * call.x.rank))


def _diff(call: Call) -> Tensor:
    x, axis = call.x, axis_of(call["axis"], call.x.rank)
    if x.dtype == BOOL:
        x = x.to(INT32)
    last = np.iinfo(np.int64).max
    for _ in range(call["n"]):
        x = sliced(x, [1], [last], [axis]) - sliced(x, [0], [-1], [axis])
    return x


def _ediff1d(call: Call) -> Tensor:
    arrays = list(call.inputs)
    flat = reshaped(arrays.pop(0), [-1])
    chunks = [sliced(flat, [1], [np.iinfo(np.int64).max], [0]) - sliced(flat, [0], [-1], [0])]
    for end, index in (("begin", 0), ("end", 1)):
        if call[f"to_{end}_arr_given"]:
            more = reshaped(arrays.pop(0), [-1]).to(flat.dtype)
        elif call[f"to_{end}_scalar"] is not None:
            more = call.constant(np.array([call[f"to_{end}_scalar"]]).astype(flat.dtype))
        else:
            continue
        chunks.insert(0 if index == 0 else len(chunks), more)
    return concat(chunks, 0)


def _polyval(call: Call) -> Tensor:
    factors, x = (v.to(call.out.dtype) for v in call.inputs)
    total = x * 0
    for i in range(call.inputs[0].size(0)):
        total = total * x + gather(factors, np.array(i), 0)
    return total


def _insert(call: Call) -> Tensor:
    """Insert values before positions that attributes determine; NumPy computes the index map."""
    x, axis = call.x, call["axis"]
    if axis is None:
        x, axis = to_shape(x, x.known_shape, (int(np.prod([*map(x.size, range(x.rank))])),)), 0
    axis = axis_of(axis, x.rank)
    size = x.size(axis)
    if call.op == "_npi_insert_slice":
        places: Any = np.arange(size)[slice(call["start"], call["stop"], call["step"])]
        start, stop, step = slice(call["start"], call["stop"], call["step"]).indices(size)
        places = list(range(start, stop, step))
    else:
        places = [call["int_ind"]]
    count = call.out.fixed[axis] - size
    where = places if len(places) > 1 else places * count
    order = np.insert(np.arange(size), where, np.arange(size, size + count))
    shape = (*x.known_shape[:axis], count, *x.known_shape[axis + 1 :])
    joined = concat([x, _inserted(call, shape, axis, x.rank)], axis)
    return gather(joined, order, axis)


def _inserted(call: Call, shape: Sequence[Any], axis: int, rank: int) -> Tensor:
    if len(call.inputs) < 2:
        return filled(
            call.emitter, shape, np.array(call["val"]).astype(call.x.dtype).item(), call.x.dtype
        )
    values = call.inputs[1].to(call.x.dtype)
    given = call.inputs[1]
    if given.rank > rank:
        raise call.refuse("its values have more axes than the array; reshape them")
    if call.op == "_npi_insert_scalar" and given.rank:
        # The first axis of the values is the axis of insertion.
        padded = (*(1,) * (rank - given.rank), *given.known_shape)
        order = list(range(1, rank))
        order.insert(axis, 0)
        values = transposed(to_shape(values, given.known_shape, padded), order)
    return call("Expand", values, list(shape))


def _percentile(call: Call) -> Tensor:
    x, axis = call.x, call["axis"]
    dtype = call.out.dtype
    axes = (
        [*range(x.rank)]
        if axis is None
        else [axis_of(a, x.rank) for a in (axis if isinstance(axis, tuple) else (axis,))]
    )
    rest = [a for a in range(x.rank) if a not in axes]
    count = int(np.prod([x.size(a) for a in axes]))
    moved = transposed(x, [*axes, *rest])
    flat = to_shape(moved, moved.known_shape, (count, *(x.known_shape[a] for a in rest)))
    wide = FLOAT64 if dtype == FLOAT64 else FLOAT32
    flat = flat.to(wide)
    ordered, _ = call.emitter.several(
        "TopK", 2, flat, [count], dtypes=[wide, INT64], axis=0, largest=0, sorted=1
    )
    q = (
        call.inputs[1]
        if len(call.inputs) > 1
        else call.constant(np.array(call["q_scalar"]), FLOAT64)
    )
    made = _between(call, ordered, q.to(FLOAT64) * ((count - 1) / 100), wide, len(rest))
    if call["keepdims"]:
        return to_shape(made, (), call.out.shape)
    return made


def _between(call: Call, ordered: Tensor, index: Tensor, dtype: Any, rest: int) -> Tensor:
    kind = call["interpolation"]
    low, high = call("Floor", index), call("Ceil", index)
    if kind in ("lower", "higher", "nearest"):
        chosen = {"lower": low, "higher": high, "nearest": call("Round", index)}[kind]
        return gather(ordered, chosen.to(INT64), 0)
    below, above = (gather(ordered, v.to(INT64), 0) for v in (low, high))
    if kind == "midpoint":
        return (below + above) * 0.5
    chunk = (index - low).to(dtype)
    if rest:
        count = call.inputs[1].rank if len(call.inputs) > 1 else 0
        chunk = unsqueezed(chunk, *range(count, count + rest))
    return below + (above - below) * chunk


def _histogram(call: Call) -> Sequence[Tensor]:
    x = reshaped(call.x, [-1])
    if len(call.inputs) > 1:
        edges = call.inputs[1]
        bins = call.inputs[1].size(0) - 1
    else:
        bins = int(call["bin_cnt"])
        low, high = call["range"]
        edges = call.constant(
            np.linspace(float(low), float(high), bins + 1).astype(call.outputs[1].dtype)
        )
    wide = FLOAT64 if not is_floating(call.x.dtype) else call.x.dtype
    column, row = unsqueezed(x.to(wide), 1), edges.to(wide)
    left, right = sliced(row, [0], [bins], [0]), sliced(row, [1], [bins + 1], [0])
    last = call.constant(np.arange(bins) == bins - 1)
    inside = (column >= left) & ((column < right) | (last & call("Equal", column, right)))
    return [reduced("ReduceSum", inside.to(INT64), [0]), edges]


TABLE: dict[str, Any] = {
    "_npi_diag_indices_from": _diag_indices,
    "_npi_diff": _diff,
    "_npi_ediff1d": _ediff1d,
    "_npi_polyval": _polyval,
    **dict.fromkeys(("_npi_insert_scalar", "_npi_insert_slice"), _insert),
    "_npi_percentile": _percentile,
    "_histogram": _histogram,
}
