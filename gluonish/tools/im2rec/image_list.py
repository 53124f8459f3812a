"""Lists of images (``.lst``): on each line a number, labels and a path, between tabs."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gluonish.core.files import atomic_write, open_to_read

__all__ = ["ImageEntry", "read_list", "write_list"]

_LEAST_COLUMNS = 3


class ImageEntry(NamedTuple):
    """An image on a list.

    Attributes:
        number: Its number, which becomes the key and the id of its record.
        labels: Its labels, one or more.
        path: Its file, relative to the folder of images.
    """

    number: int
    labels: tuple[float, ...]
    path: str


def read_list(path: str | os.PathLike[str], refused: Callable[[str], None]) -> Iterator[ImageEntry]:
    """Give the images of a list, those lines that are none left out.

    Args:
        path: The list.
        refused: Called with a message for each line that is left out. Empty lines are left out
            silently.

    Raises:
        MissingFileError: There is no such file.
    """
    with open_to_read(path, "im2rec") as file:
        for number, stored in enumerate(file, 1):
            line = stored.decode("utf-8", "surrogateescape").strip()
            if not line:
                continue
            columns = [column.strip() for column in line.split("\t")]
            try:
                if len(columns) < _LEAST_COLUMNS:
                    raise ValueError(f"{len(columns)} columns")
                labels = tuple(map(float, columns[1:-1]))
                yield ImageEntry(int(columns[0]), labels, columns[-1])
            except ValueError as error:
                refused(
                    f"im2rec: expected number, labels and path between tabs on line {number} of "
                    f"{os.fspath(path)}, got {line!r:.80} ({error!s:.80})"
                )


def write_list(path: str | os.PathLike[str], entries: Iterable[ImageEntry]) -> None:
    """Write a list, as a whole or not at all.

    Args:
        path: The file.
        entries: The images, in the order of the lines.

    Raises:
        MissingFileError: The file's folder is missing.
        OSError: The file cannot be written.
    """
    with atomic_write(path) as file:
        for entry in entries:
            labels = "".join(f"{label:f}\t" for label in entry.labels)
            line = f"{entry.number}\t{labels}{entry.path}\n"
            file.write(line.encode("utf-8", "surrogateescape"))
