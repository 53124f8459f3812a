"""One process at a time makes a file: the others wait, then find it made."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gluonish.core.errors import DownloadError
from gluonish.gluon.download.room import folder_error, make_folder

__all__ = ["exclusive"]

_LOG = logging.getLogger("gluonish")
# The largest weights, 575 MB, take this long at 320 kB/s.
_WAIT_S = 1800.0
_POLL_S = 0.1


@contextmanager
def exclusive(target: Path) -> Iterator[None]:
    """Context manager that locks ``target`` against other processes and threads.

    The lock is a hidden file next to the target. It is never deleted: if a lock file were deleted
    while another process waits for it, two processes could get the lock.

    Args:
        target: Path of the file that will be made; its folder is created, too.

    Raises:
        DownloadError: The folder is not writable, or another process held the lock for half an
            hour.
    """
    from filelock import FileLock, Timeout

    path = target.with_name(f".{target.name}.lock")
    lock = FileLock(path)
    make_folder(target.parent)
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
    except (OSError, NotImplementedError) as error:  # the latter of a disk that knows no locks
        raise folder_error(error, target.parent) from error
    try:
        # Windows does not let even its holder write to a locked file.
        with suppress(OSError):
            path.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        yield
    finally:
        lock.release()


def _owner(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8")[:200] or "another process"
    return "another process"
