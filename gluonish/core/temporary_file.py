"""Temporary files that become others: each is held by its writer, and removed when nobody does.

A process that is killed leaves its temporary file. Neither its name nor a process number would tell
it from one that is being written, since containers and hosts that share a folder have the same
numbers; a lock does, which the system drops with the process that holds it.

Invariants: a writer locks its file before the first byte, and until it has its final name. Who
wants to remove one takes the lock first, without waiting; a writer whose file was removed between
making and locking it makes another. Where a disk's locks reach no other host, a file that
was written to a moment ago counts as held. A disk without locks keeps its leftovers.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, which removes no file that is open
    fcntl = None  # type: ignore[assignment]  # the module, or none

__all__ = ["remove_abandoned", "temporary_file"]

_NAME = re.compile(r"\..{1,32}\.[0-9a-f]{16}\.gluonish\.tmp", re.DOTALL)
_SETTLED_S = 60.0


@contextmanager
def temporary_file(target: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Make and hold a file in the folder of ``target``; remove it at last if it has its name still.

    What killed processes left in that folder is removed before.

    Args:
        target: What the file is to become.

    Yields:
        Its path, and the file, open for writing, for the caller to close.

    Raises:
        OSError: The folder takes no file.
    """
    remove_abandoned(target.parent)
    path = target.with_name(f".{target.name[:32]}.{os.urandom(8).hex()}.gluonish.tmp")
    locks: list[int] = []
    try:  # before it is there: an interrupt may come as soon as it is
        yield path, _created(path, locks)
    finally:
        try:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        finally:
            for lock in locks:
                os.close(lock)


def remove_abandoned(folder: Path, settled_s: float = _SETTLED_S) -> None:
    """Remove the temporary files in a folder that no process holds.

    Args:
        folder: The folder; what cannot be read or removed is left.
        settled_s: For how many seconds nobody may have written to them.
    """
    newest = time.time() - settled_s
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime <= newest:
                        _remove_unheld(entry.path)


def _created(path: Path, locks: list[int]) -> BinaryIO:
    """Open a new file, with the permissions that the umask gives; add what holds its lock.

    The lock is held by a descriptor of its own: it is to last longer than the file is open.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        file = os.fdopen(os.open(path, flags, 0o666), "wb")
        try:
            if fcntl is None:
                return file
            locks.append(os.dup(file.fileno()))
            with suppress(OSError):
                fcntl.flock(locks[-1], fcntl.LOCK_EX)
            if os.fstat(locks[-1]).st_nlink:
                return file
        except BaseException:
            file.close()
            raise
        os.close(locks.pop())
        file.close()


def _remove_unheld(path: str) -> None:
    if fcntl is None:
        os.unlink(path)
        return
    # For writing: some network disks lock no file that is open for reading only.
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    finally:
        os.close(descriptor)
