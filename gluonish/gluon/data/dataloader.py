"""DataLoader: batches of a dataset, loaded in this process, in worker processes or in threads."""

import hashlib
import os
import pickle
import socket
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from multiprocessing.reduction import ForkingPickler as ForkingPickler
from typing import Any

import numpy as np

from gluonish.core.call_errors import explained
from gluonish.core.context import cpu_pinned
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.core.number_check import as_int, check_numbers
from gluonish.core.object_repr import brief, counted, object_repr
from gluonish.core.timeout_lock import TimeoutLock
from gluonish.gluon.data.batchify import default_batchify_fn, default_mp_batchify_fn
from gluonish.gluon.data.by_value import Payload, dumps
from gluonish.gluon.data.dataset import check_batchify, check_dataset, indexable
from gluonish.gluon.data.load import load_batch
from gluonish.gluon.data.passes import Pass, at_begin_of
from gluonish.gluon.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    load_sampler_state,
    sampler_state,
)
from gluonish.gluon.data.stream import (
    END,
    Pool,
    StreamBatches,
    StreamPools,
    check_stream,
    is_stream,
)
from gluonish.gluon.data.thread_pool import PoolBatches as _MultiWorkerIter  # noqa: F401  # programs
from gluonish.gluon.data.thread_pool import ThreadPool
from gluonish.gluon.data.thread_pool import as_in_context as _as_in_context  # noqa: F401  # import
from gluonish.gluon.data.thread_pool import initialize_worker as _worker_initializer  # noqa: F401
from gluonish.gluon.data.thread_pool import pickled_batch as _worker_fn  # noqa: F401  # them
from gluonish.gluon.data.thread_pool import thread_batch as _thread_worker_fn  # noqa: F401
from gluonish.gluon.data.worker_handle import WorkerNumbers
from gluonish.gluon.data.worker_pool import WorkerPool
from gluonish.io.shared_batch import is_sequence, rebuilt
from gluonish.ndarray import NDArray

__all__ = ["DataLoader"]

Indices = Iterable[Sequence[Any]]


class DataLoader:
    """Iterates over a dataset in batches, with worker processes or threads that load ahead.

    The order of the batches does not depend on the workers. With ``num_workers`` the samples are
    loaded and batchified by processes, which pass arrays back in shared memory. The workers are new
    interpreters that do not run the main program, so the program needs no ``if __name__ ==
    "__main__"``. The dataset and the functions are pickled once; if something cannot be pickled,
    such as an open file, the loader warns and uses threads. On Windows, which lacks the sockets
    that processes need, workers are threads, too, with a warning. For each batch the global random
    generators of Python, NumPy and gluonish are seeded from NumPy's state in the main process, so
    that ``numpy.random.seed`` makes random transforms reproducible. ``MXNET_MP_WORKER_NTHREADS``
    sets the threads of each worker, ``MXNET_MP_OPENCV_NUM_THREADS`` the threads of OpenCV in it.

    The shared memory has ``prefetch`` + 4 slots of the size of a batch, allocated when the first
    batch arrives: too little memory in the machine or its control group is an error at once. It is
    anonymous and outside ``/dev/shm``, so ``docker --shm-size`` does not limit it and nothing is
    left behind, however the program ends. A batch occupies its slot while any of its arrays is
    alive; a program that keeps several batches gets copies, so that the workers need not wait.

    An iterable dataset (`IterableDataset`, any iterable without a length, or a generator function)
    has no indices: its samples are batched in their order, and ``shuffle``, ``sampler``,
    ``batch_sampler`` and ``last_batch="rollover"`` are refused. Each worker reads a part of it, see
    `IterableDataset`; batches come from the workers in turn, without those whose part has ended,
    so that the order does not depend on timing. The last batch of each worker may be incomplete.

    `get_worker_info` returns a worker's number and seed. The seeds, and the seeds of batches,
    follow from NumPy's state in the main process: they are equal if ``numpy.random.seed`` was
    called with an equal number before the workers started, in the same pass of the loader. Threads
    share the generators of the program, which are not seeded for them.

    An error in a worker is raised in the main process, with the worker's traceback as a note. If a
    worker dies, by a signal for example, iteration raises a `WorkerError`; the next pass starts new
    workers.

    Args:
        dataset: The dataset: anything with indices and a length; or a table of polars, pandas or
            pyarrow, whose rows are dicts; or an iterable dataset.
        batch_size: Number of samples in a batch; required unless ``batch_sampler`` is set.
        shuffle: Whether to draw the samples in random order.
        sampler: Sampler of the indices, instead of ``shuffle``.
        last_batch: ``"keep"``, ``"discard"`` or ``"rollover"``, as in `BatchSampler`; None: keep.
        batch_sampler: Sampler of lists of indices, instead of the previous four arguments.
        batchify_fn: Function that makes a batch from a list of samples; None for
            `default_batchify_fn`.
        num_workers: Number of worker processes (or threads) that load ahead; 0 loads each batch in
            the main process, when it is requested.
        pin_memory: Whether to copy batches to pinned memory, ``cpu_pinned(pin_device_id)``, from
            which copies to a GPU are fastest.
        pin_device_id: Index of the GPU.
        prefetch: Number of batches that workers load ahead; None for twice ``num_workers``; 0 loads
            a batch only when it is requested.
        thread_pool: Whether workers are threads instead of processes: for datasets that mostly
            wait, or run code that releases the GIL.
        timeout: Longest time to wait for a batch from the workers, in seconds.
        auto_reload: Whether workers start the next pass as soon as one ends.
        try_nopython: Accepted without effect for programs of MXNet 2, where True requests a loader
            in C++.
        persistent_workers: Whether workers live as long as the loader; if not, they end with each
            pass, and the next pass starts new ones.
        worker_init_fn: Function that is called in each worker at its start, with the worker's
            number, after the generators of a process were seeded with the worker's seed; it is not
            called without workers.

    Raises:
        ArgumentError: Arguments contradict one another, or a number is out of range.
        ArgumentTypeError: An argument is not a number, or not indices, where one is expected.

    Iterating raises `WorkerTimeoutError` if a batch does not arrive in time, `SharedMemoryError` if
    there is too little memory, and `WorkerError` if a worker ended.

    Example:
        >>> import gluonish as mx
        >>> dataset = mx.gluon.data.ArrayDataset(mx.nd.ones((10, 3)), mx.nd.arange(10))
        >>> for data, label in mx.gluon.data.DataLoader(dataset, batch_size=4):
        ...     print(data.shape, label.shape)
        (4, 3) (4,)
        (4, 3) (4,)
        (2, 3) (2,)
    """

    @explained
    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        shuffle: bool = False,
        sampler: Sampler | Iterable[Any] | None = None,
        last_batch: str | None = None,
        batch_sampler: Indices | None = None,
        batchify_fn: Callable[..., Any] | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: float = 120,
        auto_reload: bool = False,
        try_nopython: bool | None = None,
        persistent_workers: bool = True,
        worker_init_fn: Callable[[int], object] | None = None,
    ) -> None:
        self._pool: Pool | None = None
        self._next_epoch: _Epoch | None = None
        self._iter: Any = None  # MXNet's attribute for `auto_reload`; see `_next_epoch`
        self._pool_lock = TimeoutLock()
        check_numbers("DataLoader", timeout=timeout)
        if timeout <= 0:
            raise ArgumentError(f"DataLoader: expected a positive timeout, got {timeout}")
        _check_worker_arguments(persistent_workers, worker_init_fn)
        check_batchify("DataLoader", batchify_fn)
        self._persistent_workers = persistent_workers
        self._worker_init_fn = worker_init_fn
        self._pin_memory = pin_memory
        self._pin_device_id = pin_device_id
        self._thread_pool = thread_pool
        self._timeout = timeout
        self._num_workers = _count("num_workers", num_workers)
        self._prefetch = 2 * self._num_workers
        if prefetch is not None:
            self._prefetch = _count("prefetch", prefetch)
        self._stream: StreamBatches | None = None
        self._batch_sampler: Any
        if is_stream(dataset):
            check_stream(
                dataset,
                self._num_workers,
                shuffle=shuffle,
                sampler=sampler,
                batch_sampler=batch_sampler,
                last_batch=last_batch,
            )
            size, keep = _batch_size(batch_size), last_batch != "discard"
            self._stream = StreamBatches(dataset, size, self._num_workers, keep)
            self._batch_sampler = self._stream
        else:
            dataset = indexable(dataset)
            check_dataset(dataset, needs_length=sampler is None and batch_sampler is None)
            self._batch_sampler = _make_batch_sampler(
                dataset, batch_size, shuffle, sampler, last_batch, batch_sampler
            )
        self._dataset = dataset
        default = default_mp_batchify_fn if self._num_workers else default_batchify_fn
        self._batchify_fn = default if batchify_fn is None else batchify_fn
        self._epochs = 0
        self._passes: list[Pass] = []  # those that run, of which the first is the outermost
        self._resumed: Mapping[str, Any] | None = None  # the pass that the next one continues
        self._worker_seed: int | None = None  # of workers that live as long as the loader
        self.auto_reload = auto_reload
        if auto_reload:
            self.refresh()

    def __repr__(self) -> str:
        return object_repr(
            self,
            brief(self._dataset),
            *counted(self, "batches"),
            batch_sampler=self._batch_sampler,
            num_workers=self._num_workers,
        )

    def __len__(self) -> int:
        """Return the number of batches in a pass."""
        return len(self._batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        """Return an iterator over the batches of one pass."""
        resumed, self._resumed = self._resumed, None
        if resumed is not None:
            with at_begin_of(resumed):
                passes, self._epochs = self._epochs, resumed["number"] - 1
                load_sampler_state(self._batch_sampler, resumed["sampler"])
                try:
                    return self._started(resumed["batches"])
                finally:
                    self._epochs = passes
        return self._started(0)

    def _started(self, skip: int) -> Iterator[Any]:
        """Start a pass without its first batches."""
        if not self._num_workers:
            self._epochs += 1
            begin = Pass(self._epochs, self._batch_sampler, skip)
            batches = self._load_in_process(self._epochs)
            if self._stream is not None:
                batches = _without(batches, skip)
            elif skip:
                batches = self._load_indices(_without(iter(self._batch_sampler), skip))
            return self._counted(batches, begin)
        epoch, self._next_epoch = self._next_epoch, None
        if epoch is None or skip or epoch.process != os.getpid():
            epoch = self._new_epoch(skip)
        return self._load_in_pool(epoch)

    def _counted(self, batches: Iterator[Any], begin: Pass) -> Iterator[Any]:
        """Yield batches, and count them."""
        self._passes.append(begin)
        try:
            for batch in batches:
                begin.batches += 1
                yield batch
        finally:
            self._passes.remove(begin)

    def state_dict(self) -> dict[str, Any]:
        """Return the position in a pass that runs, for another loader of the same arguments.

        Its next pass continues after the batches that were taken: samples before are not loaded.
        (Those of an iterable dataset are read again.) It has the same order, seeds and samples if
        these follow from the generators of Python, NumPy and gluonish, from the number of the pass,
        and from the ``state_dict`` of samplers; samplers of the program's own that draw indices in
        the course of a pass need workers, or their own generator and such a method. Workers that
        are threads share the program's generators, in no fixed order. Batches that workers loaded
        ahead are loaded again. After a pass, the state is the beginning of the next.

        Returns:
            A dict that JSON can hold.
        """
        running = next(iter(self._passes), None)
        if running is None and self._next_epoch is not None:
            running = self._next_epoch.begin
        return {
            "passes": self._epochs,
            "sampler": sampler_state(self._batch_sampler),
            "worker_seed": self._worker_seed,
            "pass": None if running is None else running.state(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next pass continue from a result of `state_dict`.

        The generators of the program are left as they are: restore them, too, for equal batches.

        Args:
            state: The state.

        Raises:
            ArgumentError: This is no such state.
        """
        is_state = isinstance(state, Mapping) and {"passes", "sampler", "pass"} <= set(state)
        if not is_state or not isinstance(state["pass"], Mapping | None):
            raise ArgumentError(
                f"DataLoader.load_state_dict: expected a result of state_dict, got {state!r:.60}"
            )
        self.clean()
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.abandon()
        self._epochs = int(state["passes"])
        self._worker_seed = state.get("worker_seed")
        self._resumed = state["pass"]
        if self._resumed is None:
            load_sampler_state(self._batch_sampler, state["sampler"])

    def refresh(self) -> None:
        """Let the workers start loading the next pass now."""
        if self._num_workers:
            self.clean()
            self._next_epoch = self._new_epoch()

    def clean(self) -> None:
        """Discard the batches that `refresh` started to load."""
        epoch, self._next_epoch = self._next_epoch, None
        if epoch is not None:
            epoch.close()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the workers."""
        left_out: dict[str, Any] = {
            "_pool": None,
            "_next_epoch": None,
            "_pool_lock": None,
            "_passes": [],
        }
        return {**self.__dict__, **left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._pool_lock = TimeoutLock()

    def _load_in_process(self, number: int) -> Iterator[Any]:
        if self._stream is None:
            return self._load_indices(self._batch_sampler)
        return map(self._pinned, self._stream.load(number, self._batchify_fn))

    def _load_indices(self, batches: Indices) -> Iterator[Any]:
        for indices in batches:
            yield self._pinned(load_batch(self._dataset, indices, self._batchify_fn))

    def _load_in_pool(self, epoch: "_Epoch") -> Iterator[Any]:
        try:
            yield from self._counted(self._batches_of(epoch), epoch.begin)
        finally:
            epoch.close()
        if self.auto_reload:
            self.refresh()

    def _batches_of(self, epoch: "_Epoch") -> Iterator[Any]:
        while epoch.advance():
            batch = epoch.next_batch(self._timeout)
            if batch is not END:
                yield self._pinned(batch)

    def _new_epoch(self, skip: int = 0) -> "_Epoch":
        begin = Pass(self._epochs + 1, self._batch_sampler, skip)
        with self._pool_lock:
            pool = before = self._pool
            if not self._persistent_workers:
                pool = self._make_pool()
            elif pool is None or pool.closed:
                pool = self._make_pool()
                if self._pool is before:  # atomic
                    self._pool = pool
                else:  # another thread or a signal handler made a pool; ours is dropped and ends
                    pool = self._pool
            self._epochs += 1
            number = begin.number = self._epochs
        assert pool is not None
        batches: Any = self._batch_sampler
        if self._stream is not None:
            batches = self._stream.requests(number, _seed_of(number))
        ends_pool = not self._persistent_workers
        indices = 0 if self._stream is not None else skip
        epoch = _Epoch(pool, batches, self._prefetch, begin, ends_pool, indices)
        while skip > indices and epoch.advance():
            skip -= epoch.next_batch(self._timeout) is not END
        return epoch

    def _make_pool(self) -> Pool:
        count, prefetch = self._num_workers, self._prefetch
        parts: list[tuple[Any, Any]] = [(self._dataset, self._batchify_fn)]
        if self._stream is not None:
            parts = [*self._stream.parts(self._batchify_fn)]
            count, prefetch = 1, -(-prefetch // self._num_workers)
        seed = _seed_of(self._epochs)
        if self._persistent_workers:
            seed = self._worker_seed = seed if self._worker_seed is None else self._worker_seed
        numbers = [WorkerNumbers(i, self._num_workers, seed) for i in range(len(parts))]
        payloads = self._payloads(parts)
        pools: list[Pool]
        if payloads is None:
            init = self._worker_init_fn
            pools = [
                ThreadPool(*part, count, its, init)
                for part, its in zip(parts, numbers, strict=True)
            ]
        else:
            pools = [
                WorkerPool(payload, count, prefetch, its)
                for payload, its in zip(payloads, numbers, strict=True)
            ]
        return pools[0] if self._stream is None else StreamPools(pools)

    def _payloads(self, parts: list[tuple[Any, Any]]) -> list[Payload] | None:
        """Return the pickled start of each pool of processes; None if workers are threads."""
        if self._thread_pool:
            return None
        if not hasattr(socket, "send_fds"):
            warnings.warn(
                f"DataLoader: expected num_workers={self._num_workers} to be processes, got "
                "threads: processes need Unix sockets, which this system lacks. Threads run Python "
                "code of the dataset one at a time; pass thread_pool=True to silence this",
                UserWarning,
                stacklevel=5,
            )
            return None
        functions = () if self._worker_init_fn is None else (self._worker_init_fn,)
        try:
            return [dumps((*part, *functions)) for part in parts]
        except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
            warnings.warn(
                "DataLoader: expected a dataset that worker processes can unpickle, got one "
                f"that cannot be pickled ({error}); using threads instead",
                UserWarning,
                stacklevel=5,
            )
            return None

    def _pinned(self, batch: Any) -> Any:
        if not self._pin_memory:
            return batch
        if isinstance(batch, NDArray):
            return batch.as_in_context(cpu_pinned(self._pin_device_id))
        if isinstance(batch, dict):
            return {name: self._pinned(item) for name, item in batch.items()}
        if is_sequence(batch):
            return rebuilt(batch, [self._pinned(item) for item in batch])
        return batch


class _Abandoning:
    """Context manager that abandons the pool after an interrupt, by which a batch may be lost."""

    __slots__ = ("_pool",)

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not issubclass(kind, Exception):
            self._pool.abandon()


class _Epoch:
    """One pass over the dataset: submits batches ahead and returns them in order."""

    def __init__(
        self,
        pool: Pool,
        batch_sampler: Indices,
        prefetch: int,
        begin: Pass,
        ends_pool: bool,
        skip: int,
    ) -> None:
        self.begin = begin
        self.process = os.getpid()
        self._pool = pool
        self._ends_pool = ends_pool
        self._indices: Any = iter(batch_sampler)
        self._root = _root_of(begin.number)
        self._submitted = skip
        self.pending: deque[Any] = deque()
        try:
            self._indices = _without(self._indices, skip)
            for _ in range(prefetch):
                self.advance()
        except BaseException:
            self.close()
            raise

    def advance(self) -> bool:
        """Submit the next batch, if any; return whether batches are pending."""
        indices = next(self._indices, None)
        if indices is None:
            return bool(self.pending)
        digest = hashlib.blake2b(self._root + b"%d" % self._submitted, digest_size=8).digest()
        self._submitted += 1
        with _Abandoning(self._pool):
            self.pending.append(self._pool.submit(indices, int.from_bytes(digest, "little")))
        return True

    def next_batch(self, timeout_s: float) -> Any:
        """Return the next batch; `END` if the stream of a worker has ended."""
        handle = self.pending.popleft()
        with _Abandoning(self._pool):
            batch = self._pool.take(handle, timeout_s)
        if batch is END:
            self._indices.end(handle[0])
        return batch

    def close(self) -> None:
        """Discard the pending batches."""
        self._pool.forget(self.pending)
        self.pending.clear()
        if self._ends_pool:
            self._pool.abandon()


def _without(items: Iterator[Any], count: int) -> Iterator[Any]:
    """Take a number of items, and return the iterator."""
    for _ in islice(items, count):
        pass
    return items


def _root_of(number: int) -> bytes:
    """Return the bytes from which the seeds of a pass follow; nothing is drawn."""
    return repr((number, np.random.get_state())).encode()  # noqa: NPY002 (only read)


def _seed_of(number: int) -> int:
    """Return a seed of 31 bits, so that it also fits NumPy's generator with a worker's number."""
    digest = hashlib.blake2b(_root_of(number), digest_size=4).digest()
    return int.from_bytes(digest, "little") >> 1


def _check_worker_arguments(persistent_workers: object, worker_init_fn: object) -> None:
    if not isinstance(persistent_workers, bool):
        raise ArgumentTypeError(
            f"DataLoader: expected persistent_workers to be a bool, got {persistent_workers!r}"
        )
    if worker_init_fn is not None and not callable(worker_init_fn):
        raise ArgumentTypeError(
            f"DataLoader: expected worker_init_fn to be a function, got {worker_init_fn!r}"
        )


def _batch_size(value: Any) -> int:
    """Return the batch size of an iterable dataset."""
    if value is None or isinstance(value, bool):
        raise ArgumentError(
            f"DataLoader: expected batch_size with an iterable dataset, got {value}"
        )
    return as_int("DataLoader", "batch_size", value, 1)


def _count(name: str, value: Any) -> int:
    """Check a number of workers or batches; MXNet truncates, and clips negative numbers to 0."""
    if follows_mxnet() and name == "prefetch":
        value = int(value)
    if follows_mxnet() and isinstance(value, int):
        return max(0, value)
    return as_int("DataLoader", name, value, 0)


def _make_batch_sampler(
    dataset: Any,
    batch_size: int | None,
    shuffle: bool,
    sampler: Iterable[Any] | None,
    last_batch: str | None,
    batch_sampler: Indices | None,
) -> Indices:
    if batch_sampler is not None:
        if batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ArgumentError(
                "DataLoader: expected none of batch_size, shuffle, sampler and last_batch with "
                "batch_sampler, got both"
            )
        if not isinstance(batch_sampler, Iterable) and not hasattr(batch_sampler, "__getitem__"):
            raise ArgumentTypeError(
                f"DataLoader: expected batches of indices in batch_sampler, got {batch_sampler!r}"
            )
        return batch_sampler
    if batch_size is None:
        raise ArgumentError("DataLoader: expected batch_size or batch_sampler, got neither")
    if sampler is None:
        sampler = RandomSampler(len(dataset)) if shuffle else SequentialSampler(len(dataset))
    elif shuffle:
        raise ArgumentError("DataLoader: expected shuffle=False with a sampler, got both")
    if not isinstance(batch_size, bool):  # BatchSampler decides on those
        batch_size = as_int("DataLoader", "batch_size", batch_size)
    return BatchSampler(sampler, batch_size, last_batch or "keep")
