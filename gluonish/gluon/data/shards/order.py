"""The order of a stream of shards, and its split over processes and workers.

Invariant: the order of the shards depends on the seed, the pass and the round only, never on the
process, so that all processes split the same list and no sample belongs to two of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from random import Random
from typing import Any, NamedTuple

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileFormatError,
    NotSupportedError,
)
from gluonish.core.number_check import as_int
from gluonish.core.object_repr import arguments_repr, counted
from gluonish.gluon.data.stream import IterableDataset, loader_pass
from gluonish.gluon.data.worker_info import get_worker_info


class Part(NamedTuple):
    """The share of a reader: of the samples of some shards those at every ``stride``-th place.

    Attributes:
        shards: The shards, in order.
        offset: Place of the first sample.
        stride: Distance of the places; above 1 there is one shard.
    """

    shards: Sequence[Any]
    offset: int = 0
    stride: int = 1

    def split(self, num_parts: int, index: int) -> "Part":
        """Return one of several parts: whole shards, or samples if there are too few shards."""
        count = len(self.shards)
        if count >= num_parts:
            return self._replace(shards=self.shards[index::num_parts])
        shard = index % count
        readers = len(range(shard, num_parts, count))
        offset = self.offset + self.stride * (index // count)
        return Part([self.shards[shard]], offset, self.stride * readers)


def shuffled(samples: Iterable[Any], buffer_size: int, random: Random) -> Iterator[Any]:
    """Yield samples in random order, each drawn from those that are in a buffer.

    Args:
        samples: The samples.
        buffer_size: Number of samples in the buffer, at least 1.
        random: The generator.
    """
    iterator = iter(samples)
    buffer = list(islice(iterator, buffer_size))
    size = len(buffer)
    for sample in iterator:
        index = int(random.random() * size)
        drawn, buffer[index] = buffer[index], sample
        yield drawn
    random.shuffle(buffer)
    yield from buffer


class ShardStream(IterableDataset):
    """Base class of streams that are read from shards; a subclass defines `_read`.

    Args:
        shards: What `_read` takes, in order: at least one.
        shuffle: Whether to shuffle shards and samples.
        buffer_size: Number of samples of which the next is drawn.
        seed: Seed of the order.
        num_parts: Number of processes that share the stream.
        part_index: Number of this process.
        samples_per_epoch: Number of samples of a pass in each process; None for all.
        equal_parts: Whether processes must give equally many samples.
        epoch: Number of the first pass.

    Raises:
        ArgumentError: A number is out of range, or processes could give different numbers of
            samples.
        ArgumentTypeError: An argument is not a number or a bool.
    """

    _knows_length = False  # whether parts are equal without `samples_per_epoch`

    def __init__(
        self,
        shards: Sequence[Any],
        *,
        shuffle: bool,
        buffer_size: int,
        seed: int,
        num_parts: int,
        part_index: int,
        samples_per_epoch: int | None,
        equal_parts: bool,
        epoch: int,
    ) -> None:
        kind = type(self).__name__
        for name, value in (("shuffle", shuffle), ("equal_parts", equal_parts)):
            if not isinstance(value, bool):
                raise ArgumentTypeError(f"{kind}: expected {name} to be a bool, got {value!r}")
        self.num_parts = as_int(kind, "num_parts", num_parts, 1)
        self.part_index = as_int(kind, "part_index", part_index)
        if not 0 <= self.part_index < self.num_parts:
            raise ArgumentError(
                f"{kind}: expected part_index in 0..num_parts - 1 = {num_parts - 1}, got "
                f"{part_index}"
            )
        if samples_per_epoch is not None:
            samples_per_epoch = as_int(kind, "samples_per_epoch", samples_per_epoch, 1)
        elif self.num_parts > 1 and equal_parts and not self._knows_length:
            raise ArgumentError(
                f"{kind}: expected samples_per_epoch with num_parts={num_parts}, got none: a "
                "process whose shards end early would leave the others waiting for its gradients; "
                "pass the number of samples of a pass in each process, or equal_parts=False for "
                "processes that do not wait for one another"
            )
        self._shards = shards
        self.shuffle = shuffle
        self.buffer_size = as_int(kind, "buffer_size", buffer_size, 1)
        self.seed = as_int(kind, "seed", seed, 0)
        self.samples_per_epoch = samples_per_epoch
        self.equal_parts = equal_parts
        self.epoch = as_int(kind, "epoch", epoch, 0)
        self._passes = 0  # those without a DataLoader

    def __repr__(self) -> str:
        facts = (f"{len(self._shards)} shards", *counted(self, "samples"))
        return arguments_repr(self, *facts, leave_out=("shards",))

    def __len__(self) -> int:
        """Return the number of samples of a pass in this process.

        Raises:
            ArgumentTypeError: It is unknown; a TypeError, so that ``list`` works.
        """
        if self.samples_per_epoch is None:
            raise ArgumentTypeError(
                f"{type(self).__name__}: expected samples_per_epoch, which tells the length, got "
                "none"
            )
        return self.samples_per_epoch

    def __iter__(self) -> Iterator[Any]:
        """Return an iterator over the samples of one pass, of the worker's part in a worker."""
        number = loader_pass.get()
        if number is None:
            number, self._passes = self._passes, self._passes + 1
        info = get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        return self._samples(self.epoch + number, worker, workers)

    def _read(self, shard: Any) -> Iterator[Any]:
        """Yield the samples of a shard, as they are kept in the buffer."""
        raise NotSupportedError(f"{type(self).__name__}: expected _read to be defined, got none")

    def _decoded(self, stored: Any) -> Any:
        """Return a sample of what `_read` yielded."""
        return stored

    def _samples(self, epoch: int, worker: int, workers: int) -> Iterator[Any]:
        total = self.samples_per_epoch
        left = None if total is None else len(range(worker, total, workers))
        number, whole = 0, False
        while left is None or left > 0:
            before = left
            for stored in islice(self._round(epoch, number, worker, workers, whole), left):
                yield self._decoded(stored)
                if left is not None:
                    left -= 1
            if left is None:
                return
            if left == before:
                if whole:
                    raise FileFormatError(
                        f"{type(self).__name__}: expected samples in {len(self._shards)} shards, "
                        "got none"
                    )
                whole = True  # a share without samples: there are fewer of them than readers
            number += 1

    def _round(
        self, epoch: int, number: int, worker: int, workers: int, whole: bool
    ) -> Iterator[Any]:
        """Yield the stored samples of a worker, once each, in the order of a pass and round.

        Args:
            epoch: Number of the pass.
            number: Number of the round in it.
            worker: Number of the worker.
            workers: Number of workers.
            whole: Whether to yield the samples of all shards instead of the worker's share.
        """
        key = f"{self.seed} {epoch} {number}"
        shards = list(self._shards)
        if self.shuffle:
            Random(key).shuffle(shards)
        part = Part(shards)
        if not whole:
            part = part.split(self.num_parts, self.part_index).split(workers, worker)
        samples = chain.from_iterable(map(self._read, part.shards))
        if part.stride > 1:
            samples = islice(samples, part.offset, None, part.stride)  # type: ignore[assignment]  # an iterator, too
        if not self.shuffle:
            return iter(samples)
        return shuffled(samples, self.buffer_size, Random(f"{key} {self.part_index} {worker}"))
