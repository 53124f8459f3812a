"""ImageRecordDataset: images and labels in a record file."""

import os
from typing import Any

from gluonish.data.dataset import RecordFileDataset
from gluonish.data.vision.datasets.downloaded import Transform
from gluonish.image import imdecode
from gluonish.recordio import unpack

__all__ = ["ImageRecordDataset"]


class ImageRecordDataset(RecordFileDataset):
    """The images of a record file.

    An element is (image, label): an NDArray (height, width, channels) of uint8, red first, and the
    header's label, a number or a float32 array.

    Args:
        filename: The record file; its index is beside it, with ``.idx`` as ending.
        flag: 1 for three channels, 0 for one.
        transform: Called with image and label as each element is taken.

    Raises:
        MissingFileError: The file or its index does not exist.
        FileFormatError: The index is damaged.
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

    def __getitem__(self, idx: int) -> Any:
        header, stored = unpack(self._read(idx))
        image = imdecode(stored, self._flag)
        if self._transform is None:
            return image, header.label
        return self._transform(image, header.label)
