"""PrefetchingIter, and the thread that prefetches.

Invariants: the thread refers to the iterator and the buffer, never to the `ReadAhead` that owns
them, so that dropping the owner ends the thread. The buffer has no lock, so that a signal handler
may get an item while another `get` is interrupted; a wake-up lost to an interrupt costs
`_POLL_S`. The iterator runs and is closed only in the thread. A closed buffer accepts no items.
"""

import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from gluonish.core.errors import ArgumentError, GluonishError
from gluonish.core.numpy_mode import NumpyScope, current_numpy_scope
from gluonish.io.data_iter import DataBatch, DataDesc, DataIter

Item = TypeVar("Item")

# Maximum wait for an item, and of `close` for the thread, in seconds.
_TIMEOUT_S = 600.0
# Interval in which a waiting reader checks that the thread runs, which it does not after a fork.
_POLL_S = 1.0


class _Buffer(Generic[Item]):
    """The queue of items between the thread and the reader."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._items: SimpleQueue[Item | None] = SimpleQueue()  # None: wakes the reader
        self._freed: SimpleQueue[None] = SimpleQueue()  # wakes the thread
        self._error: BaseException | None = None
        self._finished = False
        self._closed = False

    def put(self, item: Item) -> bool:
        """Wait for a free slot and put the item; return False if the buffer is closed."""
        # Ends when the reader gets an item or the owner closes the buffer.
        while self._items.qsize() >= self._capacity and not self._closed:
            with suppress(Empty):
                self._freed.get(timeout=_POLL_S)
        if not self._closed:
            self._items.put(item)
        return not self._closed

    def finish(self, error: BaseException | None) -> None:
        """Mark the end of the items, with the error that caused it."""
        self._error = error
        self._finished = True
        self._items.put(None)

    def close(self) -> None:
        """Drop the items and end the thread."""
        self._closed = True
        with suppress(Empty):
            while True:
                self._items.get_nowait()
        self._items.put(None)
        self._freed.put(None)

    def get(self, alive: Callable[[], bool], name: str) -> Item:
        """Wait for an item and return it; raise StopIteration or the thread's error at the end."""
        deadline = time.monotonic() + _TIMEOUT_S
        while True:
            is_over = self._finished or self._closed  # no items are added any more
            try:
                item = self._items.get(timeout=0 if is_over else _POLL_S)
            except Empty:
                if is_over:
                    break
                if not (alive() or self._finished):
                    raise GluonishError(
                        f"{name}: expected its thread to run, got none: it does not survive a "
                        "fork; create the iterator in the process that uses it"
                    ) from None
                if time.monotonic() > deadline:
                    raise GluonishError(
                        f"{name}: expected a batch within {_TIMEOUT_S:g} s, got none"
                    ) from None
                continue
            if item is not None:
                self._freed.put(None)
                return item
        self._items.put(None)  # for other waiting readers
        # Raised once; a stored error would keep the frames of its traceback alive, and the reader.
        error, self._error = self._error, None
        if error is not None:
            raise error
        raise StopIteration


def _run(make: Callable[[], Iterator[Item]], buffer: _Buffer[Item], semantics: NumpyScope) -> None:
    """Body of the thread: put items until the iterator ends or the buffer is closed."""
    failure: BaseException | None = None
    try:
        with semantics:
            iterator = make()
            try:
                for item in iterator:
                    if not buffer.put(item):
                        break
            finally:
                close = getattr(iterator, "close", None)
                if close is not None:
                    close()
    except BaseException as error:  # raised by `get`
        failure = error
    buffer.finish(failure)


class ReadAhead(Generic[Item]):
    """Iterator over the items of another iterator, prefetched by a background thread.

    An error in the other iterator is raised by ``next``, once; then this iterator is exhausted. The
    thread ends after the last item, at `close`, or when this object is deleted.

    Args:
        make: Returns the other iterable, which runs in the thread and must not refer to the owner
            of this object. If it is a generator, the thread closes it.
        capacity: Maximum number of buffered items, at least 1.
        name: Start of error messages, and name of the thread.
    """

    def __init__(self, make: Callable[[], Iterator[Item]], capacity: int, name: str) -> None:
        self._name = name
        self._buffer: _Buffer[Item] = _Buffer(max(1, capacity))
        arguments = (make, self._buffer, current_numpy_scope())
        self._thread = threading.Thread(
            target=_run, args=arguments, name=f"gluonish-{name}", daemon=True
        )
        self._finalizer = weakref.finalize(self, _end, self._buffer, self._thread, 1.0)
        self._thread.start()

    def __iter__(self) -> "ReadAhead[Item]":
        return self

    def __next__(self) -> Item:
        return self._buffer.get(self._thread.is_alive, self._name)

    def close(self) -> None:
        """Drop the buffered items, and wait until the thread has closed the other iterator.

        Raises:
            GluonishError: The thread did not end in time.
        """
        self._finalizer.detach()
        if not _end(self._buffer, self._thread, _TIMEOUT_S):
            raise GluonishError(
                f"{self._name}: expected its thread to end within {_TIMEOUT_S:g} s, got one that "
                "still runs"
            )


def _end(buffer: _Buffer[Item], thread: threading.Thread, timeout_s: float) -> bool:
    """Close the buffer and wait for the thread; return whether the thread ended."""
    buffer.close()
    if thread is threading.current_thread():
        # The garbage collector may run in that thread, too.
        return True
    with suppress(RuntimeError):
        thread.join(timeout_s)
    return not thread.is_alive()


Names = Sequence[Mapping[str, str]] | None


class PrefetchingIter(DataIter):
    """Runs one or more iterators in background threads, one batch ahead.

    Each batch combines one batch of every iterator. The threads start at once, and again at
    `reset`; they end with the pass, at `reset`, or when this iterator is deleted. While they run,
    do not use the other iterators. An error in one of them is raised by `next`.

    Args:
        iters: An iterator, or a list of iterators, with equal numbers of batches and equal ``pad``.
        rename_data: For each iterator, a dict from old to new names of its data; None keeps them.
        rename_label: The same for the labels.

    Attributes:
        iters: List of the iterators.
        n_iter: Number of iterators.
        rename_data: The argument; likewise rename_label.
        batch_size: Number of samples in a batch.
        current_batch: The batch that was returned last, or None.

    Raises:
        ArgumentError: There is no iterator, or the numbers of dicts and iterators differ.

    Example:
        >>> import gluonish as mx
        >>> data = mx.io.NDArrayIter(mx.nd.arange(4), batch_size=2)
        >>> [batch.data[0].tolist() for batch in mx.io.PrefetchingIter(data)]
        [[0.0, 1.0], [2.0, 3.0]]
    """

    def __init__(self, iters: Any, rename_data: Names = None, rename_label: Names = None) -> None:
        super().__init__()
        self.iters = iters if isinstance(iters, list) else [iters]
        self.n_iter = len(self.iters)
        if not self.iters:
            raise ArgumentError("PrefetchingIter: expected at least one iterator, got none")
        for names in (rename_data, rename_label):
            if names is not None and len(names) != self.n_iter:
                raise ArgumentError(
                    f"PrefetchingIter: expected names for {self.n_iter} iterators, got {names!r}"
                )
        self.rename_data = rename_data
        self.rename_label = rename_label
        self.batch_size = self.provide_data[0].shape[0]
        self.current_batch: DataBatch | None = None
        self._prefetchers: list[ReadAhead[DataBatch]] = []
        self._start()

    @property
    def provide_data(self) -> list[DataDesc]:
        """Descriptions of the data of all iterators, renamed."""
        return _renamed([data_iter.provide_data for data_iter in self.iters], self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Descriptions of the labels of all iterators, renamed."""
        return _renamed([data_iter.provide_label for data_iter in self.iters], self.rename_label)

    def _start(self) -> None:
        self._prefetchers = [
            ReadAhead(partial(_batches, data_iter), 1, "PrefetchingIter")
            for data_iter in self.iters
        ]

    def reset(self) -> None:
        """Go back to the first batch of all iterators."""
        for prefetcher in self._prefetchers:
            prefetcher.close()
        for data_iter in self.iters:
            data_iter.reset()
        self.current_batch = None
        self._start()

    def next(self) -> DataBatch:
        """Return the next batch of each iterator, combined.

        Raises:
            StopIteration: The pass is over; `reset` starts the next one.
            GluonishError: The iterators differ in the number of batches or in ``pad``.
        """
        if not self.iter_next():
            raise StopIteration
        assert self.current_batch is not None
        return self.current_batch

    def iter_next(self) -> bool:
        """Advance to the next batch; return whether there is one.

        Raises:
            GluonishError: The iterators differ in the number of batches or in ``pad``.
        """
        fetched = [next(prefetcher, None) for prefetcher in self._prefetchers]
        batches = [batch for batch in fetched if batch is not None]
        if not batches:
            return False
        if len(batches) != self.n_iter:
            raise GluonishError(
                "PrefetchingIter: expected iterators with equal numbers of batches, got iterator "
                f"{fetched.index(None)} ending first"
            )
        pads = {batch.pad for batch in batches}
        if len(pads) > 1:
            raise GluonishError(
                f"PrefetchingIter: expected batches with the same pad, got {sorted(map(str, pads))}"
            )
        self.current_batch = DataBatch(
            [array for batch in batches for array in batch.data or ()],
            [array for batch in batches for array in batch.label or ()],
            pad=batches[0].pad,
            index=batches[0].index,
            bucket_key=batches[0].bucket_key,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )
        return True

    def getdata(self) -> Any:
        """Return the data of the current batch, a list of arrays."""
        return None if self.current_batch is None else self.current_batch.data

    def getlabel(self) -> Any:
        """Return the labels of the current batch, a list of arrays."""
        return None if self.current_batch is None else self.current_batch.label

    def getindex(self) -> Any:
        """Return the indices of the samples, from the first iterator; None if unknown."""
        return None if self.current_batch is None else self.current_batch.index

    def getpad(self) -> int | None:
        """Return the number of padding samples at the end of the current batch."""
        return None if self.current_batch is None else self.current_batch.pad


def _batches(data_iter: Any) -> Iterator[DataBatch]:
    """Yield the batches of one pass; a user's iterator may not support `next` after its end."""
    while (batch := next(data_iter, None)) is not None:
        yield batch


def _renamed(provided: list[Any], names: Names) -> list[DataDesc]:
    """Rename the descriptions of several iterators."""
    described = []
    for i, descriptions in enumerate(provided):
        for item in descriptions:
            desc = item if isinstance(item, DataDesc) else DataDesc(*item)
            if names is not None:
                if desc.name not in names[i]:
                    raise ArgumentError(
                        f"PrefetchingIter: expected a new name for {desc.name!r} of iterator "
                        f"{i}, got {dict(names[i])}"
                    )
                desc = DataDesc(names[i][desc.name], desc.shape, desc.dtype, desc.layout)
            described.append(desc)
    return described
