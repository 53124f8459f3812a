"""Shape queries, reshaping, joining, splitting and padding, and arrays created from shapes."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import FLOAT32, INT64
from gluonish.onnx.importing.arrays import (
    array_of,
    axis_of,
    check_size,
    check_table,
    constant,
    cut,
    filled,
    host,
    integer,
    integers,
    op,
    plain,
)
from gluonish.onnx.importing.elements import narrowed
from gluonish.onnx.importing.families.casting import to_element
from gluonish.onnx.importing.nodes import Call, Rule


def axes_given(call: Call, axes: Any, name: str = "axes") -> list[int] | None:
    """Return axes from the input, or, in earlier opsets, from the attribute."""
    if axes is not None:
        return integers(axes)
    given = call.attr(name)
    return None if given is None else [int(axis) for axis in given]


def _shape(call: Call, x: Any) -> Any:
    start, end = call.attr("start", 0), call.attr("end")
    return array_of(list(plain(x).shape)[slice(start, end)], INT64)


def _size(call: Call, x: Any) -> Any:
    return array_of(prod(plain(x).shape), INT64)


def _reshape(call: Call, x: Any, shape: Any = None) -> Any:
    """Reshape: 0 copies an extent (unless ``allowzero``), -1 is inferred."""
    given = [int(extent) for extent in call.attr("shape")] if shape is None else integers(shape)
    if not call.attr("allowzero", 0):
        if given == [0, -1] and len(x.shape) > 1 and 0 not in x.shape:
            return op("Flatten")(x)
        given = [x.shape[i] if extent == 0 else extent for i, extent in enumerate(given)]
    if -1 in given and 0 in x.shape:
        rest = prod(extent for extent in given if extent != -1)
        given = [prod(x.shape) // rest if extent == -1 and rest else extent for extent in given]
    return mnp.reshape(x, _extents(call, given))


def _extents(call: Call, given: list[int]) -> tuple[int, ...]:
    """Check and return a shape with at most one -1."""
    if any(extent < -1 for extent in given) or given.count(-1) > 1:
        call.wrong(f"expected extents of at least 0 and one -1 at most, got {given}")
    return tuple(given)


def _flatten(call: Call, x: Any) -> Any:
    rank = len(x.shape)
    axis = call.attr("axis", 1)
    axis = axis + rank if axis < 0 else axis
    if axis == 1 and rank > 1:
        return op("Flatten")(x)
    return mnp.reshape(x, (prod(x.shape[:axis]), prod(x.shape[axis:])))


def _squeeze(call: Call, x: Any, axes: Any = None) -> Any:
    given = axes_given(call, axes)
    if given is None:
        return mnp.squeeze(x)
    return mnp.squeeze(x, axis=tuple(given)) if given else x


def _unsqueeze(call: Call, x: Any, axes: Any = None) -> Any:
    given = axes_given(call, axes) or []
    rank = len(x.shape) + len(given)
    placed = sorted(axis_of(axis, rank) for axis in given)
    if len(set(placed)) < len(placed):
        call.wrong(f"expected different axes, got {given}")
    for axis in placed:
        x = mnp.expand_dims(x, axis)
    return x


def _transpose(call: Call, x: Any) -> Any:
    return mnp.transpose(x, call.attr("perm"))


def _concat(call: Call, *given: Any) -> Any:
    # Empty vectors are ignored, as other frameworks write them.
    arrays = [x for x in given if x.shape != (0,)] or list(given[:1])
    if len(arrays) == 1:
        return arrays[0]
    return mnp.concatenate(arrays, axis=call.attr("axis", 1))


def _split(call: Call, x: Any, sizes: Any = None) -> Any:
    axis = axis_of(call.attr("axis", 0), len(x.shape))
    given = axes_given(call, sizes, "split")
    extent, count = x.shape[axis], len(call.node.outputs)
    if given is None:
        if call.attr("num_outputs", count) != count:
            call.wrong(f"expected num_outputs to be the {count} that there are")
        step = -(-extent // count)
        given = [max(0, min(step, extent - step * i)) for i in range(count)]
    if sum(given) != extent or any(size < 0 for size in given):
        call.wrong(f"expected parts that make up {extent} along axis {axis}, got {given}")
    return tuple(chunks(x, axis, given))


def chunks(x: Any, axis: int, sizes: Sequence[int]) -> list[Any]:
    """Split an array into chunks of given sizes along an axis."""
    ends = np.cumsum(sizes).tolist()
    return [cut(x, axis, end - size, end) for size, end in zip(sizes, ends, strict=True)]


def _expand(call: Call, x: Any, shape: Any) -> Any:
    target = np.broadcast_shapes(tuple(x.shape), tuple(integers(shape)))
    return mnp.broadcast_to(x, check_size(target)) if target != tuple(x.shape) else x


def _tile(call: Call, x: Any, repeats: Any, axis: Any = None) -> Any:
    if axis is not None:  # opset 1: repeats along one axis
        times = [1] * len(x.shape)
        times[integer(axis)] = integer(repeats)
    else:
        times = integers(repeats)
    check_size([a * b for a, b in zip(x.shape, times, strict=True)])
    return mnp.tile(x, tuple(times))


def _constant(call: Call) -> Any:
    attrs = call.node.attrs
    for name in ("value", "sparse_value"):
        if name in attrs:
            return constant(attrs[name])
    for name, dtype in (("value_float", FLOAT32), ("value_floats", FLOAT32)):
        if name in attrs:
            return array_of(attrs[name], dtype)
    for name in ("value_int", "value_ints"):
        if name in attrs:
            return array_of(attrs[name], INT64)
    return call.refuse("expected numbers, got strings")


def _constant_of_shape(call: Call, shape: Any) -> Any:
    stored = call.attr("value")
    extents = tuple(integers(shape))
    if stored is None:
        return filled(extents, 0, FLOAT32)
    number = stored.carried().reshape(-1)[0]
    return narrowed(filled(extents, number, stored.element.dtype), stored.element)


def _constant_fill(call: Call, shape: Any = None) -> Any:
    kind = to_element(call, call.attr("dtype", 1))
    extents = call.attr("shape", []) if shape is None else integers(shape)
    return filled(extents, call.attr("value", 0.0), kind.dtype)


def _range(call: Call, start: Any, limit: Any, step: Any) -> Any:
    first, last, by = (host(x).reshape(-1)[0] for x in (start, limit, step))
    check_size([max(0, int((float(last) - float(first)) / float(by)) + 1)])
    return array_of(np.arange(first, last, by, dtype=first.dtype))


def _eye_like(call: Call, x: Any) -> Any:
    number = call.attr("dtype")
    dtype = x.dtype if number is None else to_element(call, number).dtype
    rows, columns = x.shape
    return mnp.eye(rows, columns, k=call.attr("k", 0), dtype=dtype)


def _trilu(call: Call, x: Any, k: Any = None) -> Any:
    shift = 0 if k is None else integer(k)
    rows, columns = x.shape[-2:]
    keep = np.tri(rows, columns, shift - 1 if call.attr("upper", 1) else shift, dtype=bool)
    mask = array_of(~keep if call.attr("upper", 1) else keep)
    return mnp.where(mask, x, mnp.zeros_like(x))


_PAD_MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def _pad(call: Call, x: Any, pads: Any = None, value: Any = None, axes: Any = None) -> Any:
    """Pad; negative widths crop."""
    rank = len(x.shape)
    widths = axes_given(call, pads, "pads") or call.attr("paddings")
    chosen = list(range(rank)) if axes is None else [axis_of(a, rank) for a in integers(axes)]
    if widths is None or len(widths) != 2 * len(chosen):
        call.wrong(f"expected two widths for each of {len(chosen)} axes, got {widths}")
    before, after = [0] * rank, [0] * rank
    for i, axis in enumerate(chosen):
        before[axis], after[axis] = int(widths[i]), int(widths[len(chosen) + i])
    cut = [
        slice(max(0, -b), n - max(0, -a)) for b, a, n in zip(before, after, x.shape, strict=True)
    ]
    if any(width < 0 for width in (*before, *after)):
        x = x[tuple(cut)]
    mode = _PAD_MODES[call.attr("mode", "constant")]
    around = [(max(0, b), max(0, a)) for b, a in zip(before, after, strict=True)]
    check_size([n + b + a for n, (b, a) in zip(x.shape, around, strict=True)])
    number = call.attr("value", 0.0) if value is None else host(value).reshape(-1)[0].item()
    return padded(x, around, mode, number)


def padded(x: Any, around: list[tuple[int, int]], mode: str = "constant", number: Any = 0) -> Any:
    """Pad each axis by nonnegative widths."""
    if mode == "constant":
        return _with_margin(x, around, number)
    for axis, (before, after) in enumerate(around):
        if before or after:
            check_table(before + x.shape[axis] + after)
            order = np.pad(np.arange(x.shape[axis]), (before, after), mode)  # type: ignore[call-overload]  # known names
            x = mnp.take(x, array_of(order), axis=axis, mode="clip")
    return x


def _with_margin(x: Any, around: list[tuple[int, int]], number: Any) -> Any:
    if not any(map(any, around)):
        return x
    if x.dtype in (np.float32, np.float64, np.float16) and x.shape and 0 not in x.shape:
        return mnp.pad(x, tuple(around), mode="constant", constant_values=number)
    for axis, (before, after) in enumerate(around):
        margins = [
            mnp.full((*x.shape[:axis], width, *x.shape[axis + 1 :]), number, dtype=x.dtype)
            for width in (before, after)
        ]
        pieces = [margins[0]] * bool(before) + [x] + [margins[1]] * bool(after)
        x = mnp.concatenate(pieces, axis=axis) if len(pieces) > 1 else x
    return x


def _center_crop_pad(call: Call, x: Any, shape: Any) -> Any:
    """Crop or zero-pad some axes, around their center."""
    axes = call.attr("axes")
    rank = len(x.shape)
    chosen = range(rank) if axes is None else [axis_of(axis, rank) for axis in axes]
    for axis, target in zip(chosen, integers(shape), strict=True):
        extent = x.shape[axis]
        start = abs(target - extent) // 2
        if target <= extent:
            x = x[(*(slice(None),) * axis, slice(start, start + target))]
        else:
            around = [(0, 0)] * rank
            around[axis] = (start, target - extent - start)
            x = _with_margin(x, around, 0)
    return x


def _depth_to_space(call: Call, x: Any) -> Any:
    b = call.attr("blocksize")
    if call.attr("mode", "DCR") == "DCR":
        return op("depth_to_space")(x, block_size=b)
    n, c, h, w = x.shape
    chunks = mnp.reshape(x, (n, c // (b * b), b, b, h, w))
    return mnp.reshape(mnp.transpose(chunks, (0, 1, 4, 2, 5, 3)), (n, c // (b * b), h * b, w * b))


def _space_to_depth(call: Call, x: Any) -> Any:
    b = call.attr("blocksize")
    if call.attr("mode", "DCR") == "DCR":
        return op("space_to_depth")(x, block_size=b)
    n, c, h, w = x.shape
    chunks = mnp.reshape(x, (n, c, h // b, b, w // b, b))
    return mnp.reshape(mnp.transpose(chunks, (0, 1, 3, 5, 2, 4)), (n, c * b * b, h // b, w // b))


RULES: dict[str, Rule] = {
    "Shape": _shape,
    "Size": _size,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": _transpose,
    "Concat": _concat,
    "Split": _split,
    "Expand": _expand,
    "Tile": _tile,
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "ConstantFill": _constant_fill,
    "Range": _range,
    "EyeLike": _eye_like,
    "Trilu": _trilu,
    "Pad": _pad,
    "CenterCropPad": _center_crop_pad,
    "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
}
