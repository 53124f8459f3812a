"""Attention on a cache of keys and values, which grows in place: the steps of generation.

References:
    R. Pope et al., Efficiently Scaling Transformer Inference, 2022.
"""

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.device import Platform
from gluonish.core.dtype import BOOL, FLOAT32, INT8, INT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, number, optional
from gluonish.core.spec import Shape, Spec
from gluonish.ops.attention.cache_rows import CacheRows
from gluonish.ops.attention.scaled_dot_product import (
    ATTENTION,
    LAYOUTS,
    Reach,
    by_heads,
    scale_of,
    shape_by_heads,
    visible,
)
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.precision import accumulator

_NAME = "_cached_attention"
_INPUTS = (
    *("query", "key", "value", "key_cache", "value_cache", "position"),
    *("mask", "key_scale", "value_scale"),
)
_FEW = 4  # queries up to which `_attend_directly` takes less time than tiles
_PASSED = ("causal", "window", "scale", "softcap")  # attributes that both operators have


def _check_cache(name: str, new: Shape, cache: Spec, scale: Spec | None) -> None:
    held = (*new[:2], new[3])
    is_right = cache.dtype == INT8 if scale is not None else is_floating(cache.dtype)
    if len(cache.shape) != 4 or (*cache.shape[:2], cache.shape[3]) != held or not is_right:
        kind = "a floating dtype" if scale is None else "dtype int8, as there are scales"
        raise OperatorError(
            f"{_NAME}: expected {name} ({new[0]}, {new[1]}, length, {new[3]}) of {kind}, got "
            f"{cache}"
        )
    if scale is not None and (scale.shape != cache.shape[:3] or scale.dtype != FLOAT32):
        raise OperatorError(
            f"{_NAME}: expected a scale for each row of {name}, float32{cache.shape[:3]}, got "
            f"{scale}"
        )


def _infer(
    query: Spec,
    key: Spec,
    value: Spec,
    key_cache: Spec,
    value_cache: Spec,
    position: Spec,
    *rest: Spec,
    **attrs: Any,
) -> tuple[Spec, ...]:
    layout = attrs["layout"]
    if len(query.shape) != 4:
        raise OperatorError(
            f"{_NAME}: expected query ({', '.join(layout)}), got shape {query.shape}"
        )
    passed = {name: attrs[name] for name in (*_PASSED, "layout")}
    out = ATTENTION.infer(query, key, value, **ATTENTION.schema.defaults | passed)[0]
    queries, keys, values = (shape_by_heads(x.shape, layout) for x in (query, key, value))
    if queries[2] != keys[2]:
        raise OperatorError(
            f"{_NAME}: expected a key for each of {queries[2]} queries, got {keys[2]}"
        )
    scales, mask = _optional(rest, attrs)
    _check_cache("key_cache", keys, key_cache, scales[0])
    _check_cache("value_cache", values, value_cache, scales[1])
    if key_cache.shape[2] != value_cache.shape[2]:
        raise OperatorError(
            f"{_NAME}: expected caches of one length, got shapes {key_cache.shape} and "
            f"{value_cache.shape}"
        )
    samples = queries[0]
    if position.shape not in ((1,), (samples,)) or position.dtype.kind not in "iu":
        raise OperatorError(
            f"{_NAME}: expected position (1,) or ({samples},) of integers, got {position}"
        )
    if mask is not None:
        attention = ATTENTION.schema.defaults | {"use_mask": True}
        cached = (Spec(x.shape, query.dtype) for x in (key_cache, value_cache))
        ATTENTION.infer(Spec(queries, query.dtype), *cached, mask, **attention)
    return (out,)


def _optional(rest: Sequence[Any], attrs: Attrs) -> tuple[tuple[Any, Any], Any]:
    """Return the scales of keys and values, and the mask; None for what there is not."""
    scales = (rest[-2], rest[-1]) if attrs["use_scales"] else (None, None)
    return scales, rest[0] if attrs["use_mask"] else None


def _is_small(inputs: Sequence[Any]) -> bool:
    """Whether two products and a softmax take less time than tiles of queries."""
    q = inputs[0]
    return isinstance(q, np.ndarray) and q.dtype.itemsize >= 4 and q.shape[2] <= _FEW


def _attend_directly(out: Any, inputs: Sequence[Any], attrs: Attrs) -> None:
    """Compute attention of a few queries, for heads that share keys by one product."""
    q, k, v, *rest = inputs
    *stack, count, width = q.shape
    joined = (*k.shape[:2], -1)
    queries = (q * q.dtype.type(scale_of(attrs["scale"], width))).reshape(*joined, width)
    shape = (*stack, count, k.shape[2])
    scores = np.matmul(queries, k.swapaxes(-1, -2)).reshape(shape)
    if attrs["softcap"] is not None:
        scores = np.tanh(scores / attrs["softcap"]) * attrs["softcap"]
    hidden = scores.dtype.type(-math.inf)
    for mask in rest:
        scores = np.where(mask, scores, hidden) if mask.dtype == BOOL else scores + mask
    if count > 1 or attrs["window"] is not None:
        reach = {name: attrs[name] for name in ("causal", "window")}
        scores = np.where(visible(np, shape, None, **reach), scores, hidden)
    top = scores.max(axis=-1, keepdims=True)
    scores -= np.where(top == hidden, 0, top)
    np.exp(scores, out=scores)
    total = scores.sum(axis=-1, keepdims=True)
    scores /= np.where(total == 0, 1, total)
    out[...] = np.matmul(scores.reshape(*joined, k.shape[2]), v).reshape(out.shape)


def _attend(xp: ModuleType, out: Any, inputs: Sequence[Any], attrs: Attrs) -> None:
    """Compute attention of arrays (N, H, T, C), by the kernel of eager calls unless it is small."""
    if _is_small(inputs):
        _attend_directly(out, inputs, attrs)
        return
    q = inputs[0]
    specs = [Spec(x.shape, x.dtype) for x in inputs]
    platform: Platform = "cpu" if xp is np else "gpu"
    log_sum = xp.empty((*q.shape[:-1], 1), accumulator(q.dtype))
    kernel = ATTENTION.select_kernel(platform, specs, attrs)
    kernel(xp, (out, log_sum, xp.empty(2, INT64)), *inputs, **attrs)


def _kernel(
    xp: ModuleType,
    out: Any,
    query: Any,
    key: Any,
    value: Any,
    key_cache: Any,
    value_cache: Any,
    position: Any,
    *rest: Any,
    **attrs: Any,
) -> None:
    layout = attrs["layout"]
    q, k, v, made = (by_heads(x, layout) for x in (query, key, value, out))
    passed: dict[str, Any] = dict(ATTENTION.schema.defaults)
    passed |= {name: attrs[name] for name in _PASSED} | {"train": False}
    scales, mask = _optional(rest, attrs)
    caches = CacheRows(key_cache, scales[0]), CacheRows(value_cache, scales[1])
    if xp is np:
        _by_prefixes(made, (q, k, v), caches, position, mask, passed)
    else:
        _by_mask(xp, made, (q, k, v), caches, position, mask, passed)


def checked_positions(
    position: Any, count: int, length: int, window: int | None, *, masked: bool = False
) -> list[int]:
    """Return positions in host memory.

    Args:
        position: (1,) or (N,).
        count: Number of new keys.
        length: That of the cache.
        window: As the operator's.
        masked: Whether there is a mask, whose keys are in the order of a cache that is no ring.

    Raises:
        OperatorError: The new keys of a position do not fit in the cache, and it is too short for
            a ring.
    """
    starts: list[int] = position.tolist()
    is_ring = window is not None and window - 1 + count <= length and not masked
    for start in starts:
        if start < 0 or (start > length - count and not is_ring):
            longer = ""
            if window is not None and not masked:
                longer = f"; a ring for a window of {window} has {window - 1 + count} or more"
            elif window is not None:
                longer = "; a ring takes no mask"
            raise OperatorError(
                f"{_NAME}: expected a position from 0 to {length - count}, for {count} new keys in "
                f"a cache of length {length}, got {start}{longer}"
            )
    return starts


def _by_prefixes(
    made: Any,
    new: Sequence[Any],
    caches: Sequence[CacheRows],
    position: Any,
    mask: Any,
    attrs: Attrs,
) -> None:
    """Attend to the keys that were written, for groups of samples of one position."""
    count, dtype = new[0].shape[2], new[0].dtype
    window = attrs["window"]
    starts = checked_positions(position, count, caches[0].length, window, masked=mask is not None)
    before, _ = Reach.of(causal=True, window=window)
    groups = [(slice(i, i + 1), start) for i, start in enumerate(starts)]
    if len(set(starts)) == 1:
        groups = [(slice(None), starts[0])]
    for rows, start in groups:
        end = start + count
        for cache, x in zip(caches, new[1:], strict=True):
            cache.write(rows, start, x[rows])
        first = 0 if before is None else max(0, start - before)
        inputs = [new[0][rows], *(cache.read(rows, first, end, dtype) for cache in caches)]
        if mask is not None:
            inputs.append(_of_rows(mask, rows, slice(first, end)))
        if made.size:
            _attend(np, made[rows], inputs, {**attrs, "use_mask": mask is not None})


def _by_mask(
    xp: ModuleType,
    made: Any,
    new: Sequence[Any],
    caches: Sequence[CacheRows],
    position: Any,
    mask: Any,
    attrs: Attrs,
) -> None:
    """Attend to whole caches with a mask, so that no position is read by the host."""
    samples, count, length = new[0].shape[0], new[0].shape[2], caches[0].length
    if not made.size:
        return
    places = position.astype(xp.int64).reshape(-1, 1) + xp.arange(count)
    each = xp.broadcast_to(places, (samples, count))
    for cache, x in zip(caches, new[1:], strict=True):
        cache.write_each(xp, each, x)
    own = places[:, None, :, None]
    newest = own[:, :, -1:]
    keys = xp.arange(length)
    before, after = Reach.of(causal=attrs["causal"], window=attrs["window"])
    if before is None:
        seen = keys <= (newest if after is None else own)
    else:  # perhaps a ring: the newest position of each slot, below 0 of one that has none
        keys = newest - (newest - keys) % length
        seen = (keys >= xp.maximum(own - before, 0)) & (keys <= own + after)
    if mask is None:
        mask = seen
    elif mask.dtype == BOOL:
        mask = seen & mask
    else:
        mask = xp.where(seen, mask, mask.dtype.type(-math.inf))
    whole = {**attrs, "causal": False, "window": None, "use_mask": True}
    held = (cache.whole(new[0].dtype) for cache in caches)
    _attend(xp, made, (new[0], *held, mask), whole)


def _of_rows(mask: Any, rows: slice, seen: slice) -> Any:
    """Return the mask of some samples and keys."""
    if mask.ndim == 4 and len(mask) > 1:
        mask = mask[rows]
    return np.ascontiguousarray(mask[..., seen] if mask.shape[-1:] != (1,) else mask)


def _active(attrs: Attrs) -> tuple[str, ...]:
    unused = {"mask": not attrs["use_mask"]}
    unused |= dict.fromkeys(("key_scale", "value_scale"), not attrs["use_scales"])
    return tuple(name for name in _INPUTS if not unused.get(name))


def _mutated(attrs: Attrs) -> tuple[int, ...]:
    first = 6 + attrs["use_mask"]
    return (3, 4, first, first + 1) if attrs["use_scales"] else (3, 4)


CACHED_ATTENTION = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        None,
        doc=(
            "Write new keys and values into caches at a position, in place, then attend to all\n"
            "keys up to the newest.\n\n"
            "The last query and the newest key belong together, as in\n"
            "scaled_dot_product_attention. Entries of the caches after the newest key are not\n"
            "read. With a position for each sample, every sample has its own number of keys. On\n"
            "GPUs positions are not checked.\n\n"
            "The row of position p is in slot p mod S. With a window and no mask, positions may\n"
            "pass the end of caches of at least window - 1 + T rows, which are rings then: new\n"
            "rows replace those that are out of reach. Caches may have another floating dtype\n"
            "than the queries, or int8 with a scale for each row: 1/127 of its greatest\n"
            "magnitude, so that an element is wrong by half of it at most.\n\n"
            "Shapes: query (N, H, T, C), key (N, K, T, C), value (N, K, T, V), in the order of\n"
            "layout; key_cache (N, K, S, C), value_cache (N, K, S, V); position (1,) or (N,);\n"
            "key_scale and value_scale (N, K, S) in float32; mask broadcasts to (N, H, T, S);\n"
            "output like query, with width V."
        ),
        inputs=_INPUTS,
        active_inputs=_active,
        optional={"mask": "use_mask", "key_scale": "use_scales", "value_scale": "use_scales"},
        schema=Schema(
            causal=boolean(True),
            window=optional(integer(low=1)),
            scale=optional(number()),
            softcap=optional(number()),
            layout=choice(*LAYOUTS, default="NHTC"),
            use_mask=boolean(False),
            use_scales=boolean(False),
        ),
        execution=Execution(mutates=_mutated, heavy=True),
    )
)
