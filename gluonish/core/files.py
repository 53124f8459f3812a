"""Files that are written whole or not at all, and temporary ones.

A process that is killed leaves its temporary file. Neither its name nor a process number would tell
it from one that is being written, since containers and hosts that share a folder have the same
numbers; a lock does, which the system drops with the process that holds it.

Invariants: a writer locks its file before the first byte, and until it has its final name. Who
wants to remove one takes the lock first, without waiting; a writer whose file was removed between
making and locking it makes another. Where a disk's locks reach no other host, a file that
was written to a moment ago counts as held. A disk without locks keeps its leftovers.

A reader sees the old content or the new one, never a part: the new content goes to a temporary file
in the target's folder, reaches the disk, and only then takes the target's name. What a process that
was killed has left there is removed by the next that writes into the folder.

Files that mean nothing without one another, such as a graph and its parameters, are written
together: all are on the disk before the first takes its name, and whenever the process ends, there
is never the new one of some beside the old one of others.
"""

import filecmp
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    FolderPathError,
    GluonishError,
    MissingFileError,
    NotSupportedError,
)

try:
    import fcntl
except ImportError:  # Windows, which removes no file that is open
    fcntl = None  # type: ignore[assignment]  # the module, or none


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


# What functions take as a path; `path_text` refuses the rest.
AnyPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]

# The most bytes that deflate packs into one, 258 into two bits: a content that claims more is none.
DEFLATE_RATIO = 1032


class _Group:
    """Files that are written together.

    Attributes:
        targets: Their paths, that of the file that describes the others first.
        complete: Temporary file and target of each that is on the disk.
        held: Removes the temporary files at last.
    """

    __slots__ = ("complete", "held", "targets")

    def __init__(self, targets: tuple[Path, ...]) -> None:
        self.targets = targets
        self.complete: list[tuple[Path, Path]] = []
        self.held = ExitStack()


_together: ContextVar[_Group | None] = ContextVar("gluonish_written_together", default=None)

_PROTOCOL = re.compile(r"(\w+)://")


def path_text(path: object, what: str) -> str:
    """Return a path as text: what is text, bytes in the system's encoding, or an `os.PathLike`.

    Args:
        path: What the caller gave.
        what: Who wants it, and of a function with several the argument, to begin a message with.

    Raises:
        ArgumentTypeError: It is no path.
        ArgumentError: It has a NUL, which no path can have.
    """
    try:
        text = os.fsdecode(path)  # type: ignore[arg-type]  # refuses what is no path
    except TypeError:
        raise ArgumentTypeError(
            f"{what}: expected a path, as str, bytes or os.PathLike, got {path!r:.100}"
        ) from None
    if "\0" in text:
        raise ArgumentError(f"{what}: expected a path without NUL characters, got {text!r:.100}")
    return str(text)


def local_path(path: AnyPath, reader: str) -> str:
    """Return a path without the ``file://`` that it may begin with.

    Args:
        path: Of a file or a folder.
        reader: What wants to read or write there, to begin an error message with.

    Raises:
        NotSupportedError: It begins with another protocol.
    """
    found = path_text(path, reader).removeprefix("file://")
    protocol = _PROTOCOL.match(found)
    if protocol:
        raise NotSupportedError(
            f"{reader}: expected a path of this computer, got {found!r}; copy what it names to a "
            f"disk, or mount it as a folder: there is no client for {protocol[1]}"
        )
    return found


def open_to_read(path: AnyPath, reader: str) -> BinaryIO:
    """Open a file for reading bytes.

    Args:
        path: The file.
        reader: What wants to read it, to begin an error message with.

    Raises:
        ArgumentTypeError: It is no path.
        MissingFileError: There is no such file.
        FolderPathError: It is a folder.
        OSError: It cannot be opened.
    """
    name = path_text(path, reader)
    try:
        return open(name, "rb")
    except FileNotFoundError as error:
        raise _with_errno(
            MissingFileError(f"{reader}: expected an existing file, got {name!r}"), error
        ) from None
    except IsADirectoryError as error:
        raise _with_errno(
            FolderPathError(f"{reader}: expected a file, got the folder {name!r}"), error
        ) from None


def _with_errno(error: OSError, cause: OSError) -> OSError:
    error.errno = cause.errno
    return error


@contextmanager
def atomic_write(path: AnyPath) -> Iterator[BinaryIO]:
    """Give a binary file whose content replaces ``path`` when the ``with`` block succeeds, or when
    that of `written_together` does in which it stands.

    On any error, `KeyboardInterrupt` included, the temporary file is removed and ``path`` is as it
    was. An existing target keeps its permissions, a symbolic link keeps pointing where it did, and
    a device or a pipe is written directly, because nothing could replace it.

    Args:
        path: The file to write; its folder must exist.

    Raises:
        MissingFileError: The folder is missing.
        FolderPathError: ``path`` is a folder.
        OSError: The folder is closed to us, or the disk is full; names ``path``.
    """
    target = Path(os.path.realpath(path_text(path, "write")))
    mode = _existing_mode(target)
    if mode is not None and stat.S_ISDIR(mode):
        raise FolderPathError(f"write: expected the path of a file, got the folder {str(target)!r}")
    if mode is not None and not stat.S_ISREG(mode):
        try:
            with target.open("wb") as direct:
                yield direct
        except OSError as error:
            _name_file(error, target)
            raise
        return
    try:
        with ExitStack() as held:
            temporary, file = held.enter_context(_temporary_file(target))
            with file:
                if mode is not None:
                    temporary.chmod(stat.S_IMODE(mode))
                yield file
                file.flush()
                os.fsync(file.fileno())
            group = _together.get()
            if group is not None and target in group.targets:
                group.held.push(held.pop_all())
                group.complete.append((temporary, target))
                return
            temporary.replace(target)
    except BaseException as error:
        _name_file(error, target)
        raise
    _sync_folder(target.parent)


@contextmanager
def written_together(*paths: AnyPath) -> Iterator[None]:
    """Have files of `atomic_write` in the ``with`` block take their names when it succeeds.

    After an error in the block all are as they were. Where the content of the first changes, it is
    removed before the others take their names, and takes its own last, so that a process that ends
    in between leaves none rather than that of other files. Other files are written as ever: those
    of a signal's handler, for example.

    Args:
        paths: The files; the first describes the others. A block in one that has them all belongs
            to that.

    Raises:
        OSError: A folder was closed to us meanwhile; names the file.
    """
    group = _Group(tuple(Path(os.path.realpath(path_text(path, "write"))) for path in paths))
    outer = _together.get()
    if outer is not None and set(group.targets) <= set(outer.targets):
        yield
        return
    with group.held:
        try:
            _together.set(group)  # not before: an interrupt may come as soon as it is set
            yield
            _take_names(group)
        finally:
            _together.set(outer)


def _take_names(group: _Group) -> None:
    describing = [pair for pair in group.complete if pair[1] == group.targets[0]]
    others = [pair for pair in group.complete if pair[1] != group.targets[0]]
    target = group.targets[0]
    try:
        if (
            (describing and others)
            and target.exists()
            and not filecmp.cmp(describing[-1][0], target, shallow=False)
        ):
            target.unlink()
        for temporary, target in (*others, *describing):
            temporary.replace(target)
    except OSError as error:
        _name_file(error, target)
        raise
    for folder in {target.parent for _, target in group.complete}:
        _sync_folder(folder)


def _name_file(error: BaseException, target: Path) -> None:
    """Let an error of the system, such as a full disk, say which file it was about."""
    if not isinstance(error, OSError) or isinstance(error, GluonishError):
        return
    if error.filename is None and error.errno is not None:
        error.filename = str(target)


def _existing_mode(target: Path) -> int | None:
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None


@contextmanager
def _temporary_file(target: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """As `temporary_file`, with errors that name the target."""
    with ExitStack() as stack:
        try:
            made = stack.enter_context(temporary_file(target))
        except FileNotFoundError as error:
            raise _with_errno(
                MissingFileError(
                    f"write: expected a path in an existing folder, got {str(target)!r}; make the "
                    "folder first"
                ),
                error,
            ) from None
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(target)) from error
        yield made


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable; some systems and file systems cannot sync a folder."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
