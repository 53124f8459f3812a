"""Labels of image records: from the header of each, or from a list of images."""

import os
from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError
from gluonish.core.files import open_to_read
from gluonish.recordio import IRHeader, unpack
from gluonish.recordio.framing import HEAD_NBYTES, MARK_BYTES, PART_LIMIT
from gluonish.recordio.record_table import RecordFile

__all__ = ["LabelSource", "read_label_list", "widest_label"]

Array = np.ndarray[Any, Any]

# Bytes at the start of a record that most often hold its header and labels; the image is not read.
_LABEL_NBYTES = 1 << 12
_MOST_HEADER = 64


def read_label_list(path: str | os.PathLike[str], name: str, width: int) -> dict[int, Array]:
    """Return the labels of each image of a list, by the image's number.

    Args:
        path: A line for each image: number, labels, and path of the image, between tabs.
        name: What wants to read it, for messages.
        width: How many labels to take of each; -1 for all.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: A line is none, or has too few labels; names it.
    """
    found: dict[int, Array] = {}
    with open_to_read(path, name) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            columns = line.rstrip(b"\r\n").split(b"\t")
            try:
                labels = np.array([float(column) for column in columns[1:-1]], np.float32)
                key = int(columns[0])
            except ValueError:
                labels, key = np.zeros(0, np.float32), -1
            if not len(labels) or len(labels) < width or key < 0:
                wanted = "labels" if width < 0 else f"{width} labels"
                raise FileFormatError(
                    f"{name}: expected number, {wanted} and path between tabs on line {number} of "
                    f"{os.fspath(path)}, got {line!r:.80}"
                )
            found[key] = labels if width < 0 else labels[:width]
    return found


class LabelSource:
    """Finds the labels of a record.

    Args:
        name: The iterator, for messages.
        list_path: Path of a list of images, whose labels count instead of those of the records;
            empty for none.
        width: How many labels an image has; -1 for any number.

    Raises:
        MissingFileError: There is no such list.
        FileFormatError: A line of it is none.
    """

    def __init__(self, name: str, list_path: str, width: int) -> None:
        self._name = name
        self._path = list_path
        self._width = width
        self._listed = read_label_list(list_path, name, width) if list_path else None

    def of(self, header: IRHeader) -> Array:
        """Return the labels of a record, a float32 array.

        Args:
            header: Of the record.

        Raises:
            FileFormatError: The list does not have the image, or there are more or fewer labels.
        """
        if self._listed is not None:
            listed = self._listed.get(header.id)
            if listed is None:
                raise FileFormatError(
                    f"{self._name}: expected a line for image {header.id} in {self._path}, got none"
                )
            return listed
        labels = np.array(header.label, np.float32, ndmin=1)
        if self._width >= 0 and len(labels) != self._width:
            raise FileFormatError(
                f"{self._name}: expected {self._width} labels of image {header.id}, got "
                f"{len(labels)}; set label_width, or path_imglist for labels of a list"
            )
        return labels

    def widest_listed(self) -> int | None:
        """Return the largest number of labels in the list; None where there is no list."""
        if self._listed is None:
            return None
        return max(map(len, self._listed.values()), default=0)


def widest_label(name: str, path: str, labels: LabelSource) -> int:
    """Return the largest number of labels that an image of a file has.

    Args:
        name: The iterator, for messages.
        path: The record file.
        labels: Where labels come from; with a list the file is not read.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: It is damaged, or a label has another width than it must.
    """
    from tqdm import tqdm

    listed = labels.widest_listed()
    if listed is not None:
        return listed
    widest = 0
    with RecordFile(path) as file, open_to_read(path, name) as stored:
        places = file.scan()
        progress = tqdm(places.offsets.tolist(), desc="labels", unit="record", delay=2)
        for offset, length in zip(progress, places.lengths.tolist(), strict=True):
            stored.seek(offset)
            head, start = stored.read(HEAD_NBYTES), stored.read(min(length, _LABEL_NBYTES))
            is_cut = int.from_bytes(head[len(MARK_BYTES) :], "little") >= PART_LIMIT
            if is_cut or 4 * int.from_bytes(start[:4], "little") > _LABEL_NBYTES - _MOST_HEADER:
                start = file.read(offset)
            try:
                found = labels.of(unpack(start)[0])
            except FileFormatError as error:
                raise FileFormatError(
                    f"{error}, in the record at byte {offset} of {path}"
                ) from error
            widest = max(widest, len(found))
    return widest
