"""A cache of machine code on disk, with one file for each kernel, or plan of a library.

Since its content will run, a file is used only if it is intact (checked by a digest), has the
requested key, and the file and its folder belong to this user and are not writable by others. Other
files count as missing, and are overwritten. Failures to write are ignored, and nothing is written
to a folder of another user.
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
from gluonish.core.operating_system import WINDOWS

_LOG = logging.getLogger("gluonish")
_MAGIC = b"gluonish kernel 2\n"
_DIGEST_NBYTES = 32
# On Windows, a user's folder is protected by other means than owners and modes.
_HAS_OWNERS = not WINDOWS
_reported: set[Path] = set()
_KERNELS = "kernels"


def path_of(key: bytes, folder: str = _KERNELS) -> Path:
    """Return the path of a kernel's file, in a folder of MXNET_HOME."""
    return Path(MXNET_HOME.value) / folder / f"{key.hex()}.bin"


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
    return body[len(key) :] if intact and body.startswith(key) else None


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
            yield file if stat.S_ISREG(status.st_mode) and _is_ours(status) else None
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
        path.unlink(missing_ok=True)  # replacing it would keep its permissions
        with atomic_write(path) as file:
            if _HAS_OWNERS:  # with a group-writable umask the file would not be trusted
                os.fchmod(file.fileno(), 0o600)
            file.write(_MAGIC + hashlib.sha256(body).digest() + body)
