"""Write NumPy's `.npz`, with arrays that can be mapped and that MXNet 2.0 can read.

Members are not compressed, and each array's values are aligned to 64 bytes in the file. A sparse
array is a folder of several members, as in MXNet 2.0; bfloat16 and 8-bit floats are records with
one field named after the type. Metadata are stored in the archive's comment, as JSON.
"""

import json
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from gluonish.core.dtype import BFLOAT16, DTYPE_FLAGS, STORED_DTYPES
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.array_record import DenseRecord, SparseRecord
from gluonish.ndarray.list_file import Entry, StoredArray
from gluonish.ndarray.npz_file import FORMAT, SPARSE_AUX, SUFFIX

_ALIGNMENT = 64
_MAX_COMMENT_NBYTES = (1 << 16) - 1
_MAX_NAME_NBYTES = 1 << 15  # half of a header's limit
# Before a member's bytes are a header, the name, and the extra fields, of which the ZIP64 field is
# always present. A field begins with an id and its length.
_HEADER_NBYTES = 30 + 20
_FIELD_NBYTES = 4
_PADDING_FIELD = 0xD935
_CHUNK_NBYTES = 1 << 24


def check_npz(arrays: Sequence[Entry], names: Sequence[str], metadata: Mapping[str, str]) -> None:
    """Reject arrays, names and metadata that the format does not support.

    Raises:
        ArgumentError: A name is too long, contains a null character, or collides with a member of a
            sparse array; or the metadata are too long.
        ArgumentTypeError: A dtype is not supported, an array is undefined, or metadata are not
            text.
    """
    folders = {n for n, array in zip(names, arrays, strict=True) if isinstance(array, SparseRecord)}
    for name, array in zip(names, arrays, strict=True):
        _check_name(name, folders)
        dtype = array.dtype
        if dtype is None:
            raise ArgumentTypeError(f"npz: expected arrays, got an undefined one at {name!r}")
        if dtype.newbyteorder("<") not in DTYPE_FLAGS and dtype not in STORED_DTYPES:
            known = ", ".join(d.name for d in (*DTYPE_FLAGS, *STORED_DTYPES))
            raise ArgumentTypeError(f"npz: expected {name!r} of a dtype among {known}, got {dtype}")
    if not all(isinstance(text, str) for text in (*metadata, *metadata.values())):
        raise ArgumentTypeError(f"npz: expected metadata of str, got {dict(metadata)!r:.200}")
    if len(_comment(metadata)) > _MAX_COMMENT_NBYTES:
        raise ArgumentError(
            f"npz: expected metadata of up to {_MAX_COMMENT_NBYTES} bytes, got "
            f"{len(_comment(metadata))}; save as .safetensors"
        )


def _check_name(name: str, folders: set[str]) -> None:
    try:
        fits = len(name.encode()) <= _MAX_NAME_NBYTES and "\0" not in name
    except UnicodeEncodeError:
        fits = False
    if not fits:
        raise ArgumentError(
            f"npz: expected names that UTF-8 can hold in {_MAX_NAME_NBYTES} bytes without \\0, got "
            f"{name!r:.100}"
        )
    if name.endswith(FORMAT) or name.rpartition("/")[0] in folders:
        raise ArgumentError(
            f"npz: expected names that do not collide with a sparse array's members, got "
            f"{name!r:.100}; save as .params"
        )


def _comment(metadata: Mapping[str, str]) -> bytes:
    return json.dumps(dict(metadata)).encode() if metadata else b""


def write_npz(
    file: BinaryIO, arrays: Sequence[Entry], names: Sequence[str], metadata: Mapping[str, str]
) -> None:
    """Write an archive of arrays that `check_npz` accepts to an empty file; read lazy ones in turn.

    Raises:
        OSError: The file cannot be written.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in zip(names, arrays, strict=True):
            for suffix, values in _members(array):
                _write_member(archive, f"{name}{suffix}{SUFFIX}", values)
        archive.comment = _comment(metadata)


def _members(array: Entry) -> Iterator[tuple[str, Any]]:
    """Yield the name suffix and the values of each member of an array."""
    if isinstance(array, StoredArray):
        yield "", array.read()
    elif isinstance(array, DenseRecord):
        yield "", array.values
    else:
        yield "/data", array.values
        for key, values in zip(SPARSE_AUX[array.stype], array.aux, strict=True):
            yield f"/{key}", values
        yield "/shape", np.array(array.shape, np.int64)
        yield FORMAT, np.array(array.stype.encode())


def _write_member(archive: zipfile.ZipFile, name: str, values: Any) -> None:
    contiguous = np.asarray(values, dtype=values.dtype.newbyteorder("<"), order="C")
    header = _npy_header(contiguous)
    member = zipfile.ZipInfo(name)
    file = archive.fp
    assert file is not None
    start = file.tell() + _HEADER_NBYTES + len(name.encode()) + len(header)
    padding = -(start + _FIELD_NBYTES) % _ALIGNMENT
    member.extra = struct.pack("<HH", _PADDING_FIELD, padding) + bytes(padding)
    content: memoryview = contiguous.reshape(-1).view(np.uint8).data
    with archive.open(member, "w", force_zip64=True) as target:
        target.write(header)
        for at in range(0, len(content), _CHUNK_NBYTES):
            target.write(content[at : at + _CHUNK_NBYTES])


def _npy_header(values: Any) -> bytes:
    dtype = values.dtype
    described: Any = dtype.str
    if dtype == BFLOAT16 or dtype in STORED_DTYPES:
        described = [(dtype.name, "<u2" if dtype == BFLOAT16 else "|u1")]
    text = f"{{'descr': {described!r}, 'fortran_order': False, 'shape': {values.shape!r}, }}"
    length = len(text) + 1
    length += -(length + 10) % _ALIGNMENT
    return b"\x93NUMPY\1\0" + struct.pack("<H", length) + f"{text:<{length - 1}}\n".encode("latin1")
