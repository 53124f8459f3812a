"""Extraction of single files from a published archive, each checked by its SHA-1."""

import hashlib
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from gluonish.core.errors import DownloadError, GluonishError
from gluonish.core.files import atomic_write
from gluonish.gluon.download.target import disk_full_error

try:
    from lzma import LZMAError
except ImportError:  # Python was built without lzma
    LZMAError = zlib.error  # type: ignore[misc, assignment]

_CHUNK_NBYTES = 1 << 20
BROKEN_ARCHIVE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, LZMAError, struct.error),
    *(EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError),
)
"""Errors of reading a file that is not an archive, or has an unsupported compression."""


class WrongArchiveError(DownloadError):
    """Raised if a downloaded file is not an archive, or does not contain the published files."""


class _Open(Protocol):
    def __call__(self) -> IO[bytes] | None: ...


class _Member(NamedTuple):
    """A member of an archive; ``regular`` members are files and folders, not links or devices."""

    name: str
    regular: bool
    nbytes: int
    open: _Open


def extract_members(archive_path: Path, requested: Mapping[Path, str], max_nbytes: int) -> None:
    """Extract the requested files from a zip or tar archive.

    A file appears only when it is complete and its SHA-1 matches. The archive is rejected if any
    member has a path outside the archive's folder, is a link or device, or is too large.

    Args:
        archive_path: Path of the archive; the extension ``.zip`` means a zip archive, others a tar.
        requested: Dict from the path to write to the expected SHA-1; the archive has a file of the
            same name, in any folder.
        max_nbytes: Maximum size of a member, in bytes.

    Raises:
        WrongArchiveError: The file is not an archive, or a member is missing or has another SHA-1.
        DownloadError: The archive is rejected, or the disk is full.
    """
    is_zip = ".zip" in archive_path.suffixes
    try:
        _extract(_zip_members if is_zip else _tar_members, archive_path, requested, max_nbytes)
    except GluonishError:
        raise
    except BROKEN_ARCHIVE as error:
        raise _no_archive(archive_path, is_zip, error) from error
    except OSError as error:
        if error.errno is None:  # raised by gzip for a damaged file
            raise _no_archive(archive_path, is_zip, error) from error
        full = disk_full_error(error, next(iter(requested)))
        if full is None:
            raise
        raise full from error


def _no_archive(archive_path: Path, is_zip: bool, error: Exception) -> WrongArchiveError:
    kind = "zip" if is_zip else "tar"
    return WrongArchiveError(f"{archive_path}: expected a {kind} archive, got {error}")


def _extract(read: Any, archive_path: Path, requested: Mapping[Path, str], max_nbytes: int) -> None:
    targets = {target.name: target for target in requested}
    names = []
    for member in read(archive_path):
        _check(member, archive_path, max_nbytes)
        names.append(member.name)
        target = targets.get(member.name.rsplit("/", 1)[-1])
        source = member.open() if target is not None else None
        if target is not None and source is not None:
            with source:
                _write(source, target, requested[target], archive_path)
            del targets[target.name]
    if targets:
        raise WrongArchiveError(
            f"{archive_path}: expected {', '.join(targets)} inside, got {names!r:.200}"
        )


def _zip_members(path: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            regular = kind in (0, stat.S_IFREG, stat.S_IFDIR)
            yield _Member(info.orig_filename, regular, info.file_size, partial(archive.open, info))


def _tar_members(path: Path) -> Iterator[_Member]:
    with tarfile.open(path) as archive:
        for info in archive:
            regular = info.isfile() or info.isdir()
            yield _Member(info.name, regular, info.size, partial(archive.extractfile, info))


def _check(member: _Member, archive_path: Path, max_nbytes: int) -> None:
    name = member.name.replace("\\", "/")
    if name.startswith("/") or ".." in name.split("/") or ":" in name:
        got = f"{member.name!r}, which leaves its folder"
    elif not member.regular:
        got = f"{member.name!r}, which is a link or a device"
    elif member.nbytes > max_nbytes:
        got = f"{member.name!r} of {member.nbytes} bytes"
    else:
        return
    raise DownloadError(f"{archive_path}: expected regular files of allowed size, got {got}")


def _write(source: IO[bytes], target: Path, sha1: str, archive_path: Path) -> None:
    digest = hashlib.sha1(usedforsecurity=False)
    with atomic_write(target) as file:
        while chunk := source.read(_CHUNK_NBYTES):
            digest.update(chunk)
            file.write(chunk)
        if digest.hexdigest() != sha1:
            raise WrongArchiveError(
                f"{archive_path}: expected the SHA-1 {sha1}, got {digest.hexdigest()} for "
                f"{target.name}"
            )
