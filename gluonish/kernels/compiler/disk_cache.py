"""Machine code on disk, one file a kernel, so that a later process need not compile.

A file is taken only if it is whole (it holds a digest of itself), holds the very key that is asked
for, and is this user's, writable by nobody else, in a folder of which the same goes: its content
will run. Anything else counts as missing, and is written anew. What cannot be written is not kept,
and nothing is kept in a folder of others.
"""

import hashlib
import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from gluonish.core.config import MXNET_HOME
from gluonish.core.errors import GluonishError
from gluonish.core.files import atomic_write

_LOG = logging.getLogger("gluonish")
_MAGIC = b"gluonish kernel 2\n"
_DIGEST_NBYTES = 32
# Windows keeps the folder of a user from others by other means.
_HAS_OWNERS = os.name != "nt"
_told: set[Path] = set()


def path_of(key: bytes) -> Path:
    """Where the kernel of a key is kept."""
    return Path(MXNET_HOME.value) / "kernels" / f"{key.hex()}.bin"


def is_kept(key: bytes) -> bool:
    """Whether there is a file for this key; `find` may yet refuse it."""
    return os.path.isfile(path_of(key))  # false where it cannot be seen


def find(key: bytes) -> bytes | None:
    """Return the machine code kept under this key; None if there is none to be trusted."""
    try:
        with _trusted(path_of(key)) as file:
            content = file.read() if file is not None else b""
    except OSError:
        return None
    head = len(_MAGIC) + _DIGEST_NBYTES
    digest, body = content[len(_MAGIC) : head], content[head:]
    intact = content.startswith(_MAGIC) and digest == hashlib.sha256(body).digest()
    return body[len(key) :] if intact and body.startswith(key) else None


@contextmanager
def _trusted(path: Path) -> Iterator[BinaryIO | None]:
    """Open a kept file; give None where others may have made it.

    The folder is opened first, and the file in that folder, so that no other takes its place after
    it was looked at.
    """
    if not _HAS_OWNERS:
        with path.open("rb") as file:
            yield file
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if not _is_ours(os.fstat(folder)):
            _tell(path.parent)
            yield None
            return
        descriptor = os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            yield file if stat.S_ISREG(status.st_mode) and _is_ours(status) else None
    finally:
        os.close(folder)


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _tell(folder: Path) -> None:
    """Say once why kernels are compiled in every process."""
    if folder not in _told:
        _told.add(folder)
        _LOG.warning(
            "kernels: expected %s to be a folder of this user that nobody else can write to; no "
            "compiled kernel is taken from there or kept: chmod 700 it, or set MXNET_HOME",
            folder,
        )


def _make_folder(folder: Path) -> bool:
    """Make the folder unless it is there; return whether kernels may be kept in it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = os.lstat(folder)
    if not _HAS_OWNERS or (stat.S_ISDIR(status.st_mode) and _is_ours(status)):
        return True
    _tell(folder)
    return False


def keep(key: bytes, code: bytes) -> None:
    """Keep machine code under a key, where the folder can be written; else do nothing."""
    body = key + code
    path = path_of(key)
    with suppress(OSError, GluonishError):
        if not _make_folder(path.parent):
            return
        path.unlink(missing_ok=True)  # a file that is replaced would keep its permissions
        with atomic_write(path) as file:
            if _HAS_OWNERS:  # a umask may let the group write, and then it is not taken
                os.fchmod(file.fileno(), 0o600)
            file.write(_MAGIC + hashlib.sha256(body).digest() + body)
