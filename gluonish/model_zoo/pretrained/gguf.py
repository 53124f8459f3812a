"""GGUF files: metadata, then tensors, which may be quantized in blocks of 32 elements.

Nothing in a file is trusted: a count or length is held against the bytes that remain before
anything is allocated for it, and tensors must lie inside the file, aligned, without overlap.

References:
    G. Gerganov and others, GGUF, the file format of ggml, versions 2 and 3.
"""

import math
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.core.errors import ArgumentError, FileFormatError, NotSupportedError
from gluonish.core.file_map import private_map
from gluonish.core.files import AnyPath, open_to_read, path_text
from gluonish.kernels.generated.quantized_blocks import write_values
from gluonish.ndarray.byte_reader import ByteReader

__all__ = ["GGUF", "GGUFTensor", "open_gguf"]

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_LEAST_HEADER_NBYTES, _MOST_HEADER_NBYTES = 1 << 23, 1 << 28
_MOST_KEY_NBYTES = (1 << 16) - 1
_MOST_NAME_NBYTES = 256
_MOST_AXES = 4
_MOST_NESTED = 4
_ALIGNMENT = "general.alignment"
_BLOCK = 32  # elements of a block of a quantized tensor
_CHUNK = 1 << 13  # blocks that are dequantized at once: 1 MiB of float32
# By the numbers of types of metadata; text and lists have no fixed size.
_NUMBERS: Mapping[int, np.dtype[Any]] = {
    number: np.dtype(name)
    for number, name in {
        0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?",
        10: "<u8", 11: "<i8", 12: "<f8",
    }.items()
}  # fmt: skip
_TEXT, _LIST = 8, 9
# Types of tensors of other programs, for messages.
_UNREAD = {
    6: "Q5_0", 7: "Q5_1", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K",
    15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL",
    21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64",
    29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4",
}  # fmt: skip


class _Type(NamedTuple):
    """A type of tensors: bytes and elements of a block, and how NumPy reads it."""

    name: str
    nbytes: int
    elements: int
    dtype: np.dtype[Any]
    values: Callable[[Any, Any], None] | None  # from bytes (blocks, nbytes) to float32 (blocks, 32)


def _fields(nbytes: int, **parts: tuple[Any, int]) -> np.dtype[Any]:
    """Return the dtype of blocks, of parts with a dtype and an offset in bytes."""
    formats, offsets = zip(*parts.values(), strict=True)
    names = list(parts)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": nbytes})


# Parts of blocks. Loops over one part of all blocks are long, which NumPy does fastest.
_Q4_0 = _fields(18, scale=("<f2", 0), words=(("<u8", 2), 2))
_Q4_1 = _fields(20, scale=("<f2", 0), minimum=("<f2", 2), words=(("<u8", 2), 4))
_Q8_0 = _fields(34, scale=("<f2", 0), values=(("i1", 32), 2))
_LOW_HALVES, _HALF = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(4)


def _nibbles(words: Any, out: Any) -> None:
    """Write the 32 elements of blocks of 16 bytes: first the low halves, then the high ones."""
    found = np.empty((len(words), 4), "<u8")
    for i in range(2):
        word = words[:, i].copy()
        np.bitwise_and(word, _LOW_HALVES, out=found[:, i])
        word >>= _HALF
        np.bitwise_and(word, _LOW_HALVES, out=found[:, 2 + i])
    out[...] = found.view(np.uint8)


def _column(numbers: Any) -> Any:
    return numbers.astype(FLOAT32)[:, np.newaxis]


def _q4_0(blocks: Any, out: Any) -> None:
    parts = blocks.view(_Q4_0)[:, 0]
    _nibbles(parts["words"], out)
    out -= np.float32(8)
    out *= _column(parts["scale"])


def _q4_1(blocks: Any, out: Any) -> None:
    parts = blocks.view(_Q4_1)[:, 0]
    _nibbles(parts["words"], out)
    out *= _column(parts["scale"])
    out += _column(parts["minimum"])


def _q8_0(blocks: Any, out: Any) -> None:
    parts = blocks.view(_Q8_0)[:, 0]
    out[...] = parts["values"]
    out *= _column(parts["scale"])


_TYPES: Mapping[int, _Type] = {
    0: _Type("F32", 4, 1, FLOAT32, None),
    1: _Type("F16", 2, 1, FLOAT16, None),
    2: _Type("Q4_0", 18, _BLOCK, FLOAT32, _q4_0),
    3: _Type("Q4_1", 20, _BLOCK, FLOAT32, _q4_1),
    8: _Type("Q8_0", 34, _BLOCK, FLOAT32, _q8_0),
    30: _Type("BF16", 2, 1, BFLOAT16, None),
}


@dataclass(frozen=True)
class GGUFTensor:
    """A tensor of an open file.

    Attributes:
        name: Its name.
        shape: Its shape, with the axis last that is contiguous in the file.
        kind: ``"F32"``, ``"F16"``, ``"BF16"``, ``"Q8_0"``, ``"Q4_0"`` or ``"Q4_1"``.
        nbytes: Size in the file, in bytes.
    """

    name: str
    shape: tuple[int, ...]
    kind: str
    nbytes: int
    _type: _Type
    _offset: int
    _reader: ByteReader

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of the values; float32 for quantized ones."""
        return self._type.dtype

    @property
    def quantized(self) -> bool:
        """Whether the values are made of blocks of small integers."""
        return self._type.values is not None

    def stored(self) -> Any:
        """Return what is in the file: values, or bytes (blocks, bytes of a block).

        It is a view of a mapped file, or read.
        """
        shape, dtype = self.shape, self._type.dtype
        if self._type.values is not None:
            shape = (self.nbytes // self._type.nbytes, self._type.nbytes)
            dtype = np.dtype(np.uint8)
        return self._reader.at(self._offset).array(shape, dtype, f"tensor {self.name!r}")

    def read(self, dtype: Any = None) -> Any:
        """Return the values; those of a mapped file, not quantized and not cast, as a view.

        Args:
            dtype: Element type; that of the file, and float32 for quantized values, by default.
        """
        kind = self.dtype if dtype is None else np.dtype(dtype)
        if self._type.values is None and kind == self.dtype:
            return self.stored()
        out = np.empty(self.shape, kind)
        self.read_into(out)
        return out

    def read_into(self, out: Any) -> None:
        """Write the values into an array, in chunks, without a copy of all.

        Args:
            out: NumPy array of this shape, contiguous, of any floating type.

        Raises:
            ArgumentError: It has another shape, or is not contiguous.
        """
        if out.shape != self.shape or not out.flags.c_contiguous:
            raise ArgumentError(
                f"GGUFTensor.read_into: expected a contiguous array of shape {self.shape} for"
                f" {self.name!r}, got {out.shape}"
            )
        stored, values = self.stored(), self._type.values
        if values is None:
            out[...] = stored
            return
        rows = out.reshape(-1, _BLOCK)
        piece = None if rows.dtype == FLOAT32 else np.empty((_CHUNK, _BLOCK), FLOAT32)
        with np.errstate(over="ignore", invalid="ignore"):  # of 16-bit types and hostile scales
            for start in range(0, len(rows), _CHUNK):
                part, blocks = rows[start : start + _CHUNK], stored[start : start + _CHUNK]
                found = part if piece is None else piece[: len(part)]
                if not write_values(self.kind, blocks, found):
                    values(blocks, found)
                if piece is not None:
                    part[...] = found


class GGUF:
    """An open GGUF file.

    Attributes:
        source: Name of the file in messages.
        metadata: Values by key: numbers, text, lists of text, and NumPy arrays of numbers.
        tensors: Tensors by name, in the order of the file.
    """

    def __init__(
        self, source: str, metadata: dict[str, Any], tensors: dict[str, GGUFTensor]
    ) -> None:
        self.source, self.metadata, self.tensors = source, metadata, tensors

    def take(self, key: str, kind: Any, default: Any = ...) -> Any:
        """Return a value of the metadata.

        Args:
            key: The key.
            kind: ``int``, ``float``, ``bool``, ``str`` or ``list``.
            default: Returned where the key is missing; without one it must be there.

        Raises:
            FileFormatError: It is missing or of another type.
        """
        value = self.metadata.get(key, default)
        if value is ...:
            raise FileFormatError(f"{self.source}: expected {key!r} in the metadata, got none")
        if key not in self.metadata:
            return value
        exact = not isinstance(value, bool) if kind in (int, float) else True
        if not exact or not isinstance(value, (int, float) if kind is float else kind):
            raise FileFormatError(
                f"{self.source}: expected {key!r} as {kind.__name__}, got {value!r:.60}"
            )
        return value


@contextmanager
def open_gguf(path: AnyPath, mmap: bool = True) -> Iterator[GGUF]:
    """Open a GGUF file; its tensors can be read in the ``with`` block.

    Args:
        path: The file.
        mmap: Whether to map it: values that are not quantized are views of the mapping then, which
            outlive the block. See the warning of `mx.nd.load`.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: The file is damaged, or not GGUF.
        NotSupportedError: The file's version, or a tensor's type, is not known.
    """
    name = path_text(path, "open_gguf")
    with open_to_read(path, "open_gguf") as file:
        memory = private_map(file, mmap)
        reader = ByteReader(file, name, memory, 0)
        yield _read(file, name, reader)


def _read(file: BinaryIO, name: str, reader: ByteReader) -> GGUF:
    """Return the content of a file; the length of its header is not known before."""
    total = reader.remaining
    most = min(total, _MOST_HEADER_NBYTES)
    nbytes = _LEAST_HEADER_NBYTES
    while True:
        file.seek(0)
        data = file.read(min(nbytes, most))
        try:
            return _parse(_Header(data, name, len(data)), reader, total)
        except FileFormatError:
            if len(data) < nbytes or nbytes >= most:
                raise
        nbytes *= 8


class _Header:
    """Reads metadata from bytes, never past their end."""

    def __init__(self, data: Any, name: str, end: int) -> None:
        self.data, self.name, self.at, self.end = data, name, 0, end

    def error(self, expected: str, got: object) -> FileFormatError:
        where = f"at byte {self.at}"
        return FileFormatError(f"{self.name}: expected {expected} {where}, got {got!s:.100}")

    def require(self, nbytes: int, what: str) -> None:
        if nbytes > self.end - self.at:
            got = f"{self.end - self.at} up to the end; the file is truncated or corrupt"
            raise self.error(f"{nbytes} bytes of {what}", got)

    def number(self, layout: str, what: str) -> int:
        nbytes = struct.calcsize(layout)
        self.require(nbytes, what)
        (found,) = struct.unpack_from(layout, self.data, self.at)
        self.at += nbytes
        return int(found)

    def count(self, what: str, least_nbytes: int) -> int:
        """Return a count of things that have at least so many bytes each."""
        found = self.number("<Q", what)
        if found * least_nbytes > self.end - self.at:
            self.at -= 8
            raise self.error(f"{what} that the file has room for", found)
        return found

    def text(self, what: str, most: int | None = None) -> str:
        nbytes = self.number("<Q", f"length of {what}")
        if most is not None and nbytes > most:
            self.at -= 8
            raise self.error(f"{what} of up to {most} bytes", nbytes)
        self.require(nbytes, what)
        content = self.data[self.at : self.at + nbytes]
        try:
            found = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error(f"{what} in UTF-8", error.reason) from None
        self.at += nbytes
        return str(found)

    def value(self, kind: int, what: str, depth: int = 0) -> Any:
        if kind == _TEXT:
            return self.text(what)
        if kind == _LIST:
            return self._list(what, depth)
        return self._numbers(self._number_type(kind, what), 1, what)[0].item()

    def _number_type(self, kind: int, what: str) -> np.dtype[Any]:
        if kind not in _NUMBERS:
            self.at -= 4
            raise self.error(f"a type from 0 to 12 of {what}", kind)
        return _NUMBERS[kind]

    def _numbers(self, dtype: np.dtype[Any], count: int, what: str) -> Any:
        nbytes = count * dtype.itemsize
        self.require(nbytes, what)
        content = bytes(self.data[self.at : self.at + nbytes])
        if dtype == np.bool_ and content.strip(b"\0\1"):
            raise self.error(f"{what} of 0 and 1", "another number")
        self.at += nbytes
        return np.frombuffer(content, dtype)

    def _list(self, what: str, depth: int) -> Any:
        if depth == _MOST_NESTED:
            raise self.error(f"up to {_MOST_NESTED} nested lists in {what}", "more")
        kind = self.number("<I", f"type of {what}")
        if kind == _TEXT:
            return self._texts(self.count(f"a number of texts of {what}", 8), what)
        if kind == _LIST:
            count = self.count(f"a number of lists of {what}", 12)
            return [self._list(what, depth + 1) for _ in range(count)]
        dtype = self._number_type(kind, what)
        return self._numbers(dtype, self.count(f"a length of {what}", dtype.itemsize), what)

    def _texts(self, count: int, what: str) -> list[str]:
        """Return texts; vocabularies have hundreds of thousands."""
        data, at, end, found = self.data, self.at, self.end, []
        for _ in range(count):
            start = at + 8
            at = start + int.from_bytes(data[start - 8 : start], "little")
            if at > end or start > end:
                self.at = min(start - 8, end)
                self.text(what)  # raises
            found.append(data[start:at])
        self.at = at
        try:
            return [content.decode("utf-8") for content in found]
        except UnicodeDecodeError as error:
            raise self.error(f"{what} in UTF-8 before", error.reason) from None


def _parse(header: _Header, reader: ByteReader, total: int) -> GGUF:
    _check_version(header)
    tensors = header.count("a number of tensors", 24)
    keys = header.count("a number of keys", 13)
    metadata: dict[str, Any] = {}
    for _ in range(keys):
        key = header.text("a key", _MOST_KEY_NBYTES)
        if key in metadata:
            raise header.error("each key once", f"{key!r} twice")
        metadata[key] = header.value(header.number("<I", f"type of {key!r:.100}"), f"{key!r:.100}")
    alignment = metadata.get(_ALIGNMENT, 32)
    if type(alignment) is not int or not 8 <= alignment <= 1 << 20 or alignment % 8:
        raise FileFormatError(
            f"{header.name}: expected {_ALIGNMENT} as a multiple of 8 up to {1 << 20}, got"
            f" {alignment!r:.60}"
        )
    entries = [_tensor_entry(header) for _ in range(tensors)]
    start = -(-header.at // alignment) * alignment
    found: dict[str, GGUFTensor] = {}
    for name, shape, kind, offset in entries:
        if name in found:
            raise FileFormatError(f"{header.name}: expected each tensor once, got {name!r} twice")
        nbytes = math.prod(shape) // kind.elements * kind.nbytes
        what = f"{header.name}: tensor {name!r:.100}"
        if offset % alignment or start + offset + nbytes > total:
            raise FileFormatError(
                f"{what}: expected {nbytes} bytes from a multiple of {alignment} in the"
                f" {max(total - start, 0)} bytes of tensors, got offset {offset}; the file is"
                " truncated or corrupt"
            )
        found[name] = GGUFTensor(name, shape, kind.name, nbytes, kind, start + offset, reader)
    _check_overlap(found, header.name)
    return GGUF(header.name, metadata, found)


def _check_version(header: _Header) -> None:
    magic = bytes(header.data[:4])
    if magic != _MAGIC:
        raise header.error(f"a GGUF file, which begins with {_MAGIC!r},", repr(magic))
    header.at = 4
    version = header.number("<I", "version")
    if version not in _VERSIONS:
        big_endian = version and version % (1 << 16) == 0
        got = "a file of big-endian numbers" if big_endian else f"version {version}"
        raise NotSupportedError(
            f"{header.name}: expected GGUF of version 2 or 3, got {got}; convert it again"
        )


def _tensor_entry(header: _Header) -> tuple[str, tuple[int, ...], _Type, int]:
    """Return name, shape, type and offset of a tensor."""
    name = header.text("a tensor's name", _MOST_NAME_NBYTES)
    axes = header.number("<I", f"number of axes of {name!r}")
    if not 1 <= axes <= _MOST_AXES:
        header.at -= 4
        raise header.error(f"1 to {_MOST_AXES} axes of {name!r}", axes)
    shape = tuple(header.number("<Q", f"shape of {name!r}") for _ in range(axes))[::-1]
    number = header.number("<I", f"type of {name!r}")
    kind = _TYPES.get(number)
    if kind is None:
        known = ", ".join(known.name for known in _TYPES.values())
        raise NotSupportedError(
            f"{header.name}: expected tensor {name!r} of type {known}, got"
            f" {_UNREAD.get(number, f'type {number}')}"
        )
    if math.prod(max(size, 1) for size in shape) >= 1 << 60 or shape[-1] % kind.elements:
        raise header.error(
            f"a shape of {name!r} that fits in memory, with rows of {kind.elements} elements or a"
            f" multiple for {kind.name},",
            shape,
        )
    return name, shape, kind, header.number("<Q", f"offset of {name!r}")


def _check_overlap(tensors: Mapping[str, GGUFTensor], source: str) -> None:
    end, before = 0, ""
    for tensor in sorted(tensors.values(), key=lambda tensor: (tensor._offset, tensor.nbytes)):
        if tensor.nbytes and tensor._offset < end:
            raise FileFormatError(
                f"{source}: expected tensors without overlap, got {tensor.name!r:.100} at byte"
                f" {tensor._offset}, inside {before!r:.100}"
            )
        end, before = max(end, tensor._offset + tensor.nbytes), tensor.name
