"""The image sources of an iterator: files in a list, or records."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.image.image_list import images_in_memory, listed_images
from gluonish.image.pixels import Array
from gluonish.ndarray import NDArray
from gluonish.recordio import MXIndexedRecordIO, MXRecordIO

Path = str | os.PathLike[str]


def open_records(path_imgrec: Path | None, path_imgidx: Path | None) -> MXRecordIO | None:
    """Open a record file, optionally with an index; return None without a path.

    Args:
        path_imgrec: Path of the record file, or None.
        path_imgidx: Path of the index, or None.

    Raises:
        MissingFileError: A file does not exist.
        FileFormatError: A line of the index is invalid.
    """
    if path_imgrec is None:
        return None
    if path_imgidx is None:
        return MXRecordIO(path_imgrec, "r")
    return MXIndexedRecordIO(path_imgidx, path_imgrec, "r")


def read_list(
    name: str, path_imglist: Path | None, imglist: Any, dtype: Any
) -> dict[Any, tuple[Array, str]] | None:
    """Read a list of images to a dict from key to (labels, path); None without a list.

    Args:
        name: Class name of the reader, for error messages.
        path_imglist: Path of a ``.lst`` file, or None.
        imglist: A list in memory, or None.
        dtype: Dtype of the labels.

    Raises:
        MissingFileError: The file does not exist.
        FileFormatError: A line of the file is invalid.
        ArgumentTypeError: An entry of ``imglist`` is invalid.
    """
    if path_imglist is not None:
        found = listed_images(path_imglist, name, dtype)
    elif imglist is not None:
        found = images_in_memory(imglist, name, dtype)
    else:
        return None
    return {image.key: (image.labels, image.path) for image in found}


def select_part(name: str, keys: Sequence[Any], part_index: int, num_parts: int) -> list[Any]:
    """Return one of ``num_parts`` parts of equal length; the last items may be in no part.

    Args:
        name: Class name of the caller, for error messages.
        keys: The sequence.
        part_index: Index of the part, from 0.
        num_parts: Number of parts.

    Raises:
        ArgumentError: ``part_index`` is out of range.
    """
    if not 0 <= part_index < num_parts:
        raise ArgumentError(
            f"{name}: expected part_index from 0 to {num_parts - 1}, below num_parts, got "
            f"{part_index}"
        )
    length = len(keys) // num_parts
    return list(keys[part_index * length : (part_index + 1) * length])


def checked_batch_size(name: str, batch_size: int) -> int:
    """Check that a batch size is an integer of at least 1, and return it.

    Raises:
        ArgumentTypeError: ``batch_size`` is not an integer.
        ArgumentError: ``batch_size`` is below 1.
    """
    if isinstance(batch_size, bool) or not isinstance(batch_size, int | np.integer):
        raise ArgumentTypeError(
            f"{name}: expected a whole number as batch_size, got {batch_size!r}"
        )
    if batch_size < 1:
        raise ArgumentError(f"{name}: expected batch_size of at least 1, got {batch_size}")
    return int(batch_size)


def check_choice(name: str, arg: str, value: Any, known: tuple[str, ...]) -> None:
    """Check an argument that has a fixed set of values.

    Args:
        name: Class name of the caller, for error messages.
        arg: Name of the argument.
        value: The argument.
        known: The allowed values.

    Raises:
        ArgumentError: The argument has none of these values.
    """
    if value not in known:
        raise ArgumentError(f"{name}: expected {arg} to be one of {known}, got {value!r}")


def check_image_shape(name: str, data_shape: Any) -> None:
    """Check the shape of images in a batch.

    Args:
        name: Class name of the caller, for error messages.
        data_shape: The shape.

    Raises:
        ArgumentTypeError: ``data_shape`` is not a tuple of integers.
        ArgumentError: ``data_shape`` is not (3, height, width), or a side is below 1.
    """
    is_valid = isinstance(data_shape, tuple | list) and all(
        isinstance(extent, int | np.integer) for extent in data_shape
    )
    if not is_valid:
        raise ArgumentTypeError(
            f"{name}: expected data_shape (3, height, width), got {data_shape!r}"
        )
    if len(data_shape) != 3 or data_shape[0] != 3 or min(data_shape) < 1:
        raise ArgumentError(
            f"{name}: expected data_shape (3, height, width), got {tuple(data_shape)}"
        )


def write_label(name: str, labels: Array, at: int, label: Any, where: str) -> None:
    """Store a sample's labels in a batch; a single label is broadcast.

    Args:
        name: Class name of the caller, for error messages.
        labels: Labels of the batch, (batch,) or (batch, labels), to store in.
        at: Index of the sample in the batch.
        label: The label, a number or an array.
        where: Description of the sample, for error messages.

    Raises:
        ArgumentError: The sample has the wrong number of labels.
    """
    values = np.asarray(label.asnumpy() if isinstance(label, NDArray) else label).reshape(-1)
    width = labels[at].size
    if values.size not in (1, width):
        raise ArgumentError(
            f"{name}: expected {width} labels (label_width), got {values.size} in {where}"
        )
    labels[at] = values if labels.ndim > 1 else values[0]
