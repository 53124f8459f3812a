"""Samplers: in which order, and in which batches, a dataset's elements are drawn."""

from collections.abc import Callable, Iterable, Iterator, Sized
from itertools import chain
from typing import Any, Protocol

import numpy as np

from gluonish.core.errors import ArgumentError, NotSupportedError

__all__ = [
    "BatchSampler",
    "FilterSampler",
    "IntervalSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
]


class _Indexable(Sized, Protocol):
    def __getitem__(self, idx: int, /) -> Any: ...


class Sampler:
    """Base of samplers: iterates over indices, and knows how many there are."""

    def __iter__(self) -> Iterator[Any]:
        raise NotSupportedError(f"{type(self).__name__}: expected __iter__ to be defined, got none")

    def __len__(self) -> int:
        raise NotSupportedError(f"{type(self).__name__}: expected __len__ to be defined, got none")


class SequentialSampler(Sampler):
    """The indices ``start`` to ``start + length - 1`` in order.

    Args:
        length: How many.
        start: The first.
    """

    def __init__(self, length: int, start: int = 0) -> None:
        self._length = length
        self._start = start

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._start, self._start + self._length))

    def __len__(self) -> int:
        return self._length


class RandomSampler(Sampler):
    """The indices 0 to ``length - 1`` in random order, drawn from NumPy's global generator.

    Args:
        length: How many; ``numpy.random.seed`` repeats an order.
    """

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[Any]:
        # Programs seed this generator, and expect the order that MXNet draws from it.
        return iter(np.random.permutation(self._length))  # noqa: NPY002

    def __len__(self) -> int:
        return self._length


class FilterSampler(Sampler):
    """The indices of the elements that pass a test, in order.

    Args:
        fn: Called with each element once, when the sampler is made.
        dataset: The elements.
    """

    def __init__(self, fn: Callable[[Any], object], dataset: _Indexable) -> None:
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class IntervalSampler(Sampler):
    """Indices that stand ``interval`` apart: 0, 3, 6 ..., then 1, 4, 7 ... and so on.

    Args:
        length: How many elements there are.
        interval: How far apart indices are.
        rollover: Whether it goes on with the skipped indices until all were drawn; else it ends
            after the first round.

    Raises:
        ArgumentError: ``interval`` is not in 1..length.
    """

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        if not 1 <= interval <= length:
            raise ArgumentError(
                f"IntervalSampler: expected an interval in 1..length = {length}, got {interval}"
            )
        self._length = length
        self._interval = interval
        self._rollover = rollover

    def __iter__(self) -> Iterator[int]:
        starts = range(self._interval if self._rollover else 1)
        return chain.from_iterable(range(i, self._length, self._interval) for i in starts)

    def __len__(self) -> int:
        return self._length if self._rollover else len(range(0, self._length, self._interval))


class BatchSampler(Sampler):
    """Lists of ``batch_size`` indices of another sampler.

    Args:
        sampler: Where the indices come from.
        batch_size: How many make a batch, 1 or more.
        last_batch: What becomes of fewer at the end: ``"keep"`` gives them as a smaller batch,
            ``"discard"`` drops them, ``"rollover"`` puts them before those of the next pass.

    Raises:
        ArgumentError: for another ``last_batch``, or a ``batch_size`` below 1.
    """

    def __init__(self, sampler: Iterable[Any], batch_size: int, last_batch: str = "keep") -> None:
        if last_batch not in ("keep", "discard", "rollover"):
            raise ArgumentError(
                f"BatchSampler: expected last_batch 'keep', 'discard' or 'rollover', "
                f"got {last_batch!r}"
            )
        if batch_size < 1:
            raise ArgumentError(f"BatchSampler: expected batch_size of 1 or more, got {batch_size}")
        self._sampler = sampler
        self._batch_size = batch_size
        self._last_batch = last_batch
        self._rest: list[Any] = []

    def __iter__(self) -> Iterator[list[Any]]:
        batch, self._rest = self._rest, []
        for index in self._sampler:
            batch.append(index)
            if len(batch) >= self._batch_size:
                yield batch
                batch = []
        if batch and self._last_batch == "keep":
            yield batch
        elif batch and self._last_batch == "rollover":
            self._rest = batch

    def __len__(self) -> int:
        if not isinstance(self._sampler, Sized):
            raise ArgumentError("BatchSampler: expected a sampler with a length, got one without")
        count = len(self._sampler)
        if self._last_batch == "keep":
            return -(-count // self._batch_size)
        if self._last_batch == "rollover":
            count += len(self._rest)
        return count // self._batch_size
