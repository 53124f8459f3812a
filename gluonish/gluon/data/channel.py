"""Messages between two processes over a socket: pickled values, and descriptors of open files.

Invariant: what goes through the socket is small, at most `_INLINE_NBYTES` a message; more travels
in a file of its own. So a sender waits for nobody, as long as neither end leaves more messages
unanswered than `MAX_UNANSWERED`.
"""

import os
import pickle
import socket
import struct
from contextlib import suppress
from typing import Any

from gluonish.gluon.data.shared_memory import Segment, new_file

__all__ = ["MAX_UNANSWERED", "Channel", "channel_pair"]

# Size, whether the value lies in a file, whether a file comes with it.
_HEAD = struct.Struct("<Q??")
_INLINE_NBYTES = 4096
# Linux counts 20 KiB for the largest, and gives no more than 416 KiB unless told to.
_BUFFER_NBYTES = 1 << 18
MAX_UNANSWERED = 16


class Channel:
    """One end of a connection between processes; messages arrive complete and in order.

    Args:
        connection: A connected Unix socket.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection

    def send(self, message: Any, descriptor: int | None = None) -> None:
        """Send a value, and optionally an open file.

        Args:
            message: A value, or its pickle.
            descriptor: Descriptor of the file, of which the other end receives a copy.

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
            self._send_with(packet, [descriptor])

    def _send_file(self, data: bytes, descriptor: int | None) -> None:
        file = new_file(len(data), "a message")
        try:
            Segment(os.dup(file)).memory[: len(data)] = data
            head = _HEAD.pack(len(data), True, descriptor is not None)
            self._send_with(head, [file] if descriptor is None else [file, descriptor])
        finally:
            os.close(file)

    def _send_with(self, packet: bytes, descriptors: list[int]) -> None:
        sent = socket.send_fds(self.socket, [packet], descriptors)
        self.socket.sendall(packet[sent:])

    def receive(self) -> tuple[Any, int | None]:
        """Wait for a message; return its value and its file's descriptor, or None without a file.

        Raises:
            EOFError: The other end is closed.
            OSError: The connection broke.
        """
        head, descriptors, _, _ = socket.recv_fds(self.socket, _HEAD.size, 2)
        if not head:
            raise EOFError("the other end of the channel is closed")
        if len(head) < _HEAD.size:
            head += self._exactly(_HEAD.size - len(head))
        length, in_file, _ = _HEAD.unpack(head)
        data: Any
        if in_file:
            data = memoryview(Segment(descriptors.pop(0)).memory)[:length]
        else:
            data = self._exactly(length)
        return pickle.loads(data), descriptors[0] if descriptors else None

    def _exactly(self, length: int) -> bytes:
        data = self.socket.recv(length)
        while len(data) < length:
            more = self.socket.recv(length - len(data))
            if not more:
                raise EOFError("the other end of the channel closed inside a message")
            data += more
        return data

    def close(self) -> None:
        """Close this end; the other end, and who waits at this one, sees the connection end."""
        with suppress(OSError):  # the other end was first
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def channel_pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets that hold `MAX_UNANSWERED` messages in each direction."""
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    for end in pair:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_NBYTES)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_NBYTES)
    return pair
