"""Channels to worker processes: messages over a socket, and rings of shared memory.

Invariant: a message through the socket has at most `_INLINE_NBYTES`; a larger one is sent as a
file. So a sender never blocks, as long as neither end leaves more than `MAX_UNANSWERED` messages
unanswered.

Invariants: a slot is free, acquired by a task, or in use by the arrays of a batch. Only the thread
that serves the pool acquires and releases slots; an array may be freed in any thread, during a
garbage collection too.

Errors in worker processes of a DataLoader are sent to the main process.
"""

import ctypes
import mmap
import os
import pickle
import socket
import struct
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from gluonish.core.errors import GluonishError
from gluonish.core.finalizer import Leases
from gluonish.gluon.data.by_value import dumps_reply
from gluonish.gluon.data.connection import (
    receive_all,
    receive_with_files,
    send_files,
)
from gluonish.gluon.data.shared_memory import Segment, new_file

# Size, whether the value is in a file, whether a file is attached.
_HEAD = struct.Struct("<Q??")
_INLINE_NBYTES = 4096
# The largest message takes 20 KiB of a buffer on Linux, which allows 416 KiB by default.
_BUFFER_NBYTES = 1 << 18
MAX_UNANSWERED = 16


class Channel:
    """One end of a connection between processes; messages arrive complete and in order.

    Args:
        connection: A connected socket.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection

    def send(self, message: Any, descriptor: int | None = None) -> None:
        """Send a value, and optionally an open file.

        Args:
            message: A value, or its pickle.
            descriptor: Descriptor of the file; the other end receives a duplicate.

        Raises:
            OSError: The other end is closed.
            SharedMemoryError: There is not enough memory for a large value.
        """
        data = message if isinstance(message, bytes) else pickle.dumps(message, protocol=5)
        if len(data) > _INLINE_NBYTES:
            self._send_file(data, descriptor)
            return
        packet = _HEAD.pack(len(data), False, descriptor is not None) + data
        if descriptor is None:
            self.socket.sendall(packet)
        else:
            send_files(self.socket, packet, [descriptor])

    def _send_file(self, data: bytes, descriptor: int | None) -> None:
        file = new_file(len(data), "a message")
        try:
            Segment(os.dup(file)).memory[: len(data)] = data
            head = _HEAD.pack(len(data), True, descriptor is not None)
            files = [file] if descriptor is None else [file, descriptor]
            send_files(self.socket, head, files)
        finally:
            os.close(file)

    def receive(self) -> tuple[Any, int | None]:
        """Wait for a message; return its value and its file's descriptor, or None without a file.

        Raises:
            EOFError: The other end is closed.
            OSError: The connection broke.
        """
        head, descriptors = receive_with_files(self.socket, _HEAD.size)
        if not head:
            raise EOFError("the other end of the channel is closed")
        length, in_file, _ = _HEAD.unpack(head)
        data: Any
        if in_file:
            data = memoryview(Segment(descriptors.pop(0)).memory)[:length]
        else:
            data = receive_all(self.socket, length)
        return pickle.loads(data), descriptors[0] if descriptors else None

    def close(self) -> None:
        """Close this end; pending reads at both ends see the end of the connection."""
        with suppress(OSError):  # the other end closed first
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def channel_pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets that hold `MAX_UNANSWERED` messages in each direction."""
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    for end in pair:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_NBYTES)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_NBYTES)
    return pair


# Slots in addition to the prefetched batches: one for the batch being waited for, one for the batch
# that the program processes, and two that the program or the engine may still use.
SPARE_SLOTS = 4

_REMEDY = (
    "lower num_workers, prefetch or batch_size, or use thread_pool=True, which shares no memory"
)


class Ring:
    """Equal slots of shared memory, all allocated at once.

    Args:
        slots: Number of slots.
        nbytes: Minimum size of a slot, in bytes.

    Attributes:
        slot_nbytes: Size of a slot, in bytes.
        descriptor: Descriptor of the file, for other processes; open until `close`.

    Raises:
        SharedMemoryError: There is not enough memory.
    """

    def __init__(self, slots: int, nbytes: int) -> None:
        self.slot_nbytes = -(-max(1, nbytes) // mmap.PAGESIZE) * mmap.PAGESIZE
        total = slots * self.slot_nbytes
        purpose = f"{slots} batches of {nbytes} bytes"
        self.descriptor = new_file(total, purpose, _REMEDY)
        try:
            self._memory = Segment(os.dup(self.descriptor)).memory
        except OSError:
            self.close()
            raise
        self._free = list(range(0, total, self.slot_nbytes))
        self._lending: Leases[int] = Leases()

    def acquire(self) -> int | None:
        """Return the offset of the free slot used last; None if none is free."""
        self._free.extend(self._lending.reclaim())
        return self._free.pop() if self._free else None

    def release(self, offset: int) -> None:
        """Release an acquired slot that has no view."""
        self._free.append(offset)

    def view(self, offset: int, nbytes: int) -> Any:
        """Return a view of an acquired slot, which is released when the view is freed."""
        memory = (ctypes.c_ubyte * nbytes).from_buffer(self._memory, offset)
        self._lending.grant(offset, memory)
        return memory

    def has_free_slot(self) -> bool:
        """Whether a slot is free. May be called from any thread."""
        return bool(self._free) or self._lending.can_reclaim()

    def close(self) -> None:
        """Close the file; views of slots stay valid."""
        os.close(self.descriptor)


class WorkerError(GluonishError, RuntimeError):
    """Raised if a worker process of a DataLoader ended, or raised an error that cannot be sent."""


class WorkerTimeoutError(WorkerError, TimeoutError):
    """Raised if a batch of a DataLoader did not arrive in time."""


class Failed(NamedTuple):
    """Message with an error of a batch or, if ``number`` is None, of the worker's start."""

    number: int | None
    error: bytes | None
    text: str


def describe_error(number: int | None, error: Exception) -> Failed:
    """Pickle an error, with its traceback as text.

    Args:
        number: Number of the batch; None for the worker's start.
        error: The error. It is pickled directly if unpickling restores an equal error; else as its
            type, arguments and attributes; and if that fails, as text.
    """
    text = "".join(traceback.format_exception(error))
    attempts: tuple[Callable[[Exception], bytes], ...] = (dumps_reply, _dumps_state)
    for attempt in attempts:
        try:
            pickled = attempt(error)
            again = pickle.loads(pickled)
            if type(again) is type(error) and str(again) == str(error):
                return Failed(number, pickled, text)
        except Exception:  # an error's own methods may raise anything
            continue
    return Failed(number, None, text)


def _dumps_state(error: Exception) -> bytes:
    arguments = tuple(item if _can_be_sent(item) else repr(item) for item in error.args)
    attributes = {name: item for name, item in vars(error).items() if _can_be_sent(item)}
    return dumps_reply(_ErrorState(type(error), arguments, attributes))


def _can_be_sent(item: Any) -> bool:
    try:
        pickle.loads(dumps_reply(item))
    except Exception:  # its own methods may raise anything
        return False
    return True


class _ErrorState:
    """The state of an error; unpickling rebuilds the error without calling its ``__init__``."""

    def __init__(
        self, kind: type[Exception], arguments: tuple[Any, ...], attributes: dict[str, Any]
    ) -> None:
        self._state = (kind, arguments, attributes)

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild_error, self._state


def rebuild_error(
    kind: type[Exception], arguments: tuple[Any, ...], attributes: dict[str, Any]
) -> Exception:
    """Create an error without calling its ``__init__``, which may need other arguments."""
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(attributes)
    return error


def make_error(failed: Failed, where: str) -> Exception:
    """Return the error to raise, with the worker's traceback as a note."""
    if failed.error is None:
        return WorkerError(f"DataLoader: {where} raised an error:\n{failed.text}")
    error: Exception = pickle.loads(failed.error)
    error.add_note(f"DataLoader: in {where}:\n{failed.text}")
    return error
