"""NumPy's `.npy` and `.npz`, which MXNet 2.0 writes under the name `.params`, read with care.

NumPy's own loader trusts the sizes that a header tells and would unpickle objects. Here a member
can be no larger than its compressed bytes can give, and only the element types of `.params` files
are taken.
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
from typing import Any, BinaryIO

import numpy as np

from gluonish.core.dtype import BFLOAT16, DTYPE_FLAGS, STORED_DTYPES
from gluonish.core.errors import FileFormatError
from gluonish.core.files import DEFLATE_RATIO
from gluonish.ndarray.array_record import (
    ArrayRecord,
    DenseRecord,
    SparseRecord,
    sparse_problem,
)
from gluonish.ndarray.byte_reader import MAX_RANK, ByteReader

__all__ = ["FORMAT", "SPARSE_PARTS", "SUFFIX", "read_npy", "read_npz"]

_STORED: dict[str, np.dtype[Any]] = {dtype.name: dtype for dtype in STORED_DTYPES}
# NumPy calls the other types of 8 bits all by one name.
_NAMED_BY_NUMPY = ("float8_e5m2", "<f1")
# More than deflate's best ratio allows; for members of a few bytes.
_SLACK_NBYTES = 1024
_MAX_HEADER_NBYTES = 10_000
SUFFIX = ".npy"
# Of the header before each member: its bytes, where it tells how long what follows it is, and the
# bit for encryption.
_LOCAL_HEADER_NBYTES = 30
_LENGTHS_OFFSET = 26
_ENCRYPTED = 1
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
) -> tuple[list[ArrayRecord], list[str], dict[str, str]]:
    """Read an archive of `.npy` members; sparse arrays are folders of several members.

    Args:
        file: The archive, up to its end.
        name: What error messages call it.
        memory: The whole file as `private_map` gave it, in which arrays that are not compressed
            stay; None if it is to be read.

    Returns:
        The arrays in the order of the archive, their names, and what the archive's comment says if
        it is text by name in JSON.

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
    label = f"{name}/{info.filename}"
    if not info.filename.endswith(SUFFIX):
        raise FileFormatError(
            f"{name}: expected members named *{SUFFIX}, got {info.filename!r:.80} at byte "
            f"{info.header_offset}"
        )
    start = None if memory is None else _place(archive, info)
    if memory is None or start is None:
        return read_npy(ByteReader(io.BytesIO(archive.read(info)), label))
    with memoryview(memory) as content, content[start : start + info.file_size] as member:
        if len(member) != info.file_size or zlib.crc32(member) != info.CRC:
            raise zipfile.BadZipFile(f"Bad CRC-32 for file {info.filename!r}")
    end = start + info.file_size
    return read_npy(ByteReader(io.BytesIO(), label, memory, start, end))


def _place(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int | None:
    """Return where in the file a member's bytes begin; None if they do not stand there as such."""
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & _ENCRYPTED:
        return None
    if info.file_size != info.compress_size:
        return None
    with archive.open(info):  # which compares the header before the bytes with the directory
        pass
    file = archive.fp
    assert file is not None
    file.seek(info.header_offset + _LENGTHS_OFFSET)
    name_nbytes, extra_nbytes = struct.unpack("<HH", file.read(4))
    start: int = info.header_offset + _LOCAL_HEADER_NBYTES + name_nbytes + extra_nbytes
    return start


def _group(members: dict[str, Any], name: str) -> tuple[list[ArrayRecord], list[str]]:
    sparse = {key.removesuffix(FORMAT) for key in members if key.endswith(FORMAT)}
    records: dict[str, ArrayRecord] = {}
    for key, values in members.items():
        owner, _, _ = key.rpartition("/")
        if owner in sparse:
            if owner not in records:
                records[owner] = _sparse_record(members, owner, name)
        elif values.dtype.kind == "S":
            raise FileFormatError(f"{name}: expected numbers in {key!r}, got {values.dtype}")
        else:
            records[key] = DenseRecord(values)
    return list(records.values()), list(records)


def _sparse_record(members: dict[str, Any], owner: str, name: str) -> SparseRecord:
    text = members[owner + FORMAT]
    stype = bytes(text.item()).decode("latin1") if text.dtype.kind == "S" and not text.ndim else ""
    if stype not in SPARSE_PARTS:
        raise FileFormatError(
            f"{name}: expected csr or row_sparse in {owner + FORMAT!r}, got {text}"
        )
    wanted = [f"{owner}/{part}" for part in ("shape", "data", *SPARSE_PARTS[stype])]
    missing = [part for part in wanted if part not in members]
    if missing:
        raise FileFormatError(f"{name}: expected {', '.join(missing)} for {owner!r}, got none")
    shape_values, values, *aux = (members[part] for part in wanted)
    if shape_values.dtype.kind not in "iu" or shape_values.ndim != 1:
        raise FileFormatError(f"{name}: expected a shape in {wanted[0]!r}, got {shape_values}")
    shape = tuple(int(size) for size in shape_values)
    problem = sparse_problem(stype, shape, values, tuple(aux))
    if problem or values.dtype.kind == "S":
        raise FileFormatError(
            f"{name}: expected a {stype} array in {owner!r}, got {problem or values}"
        )
    return SparseRecord(stype, shape, values, tuple(aux))
