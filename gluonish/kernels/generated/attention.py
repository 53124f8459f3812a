"""Attention and its gradient on CPUs in tiles, by `attention_code` and `attention_gradient_code`.

Arrays are (N, H, T, C) with any strides, but contiguous rows.
"""

import math
from collections.abc import Mapping
from ctypes import addressof, c_int64
from struct import pack, unpack
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.kernels import openmp
from gluonish.kernels.compiler import CompiledKernel
from gluonish.kernels.generated.attention_code import PARAMS, forward_kernel
from gluonish.kernels.generated.attention_gradient_code import PARAMS as BACKWARD_PARAMS
from gluonish.kernels.generated.attention_gradient_code import backward_kernel
from gluonish.kernels.generated.attention_panels import LOG2_E, Variant, panel_width, tile_size
from gluonish.ops.kernel import Array, Key, address

_KINDS = {FLOAT32: "float32", FLOAT16: "float16", BFLOAT16: "bfloat16"}
_MASKS = {**_KINDS, np.dtype(bool): "bool"}
_ANY = 1 << 30  # more keys than there are
_SMALL = 1 << 18  # multiplications up to which one thread is used


class Options(NamedTuple):
    """What attention does besides products and a softmax.

    Attributes:
        scale: Factor of the scores.
        left: How many keys before its own a query may attend to; negative for all.
        right: How many keys after its own; negative for all.
        cap: Limit of the scores' absolute values by a hyperbolic tangent; 0 for none.
        p: Probability that a weight is zeroed.
    """

    scale: float
    left: int = -1
    right: int = -1
    cap: float = 0.0
    p: float = 0.0


def _bits(value: float) -> int:
    """Return the bits of a float32 as an integer."""
    made: int = unpack("i", pack("f", value))[0]
    return made


def _strides(prefix: str, array: Array) -> dict[str, int]:
    """Return the params of an array's address and steps."""
    n, h, t = array.strides[:3]
    return {f"{prefix}_at": address(array), **{f"{prefix}_{a}": s for a, s in zip("nht", (n, h, t), strict=True)}}


def _common(
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None,
    lengths: Array | None,
    options: Options,
    key: Key | None,
) -> tuple[Variant, dict[str, int]]:
    """Return the variant and the params that both kernels have."""
    samples, heads, queries, width = q.shape
    shared_heads, keys = k.shape[1:3]
    p = options.p if key is not None else 0.0
    dropout = "" if not p else "any" if keys % 4 else "aligned"
    variant = Variant(
        _KINDS[q.dtype],
        "" if mask is None else _MASKS[mask.dtype],
        "" if lengths is None else lengths.dtype.name,
        bool(options.cap),
        dropout,
    )
    params = {
        "batch": samples,
        "heads": heads,
        "group": heads // shared_heads,
        "queries": queries,
        "keys": keys,
        "width": width,
        "value_width": v.shape[3],
        "shift": keys - queries,
        "left": options.left if options.left >= 0 else _ANY,
        "right": options.right if options.right >= 0 else _ANY,
        "scale": _bits(options.scale * LOG2_E),
        "cap": _bits(options.cap * LOG2_E),
    }
    for prefix, array in (("q", q), ("k", k), ("v", v)):
        params |= _strides(prefix, array)
    if mask is not None:
        params |= _strides("mask", mask)
        params["mask_s"] = mask.strides[3]
    if lengths is not None:
        params["lengths_at"] = address(lengths)
    if key is not None and p:
        params |= {"seed": key[0], "offset": key[1], "p": _bits(p)}
        params["factor"] = _bits(1 / (1 - p) if p < 1 else 0.0)
    return variant, params


def _run(kernel: CompiledKernel, names: str, params: Mapping[str, int], steps: int, work: int) -> None:
    values = [params.get(name, 0) for name in names.split()]
    buffer = (c_int64 * len(values))(*(x - (1 << 64) if x >= 1 << 63 else x for x in values))
    if work <= _SMALL:
        kernel.run_alone(steps, addressof(buffer))
    else:
        kernel.run_at(steps, addressof(buffer), 0)


def forward(
    out: Array,
    log_sum: Array,
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None,
    lengths: Array | None,
    options: Options,
    key: Key | None = None,
) -> None:
    """Fill the output of attention and the logarithms of the sums of exponentials.

    Args:
        out: Output (N, H, T, V).
        log_sum: Logarithms (N, H, T), float32, contiguous; inf where a query attends to no key.
        q: Queries (N, H, T, C).
        k: Keys (N, K, S, C); K divides H.
        v: Values (N, K, S, V).
        mask: Numbers (N, H, T, S) that are added to the scores, or booleans, which are true where a
            query attends to a key; may be a view with steps of 0.
        lengths: Numbers of keys (N,), or None for all.
        key: Random key of the dropout; None drops nothing.
    """
    variant, params = _common(q, k, v, mask, lengths, options, key)
    params |= _strides("out", out) | {"log_sum_at": address(log_sum)}
    tiles = -(-q.shape[2] // tile_size())
    work = math.prod(q.shape) * k.shape[2]
    _run(forward_kernel(variant), PARAMS, params, q.shape[0] * q.shape[1] * tiles, work)


def backward(
    gradients: tuple[Array, Array, Array],
    grad: Array,
    q: Array,
    k: Array,
    v: Array,
    out: Array,
    log_sum: Array,
    mask: Array | None,
    lengths: Array | None,
    options: Options,
    key: Key | None = None,
) -> None:
    """Fill the gradients of queries, keys and values; see `forward` for the other arguments.

    Args:
        gradients: Arrays like ``q``, ``k`` and ``v``.
        grad: Gradient of the output.
        out: The output.
        log_sum: The logarithms that `forward` stored.
    """
    variant, params = _common(q, k, v, mask, lengths, options, key)
    samples, heads, queries, width = q.shape
    shared_heads, keys = k.shape[1:3]
    threads = 1 if openmp.is_disabled() else openmp.team().threads()
    jobs = samples * shared_heads
    shares = max(1, min(-(-threads // jobs), keys // 256))
    share_keys = -(-keys // shares)
    sums = []  # float32 arrays that the kernel fills
    of_queries, *others = gradients
    direct = shares == 1 and q.dtype == FLOAT32 and of_queries.strides[3] == 4
    dq = of_queries[None] if direct else np.empty((shares, *q.shape), np.float32)
    for array in others:
        columns = -(-array.shape[3] // panel_width()) * panel_width()
        if array.dtype == FLOAT32 and array.shape[3] == columns and array.strides[3] == 4:
            sums.append(array)
        else:
            sums.append(np.empty((*array.shape[:3], columns), np.float32))
    params |= _strides("dq", dq[0]) | _strides("dk", sums[0]) | _strides("dv", sums[1])
    params |= _strides("grad", grad) | _strides("out", out)
    params |= {
        "log_sum_at": address(log_sum),
        "raw_scale": _bits(options.scale),
        "shares": shares,
        "share_keys": share_keys,
        "dq_share": dq.strides[0],
    }
    work = 3 * math.prod(q.shape) * keys
    _run(backward_kernel(variant), BACKWARD_PARAMS, params, jobs * shares, work)
    if not direct:
        of_queries[...] = dq[0] if shares == 1 else dq.sum(axis=0)
    for array, made in zip(others, sums, strict=True):
        if made is not array:
            array[...] = made[..., : array.shape[3]]
