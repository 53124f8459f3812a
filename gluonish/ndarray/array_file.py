"""Files of arrays of every format: chosen by the name's ending when written, known by their first
bytes when read.

===========================  ====================================================================
``.safetensors``             `gluonish.ndarray.safetensors_file`
``.safetensors.index.json``  the same in shards, with an index: `gluonish.ndarray.sharded_file`
``.npz``                     NumPy's archive: `gluonish.ndarray.npz_file`
any other name               MXNet's list file, mostly ``.params``: `gluonish.ndarray.list_file`
===========================  ====================================================================
"""

import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, cast

from gluonish.core.collection_pause import CollectionPause
from gluonish.core.errors import FileFormatError
from gluonish.core.file_kind import HEAD_NBYTES, found_instead, may_be_npz
from gluonish.core.file_map import private_map
from gluonish.core.files import open_to_read
from gluonish.core.loading import load
from gluonish.ndarray.array_record import (
    ArrayRecord,
    DenseRecord,
    SparseRecord,
    decode_record,
    encode_record,
)
from gluonish.ndarray.array_writer import (
    LIST,
    LIST_KEY,
    NPY,
    NPZ,
    PARAMS,
    SAFETENSORS,
    SHARDS,
    format_of,
    list_name,
    write_array_list,
    write_arrays,
)
from gluonish.ndarray.byte_reader import ByteReader
from gluonish.ndarray.list_file import LIST_START, Entry, read_list, record_of

if TYPE_CHECKING:
    from gluonish.ndarray.safetensors_file import Safetensors

__all__ = [
    "ArrayFile",
    "ArrayRecord",
    "DenseRecord",
    "SparseRecord",
    "decode_record",
    "encode_record",
    "format_of",
    "kind_of",
    "open_arrays",
    "read_array_list",
    "read_arrays",
    "write_array_list",
    "write_arrays",
]

Source = str | os.PathLike[str] | bytes | bytearray | BinaryIO


@dataclass(slots=True)
class ArrayFile:
    """What a file holds.

    Attributes:
        kind: ``"params"``, ``"npz"``, ``"npy"``, ``"safetensors"`` or ``"sharded safetensors"``.
        arrays: In the order of the file; those that are not read yet can be read while it is open.
        names: One for each array, or none. They need not be distinct in a list file.
        metadata: Text by name; only safetensors and npz files have any.
    """

    kind: str
    arrays: list[Entry]
    names: list[str] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)


@contextmanager
def open_arrays(source: Source, mmap: bool | None = False) -> Iterator[ArrayFile]:
    """Open a file of arrays, and read what can be known without their values.

    The first bytes tell the kind: a list file, an archive (``PK``), a single array of NumPy's
    (``\\x93NUM``), the index of shards (a JSON object), or a length and a JSON object: safetensors.

    Args:
        source: Path, content, or a binary file, which is read from its current position to its end.
        mmap: Whether large arrays of safetensors and npz files stay in the file, also after the
            block (`gluonish.core.file_map`); None for what ``GLUONISH_MAP_FILES`` says.

    Yields:
        What it holds, to be read inside the ``with`` block, into memory of its own.

    Raises:
        FileFormatError: The file is truncated, corrupt, or of another kind.
        OSError: The path cannot be read.
    """
    with ExitStack() as stack:
        if isinstance(source, bytes | bytearray):
            file, name = cast(BinaryIO, io.BytesIO(source)), "array file"
        elif isinstance(source, str | os.PathLike):
            file, name = stack.enter_context(open_to_read(source, "load")), os.fspath(source)
        else:
            file, name = source, str(getattr(source, "name", "array file"))
        if not file.seekable():
            file = io.BytesIO(file.read())
        yield _read_any(file, name, mmap, stack)


def read_arrays(source: Source, mmap: bool | None = False) -> ArrayFile:
    """Read a file of arrays with its values; see `open_arrays`."""
    with CollectionPause(), open_arrays(source, mmap) as found:
        found.arrays = [record_of(array) for array in found.arrays]
        return found


def read_array_list(source: Source) -> tuple[list[ArrayRecord], list[str]]:
    """Return arrays, and their names where they have some; see `open_arrays`."""
    found = read_arrays(source)
    return [record_of(array) for array in found.arrays], found.names


def kind_of(head: bytes) -> str:
    """Return what the first nine bytes of a file say that it is: a kind of `ArrayFile`, or ``""``.

    A safetensors file begins with the length of its header, which can be the number that a list
    file begins with, or look like a brace; the header's own brace comes then.
    """
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return NPZ
    if head[:4] == b"\x93NUM":
        return NPY
    if head[8:9] == b"{" and head[4:8] == bytes(4):
        return SAFETENSORS
    if head[:1] == b"{":
        return SHARDS
    return PARAMS if head[:8] == LIST_START else ""


def _read_any(file: BinaryIO, name: str, mmap: bool | None, stack: ExitStack) -> ArrayFile:
    start = file.tell()
    head = file.read(HEAD_NBYTES)
    file.seek(start)
    kind = kind_of(head[:9])
    if not head or not kind or (kind == NPZ and not may_be_npz(head)):
        raise FileFormatError(
            f"{name}: expected arrays in a .params, safetensors or npz file at byte {start}, got "
            f"{found_instead(head)}"
        )
    if kind == NPZ:
        memory = None if start else private_map(file, mmap)
        entries, names, metadata = load("gluonish.ndarray.npz_file").read_npz(file, name, memory)
        return _without_names(ArrayFile(NPZ, entries, names, metadata))
    if kind == SAFETENSORS:
        whole: BinaryIO = io.BytesIO(file.read()) if start else file
        memory = private_map(whole, mmap)
        safetensors = load("gluonish.ndarray.safetensors_file")
        return _named(kind, safetensors.read_safetensors(whole, name, memory))
    if kind == SHARDS:
        sharded_file = load("gluonish.ndarray.sharded_file")
        shards = stack.enter_context(sharded_file.ShardReader(mmap))
        return _named(kind, sharded_file.read_index(file, name, shards.open))
    reader = ByteReader(file, name)
    if kind == NPY:
        return ArrayFile(NPY, [DenseRecord(load("gluonish.ndarray.npz_file").read_npy(reader))])
    records, names = read_list(reader)
    return ArrayFile(PARAMS, list(records), names)


def _named(kind: str, found: "Safetensors") -> ArrayFile:
    arrays: list[Entry] = list(found.arrays.values())
    return _without_names(ArrayFile(kind, arrays, list(found.arrays), found.metadata))


def _without_names(found: ArrayFile) -> ArrayFile:
    """Take the names away that a list of arrays got because its format wants some."""
    if found.metadata.pop(LIST_KEY, None) == LIST:
        wanted = [list_name(found.kind, i) for i in range(len(found.arrays))]
        found.names = found.names if found.names != wanted else []
    return found
