"""MXNet's list files (``.params``).

A list file has a header of three 64-bit numbers (magic, 0, array count), the arrays, the name count
(0 or the array count) and the names. Record versions V0 to V3 can be read; V2 is written by
default, V3 for NumPy shapes.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.array_record import (
    ArrayRecord,
    DenseRecord,
    SparseRecord,
    read_record,
    record_chunks,
)
from gluonish.ndarray.byte_reader import ByteReader


class StoredArray(NamedTuple):
    """A lazily read array: in a file at a checked offset, or on a device and about to be written.

    Attributes:
        shape: The array's shape.
        dtype: Element type.
        read: Returns the values, while the file is open; they must not be modified.
        read_into: Writes the values into an array of the shape, without another copy; None if
            there is no such way.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Callable[[], Any]
    read_into: Callable[[Any], None] | None = None


# A record, or a lazy array.
Entry = StoredArray | DenseRecord | SparseRecord


def record_of(entry: Entry) -> DenseRecord | SparseRecord:
    """Return an entry as a record, reading a lazy array."""
    return DenseRecord(entry.read()) if isinstance(entry, StoredArray) else entry


_LIST_MAGIC = 0x112
# An undefined V0 array is only its rank, and an empty name only its length.
_MIN_RECORD_NBYTES = 4
_MIN_NAME_NBYTES = 8
LIST_START = struct.pack("<Q", _LIST_MAGIC)


def read_list(reader: ByteReader) -> tuple[list[ArrayRecord], list[str]]:
    """Read a list file; bytes after the last name are ignored, as in MXNet.

    Raises:
        FileFormatError: The file is truncated, corrupt, or has another format.
    """
    magic, _, count = reader.numbers("QQQ", "file header")
    if magic != _LIST_MAGIC:
        reader.offset -= 24
        raise reader.error(f"an array file, which begins with {_LIST_MAGIC:#x}", f"{magic:#x}")
    reader.require(count * _MIN_RECORD_NBYTES, f"{count} arrays")
    records = [read_record(reader) for _ in range(count)]
    (name_count,) = reader.numbers("Q", "name count")
    if name_count not in (0, count):
        raise reader.error(f"0 or {count} names", name_count)
    reader.require(name_count * _MIN_NAME_NBYTES, f"{name_count} names")
    return records, [_read_name(reader) for _ in range(name_count)]


def _read_name(reader: ByteReader) -> str:
    (length,) = reader.numbers("Q", "name length")
    data = reader.read(length, "a name")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        reader.offset -= length
        raise reader.error("a name in UTF-8", data[:40]) from error


def write_list(
    file: BinaryIO, arrays: Sequence[Entry], names: Sequence[str], *, numpy_shape: bool = False
) -> None:
    """Write a list file.

    Args:
        file: A file open for writing bytes.
        arrays: The arrays; lazy ones are read one at a time.
        names: The name of each array; empty if arrays have no names.
        numpy_shape: Write V3 records, which support scalars but which MXNet reads under NumPy shape
            semantics only.

    Raises:
        ArgumentError: A name cannot be encoded in UTF-8, or the version does not support a record.
        ArgumentTypeError: The format does not support the dtype of an array.
        OSError: The file cannot be written.
    """
    encoded = [_encode_name(name) for name in names]
    file.write(struct.pack("<QQQ", _LIST_MAGIC, 0, len(arrays)))
    for i, array in enumerate(arrays):
        try:
            for chunk in record_chunks(record_of(array), numpy_shape=numpy_shape):
                file.write(chunk)
        except ArgumentTypeError as error:
            which = repr(names[i]) if names else f"array {i}"
            raise ArgumentTypeError(f"{error} in {which}; save it as .safetensors") from error
    file.write(struct.pack("<Q", len(encoded)))
    for name in encoded:
        file.write(struct.pack("<Q", len(name)) + name)


def _encode_name(name: str) -> bytes:
    try:
        return name.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ArgumentError(
            f"write_array_list: expected names that UTF-8 can hold, got {name!r}"
        ) from error
