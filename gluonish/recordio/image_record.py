"""Image records: a header with labels, and an encoded image."""

import os
import struct
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError
from gluonish.ops.image.codec import decode, encode
from gluonish.recordio.record_table import RecordFile

_FIELDS = struct.Struct("<IfQQ")
# Size that usually contains the header and all labels.
_HEADER_NBYTES = 1 << 12

Array = np.ndarray[Any, Any]


class IRHeader(NamedTuple):
    """The header of an image record, a named tuple.

    Args:
        flag: Number of labels stored after the header; 0 if ``label`` is a single number.
        label: A number, or an array of numbers.
        id: Id of the image, below 2^64.
        id2: A second id, usually 0.
    """

    flag: int
    label: Any
    id: int
    id2: int


def pack(header: IRHeader | tuple[Any, ...], s: bytes) -> bytes:
    """Combine a header and a byte string into a record.

    Args:
        header: The `IRHeader`. Its flag is ignored: a single number as label sets it to 0, an array
            to the number of labels.
        s: Content of the record, such as an encoded image.

    Raises:
        ArgumentError: A field of the header is out of range, or the labels are not numbers.

    Example:
        >>> import gluonish as mx
        >>> record = mx.recordio.pack(mx.recordio.IRHeader(0, 3.0, 7, 0), b"content")
        >>> mx.recordio.unpack(record)
        (IRHeader(flag=0, label=3.0, id=7, id2=0), b'content')
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


def _labels(label: Any) -> Array:
    try:
        return np.asarray(label.asnumpy() if hasattr(label, "asnumpy") else label, dtype="<f4")
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"pack: expected a label of numbers, got {label!r}") from error


def unpack(s: bytes) -> tuple[IRHeader, bytes]:
    """Split a record into its header and its content.

    Args:
        s: The record, from `pack`.

    Returns:
        The `IRHeader`, whose label is a number if its flag is 0, else a float32 array of ``flag``
        labels; and the content, bytes.

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
    """Read the header of an image record in a file, without the image.

    Args:
        file: The record file.
        offset: Offset in bytes at which the record begins.

    Returns:
        The `IRHeader`; see `unpack`.

    Raises:
        FileFormatError: No record begins there, or it ends within its header or labels.
    """
    start = file.read_start(offset, _HEADER_NBYTES)
    if 4 * int.from_bytes(start[:4], "little") > _HEADER_NBYTES - _FIELDS.size:
        start = file.read(offset)
    return unpack(start)[0]


def pack_img(
    header: IRHeader | tuple[Any, ...], img: Array, quality: int = 95, img_fmt: str = ".jpg"
) -> bytes:
    """Encode an image, and combine it with a header into a record.

    Args:
        header: The `IRHeader`, as for `pack`.
        img: uint8 array (height, width) or (height, width, channels), channels in OpenCV's order
            blue, green, red.
        quality: For JPEG the quality, 1 to 100; for PNG the compression level, 0 to 9.
        img_fmt: ``".jpg"``, ``".png"``, or another ending that OpenCV or Pillow can encode.

    Raises:
        ArgumentTypeError: ``img`` is not a NumPy array.
        OperatorError: The format is unknown, or does not support the image.
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
    """Split a record into its header and the decoded image.

    Args:
        s: The record, from `pack_img`.
        iscolor: 0 decodes to gray, 1 to three channels, -1 to the stored channels.

    Returns:
        The `IRHeader`, and the image: uint8 (height, width) if gray, else (height, width, channels)
        with channels in OpenCV's order blue, green, red.

    Raises:
        FileFormatError: The record is too short for its header and labels.
        OperatorError: The content is not an image in a known format.
    """
    header, stored = unpack(s)
    return header, decode("unpack_img", np.frombuffer(stored, np.uint8), iscolor)
