"""Lists of images with labels: `.lst` files, and lists in memory."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentTypeError, FileFormatError
from gluonish.core.files import open_to_read
from gluonish.image.pixels import Array
from gluonish.ndarray import NDArray

_MIN_COLUMNS = 3


class ListedImage(NamedTuple):
    """An image in a list.

    Attributes:
        key: Number in a `.lst` file; for a list in memory, the position as text, from "1".
        labels: (labels,), at least one.
        path: Path of the file, relative to the folder of images.
    """

    key: int | str
    labels: Array
    path: str


def listed_images(
    path: str | os.PathLike[str],
    reader: str,
    dtype: Any,
    on_error: Callable[[FileFormatError], None] | None = None,
) -> Iterator[ListedImage]:
    """Yield the images of a `.lst` file: index, labels and path on each line, separated by tabs.

    Args:
        path: Path of the list.
        reader: Class name of the reader, for error messages.
        dtype: Dtype of the labels.
        on_error: Function called with the error of each invalid line, which is then skipped; by
            default the error is raised.

    Raises:
        MissingFileError: The file does not exist.
        FileFormatError: A line is invalid; the error names the line.
    """
    with open_to_read(path, reader) as file:
        for number, stored in enumerate(file, 1):
            line = stored.decode("utf-8", "surrogateescape").strip()
            if not line:
                continue
            try:
                image = _listed_image(line, dtype)
            except (ValueError, OverflowError) as cause:
                error = FileFormatError(
                    f"{reader}: expected tab-separated index, labels and path on line {number} of "
                    f"{os.fspath(path)!r}, got {line!r:.80} ({cause!s:.80})"
                )
                if on_error is None:
                    raise error from None
                on_error(error)
            else:
                yield image


def _listed_image(line: str, dtype: Any) -> ListedImage:
    columns = line.split("\t")
    if len(columns) < _MIN_COLUMNS:
        raise ValueError(f"{len(columns)} columns")
    labels = np.array([float(label) for label in columns[1:-1]], dtype)
    return ListedImage(int(columns[0]), labels, columns[-1])


def images_in_memory(imglist: Any, reader: str, dtype: Any) -> Iterator[ListedImage]:
    """Yield the images of a list of ``[label, ..., path]``, where a label may be a list of labels.

    Args:
        imglist: The list.
        reader: Class name of the reader, for error messages.
        dtype: Dtype of the labels.

    Raises:
        ArgumentTypeError: ``imglist`` is not a list, or an entry is invalid.
    """
    if not isinstance(imglist, Sequence) or isinstance(imglist, str):
        raise ArgumentTypeError(
            f"{reader}: expected a list of [label, path] as imglist, got {imglist!r:.80}"
        )
    for number, entry in enumerate(imglist, 1):
        try:
            *labels, path = entry
            if len(labels) == 1:
                (labels,) = labels
            if isinstance(labels, NDArray):
                labels = labels.asnumpy()
            values = np.array(labels, dtype).reshape(-1)
            if not values.size:
                raise ValueError
            yield ListedImage(str(number), values, os.fspath(path))
        except (TypeError, ValueError):
            raise ArgumentTypeError(
                f"{reader}: expected labels and a path as entry {number} of imglist, got "
                f"{entry!r:.80}"
            ) from None
