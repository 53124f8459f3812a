"""Reads tensors of an ONNX file as NumPy arrays; checks sizes first, as files may be malicious."""

import os
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError, NotSupportedError
from gluonish.onnx.importing.elements import Element, element

_MAX_RANK = 32
_MAX_SPARSE = 1 << 28  # elements of a sparse tensor in dense form
_MAX_SHOWN = 200  # characters of a path in an error message
_EXTERNAL = 1
_INT32, _INT64, _UINT64 = "int32_data", "int64_data", "uint64_data"
_FIELDS = {
    **dict.fromkeys((2, 3, 4, 5, 6, 9, 10, 16, *range(17, 27)), _INT32),
    1: "float_data",
    7: _INT64,
    11: "double_data",
    12: _UINT64,
    13: _UINT64,
}


class Stored:
    """A tensor of a file.

    Attributes:
        numbers: The numbers, in the dtype of their stored form.
        element: The element type.
        arrays: Arrays created from the tensor, by device.
    """

    __slots__ = ("arrays", "element", "numbers")

    def __init__(self, numbers: np.ndarray[Any, Any], kind: Element) -> None:
        self.numbers = numbers
        self.element = kind
        self.arrays: dict[Any, Any] = {}

    def carried(self) -> np.ndarray[Any, Any]:
        """Return the numbers in the dtype of gluonish's arrays, a wider one for narrow types."""
        return self.numbers.astype(self.element.dtype, copy=False)


def read_tensor(tensor: Any, folder: Path | None, what: str) -> Stored:
    """Read a TensorProto.

    Args:
        tensor: The TensorProto.
        folder: The folder of the model's file; None without a file.
        what: The tensor's name in error messages.

    Raises:
        FileFormatError: The size of its data does not match its shape, or external data are not in
            a separate file in the model's folder.
        NotSupportedError: gluonish's arrays do not support the element type.
    """
    kind = element(tensor.data_type, what)
    shape = _shape(tensor.dims, what)
    count = prod(shape)
    if tensor.HasField("segment"):
        raise NotSupportedError(f"{what}: expected a whole tensor, got a segment of one")
    nbytes = (count * kind.bits + 7) // 8
    if tensor.data_location == _EXTERNAL:
        return _unpacked(_external(tensor, folder, nbytes, what), kind, shape)
    if tensor.HasField("raw_data"):
        if len(tensor.raw_data) != nbytes:
            raise FileFormatError(
                f"{what}: expected {nbytes} bytes for {kind.name}{shape}, got "
                f"{len(tensor.raw_data)}"
            )
        return _unpacked(tensor.raw_data, kind, shape)
    return _from_field(tensor, kind, shape, what)


def _shape(dims: Any, what: str) -> tuple[int, ...]:
    shape = tuple(int(extent) for extent in dims)
    negative = any(extent < 0 for extent in shape)
    # NumPy's own limit counts the extents that are not 0, too.
    if len(shape) > _MAX_RANK or negative or prod(n for n in shape if n) >= 1 << 48:
        raise FileFormatError(
            f"{what}: expected a shape of at most {_MAX_RANK} axes and 2**48 elements, got {shape}"
        )
    return shape


def _unpacked(raw: Any, kind: Element, shape: tuple[int, ...]) -> Stored:
    """Decode numbers from bytes; types of fewer than 8 bits are packed, lowest bits first."""
    if kind.bits >= 8:
        little = kind.stored.newbyteorder("<") if kind.stored.isbuiltin else kind.stored
        return Stored(
            np.frombuffer(raw, little).astype(kind.stored, copy=False).reshape(shape), kind
        )
    chunks = 8 // kind.bits
    octets = np.frombuffer(raw, np.uint8)
    shifts = np.arange(chunks, dtype=np.uint8) * kind.bits
    codes = (octets[:, None] >> shifts & ((1 << kind.bits) - 1)).reshape(-1)[: prod(shape)]
    if kind.name.startswith("INT"):
        top = 1 << (kind.bits - 1)
        numbers = ((codes ^ top).astype(np.int8) - top).astype(kind.stored)
    elif kind.name.startswith("UINT"):
        numbers = codes.astype(kind.stored)
    else:
        numbers = codes.view(kind.stored)
    return Stored(numbers.reshape(shape), kind)


def _from_field(tensor: Any, kind: Element, shape: tuple[int, ...], what: str) -> Stored:
    """Read the numbers from a repeated field of the TensorProto."""
    field = getattr(tensor, _FIELDS[kind.number])
    packed = kind.bits < 8
    expected = (prod(shape) * kind.bits + 7) // 8 if packed else prod(shape)
    if len(field) != expected:
        raise FileFormatError(
            f"{what}: expected {expected} numbers for {kind.name}{shape}, got {len(field)}"
        )
    listed = np.array(field)
    if packed:
        return _unpacked(listed.astype(np.uint8).tobytes(), kind, shape)
    if kind.number in (10, 16):  # the bits of 16-bit floats
        numbers = listed.astype(np.uint16).view(kind.stored)
    elif kind.is_narrow:
        numbers = listed.astype(np.uint8).view(kind.stored)
    else:
        numbers = listed.astype(kind.stored)
    return Stored(numbers.reshape(shape), kind)


def _external(tensor: Any, folder: Path | None, nbytes: int, what: str) -> bytes:
    """Return the bytes of a tensor with external data.

    Raises:
        FileFormatError: The file is not in the model's folder, or is too short.
    """
    entries = {entry.key: entry.value for entry in tensor.external_data}
    if len(entries) < len(tensor.external_data):
        raise FileFormatError(f"{what}: expected each key of external_data once, got it twice")
    location = entries.get("location", "")
    if folder is None:
        raise FileFormatError(f"{what}: expected a model from a file, as its data lie in another")
    path = _inside(folder, location, what)
    try:
        offset, length = int(entries.get("offset", 0)), int(entries.get("length", nbytes))
    except ValueError:
        raise FileFormatError(f"{what}: expected numbers in external_data, got {entries}") from None
    if length != nbytes or offset < 0:
        raise FileFormatError(
            f"{what}: expected {nbytes} bytes of external data, got {length} at byte {offset}"
        )
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_nlink > 1:
                raise FileFormatError(
                    f"{what}: expected external data in a file of its own, got {location!r}, a "
                    "hard link, which may be a file from outside of the model's folder; copy it "
                    "(cp a b && mv b a) if you trust it"
                )
            if offset + nbytes > status.st_size:
                raise FileFormatError(
                    f"{what}: expected {nbytes} bytes at byte {offset} of {location!r}, got a file "
                    f"of {status.st_size}"
                )
            file.seek(offset)
            return file.read(nbytes)
    except OSError as error:
        raise FileFormatError(
            f"{what}: expected a file {location!r} in the model's folder, got {error}"
        ) from error


def _inside(folder: Path, location: str, what: str) -> Path:
    """Return the path of a file that is inside a folder even after links are resolved."""
    base = Path(os.path.realpath(folder))
    given = Path(location)
    try:
        path = Path(os.path.realpath(base / given))
        is_file = path.is_file()
    except (OSError, ValueError):  # the name is too long, or contains a zero byte
        path, is_file = base, False
    leaves = given.is_absolute() or ".." in given.parts or base not in path.parents
    if not location or leaves or not is_file:
        shown = location if len(location) <= _MAX_SHOWN else f"{location[:_MAX_SHOWN]}..."
        raise FileFormatError(
            f"{what}: expected external data in a file in the model's folder, got {shown!r}"
        )
    return path


def dense_of(sparse: Any, folder: Path | None, what: str) -> Stored:
    """Read a SparseTensorProto as a dense tensor.

    Raises:
        FileFormatError: The indices do not fit the shape.
        NotSupportedError: The dense tensor would be too large.
    """
    values = read_tensor(sparse.values, folder, what)
    indices = read_tensor(sparse.indices, folder, what).numbers
    shape = _shape(sparse.dims, what)
    if prod(shape) > _MAX_SPARSE:
        raise NotSupportedError(f"{what}: expected at most {_MAX_SPARSE} elements, got {shape}")
    count = values.numbers.size
    if indices.shape == (count,) and len(shape) != 1:
        flat = indices
    elif indices.shape in ((count, len(shape)), (count,)):
        columns = indices.reshape(count, -1)
        if ((columns < 0) | (columns >= shape)).any():
            raise FileFormatError(f"{what}: expected indices inside of {shape}, got others")
        flat = np.ravel_multi_index(tuple(columns.T), shape) if count else columns.reshape(-1)
    else:
        raise FileFormatError(f"{what}: expected {count} indices, got {indices.shape}")
    if count and not (flat.min() >= 0 and flat.max() < prod(shape)):
        raise FileFormatError(f"{what}: expected indices inside of {shape}, got others")
    numbers = np.zeros(prod(shape), values.numbers.dtype)
    numbers[flat] = values.numbers.reshape(-1)
    return Stored(numbers.reshape(shape), values.element)
