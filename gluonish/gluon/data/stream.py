"""Iterable datasets in a DataLoader: samples without indices, read by one or several workers.

A stream has no indices, so a batch is requested as `Position` objects in the place of indices, one
for each sample of a full batch. Invariants: a worker has one reader, which serves one pool of one
worker, so that batches of a stream are read in order; a reader answers `END` after its last sample,
and a batch of nothing but `END` is `END`.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, Protocol

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.object_repr import arguments_repr, brief, counted, default_repr, object_repr
from gluonish.gluon.data.batchify import on_host
from gluonish.gluon.data.dataset import FirstOnly, apply_to_sample, refuse_class
from gluonish.gluon.data.load import load_batch
from gluonish.gluon.data.worker_info import current, get_worker_info

__all__ = ["IterableDataset"]

# A worker keeps the streams of this number of passes, so that passes can overlap.
_MAX_PASSES = 8

# The number of the loader's pass, from 0, while a DataLoader reads a stream.
loader_pass: ContextVar[int | None] = ContextVar("gluonish_loader_pass", default=None)


class IterableDataset:
    """Base class of datasets that are read in order; a subclass defines ``__iter__``.

    A `DataLoader` calls ``__iter__`` once in each pass, and with workers once in each of them.
    There ``__iter__`` should give the worker's part, which `get_worker_info` tells; a dataset that
    does not ask gives all its samples in each worker. (Other iterables and generator functions need
    not ask: of their samples, worker i of n gets i, i + n, i + 2 n ...)

    A ``__len__`` is optional: the number of samples of a whole pass.

    Example:
        >>> from gluonish.gluon.data import DataLoader, IterableDataset, get_worker_info
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         info = get_worker_info()
        ...         part = slice(None) if info is None else slice(info.id, None, info.num_workers)
        ...         return iter(range(5)[part])
        >>> [batch.tolist() for batch in DataLoader(Count(), batch_size=2)]
        [[0, 1], [2, 3], [4]]
    """

    def __repr__(self) -> str:
        return arguments_repr(self, *counted(self, "samples"))

    def __iter__(self) -> Iterator[Any]:
        raise NotSupportedError(f"{type(self).__name__}: expected __iter__ to be defined, got none")

    def transform(self, fn: Callable[..., Any]) -> "IterableDataset":
        """Return a stream with a function applied to each sample, when it is read.

        Args:
            fn: Called with a sample; the items of a tuple are passed as separate arguments.

        Example:
            >>> from gluonish.gluon.data import IterableDataset
            >>> class Count(IterableDataset):
            ...     def __iter__(self):
            ...         return iter(range(3))
            >>> list(Count().transform(lambda x: 10 * x))
            [0, 10, 20]
        """
        refuse_class(fn)
        return _TransformedStream(self, fn)

    def transform_first(self, fn: Callable[..., Any]) -> "IterableDataset":
        """Return a stream with a function applied to the first item of each sample.

        Args:
            fn: Called with the first item, such as the image of (image, label).
        """
        refuse_class(fn)
        return self.transform(FirstOnly(fn))


class _TransformedStream(IterableDataset):
    """A stream with a function applied to each sample of another stream."""

    def __init__(self, data: IterableDataset, fn: Callable[..., Any]) -> None:
        self._data = data
        self._fn = fn

    def __repr__(self) -> str:
        return object_repr(self, brief(self._data), transform=self._fn)

    def __len__(self) -> int:
        """Return the number of samples of a pass.

        Raises:
            ArgumentTypeError: The stream has no length.
        """
        data: Any = self._data
        if not hasattr(type(data), "__len__"):
            raise ArgumentTypeError(
                f"transform: expected a stream with a length, got {name_of(data)} without"
            )
        return len(data)

    def __iter__(self) -> Iterator[Any]:
        return map(partial(apply_to_sample, self._fn), iter(self._data))


def is_stream(dataset: Any) -> bool:
    """Whether a DataLoader iterates over a dataset instead of indexing it.

    Iterables without a length, generator functions, and classes named IterableDataset: those of
    PyTorch and Hugging Face have a ``__getitem__``, too.
    """
    kind = type(dataset)
    if inspect.isgeneratorfunction(dataset):
        return True
    if not hasattr(kind, "__iter__"):
        return False
    if not hasattr(kind, "__len__") and not hasattr(kind, "__getitem__"):
        return True
    return any(base.__name__ == "IterableDataset" for base in kind.__mro__)


def name_of(dataset: Any) -> str:
    """Return the name of a generator function, or of the class of a dataset."""
    return str(getattr(dataset, "__name__", type(dataset).__name__))


def check_stream(dataset: Any, num_workers: int, **arguments: Any) -> None:
    """Refuse arguments of a DataLoader that need indices, and a generator for several workers.

    Args:
        dataset: The iterable dataset.
        num_workers: Number of workers.
        **arguments: ``shuffle``, ``sampler``, ``batch_sampler`` and ``last_batch``.

    Raises:
        ArgumentError: An argument needs indices.
        ArgumentTypeError: ``dataset`` is a generator or another iterator, and there are workers.
    """
    kind = name_of(dataset)
    for name in ("shuffle", "sampler", "batch_sampler"):
        if arguments[name] is not None and arguments[name] is not False:
            raise ArgumentError(
                f"DataLoader: expected no {name} with the iterable dataset {kind}, which has no "
                "indices, got one; let the dataset choose the order of its samples"
            )
    if arguments["last_batch"] not in (None, "keep", "discard"):
        raise ArgumentError(
            f"DataLoader: expected last_batch 'keep' or 'discard' with the iterable dataset "
            f"{kind}, got {arguments['last_batch']!r}"
        )
    if num_workers and isinstance(dataset, Iterator):
        raise ArgumentTypeError(
            f"DataLoader: expected a dataset that each worker can start, got the iterator {kind}; "
            "pass the generator function without calling it, or an IterableDataset"
        )


class Position(NamedTuple):
    """The next sample of a stream.

    Attributes:
        worker: Number of the worker.
        number: Number of the pass.
        seed: Seed of the pass, without the worker's number.
    """

    worker: int
    number: int
    seed: int

    def __str__(self) -> str:
        return f"next sample of worker {self.worker}"


class _End:
    """The answer of a stream after its last sample; there is one object in each process."""

    __repr__ = default_repr

    def __reduce__(self) -> str:
        return "END"


END = _End()


class StreamReader:
    """Gives the samples of an iterable dataset by `Position`, in one worker.

    Args:
        dataset: The iterable dataset, or generator function.
        worker: Number of the worker, from 0.
        num_workers: Number of workers; 0 to read in the main process.
    """

    __repr__ = default_repr

    def __init__(self, dataset: Any, worker: int, num_workers: int) -> None:
        self.dataset = dataset
        self._worker = worker
        self._num_workers = num_workers
        self._streams: dict[int, Iterator[Any] | None] = {}  # None after the end

    def __getitem__(self, position: Position) -> Any:
        before = loader_pass.set(position.number - 1)
        try:
            return self._next(position)
        finally:
            loader_pass.reset(before)

    def _next(self, position: Position) -> Any:
        try:
            stream = self._streams[position.number]
        except KeyError:
            stream = self._started(position)
        if stream is None:
            return END
        sample = next(stream, END)
        if sample is END:
            self._streams[position.number] = None
        return sample

    def _started(self, position: Position) -> Iterator[Any]:
        """Start the stream of a pass."""
        info = get_worker_info()
        if info is not None:
            current.set(info._replace(seed=position.seed + self._worker))
        dataset = self.dataset
        iterable = dataset() if inspect.isgeneratorfunction(dataset) else dataset
        stream: Iterator[Any] = iter(iterable)
        if self._num_workers > 1 and not isinstance(dataset, IterableDataset):
            stream = islice(stream, self._worker, None, self._num_workers)
        while len(self._streams) >= _MAX_PASSES:
            del self._streams[next(iter(self._streams))]
        self._streams[position.number] = stream
        return stream


class StreamBatchify:
    """Makes batches of the samples before `END`.

    Args:
        batchify_fn: Makes a batch of a list of samples.
        keep_last: Whether an incomplete batch is kept.
    """

    __repr__ = default_repr

    def __init__(self, batchify_fn: Callable[..., Any], keep_last: bool) -> None:
        self._batchify_fn = batchify_fn
        self._keep_last = keep_last

    def __call__(self, data: list[Any]) -> Any:
        samples = self._whole(data)
        return self._batchify_fn(samples) if samples else END

    def on_host(self) -> Callable[..., Any]:
        """Return a version that allocates its arrays with an ``empty`` argument."""
        inner = on_host(self._batchify_fn)

        def batchify(data: list[Any], empty: Any) -> Any:
            samples = self._whole(data)
            return inner(samples, empty=empty) if samples else END

        return batchify

    def _whole(self, data: list[Any]) -> list[Any]:
        if data[-1] is not END:
            return data
        return [x for x in data if x is not END] if self._keep_last else []


class Pool(Protocol):
    """A pool of workers."""

    @property
    def closed(self) -> bool:
        """Whether the pool has ended."""
        raise NotImplementedError

    def abandon(self) -> None:
        """Stop without waiting."""

    def submit(self, indices: Sequence[Any], seed: int) -> Any:
        """Request a batch; return a handle."""

    def take(self, batch: Any, timeout_s: float) -> Any:
        """Wait for a batch and return it."""

    def forget(self, batches: Iterable[Any]) -> None:
        """Discard pending batches."""


class StreamPools:
    """A pool for each worker of a stream, because a stream stays in its worker.

    Args:
        pools: Pools of one worker each.
    """

    __repr__ = default_repr

    def __init__(self, pools: Sequence[Pool]) -> None:
        self._pools = pools

    @property
    def closed(self) -> bool:
        """Whether a worker has ended."""
        return any(pool.closed for pool in self._pools)

    def abandon(self) -> None:
        """Stop the workers without waiting."""
        for pool in self._pools:
            pool.abandon()

    def submit(self, indices: Sequence[Position], seed: int) -> tuple[int, Any]:
        """Request a batch of a worker's stream; return a handle for `take`."""
        worker = indices[0].worker
        return worker, self._pools[worker].submit(indices, seed)

    def take(self, batch: tuple[int, Any], timeout_s: float) -> Any:
        """Wait for a batch and return it, or `END`."""
        worker, handle = batch
        return self._pools[worker].take(handle, timeout_s)

    def forget(self, batches: Iterable[tuple[int, Any]]) -> None:
        """Discard pending batches."""
        for worker, handle in batches:
            self._pools[worker].forget([handle])


class StreamRequests:
    """Iterates over the requests of one pass: a batch of each worker in turn, while it has some.

    Args:
        workers: Number of workers, at least 1.
        batch_size: Number of samples in a batch.
        number: Number of the pass.
        seed: Seed of the pass.
    """

    __repr__ = default_repr

    def __init__(self, workers: int, batch_size: int, number: int, seed: int) -> None:
        self._requests = [[Position(i, number, seed)] * batch_size for i in range(workers)]
        self._live = list(range(workers))
        self._next = 0  # number of the worker whose turn is next, or a later one

    def __iter__(self) -> Iterator[list[Position]]:
        return self

    def __next__(self) -> list[Position]:
        if not self._live:
            raise StopIteration
        worker = next((i for i in self._live if i >= self._next), self._live[0])
        self._next = worker + 1
        return self._requests[worker]

    def end(self, worker: int) -> None:
        """Request no further batches of a worker, whose stream has ended."""
        with suppress(ValueError):  # several requests were pending
            self._live.remove(worker)


class StreamBatches:
    """The batches of an iterable dataset, in the place of a batch sampler.

    Args:
        dataset: The iterable dataset, or generator function.
        batch_size: Number of samples in a batch.
        num_workers: Number of workers; 0 to read in the main process.
        keep_last: Whether the incomplete last batch of a worker is kept.
    """

    def __init__(self, dataset: Any, batch_size: int, num_workers: int, keep_last: bool) -> None:
        self._dataset = dataset
        self._batch_size = batch_size
        self._num_workers = num_workers
        self._keep_last = keep_last

    def __repr__(self) -> str:
        last_batch = "keep" if self._keep_last else "discard"
        return object_repr(self, batch_size=self._batch_size, last_batch=last_batch)

    def __len__(self) -> int:
        """Return the number of batches of a pass, of a stream that is split evenly over workers.

        Raises:
            ArgumentTypeError: The stream has no length; a TypeError, so that ``list`` works.
        """
        dataset = self._dataset
        if not hasattr(type(dataset), "__len__"):
            raise ArgumentTypeError(
                f"DataLoader: expected a dataset with a length, got {name_of(dataset)} without"
            )
        count, workers, size = len(dataset), max(1, self._num_workers), self._batch_size
        shares = [len(range(worker, count, workers)) for worker in range(workers)]
        return sum(-(-share // size) if self._keep_last else share // size for share in shares)

    def requests(self, number: int, seed: int) -> StreamRequests:
        """Return the requests of a pass."""
        return StreamRequests(self._num_workers, self._batch_size, number, seed)

    def parts(self, batchify_fn: Callable[..., Any]) -> list[tuple[StreamReader, StreamBatchify]]:
        """Return the dataset and the batchify function of each worker."""
        batchify = StreamBatchify(batchify_fn, self._keep_last)
        count = self._num_workers
        return [(StreamReader(self._dataset, i, count), batchify) for i in range(count)]

    def load(self, number: int, batchify_fn: Callable[..., Any]) -> Iterator[Any]:
        """Load the batches of a pass in this process.

        Raises:
            ArgumentError: The dataset is an iterator that an earlier pass has used up.
        """
        reader = StreamReader(self._dataset, 0, 0)
        batchify = StreamBatchify(batchify_fn, self._keep_last)
        positions = [Position(0, number, 0)] * self._batch_size
        batch = load_batch(reader, positions, batchify)
        if batch is END and number > 1 and isinstance(self._dataset, Iterator):
            raise ArgumentError(
                "DataLoader: expected a dataset that can be iterated over again, got the iterator "
                f"{name_of(self._dataset)}, which earlier passes have used up; pass the generator "
                "function without calling it, or an IterableDataset"
            )
        while batch is not END:
            yield batch
            batch = load_batch(reader, positions, batchify)
