"""Image records: a header with labels before an image as it is stored in a file."""

import os
import struct
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError
from gluonish.ops.image.codec import decode, encode
from gluonish.recordio.record_table import RecordFile

__all__ = ["IRHeader", "pack", "pack_img", "read_header", "unpack", "unpack_img"]

_FIELDS = struct.Struct("<IfQQ")
# As much of a record as most often holds the header and all labels.
_HEADER_NBYTES = 1 << 12

Array = np.ndarray[Any, Any]


class IRHeader(NamedTuple):
    """The header of an image record.

    Args:
        flag: How many labels lie behind the header; 0 where ``label`` is the only one.
        label: A number, or an array of them.
        id: Number of the image, below 2^64.
        id2: Another number for it, usually 0.
    """

    flag: int
    label: Any
    id: int
    id2: int


def pack(header: IRHeader | tuple[Any, ...], s: bytes) -> bytes:
    """Return the record of a header and the bytes behind it.

    Args:
        header: Its flag is not read: a number as label makes it 0, an array the number of labels.
        s: The bytes, such as those of an image file.

    Raises:
        ArgumentError: A field is out of range, or labels are no numbers.
    """
    header = IRHeader(*header)
    labels = b""
    if isinstance(header.label, int | float | np.number):
        header = header._replace(flag=0)
    else:
        array = _labels(header.label)
        labels = array.tobytes()
        header = header._replace(flag=array.size, label=0)
    try:
        return _FIELDS.pack(*header) + labels + s
    except (struct.error, OverflowError) as error:
        raise ArgumentError(
            f"pack: expected id and id2 from 0 to 2^64 - 1 and a float32 label, got {header} "
            f"({error})"
        ) from error


def _labels(given: Any) -> Array:
    try:
        return np.asarray(given.asnumpy() if hasattr(given, "asnumpy") else given, dtype="<f4")
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"pack: expected a label of numbers, got {given!r}") from error


def unpack(s: bytes) -> tuple[IRHeader, bytes]:
    """Return the header of a record and the bytes behind it.

    Args:
        s: An image record.

    Returns:
        The header, whose label is a number where its flag is 0, else a float32 array of as many
        labels; and the bytes.

    Raises:
        FileFormatError: The record is too short for its header and labels.
    """
    if len(s) < _FIELDS.size:
        raise FileFormatError(
            f"unpack: expected a header of {_FIELDS.size} bytes, got a record of {len(s)}"
        )
    header = IRHeader(*_FIELDS.unpack_from(s))
    if not header.flag:
        return header, s[_FIELDS.size :]
    end = _FIELDS.size + 4 * header.flag
    if len(s) < end:
        raise FileFormatError(
            f"unpack: expected {header.flag} labels in {end} bytes, got a record of {len(s)}"
        )
    labels = np.frombuffer(s, "<f4", header.flag, _FIELDS.size).copy()
    return header._replace(label=labels), s[end:]


def read_header(file: RecordFile, offset: int) -> IRHeader:
    """Return the header of a record in a file, without reading its image.

    Args:
        file: The records.
        offset: The byte at which the record begins.

    Returns:
        As `unpack` has it.

    Raises:
        FileFormatError: No record begins there, or it is too short for its header and labels.
    """
    start = file.read_start(offset, _HEADER_NBYTES)
    if 4 * int.from_bytes(start[:4], "little") > _HEADER_NBYTES - _FIELDS.size:
        start = file.read(offset)
    return unpack(start)[0]


def pack_img(
    header: IRHeader | tuple[Any, ...], img: Array, quality: int = 95, img_fmt: str = ".jpg"
) -> bytes:
    """Return the record of a header and an image, which is encoded.

    Args:
        header: As for `pack`.
        img: (height, width) or (height, width, channels), uint8; channels are blue, green, red, as
            OpenCV has them.
        quality: For JPEG 1 to 100; for PNG the effort to make it small, 0 to 9.
        img_fmt: ``".jpg"``, ``".png"``, or what else OpenCV or Pillow encodes.

    Raises:
        ArgumentTypeError: ``img`` is no NumPy array.
        OperatorError: The format is not known, or does not hold such an image.
    """
    if not isinstance(img, np.ndarray):
        raise ArgumentTypeError(
            "pack_img: expected a NumPy array (height, width, channels) in the order blue, green, "
            f"red, got {type(img).__name__}"
        )
    if img.dtype.kind == "f":
        img = np.clip(np.rint(img), 0, 255).astype(np.uint8)
    return pack(header, encode("pack_img", img, os.fspath(img_fmt), quality))


def unpack_img(s: bytes, iscolor: int = -1) -> tuple[IRHeader, Array]:
    """Return the header of a record and its image.

    Args:
        s: An image record.
        iscolor: 0 for one channel, 1 for three, -1 for what is stored.

    Returns:
        The header, and the image: (height, width) for gray ones, else (height, width, channels) in
        the order blue, green, red, as OpenCV has them.

    Raises:
        FileFormatError: The record is too short for its header and labels.
        OperatorError: What is behind them is no image that is known.
    """
    header, stored = unpack(s)
    return header, decode("unpack_img", np.frombuffer(stored, np.uint8), iscolor)
