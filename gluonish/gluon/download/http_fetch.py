"""HTTP downloads: resumed attempts, and time limits for stalled connections.

A server that sends a byte a minute never exceeds a socket's read timeout, while the response head,
a chunk's length or the requested bytes take years. So a dedicated thread shuts down the connections
when the time limit of a step is exceeded.

Invariants: ``_copies`` holds a duplicated descriptor of each connection of the attempt, so that a
reused descriptor number is never shut down. A connection is added before ``expired`` is read, and
``expired`` is set before ``_copies`` is read, so that no connection escapes both.

Invariants: ``{target}.part`` holds the first bytes of the content that ``{target}.part.json``
describes (URL, length, entity tag or date); both are deleted when the content has changed, is
complete or too large, and when the disk is full. Only the owner of the target's lock uses them.
"""

import json
import logging
import math
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from gluonish.core.errors import DownloadError
from gluonish.core.progress import progress_bar
from gluonish.gluon.download.target import check_free_space, disk_full_error, most_nbytes


class _Session(Protocol):
    """The part of `requests.Session` that is used here."""

    @property
    def adapters(self) -> Mapping[str, Any]: ...


# HTTPSConnectionPool(host='a.b', port=443): Max retries exceeded ... [Errno -2] reason
_UNREACHABLE = re.compile(
    r"host='(?P<host>[^']+)'.*Max retries exceeded.*\[Errno -?\d+\] (?P<reason>[\w ,]+)"
)
# ('Connection broken: IncompleteRead(5 bytes read, 7 more expected)', IncompleteRead(5 bytes ..
_BROKEN = re.compile(r"IncompleteRead\(\d+ bytes read, (?P<left>\d+) more expected\)")


class StallMonitor:
    """Single-use context manager that ends a download attempt if it stalls.

    Args:
        session: The session, without open connections.
        limit_s: Time limit of each step, in seconds.

    Attributes:
        expired: Whether a step exceeded the limit, so that the connections were shut down.
    """

    def __init__(self, session: _Session, limit_s: float) -> None:
        self.expired = False
        self._limit_s = limit_s
        self._copies: list[socket.socket] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="download-watch", daemon=True)
        for adapter in session.adapters.values():
            _monitor_connections(adapter, self)
        self.step()

    def step(self) -> None:
        """Restart the time limit for the next step."""
        self._until = time.monotonic() + self._limit_s

    def suspend(self) -> None:
        """Set no time limit until the next `step`."""
        self._until = math.inf

    def add(self, connection: socket.socket) -> None:
        """Monitor another open connection."""
        copy = connection.dup()
        self._copies.append(copy)
        if self.expired:
            _shut_down(copy)

    def interrupt(self) -> None:
        """Shut the connections down, and make the limit expire."""
        self.expired = True
        for copy in tuple(self._copies):
            _shut_down(copy)

    def __enter__(self) -> "StallMonitor":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        for copy in self._copies:
            copy.close()

    def _run(self) -> None:
        # Never longer than the limit, as the time may be suspended now and set again meanwhile.
        while not self._ended.wait(max(0.0, min(self._until - time.monotonic(), self._limit_s))):
            if time.monotonic() >= self._until:
                self.interrupt()
                return


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):  # already closed by the peer
        connection.shutdown(socket.SHUT_RDWR)


def _monitor_connections(adapter: Any, monitor: StallMonitor) -> None:
    """Make an adapter of requests register each connection that it opens with the monitor."""
    through_proxy = adapter.proxy_manager_for

    def proxy_manager_for(*args: Any, **kwargs: Any) -> Any:
        manager = through_proxy(*args, **kwargs)
        _monitor_pools(manager, monitor)
        return manager

    adapter.proxy_manager_for = proxy_manager_for
    _monitor_pools(adapter.poolmanager, monitor)


def _monitor_pools(manager: Any, monitor: StallMonitor) -> None:
    manager.pool_classes_by_scheme = {
        scheme: _monitored(pool, monitor) for scheme, pool in manager.pool_classes_by_scheme.items()
    }


def _monitored(pool: Any, monitor: StallMonitor) -> Any:
    """Return a pool class whose connections are monitored from before the TLS handshake."""

    class Connection(pool.ConnectionCls):  # type: ignore[misc]  # urllib3's, or that of SOCKS
        def _new_conn(self) -> Any:
            opened = super()._new_conn()
            monitor.add(opened)
            return opened

    return type(pool.__name__, (pool,), {"ConnectionCls": Connection})


_LOG = logging.getLogger("gluonish")
TIMEOUTS_S = (20.0, 60.0)
"""Time limits to connect, and to receive anything."""

# Time limit of a response head, and of each chunk, for which 700 bytes a second suffice.
STALL_S = 90.0
# A connection that is cut off loses at most the chunk that is being read.
_CHUNK_NBYTES = 1 << 16
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0
# Number of characters from each end of a server's or library's text in a message.
_EXCERPT_LENGTH = 250
_TRUST = (
    "set REQUESTS_CA_BUNDLE to a file of trusted certificates, or pass verify_ssl=False to trust "
    "any server"
)
TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_OK, _PARTIAL, _NOT_SATISFIABLE = 200, 206, 416


@dataclass(frozen=True, slots=True)
class Version:
    """The version of a partially downloaded file, as announced by the server.

    Args:
        url: URL of the file.
        length: Full length in bytes; None if unknown.
        validator: Strong entity tag, or else the date; empty if the server sends neither.
    """

    url: str
    length: int | None
    validator: str


class Response(Protocol):
    """The part of `requests.Response` used here; requests is imported at the first fetch."""

    status_code: int
    reason: str
    url: str

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers by name, in any case."""
        ...

    def iter_content(self, chunk_size: int) -> Iterator[bytes]:
        """Iterate over the body in chunks."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


_Get = Callable[..., Response]


class BearerToken:
    """Authorization of `requests` by a token.

    As an object and not a header, so that a ``.netrc`` file does not replace it; `requests` removes
    the header of a request that is redirected to another host.

    Args:
        token: The token.
    """

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: Any) -> Any:
        """Add the header to a prepared request."""
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class CutOffError(Exception):
    """Raised if an attempt ended early; another attempt may resume the download."""


class UnresolvedError(CutOffError):
    """Raised if the name of the host does not resolve; waiting does not help."""


class RefusedError(Exception):
    """Raised if the server rejects the request permanently."""


def is_last(
    error: CutOffError | RefusedError,
    attempt: int,
    retries: int,
    wait: Callable[[float], object] = time.sleep,
) -> bool:
    """Whether no other attempt follows a failed one; warns of those that follow, and waits.

    A name that does not resolve is tried once more, at once.

    Args:
        error: The failure.
        attempt: Number of the attempt, from 0.
        retries: Number of retries.
        wait: Function that waits for some seconds, or until nobody needs another attempt.
    """
    unresolved = isinstance(error, UnresolvedError)
    retries = min(retries, 1) if unresolved else retries
    if isinstance(error, RefusedError) or attempt >= retries:
        return True
    _LOG.warning("download: %s; attempt %d of %d", error, attempt + 2, retries + 1)
    if not unresolved:
        pause(attempt, wait)
    return False


def fetch(
    url: str,
    target: Path,
    *,
    retries: int = 5,
    verify_ssl: bool = True,
    advice: str = "",
    max_nbytes: int | None = None,
    token: str = "",
    label: str = "",
) -> Path:
    """Download ``url`` into a file next to ``target``.

    Args:
        url: ``http://`` or ``https://`` URL.
        target: Path of the final file; its folder exists and the caller owns its lock.
        retries: Number of retries after a failed attempt.
        verify_ssl: Whether to verify the server's certificate.
        advice: Advice in the error message of a failed download.
        max_nbytes: Maximum size in bytes; None for the size that the server announces, or
            `UNANNOUNCED_NBYTES` if it announces none.
        token: Token for the host of ``url``; hosts to which it redirects do not receive it.
        label: Name beside the progress bar; the target's name by default.

    Returns:
        Path of the complete file, ``{target}.part``, which the caller checks and renames or
        removes.

    Raises:
        DownloadError: The server refuses, cannot be reached, does not speak HTTP, or sends too
            much; every attempt was cut off or sent almost nothing for 90 seconds; or the disk is
            full.
    """
    import requests

    part = target.with_name(f"{target.name}.part")
    for attempt in range(retries + 1):
        try:
            with requests.Session() as session, StallMonitor(session, STALL_S) as monitor:
                # REQUESTS_CA_BUNDLE would override the session's ``verify``.
                get = session.get if verify_ssl else partial(session.get, verify=False)
                if token:
                    get = partial(get, auth=BearerToken(token))
                with _stalls(monitor, url):
                    _attempt(get, monitor, url, part, max_nbytes, label or target.name)
            break
        except (CutOffError, RefusedError) as error:
            if is_last(error, attempt, retries):
                message = f"download: expected to fetch {url}, got {error}"
                raise DownloadError(f"{message}; {advice}" if advice else message) from error
    _description(part).unlink(missing_ok=True)
    return part


def pause(attempt: int, wait: Callable[[float], object] = time.sleep) -> None:
    """Wait before another attempt: longer after each."""
    wait(min(_FIRST_PAUSE_S * 2**attempt, _LONGEST_PAUSE_S))


@contextmanager
def _stalls(monitor: StallMonitor, url: str) -> Iterator[None]:
    """Convert the errors of a connection that was shut down to `CutOffError`."""
    stalled = None
    try:
        yield
    except (CutOffError, RefusedError) as error:
        if not monitor.expired:
            raise
        stalled = error
    if monitor.expired:  # also without an error: a body of unannounced length seems complete
        raise CutOffError(
            f"{url} sent less than {_CHUNK_NBYTES} bytes in {STALL_S:g} seconds"
        ) from stalled


@contextmanager
def transfer_errors() -> Iterator[None]:
    """Convert errors of the HTTP libraries to `CutOffError` and `RefusedError`.

    The libraries also raise ValueErrors of parsed addresses and numbers, and urllib3's own errors.
    """
    import requests

    below = requests.exceptions.BaseHTTPError  # type: ignore[attr-defined]  # urllib3's
    try:
        yield
    except ValueError as error:  # an invalid address or length, which is permanent
        raise RefusedError(excerpt(str(error))) from error
    except (requests.RequestException, below) as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise RefusedError(f"{excerpt(str(error))}; {_TRUST}") from error
        if isinstance(error, requests.TooManyRedirects):  # the next attempt finds the same
            raise RefusedError(excerpt(str(error))) from error
        kind = UnresolvedError if _is_unresolved(error) else CutOffError
        raise kind(excerpt(_reason(str(error)))) from error


def _is_unresolved(error: BaseException | None) -> bool:
    """Whether an error, or one that led to it, is that of a name which does not resolve."""
    while error is not None:
        if isinstance(error, socket.gaierror):
            return True
        error = error.__cause__ or error.__context__
    return False


def _reason(text: str) -> str:
    """Return what urllib3 says of a missing or broken connection, without its words around it."""
    broken = _BROKEN.search(text)
    if broken is not None:
        return f"a connection that broke {broken['left']} bytes before the end"
    found = _UNREACHABLE.search(text)
    return text if found is None else f"no connection to {found['host']} ({found['reason']})"


def excerpt(text: str) -> str:
    """Return a server's or library's text as one line, with control characters escaped."""
    if len(text) > 2 * _EXCERPT_LENGTH:  # the reason comes last
        text = f"{text[:_EXCERPT_LENGTH]}...{text[-_EXCERPT_LENGTH:]}"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _attempt(
    get: _Get, monitor: StallMonitor, url: str, part: Path, max_nbytes: int | None, label: str
) -> None:
    known = _read_description(part, url)
    have = part.stat().st_size if known is not None else 0
    headers = {"Accept-Encoding": "identity"}
    if known is not None and have:
        headers["Range"] = f"bytes={have}-"
        if known.validator:
            headers["If-Range"] = known.validator
    with ExitStack() as responses:

        def close_at_exit(response: Response, *_: object, **__: object) -> None:
            # Otherwise a failed redirect would stay open.
            responses.callback(response.close)

        with transfer_errors():
            response = get(
                url,
                headers=headers,
                stream=True,
                timeout=TIMEOUTS_S,
                hooks={"response": close_at_exit},
            )
        monitor.step()
        start = _start(response, url, part, known, have)
        version = version_of(response, url, start)
        if max_nbytes is not None and (version.length or 0) > max_nbytes:
            _discard(part)
            raise RefusedError(f"{version.length} bytes, more than {max_nbytes}")
        if start and start == version.length:
            return
        check_free_space(part, (version.length or 0) - start)
        _description(part).write_text(json.dumps(asdict(version)), encoding="utf-8")
        _receive(response, monitor, part, start, version.length, max_nbytes, label)


def _start(response: Response, url: str, part: Path, known: Version | None, have: int) -> int:
    """Return the offset at which the response's body starts; 0 if it is the full content.

    Raises:
        RefusedError: The server rejects the request permanently.
        CutOffError: The request should be repeated.
    """
    status = response.status_code
    if status == _PARTIAL and known is not None and continues(response, url, known, have):
        return have
    if status == _OK:
        return 0
    if status in (_PARTIAL, _NOT_SATISFIABLE):
        if status == _NOT_SATISFIABLE and _total(response) == have and have:
            return have
        _discard(part)
        raise CutOffError(f"{url} cannot be continued at byte {have}")
    if status in TRANSIENT:
        raise CutOffError(f"{url} answered {status} {excerpt(response.reason)}")
    raise RefusedError(f"{status} {excerpt(response.reason)}")


def continues(response: Response, url: str, known: Version, have: int) -> bool:
    """Whether a partial response continues the partial file."""
    if not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        return False
    now = version_of(response, url, have)
    same_length = None in (now.length, known.length) or now.length == known.length
    return same_length and (not known.validator or now.validator in ("", known.validator))


def _total(response: Response) -> int | None:
    match = re.fullmatch(
        r"bytes (?:\d+-\d+|\*)/(\d{1,18})", response.headers.get("Content-Range", "")
    )
    return int(match[1]) if match else None


def version_of(response: Response, url: str, start: int) -> Version:
    """Return the version of a file, by the headers of a response.

    Args:
        response: The response.
        url: URL of the file.
        start: Offset at which the response begins, in bytes.
    """
    if response.headers.get("Content-Encoding", "identity") != "identity":
        # Compressed despite the request: the length is not the content's, and it cannot be resumed.
        return Version(url, None, "")
    length = _total(response)
    announced = response.headers.get("Content-Length", "")
    if (
        length is None
        and re.fullmatch(r"\d{1,18}", announced)
        and response.status_code != _NOT_SATISFIABLE
    ):
        length = start + int(announced)
    tag = response.headers.get("ETag", "")
    # A weak tag does not guarantee equal bytes.
    validator = (
        response.headers.get("Last-Modified", "") if tag.startswith("W/") or not tag else tag
    )
    return Version(url, length, validator)


def _receive(
    response: Response,
    monitor: StallMonitor,
    part: Path,
    start: int,
    length: int | None,
    max_nbytes: int | None,
    label: str,
) -> None:
    limit = length if length is not None else most_nbytes(part, start, max_nbytes)
    try:
        with part.open("r+b" if start else "wb") as file:
            file.seek(start)
            file.truncate()
            end = _write(_chunks(response, monitor), file, label, start, length, limit)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        full = disk_full_error(error, part)
        if full is None:
            raise
        _discard(part)
        raise full from error
    if end > limit:
        _discard(part)
        if length is None:
            raise RefusedError(f"more than {limit} bytes, a size that the server did not announce")
        raise CutOffError(f"{response.url} sent more than the announced {length} bytes")
    if length is not None and end != length:
        raise CutOffError(f"{response.url} ended after {end} of {length} bytes")


def _chunks(response: Response, monitor: StallMonitor) -> Iterator[bytes]:
    chunks = iter(response.iter_content(_CHUNK_NBYTES))
    while True:
        with transfer_errors():
            chunk = next(chunks, None)
        if chunk is None:
            return
        monitor.step()
        yield chunk


def _write(
    chunks: Iterable[bytes], file: BinaryIO, name: str, start: int, length: int | None, limit: int
) -> int:
    """Write chunks up to the limit, with a progress bar; return the end offset.

    A chunk that exceeds the limit, and later ones, are not written.
    """
    end = start
    with progress_bar(
        total=length,
        initial=start,
        desc=name,
        unit="B",
        unit_scale=True,
        unit_divisor=1024,
    ) as bar:
        for chunk in chunks:
            end += len(chunk)
            if end > limit:
                break
            file.write(chunk)
            bar.update(len(chunk))
    return end


def _description(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _read_description(part: Path, url: str) -> Version | None:
    """Return the version of the partial file; None if it cannot be resumed."""
    with suppress(OSError, ValueError, TypeError):
        known = Version(**json.loads(_description(part).read_text(encoding="utf-8")))
        valid = isinstance(known.validator, str) and isinstance(known.length, int | None)
        if part.is_file() and valid and known.url == url and (known.validator or known.length):
            return known
    return None


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _description(part).unlink(missing_ok=True)
