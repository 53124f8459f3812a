"""Batches of sequences: by length, and packed into rows of one length.

`LengthBatchSampler` chooses samples of similar lengths under a limit of padded tokens. `Pack` puts
several sequences into a row; segments tell them apart, positions restart with each, and
`segment_mask` is the mask of attention within them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import gluonish.symbol as sym
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import as_int
from gluonish.core.object_repr import default_repr
from gluonish.gluon.data.sampler import Sampler
from gluonish.gluon.data.stacking import Array, Empty, as_array, common_dtype
from gluonish.io.shared_batch import ndarray_view
from gluonish.ndarray import NDArray, broadcast_equal, broadcast_mul

__all__ = ["LengthBatchSampler", "Pack", "segment_mask"]


class LengthBatchSampler(Sampler):
    """Batches of samples of similar lengths, with a limit of tokens after padding.

    Samples are shuffled, then sorted by length within windows of ``window`` samples, cut into
    batches, and the batches are shuffled: each pass has other batches, of little padding.

    Args:
        lengths: The length of each sample of a dataset.
        max_tokens: Most samples times longest length of a batch. A longer sample is a batch alone.
        batch_size: Most samples of a batch; None for no limit.
        shuffle: Whether passes differ, by NumPy's global generator; if False, batches are sorted by
            length, shortest first, over the whole dataset.
        window: Number of samples that are sorted together when shuffled; None for all.

    Raises:
        ArgumentError: A length is below 0, or a number below 1.
        ArgumentTypeError: A number is not whole.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        max_tokens: int,
        batch_size: int | None = None,
        shuffle: bool = True,
        window: int | None = None,
    ) -> None:
        name = "LengthBatchSampler"
        self._lengths = np.asarray(lengths, np.int64).reshape(-1)
        if self._lengths.size and self._lengths.min() < 0:
            raise ArgumentError(f"{name}: expected lengths of 0 or more, got {min(lengths)}")
        self._max_tokens = as_int(name, "max_tokens", max_tokens, 1)
        self._batch_size = None if batch_size is None else as_int(name, "batch_size", batch_size, 1)
        self._shuffle = shuffle
        self._window = None if window is None else as_int(name, "window", window, 1)
        self._next: list[list[int]] | None = None

    def _batches(self) -> list[list[int]]:
        count = len(self._lengths)
        if not self._shuffle:
            return self._cut(np.argsort(self._lengths, kind="stable"))
        order = np.random.permutation(count)  # noqa: NPY002  # programs seed this generator
        found: list[list[int]] = []
        step = max(1, count if self._window is None else self._window)
        for begin in range(0, count, step):
            window = order[begin : begin + step]
            found += self._cut(window[np.argsort(self._lengths[window], kind="stable")])
        return [found[i] for i in np.random.permutation(len(found))]  # noqa: NPY002

    def _cut(self, order: Any) -> list[list[int]]:
        """Cut indices that are sorted by length into batches."""
        found: list[list[int]] = []
        for index in order.tolist():
            last = found[-1] if found else None
            fits = last is not None and (len(last) + 1) * self._lengths[index] <= self._max_tokens
            if last is None or not fits or len(last) == self._batch_size:
                found.append([index])
            else:
                last.append(index)
        return found

    def __iter__(self) -> Iterator[list[int]]:
        batches, self._next = self._next, None
        return iter(self._batches() if batches is None else batches)

    def __len__(self) -> int:
        """Return the number of batches of the next pass."""
        if self._next is None:
            self._next = self._batches()
        return len(self._next)


class Pack:
    """Packs sequences into rows of one length, each into the first row with room for it.

    Args:
        length: Length of a row.
        val: Value of the positions after the last sequence of a row.
        dtype: Element type of the rows; None for the samples' type.

    Inputs:
        data: a list of sequences, (T,) each with T up to ``length``: NDArrays, NumPy arrays, lists.

    Outputs:
        tokens: (rows, length), the sequences.
        segments: (rows, length) int32, the number of a place's sequence in its row from 1 on, and
            0 for positions without one; see `segment_mask`.
        positions: (rows, length) int32, the place within the sequence, which restarts with each.

    Raises:
        ArgumentError: ``length`` is below 1; in the call, if a sequence is longer, or no sequence.

    Example:
        >>> import gluonish as mx
        >>> tokens, segments, positions = mx.gluon.data.batchify.Pack(5)([[7, 8, 9], [4], [5, 6]])
        >>> tokens.tolist()
        [[7, 8, 9, 4, 0], [5, 6, 0, 0, 0]]
        >>> segments.tolist()
        [[1, 1, 1, 2, 0], [1, 1, 0, 0, 0]]
        >>> positions.tolist()
        [[0, 1, 2, 0, 0], [0, 1, 0, 0, 0]]
    """

    __repr__ = default_repr

    def __init__(self, length: int, val: float = 0, dtype: Any = None) -> None:
        self._length = as_int("Pack", "length", length, 1)
        self._val = val
        self._dtype = None if dtype is None else normalize_dtype(dtype)

    def __call__(self, data: Sequence[Any]) -> Any:
        """Return the batch.

        Args:
            data: List of the sequences.
        """
        return self.on_host(data, np.empty)

    def on_host(self, data: Sequence[Any], empty: Empty) -> Any:
        """Return the batch as NumPy arrays, in memory from ``empty``."""
        samples = [as_array(sample) for sample in data]
        rows = self._rows(samples)
        shape = (len(rows), self._length)
        tokens = empty(shape, self._dtype or common_dtype(samples))
        segments, positions = empty(shape, np.int32), empty(shape, np.int32)
        tokens[...], segments[...], positions[...] = self._val, 0, 0
        for i, row in enumerate(rows):
            begin = 0
            for number, sample in enumerate(row, 1):
                place = slice(begin, begin + len(sample))
                tokens[i, place], segments[i, place] = sample, number
                positions[i, place] = np.arange(len(sample))
                begin += len(sample)
        return tuple(map(ndarray_view, (tokens, segments, positions)))

    def _rows(self, samples: Sequence[Array]) -> list[list[Array]]:
        rows: list[list[Array]] = []
        room: list[int] = []
        for sample in samples:
            if sample.ndim != 1 or len(sample) > self._length:
                raise ArgumentError(
                    f"Pack: expected sequences (T,) of up to {self._length}, got {sample.shape}"
                )
            free = (i for i, left in enumerate(room) if left >= len(sample))
            i = next(free, len(rows))
            if i == len(rows):
                rows.append([])
                room.append(self._length)
            rows[i].append(sample)
            room[i] -= len(sample)
        return rows


def segment_mask(segments: Any) -> Any:
    """Return where a place may attend to another: in the same sequence of a packed row.

    Args:
        segments: (N, T), numbers of sequences as from `Pack`, an NDArray or a Symbol.

    Returns:
        A boolean mask (N, 1, T, T) for `scaled_dot_product_attention`. Places without a sequence
        attend to nothing, and nothing attends to them.
    """
    equal: Callable[..., Any] = broadcast_equal
    times: Callable[..., Any] = broadcast_mul
    if not isinstance(segments, NDArray):
        equal, times = sym.broadcast_equal, sym.broadcast_mul
    queries = segments.expand_dims(1).expand_dims(3)
    same = equal(queries, segments.expand_dims(1).expand_dims(2))
    return times(same, queries != 0).astype("bool")
