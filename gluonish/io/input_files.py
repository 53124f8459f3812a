"""The files that a path of a native iterator names: one, several, or those of a folder."""

import os
import re

from gluonish.core.errors import ArgumentError, MissingFileError
from gluonish.core.files import local_path

__all__ = ["input_files"]

# What makes the last name of a path a pattern; a point alone is one of every ordinary name.
_PATTERN = re.compile(r"[*+?|^$()\[\]{}\\]")


def input_files(path: str, reader: str) -> list[str]:
    """Return the files that a path names, in the order in which they are read.

    A path is that of a file; or of a folder, for the files in it by name, without folders and
    hidden files; or has a regular expression as its last name, for the files with such names; or is
    several of these with ``;`` between them. ``file://`` at the beginning does not count, nor does
    ``#name`` at the end, under which MXNet keeps a copy of what it read; the system's memory of
    files does that. What exists under the whole text is that, whatever characters it has.

    Otherwise than in MXNet the files of a folder are in order, and one of several paths that names
    nothing is an error too.

    Args:
        path: One or several.
        reader: What reads them, to begin error messages with.

    Raises:
        MissingFileError: There is no such file, or none in the folder.
        NotSupportedError: It is of another protocol than ``file://``.
        ArgumentError: A regular expression is none.
    """
    if os.path.exists(path):
        return _files_of(path, reader)
    without_copy = path.rpartition("#")[0] if "#" in path else path
    parts = [part for part in without_copy.split(";") if part]
    return [file for part in parts or [path] for file in _files_of(part, reader)]


def _files_of(path: str, reader: str) -> list[str]:
    path = local_path(path, reader)
    if os.path.isdir(path):
        return _matching(path, "", path, reader)
    if os.path.exists(path):
        return [path]
    folder, name = os.path.split(path)
    if _PATTERN.search(name) and os.path.isdir(folder or "."):
        return _matching(folder, name, path, reader)
    raise MissingFileError(f"{reader}: expected an existing file, got {path!r}")


def _matching(folder: str, pattern: str, path: str, reader: str) -> list[str]:
    """Return the files of a folder whose names match, by name; all that are not hidden for ''."""
    try:
        matches = re.compile(pattern or r"[^.].*").fullmatch
    except re.error as error:
        raise ArgumentError(
            f"{reader}: expected an existing file, or a regular expression of names, got {path!r} "
            f"({error})"
        ) from None
    with os.scandir(folder or ".") as entries:
        names = sorted(entry.name for entry in entries if matches(entry.name) and entry.is_file())
    if not names:
        raise MissingFileError(f"{reader}: expected files in {folder!r}, got none as {path!r} says")
    return [os.path.join(folder, name) for name in names]
