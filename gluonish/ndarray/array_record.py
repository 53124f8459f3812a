"""Array records of `.params` files and trainer states: decode to NumPy, and encode.

All numbers are little-endian. The first 32 bits are a magic number in V1, V2 and V3, and the rank
in V0. Input is not trusted: a size is compared with the remaining bytes before memory is allocated.
"""

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gluonish.core.dtype import DTYPE_FLAGS, dtype_from_flag
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.byte_reader import MAX_RANK, ByteReader

_V1, _V2, _V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
_STORAGE_TYPES = {0: "default", 1: "row_sparse", 2: "csr"}
_STORAGE_FLAGS = {name: flag for flag, name in _STORAGE_TYPES.items()}
_AUXILIARY_COUNTS = {"row_sparse": 1, "csr": 2}
_CPU = (1, 0)


@dataclass(frozen=True, slots=True, eq=False)
class DenseRecord:
    """The record of a dense array.

    Args:
        values: The array; None for an undefined one.
        device: Device type and number as written; a reader may ignore it.
    """

    values: Any
    device: tuple[int, int] = _CPU

    @property
    def stype(self) -> str:
        """The storage type's name."""
        return "default"

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The array's shape; None for an undefined array."""
        return None if self.values is None else self.values.shape

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The array's element type; None for an undefined array."""
        return None if self.values is None else self.values.dtype


@dataclass(frozen=True, slots=True, eq=False)
class SparseRecord:
    """The record of a row-sparse array or a CSR matrix.

    Args:
        stype: ``row_sparse`` or ``csr``.
        shape: Logical shape.
        values: ``row_sparse``: (K, *shape[1:]), the K stored rows. ``csr``: (NNZ,).
        aux: ``row_sparse``: the K row indices. ``csr``: the row pointers (rows + 1,), and the NNZ
            column indices.
        device: Device type and number as written; a reader may ignore it.
    """

    stype: str
    shape: tuple[int, ...]
    values: Any
    aux: tuple[Any, ...]
    device: tuple[int, int] = _CPU

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of the values."""
        dtype: np.dtype[Any] = self.values.dtype
        return dtype


ArrayRecord = DenseRecord | SparseRecord


def read_record(reader: ByteReader) -> ArrayRecord:
    """Read the array record, of any version, at the reader's offset.

    Raises:
        FileFormatError: The bytes are not an array record, or are truncated.
    """
    start = reader.offset
    (magic,) = reader.numbers("I", "array header")
    if magic in (_V2, _V3):
        return _read_tagged(reader, numpy_shape=magic == _V3)
    if magic == _V1:
        shape = _read_shape(reader, numpy_shape=False)
    else:
        if magic > MAX_RANK:
            reader.offset = start
            raise reader.error("an array record", f"the number {magic:#x}")
        shape = reader.numbers(f"{magic}I", "dimensions")
    return _read_dense(reader, shape or None)


def decode_record(data: bytes | bytearray, name: str = "array record") -> ArrayRecord:
    """Decode one array record; ``name`` is its name in error messages.

    Raises:
        FileFormatError: The bytes are not an array record, or are truncated.
    """
    return read_record(ByteReader(io.BytesIO(data), name))


def _read_tagged(reader: ByteReader, *, numpy_shape: bool) -> ArrayRecord:
    (flag,) = reader.numbers("i", "storage type")
    stype = _STORAGE_TYPES.get(flag)
    if stype is None:
        raise reader.error(f"a storage type in {sorted(_STORAGE_TYPES)}", flag)
    if stype == "default":
        return _read_dense(reader, _read_shape(reader, numpy_shape=numpy_shape))
    storage_shape = _read_shape(reader, numpy_shape=numpy_shape)
    shape = _read_shape(reader, numpy_shape=numpy_shape)
    if shape is None:
        return DenseRecord(None)
    return _read_sparse(reader, stype, storage_shape or (), shape)


def _read_shape(reader: ByteReader, *, numpy_shape: bool) -> tuple[int, ...] | None:
    """Read rank and dimensions; None for the shape of an undefined array."""
    (rank,) = reader.numbers("i", "rank")
    if rank > MAX_RANK or rank < (-1 if numpy_shape else 0):
        raise reader.error(f"a rank up to {MAX_RANK}", rank)
    if rank == -1 or (rank == 0 and not numpy_shape):
        return None
    shape = reader.numbers(f"{rank}q", "dimensions")
    if numpy_shape and min(shape, default=0) == -1:
        return None
    if min(shape, default=0) < 0:
        raise reader.error("dimensions of 0 or more", shape)
    return shape


def _read_dtype(reader: ByteReader) -> np.dtype[Any]:
    (flag,) = reader.numbers("i", "dtype flag")
    try:
        return dtype_from_flag(flag)
    except ArgumentTypeError as error:
        raise reader.error("a known dtype flag", flag) from error


def _read_dense(reader: ByteReader, shape: tuple[int, ...] | None) -> DenseRecord:
    if shape is None:
        return DenseRecord(None)
    device = reader.numbers("ii", "device")
    dtype = _read_dtype(reader)
    return DenseRecord(reader.array(shape, dtype, "values"), (device[0], device[1]))


def _read_sparse(
    reader: ByteReader, stype: str, storage_shape: tuple[int, ...], shape: tuple[int, ...]
) -> SparseRecord:
    device = reader.numbers("ii", "device")
    dtype = _read_dtype(reader)
    headers: list[tuple[np.dtype[Any], tuple[int, ...]]] = []
    for _ in range(_AUXILIARY_COUNTS[stype]):
        aux_dtype = _read_dtype(reader)
        headers.append((aux_dtype, _read_shape(reader, numpy_shape=False) or ()))
    values = reader.array(storage_shape, dtype, "values")
    aux = tuple(reader.array(aux_shape, aux_dtype, "indices") for aux_dtype, aux_shape in headers)
    problem = sparse_problem(stype, shape, values, aux)
    if problem:
        raise reader.error(f"a {stype} array of shape {shape} to end", problem)
    return SparseRecord(stype, shape, values, aux, (device[0], device[1]))


def sparse_problem(
    stype: str, shape: tuple[int, ...], values: Any, aux: tuple[Any, ...], numbers: bool = True
) -> str:
    """Describe why shape, values and indices do not form a sparse array; empty if they do.

    Args:
        stype: ``row_sparse`` or ``csr``.
        shape: Logical shape.
        values: See `SparseRecord`.
        aux: See `SparseRecord`.
        numbers: Whether to check the values of indices, too, not only shapes.
    """
    if any(indices.dtype.kind != "i" for indices in aux):
        return f"indices of type {', '.join(indices.dtype.name for indices in aux)}"
    if stype == "row_sparse":
        return _row_sparse_problem(shape, values, aux[0], numbers)
    return _csr_problem(shape, values, aux[0], aux[1], numbers)


def _row_sparse_problem(shape: tuple[int, ...], values: Any, rows: Any, numbers: bool) -> str:
    if not shape or rows.ndim != 1 or values.shape != (rows.size, *shape[1:]):
        return f"values of shape {values.shape} with {rows.shape} row numbers"
    if numbers and rows.size and (rows.min() < 0 or rows.max() >= shape[0]):
        return "row numbers that are out of range"
    return ""


def _csr_problem(
    shape: tuple[int, ...], values: Any, pointers: Any, columns: Any, numbers: bool
) -> str:
    if len(shape) != 2 or values.ndim != 1 or columns.shape != values.shape:
        return f"values of shape {values.shape} with {columns.shape} column numbers"
    if pointers.shape != (shape[0] + 1,):
        return f"{pointers.shape} row pointers for {shape[0]} rows"
    if not numbers:
        return ""
    if pointers[0] != 0 or pointers[-1] != values.size:
        return f"row pointers that do not cover {values.size} values in {shape[0]} rows"
    if (pointers[1:] < pointers[:-1]).any():
        return "row pointers that go down"
    if columns.size and (columns.min() < 0 or columns.max() >= shape[1]):
        return "column numbers that are out of range"
    return ""


def encode_record(record: ArrayRecord, *, numpy_shape: bool = False) -> bytes:
    """Encode one array as a record.

    Args:
        record: The array.
        numpy_shape: Write V3, which supports scalars; else V2, which MXNet reads from 0.12 on.

    Raises:
        ArgumentError: The array is a scalar and the version V2, or it is sparse and the version V3.
        ArgumentTypeError: The dtype is not supported by the format.
    """
    return b"".join(record_chunks(record, numpy_shape=numpy_shape))


def record_chunks(
    record: ArrayRecord, *, numpy_shape: bool = False
) -> Iterator[bytes | memoryview]:
    """Yield the chunks of `encode_record`, without copying values; raises the same errors."""
    if isinstance(record, SparseRecord):
        if numpy_shape:
            raise ArgumentError(
                f"array record: expected a dense array with numpy_shape, got {record.stype}"
            )
        yield struct.pack("<Ii", _V2, _STORAGE_FLAGS[record.stype])
        yield _shape_bytes(record.values.shape) + _shape_bytes(record.shape)
        yield struct.pack("<iii", *record.device, _dtype_flag(record.values.dtype))
        for indices in record.aux:
            yield struct.pack("<i", _dtype_flag(indices.dtype)) + _shape_bytes(indices.shape)
        for array in (record.values, *record.aux):
            yield _value_bytes(array)
        return
    yield struct.pack("<Ii", _V3 if numpy_shape else _V2, 0)
    if record.values is None:
        yield struct.pack("<i", -1 if numpy_shape else 0)
        return
    if record.values.ndim == 0 and not numpy_shape:
        raise ArgumentError(
            "array record: expected a rank of 1 or more, got a scalar; write it with numpy_shape"
        )
    yield _shape_bytes(record.values.shape)
    yield struct.pack("<iii", *record.device, _dtype_flag(record.values.dtype))
    yield _value_bytes(record.values)


def _shape_bytes(shape: tuple[int, ...]) -> bytes:
    return struct.pack(f"<i{len(shape)}q", len(shape), *shape)


def _dtype_flag(dtype: np.dtype[Any]) -> int:
    flag = DTYPE_FLAGS.get(dtype.newbyteorder("<"))
    if flag is None:
        raise ArgumentTypeError(
            f"array record: expected one of {', '.join(map(str, DTYPE_FLAGS))}, got {dtype}"
        )
    return flag


def _value_bytes(values: Any) -> memoryview:
    contiguous = np.asarray(values, dtype=values.dtype.newbyteorder("<"), order="C")
    view: memoryview = contiguous.reshape(-1).view(np.uint8).data
    return view
