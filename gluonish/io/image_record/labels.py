"""Labels of image records, from their headers or from a list file."""

from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError
from gluonish.core.files import open_to_read
from gluonish.core.progress import progress_bar
from gluonish.io.text_lines import input_files
from gluonish.recordio import IRHeader, read_header
from gluonish.recordio.record_table import RecordFile

Array = np.ndarray[Any, Any]


def read_label_list(path: str, name: str, width: int) -> dict[int, Array]:
    """Read the labels of a list file, by image id.

    Args:
        path: Path of a text file with one line per image: id, labels and image path, separated by
            tabs.
        name: Class name of the reader, for error messages.
        width: Number of labels to read from each line; -1 for all.

    Raises:
        MissingFileError: The file does not exist.
        FileFormatError: A line cannot be parsed or has too few labels; names the line.
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
                expected = "labels" if width < 0 else f"{width} labels"
                raise FileFormatError(
                    f"{name}: expected tab-separated index, {expected} and path on line {number} "
                    f"of {path}, got {line!r:.80}"
                )
            found[key] = labels if width < 0 else labels[:width]
    return found


class LabelSource:
    """Looks up the labels of a record, in its header or in list files.

    Args:
        name: Class name of the iterator, for error messages.
        list_path: Path of list files, as for `input_files`, whose labels replace those of the
            records; empty for none.
        width: Number of labels of an image; -1 accepts any number.

    Raises:
        MissingFileError: A list file does not exist.
        FileFormatError: A line of a list file cannot be parsed.
    """

    def __init__(self, name: str, list_path: str, width: int) -> None:
        self._name = name
        self._path = list_path
        self._width = width
        self._listed: dict[int, Array] | None = None
        if list_path:
            self._listed = {}
            for file in input_files(list_path, name):
                self._listed |= read_label_list(file, name, width)

    def labels_of(self, header: IRHeader) -> Array:
        """Return the labels of a record, a float32 array.

        Raises:
            FileFormatError: The list does not contain the image, or the number of labels is wrong.
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
                f"{len(labels)}; set label_width, or path_imglist to read labels from a list"
            )
        return labels

    def longest_listed(self) -> int | None:
        """Return the largest number of labels in the list files; None without list files."""
        if self._listed is None:
            return None
        return max(map(len, self._listed.values()), default=0)


def longest_label(name: str, path: str, labels: LabelSource) -> int:
    """Return the largest number of labels of any image.

    Args:
        name: Class name of the iterator, for error messages.
        path: Path of the record files, as for `input_files`.
        labels: Source of the labels; if it has list files, the records are not read.

    Raises:
        MissingFileError: A file does not exist.
        FileFormatError: A file is damaged, or a label has the wrong length.
    """
    listed = labels.longest_listed()
    if listed is not None:
        return listed
    return max(_longest_label_of(file, labels) for file in input_files(path, name))


def _longest_label_of(path: str, labels: LabelSource) -> int:
    longest = 0
    with RecordFile(path) as file:
        offsets = file.scan().offsets.tolist()
        for offset in progress_bar(offsets, desc="labels", unit="record", delay=2):
            try:
                found = labels.labels_of(read_header(file, offset))
            except FileFormatError as error:
                raise FileFormatError(
                    f"{error}, in the record at byte {offset} of {path}"
                ) from error
            longest = max(longest, len(found))
    return longest
