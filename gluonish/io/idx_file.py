"""The IDX format: bytes after a magic number and a big-endian shape."""

import struct
from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError
from gluonish.core.file_kind import HEAD_NBYTES, found_text

_HEAD_NBYTES = 4
_UNSIGNED_BYTES = b"\0\0\x08"


def read_idx(content: bytes, name: str) -> np.ndarray[Any, Any]:
    """Parse a file in the IDX format; the uint8 array shares the memory of ``content``.

    Args:
        content: Content of the file.
        name: Name of the file, for error messages.

    Raises:
        FileFormatError: The file has another format, is truncated, or is too long.
    """
    axes = content[3] if content[:3] == _UNSIGNED_BYTES and len(content) > 3 else 0
    start = _HEAD_NBYTES * (1 + axes)
    if not axes:
        raise FileFormatError(
            f"read_idx: expected {name} to begin with 00 00 08 and the number of axes at byte 0, "
            f"got {found_text(content[:HEAD_NBYTES])}"
        )
    if len(content) < start:
        raise FileFormatError(
            f"read_idx: expected {name} to hold {axes} sizes in bytes {_HEAD_NBYTES} to {start}, "
            f"got {len(content)} bytes in all; the file is truncated: download it again"
        )
    shape = struct.unpack(f">{axes}I", content[_HEAD_NBYTES:start])
    nbytes = len(content) - start
    if nbytes != np.prod(shape, dtype=object):
        raise FileFormatError(
            f"read_idx: expected {name} to hold {shape!r:.200} values from byte {start} on, got "
            f"{nbytes}"
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
