"""A safe reader of NumPy's `.npy` and `.npz`, which MXNet 2.0 also writes as `.params`.

NumPy's loader trusts the sizes in a header and may unpickle objects. This reader limits a member's
size by its compressed size, and accepts only the element types of `.params` files. A thread
computes checksums while reading, as they take as long.
"""

import ast
import errno
import io
import json
import mmap
import struct
import zipfile
import zlib
from collections import Counter
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

import numpy as np

from gluonish.core.dtype import BFLOAT16, DTYPE_FLAGS, STORED_DTYPES
from gluonish.core.errors import FileFormatError
from gluonish.core.files import DEFLATE_RATIO
from gluonish.ndarray.array_record import (
    DenseRecord,
    SparseRecord,
    sparse_problem,
)
from gluonish.ndarray.byte_reader import MAX_RANK, ByteReader
from gluonish.ndarray.list_file import Entry, StoredArray

_STORED: dict[str, np.dtype[Any]] = {dtype.name: dtype for dtype in STORED_DTYPES}
# NumPy writes this one type under its own code, and all other 8-bit floats under one name.
_NAMED_BY_NUMPY = ("float8_e5m2", "<f1")
# Added to the limit by deflate's best ratio, for members of a few bytes.
_SLACK_NBYTES = 1024
_MAX_HEADER_NBYTES = 10_000
SUFFIX = ".npy"
# A member's local header: the magic, and the lengths of the name and the extra field, which follow
# it. And the flag bits for encryption and for names in UTF-8.
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_LOCAL_MAGIC = b"PK\x03\x04"
_ENCRYPTED, _UTF8 = 0x1, 0x800
# Members of at least this size are read lazily, with the checksum computed by a thread.
_MIN_LAZY_NBYTES = 1 << 22
# The member that names a sparse array's storage type, and the index arrays of each type in order.
FORMAT = "/format"
SPARSE_AUX = {"csr": ("indptr", "indices"), "row_sparse": ("indices",)}
_BROKEN_ZIP = (
    zipfile.BadZipFile,
    struct.error,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


def read_npy(reader: ByteReader) -> Any:
    """Read one `.npy` array of any byte and memory order, format version 1 or 2.

    Raises:
        FileFormatError: The array is truncated or corrupt, or its dtype is not supported.
    """
    return _read_values(reader, *_read_header(reader))


def _read_header(reader: ByteReader) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    """Return the shape, the stored dtype, and whether values are in Fortran order."""
    magic = reader.read(8, "npy header")
    if magic[:6] != b"\x93NUMPY" or magic[6] not in (1, 2):
        reader.offset -= 8
        raise reader.error("an npy header of version 1 or 2", magic)
    (length,) = reader.numbers("H" if magic[6] == 1 else "I", "npy header length")
    if length > _MAX_HEADER_NBYTES:
        raise reader.error(f"an npy header of up to {_MAX_HEADER_NBYTES} bytes", length)
    header = reader.read(length, "npy header")
    try:
        fields = ast.literal_eval(header.decode("latin1"))
        shape, fortran_order = fields["shape"], fields["fortran_order"]
        dtype = _npy_dtype(fields["descr"])
    except (ValueError, SyntaxError, TypeError, LookupError, MemoryError, RecursionError) as error:
        raise reader.error("an npy header with a known dtype", header[:80]) from error
    if not isinstance(shape, tuple) or len(shape) > MAX_RANK:
        raise reader.error(f"a shape of rank up to {MAX_RANK}", shape)
    if not all(type(size) is int and 0 <= size < 1 << 63 for size in shape):
        raise reader.error("a shape of non-negative integers", shape)
    return shape, dtype, bool(fortran_order)


def _read_values(
    reader: ByteReader, shape: tuple[int, ...], dtype: np.dtype[Any], fortran_order: bool
) -> Any:
    if fortran_order:
        return np.asarray(_native(reader.array(shape[::-1], dtype, "values")).T, order="C")
    return _native(reader.array(shape, dtype, "values"))


def _npy_dtype(description: object) -> np.dtype[Any]:
    # MXNet's spelling of bfloat16, and NumPy's spellings of unknown types.
    if description in ([("bfloat16", "<u2")], "<V2", "|V2"):
        description = BFLOAT16.name
    for name, dtype in _STORED.items():
        if description == [(name, "|u1")] or (name, description) == _NAMED_BY_NUMPY:
            return dtype
    if not isinstance(description, str):
        raise TypeError(description)
    found: np.dtype[Any] = np.dtype(description)
    if found.newbyteorder("<") not in DTYPE_FLAGS and found.kind != "S":
        raise TypeError(description)
    return found


def _native(values: Any) -> Any:
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def read_npz(
    file: BinaryIO, name: str, memory: mmap.mmap | None = None
) -> tuple[list[Entry], list[str], dict[str, str]]:
    """Read an archive of `.npy` members; a sparse array is a folder of several members.

    Args:
        file: The archive; it must stay open while arrays are read.
        name: Name in error messages.
        memory: The file as mapped by `private_map`, for arrays that are not compressed; None to
            read them.

    Returns:
        The arrays in the order of the archive, their names, and the metadata in the archive's
        comment. Damage to a large array is detected when it is read.

    Raises:
        FileFormatError: The archive is corrupt or states impossible sizes, or a member is not an
            array.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            _check_sizes(archive, file, name)
            members = {
                info.filename.removesuffix(SUFFIX): _read_member(archive, info, name, memory)
                for info in archive.infolist()
            }
            metadata = _metadata(archive.comment)
    except (*_BROKEN_ZIP, OSError) as error:
        # A corrupt archive may state a negative offset, for which seek raises EINVAL.
        is_system_error = isinstance(error, OSError) and error.errno != errno.EINVAL
        if is_system_error or isinstance(error, FileFormatError):
            raise
        raise FileFormatError(
            f"{name}: expected an npz archive in bytes 0 to {file.seek(0, io.SEEK_END)}, got "
            f"{error!s:.200}"
        ) from error
    return *_group(members, name), metadata


def _metadata(comment: bytes) -> dict[str, str]:
    try:
        found = json.loads(comment) if comment.startswith(b"{") else {}
    except (ValueError, RecursionError):
        return {}
    is_text = isinstance(found, dict) and all(isinstance(text, str) for text in found.values())
    return found if is_text else {}


def _check_sizes(archive: zipfile.ZipFile, file: BinaryIO, name: str) -> None:
    """Reject sizes that would let a small file fill the memory, and overlapping members."""
    total = file.seek(0, io.SEEK_END)
    infos = archive.infolist()
    if sum(info.compress_size for info in infos) > total:
        raise FileFormatError(f"{name}: expected members that fit in bytes 0 to {total}, got more")
    names = Counter(info.filename for info in infos)
    for info in infos:
        if names[info.filename] > 1:
            raise FileFormatError(
                f"{name}: expected distinct members, got {info.filename!r:.80} twice, at byte "
                f"{info.header_offset}"
            )
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileFormatError(
                f"{name}: expected stored or deflated members, got compression "
                f"{info.compress_type} of {info.filename!r:.80} at byte {info.header_offset}"
            )
        if info.file_size > info.compress_size * DEFLATE_RATIO + _SLACK_NBYTES:
            raise FileFormatError(
                f"{name}: expected {info.filename!r:.80} at byte {info.header_offset} to fit in "
                f"{info.compress_size} compressed bytes, got {info.file_size} bytes"
            )


def _read_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, memory: mmap.mmap | None
) -> Any:
    """Return a member's array; a `StoredArray` if it is large and not compressed."""
    label = f"{name}/{info.filename}"
    if not info.filename.endswith(SUFFIX):
        raise FileFormatError(
            f"{name}: expected members named *{SUFFIX}, got {info.filename!r:.80} at byte "
            f"{info.header_offset}"
        )
    start = _offset(archive, info)
    if start is None:
        with archive.open(info) as member:
            return read_npy(ByteReader(member, label, start=0, end=info.file_size))  # type: ignore[arg-type]  # reads like a file
    file: Any = archive.fp
    if memory is None and info.file_size >= _MIN_LAZY_NBYTES:
        header = ByteReader(file, label, None, start, start + info.file_size)
        shape, dtype, _ = _read_header(header)
        read = partial(_read_stored, file, label, None, start, info)
        return StoredArray(shape, dtype.newbyteorder("="), read)
    return _read_stored(file, label, memory, start, info)


def _read_stored(
    file: Any, label: str, memory: mmap.mmap | None, start: int, info: zipfile.ZipInfo
) -> Any:
    """Read a member that is not compressed, and check its checksum."""
    end = start + info.file_size
    if memory is not None:
        with memoryview(memory) as content, content[start:end] as member:
            if len(member) != info.file_size or zlib.crc32(member) != info.CRC:
                raise _damaged(label, info)
        return read_npy(ByteReader(file, label, memory, start, end))
    with _Checksum(info.file_size) as checksum:
        reader = ByteReader(file, label, None, start, end, checksum.add)
        values = read_npy(reader)
        reader.read(reader.remaining, "bytes after the array")
    if checksum.value != info.CRC:
        raise _damaged(label, info)
    return values


def _damaged(label: str, info: zipfile.ZipInfo) -> FileFormatError:
    return FileFormatError(
        f"{label}: expected the bytes that were written, got others: Bad CRC-32 for file "
        f"{info.filename!r:.80} at byte {info.header_offset}; fetch or write the file again"
    )


class _Checksum:
    """Computes the CRC-32 of chunks; the value is complete when the ``with`` block ends.

    For large members a thread computes it while the next chunk is read.
    """

    def __init__(self, nbytes: int) -> None:
        self.value = 0
        self._chunks: SimpleQueue[Any] = SimpleQueue()
        self._thread: Thread | None = None
        if nbytes >= _MIN_LAZY_NBYTES:
            self._thread = Thread(target=self._run, name="gluonish checksum", daemon=True)

    def __enter__(self) -> "_Checksum":
        try:
            if self._thread is not None:
                self._thread.start()
        except RuntimeError:  # the interpreter is shutting down
            self._thread = None
        return self

    def add(self, chunk: Any) -> None:
        """Add bytes, which must not change before the block ends."""
        if self._thread is None:
            self.value = zlib.crc32(chunk, self.value)
        else:
            self._chunks.put(chunk)

    def _run(self) -> None:
        while (chunk := self._chunks.get()) is not None:
            self.value = zlib.crc32(chunk, self.value)

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            self._chunks.put(None)
            self._thread.join()


def _offset(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int | None:
    """Return the offset of a member's bytes; None if they are compressed or encrypted."""
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & _ENCRYPTED:
        return None
    if info.file_size != info.compress_size:
        return None
    file = archive.fp
    assert file is not None
    file.seek(info.header_offset)
    magic, name_nbytes, extra_nbytes = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    found = file.read(name_nbytes)
    if magic != _LOCAL_MAGIC or found.decode(_encoding(info), "replace") != info.orig_filename:
        raise zipfile.BadZipFile(
            f"a header of {found[:80]!r} at byte {info.header_offset}, where the directory has "
            f"{info.filename!r:.80}"
        )
    start: int = info.header_offset + _LOCAL_HEADER.size + name_nbytes + extra_nbytes
    return start


def _encoding(info: zipfile.ZipInfo) -> str:
    return "utf-8" if info.flag_bits & _UTF8 else "cp437"


def _group(members: dict[str, Any], name: str) -> tuple[list[Entry], list[str]]:
    sparse = {key.removesuffix(FORMAT) for key in members if key.endswith(FORMAT)}
    records: dict[str, Entry] = {}
    for key, values in members.items():
        owner, _, _ = key.rpartition("/")
        if owner in sparse:
            if owner not in records:
                records[owner] = _sparse_record(members, owner, name)
        elif values.dtype.kind == "S":
            raise FileFormatError(f"{name}: expected numbers in {key!r}, got {values.dtype}")
        else:
            records[key] = values if isinstance(values, StoredArray) else DenseRecord(values)
    return list(records.values()), list(records)


def _values(member: Any) -> Any:
    return member.read() if isinstance(member, StoredArray) else member


def _sparse_record(members: dict[str, Any], owner: str, name: str) -> SparseRecord:
    text = _values(members[owner + FORMAT])
    stype = bytes(text.item()).decode("latin1") if text.dtype.kind == "S" and not text.ndim else ""
    if stype not in SPARSE_AUX:
        raise FileFormatError(
            f"{name}: expected csr or row_sparse in {owner + FORMAT!r}, got {text}"
        )
    required = [f"{owner}/{key}" for key in ("shape", "data", *SPARSE_AUX[stype])]
    missing = [key for key in required if key not in members]
    if missing:
        raise FileFormatError(f"{name}: expected {', '.join(missing)} for {owner!r}, got none")
    shape_values, values, *aux = (_values(members[key]) for key in required)
    if shape_values.dtype.kind not in "iu" or shape_values.ndim != 1:
        raise FileFormatError(f"{name}: expected a shape in {required[0]!r}, got {shape_values}")
    shape = tuple(int(size) for size in shape_values)
    problem = sparse_problem(stype, shape, values, tuple(aux))
    if problem or values.dtype.kind == "S":
        raise FileFormatError(
            f"{name}: expected a {stype} array in {owner!r}, got {problem or values}"
        )
    return SparseRecord(stype, shape, values, tuple(aux))
