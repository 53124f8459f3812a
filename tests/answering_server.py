"""A server on 127.0.0.1 that answers every request with the same bytes, HTTP or not."""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

OK = b"HTTP/1.1 200 OK\r\n"


def redirect(address: bytes) -> bytes:
    """An answer that sends the asker elsewhere."""
    head = b"HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\n"
    return head + b"Location: " + address + b"\r\n\r\n"


@contextmanager
def answering(answer: bytes | Callable[[], Iterable[bytes]]) -> Iterator[str]:
    """Serve an answer, or the pieces that a function makes of it; give the URL of a file ``x``."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.settimeout(20)
                connection.recv(1 << 16)
                for piece in [answer] if isinstance(answer, bytes) else answer():
                    connection.sendall(piece)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/x"
    finally:
        # Closing alone would leave the thread waiting in accept.
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(timeout=30)
