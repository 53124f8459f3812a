"""One image's record: its file as it is, or read, cropped, resized and encoded again."""

import os
from typing import NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.files import open_to_read
from gluonish.ops.image.codec import AS_STORED, COLOR, GRAY, decode
from gluonish.ops.image.resampling import resample
from gluonish.recordio import IRHeader, pack, pack_img
from gluonish.recordio.image_record import Array
from gluonish.tools.im2rec.image_list import ImageEntry

__all__ = ["COLORS", "ENCODINGS", "Packing", "pack_entry"]

COLORS = (AS_STORED, GRAY, COLOR)
ENCODINGS = (".jpg", ".png")
_LINEAR = 1
_LARGEST_QUALITY = 100
_LARGEST_PNG_EFFORT = 9


class Packing(NamedTuple):
    """What becomes of an image on its way into a record.

    Attributes:
        pass_through: Whether its file is taken as it is, and all else but the labels is not read.
        resize: New length of the shorter side in pixels, by linear interpolation; 0 keeps the size.
        center_crop: Whether the square in the middle is cut out, before resizing.
        quality: For JPEG 1 to 100; for PNG the effort to make it small, where more than 9 is 9.
        color: 1 for three channels, 0 for one, -1 for what is stored, alpha and 16 bits included.
        encoding: ``.jpg`` or ``.png``.
        pack_label: Whether all labels of a list with several go into the record, else the first.
    """

    pass_through: bool = False
    resize: int = 0
    center_crop: bool = False
    quality: int = 95
    color: int = COLOR
    encoding: str = ".jpg"
    pack_label: bool = False

    def check(self) -> None:
        """Refuse settings that no image can be packed with.

        Raises:
            ArgumentError: One is out of range.
        """
        if self.resize < 0:
            raise ArgumentError(f"im2rec: expected resize of 0 or more pixels, got {self.resize}")
        if not 0 <= self.quality <= _LARGEST_QUALITY:
            raise ArgumentError(
                f"im2rec: expected quality from 0 to {_LARGEST_QUALITY}, got {self.quality}"
            )
        if self.color not in COLORS or self.encoding not in ENCODINGS:
            raise ArgumentError(
                f"im2rec: expected color in {COLORS} and encoding in {ENCODINGS}, got "
                f"{self.color} and {self.encoding!r}"
            )


def pack_entry(entry: ImageEntry, root: str | os.PathLike[str], packing: Packing) -> bytes:
    """Return the record of an image on a list.

    Args:
        entry: The image.
        root: The folder that its path is relative to.
        packing: What becomes of it.

    Raises:
        OperatorError: Its file is no image that is known, or it cannot be encoded so.
        ArgumentError: Its number is out of range.
        OSError: Its file cannot be read.
    """
    path = os.path.join(root, entry.path)
    with open_to_read(path, "image") as file:
        stored = file.read()
    first, *others = entry.labels
    several = packing.pack_label and others
    label = np.array(entry.labels, np.float32) if several else first
    header = IRHeader(0, label, entry.number, 0)
    if packing.pass_through:
        return pack(header, stored)
    image = decode("image", np.frombuffer(stored, np.uint8), packing.color)
    if packing.center_crop:
        image = _centre(image)
    if packing.resize:
        image = _resized(image, packing.resize)
    quality = packing.quality
    if packing.encoding == ".png":
        quality = min(quality, _LARGEST_PNG_EFFORT)
    return pack_img(header, image, quality, packing.encoding)


def _centre(image: Array) -> Array:
    """Return the square in the middle."""
    height, width = image.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return image[top : top + side, left : left + side]


def _resized(image: Array, side: int) -> Array:
    """Return the image with its shorter side that long."""
    height, width = image.shape[:2]
    new = (side * height // width, side) if height > width else (side, side * width // height)
    made = np.empty((*new, *image.shape[2:]), image.dtype)
    channels = made[..., None] if made.ndim == 2 else made
    resample(np, channels, image[..., None] if image.ndim == 2 else image, _LINEAR)
    return made
