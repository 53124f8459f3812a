"""Attention on interleaved queries, keys and values, as GluonNLP computes it."""

from typing import Any

import numpy as np

from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import concat, gather, reshaped, sliced, transposed
from gluonish.onnx.exporting.tensors import Tensor

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


TABLE: dict[str, Any] = {
    "_contrib_interleaved_matmul_selfatt_qk": _self_scores,
    "_contrib_interleaved_matmul_selfatt_valatt": _self_values,
    "_contrib_interleaved_matmul_encdec_qk": _cross_scores,
    "_contrib_interleaved_matmul_encdec_valatt": _cross_values,
}
