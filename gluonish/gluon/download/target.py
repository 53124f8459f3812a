"""The target file of a download: its lock, and free disk space."""

import errno
import logging
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gluonish.core.errors import DownloadError

UNANNOUNCED_NBYTES = 64 << 30
"""Size limit, in bytes, of a content whose size the server does not announce."""

# Space that content of unannounced size must leave free; a tenth of the free space if less.
_RESERVE_NBYTES = 256 << 20
_FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def disk_full_error(error: OSError, path: Path) -> DownloadError | None:
    """Return a DownloadError if a write failed because the disk is full, else None."""
    return _no_space(path, error.strerror) if error.errno in _FULL_DISK else None


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, unless it exists.

    Raises:
        DownloadError: The folder cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise folder_error(error, folder) from error


def folder_error(error: Exception, folder: Path) -> DownloadError:
    """Return the DownloadError for a folder that cannot be created or written."""
    return DownloadError(
        f"download: expected a writable folder, got {error} for {folder}; pass another folder or"
        " set MXNET_HOME (HF_HOME for networks of the hub) to one"
    )


def check_free_space(path: Path, nbytes: int) -> None:
    """Check that a download fits on the disk, before it starts.

    Args:
        path: File to write or to continue.
        nbytes: Number of bytes that will be added.

    Raises:
        DownloadError: The disk has less free space.
    """
    free = shutil.disk_usage(path.parent).free
    if nbytes > free:
        raise _no_space(path, f"{free} bytes free for {nbytes}")


def most_nbytes(path: Path, have: int, max_nbytes: int | None) -> int:
    """Return the maximum size, in bytes, of a download whose size the server does not announce.

    Args:
        path: File to write.
        have: Number of bytes that the file already has.
        max_nbytes: Maximum size of the content; None for `UNANNOUNCED_NBYTES`.
    """
    free = shutil.disk_usage(path.parent).free
    allowed = UNANNOUNCED_NBYTES if max_nbytes is None else max_nbytes
    return min(allowed, have + free - min(_RESERVE_NBYTES, free // 10))


def _no_space(path: Path, got: str | None) -> DownloadError:
    return DownloadError(
        f"download: expected free space for {path.name} in {path.parent}, got {got};"
        " free some space or set MXNET_HOME (HF_HOME for networks of the hub) to a folder on"
        " another disk"
    )


_LOG = logging.getLogger("gluonish")
# Enough for the largest weights, 575 MB, at 320 kB/s.
_WAIT_S = 1800.0
_POLL_S = 0.1


@contextmanager
def exclusive(target: Path, lock_path: Path | None = None) -> Iterator[None]:
    """Context manager that locks ``target`` against other processes and threads.

    The lock file is never deleted: if it were deleted while another process waits for it, two
    processes could acquire the lock.

    Args:
        target: Path of the file that will be created; its folder is created, too.
        lock_path: Path of the lock file; a hidden file next to the target by default.

    Raises:
        DownloadError: The folder is not writable, or another process held the lock for half an
            hour.
    """
    from filelock import FileLock, Timeout

    path = lock_path or target.with_name(f".{target.name}.lock")
    lock = FileLock(path)
    make_folder(target.parent)
    make_folder(path.parent)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        owner = _owner(path)
        _LOG.warning(
            "download: waiting up to %.0f s for %s, which writes %s", _WAIT_S, owner, target
        )
        try:
            lock.acquire(timeout=_WAIT_S, poll_interval=_POLL_S)
        except Timeout as error:
            raise DownloadError(
                f"download: expected {owner} to finish {target} within {_WAIT_S:.0f} s, got no"
                f" result; end that process, or delete {path} if it no longer runs"
            ) from error
    except (OSError, NotImplementedError) as error:  # the latter if the disk has no locks
        raise folder_error(error, path.parent) from error
    try:
        # On Windows not even the lock's owner may write to a locked file.
        with suppress(OSError):
            path.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        yield
    finally:
        lock.release()


def _owner(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8")[:200] or "another process"
    return "another process"
