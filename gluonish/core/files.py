"""Atomic writes of files, and temporary files.

A killed process leaves its temporary file behind. Neither a name nor a process number can tell it
from a file that is still being written, because containers and hosts that share a folder may use
the same numbers; a lock can, because the system drops it with its process.

Invariants: a writer locks its file before the first byte, until the file has its final name. To
remove a file, a process first takes the lock, without waiting; a writer whose file was removed
before it was locked creates another. Where locks do not work across hosts, a recently written file
counts as locked. Without any locks, abandoned files stay.

A reader sees the old content or the new one, never a mixture: new content is written to a temporary
file in the target's folder, reaches the disk, and is then renamed. The next writer in the folder
removes abandoned temporary files.

Files that belong together, such as a graph and its parameters, are committed together: all are on
the disk before the first is renamed, and whenever the process ends, the folder never has a new
version of one file and an old version of another.
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
_MIN_AGE_S = 60.0


@contextmanager
def temporary_file(target: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Create and lock a temporary file in the folder of ``target``; remove it unless renamed.

    Abandoned files of killed processes in that folder are removed before.

    Yields:
        Its path, and the file, open for writing; the caller closes it.

    Raises:
        OSError: The file cannot be created.
    """
    remove_abandoned(target.parent)
    path = target.with_name(f".{target.name[:32]}.{os.urandom(8).hex()}.gluonish.tmp")
    locks: list[int] = []
    try:  # begins before the file exists: an interrupt may come right after
        yield path, _created(path, locks)
    finally:
        try:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        finally:
            for lock in locks:
                os.close(lock)


def remove_abandoned(folder: Path, min_age_s: float = _MIN_AGE_S) -> None:
    """Remove the temporary files in a folder that no process has locked.

    Args:
        folder: The folder; files that cannot be read or removed are skipped.
        min_age_s: Minimum time since the last write, in seconds.
    """
    newest = time.time() - min_age_s
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime <= newest:
                        _remove_unheld(entry.path)


def _created(path: Path, locks: list[int]) -> BinaryIO:
    """Create a file with the permissions of the umask, and add its lock's descriptor to ``locks``.

    The lock has a separate descriptor, because it must outlive the file object.
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
    # For writing: some network file systems cannot lock a file that is open for reading only.
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    finally:
        os.close(descriptor)


# Types of path arguments; `path_text` rejects others.
AnyPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]

# Maximum compression ratio of deflate, 258 bytes in two bits; a file that claims more is invalid.
DEFLATE_RATIO = 1032


class _Group:
    """Files that are committed together.

    Attributes:
        targets: Their paths; the first file describes the others.
        complete: Temporary file and target of each file that is on the disk.
        stack: Removes the temporary files at the end.
    """

    __slots__ = ("complete", "stack", "targets")

    def __init__(self, targets: tuple[Path, ...]) -> None:
        self.targets = targets
        self.complete: list[tuple[Path, Path]] = []
        self.stack = ExitStack()


_together: ContextVar[_Group | None] = ContextVar("gluonish_written_together", default=None)

_PROTOCOL = re.compile(r"(\w+)://")


def path_text(path: object, what: str) -> str:
    """Return a path, a str, bytes in the system's encoding, or an `os.PathLike`, as a str.

    Args:
        path: The argument.
        what: Function, and argument if needed, for the beginning of a message.

    Raises:
        ArgumentTypeError: The argument is not a path.
        ArgumentError: The path contains a NUL.
    """
    try:
        text = os.fsdecode(path)  # type: ignore[arg-type]  # raises for other types
    except TypeError:
        raise ArgumentTypeError(
            f"{what}: expected a path, as str, bytes or os.PathLike, got {path!r:.100}"
        ) from None
    if "\0" in text:
        raise ArgumentError(f"{what}: expected a path without NUL characters, got {text!r:.100}")
    return str(text)


def local_path(path: AnyPath, reader: str) -> str:
    """Return a path without its ``file://`` prefix.

    Args:
        path: Path of a file or a folder.
        reader: Function that uses the path, for the beginning of a message.

    Raises:
        NotSupportedError: The path has another protocol.
    """
    found = path_text(path, reader).removeprefix("file://")
    protocol = _PROTOCOL.match(found)
    if protocol:
        raise NotSupportedError(
            f"{reader}: expected a local path, got {found!r}; copy it to a disk, or mount it as a "
            f"folder: there is no client for {protocol[1]}"
        )
    return found


def open_to_read(path: AnyPath, reader: str) -> BinaryIO:
    """Open a file for reading bytes.

    Args:
        path: The file.
        reader: Function that reads it, for the beginning of a message.

    Raises:
        ArgumentTypeError: ``path`` is not a path.
        MissingFileError: There is no such file.
        FolderPathError: The path is a folder.
        OSError: The file cannot be opened.
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
    """Yield a binary file whose content replaces ``path`` when the ``with`` block succeeds, or
    when the enclosing block of `written_together` does.

    On any error, `KeyboardInterrupt` included, the temporary file is removed and ``path`` is
    unchanged. Permissions and symbolic links are preserved; a device or a pipe is written directly,
    because it cannot be replaced.

    Args:
        path: The file to write; its folder must exist.

    Raises:
        MissingFileError: The folder is missing.
        FolderPathError: ``path`` is a folder.
        OSError: The folder is not writable, or the disk is full; names ``path``.
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
        with ExitStack() as stack:
            temporary, file = stack.enter_context(_temporary_file(target))
            with file:
                if mode is not None:
                    temporary.chmod(stat.S_IMODE(mode))
                yield file
                file.flush()
                os.fsync(file.fileno())
            group = _together.get()
            if group is not None and target in group.targets:
                group.stack.push(stack.pop_all())
                group.complete.append((temporary, target))
                return
            temporary.replace(target)
    except BaseException as error:
        _name_file(error, target)
        raise
    _sync_folder(target.parent)


@contextmanager
def written_together(*paths: AnyPath) -> Iterator[None]:
    """Commit the files of `atomic_write` in the ``with`` block together when it succeeds.

    After an error in the block all are unchanged. If the content of the first file changes, it is
    removed before the others are renamed, and renamed last: a process that ends in between leaves
    no first file rather than one that does not match the others. Files that are not listed, for
    example those of a signal handler, are written as usual.

    Args:
        paths: The files; the first describes the others. Nested blocks with the same files join the
            outer block.

    Raises:
        OSError: A folder is not writable any more; names the file.
    """
    group = _Group(tuple(Path(os.path.realpath(path_text(path, "write"))) for path in paths))
    outer = _together.get()
    if outer is not None and set(group.targets) <= set(outer.targets):
        yield
        return
    with group.stack:
        try:
            _together.set(group)  # inside `try`: an interrupt may come right after
            yield
            _replace_targets(group)
        finally:
            _together.set(outer)


def _replace_targets(group: _Group) -> None:
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
    """Add the file name to a system error, such as a full disk."""
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
    """Like `temporary_file`, but errors name the target."""
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
    """Make renames in a folder durable; some systems cannot sync a folder."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
