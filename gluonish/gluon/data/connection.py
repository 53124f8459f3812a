"""Connections to child processes, and open files that are passed through them.

Descriptors are passed in messages of Unix sockets, which Windows lacks; loaders use threads there.
"""

import os
import select
import socket
from typing import Any

# Polling interval where the system cannot wait for the end of a process, in seconds.
_POLL_S = 1.0


def send_files(connection: socket.socket, packet: bytes, files: list[int]) -> None:
    """Send bytes and open files to another process.

    Args:
        connection: The connection.
        packet: The bytes.
        files: Descriptors; the other process gets duplicates.

    Raises:
        OSError: The other end is closed.
    """
    sent = socket.send_fds(connection, [packet], files)
    connection.sendall(packet[sent:])


def receive_with_files(connection: socket.socket, nbytes: int) -> tuple[bytes, list[int]]:
    """Wait for the first ``nbytes`` of a message of `send_files`, and for its files.

    Returns:
        The bytes, none if the other end is closed; and descriptors of the files.

    Raises:
        EOFError: The connection ended inside the message.
    """
    head, files, _, _ = socket.recv_fds(connection, nbytes, 2)
    return (receive_all(connection, nbytes, head) if head else b""), list(files)


def receive_all(connection: socket.socket, nbytes: int, begun: bytes = b"") -> bytes:
    """Wait until ``begun`` has ``nbytes``, and return it.

    Raises:
        EOFError: The other end closed before.
    """
    data = begun
    while len(data) < nbytes:
        more = connection.recv(nbytes - len(data))
        if not more:
            raise EOFError("the other end of the channel closed inside a message")
        data += more
    return data


def wait_for_parent(connection: socket.socket, parent: int) -> None:
    """Wait until the parent process ends or closes a connection.

    Args:
        connection: Socket whose other end the parent has.
        parent: Process id of the parent.
    """
    poll = select.poll()
    poll.register(connection, 0)  # a closed channel is always reported
    timeout_ms = None
    try:
        poll.register(os.pidfd_open(parent), select.POLLIN)
    except (AttributeError, OSError):  # not Linux, or the process has ended
        timeout_ms = _POLL_S * 1000
    while os.getppid() == parent and not poll.poll(timeout_ms):
        pass


class Events:
    """Waits until one of several sockets is readable, or one of several processes ends.

    Attributes:
        sees_ends: Whether `wait` returns when a process ends; else its socket may, or nothing.
    """

    def __init__(self) -> None:
        self._poll = select.poll()
        self._sockets: dict[int, object] = {}
        self._ends: dict[int, object] = {}
        self.sees_ends = hasattr(os, "pidfd_open")

    def add(self, connection: socket.socket, owner: object, process: int | None = None) -> None:
        """Wait for a socket, and for the end of a process.

        Args:
            connection: The socket.
            owner: Object that `wait` returns.
            process: Process id, or None.
        """
        number = connection.fileno()
        self._sockets[number] = owner
        self._poll.register(number, select.POLLIN)
        # A process that the child forked may keep the child's end of the socket open.
        if self.sees_ends and process is not None:
            number = os.pidfd_open(process)
            self._poll.register(number, select.POLLIN)
            self._ends[number] = owner

    def wait(self, timeout_s: float) -> tuple[list[Any], list[Any]]:
        """Return the owners of readable sockets, and those of processes that ended."""
        numbers = [number for number, _ in self._poll.poll(timeout_s * 1000)]
        readable = [self._sockets[one] for one in numbers if one in self._sockets]
        return readable, [self._ends[one] for one in numbers if one in self._ends]

    def close(self) -> None:
        """Close the process descriptors."""
        while self._ends:
            os.close(self._ends.popitem()[0])
