"""Array files of all formats. The extension selects the format to write; when reading, the first
bytes determine it.

===========================  ====================================================================
``.safetensors``             `gluonish.ndarray.safetensors_file`
``.safetensors.index.json``  sharded safetensors with an index: `gluonish.ndarray.sharded_file`
``.npz``                     NumPy archive: `gluonish.ndarray.npz_file`
any other name               MXNet list file, mostly ``.params``: `gluonish.ndarray.list_file`
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
from gluonish.core.file_kind import HEAD_NBYTES, found_text, may_be_npz
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
    """The content of an array file.

    Attributes:
        kind: ``"params"``, ``"npz"``, ``"npy"``, ``"safetensors"`` or ``"sharded safetensors"``.
        arrays: In file order; arrays that are read lazily can be read while the file is open.
        names: The name of each array, or empty. A list file may contain duplicates.
        metadata: Text by name; only in safetensors and npz files.
    """

    kind: str
    arrays: list[Entry]
    names: list[str] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)


@contextmanager
def open_arrays(source: Source, mmap: bool | None = False) -> Iterator[ArrayFile]:
    """Open an array file and read its structure; values may be read lazily.

    The first bytes determine the kind: a list file, an archive (``PK``), a single NumPy array
    (``\\x93NUM``), an index of shards (a JSON object), or safetensors (a length and a JSON object).

    Args:
        source: Path, content, or a binary file, which is read from its current position to its end.
        mmap: Whether to map large arrays of safetensors and npz files instead of reading them; the
            mapping outlives the block (`gluonish.core.file_map`). None for the option
            ``GLUONISH_MAP_FILES``.

    Yields:
        The content, to be read inside the ``with`` block.

    Raises:
        FileFormatError: The file is truncated, corrupt, or has another format.
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
    """Read an array file with its values; see `open_arrays`."""
    with CollectionPause(), open_arrays(source, mmap) as found:
        found.arrays = [record_of(array) for array in found.arrays]
        return found


def read_array_list(source: Source) -> tuple[list[ArrayRecord], list[str]]:
    """Return the arrays of a file and their names, if any; see `open_arrays`."""
    found = read_arrays(source)
    return [record_of(array) for array in found.arrays], found.names


def kind_of(head: bytes) -> str:
    """Return the kind of `ArrayFile` by the first nine bytes of a file; ``""`` if unknown.

    A safetensors file begins with the header length, which may equal the magic number of a list
    file or look like a brace; so the brace of its header, the ninth byte, is checked first.
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
            f"{found_text(head)}"
        )
    if kind == NPZ:
        memory = None if start else private_map(file, mmap)
        entries, names, metadata = load("gluonish.ndarray.npz_file").read_npz(file, name, memory)
        return _without_names(ArrayFile(NPZ, entries, names, metadata))
    if kind == SAFETENSORS:
        rest: BinaryIO = io.BytesIO(file.read()) if start else file
        memory = private_map(rest, mmap)
        safetensors = load("gluonish.ndarray.safetensors_file")
        return _named(kind, safetensors.read_safetensors(rest, name, memory))
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
    """Remove generated names: those of a list of arrays, saved in a format that requires names."""
    if found.metadata.pop(LIST_KEY, None) == LIST:
        generated = [list_name(found.kind, i) for i in range(len(found.arrays))]
        found.names = found.names if found.names != generated else []
    return found
