"""Files of arrays: `.params`, which ``nd.save`` writes, and MXNet 2.0's archives of that name.

A list file is a header of three 64-bit numbers (magic, 0, array count), the arrays, the name count
(0, or one for each array) and the names. All versions from 0.8 on are read; V2 is written, or V3 on
request.
"""

import io
import os
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

from gluonish.core.errors import ArgumentError
from gluonish.core.files import atomic_write, open_to_read
from gluonish.core.later import later
from gluonish.ndarray.array_record import (
    ArrayRecord,
    ByteReader,
    DenseRecord,
    SparseRecord,
    decode_record,
    encode_record,
    read_record,
    record_chunks,
)

if TYPE_CHECKING:
    from gluonish.ndarray import npz_file
else:
    npz_file = later("gluonish.ndarray.npz_file")

__all__ = [
    "ArrayRecord",
    "DenseRecord",
    "SparseRecord",
    "decode_record",
    "encode_record",
    "read_array_list",
    "write_array_list",
]

_LIST_MAGIC = 0x112
# Of an undefined V0 array, which is its rank 0 and nothing else; and of an empty name, which is its
# length.
_MIN_RECORD_NBYTES = 4
_MIN_NAME_NBYTES = 8

Source = str | os.PathLike[str] | bytes | bytearray | BinaryIO
Target = str | os.PathLike[str] | BinaryIO


def read_array_list(source: Source) -> tuple[list[ArrayRecord], list[str]]:
    """Read arrays, and their names where they have some.

    The first bytes tell the kind: a list file, an archive (``PK``), or a single array of NumPy's
    (``\\x93NUM``). Bytes after the last name of a list are ignored, as MXNet does.

    Args:
        source: Path, content, or a binary file, which is read from its current position to its end.

    Returns:
        The arrays in the order of the file, and as many names or none. Names need not be distinct.

    Raises:
        FileFormatError: The file is truncated, corrupt, or of another kind.
        OSError: The path cannot be read.
    """
    if isinstance(source, bytes | bytearray):
        return _read_any(io.BytesIO(source), "array file")
    if isinstance(source, str | os.PathLike):
        with open_to_read(source, "load") as file:
            return _read_any(file, os.fspath(source))
    name = str(getattr(source, "name", "array file"))
    if not source.seekable():
        source = io.BytesIO(source.read())
    return _read_any(source, name)


def _read_any(file: BinaryIO, name: str) -> tuple[list[ArrayRecord], list[str]]:
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    if head in (b"PK\x03\x04", b"PK\x05\x06"):
        return npz_file.read_npz(file, name)
    reader = ByteReader(file, name)
    if head == b"\x93NUM":
        return [DenseRecord(npz_file.read_npy(reader))], []
    return _read_list(reader)


def _read_list(reader: ByteReader) -> tuple[list[ArrayRecord], list[str]]:
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
    data = reader.take(length, "a name")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        reader.offset -= length
        raise reader.error("a name in UTF-8", data[:40]) from error


def write_array_list(
    target: Target,
    records: Sequence[ArrayRecord],
    names: Sequence[str] = (),
    *,
    numpy_shape: bool = False,
) -> None:
    """Write arrays as a list file; a path is replaced as a whole or left as it was.

    Args:
        target: Path, or a file open for writing bytes.
        records: The arrays.
        names: One for each array, or none at all.
        numpy_shape: Write V3 records, which know scalars but which MXNet reads under NumPy shape
            semantics only.

    Raises:
        ArgumentError: The number of names is wrong, a name is no text that UTF-8 can hold, or a
            record does not fit the version asked for.
        ArgumentTypeError: An array's dtype has no number in files.
        OSError: The file cannot be written.
    """
    if names and len(names) != len(records):
        raise ArgumentError(
            f"write_array_list: expected {len(records)} names or none, got {len(names)}"
        )
    if isinstance(target, str | os.PathLike):
        with atomic_write(target) as file:
            _write_list(file, records, names, numpy_shape=numpy_shape)
    else:
        _write_list(target, records, names, numpy_shape=numpy_shape)


def _write_list(
    file: BinaryIO, records: Sequence[ArrayRecord], names: Sequence[str], *, numpy_shape: bool
) -> None:
    encoded = [_encode_name(name) for name in names]
    file.write(struct.pack("<QQQ", _LIST_MAGIC, 0, len(records)))
    for record in records:
        for chunk in record_chunks(record, numpy_shape=numpy_shape):
            file.write(chunk)
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
