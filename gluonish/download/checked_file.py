"""Getting a file by its URL, or from a folder, whole and checked."""

import hashlib
import os
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gluonish.core.errors import ArgumentError, DownloadError
from gluonish.download.http_fetch import disk_full_error, fetch
from gluonish.download.target_lock import exclusive

__all__ = ["check_sha1", "download", "obtain"]

_LOCAL_HOSTS = ("", "localhost")


def check_sha1(filename: str | os.PathLike[str], sha1_hash: str) -> bool:
    """Whether a file's SHA-1 is the one given in hexadecimal digits.

    Raises:
        OSError: The file cannot be read.
    """
    return _sha1(Path(filename)) == sha1_hash.lower()


def download(
    url: str,
    path: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    sha1_hash: str | None = None,
    retries: int = 5,
    verify_ssl: bool = True,
) -> str:
    """Get a file by its URL and return where it is.

    A transfer that was cut off goes on where it ended, in this call or a later one. The file
    appears when it is complete and its SHA-1 is right. Processes that want the same file wait for
    the first.

    Args:
        url: ``http://``, ``https://`` or ``file://``, or a local path.
        path: Where to put it: a file, or an existing folder; the working folder by default.
        overwrite: Get it even if it is there.
        sha1_hash: The expected SHA-1 in hexadecimal digits; an existing file with another is
            replaced.
        retries: How many more attempts follow a first one that fails.
        verify_ssl: Whether the server's certificate is checked.

    Raises:
        ArgumentError: ``retries`` is negative, or the URL ends in no file name and ``path`` has
            none.
        DownloadError: The URL cannot be fetched, the SHA-1 is wrong twice, or the disk is full.
    """
    if retries < 0:
        raise ArgumentError(f"download: expected retries of 0 or more, got {retries}")
    target = _target(url, path)
    if not overwrite and _is_there(target, sha1_hash):
        return str(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    before = _identity(target)
    with exclusive(target):
        made_meanwhile = before != _identity(target)
        if (overwrite and not made_meanwhile) or not _is_there(target, sha1_hash):
            _make(url, target, sha1_hash, retries, verify_ssl)
    return str(target)


def obtain(
    url: str, target: Path, *, retries: int = 5, verify_ssl: bool = True, advice: str = ""
) -> Path:
    """Put what the URL names into ``{target}.part``, unchecked, and return that path.

    Args:
        url: ``http://``, ``https://`` or ``file://``, or a local path.
        target: What the file is for; its folder exists and the caller holds its lock.
        retries: How many more attempts follow a first one that fails.
        verify_ssl: Whether the server's certificate is checked.
        advice: What to do where the URL cannot be fetched, for the error message.

    Raises:
        DownloadError: The URL cannot be fetched, or the disk is full.
    """
    if urlsplit(url).scheme.lower() in ("http", "https"):
        return fetch(url, target, retries=retries, verify_ssl=verify_ssl, advice=advice)
    return _copy(url, target.with_name(f"{target.name}.part"), advice)


def _sha1(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha1").hexdigest()


def _target(url: str, path: str | os.PathLike[str] | None) -> Path:
    name = url.rsplit("/", 1)[-1]
    target = Path(name) if path is None else Path(path).expanduser()
    if path is None or target.is_dir():
        if name in ("", ".", ".."):
            raise ArgumentError(
                f"download: expected a URL that ends in a file name, got {url}; give `path`"
            )
        return target if path is None else target / name
    return target


def _is_there(target: Path, sha1_hash: str | None) -> bool:
    return target.is_file() and (not sha1_hash or check_sha1(target, sha1_hash))


def _identity(target: Path) -> tuple[int, int] | None:
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


def _make(url: str, target: Path, sha1_hash: str | None, retries: int, verify_ssl: bool) -> None:
    got = ""
    # A wrong content may be an old one, of which a proxy or an earlier attempt kept a part: once
    # more.
    for _ in range(2):
        part = obtain(url, target, retries=retries, verify_ssl=verify_ssl)
        got = _sha1(part) if sha1_hash else ""
        if not sha1_hash or got == sha1_hash.lower():
            part.replace(target)
            return
        part.unlink()
    raise DownloadError(
        f"download: expected {url} to have the SHA-1 {sha1_hash}, got {got};"
        " the server may hold another version"
    )


def _copy(url: str, part: Path, advice: str) -> Path:
    try:
        shutil.copyfile(_local_path(url), part)
    except OSError as error:
        part.unlink(missing_ok=True)
        full = disk_full_error(error, part)
        if full is not None:
            raise full from error
        message = f"download: expected to copy {url}, got {error}"
        raise DownloadError(f"{message}; {advice}" if advice else message) from error
    return part


def _local_path(url: str) -> Path:
    parts = urlsplit(url)
    if parts.scheme.lower() == "file":
        if parts.netloc not in _LOCAL_HOSTS:
            raise ArgumentError(f"download: expected file:///path, got {url}")
        # urllib.request has a function for this, and brings a whole HTTP client with it.
        path = unquote(parts.path)
        return Path(path[1:] if os.name == "nt" else path)  # /C:/folder
    # One letter is a Windows drive.
    if len(parts.scheme) > 1 and "://" in url:
        raise ArgumentError(f"download: expected http, https, file or a path, got {url}")
    return Path(url).expanduser()
