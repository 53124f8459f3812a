"""Attention: scaled_dot_product_attention, and products on interleaved projections."""

import math
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, INT64, is_floating
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import (
    arange,
    concat,
    gather,
    reshaped,
    select,
    shape_tensor,
    sliced,
    softmax,
    squeezed,
    transposed,
    unsqueezed,
)
from gluonish.onnx.exporting.tensors import Extent, OpenExtent, Tensor
from gluonish.ops.attention.scaled_dot_product import (
    LAYOUTS,
    Reach,
    optional_inputs,
    scale_of,
)
from gluonish.ops.support.precision import accumulator

_FLOAT = 1  # ONNX's number of float32


def _heads(call: Call, x: Tensor, chunks: int, which: int) -> Tensor:
    """Extract one of the chunks in (T, N, heads * chunks * units), as (N, heads, T, units)."""
    split = reshaped(x, [0, 0, int(call["heads"]), chunks, -1])
    return transposed(gather(split, np.array(which), 3), [1, 2, 0, 3])


def _scores(call: Call, query: Tensor, key: Tensor, units: int) -> Tensor:
    """Return products of queries and keys, of shape (N * heads, T, S)."""
    made = call("MatMul", query * (1 / float(np.sqrt(units))), transposed(key, [0, 1, 3, 2]))
    rest = sliced(call("Shape", made), [2], [4], [0])
    return call("Reshape", made, concat([call.constant([-1]), rest], 0))


def _weighted(call: Call, attention: Tensor, value: Tensor) -> Tensor:
    """Return values weighted by attention (N * heads, T, S), as (T, N, heads * units)."""
    rest = sliced(call("Shape", attention), [1], [3], [0])
    shape = concat([call.constant([-1, int(call["heads"])]), rest], 0)
    made = call("MatMul", call("Reshape", attention, shape), value)
    return reshaped(transposed(made, [2, 0, 1, 3]), [0, 0, -1])


def _self_scores(call: Call) -> Tensor:
    units = call.x.size(2) // 3 // int(call["heads"])
    return _scores(call, _heads(call, call.x, 3, 0), _heads(call, call.x, 3, 1), units)


def _self_values(call: Call) -> Tensor:
    x, attention = call.inputs
    return _weighted(call, attention, _heads(call, x, 3, 2))


def _cross_scores(call: Call) -> Tensor:
    query, keys_values = call.inputs
    units = query.size(2) // int(call["heads"])
    return _scores(call, _heads(call, query, 1, 0), _heads(call, keys_values, 2, 0), units)


def _cross_values(call: Call) -> Tensor:
    keys_values, attention = call.inputs
    return _weighted(call, attention, _heads(call, keys_values, 2, 1))


def _attention(call: Call) -> Tensor:
    """Translate scaled_dot_product_attention: as Attention, which is standard from opset 23 on."""
    extents = [n for x in call.inputs[:3] for n in x.known_shape]
    if call.emitter.opset >= 23 and call.x.rank <= 4 and 0 not in extents:
        return _standard(call)
    return _written_out(call)


def _written_out(call: Call) -> Tensor:
    """Compute attention by products and a softmax, in the dtype of sums."""
    rank, layout = call.x.rank, call["layout"]
    wide = accumulator(call.x.dtype)
    q, k, v = (transposed(x.to(wide), LAYOUTS[layout][:rank]) for x in call.inputs[:3])
    if rank > 3 and q.size(-3) != k.size(-3):
        k, v = (_for_each_head(call, x, q.size(-3)) for x in (k, v))
    keys = transposed(k, [*range(rank - 2), rank - 1, rank - 2])
    scores = call("MatMul", q * scale_of(call["scale"], q.size(-1)), keys)
    if call["softcap"] is not None:
        scores = call("Tanh", scores / call["softcap"]) * call["softcap"]
    mask, lengths = optional_inputs(call.inputs[3:], call.attrs)
    seen = _in_reach(call, _extents(call))
    if lengths is not None:
        seen += _within_lengths(call, lengths, _extents(call), rank)
    if mask is not None and mask.dtype == BOOL:
        seen.append(mask)
    elif mask is not None:
        mask = mask.to(wide)
        scores = scores + mask
        seen.append(mask > -math.inf)
    weights = _softmax_of_seen(scores, seen)
    return _in_layout(call, call("MatMul", weights, v).to(call.out.dtype))


def _in_layout(call: Call, made: Tensor) -> Tensor:
    """Permute an output (..., H, T, V) to the axes that the call asks for."""
    rank = call.x.rank
    if call["swapped"]:
        return transposed(made, [*range(rank - 3), rank - 2, rank - 3, rank - 1])
    return transposed(made, np.argsort(LAYOUTS[call["layout"]][:rank]).tolist())


def _standard(call: Call) -> Tensor:
    """Append ONNX's Attention; there, too, a query without keys gets zeros."""
    mask, lengths = optional_inputs(call.inputs[3:], call.attrs)
    dtype = call.x.dtype
    if mask is not None and is_floating(mask.dtype):
        dtype = np.result_type(dtype, mask.dtype)
        mask = mask.to(dtype)
    data = [x.to(dtype) for x in call.inputs[:3]]
    rank, layout = call.x.rank, call["layout"]
    scores = _extents(call)
    options: dict[str, Any] = {"scale": call["scale"], "softcap": call["softcap"]}
    options["softmax_precision"] = _FLOAT if dtype.itemsize < 4 else None
    reach = _reach_as_attributes(call, scores)
    seen = _in_reach(call, scores) if reach is None else []
    options |= reach or {}
    if lengths is not None:
        seen += _within_lengths(call, lengths, scores, 4)
    if mask is not None and mask.rank == rank == 3:
        mask = unsqueezed(mask, 1)
    joint = _joint_mask(call, mask, seen, scores)
    heads = [x.known_shape[2] for x in data]
    if layout == "NTHC" and not any(isinstance(n, OpenExtent) for n in heads):
        options |= {"q_num_heads": heads[0], "kv_num_heads": heads[1]}
        made = call("Attention", *(reshaped(x, [0, 0, -1]) for x in data), joint, **options)
        return reshaped(made.to(call.out.dtype), [0, 0, call.x.size(2), -1])
    if rank == 3:
        made = call("Attention", *(unsqueezed(x, 1) for x in data), joint, **options)
        return squeezed(made.to(call.out.dtype), 1)
    data = [transposed(x, LAYOUTS[layout]) for x in data]
    return _in_layout(call, call("Attention", *data, joint, **options).to(call.out.dtype))


def _extents(call: Call) -> tuple[Extent, Extent]:
    """Return the numbers of queries and keys."""
    axis = call.x.rank - 2 if call.x.rank < 4 else LAYOUTS[call["layout"]][2]
    return call.inputs[0].known_shape[axis], call.inputs[1].known_shape[axis]


def _reach_as_attributes(call: Call, scores: tuple[Extent, Extent]) -> dict[str, int] | None:
    """Return causality and a window as attributes of Attention, or None if a mask must say them.

    ONNX counts from the first query and the first key, and has windows from opset 25 on.
    """
    causal, window = call["causal"], call["window"]
    if not causal and window is None:
        return {}
    if scores[0] != scores[1] or (window is not None and call.emitter.opset < 25):
        return None
    if window is None:
        return {"is_causal": 1}
    return {
        "is_causal": int(causal),
        "left_window_size": window - 1,
        "right_window_size": 0 if causal else window - 1,
    }


def _joint_mask(
    call: Call, mask: Tensor | None, seen: list[Tensor], scores: tuple[Extent, Extent]
) -> Tensor | None:
    """Return one mask for ONNX's Attention, with all queries and keys in its last axes."""
    found = mask
    if mask is not None and mask.dtype == BOOL:
        seen = [*seen, mask]
    if seen:
        found = _all_of(seen)
        if mask is not None and mask.dtype != BOOL:
            found = select(found, mask, -math.inf)
    if found is None or (found.shape is not None and found.shape[-2:] == scores):
        return found
    return call("Expand", found, shape_tensor(call.emitter, (1, 1, *scores)))


def _for_each_head(call: Call, x: Tensor, heads: int) -> Tensor:
    """Repeat keys or values for the heads that share them."""
    groups = x.size(-3)
    if x.rank > 4:
        raise call.refuse("it shares keys among heads behind several axes of samples")
    copies = concat([unsqueezed(x, 2)] * (heads // groups), 2)
    made = reshaped(copies, [0, heads, -1, x.size(-1)])
    if x.shape is not None:
        made.shape = (x.shape[0], heads, *x.shape[2:])
    return made


def _in_reach(call: Call, scores: tuple[Extent, Extent]) -> list[Tensor]:
    """Return the condition of causality and a window, if there is one."""
    before, after = Reach.of(causal=call["causal"], window=call["window"])
    if before is None and after is None:
        return []
    queries, keys = scores
    if not isinstance(queries, OpenExtent) and not isinstance(keys, OpenExtent):
        distance = np.arange(keys) - np.arange(queries)[:, None] - (keys - queries)
        seen = np.ones((queries, keys), bool)
        if before is not None:
            seen &= distance >= -before
        if after is not None:
            seen &= distance <= after
        return [call.constant(seen)]
    found = []
    counts = [shape_tensor(call.emitter, [extent]) for extent in (queries, keys)]
    own = unsqueezed(arange(counts[0]) + (counts[1] - counts[0]), 1)
    apart = arange(counts[1]) - own
    if before is not None:
        found.append(apart >= -before)
    if after is not None:
        found.append(apart <= after)
    return found


def _within_lengths(
    call: Call, lengths: Tensor, scores: tuple[Extent, Extent], rank: int
) -> list[Tensor]:
    """Return the conditions of numbers of keys, and perhaps of queries."""
    counts = [lengths.to(INT64)]
    if lengths.rank > 1:
        counts = [gather(counts[0], np.array(i), 0) for i in (1, 0)]
    found = []
    for count, extent, axes in zip(counts, scores[::-1], ([0], [1]), strict=False):
        if isinstance(extent, OpenExtent):
            numbers = unsqueezed(arange(shape_tensor(call.emitter, [extent])), *axes)
        else:
            numbers = call.constant(np.expand_dims(np.arange(extent), axes))
        found.append(numbers < unsqueezed(count, *range(1, rank)))
    return found


def _all_of(seen: list[Tensor]) -> Tensor:
    every = seen[0]
    for condition in seen[1:]:
        every = every & condition
    return every


def _softmax_of_seen(scores: Tensor, seen: list[Tensor]) -> Tensor:
    """Return weights that are 0 for hidden keys, also where a query sees none."""
    if not seen:
        return softmax(scores, -1)
    every = _all_of(seen)
    # Not -inf, whose softmax would be NaN in rows without keys.
    return select(every, softmax(select(every, scores, -1e30), -1), 0.0)


TABLE: dict[str, Any] = {
    "scaled_dot_product_attention": _attention,
    "_contrib_interleaved_matmul_selfatt_qk": _self_scores,
    "_contrib_interleaved_matmul_selfatt_valatt": _self_values,
    "_contrib_interleaved_matmul_encdec_qk": _cross_scores,
    "_contrib_interleaved_matmul_encdec_valatt": _cross_values,
}
