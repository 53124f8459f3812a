"""Messages between two processes over a socket: pickled values, and descriptors of open files."""

import pickle
import select
import socket
import struct
from typing import Any

__all__ = ["Channel", "ready"]

_HEAD = struct.Struct("<Q?")


class Channel:
    """One end of a connection; messages arrive whole and in order.

    Args:
        connection: A connected Unix socket.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection

    def send(self, message: Any, descriptor: int | None = None) -> None:
        """Send a value, and a file that the other end gets a descriptor of its own for.

        Raises:
            OSError: The other end is closed.
        """
        data = message if isinstance(message, bytes) else pickle.dumps(message, protocol=5)
        head = _HEAD.pack(len(data), descriptor is not None)
        if descriptor is None:
            self.socket.sendall(head)
        else:
            # A head is small enough to go in one piece, and the descriptor goes with it.
            socket.send_fds(self.socket, [head], [descriptor])
        self.socket.sendall(data)

    def receive(self) -> tuple[Any, int | None]:
        """Wait for a message; return its value and its file's descriptor, or None.

        Raises:
            EOFError: The other end is closed.
            OSError: The connection broke.
        """
        head, descriptors, _, _ = socket.recv_fds(self.socket, _HEAD.size, 1)
        if not head:
            raise EOFError("the other end of the channel is closed")
        head += self._exactly(_HEAD.size - len(head))
        length, _ = _HEAD.unpack(head)
        data = self._exactly(length)
        return pickle.loads(data), descriptors[0] if descriptors else None

    def _exactly(self, length: int) -> bytes:
        data = bytearray(length)
        view = memoryview(data)
        while view:
            count = self.socket.recv_into(view)
            if not count:
                raise EOFError("the other end of the channel closed inside a message")
            view = view[count:]
        return bytes(data)

    def close(self) -> None:
        """Close this end; the other sees the end of file."""
        self.socket.close()


def ready(channels: list[Channel], timeout_s: float) -> list[Channel]:
    """Wait until messages can be received from some channels, at most ``timeout_s`` seconds."""
    poll = select.poll()
    by_number = {channel.socket.fileno(): channel for channel in channels}
    for number in by_number:
        poll.register(number, select.POLLIN)
    return [by_number[number] for number, _ in poll.poll(max(0.0, timeout_s) * 1000)]
