"""Published text files: found in a folder, or fetched as a part of an archive and checked."""

import hashlib
import logging
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from gluonish.core.config import MXNET_GLUON_REPO
from gluonish.core.errors import DownloadError
from gluonish.core.files import atomic_write
from gluonish.download import check_sha1, download, exclusive

__all__ = ["get_published_file"]

_LOG = logging.getLogger("gluonish")
_CHUNK_NBYTES = 1 << 20
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


def get_published_file(
    target: Path, sha1: str, namespace: str, archive_name: str, archive_sha1: str | None
) -> Path:
    """Return the path of a file, taken out of its archive where it is missing or damaged.

    The archive is left beside it: it may hold more files, and programs for MXNet look for it there.

    Args:
        target: Where the file is; in the archive it has the same name, in any folder.
        sha1: SHA-1 of the file.
        namespace: Folder of the archive in the repository that ``MXNET_GLUON_REPO`` names.
        archive_name: Name of the archive, there and beside the file; or the file's own, where it is
            published as it is.
        archive_sha1: SHA-1 of the archive; None where it is not known.

    Raises:
        DownloadError: It cannot be fetched, or is not what was published.
    """
    if _is_valid(target, sha1):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(target):
        # Another process may have made it while this one waited.
        if not _is_valid(target, sha1):
            url = f"{MXNET_GLUON_REPO.value.rstrip('/')}/{namespace}/{archive_name}"
            plain = archive_name == target.name
            path = target.with_name(f"{archive_name}.download" if plain else archive_name)
            archive = _archive(url, path, sha1 if plain else archive_sha1, target)
            if plain:
                archive.replace(target)
            else:
                _extract(archive, target, sha1)
    return target


def _is_valid(target: Path, sha1: str) -> bool:
    if not target.is_file():
        return False
    if check_sha1(target, sha1):
        return True
    _LOG.warning("%s is not what was published; making it again", target)
    return False


def _archive(url: str, path: Path, sha1: str | None, target: Path) -> Path:
    try:
        return Path(download(url, path, sha1_hash=sha1))
    except DownloadError as error:
        raise DownloadError(
            f"{error}; without a network put {target.name} into {target.parent}, or set "
            "MXNET_GLUON_REPO to a mirror or a folder"
        ) from error


def _extract(archive_path: Path, target: Path, sha1: str) -> None:
    """Take the one file out of an archive, under its own name and nowhere else."""
    digest = hashlib.sha1(usedforsecurity=False)
    try:
        with zipfile.ZipFile(archive_path) as archive:
            members = [
                info
                for info in archive.infolist()
                if PurePosixPath(info.filename).name == target.name and not info.is_dir()
            ]
            if len(members) != 1:
                raise DownloadError(
                    f"{archive_path}: expected one {target.name} inside, got {len(members)} in "
                    f"{archive.namelist()!r:.200}"
                )
            with archive.open(members[0]) as member, atomic_write(target) as file:
                while chunk := member.read(_CHUNK_NBYTES):
                    digest.update(chunk)
                    file.write(chunk)
                if digest.hexdigest() != sha1:
                    raise DownloadError(
                        f"{archive_path}: expected {target.name} with the SHA-1 {sha1}, got "
                        f"{digest.hexdigest()}"
                    )
    except DownloadError:
        raise
    except _BROKEN_ZIP as error:
        raise DownloadError(f"{archive_path}: expected a zip archive, got {error}") from error
