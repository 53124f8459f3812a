"""Attention of the double of cuDNN's front end: what it refuses, and NumPy's result in float64."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tests.kernels.cupy.cost_model.records import Attention as AttentionProblem
from tests.kernels.cupy.cudnn_tensors import DataType, Tensor

_MAX_WIDTH = 128
_UNIT = 8


class Attention(NamedTuple):
    """The node ``sdpa`` or ``sdpa_backward`` of a graph.

    Attributes:
        sources: Tensors that it reads: queries, keys, values; for the gradient also output, its
            gradient, and the logarithms of sums.
        results: Tensors that it writes.
        dropout: Probability, seed and offset; None without dropout.
    """

    sources: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    scale: float
    dropout: tuple[float, Tensor, Tensor] | None

    @property
    def tensors(self) -> list[Tensor]:
        """All tensors, the results last."""
        keys = [] if self.dropout is None else list(self.dropout[1:])
        return [*self.sources, *keys, *self.results]

    @property
    def problem(self) -> AttentionProblem:
        """What it computes, for the cost model."""
        (batch, heads, length, width), keys = self.sources[0].dim, self.sources[1].dim[2]
        values, backward = self.sources[2].dim[3], len(self.results) == 3
        return AttentionProblem(batch * heads, length, keys, width, values, backward)

    def validate(self) -> None:
        """Refuse extents that do not fit each other, as the front end does."""
        q, k, v = self.sources[:3]
        assert all(len(x.dim) == 4 for x in self.tensors), "attention has four axes"
        (batch, heads, length, width), values = q.dim, v.dim[3]
        logs = [batch, heads, length, 1]
        out = [batch, heads, length, values]
        expected = [q.dim, [batch, heads, k.dim[2], width], [batch, heads, k.dim[2], values]]
        if len(self.sources) > 3:
            expected += [out, out, logs, q.dim, k.dim, v.dim]
        else:
            expected += [out, logs]
        given = [x.dim for x in (*self.sources, *self.results)]
        if given != expected:
            raise RuntimeError(f"CUDNN_STATUS_BAD_PARAM: attention of {given}")
        if self.dropout is not None:
            assert all(x.kind is DataType.INT64 for x in self.dropout[1:])
            assert 0 < self.dropout[0] < 1
        assert all(x.output for x in self.results), "a result that is no output"

    def is_supported(self) -> bool:
        """Whether there is an engine."""
        q, _, v = self.sources[:3]
        widths = q.dim[3], v.dim[3]
        logs = self.results[1] if len(self.sources) == 3 else self.sources[5]
        rows = [x for x in (*self.sources, *self.results) if x is not logs]
        return (
            all(0 < width <= _MAX_WIDTH and not width % _UNIT for width in widths)
            and all(x.stride[3] == 1 for x in rows)
            and all(x.kind in (DataType.HALF, DataType.BFLOAT16) for x in rows)
            and logs.kind is DataType.FLOAT
        )

    def run(self, arrays: Sequence[Any]) -> None:
        """Fill the results.

        Args:
            arrays: The values of `tensors`.
        """
        count = len(self.results)
        sources, results = arrays[:-count], arrays[-count:]
        q, k, v = (x.astype(float) for x in sources[:3])
        scores = self.scale * (q @ k.swapaxes(2, 3))
        factors = np.ones(scores.shape)
        if self.dropout is not None:
            p, seed, offset = self.dropout[0], *(int(x.reshape(())) for x in sources[-2:])
            drawn = np.random.Philox(key=seed % 2**64, counter=offset % 2**64)
            factors = (np.random.Generator(drawn).random(scores.shape) >= p) / (1 - p)
        made: tuple[Any, ...]
        if len(self.sources) == 3:
            top = scores.max(3, keepdims=True)
            total = np.exp(scores - top).sum(3, keepdims=True)
            made = (np.exp(scores - top) / total * factors) @ v, top + np.log(total)
        else:
            out, grad, logs = (x.astype(float) for x in sources[3:6])
            weights = np.exp(scores - logs)
            of_weights = factors * (grad @ v.swapaxes(2, 3))
            of_scores = weights * (of_weights - (grad * out).sum(3, keepdims=True)) * self.scale
            of_values = (weights * factors).swapaxes(2, 3) @ grad
            made = of_scores @ k, of_scores.swapaxes(2, 3) @ q, of_values
        for array, values in zip(results, made, strict=True):
            array[...] = values.astype(array.dtype)
