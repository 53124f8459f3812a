"""ImageRecordDataset: images and labels in a record file."""

import os
from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError, OperatorError
from gluonish.gluon.data.dataset import RecordFileDataset
from gluonish.gluon.data.vision.datasets.downloaded import Transform
from gluonish.io.shared_batch import over
from gluonish.ops.image.decoding import decode_image
from gluonish.recordio import unpack
from gluonish.recordio.record_buffer import RecordBuffer

__all__ = ["ImageRecordDataset"]


class ImageRecordDataset(RecordFileDataset):
    """The images of a record file.

    An element is (image, label): an NDArray (height, width, channels) of uint8 in RGB order, and
    the label of the record's header, a number or a float32 array.

    Args:
        filename: Path of the ``.rec`` file; its index is in the same folder, with the ending
            ``.idx``.
        flag: 1 to decode in color (three channels), 0 in gray (one channel).
        transform: Function called with image and label each time an element is accessed.

    Raises:
        MissingFileError: The file or its index does not exist.
        FileFormatError: The index is damaged; as an element is taken, its record is.

    A record whose image is broken raises an `OperatorError` that names it as it is taken.
    """

    def __init__(
        self,
        filename: str | os.PathLike[str],
        flag: int = 1,
        transform: Transform | None = None,
    ) -> None:
        super().__init__(filename)
        self._flag = flag
        self._transform = transform
        self._buffers: list[RecordBuffer] = []  # that no thread reads into now

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent to another process."""
        return {**self.__dict__, "_buffers": []}

    def __getitem__(self, idx: int) -> Any:
        try:
            buffer = self._buffers.pop()
        except IndexError:
            buffer = RecordBuffer()
        try:
            image, label = self._decoded(self._view(idx, buffer), idx)
        finally:
            self._buffers.append(buffer)
        return (image, label) if self._transform is None else self._transform(image, label)

    def _decoded(self, record: Any, idx: int) -> tuple[Any, Any]:
        """Return the image and the label in a record's bytes; errors name the record."""
        try:
            header, stored = unpack(record)
            raw = np.frombuffer(stored, np.uint8)
            return over(decode_image("ImageRecordDataset", raw, self._flag, True)), header.label
        except (FileFormatError, OperatorError) as error:
            key = self._record.keys[idx]
            raise type(error)(
                f"{error}, in record {key} at byte {self._record.idx[key]} of {self.filename}"
            ) from error

    def _view(self, idx: int, buffer: RecordBuffer) -> Any:
        """Return a record's bytes, which are valid until the buffer is used again."""
        record = self._record
        if not -len(record.keys) <= idx < len(record.keys):
            return self._read(idx)  # says what is wrong
        start = record.idx[record.keys[idx]]
        descriptor = record._open_for("read").fileno()
        return buffer.read(descriptor, start, lambda: self._read(idx))
