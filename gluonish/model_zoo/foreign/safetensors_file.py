"""The safetensors format: a header in JSON that tells shapes and places, then the numbers.

The package of that name is not used: its NumPy reader has no bfloat16, in which many checkpoints
are, and it gives no byte offset for what is wrong with a file.
"""

import json
import math
from functools import partial
from typing import Any, BinaryIO

import numpy as np

from gluonish.core.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT8, INT32, INT64, UINT8
from gluonish.core.errors import FileFormatError
from gluonish.model_zoo.foreign.stored_array import StoredArray
from gluonish.ndarray.array_record import MAX_RANK, ByteReader

__all__ = ["read_safetensors"]

# A header has some 150 bytes for each tensor.
_MAX_HEADER_NBYTES = 8 << 20
_METADATA = "__metadata__"
_DTYPES: dict[str, np.dtype[Any]] = {
    "F64": FLOAT64,
    "F32": FLOAT32,
    "F16": FLOAT16,
    "BF16": BFLOAT16,
    "I64": INT64,
    "I32": INT32,
    "I16": np.dtype(np.int16),
    "I8": INT8,
    "U8": UINT8,
    "BOOL": BOOL,
}


def read_safetensors(file: BinaryIO, name: str) -> dict[str, StoredArray]:
    """Read the header of a safetensors file.

    Args:
        file: The file, from its beginning; it stays open while the arrays are read.
        name: What error messages call it.

    Returns:
        The arrays by name, in the header's order.

    Raises:
        FileFormatError: The header is too long, malformed, or tells places that overlap, leave gaps
            or lie outside the file.
    """
    reader = ByteReader(file, name)
    (length,) = reader.numbers("Q", "header length")
    if length > _MAX_HEADER_NBYTES:
        reader.offset -= 8
        raise reader.error(f"a header of up to {_MAX_HEADER_NBYTES} bytes", length)
    header = _parse(reader.take(length, "header"), name)
    start, total = reader.offset, reader.remaining
    places: list[tuple[int, int, str]] = []
    arrays = {}
    for key, entry in header.items():
        if key == _METADATA:
            continue
        shape, dtype, begin, end = _entry(entry, f"{name}: tensor {key!r:.100}")
        places.append((begin, end, key))
        arrays[key] = StoredArray(
            shape, dtype, partial(_read, file, name, start + begin, shape, dtype)
        )
    _check_places(places, start, total, name)
    return arrays


def _parse(data: bytes, name: str) -> dict[str, Any]:
    try:
        header = json.loads(data.decode("utf-8"), object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{name}: expected a JSON header at byte 8, got {error}") from error
    if not isinstance(header, dict):
        raise FileFormatError(f"{name}: expected a JSON object at byte 8, got {header!r:.60}")
    return header


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in names if names.count(key) > 1)
        raise ValueError(f"the name {twice!r:.100} twice")
    return result


def _entry(entry: Any, what: str) -> tuple[tuple[int, ...], np.dtype[Any], int, int]:
    """Return shape, dtype and place of a tensor, once they agree."""
    fields = entry if isinstance(entry, dict) else {}
    dtype = _DTYPES.get(fields["dtype"]) if isinstance(fields.get("dtype"), str) else None
    if dtype is None:
        known = ", ".join(_DTYPES)
        raise FileFormatError(f"{what}: expected a dtype of {known}, got {fields.get('dtype')!r}")
    shape = _integers(fields.get("shape"), f"{what}: expected a shape")
    if len(shape) > MAX_RANK:
        raise FileFormatError(f"{what}: expected up to {MAX_RANK} axes, got {len(shape)}")
    place = _integers(fields.get("data_offsets"), f"{what}: expected data_offsets")
    nbytes = math.prod(shape) * dtype.itemsize
    if len(place) != 2 or place[1] - place[0] != nbytes:
        raise FileFormatError(
            f"{what}: expected data_offsets of {nbytes} bytes for {dtype} {shape}, got {place}"
        )
    return shape, dtype, place[0], place[1]


def _integers(values: Any, expected: str) -> tuple[int, ...]:
    if isinstance(values, list) and all(
        type(value) is int and 0 <= value < 1 << 62 for value in values
    ):
        return tuple(values)
    raise FileFormatError(f"{expected} of non-negative integers, got {values!r:.60}")


def _check_places(places: list[tuple[int, int, str]], start: int, total: int, name: str) -> None:
    """Check that the places cover the file behind the header, each byte once."""
    at = 0
    for begin, end, key in sorted(places):
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


def _read(
    file: BinaryIO, name: str, start: int, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Any:
    file.seek(start)
    return ByteReader(file, name).array(shape, dtype, "values")
