"""Lists of images (``.lst``): on each line a number, labels and a path, between tabs."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gluonish.core.dtype import FLOAT64
from gluonish.core.files import atomic_write
from gluonish.image.image_list import listed_images

__all__ = ["ImageEntry", "read_list", "write_list"]


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
    for image in listed_images(path, "im2rec", FLOAT64, lambda error: refused(str(error))):
        yield ImageEntry(int(image.key), tuple(image.labels.tolist()), image.path.strip())


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
