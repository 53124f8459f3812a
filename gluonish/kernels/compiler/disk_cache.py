"""A cache of machine code on disk, with one file for each kernel, or plan of a library.

Since its content will run, a file is used only if it is intact (checked by a digest), has the
requested key, and the file and its folder belong to this user and are not writable by others. Other
files count as missing, and are overwritten. Failures to write are ignored, and nothing is written
to a folder of another user.

Any number of processes may share a folder. A file gets its name when it is complete; processes that
write the same one at once write the same content. A folder is bounded: the files that were not used
for the longest time are removed. A file that is used counts as used for a day.
"""

import hashlib
import logging
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from gluonish.core.config import MXNET_HOME
from gluonish.core.errors import GluonishError
from gluonish.core.files import temporary_file
from gluonish.core.operating_system import WINDOWS

_LOG = logging.getLogger("gluonish")
_MAGIC = b"gluonish kernel 2\n"
_DIGEST_NBYTES = 32
# On Windows, a user's folder is protected by other means than owners and modes.
_HAS_OWNERS = not WINDOWS
_reported: set[Path] = set()
_KERNELS = "kernels"
_SUFFIX = ".bin"
MAX_NBYTES = 64 << 20  # of a folder: some thousand kernels
_DAY_S = 24 * 3600.0
_SAVES_PER_CLEANING = 64
_saves: dict[Path, int] = {}  # of this process, for each folder


def path_of(key: bytes, folder: str = _KERNELS) -> Path:
    """Return the path of a kernel's file, in a folder of MXNET_HOME."""
    return Path(MXNET_HOME.value) / folder / f"{key.hex()}{_SUFFIX}"


def is_saved(key: bytes, folder: str = _KERNELS) -> bool:
    """Whether a file exists for this key; `find` may still reject it."""
    return os.path.isfile(path_of(key, folder))  # false without permission to read the folder


def find(key: bytes, folder: str = _KERNELS) -> bytes | None:
    """Return the machine code saved under a key; None if there is no file, or it is not trusted."""
    try:
        with _trusted(path_of(key, folder)) as file:
            content = file.read() if file is not None else b""
    except OSError:
        return None
    head = len(_MAGIC) + _DIGEST_NBYTES
    digest, body = content[len(_MAGIC) : head], content[head:]
    intact = content.startswith(_MAGIC) and digest == hashlib.sha256(body).digest()
    if not intact or not body.startswith(key):
        return None
    return body[len(key) :]


@contextmanager
def _trusted(path: Path) -> Iterator[BinaryIO | None]:
    """Open a file; yield None if another user may have written it.

    The folder is opened first, and the file relative to it, so that the folder cannot be replaced
    after the check.
    """
    if not _HAS_OWNERS:
        with path.open("rb") as file:
            yield file
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if not _is_ours(os.fstat(folder)):
            _report(path.parent)
            yield None
            return
        descriptor = os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            trusted = stat.S_ISREG(status.st_mode) and _is_ours(status)
            if trusted and status.st_mtime < time.time() - _DAY_S:
                with suppress(OSError):  # of a file system that cannot be written to
                    os.utime(descriptor)
            yield file if trusted else None
    finally:
        os.close(folder)


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _report(folder: Path) -> None:
    """Warn, once for each folder, that kernels are not cached."""
    if folder not in _reported:
        _reported.add(folder)
        _LOG.warning(
            "%s: expected %s to be a folder of this user that nobody else can write to; no "
            "compiled kernel is read from there or saved: chmod 700 it, or set MXNET_HOME",
            folder.name,
            folder,
        )


def _make_folder(folder: Path) -> bool:
    """Create the folder if it is missing; return whether kernels may be saved in it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = os.lstat(folder)
    if not _HAS_OWNERS or (stat.S_ISDIR(status.st_mode) and _is_ours(status)):
        return True
    _report(folder)
    return False


def save(key: bytes, code: bytes, folder: str = _KERNELS) -> None:
    """Save machine code under a key; do nothing if the folder is not writable."""
    body = key + code
    path = path_of(key, folder)
    with suppress(OSError, GluonishError):
        if not _make_folder(path.parent):
            return
        # Not on the disk before it has its name, as `atomic_write` would do, which takes long: a
        # file that lost its content in a crash is not intact.
        with temporary_file(path) as (temporary, file):
            with file:
                if _HAS_OWNERS:  # with a group-writable umask the file would not be trusted
                    os.fchmod(file.fileno(), 0o600)
                file.write(_MAGIC + hashlib.sha256(body).digest() + body)
            temporary.replace(path)
        count = _saves[path.parent] = _saves.get(path.parent, 0) + 1
        if count % _SAVES_PER_CLEANING == 1:
            bound(path.parent)


def bound(folder: Path, max_nbytes: int | None = None) -> None:
    """Remove the files of a folder that were used last the longest ago, until it is small enough.

    Args:
        folder: The folder.
        max_nbytes: Limit of the files' sizes; None for `MAX_NBYTES`.
    """
    limit = MAX_NBYTES if max_nbytes is None else max_nbytes
    with os.scandir(folder) as entries:
        files = [(entry.stat(follow_symlinks=False), entry.path) for entry in entries]
    total = sum(status.st_size for status, _ in files)
    if total <= limit:
        return
    for status, path in sorted(files, key=lambda file: file[0].st_mtime):
        with suppress(OSError):  # another process has removed it, or reads it on Windows
            if path.endswith(_SUFFIX):
                os.unlink(path)
        total -= status.st_size
        if total <= limit // 2:  # so that not every save has to remove one
            return
