"""What runs in a worker process of a DataLoader: load samples, batchify, write into a slot.

Invariants: the main process alone says what to load, and where to; a slot is written only by the
task that came with it. The worker ends when its channel or the main process does, so that no worker
outlives the main process, however that ended.
"""

import os
import pickle
import random
import select
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
from gluonish.core.numpy_mode import set_np_array, set_np_shape
from gluonish.gluon.data import stacking
from gluonish.gluon.data.batchify import on_host
from gluonish.gluon.data.channel import Channel
from gluonish.gluon.data.sent_classes import dumps_reply
from gluonish.gluon.data.shared_memory import Segment, new_file
from gluonish.gluon.data.stacking import Rows
from gluonish.gluon.data.worker_errors import describe_error
from gluonish.io.shared_batch import Slot, lay_out, write_arrays

# How often a system that cannot wait for the end of a process is asked for it, in seconds.
_LOOK_S = 1.0


class Start(NamedTuple):
    """The first message: where the parts of the dataset's pickle lie in the file sent with it."""

    places: list[tuple[int, int]]
    np_shape: bool
    np_array: bool
    opencv_threads: int


class RingFile(NamedTuple):
    """The slots of all later tasks lie in the file sent with this message."""

    slot_nbytes: int


class Task(NamedTuple):
    """A batch to load; ``offset`` is that of its slot, None if the worker must create a file."""

    number: int
    indices: Sequence[Any]
    seed: int
    offset: int | None


class SlotKept(NamedTuple):
    """The dataset keeps a sample that lies in a task's slot, which must not be used again."""

    number: int


class Done(NamedTuple):
    """A batch, and how many bytes it takes in its slot, or in the file sent with it."""

    number: int
    described: Any
    nbytes: int


def load_batch(
    dataset: Any,
    indices: Sequence[Any],
    batchify_fn: Callable[..., Any],
    rows: Rows | None = None,
) -> Any:
    """Take samples from a dataset and make a batch of them.

    Args:
        dataset: The dataset.
        indices: Indices of the samples.
        batchify_fn: Function that makes a batch of a list of samples.
        rows: Rows of the batch, in which samples may be stored directly.

    Raises:
        Exception: The error that the dataset or ``batchify_fn`` raised, with a note of the index.
    """
    before = stacking.current.set(rows)
    try:
        return _load(dataset, indices, batchify_fn, rows)
    finally:
        stacking.current.reset(before)


def _load(
    dataset: Any, indices: Sequence[Any], batchify_fn: Callable[..., Any], rows: Rows | None
) -> Any:
    samples = []
    for number, index in enumerate(indices):
        if rows is not None:
            rows.begin(number)
        try:
            samples.append(dataset[index])
        except Exception as error:
            error.add_note(f"DataLoader: raised by dataset[{index}]")
            raise
    if rows is not None:
        rows.begin(None)
    try:
        return batchify_fn(samples)
    except Exception as error:
        shown = ", ".join(map(str, indices))
        error.add_note(f"DataLoader: raised by batchify_fn for dataset indices [{shown}]")
        raise


def main(descriptor: int, parent: int) -> None:
    """Serve the main process until it closes the channel; does not return.

    Args:
        descriptor: Descriptor of this end of the channel, a Unix socket.
        parent: Process id of the main process.
    """
    # Ctrl-C is for the main process, which decides what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=descriptor)
    threading.Thread(target=_watch, args=(connection, parent), daemon=True).start()
    # The main process may close the channel while an answer is on its way, which nobody wants then.
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        _serve(Channel(connection))
    _end()


def _end() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(0)  # nobody wants what other threads of this process may still be doing


def _watch(connection: socket.socket, parent: int) -> None:
    """End this process with the channel or with the main process, even inside a sample.

    The latter shows where a fork of the main process keeps the channel open.
    """
    poll = select.poll()
    poll.register(connection, 0)  # the end of the channel is told in any case
    timeout_ms = None
    try:
        poll.register(os.pidfd_open(parent), select.POLLIN)
    except (AttributeError, OSError):  # another system than Linux; or the process is gone
        timeout_ms = _LOOK_S * 1000
    while os.getppid() == parent and not poll.poll(timeout_ms):
        pass
    os._exit(0)


def _serve(channel: Channel) -> None:
    try:
        dataset, batchify_fn = _receive_dataset(channel)
    except EOFError:
        return
    except Exception as error:
        channel.send(describe_error(None, error))
        return
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
    set_np_shape(start.np_shape)
    set_np_array(start.np_array)
    memory = memoryview(Segment(descriptor, private=True).memory)
    pickled, *buffers = (memory[begin : begin + nbytes] for begin, nbytes in start.places)
    made: tuple[Any, Callable[..., Any]] = pickle.loads(pickled, buffers=buffers)
    # The environment has told OpenCV the number; releases before 4.5.2 do not look there.
    opencv = sys.modules.get("cv2")
    if opencv is not None:
        opencv.setNumThreads(start.opencv_threads)
    return made


def _answer(
    channel: Channel, task: Task, load: Callable[[Rows | None], Any], slot: Slot, with_rows: bool
) -> bool:
    """Load a batch and send it; return whether the next one's samples may have rows."""
    _seed(task.seed)
    descriptor = None
    rows = Rows(len(task.indices), slot.empty) if with_rows and slot.nbytes else None
    try:
        batch = load(rows)
        described, arrays, nbytes = lay_out(batch, slot)
        nbytes = max(1, nbytes) if arrays else 0
        descriptor = _store(slot, described, arrays, nbytes, rows)
        del batch, arrays
        if rows is not None and rows.are_kept and descriptor is None and nbytes:
            descriptor = _moved(slot, nbytes)
        data = dumps_reply(Done(task.number, described, nbytes))
    except Exception as error:
        descriptor = None
        data = dumps_reply(describe_error(task.number, error))
    if rows is not None and rows.are_made:
        if rows.are_kept:
            channel.send(dumps_reply(SlotKept(task.number)))
        with_rows = rows.are_batch and not rows.are_kept
    channel.send(data, descriptor)
    if descriptor is not None:
        os.close(descriptor)
    if sys.stdout is not None:
        sys.stdout.flush()
    return with_rows


def _store(
    slot: Slot, described: Any, arrays: list[Any], nbytes: int, rows: Rows | None
) -> int | None:
    """Put the arrays of a batch into its slot, or into a new file, and return its descriptor."""
    # Samples that are not in the batch may be kept by somebody, and lie where arrays would go.
    taken = rows is not None and rows.are_made and not rows.are_batch
    if not arrays:
        return None
    if nbytes <= slot.nbytes and not taken:
        write_arrays(slot.memory, described, arrays, slot)
        return None
    descriptor = new_file(nbytes, "a batch that has no room in its slot")
    write_arrays(Segment(os.dup(descriptor)).memory, described, arrays)
    return descriptor


def _moved(slot: Slot, nbytes: int) -> int:
    """Return the descriptor of a new file with what lies in a slot."""
    descriptor = new_file(nbytes, "a batch whose samples the dataset keeps")
    Segment(os.dup(descriptor)).memory[:nbytes] = slot.memory[:nbytes]
    return descriptor


def _seed(seed: int) -> None:
    """Make what a transform draws depend on the batch, not on the worker."""
    random.seed(seed)
    np.random.seed(seed & 0xFFFFFFFF)  # noqa: NPY002 (transforms use the global generator)
    random_state.seed(seed)
