"""Reading of a file on a server without a copy on the disk: in order, or at any place.

Nothing of it is kept: the file may be larger than memory and disk. A connection that breaks is
opened again at the next byte. A file that is read in order is received by a thread, so that the
system's copying of what arrives does not take the time of the reader. Invariant: an open response
continues at `_position`.
"""

import io
import threading
from contextlib import ExitStack
from typing import Any

from gluonish.core.errors import DownloadError
from gluonish.core.object_repr import object_repr
from gluonish.gluon.download import http_fetch
from gluonish.gluon.download.http_fetch import (
    CutOffError,
    RefusedError,
    StallMonitor,
    Version,
    continues,
    excerpt,
    is_last,
    transfer_errors,
    version_of,
)
from gluonish.gluon.download.read_ahead import ReadAhead

# A connection that breaks loses at most the chunk that is being read; smaller ones take more time.
_CHUNK_NBYTES = 1 << 18
# Chunks that are received before they are read: 2 MiB.
_DEPTH = 8
_OK, _PARTIAL, _NOT_SATISFIABLE = 200, 206, 416
_CHANGED = "a file that changed while it was read"


class _HttpFile(io.RawIOBase):
    """A file on a server, received once from a byte on to its end.

    Args:
        url: ``http://`` or ``https://`` URL.
        retries: Number of retries after an attempt that brought nothing.
        position: Offset of the first byte.
        version: The version of the file that was read before; None if nothing was.
    """

    def __init__(
        self, url: str, retries: int, position: int = 0, version: Version | None = None
    ) -> None:
        self._url = url
        self._retries = retries
        self._position = position
        self._stopped = threading.Event()
        self._version = version
        self._connection = ExitStack()
        self._session: Any = None
        self._prepared: Any = None
        self._settings: dict[str, Any] = {}
        self._monitor: Any = None
        self._response: Any = None
        self._failures = 0

    def __repr__(self) -> str:
        return object_repr(self, self._url, f"at byte {self._position}")

    @property
    def length(self) -> int | None:
        """Length in bytes; None if the server does not tell it."""
        return None if self._version is None else self._version.length

    def reopened(self, position: int) -> "_HttpFile":
        """Return the same version of the file from another byte on, by a connection of its own.

        Args:
            position: Offset of the byte.

        Raises:
            DownloadError: The server refuses, or has another version of the file.
        """
        return _HttpFile(self._url, self._retries, position, self._version)

    def readable(self) -> bool:
        """Whether the file can be read."""
        return True

    def connect(self) -> None:
        """Request the file, which tells its length.

        Raises:
            DownloadError: The server refuses or cannot be reached.
        """
        self._next(0)

    def receive(self) -> bytes:
        """Return the next chunk, nothing at the end.

        Raises:
            DownloadError: The server refuses, or several attempts in succession brought nothing.
        """
        return self._next(_CHUNK_NBYTES)

    def stop(self) -> None:
        """Make `receive`, in another thread, end soon with an error."""
        self._stopped.set()
        if self._monitor is not None:
            self._monitor.interrupt()

    def close(self) -> None:
        """Close the connection."""
        self._disconnect()
        super().close()

    def _next(self, nbytes: int) -> bytes:
        """Connect if necessary, and return the next bytes, at most so many, until it succeeds.

        Raises:
            DownloadError: The server refuses, or several attempts in succession brought nothing.
        """
        while True:
            try:
                if self._stopped.is_set():
                    raise RefusedError("the end of the program's reading")
                if self._response is None:
                    self._connect()
                found = self._receive(nbytes, self._position) if nbytes else b""
            except (CutOffError, RefusedError) as error:
                self._disconnect()
                wait = self._stopped.wait  # which `stop` ends
                if self._stopped.is_set() or is_last(error, self._failures, self._retries, wait):
                    raise DownloadError(
                        f"download: expected to read {self._url} from byte {self._position}, got "
                        f"{error}"
                    ) from error
                self._failures += 1
            else:
                if found:
                    self._failures = 0
                self._position += len(found)
                return found

    def _disconnect(self) -> None:
        response, self._session, self._response = self._response, None, None
        if response is not None:
            response.close()
        self._connection.close()

    def _range(self) -> str:
        """Return the bytes to request; empty for all."""
        return f"bytes={self._position}-" if self._position else ""

    def _connect(self) -> None:
        """Send a request for the bytes from the position.

        Raises:
            CutOffError: The request should be repeated.
            RefusedError: The server refuses, or the file has changed.
        """
        import requests

        if self._session is None:
            self._session = self._connection.enter_context(requests.Session())
            monitor = StallMonitor(self._session, http_fetch.STALL_S)
            self._monitor = self._connection.enter_context(monitor)
            with transfer_errors():
                self._prepare(requests.Request("GET", self._url))
        headers = {"Accept-Encoding": "identity"}
        known, byte_range = self._version, self._range()
        if byte_range:
            headers["Range"] = byte_range
        if byte_range and known is not None and known.validator:
            headers["If-Range"] = known.validator
        self._monitor.step()
        with transfer_errors():
            request = self._prepared.copy()
            request.headers.update(headers)
            response = self._session.send(request, timeout=http_fetch.TIMEOUTS_S, **self._settings)
        self._monitor.suspend()
        self._response = response
        start = self._start(response, byte_range)
        version = version_of(response, self._url, start)
        if known is not None and known != version:
            raise RefusedError(_CHANGED)
        self._version = version
        self._skip(self._position - start)

    def _prepare(self, request: Any) -> None:
        """Find out once what all requests need; it takes as much time as the rest of them."""
        self._prepared = self._session.prepare_request(request)
        found = self._session.merge_environment_settings(self._prepared.url, {}, True, None, None)
        self._settings = {"allow_redirects": True, **found}

    def _start(self, response: Any, byte_range: str) -> int:
        """Return the offset at which a response begins."""
        status, position = response.status_code, self._position
        if status in http_fetch.TRANSIENT:
            raise CutOffError(f"{self._url} answered {status} {excerpt(response.reason)}")
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise RefusedError("content that the server has compressed")
        if status == _OK:
            return 0
        known = self._version or Version(self._url, None, "")
        if status == _PARTIAL and byte_range and continues(response, self._url, known, position):
            return position
        if self._version is not None and status in (_PARTIAL, _NOT_SATISFIABLE):
            raise RefusedError(_CHANGED)
        raise RefusedError(f"{status} {excerpt(response.reason)}")

    def _skip(self, nbytes: int) -> None:
        """Read what was read before, of a server that always sends the whole file."""
        skipped = 0
        while skipped < nbytes:
            found = self._receive(nbytes - skipped, skipped)
            if not found:
                raise CutOffError(f"{self._url} ended after {skipped} of {nbytes} bytes")
            skipped += len(found)

    def _receive(self, nbytes: int, position: int) -> bytes:
        """Return the next bytes of the response, which is at a position; at most so many.

        Raises:
            CutOffError: The connection broke.
        """
        nbytes = min(nbytes, _CHUNK_NBYTES)
        self._monitor.step()
        with transfer_errors():
            found: bytes = self._response.raw.read(nbytes, decode_content=False)
        # The time until the next call is the program's own.
        self._monitor.suspend()
        if self._monitor.expired:
            limit_s = http_fetch.STALL_S
            raise CutOffError(f"{self._url} sent less than {nbytes} bytes in {limit_s:g} seconds")
        length = self.length
        if not found and length is not None and position < length:
            raise CutOffError(f"{self._url} ended after {position} of {length} bytes")
        return found


class HttpRanges(_HttpFile):
    """A file on a server, read at any place, by a request for each read; see `open_url_ranges`.

    Args:
        url: ``http://`` or ``https://`` URL.
        retries: Number of retries after an attempt that brought nothing.
        version: The version that is expected, by which `connect` is not needed.
    """

    def __init__(self, url: str, retries: int = 5, version: Version | None = None) -> None:
        self._requested = 1
        super().__init__(url, retries)
        self._version = version

    @property
    def version(self) -> Version | None:
        """The version that the server announced."""
        return self._version

    def connect(self) -> None:
        """Request the first byte, which tells the length of the file.

        Raises:
            DownloadError: The server refuses, cannot be reached, or does not send parts of files.
        """
        self._next(1)
        self._position = 0
        self._response = None

    def seekable(self) -> bool:
        """Whether the position can be set."""
        return True

    def tell(self) -> int:
        """Return the position, in bytes."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the position, as in files; return it."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position}.get(whence, self.length or 0)
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read the bytes at the position into a buffer, all of them if there are as many."""
        view = memoryview(buffer).cast("B")
        size = min(len(view), max(0, (self.length or 0) - self._position))
        end = 0
        while end < size:
            if self._response is None:
                self._requested = size - end
            piece = self._next(size - end)
            view[end : end + len(piece)] = piece
            end += len(piece)
        self._response = None  # read to its end, so that the next request has its connection
        return size

    def read(self, size: int | None = -1, /) -> Any:
        """Return the bytes at the position, as many as there are, all by default."""
        left = max(0, (self.length or 0) - self._position)
        if size is not None and size >= 0:
            left = min(left, size)
        # Filled piece by piece, so that the memory of a piece serves the next one, too.
        content = bytearray(left)
        self.readinto(content)
        return content

    def _range(self) -> str:
        return f"bytes={self._position}-{self._position + self._requested - 1}"

    def _start(self, response: Any, byte_range: str) -> int:
        start = super()._start(response, byte_range)
        if response.status_code != _PARTIAL and self._version is not None:
            raise RefusedError(_CHANGED)
        if response.status_code != _PARTIAL:
            raise RefusedError("a server that does not send parts of files; copy the file first")
        return start


class UrlFile(io.RawIOBase):
    """A file on a server, read once from its beginning to its end; `open_url` makes it.

    After the first chunk, the following ones are received by a thread. A forked process, which has
    no such thread, opens the file again at the same byte.

    Args:
        url: ``http://`` or ``https://`` URL.
        retries: Number of retries after an attempt that brought nothing.

    Attributes:
        length: Length in bytes; None if the server does not tell it.
    """

    def __init__(self, url: str, retries: int) -> None:
        self._url = url
        self._retries = retries
        self._ahead: ReadAhead[bytes] | None = None
        self._source: _HttpFile | None = None
        self._received = 0  # bytes
        self._chunk = b""  # the last of them
        self._used = 0  # and how much of it was read
        self._source = _HttpFile(url, retries)
        self._source.connect()
        self.length = self._source.length

    def __repr__(self) -> str:
        return object_repr(self, self._url, f"at byte {self._received - self._left()}")

    def _left(self) -> int:
        return len(self._chunk) - self._used

    def readable(self) -> bool:
        """Whether the file can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes into a buffer, all of them if there are as many."""
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes, so many if there are, all by default.

        Raises:
            DownloadError: The server refuses, or several attempts in succession brought nothing.
        """
        size = -1 if size is None else size
        end = self._used + size
        if self._used <= end <= len(self._chunk):
            found = self._chunk[self._used : end]
            self._used = end
            return found
        if self.closed:
            raise ValueError("read of a closed file")  # as Python's files do
        pieces = [self._chunk[self._used :]]
        left = size - len(pieces[0])
        while left:
            self._chunk = self._receive()
            self._used = len(self._chunk) if size < 0 else min(left, len(self._chunk))
            pieces.append(self._chunk[: self._used])
            left -= self._used
            if not self._chunk:
                break
        return b"".join(pieces)

    def _receive(self) -> bytes:
        """Return the next chunk."""
        assert self._source is not None
        if self._received == self.length:
            return b""
        if self._ahead is not None and not self._ahead.is_here:
            self._source = self._source.reopened(self._received)
            self._ahead = None
        if self._ahead is None:
            found = self._source.receive()
            if found and self._received + len(found) != self.length:
                self._ahead = ReadAhead(self._source, _DEPTH)
        else:
            found = self._ahead.read()
        self._received += len(found)
        return found

    def close(self) -> None:
        """Close the connection, and end the thread."""
        self._chunk, self._used = b"", 0
        if self._ahead is not None:
            self._ahead.close()
        elif self._source is not None:
            self._source.close()
        super().close()


def open_url(url: str, retries: int = 5) -> UrlFile:
    """Open a file on a server for reading once from its beginning to its end, while it arrives.

    A connection that breaks or sends nothing for 90 seconds is opened again at the next byte, by a
    request for a range; a server that does not know ranges sends all again, and what was read
    before is skipped.

    Args:
        url: ``http://`` or ``https://`` URL.
        retries: Number of retries after an attempt that brought nothing.

    Raises:
        DownloadError: The server refuses or cannot be reached. Reading raises it, too, also if the
            file on the server changes meanwhile.
    """
    return UrlFile(url, retries)


def open_url_ranges(url: str, retries: int = 5) -> io.RawIOBase:
    """Open a file on a server for reading at any place, by a request for each read.

    Args:
        url: ``http://`` or ``https://`` URL.
        retries: Number of retries after an attempt that brought nothing.

    Raises:
        DownloadError: The server refuses, cannot be reached, or does not send parts of files.
            Reading raises it, too, also if the file on the server changes meanwhile.
    """
    file = HttpRanges(url, retries)
    file.connect()
    return file
