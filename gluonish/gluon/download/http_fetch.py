"""Fetching by HTTP: attempts that go on where the last one stopped, and connections that stall.

A server that sends a byte a minute keeps each read of a socket short of its timeout, while the
answer's head, a chunk's length or the piece that was asked for takes years. So a thread of its own
looks at the clock, and shuts down what is open when the time for a step is over.

Invariants: ``_copies`` holds a copy of the descriptor of each connection of the attempt, so that
the one shut down is never another that got its number. A connection enters it before
``expired`` is looked at, and ``expired`` is set before ``_copies`` is: one of the two sees it.

Invariants: ``{target}.part`` holds the first bytes of what ``{target}.part.json`` describes (URL,
length, entity tag or date); both go when the content turns out to have changed, when it is
complete, when it is larger than it may be, and when the disk is full. Only the process that holds
the target's lock touches them.
"""

import json
import logging
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
from gluonish.gluon.download.target import check_room, disk_full_error, most_nbytes


class _Session(Protocol):
    """What is used of a `requests.Session`."""

    @property
    def adapters(self) -> Mapping[str, Any]: ...


class StallWatch:
    """Context manager, used once, that ends an attempt to download if it stalls.

    Args:
        session: Opens the connections; none is open yet.
        limit_s: Time limit of each step, in seconds.

    Attributes:
        expired: Whether a step exceeded the limit, so that the connections were shut down.
    """

    def __init__(self, session: _Session, limit_s: float) -> None:
        self.expired = False
        self._limit_s = limit_s
        self._copies: list[socket.socket] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="download-watch", daemon=True)
        for adapter in session.adapters.values():
            _watch_connections(adapter, self)
        self.step()

    def step(self) -> None:
        """Start the time of the next step."""
        self._until = time.monotonic() + self._limit_s

    def add(self, connection: socket.socket) -> None:
        """Watch another open connection.

        Args:
            connection: The connection.
        """
        copy = connection.dup()
        self._copies.append(copy)
        if self.expired:
            _shut_down(copy)

    def __enter__(self) -> "StallWatch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        for copy in self._copies:
            copy.close()

    def _watch(self) -> None:
        while not self._ended.wait(max(0.0, self._until - time.monotonic())):
            if time.monotonic() >= self._until:
                self.expired = True
                for copy in tuple(self._copies):
                    _shut_down(copy)
                return


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):  # the other side was faster
        connection.shutdown(socket.SHUT_RDWR)


def _watch_connections(adapter: Any, watch: StallWatch) -> None:
    """Have an adapter of requests show the watch each connection that it opens."""
    through_proxy = adapter.proxy_manager_for

    def proxy_manager_for(*args: Any, **kwargs: Any) -> Any:
        manager = through_proxy(*args, **kwargs)
        _watch_pools(manager, watch)
        return manager

    adapter.proxy_manager_for = proxy_manager_for
    _watch_pools(adapter.poolmanager, watch)


def _watch_pools(manager: Any, watch: StallWatch) -> None:
    manager.pool_classes_by_scheme = {
        scheme: _watched(pool, watch) for scheme, pool in manager.pool_classes_by_scheme.items()
    }


def _watched(pool: Any, watch: StallWatch) -> Any:
    """Return a pool whose connections are watched from before what TLS has to agree on."""

    class Connection(pool.ConnectionCls):  # type: ignore[misc]  # urllib3's, or that of SOCKS
        def _new_conn(self) -> Any:
            opened = super()._new_conn()
            watch.add(opened)
            return opened

    return type(pool.__name__, (pool,), {"ConnectionCls": Connection})


_LOG = logging.getLogger("gluonish")
_CONNECT_TIMEOUT_S = 20.0
_READ_TIMEOUT_S = 60.0
# In which the head of an answer, and each chunk, must come: 700 bytes a second are few enough.
_STALL_S = 90.0
# What a cut connection loses at most: the piece that was being read.
_CHUNK_NBYTES = 1 << 16
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0
# Of what a server or a library says, so many letters of both ends go into a message.
_TOLD_LENGTH = 250
_TRUST = (
    "REQUESTS_CA_BUNDLE names a file with the certificates of those to trust, "
    "verify_ssl=False trusts everybody"
)
# A server's refusals that may be gone a moment later.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_OK, _PARTIAL, _NOT_SATISFIABLE = 200, 206, 416


@dataclass(frozen=True, slots=True)
class _Version:
    """Which content a part is of, as far as the server tells.

    Args:
        url: Where it comes from.
        length: Its whole length in bytes, or None.
        validator: Its strong entity tag or else its date, empty where the server tells neither.
    """

    url: str
    length: int | None
    validator: str


class _Response(Protocol):
    """What is used of a `requests.Response`; requests itself is imported by the first fetch."""

    status_code: int
    reason: str
    url: str

    @property
    def headers(self) -> Mapping[str, str]: ...

    def iter_content(self, chunk_size: int) -> Iterator[bytes]: ...

    def close(self) -> None: ...


_Get = Callable[..., _Response]


class _CutOffError(Exception):
    """The attempt ended early; another may go on."""


class _RefusedError(Exception):
    """The server will not give the file, however often it is asked."""


def fetch(
    url: str,
    target: Path,
    *,
    retries: int = 5,
    verify_ssl: bool = True,
    advice: str = "",
    max_nbytes: int | None = None,
) -> Path:
    """Download ``url`` into a file next to ``target``.

    Args:
        url: ``http://`` or ``https://`` URL.
        target: Path of the final file; its folder exists and the caller holds its lock.
        retries: Number of further attempts after a failed one.
        verify_ssl: Whether to verify the server's certificate.
        advice: What the user can do if the download fails, for the error message.
        max_nbytes: Maximum size in bytes; None for the size that the server announces, or
            `UNTOLD_NBYTES` if it announces none.

    Returns:
        Path of the complete file, ``{target}.part``, for the caller to check and to rename or
        remove.

    Raises:
        DownloadError: The server refuses, cannot be reached, does not speak HTTP, or sends too
            much; every attempt was cut off or sent almost nothing for 90 seconds; or the disk is
            full.
    """
    import requests

    part = target.with_name(f"{target.name}.part")
    for attempt in range(retries + 1):
        try:
            with requests.Session() as session, StallWatch(session, _STALL_S) as watch:
                # Of the session's own ``verify`` REQUESTS_CA_BUNDLE would make True again.
                get = session.get if verify_ssl else partial(session.get, verify=False)
                with _stalls(watch, url):
                    _attempt(get, watch, url, part, max_nbytes)
            break
        except (_CutOffError, _RefusedError) as error:
            if attempt == retries or isinstance(error, _RefusedError):
                message = f"download: expected to fetch {url}, got {error}"
                raise DownloadError(f"{message}; {advice}" if advice else message) from error
            _LOG.warning("download: %s; attempt %d of %d", error, attempt + 2, retries + 1)
            time.sleep(min(_FIRST_PAUSE_S * 2**attempt, _LONGEST_PAUSE_S))
    _description(part).unlink(missing_ok=True)
    return part


@contextmanager
def _stalls(watch: StallWatch, url: str) -> Iterator[None]:
    """Turn what comes of a connection that was shut down into `_CutOffError`."""
    stalled = None
    try:
        yield
    except (_CutOffError, _RefusedError) as error:
        if not watch.expired:
            raise
        stalled = error
    if watch.expired:  # also without an error: a body of untold length seems to be at its end
        raise _CutOffError(
            f"{url} sent less than {_CHUNK_NBYTES} bytes in {_STALL_S:g} seconds"
        ) from stalled


@contextmanager
def _transfer_errors() -> Iterator[None]:
    """Turn what the HTTP libraries raise into `_CutOffError` and `_RefusedError`.

    They let through what they did not expect of a server: the ValueErrors of the functions that
    read an address or a number, and errors of the layers below.
    """
    import requests

    below = requests.exceptions.BaseHTTPError  # type: ignore[attr-defined]  # urllib3's
    try:
        yield
    except ValueError as error:  # an address or a length that is none, now and the next time
        raise _RefusedError(_told(str(error))) from error
    except (requests.RequestException, below) as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise _RefusedError(f"{_told(str(error))}; {_TRUST}") from error
        raise _CutOffError(_told(str(error))) from error


def _told(text: str) -> str:
    """Return what others wrote as one line, without what would steer a terminal."""
    if len(text) > 2 * _TOLD_LENGTH:  # the reason comes last
        text = f"{text[:_TOLD_LENGTH]}...{text[-_TOLD_LENGTH:]}"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _attempt(get: _Get, watch: StallWatch, url: str, part: Path, max_nbytes: int | None) -> None:
    known = _read_description(part, url)
    have = part.stat().st_size if known is not None else 0
    headers = {"Accept-Encoding": "identity"}
    if known is not None and have:
        headers["Range"] = f"bytes={have}-"
        if known.validator:
            headers["If-Range"] = known.validator
    timeout = (_CONNECT_TIMEOUT_S, _READ_TIMEOUT_S)
    with ExitStack() as answers:

        def hold(answer: _Response, *_: object, **__: object) -> None:
            # A redirect that leads nowhere would stay open otherwise.
            answers.callback(answer.close)

        with _transfer_errors():
            response = get(
                url, headers=headers, stream=True, timeout=timeout, hooks={"response": hold}
            )
        watch.step()
        start = _start(response, url, part, known, have)
        version = _version(response, url, start)
        if max_nbytes is not None and (version.length or 0) > max_nbytes:
            _discard(part)
            raise _RefusedError(f"{version.length} bytes, more than {max_nbytes}")
        if start and start == version.length:
            return
        check_room(part, (version.length or 0) - start)
        _description(part).write_text(json.dumps(asdict(version)), encoding="utf-8")
        _receive(response, watch, part, start, version.length, max_nbytes)


def _start(response: _Response, url: str, part: Path, known: _Version | None, have: int) -> int:
    """From which byte on the response's body counts, 0 where the server sends everything.

    Raises:
        _RefusedError: The server refuses.
        _CutOffError: The server is to be asked again.
    """
    status = response.status_code
    if status == _PARTIAL and known is not None and _continues(response, url, known, have):
        return have
    if status == _OK:
        return 0
    if status in (_PARTIAL, _NOT_SATISFIABLE):
        if status == _NOT_SATISFIABLE and _total(response) == have and have:
            return have
        _discard(part)
        raise _CutOffError(f"{url} cannot be continued at byte {have}")
    if status in _PASSING:
        raise _CutOffError(f"{url} answered {status} {_told(response.reason)}")
    raise _RefusedError(f"{status} {_told(response.reason)}")


def _continues(response: _Response, url: str, known: _Version, have: int) -> bool:
    """Whether a partial answer is the rest of what we have the beginning of."""
    if not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        return False
    now = _version(response, url, have)
    same_length = None in (now.length, known.length) or now.length == known.length
    return same_length and (not known.validator or now.validator in ("", known.validator))


def _total(response: _Response) -> int | None:
    match = re.fullmatch(
        r"bytes (?:\d+-\d+|\*)/(\d{1,18})", response.headers.get("Content-Range", "")
    )
    return int(match[1]) if match else None


def _version(response: _Response, url: str, start: int) -> _Version:
    if response.headers.get("Content-Encoding", "identity") != "identity":
        # Compressed against our wish: the length is not the content's, and a part of it no prefix.
        return _Version(url, None, "")
    length = _total(response)
    told = response.headers.get("Content-Length", "")
    if (
        length is None
        and re.fullmatch(r"\d{1,18}", told)
        and response.status_code != _NOT_SATISFIABLE
    ):
        length = start + int(told)
    tag = response.headers.get("ETag", "")
    # A weak tag does not promise equal bytes.
    validator = (
        response.headers.get("Last-Modified", "") if tag.startswith("W/") or not tag else tag
    )
    return _Version(url, length, validator)


def _receive(
    response: _Response,
    watch: StallWatch,
    part: Path,
    start: int,
    length: int | None,
    max_nbytes: int | None,
) -> None:
    limit = length if length is not None else most_nbytes(part, start, max_nbytes)
    try:
        with part.open("r+b" if start else "wb") as file:
            file.seek(start)
            file.truncate()
            name = part.name.removesuffix(".part")
            end = _write(_chunks(response, watch), file, name, start, length, limit)
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
            raise _RefusedError(f"more than {limit} bytes, a size that the server did not announce")
        raise _CutOffError(f"{response.url} sent more than the announced {length} bytes")
    if length is not None and end != length:
        raise _CutOffError(f"{response.url} ended after {end} of {length} bytes")


def _chunks(response: _Response, watch: StallWatch) -> Iterator[bytes]:
    chunks = iter(response.iter_content(_CHUNK_NBYTES))
    while True:
        with _transfer_errors():
            chunk = next(chunks, None)
        if chunk is None:
            return
        watch.step()
        yield chunk


def _write(
    chunks: Iterable[bytes], file: BinaryIO, name: str, start: int, length: int | None, limit: int
) -> int:
    """Write the chunks under a progress bar, shown on terminals only, and return where they end.

    A chunk that goes beyond the limit is not written, nor is what follows it.
    """
    from tqdm import tqdm

    end = start
    with tqdm(
        total=length,
        initial=start,
        desc=name,
        disable=None,
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


def _read_description(part: Path, url: str) -> _Version | None:
    """What the part beside is of; None where nothing can be continued."""
    with suppress(OSError, ValueError, TypeError):
        known = _Version(**json.loads(_description(part).read_text(encoding="utf-8")))
        valid = isinstance(known.validator, str) and isinstance(known.length, int | None)
        if part.is_file() and valid and known.url == url and (known.validator or known.length):
            return known
    return None


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _description(part).unlink(missing_ok=True)
