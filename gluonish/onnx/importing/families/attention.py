"""Attention: scaled_dot_product_attention, also with a cache that grows by concatenation.

Nodes with the output of scores, qk_matmul_output, run by the body that ONNX defines.
"""

import math
from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import BOOL
from gluonish.onnx.importing.arrays import array_of, computed, dtype_of, op
from gluonish.onnx.importing.nodes import Call, Rule


def _attention(
    call: Call,
    q: Any,
    k: Any,
    v: Any,
    mask: Any = None,
    past_key: Any = None,
    past_value: Any = None,
    lengths: Any = None,
) -> tuple[Any, Any, Any]:
    """Attend, and return the output and the keys and values with earlier ones."""
    if (past_key is None) != (past_value is None):
        call.wrong("expected past_key and past_value, or neither, got one of them")
    dtype, flat = dtype_of(q), len(q.shape) == 3
    if flat:
        q, k, v = _split(call, q, k, v)
    by_steps = flat and past_key is None and not call.wants(1) and not call.wants(2)
    if flat and not by_steps:
        q, k, v = (mnp.transpose(x, (0, 2, 1, 3)) for x in (q, k, v))
    if past_key is not None:
        k, v = (mnp.concatenate(pair, axis=2) for pair in ((past_key, k), (past_value, v)))
    present = (k, v)
    queries, keys = (x.shape[1 if by_steps else 2] for x in (q, k))
    past = 0 if past_key is None else past_key.shape[2]
    offset = past if lengths is None or past else lengths - queries
    mask = _of_all_keys(mask, keys)
    reach, mask = _reach(call, mask, (queries, keys), offset)
    floating = [] if mask is None or dtype_of(mask) == BOOL else [dtype_of(mask)]
    common = np.result_type(*map(dtype_of, (q, k, v)), *floating)
    made = op("scaled_dot_product_attention")(
        *computed(common, q, k, v),
        mask=mask if not floating else computed(common, mask),
        valid_length=lengths,
        scale=call.attr("scale"),
        softcap=call.attr("softcap", 0.0) or None,
        layout="NTHC" if by_steps else "NHTC",
        **reach,
    )
    made = computed(dtype, made)
    if flat:
        made = made if by_steps else mnp.transpose(made, (0, 2, 1, 3))
        made = mnp.reshape(made, (*made.shape[:2], -1))
    return (made, *present)


def _split(call: Call, *arrays: Any) -> list[Any]:
    """Split the last axis of queries, keys and values into heads: (N, T, H, C)."""
    counts = [call.attr(name, 0) for name in ("q_num_heads", "kv_num_heads", "kv_num_heads")]
    for x, count in zip(arrays, counts, strict=True):
        if count < 1 or x.shape[-1] % count:
            call.wrong(
                f"expected q_num_heads and kv_num_heads that divide the last axes of q, k and v, "
                f"got {counts[:2]} for shapes {[x.shape for x in arrays]}"
            )
    return [
        mnp.reshape(x, (*x.shape[:2], count, x.shape[-1] // count))
        for x, count in zip(arrays, counts, strict=True)
    ]


def _of_all_keys(mask: Any, keys: int) -> Any:
    """Hide the last keys, if a mask has fewer."""
    if mask is None or mask.shape[-1] >= keys:
        return mask
    hidden = False if dtype_of(mask) == BOOL else -math.inf
    rest = mnp.full((*mask.shape[:-1], keys - mask.shape[-1]), hidden, dtype=mask.dtype)
    return mnp.concatenate((mask, rest), axis=-1)


def _reach(
    call: Call, mask: Any, scores: tuple[int, int], offset: Any
) -> tuple[dict[str, Any], Any]:
    """Return causality and windows as attributes, and a mask for what these cannot say.

    Args:
        call: The node.
        mask: The node's own mask, or None.
        scores: Numbers of queries and keys.
        offset: Position of the first query among the keys; an array (N,) if samples differ.
    """
    before, after = (call.attr(f"{side}_window_size", -1) for side in ("left", "right"))
    if call.attr("is_causal", 0):
        after = 0
    if before < 0 and after < 0:
        return {}, mask
    queries, keys = scores
    if isinstance(offset, int) and offset == keys - queries:
        if before < 0 and after == 0:
            return {"causal": True}, mask
        if before >= 0 and after in (0, before):
            return {"causal": after == 0, "window": before + 1}, mask
    own = np.arange(queries)[:, None]
    if isinstance(offset, int):
        apart = array_of(np.arange(keys) - own - offset)
    else:
        apart = array_of(np.arange(keys) - own) - mnp.reshape(offset, (-1, 1, 1, 1))
    seen = [apart >= -before] if before >= 0 else []
    seen += [apart <= after] if after >= 0 else []
    found = seen[0] if len(seen) == 1 else mnp.bitwise_and(*seen)
    if mask is None:
        return {}, found
    if dtype_of(mask) == BOOL:
        return {}, mnp.bitwise_and(found, mask)
    return {}, mnp.where(found, mask, mnp.full((1,), -math.inf, dtype=mask.dtype))


RULES: dict[str, Rule] = {"Attention": _attention}
