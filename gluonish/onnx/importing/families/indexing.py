"""Reading and writing elements by index, selection, sorting."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import INT64
from gluonish.onnx.importing.arrays import (
    array_of,
    axis_of,
    check_table,
    cut,
    dtype_of,
    host,
    integer,
    integers,
    is_known,
    op,
)
from gluonish.onnx.importing.nodes import Call, Rule

_MOST_STEPS = 4096  # largest number of steps of a sequential scatter


def _gather(call: Call, x: Any, indices: Any) -> Any:
    axis = axis_of(call.attr("axis", 0), len(x.shape))
    _check(call, indices, x.shape[axis])
    return mnp.take(x, indices, axis=axis, mode="wrap")  # -1 is the last element


def _check(call: Call, indices: Any, extent: int) -> None:
    """Raise an error if known indices are out of range."""
    if not is_known(indices) or prod(indices.shape) > _MOST_STEPS:
        return
    numbers = host(indices)
    if numbers.size and (numbers.min() < -extent or numbers.max() >= extent):
        call.wrong(f"expected indices of {extent} elements, got {numbers.reshape(-1)[:8].tolist()}")


def _gather_elements(call: Call, x: Any, indices: Any) -> Any:
    axis = axis_of(call.attr("axis", 0), len(x.shape))
    places = indices.astype(INT64)
    places = mnp.where(places < 0, places + x.shape[axis], places)
    if any(x.shape[i] != n for i, n in enumerate(indices.shape) if i != axis):
        x = x[tuple([slice(None) if i == axis else slice(n) for i, n in enumerate(indices.shape)])]
    return op("_take_along")(x, places, axis=axis)


def _gather_nd(call: Call, x: Any, indices: Any) -> Any:
    batch = call.attr("batch_dims", 0)
    if not batch:
        return op("gather_nd")(x, _columns(indices))
    width, rows = prod(x.shape[:batch]), x.shape[batch:]
    flat = mnp.reshape(x, (width, *rows))
    places = mnp.reshape(indices, (width, *indices.shape[batch:]))
    inner = places.shape[1:-1]
    first = np.arange(width).reshape(-1, *(1,) * (len(inner) + 1))
    own = array_of(np.broadcast_to(first, (width, *inner, 1)).astype(dtype_of(places)))
    found = op("gather_nd")(flat, _columns(mnp.concatenate([own, places], axis=-1)))
    return mnp.reshape(found, (*x.shape[:batch], *found.shape[1:]))


def _columns(indices: Any) -> Any:
    """Move the coordinates to the first axis, as gluonish's operators expect them."""
    return mnp.moveaxis(indices, -1, 0).astype(INT64)


def _combined(call: Call, old: Any, new: Any) -> Any:
    kind = call.attr("reduction", "none")
    if kind == "none":
        return new
    if kind not in _COMBINE:
        call.refuse(f"expected reduction none, add, mul, max or min, got {kind!r}")
    return _COMBINE[kind](old, new)


_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "add": mnp.add,
    "mul": mnp.multiply,
    "max": mnp.maximum,
    "min": mnp.minimum,
}


def _scatter_elements(call: Call, x: Any, indices: Any, updates: Any) -> Any:
    """Scatter along an axis; with a reduction, slice by slice, as indices may repeat."""
    axis = axis_of(call.attr("axis", 0), len(x.shape))
    if 0 in indices.shape:
        return x
    _check(call, indices, x.shape[axis])
    if call.attr("reduction", "none") == "none":
        return _put(call, x, _grid(indices, axis, x.shape[axis]), updates)
    if indices.shape[axis] > _MOST_STEPS:
        call.refuse(f"expected at most {_MOST_STEPS} indices along the axis, got {indices.shape}")
    for i in range(indices.shape[axis]):
        chunk = (*(slice(None),) * axis, slice(i, i + 1))
        x = _put(call, x, _grid(indices[chunk], axis, x.shape[axis]), updates[chunk])
    return x


def _grid(indices: Any, axis: int, extent: int) -> Any:
    """Return the coordinates of all elements, with ``indices`` as those along an axis."""
    places = np.indices(indices.shape)
    target = indices.astype(INT64)
    target = mnp.where(target < 0, target + extent, target)
    return mnp.stack(
        [target if i == axis else array_of(places[i]) for i in range(len(indices.shape))], axis=0
    )


def _put(call: Call, x: Any, coordinates: Any, updates: Any) -> Any:
    """Scatter to unique coordinates."""
    old = None
    if call.attr("reduction", "none") != "none":
        old = op("gather_nd")(x, coordinates)
    new = _combined(call, old, updates)
    return op("_scatter_set_nd")(x, new.astype(x.dtype), coordinates, shape=tuple(x.shape))


def _scatter_nd(call: Call, x: Any, indices: Any, updates: Any) -> Any:
    depth = indices.shape[-1]
    if 0 in indices.shape:
        return x
    columns = _columns(indices)
    extents = array_of(np.reshape(x.shape[:depth], (depth, *(1,) * (len(indices.shape) - 1))))
    columns = mnp.where(columns < 0, columns + extents, columns)
    if call.attr("reduction", "none") == "none":
        return _put(call, x, columns, updates)
    count = prod(indices.shape[:-1])
    if count > _MOST_STEPS:
        call.refuse(f"expected at most {_MOST_STEPS} updates, got {count}")
    flat = mnp.reshape(columns, (depth, count))
    rows = mnp.reshape(updates, (count, *x.shape[depth:]))
    for i in range(count):
        x = _put(call, x, flat[:, i : i + 1], rows[i : i + 1])
    return x


def _slice(call: Call, x: Any, *given: Any) -> Any:
    """Slice with starts, ends and steps along some axes."""
    starts: Any
    ends: Any
    if call.version < 10:
        starts, ends = call.attr("starts"), call.attr("ends")
        axes, steps = call.attr("axes"), None
    else:
        starts, ends, axes, steps = [
            None if value is None else integers(value) for value in (*given, None, None)[:4]
        ]
    rank = len(x.shape)
    chosen = list(range(len(starts))) if axes is None else [axis_of(a, rank) for a in axes]
    columns = (chosen, starts, ends, steps or [1] * len(chosen))
    for axis, start, end, step in zip(*columns, strict=True):
        x = cut(x, axis, *_ends(start, end, step, x.shape[axis]), step)
    return x


def _ends(start: int, end: int, step: int, extent: int) -> tuple[int, int | None]:
    """Clip the ends of a slice to the array; None means the last element."""
    if step > 0:
        return min(max(start, -extent), extent), None if end >= extent else max(end, -extent)
    return min(start, extent - 1), None if end < -extent else end


def _one_hot(call: Call, indices: Any, depth: Any, values: Any) -> Any:
    count = integer(depth)
    check_table(count)
    rank = len(indices.shape) + 1
    axis = axis_of(call.attr("axis", -1), rank)
    places = indices.astype(INT64)
    places = mnp.expand_dims(mnp.where(places < 0, places + count, places), axis)
    steps = array_of(np.arange(count).reshape([count if i == axis else 1 for i in range(rank)]))
    return mnp.where(places == steps, values[1], values[0])


def _top_k(call: Call, x: Any, k: Any = None) -> Any:
    count = call.attr("k") if k is None else integer(k)
    axis = axis_of(call.attr("axis", -1), len(x.shape))
    if not 0 <= count <= x.shape[axis]:
        call.wrong(f"expected k of at most {x.shape[axis]}, got {count}")
    if count == 0:
        empty = x[(*(slice(None),) * axis, slice(0, 0))]
        return empty, empty.astype(INT64)
    up = not call.attr("largest", 1)
    places = _order(x, axis, ascending=up)[(*(slice(None),) * axis, slice(count))]
    return op("_take_along")(x, places, axis=axis), places


def _order(x: Any, axis: int, *, ascending: bool) -> Any:
    """Return the indices that sort stably."""
    options = {"axis": axis, "is_ascend": ascending, "dtype": "int64"}
    return op("argsort")(x, **options)


def _reverse_sequence(call: Call, x: Any, lengths: Any) -> Any:
    """Reverse the first elements of each sequence, up to its length."""
    time, batch = call.attr("time_axis", 0), call.attr("batch_axis", 1)
    steps = np.arange(x.shape[time])[:, None]
    count = lengths.astype(INT64)[None, :]
    places = mnp.where(array_of(steps) < count, count - 1 - array_of(steps), array_of(steps))
    if batch < time:
        places = mnp.transpose(places)
    shape = [n if i in (time, batch) else 1 for i, n in enumerate(x.shape)]
    whole = mnp.broadcast_to(mnp.reshape(places, shape), x.shape)
    return op("_take_along")(x, whole, axis=time)


def _compress(call: Call, x: Any, condition: Any) -> Any:
    axis = call.attr("axis")
    kept = array_of(np.flatnonzero(host(condition).reshape(-1)))
    if axis is None:
        return mnp.take(mnp.reshape(x, (-1,)), kept, axis=0)
    return mnp.take(x, kept, axis=axis_of(axis, len(x.shape)))


def _non_zero(call: Call, x: Any) -> Any:
    return array_of(np.stack(np.nonzero(np.atleast_1d(host(x)))).astype(np.int64))


def _unique(call: Call, x: Any) -> Any:
    """Return unique values, first indices, inverse indices, and counts."""
    axis = call.attr("axis")
    found = np.unique(host(x), True, True, True, axis=axis)
    values, first, inverse, counts = [np.asarray(chunk) for chunk in found]
    inverse = inverse.reshape(-1)
    if not call.attr("sorted", 1):
        order = np.argsort(first)
        rank = np.argsort(order)
        values = np.take(values, order, axis=axis or 0)
        first, inverse, counts = first[order], rank[inverse], counts[order]
    rest = [array_of(chunk.astype(np.int64)) for chunk in (first, inverse, counts)]
    return (array_of(values), *rest)


def _tensor_scatter(call: Call, past: Any, update: Any, starts: Any = None) -> Any:
    """Write new steps of each sequence into a cache."""
    axis = axis_of(call.attr("axis", -2), len(past.shape))
    extent, count, batch = past.shape[axis], update.shape[axis], past.shape[0]
    first = array_of(np.zeros(batch, np.int64)) if starts is None else starts.astype(INT64)
    steps = first[:, None] + array_of(np.arange(count))[None, :]
    if call.attr("mode", "linear") == "circular":
        steps = mnp.mod(steps, mnp.full_like(steps, extent))
    shape = [batch, *[count if i == axis else 1 for i in range(1, len(past.shape))]]
    places = mnp.broadcast_to(mnp.reshape(steps, shape), update.shape)
    return _put(call, past, _grid(places, axis, extent), update)


RULES: dict[str, Rule] = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "Slice": _slice,
    "OneHot": _one_hot,
    "TopK": _top_k,
    "ReverseSequence": _reverse_sequence,
    "Compress": _compress,
    "NonZero": _non_zero,
    "Unique": _unique,
    "TensorScatter": _tensor_scatter,
}
