"""How many bytes a transfer may write, and what to tell where a folder does not take them."""

import errno
import shutil
from pathlib import Path

from gluonish.core.errors import DownloadError

__all__ = [
    "UNTOLD_NBYTES",
    "check_room",
    "disk_full_error",
    "folder_error",
    "make_folder",
    "most_nbytes",
]

UNTOLD_NBYTES = 64 << 30
"""The most that is taken of a content of which nobody tells how large it is, in bytes."""

# What a content of untold size leaves free for other programs: so much, or a tenth of a full disk.
_RESERVE_NBYTES = 256 << 20
_FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def disk_full_error(error: OSError, path: Path) -> DownloadError | None:
    """Return a DownloadError if ``error`` means that the disk is full, else None.

    Args:
        error: Error of a write.
        path: File that was written.
    """
    return _no_room(path, error.strerror) if error.errno in _FULL_DISK else None


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, unless it exists.

    Args:
        folder: Path of the folder.

    Raises:
        DownloadError: It cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise folder_error(error, folder) from error


def folder_error(error: Exception, folder: Path) -> DownloadError:
    """Return the DownloadError for a folder that cannot be created or written.

    Args:
        error: The cause.
        folder: Path of the folder.
    """
    return DownloadError(
        f"download: expected a folder that can be written, got {error} for {folder}; give another"
        " folder or set MXNET_HOME to one"
    )


def check_room(path: Path, nbytes: int) -> None:
    """Check that a download fits on the disk, before it starts.

    Args:
        path: File to write or to continue.
        nbytes: Number of bytes that will be added.

    Raises:
        DownloadError: The disk has less free space.
    """
    free = shutil.disk_usage(path.parent).free
    if nbytes > free:
        raise _no_room(path, f"{free} bytes free for {nbytes}")


def most_nbytes(path: Path, have: int, max_nbytes: int | None) -> int:
    """Return the maximum size, in bytes, of a download whose size the server does not announce.

    Args:
        path: File to write.
        have: Number of bytes it already has.
        max_nbytes: Maximum size of its content; None for `UNTOLD_NBYTES`.
    """
    free = shutil.disk_usage(path.parent).free
    allowed = UNTOLD_NBYTES if max_nbytes is None else max_nbytes
    return min(allowed, have + free - min(_RESERVE_NBYTES, free // 10))


def _no_room(path: Path, got: str | None) -> DownloadError:
    return DownloadError(
        f"download: expected free space for {path.name} in {path.parent}, got {got};"
        " free some space or set MXNET_HOME to a folder on another disk"
    )
