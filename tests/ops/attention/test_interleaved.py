"""Interleaved products against plain multi-head attention."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError


def _plain(q: Any, k: Any, v: Any, heads: int) -> Any:
    """Return attention of (T, N, heads * units), without the softmax."""
    steps, batch, width = q.shape
    q, k, v = (x.reshape(len(x), batch, heads, width // heads) for x in (q, k, v))
    scores = np.einsum("qnhd,knhd->nhqk", q, k) / np.sqrt(width // heads)
    return np.einsum("nhqk,knhd->qnhd", scores, v).reshape(steps, batch, width)


def test_self_attention_is_plain_attention() -> None:
    heads, units = 2, 3
    q, k, v = np.random.default_rng(0).standard_normal((3, 4, 2, heads * units))
    parts = [x.reshape(4, 2, heads, units) for x in (q, k, v)]
    joined = mx.nd.array(np.stack(parts, axis=3).reshape(4, 2, -1), dtype="float64")
    scores = mx.nd.contrib.interleaved_matmul_selfatt_qk(joined, heads=heads)
    out = mx.nd.contrib.interleaved_matmul_selfatt_valatt(joined, scores, heads=heads)
    np.testing.assert_allclose(out.asnumpy(), _plain(q, k, v, heads), atol=1e-12)


def test_width_that_heads_do_not_divide_is_refused() -> None:
    with pytest.raises(OperatorError, match="selfatt_qk: expected floating queries_keys_values"):
        mx.nd.contrib.interleaved_matmul_selfatt_qk(mx.nd.ones((2, 2, 10)), heads=2)
