"""Machine code on disk, one file a kernel, so that a later process need not compile.

A file is taken only if it is whole (it holds a digest of itself), holds the very key that is asked
for, and is this user's, writable by nobody else: its content will run. Anything else counts as
missing, and is written anew. What cannot be written is not kept.
"""

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

from gluonish.core.config import MXNET_HOME
from gluonish.core.errors import GluonishError
from gluonish.core.files import atomic_write

__all__ = ["find", "is_kept", "keep", "path_of"]

_MAGIC = b"gluonish kernel 1\n"
_DIGEST_NBYTES = 32


def path_of(key: bytes) -> Path:
    """Where the kernel of a key is kept."""
    return Path(MXNET_HOME.value) / "kernels" / f"{key.hex()}.bin"


def is_kept(key: bytes) -> bool:
    """Whether there is a file for this key; `find` may yet refuse it."""
    return path_of(key).is_file()


def find(key: bytes) -> bytes | None:
    """Return the machine code kept under this key; None if there is none to be trusted."""
    try:
        with open(path_of(key), "rb") as file:
            if not _is_ours(os.fstat(file.fileno())):
                return None
            content = file.read()
    except OSError:
        return None
    head = len(_MAGIC) + _DIGEST_NBYTES
    digest, body = content[len(_MAGIC) : head], content[head:]
    intact = content.startswith(_MAGIC) and digest == hashlib.sha256(body).digest()
    return body[len(key) :] if intact and body.startswith(key) else None


def _is_ours(status: os.stat_result) -> bool:
    if os.name == "nt":
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def keep(key: bytes, code: bytes) -> None:
    """Keep machine code under a key, where the folder can be written; else do nothing."""
    body = key + code
    path = path_of(key)
    with suppress(OSError, GluonishError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # a file that is replaced would keep its permissions
        with atomic_write(path) as file:
            file.write(_MAGIC + hashlib.sha256(body).digest() + body)
