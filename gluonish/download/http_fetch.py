"""Fetching one URL into a file, going on where an earlier attempt, or process, was cut off.

Invariants: ``{target}.part`` holds the first bytes of what ``{target}.part.json`` describes (URL,
length, entity tag or date); both go when the content turns out to have changed, when it is
complete, and when the disk is full. Only the process that holds the target's lock touches them.
"""

import errno
import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from gluonish.core.errors import DownloadError

__all__ = ["disk_full_error", "fetch"]

_LOG = logging.getLogger("gluonish")
_CONNECT_TIMEOUT_S = 20.0
_READ_TIMEOUT_S = 60.0
# What a cut connection loses at most: the piece that was being read.
_CHUNK_NBYTES = 1 << 16
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0
_FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
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


_Get = Callable[..., AbstractContextManager[_Response]]


class _CutOffError(Exception):
    """The attempt ended early; another may go on."""


class _RefusedError(Exception):
    """The server will not give the file, however often it is asked."""


def fetch(
    url: str, target: Path, *, retries: int = 5, verify_ssl: bool = True, advice: str = ""
) -> Path:
    """Fetch ``url`` into a file beside ``target``.

    Args:
        url: ``http://`` or ``https://``.
        target: What the file is for; its folder exists and the caller holds its lock.
        retries: How many more attempts follow a first one that fails.
        verify_ssl: Whether the server's certificate is checked.
        advice: What to do where the URL cannot be fetched, for the error message.

    Returns:
        The complete file, ``{target}.part``, for the caller to check and to rename or remove.

    Raises:
        DownloadError: The server refuses, cannot be reached, or every attempt was cut off; or the
            disk is full.
    """
    import requests

    part = target.with_name(f"{target.name}.part")
    with requests.Session() as session:
        session.verify = verify_ssl
        for attempt in range(retries + 1):
            try:
                _attempt(session.get, url, part)
                break
            except (requests.RequestException, _CutOffError, _RefusedError) as error:
                if attempt == retries or isinstance(error, _RefusedError):
                    message = f"download: expected to fetch {url}, got {error}"
                    raise DownloadError(f"{message}; {advice}" if advice else message) from error
                _LOG.warning("download: %s; attempt %d of %d", error, attempt + 2, retries + 1)
                time.sleep(min(_FIRST_PAUSE_S * 2**attempt, _LONGEST_PAUSE_S))
    _description(part).unlink(missing_ok=True)
    return part


def disk_full_error(error: OSError, path: Path) -> DownloadError | None:
    """The error to raise where ``error`` says that no more bytes fit on the disk, else None."""
    if error.errno not in _FULL_DISK:
        return None
    return DownloadError(
        f"download: expected room for {path.name} in {path.parent}, got {error.strerror};"
        " free some space or set MXNET_HOME to a folder on another disk"
    )


def _attempt(get: _Get, url: str, part: Path) -> None:
    known = _read_description(part, url)
    have = part.stat().st_size if known is not None else 0
    headers = {"Accept-Encoding": "identity"}
    if known is not None and have:
        headers["Range"] = f"bytes={have}-"
        if known.validator:
            headers["If-Range"] = known.validator
    timeout = (_CONNECT_TIMEOUT_S, _READ_TIMEOUT_S)
    with get(url, headers=headers, stream=True, timeout=timeout) as response:
        start = _start(response, url, part, known, have)
        version = _version(response, url, start)
        if start and start == version.length:
            return
        _description(part).write_text(json.dumps(asdict(version)), encoding="utf-8")
        _receive(response, part, start, version.length)


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
        raise _CutOffError(f"{url} answered {status} {response.reason}")
    raise _RefusedError(f"{status} {response.reason}")


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


def _receive(response: _Response, part: Path, start: int, length: int | None) -> None:
    try:
        with part.open("r+b" if start else "wb") as file:
            file.seek(start)
            file.truncate()
            name = part.name.removesuffix(".part")
            chunks = response.iter_content(_CHUNK_NBYTES)
            end = start + _write(chunks, file, name, start, length)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        full = disk_full_error(error, part)
        if full is None:
            raise
        _discard(part)
        raise full from error
    if length is not None and end != length:
        raise _CutOffError(f"{response.url} ended after {end} of {length} bytes")


def _write(
    chunks: Iterable[bytes], file: BinaryIO, name: str, start: int, length: int | None
) -> int:
    """Write the chunks under a progress bar, shown on terminals only, and return their bytes."""
    from tqdm import tqdm

    written = 0
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
            file.write(chunk)
            written += len(chunk)
            bar.update(len(chunk))
    return written


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
