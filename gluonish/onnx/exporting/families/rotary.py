"""rotary_embedding, with cosines and sines as constants."""

from typing import Any

import numpy as np

from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import (
    broadcast,
    concat,
    gather,
    reshaped,
    sliced,
    transposed,
    unsqueezed,
)
from gluonish.onnx.exporting.tensors import Tensor
from gluonish.ops.attention.rotary import AXES
from gluonish.ops.attention.rotary_frequencies import tables
from gluonish.ops.support.precision import accumulator

# Positions that are inputs: position = high * _LOW + low, with a table for each of both, so that
# they may be up to 65,535.
_LOW, _HIGH = 256, 256
_WHOLE = np.dtype(np.int64)


def _constants(call: Call, positions: Any, dim: int, *, plain: bool = False) -> list[Tensor]:
    """Return constant cosines and sines (positions, dim / 2), without the factor if plain."""
    attrs = {**call.attrs, "attention_factor": 1.0} if plain else call.attrs
    made = tables(np, positions, dim, attrs, int(positions.max()) + 1)
    dtype = accumulator(call.x.dtype)
    return [call.constant(x, dtype) for x in made]


def _of_positions(call: Call, dim: int) -> list[Tensor]:
    """Return the cosines and sines of the positions in the second input, by angle addition."""
    if call["scaling"] == "dynamic":
        raise call.refuse("its angles depend on the values of positions; leave them out")
    positions = call.inputs[1].to(_WHOLE) + call["offset"]
    low, high = call("Mod", positions, _LOW), positions / _LOW
    cos_low, sin_low = (gather(x, low, 0) for x in _constants(call, np.arange(_LOW), dim))
    steps = np.arange(_HIGH) * _LOW
    cos, sin = (gather(x, high, 0) for x in _constants(call, steps, dim, plain=True))
    return [cos * cos_low - sin * sin_low, sin * cos_low + cos * sin_low]


def _by_data(table: Tensor, rank: int, layout: str) -> Tensor:
    """Reshape a table (T, D) or (N, T, D) so that it broadcasts to data."""
    if table.rank == 2:
        return table if layout == "NHTC" else unsqueezed(table, *range(1, AXES[layout][0] + 2))
    if layout == "NHTC":
        return unsqueezed(table, *range(1, rank - 2))
    return unsqueezed(table if layout == "NTHC" else transposed(table, [1, 0, 2]), 2)


def _rotated(x: Tensor, cos: Tensor, sin: Tensor, dim: int, pairing: str) -> Tensor:
    """Rotate the pairs in the last axis."""
    last = x.rank - 1
    if pairing == "halves":
        first, second = (sliced(x, [i], [i + dim // 2], [last]) for i in (0, dim // 2))
    else:
        first, second = (sliced(x, [i], [dim], [last], [2]) for i in (0, 1))
    made = [first * cos - second * sin, second * cos + first * sin]
    if pairing == "neighbours":
        both = concat([unsqueezed(y, last + 1) for y in made], last + 1)
        made = [reshaped(both, [*[0] * last, -1])]
    if dim < x.size(-1):
        made.append(sliced(x, [dim], [x.size(-1)], [last]))
    return concat(made, last)


def _rotary_embedding(call: Call) -> Tensor:
    x, layout, pairing = call.x, call["layout"], call["pairing"]
    dim = x.size(-1) if call["dim"] is None else call["dim"]
    wide = x.to(accumulator(x.dtype))
    if call["use_positions"]:
        cos, sin = _of_positions(call, dim)
        rank = call.inputs[1].rank + 1
    else:
        count = x.size(AXES[layout][1])
        positions = np.arange(call["offset"], call["offset"] + count)
        cos, sin = _constants(call, positions, dim)
        rank = 2
    sin = -sin if call["transposed"] else sin
    steps = x.known_shape[AXES[layout][1]]
    for table in (cos, sin):
        table.shape = (*([x.known_shape[AXES[layout][0]]] if rank == 3 else []), steps, dim // 2)
    if call.emitter.opset >= 23 and layout == "NHTC" and x.rank == 4:
        full = (x.known_shape[0], *cos.known_shape[-2:])
        caches = [broadcast(table, full) for table in (cos, sin)]
        options = {"interleaved": int(pairing == "neighbours"), "rotary_embedding_dim": dim}
        return call("RotaryEmbedding", wide, *caches, **options).to(x.dtype)
    cos, sin = (_by_data(table, x.rank, layout) for table in (cos, sin))
    return _rotated(wide, cos, sin, dim, pairing).to(x.dtype)


TABLE: dict[str, Any] = {"rotary_embedding": _rotary_embedding}
