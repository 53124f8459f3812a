"""Files in the IDX format."""

import struct

import numpy as np
import pytest

from gluonish.core.errors import FileFormatError
from gluonish.io.mnist_iter import read_idx


def test_array_of_any_extents_is_read_without_a_copy() -> None:
    values = np.arange(24, dtype=np.uint8)
    for shape in ((24,), (2, 12), (2, 3, 4), (4, 0)):
        content = b"\0\0\x08" + struct.pack(f">B{len(shape)}I", len(shape), *shape)
        content += values[: int(np.prod(shape))].tobytes()
        found = read_idx(content, "x")
        np.testing.assert_array_equal(found, values[: found.size].reshape(shape))
        assert found.dtype == np.uint8
        assert not found.flags.owndata


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected x to begin with 00 00 08"),
        (b"\0\0\x0d\1" + bytes(4), "expected x to begin with 00 00 08"),
        (b"\0\0\x08\0", "expected x to begin with 00 00 08"),
        (b"\0\0\x08\3" + bytes(4), "expected x to hold 3 sizes in bytes 4 to 16, got 8 bytes"),
        (b"\0\0\x08\1\0\0\0\5abc", r"expected x to hold \(5,\) values from byte 8 on, got 3"),
        (b"\0\0\x08\2" + b"\xff" * 8, "expected x to hold"),
    ],
)
def test_an_idx_file_that_is_none_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_idx(content, "x")
