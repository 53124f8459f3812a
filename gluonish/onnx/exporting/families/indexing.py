"""Indexing: elements by their positions, sorting, sequences of different lengths."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, INT32, INT64
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import (
    arange,
    axis_of,
    concat,
    extent_of,
    extents,
    filled,
    flipped,
    gather,
    reduced,
    reshaped,
    select,
    sliced,
    squeezed,
    to_shape,
    transposed,
    unsqueezed,
)
from gluonish.onnx.exporting.tensors import OpenExtent, Tensor


def truth(x: Tensor) -> Tensor:
    """Return a mask of the elements that are not 0."""
    return x if x.dtype == BOOL else ~x.equals(0)


def _whole(x: Tensor) -> Tensor:
    return x.to(INT64)


def bounded(index: Tensor, x: Tensor, axis: int, mode: str = "clip") -> Tensor:
    """Bring indices into the range of an axis of x: clip, wrap, or unchanged in mode 'raise'."""
    index = _whole(index)
    if mode == "raise":
        return index
    size = x.known_shape[axis]
    count: Tensor | int = size if isinstance(size, int) else squeezed(extent_of(x, axis), 0)
    if mode == "wrap":
        if isinstance(count, int):
            count = index.emitter.constant(count)
        return index.emitter("Mod", index, count)
    last = count - 1
    if isinstance(last, int):
        last = index.emitter.constant(last)
    return index.emitter("Clip", index, index.emitter.constant(0), last)


def _take(call: Call) -> Tensor:
    x, index = call.inputs
    axis = axis_of(call["axis"], x.rank)
    return gather(x, bounded(index, x, axis, call["mode"]), axis)


def _embedding(call: Call) -> Tensor:
    index, weight = call.inputs[:2]
    return gather(weight, bounded(index, weight, 0), 0)


def _pick(call: Call) -> Tensor:
    x, index = call.inputs
    if call["axis"] is None:
        flat = reshaped(x, [-1])
        flat.shape = (int(np.prod([x.size(i) for i in range(x.rank)])),)
        return gather(flat, bounded(index, flat, 0, call["mode"]), 0)
    axis = axis_of(call["axis"], x.rank)
    indices = bounded(index, x, axis, call["mode"])
    if index.rank < x.rank:
        indices = unsqueezed(indices, axis)
    made = call("GatherElements", x, indices, axis=axis)
    return made if call["keepdims"] else squeezed(made, axis)


def _batch_take(call: Call) -> Tensor:
    x, index = call.inputs
    indices = unsqueezed(bounded(index, x, 1), 1)
    return squeezed(call("GatherElements", x, indices, axis=1), 1)


def _points(index: Tensor) -> Tensor:
    """Convert coordinates of shape (M, ...) to ONNX's (..., M)."""
    return transposed(_whole(index), [*range(1, index.rank), 0])


def _gather_nd(call: Call) -> Tensor:
    return call("GatherND", call.x, _points(call.inputs[1]))


def _scatter_nd(call: Call) -> Tensor:
    x, index = call.inputs
    zeros = filled(call.emitter, call.out.shape, 0, x.dtype)
    if call.op == "_backward_gather_nd":
        if call.emitter.opset < 16:
            raise call.refuse("it adds where points meet; give opset_version=16 or a later one")
        return call("ScatterND", zeros, _points(index), x, reduction="add")
    return call("ScatterND", zeros, _points(index), x)


def _scatter_set_nd(call: Call) -> Tensor:
    x, updates, index = call.inputs
    return call("ScatterND", x, _points(index), updates)


def _index_copy(call: Call) -> Tensor:
    x, index, updates = call.inputs
    return call("ScatterND", x, unsqueezed(_whole(index), 1), updates)


def _fill_element(call: Call) -> Tensor:
    x, value, index = call.inputs
    indices = unsqueezed(_whole(index), 1)
    return call("ScatterElements", x, indices, unsqueezed(value, 1), axis=1)


def _one_hot(call: Call) -> Tensor:
    dtype = call.out.dtype
    return _hot(call, call.x, call["depth"], call["on_value"], call["off_value"], dtype)


def _hot(call: Call, index: Tensor, depth: int, on: float, off: float, dtype: Any) -> Tensor:
    """Return one-hot rows. Negative indices are all off; ONNX's OneHot counts them from the end."""
    indices = unsqueezed(_whole(index), index.rank)
    hit = call("Equal", indices, call.constant(np.arange(depth)))
    values = np.array([off, on]).astype(dtype)
    return select(hit, call.constant(values[1]), call.constant(values[0]))


def _onehot_encode(call: Call) -> Tensor:
    index, like = call.inputs
    return _hot(call, index, like.size(1), 1, 0, like.dtype)


def _where(call: Call) -> Tensor:
    condition, x, y = call.inputs
    test = truth(condition)
    if condition.rank == 1 and x.rank > 1 and call.op == "where":
        test = unsqueezed(test, *range(1, x.rank))
    return call("Where", test, x.to(call.out.dtype), y.to(call.out.dtype))


def _where_scalar(left: bool) -> Callable[[Call], Tensor]:
    def translate(call: Call) -> Tensor:
        condition, x = call.inputs
        number = call.constant(np.array(call["scalar"]).astype(call.out.dtype))
        array = x.to(call.out.dtype)
        return call("Where", truth(condition), *((number, array) if left else (array, number)))

    return translate


def _where_scalars(call: Call) -> Tensor:
    x, y = (call.constant(np.array(call[name]).astype(call.out.dtype)) for name in ("x", "y"))
    return call("Where", truth(call.x), x, y)


def _sorted(call: Call, ascending: bool, count: int | None) -> tuple[list[Tensor], Tensor, int]:
    """Return sorted values and their indices, the data, and the axis."""
    x, axis = call.x, call["axis"]
    if axis is None:
        size = int(np.prod([x.size(i) for i in range(x.rank)]))
        x, axis = to_shape(x, x.known_shape, (size,)), 0
    axis = axis_of(axis, x.rank)
    number = extent_of(x, axis) if count is None else call.constant([count])
    data = x if x.dtype != BOOL else x.to(INT32)
    kinds = [data.dtype, INT64]
    options = {"axis": axis, "largest": int(not ascending), "sorted": 1}
    return call.emitter.several("TopK", 2, data, number, dtypes=kinds, **options), x, axis


def _sort(call: Call) -> list[Tensor | None]:
    values, _, _ = _sorted(call, call["is_ascend"], None)
    return [values[0], None]


def _argsort(call: Call) -> Tensor:
    values, _, _ = _sorted(call, call["is_ascend"], None)
    return values[1]


def _topk(call: Call) -> Sequence[Tensor]:
    kind = call["ret_typ"]
    count = None if call["k"] < 1 else int(call["k"])
    (values, indices), x, axis = _sorted(call, call["is_ascend"], count)
    if kind == "both":
        return [values, indices]
    if kind == "value":
        return [values]
    if kind == "indices":
        return [indices]
    zeros = call("Expand", call.constant(0, x.dtype), extents(x))
    ones = call("Expand", call.constant(1, x.dtype), call("Shape", indices))
    made = call("ScatterElements", zeros, indices, ones, axis=axis)
    return [to_shape(made, x.known_shape, call.out.shape)]


def _steps(call: Call, axis: int) -> Tensor:
    """Return the indices of the time steps, to compare with lengths."""
    size = call.x.known_shape[axis]
    if isinstance(size, OpenExtent):
        return arange(extent_of(call.x, axis))
    return call.constant(np.arange(size))


def _sequence_mask(call: Call) -> Tensor:
    x, axis = call.x, call["axis"]
    if not call["use_sequence_length"]:
        return x
    steps, length = _steps(call, axis), _whole(call.inputs[1])
    inside = unsqueezed(steps, 1 - axis) < unsqueezed(length, axis)
    if x.rank > 2:
        inside = unsqueezed(inside, *range(2, x.rank))
    return select(inside, x, call["value"])


def _sequence_last(call: Call) -> Tensor:
    x, axis = call.x, call["axis"]
    if not call["use_sequence_length"]:
        return squeezed(sliced(x, [-1], [np.iinfo(np.int64).max], [axis]), axis)
    rows = x if axis == 1 else transposed(x, [1, 0, *range(2, x.rank)])
    indices = unsqueezed(_whole(call.inputs[1]) - 1, 1)
    return call("GatherND", rows, indices, batch_dims=1)


def _sequence_reverse(call: Call) -> Tensor:
    if not call["use_sequence_length"]:
        return flipped(call.x, 0)
    length = _whole(call.inputs[1])
    return call("ReverseSequence", call.x, length, time_axis=0, batch_axis=1)


def _ravel(call: Call) -> Tensor:
    shape = call["shape"]
    weights = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    x = _whole(call.x)
    factors = np.array(weights, np.int64).reshape(-1, *(1,) * (call.x.rank - 1))
    return reduced("ReduceSum", x * call.constant(factors), [0])


def _unravel(call: Call) -> Tensor:
    shape, rest = call["shape"], _whole(call.x)
    rows = []
    for extent in shape[:0:-1]:
        size = call.constant(int(extent))
        rows.append(call("Mod", rest, size, fmod=1))
        rest = call("Div", rest - rows[-1], size)
    rows.append(rest)
    return concat([unsqueezed(row, 0) for row in rows[::-1]], 0)


def _mask_assign(call: Call) -> Tensor:
    x, mask = call.inputs[:2]
    start = int(call["start_axis"])
    test = truth(mask)
    rest = x.rank - start - mask.rank
    if rest:
        test = unsqueezed(test, *range(mask.rank, mask.rank + rest))
    if call.op.endswith("_scalar"):
        return select(test, np.array(call["value"]).astype(x.dtype).item(), x)
    return call("Where", test, _assigned(call, mask, rest), x)


def _assigned(call: Call, mask: Tensor, rest: int) -> Tensor:
    """Return the values to assign, in a shape that broadcasts with the data."""
    given = call.inputs[2]
    value = given.to(call.x.dtype)
    along = given.rank - rest - 1  # the axis that runs over the selected elements
    if along < 0:
        return value
    shape = given.known_shape
    spread = (*shape[:along], *(1,) * mask.rank, *shape[along + 1 :])
    if shape[along] == 1:
        return to_shape(value, shape, spread)
    numbers = call("CumSum", reshaped(truth(mask).to(INT32), [-1]), call.constant(0)) - 1
    chosen = gather(value, select(numbers < 0, 0, numbers), along)
    return to_shape(chosen, (), (*shape[:along], *mask.known_shape, *shape[along + 1 :]))


TABLE: dict[str, Any] = {
    "take": _take,
    **dict.fromkeys(("Embedding", "_contrib_SparseEmbedding"), _embedding),
    "pick": _pick,
    "batch_take": _batch_take,
    "gather_nd": _gather_nd,
    **dict.fromkeys(("scatter_nd", "_backward_gather_nd"), _scatter_nd),
    "_scatter_set_nd": _scatter_set_nd,
    "_contrib_index_copy": _index_copy,
    "fill_element_0index": _fill_element,
    "one_hot": _one_hot,
    "_onehot_encode": _onehot_encode,
    **dict.fromkeys(("where", "_npi_where"), _where),
    "_npi_where_lscalar": _where_scalar(left=True),
    "_npi_where_rscalar": _where_scalar(left=False),
    "_npi_where_scalar2": _where_scalars,
    "sort": _sort,
    "argsort": _argsort,
    "topk": _topk,
    "SequenceMask": _sequence_mask,
    "SequenceLast": _sequence_last,
    "SequenceReverse": _sequence_reverse,
    "_ravel_multi_index": _ravel,
    "_unravel_index": _unravel,
    "_npi_boolean_mask_assign_scalar": _mask_assign,
    "_npi_boolean_mask_assign_tensor": _mask_assign,
}
