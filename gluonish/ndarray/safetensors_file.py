"""The safetensors format: a JSON header with shapes and offsets, then the values.

The safetensors package (0.8.0 was tried) is not used: its NumPy reader does not support float8,
accepts duplicate names in a header, and reads through a mapping, so that a program that truncates
the file ends the process by SIGBUS; its errors name neither the file, the byte nor the tensor.
"""

import math
import mmap
from collections.abc import Mapping
from functools import partial
from typing import Any, BinaryIO, NamedTuple

import ml_dtypes
import numpy as np

from gluonish.core.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT8, INT32, INT64, UINT8
from gluonish.core.errors import FileFormatError
from gluonish.core.json_text import parse_object
from gluonish.ndarray.byte_reader import MAX_RANK, ByteReader
from gluonish.ndarray.list_file import StoredArray

# The format's own limit; a header has some 150 bytes for each tensor.
MAX_HEADER_NBYTES = 100_000_000
METADATA = "__metadata__"
# The format's supported types; complex numbers and types of 4 and 6 bits are not.
DTYPES: Mapping[str, np.dtype[Any]] = {
    "F64": FLOAT64,
    "F32": FLOAT32,
    "F16": FLOAT16,
    "BF16": BFLOAT16,
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "F8_E8M0": np.dtype(ml_dtypes.float8_e8m0fnu),
    "F8_E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "F8_E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "I64": INT64,
    "I32": INT32,
    "I16": np.dtype(np.int16),
    "I8": INT8,
    "U64": np.dtype(np.uint64),
    "U32": np.dtype(np.uint32),
    "U16": np.dtype(np.uint16),
    "U8": UINT8,
    "BOOL": BOOL,
}


class Safetensors(NamedTuple):
    """The content of a safetensors file.

    Attributes:
        arrays: By name, in the header's order; they can be read while the file is open or mapped.
        metadata: The header's metadata.
    """

    arrays: dict[str, StoredArray]
    metadata: dict[str, str]


def read_safetensors(file: BinaryIO, name: str, memory: mmap.mmap | None = None) -> Safetensors:
    """Read the header of a safetensors file.

    Args:
        file: The file; it must stay open while arrays are read.
        name: Name in error messages.
        memory: The file as mapped by `private_map`, for large arrays; None to read them.

    Raises:
        FileFormatError: The header is too long or malformed, or tensors overlap, leave gaps or
            exceed the file.
    """
    reader = ByteReader(file, name, memory, 0)
    (length,) = reader.numbers("Q", "header length")
    if length > MAX_HEADER_NBYTES:
        reader.offset -= 8
        raise reader.error(f"a header of up to {MAX_HEADER_NBYTES} bytes", length)
    header = parse_object(reader.read(length, "header"), name, "a JSON header", 8)
    start, total = reader.offset, reader.remaining
    metadata = _metadata(header.pop(METADATA, {}), name)
    spans: list[tuple[int, int, str]] = []
    arrays = {}
    for key, entry in header.items():
        shape, dtype, begin, end = _entry(entry, f"{name}: tensor {key!r:.100}")
        spans.append((begin, end, key))
        at = start + begin
        read = partial(_read, reader, at, shape, dtype)
        into = partial(_read_into, reader, at) if memory is None and dtype != BOOL else None
        arrays[key] = StoredArray(shape, dtype, read, into)
    _check_spans(spans, start, total, name)
    return Safetensors(arrays, metadata)


def _metadata(found: Any, name: str) -> dict[str, str]:
    if isinstance(found, dict) and all(isinstance(value, str) for value in found.values()):
        return found
    raise FileFormatError(
        f"{name}: expected text by name in {METADATA} of the header at byte 8, got {found!r:.60}"
    )


def _entry(entry: Any, what: str) -> tuple[tuple[int, ...], np.dtype[Any], int, int]:
    """Return shape, dtype, begin and end of a tensor, after checking that they agree."""
    fields = entry if isinstance(entry, dict) else {}
    dtype = DTYPES.get(fields["dtype"]) if isinstance(fields.get("dtype"), str) else None
    if dtype is None:
        known = ", ".join(DTYPES)
        raise FileFormatError(
            f"{what}: expected a dtype of {known}, got {fields.get('dtype')!r:.60}"
        )
    shape = _integers(fields.get("shape"), f"{what}: expected a shape")
    if len(shape) > MAX_RANK:
        raise FileFormatError(f"{what}: expected up to {MAX_RANK} axes, got {len(shape)}")
    offsets = _integers(fields.get("data_offsets"), f"{what}: expected data_offsets")
    nbytes = math.prod(shape) * dtype.itemsize
    if len(offsets) != 2 or offsets[1] - offsets[0] != nbytes:
        raise FileFormatError(
            f"{what}: expected data_offsets of {nbytes} bytes for {dtype} {shape}, got "
            f"{offsets!r:.60}"
        )
    return shape, dtype, offsets[0], offsets[1]


def _integers(values: Any, expected: str) -> tuple[int, ...]:
    if isinstance(values, list) and all(
        type(value) is int and 0 <= value < 1 << 62 for value in values
    ):
        return tuple(values)
    raise FileFormatError(f"{expected} of non-negative integers, got {values!r:.60}")


def _check_spans(spans: list[tuple[int, int, str]], start: int, total: int, name: str) -> None:
    """Check that the tensors cover the file after the header, each byte once."""
    at = 0
    for begin, end, key in sorted(spans):
        if begin != at:
            kind = "an overlap" if begin < at else "a gap"
            raise FileFormatError(
                f"{name}: expected tensor {key!r:.100} at byte {start + at}, got {start + begin},"
                f" which is {kind}"
            )
        at = end
    if at != total:
        raise FileFormatError(
            f"{name}: expected tensors up to the end at byte {start + total}, got {start + at}; the"
            " file is truncated or corrupt"
        )


def _read(reader: ByteReader, start: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    return reader.at(start).array(shape, dtype, "values")


def _read_into(reader: ByteReader, start: int, out: Any) -> None:
    reader.at(start).read_into(out, "values")
