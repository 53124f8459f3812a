"""Attention: scaled_dot_product_attention, and products on interleaved projections."""

import math
from typing import Any

import numpy as np

from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import (
    concat,
    gather,
    reshaped,
    select,
    sliced,
    softmax,
    transposed,
    unsqueezed,
)
from gluonish.onnx.exporting.tensors import Tensor
from gluonish.ops.attention.scaled_dot_product import (
    LAYOUTS,
    Reach,
    optional_inputs,
    scale_of,
)
from gluonish.ops.support.precision import accumulator

_LAST = np.iinfo(np.int64).max


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
    """Compute scaled_dot_product_attention by products and a softmax, in the dtype of sums."""
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
    seen = _in_reach(call, q, k)
    if lengths is not None:
        seen += _within_lengths(call, lengths, q, k)
    if mask is not None and mask.dtype == np.dtype(bool):
        seen.append(mask)
    elif mask is not None:
        mask = mask.to(wide)
        scores = scores + mask
        seen.append(mask > -math.inf)
    weights = _softmax_of_seen(scores, seen)
    made = call("MatMul", weights, v).to(call.out.dtype)
    if call["swapped"]:
        return transposed(made, [*range(rank - 3), rank - 2, rank - 3, rank - 1])
    return transposed(made, np.argsort(LAYOUTS[layout][:rank]).tolist())


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


def _in_reach(call: Call, q: Tensor, k: Tensor) -> list[Tensor]:
    """Return the condition of causality and a window, if there is one."""
    before, after = Reach.of(causal=call["causal"], window=call["window"])
    if before is None and after is None:
        return []
    queries, keys = q.size(-2), k.size(-2)
    distance = np.arange(keys) - np.arange(queries)[:, None] - (keys - queries)
    seen = np.ones((queries, keys), bool)
    if before is not None:
        seen &= distance >= -before
    if after is not None:
        seen &= distance <= after
    return [call.constant(seen)]


def _within_lengths(call: Call, lengths: Tensor, q: Tensor, k: Tensor) -> list[Tensor]:
    """Return the conditions of numbers of keys, and perhaps of queries."""
    whole = np.dtype(np.int64)
    counts = [lengths.to(whole)]
    if lengths.rank > 1:
        counts = [gather(counts[0], np.array(i), 0) for i in (1, 0)]
    found = []
    for count, extent, last in zip(counts, (k.size(-2), q.size(-2)), (1, 0), strict=False):
        numbers = np.arange(extent, dtype=whole).reshape((1, -1) if last else (-1, 1))
        each = unsqueezed(count, *range(1, q.rank))
        found.append(call.constant(numbers) < each)
    return found


def _softmax_of_seen(scores: Tensor, seen: list[Tensor]) -> Tensor:
    """Return weights that are 0 for hidden keys, also where a query sees none."""
    if not seen:
        return softmax(scores, -1)
    every = seen[0]
    for condition in seen[1:]:
        every = every & condition
    # Not -inf, whose softmax would be NaN in rows without keys.
    return select(every, softmax(select(every, scores, -1e30), -1), 0.0)


TABLE: dict[str, Any] = {
    "scaled_dot_product_attention": _attention,
    "_contrib_interleaved_matmul_selfatt_qk": _self_scores,
    "_contrib_interleaved_matmul_selfatt_valatt": _self_values,
    "_contrib_interleaved_matmul_encdec_qk": _cross_scores,
    "_contrib_interleaved_matmul_encdec_valatt": _cross_values,
}
