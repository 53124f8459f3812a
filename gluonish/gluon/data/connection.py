"""Connections to child processes, and open files that are passed through them.

POSIX passes descriptors in messages of Unix sockets. Windows copies a file's handle into the other
process, and sends its number. The numbers of files are known from the first bytes of a message.
"""

import os
import select
import socket
import subprocess
from collections.abc import Callable
from typing import Any

from gluonish.core.operating_system import WINDOWS

# Polling interval where the system cannot wait for the end of a process, in seconds.
_POLL_S = 1.0


def connection_pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected stream sockets."""
    if hasattr(socket, "AF_UNIX") and not WINDOWS:
        return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    return socket.socketpair()


def inheriting(connection: socket.socket) -> dict[str, Any]:
    """Return arguments of `subprocess.Popen` for a child process that gets a socket's descriptor.

    The child's ``socket.socket(fileno=..)`` takes the number that ``connection.fileno()`` has here.
    """
    if not WINDOWS:
        return {"pass_fds": (connection.fileno(),)}
    connection.set_inheritable(True)
    kind: Any = subprocess.STARTUPINFO  # type: ignore[attr-defined,unused-ignore]
    return {"startupinfo": kind(lpAttributeList={"handle_list": [connection.fileno()]})}


def send_files(connection: socket.socket, packet: bytes, files: list[int], peer: int) -> None:
    """Send bytes and open files to another process.

    Args:
        connection: The connection.
        packet: The bytes.
        files: Descriptors; the other process gets duplicates.
        peer: The other process's id.

    Raises:
        OSError: The other end is closed.
    """
    if hasattr(socket, "send_fds"):
        sent = socket.send_fds(connection, [packet], files)
        connection.sendall(packet[sent:])
        return
    numbers = [copy_into(file, peer) for file in files]
    connection.sendall(packet + b"".join(number.to_bytes(8, "little") for number in numbers))


def receive_with_files(
    connection: socket.socket, nbytes: int, count: Callable[[bytes], int]
) -> tuple[bytes, list[int]]:
    """Wait for the first bytes of a message of `send_files`, and for its files.

    Args:
        connection: The connection.
        nbytes: Number of bytes that the message has at least; all files come with them.
        count: Function that returns the number of the message's files, given these bytes.

    Returns:
        The bytes, none if the other end is closed; and descriptors of the files.

    Raises:
        EOFError: The connection ended inside the message.
    """
    if hasattr(socket, "recv_fds"):
        head, files, _, _ = socket.recv_fds(connection, nbytes, 2)
        return (receive_all(connection, nbytes, head) if head else b""), list(files)
    head = connection.recv(nbytes)
    if not head:
        return b"", []
    head = receive_all(connection, nbytes, head)
    numbers = receive_all(connection, 8 * count(head))
    places = range(0, len(numbers), 8)
    return head, [adopt(int.from_bytes(numbers[i : i + 8], "little")) for i in places]


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


_PROCESS_DUP_HANDLE, _DUPLICATE_SAME_ACCESS, _SYNCHRONIZE = 0x40, 2, 0x100000


def copy_into(file: int, process: int) -> int:
    """Copy a file's handle into another process of this user, on Windows; return its number there.

    Raises:
        OSError: There is no such process.
    """
    import _winapi
    import msvcrt

    windows: Any = _winapi
    files: Any = msvcrt
    target = windows.OpenProcess(_PROCESS_DUP_HANDLE, False, process)
    try:
        here, handle = windows.GetCurrentProcess(), files.get_osfhandle(file)
        return int(windows.DuplicateHandle(here, handle, target, 0, False, _DUPLICATE_SAME_ACCESS))
    finally:
        windows.CloseHandle(target)


def adopt(handle: int) -> int:
    """Return a descriptor of a handle that `copy_into` made in this process, which it then owns."""
    import msvcrt

    files: Any = msvcrt
    return int(files.open_osfhandle(handle, os.O_RDWR | getattr(os, "O_BINARY", 0)))


def wait_for_parent(connection: socket.socket, parent: int) -> None:
    """Wait until the parent process ends or, on POSIX, closes a connection without reading it.

    Args:
        connection: Socket whose other end the parent has.
        parent: Process id of the parent.
    """
    if WINDOWS:
        _wait_for_process(parent)
        return
    poll = select.poll()
    poll.register(connection, 0)  # a closed channel is always reported
    timeout_ms = None
    try:
        poll.register(os.pidfd_open(parent), select.POLLIN)
    except (AttributeError, OSError):  # not Linux, or the process has ended
        timeout_ms = _POLL_S * 1000
    while os.getppid() == parent and not poll.poll(timeout_ms):
        pass


def _wait_for_process(number: int) -> None:
    import _winapi

    windows: Any = _winapi
    try:
        process = windows.OpenProcess(_SYNCHRONIZE, False, number)
    except OSError:  # has ended
        return
    windows.WaitForSingleObject(process, windows.INFINITE)


class Events:
    """Waits until one of several sockets is readable, or one of several processes ends.

    Attributes:
        sees_ends: Whether `wait` returns when a process ends; else its socket may, or nothing.
    """

    def __init__(self) -> None:
        self._poll = select.poll() if hasattr(select, "poll") else None
        self._sockets: dict[int, object] = {}
        self._ends: dict[int, object] = {}
        self.sees_ends = self._poll is not None and hasattr(os, "pidfd_open")

    def add(self, connection: socket.socket, owner: object, process: int | None = None) -> None:
        """Wait for a socket, and for the end of a process.

        Args:
            connection: The socket.
            owner: Object that `wait` returns.
            process: Process id, or None.
        """
        number = connection.fileno()
        self._sockets[number] = owner
        if self._poll is not None:
            self._poll.register(number, select.POLLIN)
            # A process that the child forked may keep the child's end of the socket open.
            if self.sees_ends and process is not None:
                number = os.pidfd_open(process)
                self._poll.register(number, select.POLLIN)
                self._ends[number] = owner

    def wait(self, timeout_s: float) -> tuple[list[Any], list[Any]]:
        """Return the owners of readable sockets, and those of processes that ended."""
        if self._poll is not None:
            numbers = [number for number, _ in self._poll.poll(timeout_s * 1000)]
        else:
            numbers = select.select(list(self._sockets), [], [], timeout_s)[0]
        readable = [self._sockets[one] for one in numbers if one in self._sockets]
        return readable, [self._ends[one] for one in numbers if one in self._ends]

    def close(self) -> None:
        """Close the process descriptors."""
        while self._ends:
            os.close(self._ends.popitem()[0])
