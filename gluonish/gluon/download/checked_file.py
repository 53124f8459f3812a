"""Downloads by URL or path, complete and checked.

Published files are in the repository at ``MXNET_GLUON_REPO``.
"""

import errno
import hashlib
import logging
import os
import shutil
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from gluonish.core.config import MXNET_GLUON_REPO
from gluonish.core.errors import ArgumentError, DownloadError
from gluonish.core.files import path_text
from gluonish.core.operating_system import WINDOWS
from gluonish.gluon.download.http_fetch import fetch
from gluonish.gluon.download.target import check_free_space, disk_full_error, exclusive

_LOCAL_HOSTS = ("", "localhost")


def check_sha1(filename: str | os.PathLike[str], sha1_hash: str) -> bool:
    """Whether a file has the expected SHA-1.

    Args:
        filename: Path of the file.
        sha1_hash: Expected SHA-1 in hexadecimal digits.

    Raises:
        OSError: The file cannot be read.
    """
    return _sha1(Path(path_text(filename, "check_sha1"))) == sha1_hash.lower()


def download(
    url: str,
    path: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    sha1_hash: str | None = None,
    retries: int = 5,
    verify_ssl: bool = True,
) -> str:
    """Download a file, and return its path.

    An interrupted transfer is resumed, in this call or a later one. The file appears only when it
    is complete and its SHA-1 matches. If several processes request the same file, one downloads it
    and the others wait.

    Args:
        url: ``http://``, ``https://`` or ``file://`` URL, or a local path.
        path: Path of the file to write, or an existing folder; the working folder by default.
        overwrite: Whether to download even if the file exists.
        sha1_hash: Expected SHA-1 in hexadecimal digits; an existing file with another SHA-1 is
            replaced. None accepts any content.
        retries: Number of retries after a failed attempt.
        verify_ssl: Whether to verify the server's certificate.

    Raises:
        ArgumentError: ``retries`` is negative, ``url`` is not a URL, or neither ``url`` nor
            ``path`` has a file name.
        DownloadError: The URL cannot be downloaded, the SHA-1 is wrong twice, the folder is not
            writable, or the disk is full.
    """
    if retries < 0:
        raise ArgumentError(f"download: expected retries of 0 or more, got {retries}")
    target = _target(url, path)
    if not overwrite and _is_complete(target, sha1_hash):
        return str(target)
    before = _identity(target)
    with exclusive(target):
        is_new = before != _identity(target)  # another process wrote it meanwhile
        if (overwrite and not is_new) or not _is_complete(target, sha1_hash):
            _obtain_checked(url, target, sha1_hash, retries, verify_ssl)
    return str(target)


def obtain(
    url: str,
    target: Path,
    *,
    retries: int = 5,
    verify_ssl: bool = True,
    advice: str = "",
    max_nbytes: int | None = None,
) -> Path:
    """Download a URL into ``{target}.part``, without checking the content, and return that path.

    Args:
        url: ``http://``, ``https://`` or ``file://`` URL, or a local path.
        target: Path of the final file; its folder exists and the caller owns its lock.
        retries: Number of retries after a failed attempt.
        verify_ssl: Whether to verify the server's certificate.
        advice: Advice in the error message of a failed download.
        max_nbytes: Maximum size in bytes; None accepts the size that the server announces.

    Raises:
        ArgumentError: ``url`` is not a URL.
        DownloadError: The URL cannot be downloaded, is too large, or the disk is full.
    """
    if _split(url).scheme.lower() not in ("http", "https"):
        return _copy(url, target.with_name(f"{target.name}.part"), advice, max_nbytes)
    return fetch(
        url,
        target,
        retries=retries,
        verify_ssl=verify_ssl,
        advice=advice,
        max_nbytes=max_nbytes,
    )


def _split(url: str) -> SplitResult:
    try:
        result = urlsplit(url)
        if "\0" in url or "\0" in unquote(result.path):
            raise ValueError("it contains a zero byte")
    except ValueError as error:
        raise ArgumentError(f"download: expected a URL, got {url!r:.300}: {error}") from error
    return result


def _sha1(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha1").hexdigest()


def _target(url: str, path: str | os.PathLike[str] | None) -> Path:
    _split(url)
    name = url.rsplit("/", 1)[-1]
    target = Path(name) if path is None else Path(path_text(path, "download")).expanduser()
    if path is None or target.is_dir():
        named = target if path is None else target / name
        if name in ("", ".", "..") or _is_too_long(named):
            raise ArgumentError(
                f"download: expected a URL that ends in a file name, got {url!r:.300}; pass `path`"
            )
        return named
    return target


def _is_too_long(path: Path) -> bool:
    # The temporary files next to a file have longer names.
    try:
        path.with_name(f".{path.name}.part.json").lstat()
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


def _is_complete(target: Path, sha1_hash: str | None) -> bool:
    return target.is_file() and (not sha1_hash or check_sha1(target, sha1_hash))


def _identity(target: Path) -> tuple[int, int] | None:
    try:
        status = target.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_ino, status.st_mtime_ns


def _obtain_checked(
    url: str, target: Path, sha1_hash: str | None, retries: int, verify_ssl: bool
) -> None:
    got = ""
    # Try twice: wrong content may include old bytes from a proxy or an earlier attempt.
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


def _copy(url: str, part: Path, advice: str, max_nbytes: int | None) -> Path:
    try:
        source = _local_path(url)
        if source.exists() and not source.is_file():
            raise OSError("a path that is not a file")
        nbytes = source.stat().st_size
        if max_nbytes is not None and nbytes > max_nbytes:
            raise OSError(f"{nbytes} bytes, more than {max_nbytes}")
        check_free_space(part, nbytes)
        shutil.copyfile(source, part)
    except OSError as error:
        part.unlink(missing_ok=True)
        full = disk_full_error(error, part)
        if full is not None:
            raise full from error
        message = f"download: expected to copy {url}, got {error}"
        raise DownloadError(f"{message}; {advice}" if advice else message) from error
    return part


def _local_path(url: str) -> Path:
    split = _split(url)
    if split.scheme.lower() == "file":
        if split.netloc not in _LOCAL_HOSTS:
            raise ArgumentError(f"download: expected file:///path, got {url}")
        # urllib.request.url2pathname would import an HTTP client.
        path = unquote(split.path)
        return Path(path[1:] if WINDOWS else path)  # /C:/folder
    # One letter is a Windows drive.
    if len(split.scheme) > 1 and "://" in url:
        raise ArgumentError(f"download: expected http, https, file or a path, got {url}")
    return Path(url).expanduser()


_LOG = logging.getLogger("gluonish")


def published_url(path: str) -> str:
    """Return the URL of a file of the model repository, or its path if the repository is local.

    Args:
        path: Path of the file in the repository, such as ``gluon/models/x.zip``.
    """
    base = MXNET_GLUON_REPO.value
    if urlsplit(base).scheme.lower() in ("http", "https", "file"):
        return base.rstrip("/") + "/" + path
    return str(Path(base).expanduser() / path)


def is_published(target: Path, sha1: str) -> bool:
    """Whether a file exists and has the published SHA-1. A different SHA-1 is logged.

    Args:
        target: Path of the file.
        sha1: The published SHA-1, in hexadecimal digits.
    """
    if not target.is_file():
        return False
    if check_sha1(target, sha1):
        return True
    _LOG.warning("%s does not have the published SHA-1; downloading it again", target)
    return False
