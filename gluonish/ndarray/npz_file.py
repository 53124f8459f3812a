"""NumPy's `.npy` and `.npz`, which MXNet 2.0 writes under the name `.params`, read with care.

NumPy's own loader trusts the sizes that a header tells and would unpickle objects. Here a member
can be no larger than its compressed bytes can give, and only the element types of `.params` files
are taken. Checksums are computed beside the reading, by a thread, as they take as long.
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
# NumPy calls the other types of 8 bits all by one name.
_NAMED_BY_NUMPY = ("float8_e5m2", "<f1")
# More than deflate's best ratio allows; for members of a few bytes.
_SLACK_NBYTES = 1024
_MAX_HEADER_NBYTES = 10_000
SUFFIX = ".npy"
# The header before each member: its first bytes, and the lengths of name and extra field at its
# end, which stand between it and the member. And the bits for encryption and for names in UTF-8.
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_LOCAL_MAGIC = b"PK\x03\x04"
_ENCRYPTED, _UTF8 = 0x1, 0x800
# Larger members are read when they are asked for, and summed beside that.
_LEAST_LATER_NBYTES = 1 << 22
# The member that tells a sparse array's kind, and the parts of each kind in the order of a record.
FORMAT = "/format"
SPARSE_PARTS = {"csr": ("indptr", "indices"), "row_sparse": ("indices",)}
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
    """Read one `.npy` array in any byte order, either memory order, format version 1 or 2.

    Raises:
        FileFormatError: It is truncated or corrupt, or holds no type of number that gluonish has.
    """
    return _read_values(reader, *_read_header(reader))


def _read_header(reader: ByteReader) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    """Return shape, dtype as stored, and whether the memory order is Fortran's."""
    magic = reader.take(8, "npy header")
    if magic[:6] != b"\x93NUMPY" or magic[6] not in (1, 2):
        reader.offset -= 8
        raise reader.error("an npy header of version 1 or 2", magic)
    (length,) = reader.numbers("H" if magic[6] == 1 else "I", "npy header length")
    if length > _MAX_HEADER_NBYTES:
        raise reader.error(f"an npy header of up to {_MAX_HEADER_NBYTES} bytes", length)
    header = reader.take(length, "npy header")
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
    # MXNet's own spelling of bfloat16, and NumPy's for types of other packages.
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
    """Read an archive of `.npy` members; sparse arrays are folders of several members.

    Args:
        file: The archive, up to its end; it stays open while arrays are read.
        name: What error messages call it.
        memory: The whole file as `private_map` gave it, in which arrays that are not compressed
            stay; None if it is to be read.

    Returns:
        The arrays in the order of the archive, their names, and what the archive's comment says if
        it is text by name in JSON. A large array that is damaged is found to be so when it is read.

    Raises:
        FileFormatError: The archive is corrupt or tells sizes that it cannot hold, or a member is
            no array.
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
        # A place before the beginning, which an archive may name, is an error of the system.
        foreign = isinstance(error, OSError) and error.errno != errno.EINVAL
        if foreign or isinstance(error, FileFormatError):
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
    """Refuse claims that would let a small file fill the memory, overlapping members included."""
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
    """Return a member's array, or where it is not compressed and large, what reads it."""
    label = f"{name}/{info.filename}"
    if not info.filename.endswith(SUFFIX):
        raise FileFormatError(
            f"{name}: expected members named *{SUFFIX}, got {info.filename!r:.80} at byte "
            f"{info.header_offset}"
        )
    start = _place(archive, info)
    if start is None:
        with archive.open(info) as member:
            return read_npy(ByteReader(member, label, start=0, end=info.file_size))  # type: ignore[arg-type]  # reads like a file
    file: Any = archive.fp
    if memory is None and info.file_size >= _LEAST_LATER_NBYTES:
        header = ByteReader(file, label, None, start, start + info.file_size)
        shape, dtype, _ = _read_header(header)
        read = partial(_read_stored, file, label, None, start, info)
        return StoredArray(shape, dtype.newbyteorder("="), read)
    return _read_stored(file, label, memory, start, info)


def _read_stored(
    file: Any, label: str, memory: mmap.mmap | None, start: int, info: zipfile.ZipInfo
) -> Any:
    """Read a member that is not compressed, and compare its checksum."""
    end = start + info.file_size
    if memory is not None:
        with memoryview(memory) as content, content[start:end] as member:
            if len(member) != info.file_size or zlib.crc32(member) != info.CRC:
                raise _damaged(label, info)
        return read_npy(ByteReader(file, label, memory, start, end))
    with _Checksum(info.file_size) as checksum:
        reader = ByteReader(file, label, None, start, end, checksum.add)
        values = read_npy(reader)
        reader.take(reader.remaining, "what follows the array")
    if checksum.value != info.CRC:
        raise _damaged(label, info)
    return values


def _damaged(label: str, info: zipfile.ZipInfo) -> FileFormatError:
    return FileFormatError(
        f"{label}: expected the bytes that were written, got others: Bad CRC-32 for file "
        f"{info.filename!r:.80} at byte {info.header_offset}; fetch or write the file again"
    )


class _Checksum:
    """The CRC-32 of what is read, once the ``with`` block has ended.

    Of much, a thread computes it while the next piece is read.
    """

    def __init__(self, nbytes: int) -> None:
        self.value = 0
        self._pieces: SimpleQueue[Any] = SimpleQueue()
        self._thread: Thread | None = None
        if nbytes >= _LEAST_LATER_NBYTES:
            self._thread = Thread(target=self._run, name="gluonish checksum", daemon=True)

    def __enter__(self) -> "_Checksum":
        try:
            if self._thread is not None:
                self._thread.start()
        except RuntimeError:  # no thread starts while the interpreter ends
            self._thread = None
        return self

    def add(self, piece: Any) -> None:
        """Add bytes that nobody changes before the block has ended."""
        if self._thread is None:
            self.value = zlib.crc32(piece, self.value)
        else:
            self._pieces.put(piece)

    def _run(self) -> None:
        while (piece := self._pieces.get()) is not None:
            self.value = zlib.crc32(piece, self.value)

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            self._pieces.put(None)
            self._thread.join()


def _place(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int | None:
    """Return where in the file a member's bytes begin; None if they do not stand there as such."""
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
    if stype not in SPARSE_PARTS:
        raise FileFormatError(
            f"{name}: expected csr or row_sparse in {owner + FORMAT!r}, got {text}"
        )
    wanted = [f"{owner}/{part}" for part in ("shape", "data", *SPARSE_PARTS[stype])]
    missing = [part for part in wanted if part not in members]
    if missing:
        raise FileFormatError(f"{name}: expected {', '.join(missing)} for {owner!r}, got none")
    shape_values, values, *aux = (_values(members[part]) for part in wanted)
    if shape_values.dtype.kind not in "iu" or shape_values.ndim != 1:
        raise FileFormatError(f"{name}: expected a shape in {wanted[0]!r}, got {shape_values}")
    shape = tuple(int(size) for size in shape_values)
    problem = sparse_problem(stype, shape, values, tuple(aux))
    if problem or values.dtype.kind == "S":
        raise FileFormatError(
            f"{name}: expected a {stype} array in {owner!r}, got {problem or values}"
        )
    return SparseRecord(stype, shape, values, tuple(aux))
