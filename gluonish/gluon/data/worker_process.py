"""The worker process of a DataLoader: loads samples, batchifies them, and writes into a slot.

Invariants: the main process chooses the samples and the slots; a slot is written only by the task
that it was sent with. The worker ends when its channel or the main process ends, in whatever
way.
"""

import os
import pickle
import random
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gluonish.core import random_state
from gluonish.core.mxnet_rules import Rules, follow_mxnet
from gluonish.core.numpy_mode import set_np_array, set_np_shape
from gluonish.gluon.data.batchify import on_host
from gluonish.gluon.data.by_value import dumps_reply
from gluonish.gluon.data.channel import Channel, describe_error
from gluonish.gluon.data.connection import wait_for_parent
from gluonish.gluon.data.load import load_batch
from gluonish.gluon.data.shared_memory import Segment, new_file
from gluonish.gluon.data.stacking import Rows
from gluonish.gluon.data.stream import StreamBatchify, StreamReader
from gluonish.gluon.data.worker_info import WorkerInfo, current
from gluonish.io.shared_batch import Slot, lay_out, write_arrays


class Start(NamedTuple):
    """The first message: offset and size of the dataset's chunks in the attached file; settings."""

    chunks: list[tuple[int, int]]
    rules: Rules
    np_shape: bool
    np_array: bool
    opencv_threads: int
    worker: int = 0
    num_workers: int = 1
    worker_seed: int = 0


class RingFile(NamedTuple):
    """Message with an attached file, which holds the slots of all later tasks."""

    slot_nbytes: int


class Task(NamedTuple):
    """A batch to load; ``offset`` is that of its slot, or None if the worker must create a file."""

    number: int
    indices: Sequence[Any]
    seed: int
    offset: int | None


class SlotRetained(NamedTuple):
    """Message that the dataset keeps a sample in a task's slot, which must not be reused."""

    number: int


class Done(NamedTuple):
    """Message with a batch, and its size in the task's slot or in the attached file."""

    number: int
    described: Any
    nbytes: int


def main(descriptor: int, parent: int) -> None:
    """Serve the main process until it closes the channel; does not return.

    Args:
        descriptor: Descriptor of this end of the channel, a socket.
        parent: Process id of the main process.
    """
    # The main process handles Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=descriptor)
    threading.Thread(target=_watch, args=(connection, parent), daemon=True).start()
    # The main process may close the channel while a reply is being sent.
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        _serve(Channel(connection))
    _end()


def _end() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(0)  # without waiting for other threads


def _watch(connection: socket.socket, parent: int) -> None:
    """End this process when the channel or the main process ends, even while loading a sample.

    A fork of the main process may keep the channel open after the main process has ended.
    """
    wait_for_parent(connection, parent)
    os._exit(0)


def _serve(channel: Channel) -> None:
    try:
        dataset, batchify_fn = _receive_dataset(channel)
    except EOFError:
        return
    except Exception as error:
        channel.send(describe_error(None, error))
        return
    if isinstance(batchify_fn, StreamBatchify):
        make_batch = batchify_fn.on_host()
    else:
        make_batch = on_host(batchify_fn)
    ring: Segment | None = None
    slot_nbytes = 0
    with_rows = True
    while True:
        message, descriptor = channel.receive()
        if isinstance(message, RingFile):
            assert descriptor is not None
            ring, slot_nbytes = Segment(descriptor, touch=True), message.slot_nbytes
            continue
        slot = Slot()
        if ring is not None and message.offset is not None:
            slot = Slot(ring.memory, message.offset, slot_nbytes)
        load = partial(load_batch, dataset, message.indices, partial(make_batch, empty=slot.empty))
        with_rows = _answer(channel, message, load, slot, with_rows)


def _receive_dataset(channel: Channel) -> tuple[Any, Callable[..., Any]]:
    start, descriptor = channel.receive()
    if descriptor is None:
        raise EOFError("expected a file with the dataset, got none")
    follow_mxnet(start.rules)
    set_np_shape(start.np_shape)
    set_np_array(start.np_array)
    memory = memoryview(Segment(descriptor, private=True).memory)
    pickled, *buffers = (memory[begin : begin + nbytes] for begin, nbytes in start.chunks)
    dataset, batchify_fn, *functions = pickle.loads(pickled, buffers=buffers)
    follow_mxnet(start.rules)  # an import of `mxnet` by the dataset's module sets its own
    # OpenCV before 4.5.2 does not read the environment variable.
    opencv = sys.modules.get("cv2")
    if opencv is not None:
        opencv.setNumThreads(start.opencv_threads)
    begin_worker(dataset, start.worker, start.num_workers, start.worker_seed)
    for worker_init_fn in functions:
        _seed(start.worker_seed)
        worker_init_fn(start.worker)
    return dataset, batchify_fn


def begin_worker(dataset: Any, worker: int, num_workers: int, seed: int) -> None:
    """Set what `get_worker_info` returns in this process or thread.

    Args:
        dataset: The dataset, or the reader of a stream.
        worker: Number of the worker.
        num_workers: Number of workers of the loader.
        seed: Seed of the worker.
    """
    if isinstance(dataset, StreamReader):
        dataset = dataset.dataset
    current.set(WorkerInfo(worker, num_workers, seed, dataset))


def _answer(
    channel: Channel, task: Task, load: Callable[[Rows | None], Any], slot: Slot, with_rows: bool
) -> bool:
    """Load a batch and send it; return whether the next batch may use `Rows`."""
    _seed(task.seed)
    descriptor = None
    rows = Rows(len(task.indices), slot.empty) if with_rows and slot.nbytes else None
    try:
        batch = load(rows)
        described, arrays, nbytes = lay_out(batch, slot)
        nbytes = max(1, nbytes) if arrays else 0
        descriptor = _store(slot, described, arrays, nbytes, rows)
        del batch, arrays
        if rows is not None and rows.are_referenced and descriptor is None and nbytes:
            descriptor = _copy_to_file(slot, nbytes)
        data = dumps_reply(Done(task.number, described, nbytes))
    except Exception as error:
        descriptor = None
        data = dumps_reply(describe_error(task.number, error))
    if rows is not None and rows.are_allocated:
        if rows.are_referenced:
            channel.send(dumps_reply(SlotRetained(task.number)))
        with_rows = rows.are_batch and not rows.are_referenced
    channel.send(data, descriptor)
    if descriptor is not None:
        os.close(descriptor)
    if sys.stdout is not None:
        sys.stdout.flush()
    return with_rows


def _store(
    slot: Slot, described: Any, arrays: list[Any], nbytes: int, rows: Rows | None
) -> int | None:
    """Write the arrays of a batch into its slot, or into a new file; return its descriptor."""
    # The slot's memory is in use if samples were allocated in it but are not the batch.
    slot_in_use = rows is not None and rows.are_allocated and not rows.are_batch
    if not arrays:
        return None
    if nbytes <= slot.nbytes and not slot_in_use:
        write_arrays(slot.memory, described, arrays, slot)
        return None
    descriptor = new_file(nbytes, "a batch that does not fit its slot")
    write_arrays(Segment(os.dup(descriptor)).memory, described, arrays)
    return descriptor


def _copy_to_file(slot: Slot, nbytes: int) -> int:
    """Copy a slot to a new file; return its descriptor."""
    descriptor = new_file(nbytes, "a batch whose samples the dataset keeps")
    Segment(os.dup(descriptor)).memory[:nbytes] = slot.memory[:nbytes]
    return descriptor


def _seed(seed: int) -> None:
    """Seed the random generators, so that transforms depend on the batch, not on the worker."""
    random.seed(seed)
    np.random.seed(seed & 0xFFFFFFFF)  # noqa: NPY002 (transforms use the global generator)
    random_state.seed(seed)
