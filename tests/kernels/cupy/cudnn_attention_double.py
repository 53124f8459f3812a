"""Attention of the double of cuDNN's front end: what it refuses, and NumPy's result in float64."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tests.kernels.cupy.cost_model.records import Attention as AttentionProblem
from tests.kernels.cupy.cudnn_tensors import DataType, Tensor

_MAX_WIDTH = 128
_UNIT = 8
_NO_QUERIES_SINCE = 92500


class Hidden(NamedTuple):
    """The arguments of ``sdpa`` that hide keys."""

    bias: Tensor | None
    queries: Tensor | None  # their number of each entry
    keys: Tensor | None
    padding: bool
    causal: bool
    causal_from_the_end: bool

    @property
    def tensors(self) -> list[Tensor]:
        """Those that are read."""
        return [x for x in (self.bias, self.queries, self.keys) if x is not None]

    def validate(self, scores: list[int], kind: DataType) -> None:
        """Refuse what does not fit scores, as the front end does."""
        if self.bias is not None:
            dims = self.bias.dim
            fits = all(n in (1, extent) for n, extent in zip(dims[:2], scores[:2], strict=True))
            if not (fits and dims[2:] == scores[2:] and self.bias.kind is kind):
                raise RuntimeError(f"CUDNN_STATUS_BAD_PARAM: bias of {dims} for {scores}")
        lengths = (self.queries, self.keys)
        if self.padding != (None not in lengths) or (None in lengths) != (lengths == (None, None)):
            raise RuntimeError("padding mask requires seq_len_q and seq_len_kv, and these it")
        for x in lengths:
            assert x is None or (x.dim == [scores[0], 1, 1, 1] and x.kind is DataType.INT32)
        assert not (self.causal_from_the_end and self.padding), (
            "the lengths would move the diagonal"
        )

    def of(self, arrays: Sequence[Any], shape: tuple[int, ...], version: int) -> tuple[Any, Any]:
        """Return what is added to scores (in place of it -inf), and which queries are absent."""
        left = list(arrays)
        added = np.zeros(shape)
        if self.bias is not None:
            added = added + left.pop(0).astype(float)
        rows, columns = np.arange(shape[2])[:, None], np.arange(shape[3])
        absent = np.zeros((1, 1, *shape[2:]), bool)[..., :1]
        if self.causal or self.causal_from_the_end:
            offset = shape[3] - shape[2] if self.causal_from_the_end else 0
            added = np.where(columns > rows + offset, -np.inf, added)
        if self.padding:
            queries, keys = (x.reshape(-1, 1, 1, 1) for x in left)
            added = np.where(columns >= keys, -np.inf, added)
            added = np.where(keys == 0, np.nan, added)  # as 9.22 gives
            if version < _NO_QUERIES_SINCE:
                added = np.where(queries == 0, np.nan, added)
            absent = rows >= queries
        # The kernel's exponents are one multiplication and addition: far from 0, all digits are
        # lost, and such rows are wrong.
        far = added.max(3, keepdims=True) < -1e5
        return np.where(far, np.nan, added), absent


class Attention(NamedTuple):
    """The node ``sdpa`` or ``sdpa_backward`` of a graph.

    Attributes:
        sources: Tensors that it reads: queries, keys, values; for the gradient also output, its
            gradient, and the logarithms of sums.
        results: Tensors that it writes.
        dropout: Probability, seed and offset; None without dropout.
        hidden: What hides keys.
        version: That of the library.
    """

    sources: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    scale: float
    dropout: tuple[float, Tensor, Tensor] | None
    hidden: Hidden
    version: int

    @property
    def tensors(self) -> list[Tensor]:
        """All tensors, the results last."""
        keys = [] if self.dropout is None else list(self.dropout[1:])
        return [*self.sources, *self.hidden.tensors, *keys, *self.results]

    @property
    def problem(self) -> AttentionProblem:
        """What it computes, for the cost model."""
        (batch, heads, length, width), keys = self.sources[0].dim, self.sources[1].dim[2]
        values, backward = self.sources[2].dim[3], len(self.results) == 3
        causal = self.hidden.causal or self.hidden.causal_from_the_end
        return AttentionProblem(batch * heads, length, keys, width, values, backward, causal)

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
        self.hidden.validate([batch, heads, length, k.dim[2]], q.kind)

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
            and (self.hidden.bias is None or self.hidden.bias.stride[3] == 1)
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
        hiding = len(self.hidden.tensors)
        given = sources[len(self.sources) : len(self.sources) + hiding]
        added, absent = self.hidden.of(given, scores.shape, self.version)
        scores = scores + added
        factors = np.ones(scores.shape)
        if self.dropout is not None:
            p, seed, offset = self.dropout[0], *(int(x.reshape(())) for x in sources[-2:])
            drawn = np.random.Philox(key=seed % 2**64, counter=offset % 2**64)
            factors = (np.random.Generator(drawn).random(scores.shape) >= p) / (1 - p)
        made: tuple[Any, ...]
        if len(self.sources) == 3:
            top = scores.max(3, keepdims=True)
            total = np.exp(scores - top).sum(3, keepdims=True)
            weights = np.where(absent, 0, np.exp(scores - top) / total * factors)
            made = weights @ v, np.where(absent, -np.inf, top + np.log(total))
        else:
            out, grad, logs = (x.astype(float) for x in sources[3:6])
            weights = np.where(absent, 0, np.exp(scores - np.where(absent, 0, logs)))
            of_weights = factors * (grad @ v.swapaxes(2, 3))
            of_scores = weights * (of_weights - (grad * out).sum(3, keepdims=True)) * self.scale
            of_scores = np.where(absent, 0, of_scores)
            of_values = (weights * factors).swapaxes(2, 3) @ grad
            made = of_scores @ k, of_scores.swapaxes(2, 3) @ q, of_values
        for array, values in zip(results, made, strict=True):
            array[...] = values.astype(array.dtype)
