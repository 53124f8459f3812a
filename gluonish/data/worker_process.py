"""What runs in a worker process of a DataLoader: load samples, batchify, write into a segment.

Invariants: the main process alone says what to load and which segments nobody reads any more; a
segment is written only while it is free. The worker ends when its channel does, so that no worker
outlives the main process.
"""

import mmap
import os
import pickle
import random
import signal
import socket
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np

from gluonish.core import random_state
from gluonish.data.batchify import default_batchify_fn, default_mp_batchify_fn, stack_on_host
from gluonish.data.channel import Channel
from gluonish.data.shared_batch import Segment, lay_out, new_file, write_arrays

__all__ = ["Done", "Failed", "Task", "load_batch", "main"]


@dataclass(frozen=True, slots=True)
class Task:
    """A batch to load; ``freed`` are segments that nobody reads any more."""

    number: int
    indices: Sequence[Any]
    seed: int
    freed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """A batch that lies in a segment, or needs none; segments in ``dropped`` are forgotten."""

    number: int
    described: Any
    segment: int | None
    dropped: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """What went wrong with a batch, or, without a number, with the worker's start."""

    number: int | None
    error: bytes | None
    text: str


def load_batch(dataset: Any, indices: Sequence[Any], batchify_fn: Callable[..., Any]) -> Any:
    """Take samples from a dataset and make a batch of them.

    Raises:
        Exception: what the dataset or ``batchify_fn`` raised, with a note of the index.
    """
    samples = []
    for index in indices:
        try:
            samples.append(dataset[index])
        except Exception as error:
            error.add_note(f"DataLoader: raised by dataset[{index}]")
            raise
    try:
        return batchify_fn(samples)
    except Exception as error:
        shown = ", ".join(map(str, indices))
        error.add_note(f"DataLoader: raised by batchify_fn for dataset indices [{shown}]")
        raise


class _Segments:
    """The segments that this worker made, and which of them are free."""

    def __init__(self) -> None:
        self._all: dict[int, Segment] = {}
        self._free: set[int] = set()
        self._count = 0

    def free(self, numbers: Sequence[int]) -> None:
        self._free.update(numbers)

    def take(self, nbytes: int) -> tuple[int, int | None, tuple[int, ...]]:
        """Return a segment of at least so many bytes, its file if it is new, and those dropped."""
        for number in self._free:
            if self._all[number].nbytes >= nbytes:
                self._free.remove(number)
                return number, None, ()
        dropped = tuple(self._free)
        for number in dropped:
            del self._all[number]
        self._free.clear()
        # Room for batches that are a little larger; pages that nobody touches cost nothing.
        descriptor = new_file(1 << max(mmap.PAGESIZE - 1, nbytes - 1).bit_length())
        self._count += 1
        self._all[self._count] = Segment(os.dup(descriptor))
        return self._count, descriptor, dropped

    def __getitem__(self, number: int) -> Segment:
        return self._all[number]


def main(descriptor: int) -> None:
    """Serve the main process until it closes the channel.

    Args:
        descriptor: This end of the channel, an open Unix socket.
    """
    # Ctrl-C reaches the whole group of processes; the main process decides what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # It may close the channel while an answer is on its way, which nobody wants then.
    with (
        socket.socket(fileno=descriptor) as connection,
        suppress(BrokenPipeError, ConnectionResetError),
    ):
        _serve(Channel(connection))


def _serve(channel: Channel) -> None:
    try:
        dataset, batchify_fn = _receive_dataset(channel)
    except EOFError:
        return
    except Exception as error:
        channel.send(_failure(None, error))
        return
    tasks: SimpleQueue[Task] = SimpleQueue()
    threading.Thread(target=_read_tasks, args=(channel, tasks), daemon=True).start()
    segments = _Segments()
    while True:
        _answer(channel, tasks.get(), dataset, batchify_fn, segments)


def _receive_dataset(channel: Channel) -> tuple[Any, Callable[..., Any]]:
    places, descriptor = channel.receive()
    if descriptor is None:
        raise EOFError("expected a file with the dataset, got none")
    memory = memoryview(Segment(descriptor, private=True).memory)
    pickled, *buffers = (memory[start : start + nbytes] for start, nbytes in places)
    made: tuple[Any, Callable[..., Any]] = pickle.loads(pickled, buffers=buffers)
    return made


def _read_tasks(channel: Channel, tasks: "SimpleQueue[Task]") -> None:
    """Take messages at once, so that the main process never waits to send one."""
    try:
        while True:
            tasks.put(channel.receive()[0])
    except (EOFError, OSError):
        os._exit(0)  # nobody wants what this worker may still be loading


def _answer(
    channel: Channel,
    task: Task,
    dataset: Any,
    batchify_fn: Callable[..., Any],
    segments: _Segments,
) -> None:
    segments.free(task.freed)
    _seed(task.seed)
    descriptor = None
    message: Done | Failed
    try:
        own = batchify_fn in (default_batchify_fn, default_mp_batchify_fn)
        batch = load_batch(dataset, task.indices, stack_on_host if own else batchify_fn)
        described, arrays, nbytes = lay_out(batch, as_ndarrays=own)
        if arrays:
            number, descriptor, dropped = segments.take(nbytes)
            write_arrays(segments[number], described, arrays)
            message = Done(task.number, described, number, dropped)
        else:
            message = Done(task.number, described, None, ())
        data = pickle.dumps(message, protocol=5)
    except Exception as error:
        data = pickle.dumps(_failure(task.number, error), protocol=5)
    channel.send(data, descriptor)
    if descriptor is not None:
        os.close(descriptor)


def _seed(seed: int) -> None:
    """Make what a transform draws depend on the batch, not on the worker."""
    random.seed(seed)
    np.random.seed(seed & 0xFFFFFFFF)  # noqa: NPY002 (transforms use the global generator)
    random_state.seed(seed)


def _failure(number: int | None, error: Exception) -> Failed:
    text = traceback.format_exc()
    try:
        pickled = pickle.dumps(error)
        pickle.loads(pickled)
    except Exception:  # an error that cannot be sent is told by its text
        return Failed(number, None, text)
    return Failed(number, pickled, text)
