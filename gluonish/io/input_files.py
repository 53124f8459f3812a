"""The files that a path of a native iterator names: one, several, or those of a folder."""

import os
import re

from gluonish.core.errors import ArgumentError, MissingFileError
from gluonish.core.files import local_path

__all__ = ["input_files"]

# What makes the last name of a path a pattern; a point alone is one of every ordinary name.
_PATTERN = re.compile(r"[*+?|^$()\[\]{}\\]")


def input_files(path: str, reader: str) -> list[str]:
    """Return the files that a path stands for, in the order in which they are read.

    A path may name a file; a folder, which stands for the files in it, sorted by name, without
    subfolders and hidden files; or files by a regular expression as its last component. Several
    paths may be joined with ``;``. A leading ``file://`` is ignored, and so is a trailing
    ``#name``, with which MXNet keeps a cached copy. If a file exists under the whole text, the
    path means that file, whatever characters it contains.

    Differences from MXNet: the files of a folder are sorted, and in a list of paths each must
    exist.

    Args:
        path: One path, or several joined with ``;``.
        reader: Class name of the reader, for error messages.

    Raises:
        MissingFileError: A file does not exist, or a folder contains no matching file.
        NotSupportedError: The path has a protocol other than ``file://``.
        ArgumentError: A regular expression is invalid.
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
        raise MissingFileError(f"{reader}: expected files that match {path!r}, got none")
    return [os.path.join(folder, name) for name in names]
