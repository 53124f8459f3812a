"""Shapes: reshaping, order of axes, slicing, padding, repeating."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT64
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import (
    arange,
    axis_of,
    broadcast,
    concat,
    extent_of,
    extents,
    flipped,
    pad,
    reduced,
    reshaped,
    select,
    sliced,
    to_shape,
    transposed,
    unsqueezed,
)
from gluonish.onnx.exporting.tensors import OpenExtent, Tensor

_LAST = np.iinfo(np.int64).max


def _reshape(call: Call) -> list[Tensor]:
    pairs = zip(call.inputs, call.outputs, strict=True)
    return [to_shape(x, x.known_shape, out.shape) for x, out in pairs]


def _flatten(call: Call) -> Tensor:
    return call("Flatten", call.x, axis=1)


def _reshape_like(call: Call) -> Tensor:
    x, like = call.inputs
    if all(call[f"{side}_{end}"] is None for side in ("lhs", "rhs") for end in ("begin", "end")):
        return call("Reshape", x, extents(like))
    return to_shape(x, x.known_shape, call.out.shape)


def transpose(call: Call) -> Tensor:
    """Permute the axes of the first input; without axes, reverse them."""
    rank = call.x.rank
    axes = call.attrs.get("axes") or tuple(range(rank))[::-1]
    return transposed(call.x, [axis_of(a, rank) for a in axes])


def _swap(call: Call) -> Tensor:
    order = list(range(call.x.rank))
    a, b = (axis_of(call[name], call.x.rank) for name in ("dim1", "dim2"))
    order[a], order[b] = order[b], order[a]
    return transposed(call.x, order)


def _move_axis(call: Call) -> Tensor:
    rank = call.x.rank
    sources, targets = (
        [axis_of(a, rank) for a in (v if isinstance(v, tuple) else (v,))]
        for v in (call["source"], call["destination"])
    )
    order = [a for a in range(rank) if a not in sources]
    for target, source in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source)
    return transposed(call.x, order)


def _expand_dims(call: Call) -> Tensor:
    return unsqueezed(call.x, axis_of(call["axis"], call.x.rank + 1))


def _broadcast(call: Call) -> Tensor:
    return broadcast(call.x, call.out.shape)


def _broadcast_like(call: Call) -> Tensor:
    x, like = call.inputs
    if call["lhs_axes"] is None:
        return call("Expand", x, extents(like))
    return broadcast(x, call.out.shape)


def bounds(attrs: Any) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return starts, ends, axes and steps of a slice; None for omitted ones."""
    starts: list[int] = []
    ends: list[int] = []
    axes: list[int] = []
    steps: list[int] = []
    count = len(attrs["begin"])
    given = attrs.get("step") or (None,) * count
    for axis in range(count):
        step = 1 if axis >= len(given) else int(given[axis] or 1)
        begin, end = attrs["begin"][axis], attrs["end"][axis]
        first, last = (0, _LAST) if step > 0 else (_LAST, -_LAST)
        starts.append(first if begin is None else begin)
        ends.append(last if end is None else end)
        axes.append(axis)
        steps.append(step)
    return starts, ends, axes, steps


def _slice(call: Call) -> Tensor:
    return sliced(call.x, *bounds(call.attrs))


def _slice_axis(call: Call) -> Tensor:
    end = call["end"]
    return sliced(call.x, [call["begin"]], [_LAST if end is None else end], [call["axis"]])


def _slice_like(call: Call) -> Tensor:
    x, like = call.inputs
    axes = [axis_of(a, x.rank) for a in call["axes"]] or list(range(min(x.rank, like.rank)))
    if not axes:
        return x
    ends = [extent_of(like, axis) for axis in axes]
    starts = call.constant(np.zeros(len(axes), np.int64))
    return call("Slice", x, starts, concat(ends, 0), axes)


def _reverse(call: Call) -> Tensor:
    axes = call["axis"]
    if axes is None:
        axes = tuple(range(call.x.rank))
    axes = axes if isinstance(axes, tuple) else (axes,)
    return flipped(call.x, *(axis_of(a, call.x.rank) for a in axes))


def _rot90(call: Call) -> Tensor:
    turns = call["k"] % 4
    a, b = (axis_of(axis, call.x.rank) for axis in call["axes"] or (0, 1))
    order = list(range(call.x.rank))
    order[a], order[b] = b, a
    if turns == 0:
        return call.x
    if turns == 2:
        return flipped(call.x, a, b)
    if turns == 1:
        return transposed(flipped(call.x, b), order)
    return flipped(transposed(call.x, order), b)


def _tile(call: Call) -> Tensor:
    x, reps = call.x, list(call["reps"])
    rank = max(x.rank, len(reps))
    padded = to_shape(x, x.known_shape, (*((1,) * (rank - x.rank)), *x.known_shape))
    return call("Tile", padded, [1] * (rank - len(reps)) + reps)


def _repeat(call: Call) -> Tensor:
    x, axis, count = call.x, call["axis"], int(call["repeats"])
    if axis is None:
        flat = reshaped(x, [-1, 1])
        return reshaped(call("Tile", flat, [1, count]), [-1])
    axis = axis_of(axis, x.rank)
    wide = unsqueezed(x, axis + 1)
    reps = [1] * (x.rank + 1)
    reps[axis + 1] = count
    shape = (*x.known_shape[: axis + 1], count, *x.known_shape[axis + 1 :])
    return to_shape(call("Tile", wide, reps), shape, call.out.shape)


def _repeats(call: Call) -> Tensor:
    x, axis = call.x, call["axis"]
    if axis is None:
        x, axis = reshaped(x, [-1]), 0
        extent = math.prod(call.x.size(i) for i in range(call.x.rank))
    else:
        axis = axis_of(axis, x.rank)
        extent = x.size(axis)
    repeats = call["repeats"]
    places = np.repeat(np.arange(extent), repeats if len(repeats) > 1 else sum(repeats))
    return call("Gather", x, places.astype(np.int64), axis=axis)


def _pad(call: Call) -> Tensor:
    widths = call["pad_width"]
    pairs = (
        widths
        if widths and isinstance(widths[0], tuple)
        else list(zip(widths[::2], widths[1::2], strict=True))
    )
    before, after = [p[0] for p in pairs], [p[1] for p in pairs]
    mode = call["mode"]
    if mode in ("constant", "edge", "reflect"):
        return _padded(call, call.x, before, after, mode)
    if mode in ("maximum", "minimum"):
        return _extreme_pad(call, before, after, "ReduceMax" if mode == "maximum" else "ReduceMin")
    x = call.x
    for axis in range(x.rank):  # symmetric: the mirror image with the edge
        places = np.pad(np.arange(x.size(axis)), (before[axis], after[axis]), "symmetric")
        x_shape = x.known_shape
        x = call("Gather", x, places.astype(np.int64), axis=axis)
        x.shape = (*x_shape[:axis], len(places), *x_shape[axis + 1 :])
    return x


def _padded(call: Call, x: Tensor, before: list[int], after: list[int], mode: str) -> Tensor:
    if mode == "reflect":
        for axis in range(x.rank):  # repeatedly, where the padding is longer than the data
            if before[axis] or after[axis]:
                shape = x.known_shape
                places = np.pad(np.arange(x.size(axis)), (before[axis], after[axis]), "reflect")
                if max(before[axis], after[axis]) < x.size(axis):
                    ends = [[0] * x.rank, [0] * x.rank]
                    ends[0][axis], ends[1][axis] = before[axis], after[axis]
                    x = pad(x, ends[0], ends[1], mode="reflect")
                else:
                    x = call("Gather", x, places.astype(np.int64), axis=axis)
                x.shape = (*shape[:axis], len(places), *shape[axis + 1 :])
        return x
    return pad(x, before, after, call.attrs.get("constant_value", 0), mode)


def _extreme_pad(call: Call, before: list[int], after: list[int], kind: str) -> Tensor:
    x = call.x
    for axis in range(x.rank):
        shape = x.known_shape
        edge = reduced(kind, x, [axis], keepdims=True)
        reps = [1] * len(shape)
        chunks = []
        for count in (before[axis], None, after[axis]):
            if count is None:
                chunks.append(x)
            elif count:
                reps[axis] = count
                chunks.append(call("Tile", edge, list(reps)))
        x = concat(chunks, axis)
        x.shape = (*shape[:axis], shape[axis] + before[axis] + after[axis], *shape[axis + 1 :])  # type: ignore[operator]  # a dynamic axis raises, as it should
    return x


def _roll(call: Call) -> Tensor:
    x, shifts, axes = call.x, call["shift"], call["axis"]
    shifts = shifts if isinstance(shifts, tuple) else (shifts,)
    if axes is None:
        flat = reshaped(x, [-1])
        size = int(np.prod(call.out.fixed))
        return to_shape(_rolled(flat, sum(shifts), 0, size), (size,), call.out.shape)
    axes = axes if isinstance(axes, tuple) else (axes,)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    for shift, axis in zip(shifts, axes * (len(shifts) // len(axes)), strict=True):
        index = axis_of(axis, call.x.rank)
        x = _rolled(x, shift, index, call.x.size(index))
    return x


def _rolled(x: Tensor, shift: int, axis: int, size: int) -> Tensor:
    shift = shift % size if size else 0
    if not shift:
        return x
    return concat([sliced(x, [-shift], [_LAST], [axis]), sliced(x, [0], [-shift], [axis])], axis)


def _depth_to_space(call: Call) -> Tensor:
    return call("DepthToSpace", call.x, blocksize=int(call["block_size"]), mode="DCR")


def _space_to_depth(call: Call) -> Tensor:
    return call("SpaceToDepth", call.x, blocksize=int(call["block_size"]))


def _region(call: Call) -> np.ndarray[Any, Any]:
    """Return the flat indices of the elements that a slice assignment writes."""
    shape = call.out.fixed
    starts, ends, _, steps = bounds(call.attrs)
    key = tuple(
        slice(None if abs(begin) == _LAST else begin, None if abs(end) == _LAST else end, step)
        for begin, end, step in zip(starts, ends, steps, strict=True)
    )
    return np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)[key]


def _slice_assign(call: Call) -> Tensor:
    region = _region(call)
    flat = reshaped(call.x, [-1])
    if call.op == "_slice_assign_scalar":
        mask = np.zeros(int(np.prod(call.out.fixed)), bool)
        mask[region.reshape(-1)] = True
        scalar = np.array(call["scalar"]).astype(flat.dtype).item()
        return reshaped(select(call.constant(mask), scalar, flat), list(call.out.fixed))
    updates = reshaped(call.inputs[1], [-1])
    made = call("ScatterElements", flat, region.reshape(-1), updates, axis=0)
    return to_shape(made, (int(np.prod(call.out.fixed)),), call.out.shape)


def _shape_array(call: Call) -> Tensor:
    return call("Shape", call.x)


def _size_array(call: Call) -> Tensor:
    return reshaped(call("Size", call.x), [1])


def _crop(call: Call) -> Tensor:
    x, (height, width) = call.x, call.out.fixed[2:]
    if call["center_crop"]:
        starts = [(x.size(2) - height) // 2, (x.size(3) - width) // 2]
    else:
        starts = list(call["offset"] or (0, 0))
    return sliced(x, starts, [starts[0] + height, starts[1] + width], [2, 3])


def _like(value: float) -> Callable[[Call], Tensor]:
    """Return a translator of zeros_like, ones_like or full_like."""

    def translate(call: Call) -> Tensor:
        fill = call["fill_value"] if call.op == "_npi_full_like" else value
        return call("Expand", call.constant(fill, call.out.dtype), extents(call.x))

    return translate


def _arange_like(call: Call) -> Tensor:
    if isinstance(call.out.shape[0], OpenExtent) and call["axis"] is not None:
        if call["repeat"] != 1:
            raise call.refuse("it repeats its values along a dynamic axis; give that axis a size")
        axis = axis_of(call["axis"], call.x.rank)
        values = arange(sliced(call("Shape", call.x), [axis], [axis + 1], [0]))
        made = values.to(FLOAT64) * float(call["step"]) + float(call["start"])
        return made.to(call.out.dtype)
    shape = call.out.fixed
    count, repeat = int(np.prod(shape)), int(call["repeat"])
    numbers = np.repeat(np.arange(-(-count // repeat)), repeat)[:count]
    fixed = (call["start"] + call["step"] * numbers).astype(call.out.dtype).reshape(shape)
    return call.constant(fixed)


def _index_array(call: Call) -> Tensor:
    shape = tuple(call.x.size(i) for i in range(call.x.rank))
    grid = np.stack(list(np.indices(shape)), -1).astype(np.int64)
    axes = call["axes"]
    return call.constant(grid if axes is None else grid[..., list(axes)])


TABLE: dict[str, Any] = {
    **dict.fromkeys(
        (
            *("Reshape", "_np_reshape", "_npx_reshape", "squeeze", "_np_squeeze"),
            *("_np_atleast_1d", "_np_atleast_2d", "_np_atleast_3d", "_reshape_exact"),
        ),
        _reshape,
    ),
    "Flatten": _flatten,
    "reshape_like": _reshape_like,
    "_sample_weight": lambda call: to_shape(call.inputs[0], call.x.known_shape, call.out.shape),
    **dict.fromkeys(("transpose", "_np_transpose"), transpose),
    "SwapAxis": _swap,
    "_np_moveaxis": _move_axis,
    "expand_dims": _expand_dims,
    **dict.fromkeys(
        ("broadcast_to", "broadcast_axis", "_npi_broadcast_to", "_broadcast_exact"), _broadcast
    ),
    "broadcast_like": _broadcast_like,
    "slice": _slice,
    "slice_axis": _slice_axis,
    "slice_like": _slice_like,
    "_slice_assign": _slice_assign,
    "_slice_assign_scalar": _slice_assign,
    **dict.fromkeys(("reverse", "_npi_flip"), _reverse),
    "_npi_rot90": _rot90,
    "_np_roll": _roll,
    "tile": _tile,
    "repeat": _repeat,
    "_npi_repeats": _repeats,
    **dict.fromkeys(("Pad", "_npi_pad"), _pad),
    "depth_to_space": _depth_to_space,
    "space_to_depth": _space_to_depth,
    "shape_array": _shape_array,
    "size_array": _size_array,
    "Crop": _crop,
    "zeros_like": _like(0),
    "ones_like": _like(1),
    "_npi_full_like": _like(0),
    "_contrib_arange_like": _arange_like,
    "_contrib_index_array": _index_array,
}
