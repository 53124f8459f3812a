"""RotaryEmbedding: pairs of elements, rotated by angles whose cosines and sines are inputs."""

from typing import Any

import gluonish.numpy as mnp
from gluonish.onnx.importing.nodes import Call, Rule


def _rotary_embedding(call: Call, x: Any, cos: Any, sin: Any, positions: Any = None) -> Any:
    """Rotate (N, H, T, C), or (N, T, H * C) with num_heads."""
    heads, flat = call.attr("num_heads", 0), len(x.shape) == 3
    given = x
    if flat:
        x = mnp.transpose(mnp.reshape(x, (*x.shape[:2], heads, -1)), (0, 2, 1, 3))
    dim = call.attr("rotary_embedding_dim", 0) or x.shape[-1]
    tables = (
        [cos, sin] if positions is None else [mnp.take(t, positions, axis=0) for t in (cos, sin)]
    )
    cos, sin = (mnp.expand_dims(table, 1) for table in tables)
    if call.attr("interleaved", 0):
        first, second = x[..., 0:dim:2], x[..., 1:dim:2]
        made = (first * cos - second * sin, second * cos + first * sin)
        rotated = mnp.reshape(mnp.stack(made, axis=-1), (*x.shape[:-1], dim))
    else:
        first, second = x[..., : dim // 2], x[..., dim // 2 : dim]
        made = (first * cos - second * sin, second * cos + first * sin)
        rotated = mnp.concatenate(made, axis=-1)
    if dim < x.shape[-1]:
        rotated = mnp.concatenate((rotated, x[..., dim:]), axis=-1)
    return mnp.reshape(mnp.transpose(rotated, (0, 2, 1, 3)), given.shape) if flat else rotated


RULES: dict[str, Rule] = {"RotaryEmbedding": _rotary_embedding}
