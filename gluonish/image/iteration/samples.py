"""Where an iterator's images come from: files that a list names, or a file of records."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.image.host_array import Array
from gluonish.image.image_list import given_images, listed_images
from gluonish.ndarray import NDArray
from gluonish.recordio import MXIndexedRecordIO, MXRecordIO

__all__ = [
    "check_choice",
    "check_image_shape",
    "checked_batch_size",
    "opened_records",
    "part_of",
    "put_label",
    "read_list",
]

Path = str | os.PathLike[str]


def opened_records(path_imgrec: Path | None, path_imgidx: Path | None) -> MXRecordIO | None:
    """Return an open file of records; None where there is no path.

    Raises:
        MissingFileError: A file does not exist.
        FileFormatError: The index holds a line that is none.
    """
    if path_imgrec is None:
        return None
    if path_imgidx is None:
        return MXRecordIO(path_imgrec, "r")
    return MXIndexedRecordIO(path_imgidx, path_imgrec, "r")


def read_list(
    name: str, path_imglist: Path | None, imglist: Any, dtype: Any
) -> dict[Any, tuple[Array, str]] | None:
    """Return labels and path of each image on a list by its key; None where there is no list.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: A line of it is none.
        ArgumentTypeError: An entry of ``imglist`` is none.
    """
    if path_imglist is not None:
        found = listed_images(path_imglist, name, dtype)
    elif imglist is not None:
        found = given_images(imglist, name, dtype)
    else:
        return None
    return {image.key: (image.labels, image.path) for image in found}


def part_of(name: str, keys: Sequence[Any], part_index: int, num_parts: int) -> list[Any]:
    """Return one of several parts of a sequence, which are of equal length.

    What does not fill another round of all parts is in none of them.

    Raises:
        ArgumentError: There is no such part.
    """
    if not 0 <= part_index < num_parts:
        raise ArgumentError(
            f"{name}: expected part_index from 0 to {num_parts - 1}, below num_parts, got "
            f"{part_index}"
        )
    length = len(keys) // num_parts
    return list(keys[part_index * length : (part_index + 1) * length])


def checked_batch_size(name: str, batch_size: int) -> int:
    """Return a number of samples in a batch.

    Raises:
        ArgumentTypeError: It is not a whole number.
        ArgumentError: It is below 1.
    """
    if isinstance(batch_size, bool) or not isinstance(batch_size, int | np.integer):
        raise ArgumentTypeError(
            f"{name}: expected a whole number as batch_size, got {batch_size!r}"
        )
    if batch_size < 1:
        raise ArgumentError(f"{name}: expected batch_size of at least 1, got {batch_size}")
    return int(batch_size)


def check_choice(name: str, word: str, given: Any, known: tuple[str, ...]) -> None:
    """Check an argument that has a few values.

    Raises:
        ArgumentError: It has another.
    """
    if given not in known:
        raise ArgumentError(f"{name}: expected {word} to be one of {known}, got {given!r}")


def check_image_shape(name: str, data_shape: Any) -> None:
    """Check the shape of images in a batch.

    Raises:
        ArgumentTypeError: It is not a tuple of whole numbers.
        ArgumentError: It is not (3, height, width), or a side is below 1.
    """
    whole = isinstance(data_shape, tuple | list) and all(
        isinstance(extent, int | np.integer) for extent in data_shape
    )
    if not whole:
        raise ArgumentTypeError(
            f"{name}: expected data_shape (3, height, width), got {data_shape!r}"
        )
    if len(data_shape) != 3 or data_shape[0] != 3 or min(data_shape) < 1:
        raise ArgumentError(
            f"{name}: expected data_shape (3, height, width), got {tuple(data_shape)}"
        )


def put_label(name: str, labels: Array, at: int, label: Any, where: str) -> None:
    """Put a sample's labels into those of a batch; one label fills several.

    Args:
        name: What does it, for errors.
        labels: (batch,) or (batch, labels), to be written to.
        at: Position in the batch.
        label: A number or an array.
        where: The sample, for errors.

    Raises:
        ArgumentError: The sample has another number of labels.
    """
    values = np.asarray(label.asnumpy() if isinstance(label, NDArray) else label).reshape(-1)
    wanted = labels[at].size
    if values.size not in (1, wanted):
        raise ArgumentError(
            f"{name}: expected {wanted} labels (label_width), got {values.size} in {where}"
        )
    labels[at] = values if labels.ndim > 1 else values[0]
