"""Index files of sharded safetensors, which map each array to its shard.

An index is not trusted: its shards must be in the same folder, without symbolic links out of it,
and each array must be in the shard that the index names.
"""

import os
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from gluonish.core.errors import FileFormatError, MissingFileError
from gluonish.core.file_kind import HEAD_NBYTES, file_kind, found_text
from gluonish.core.file_map import private_map
from gluonish.core.files import open_to_read
from gluonish.core.json_text import parse_object
from gluonish.ndarray.byte_reader import ByteReader
from gluonish.ndarray.list_file import StoredArray
from gluonish.ndarray.safetensors_file import Safetensors, read_safetensors

_MAX_INDEX_NBYTES = 100_000_000
_MAX_SHARDS = 99_999  # shard names have five digits


class ShardReader:
    """Reads the shards of one index, with one file open at a time.

    Arrays can be read until the ``with`` block ends; mapped ones can be used after it.

    Args:
        mmap: Whether to map shards; None for the option ``GLUONISH_MAP_FILES``.
    """

    def __init__(self, mmap: bool | None = False) -> None:
        self._mmap = mmap
        self._path: Path | None = None
        self._file: BinaryIO | None = None
        self._identities: dict[Path, tuple[int, ...]] = {}

    def __enter__(self) -> "ShardReader":
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
        self._path = self._file = None

    def open(self, path: Path) -> Safetensors:
        """Return the content of a shard.

        Raises:
            FileFormatError: The shard is not a safetensors file.
            OSError: The shard cannot be opened.
        """
        file = self.file(path)
        head = file.read(HEAD_NBYTES)
        kind = file_kind(head)
        if kind.known and not (head[8:9] == b"{" and head[4:8] == bytes(4)):
            raise FileFormatError(
                f"{path}: expected a safetensors file, as the index says, got {found_text(head)}"
            )
        memory = private_map(file, self._mmap)
        return read_safetensors(_Shard(self, path), os.fspath(path), memory)  # type: ignore[arg-type]  # reads like a file

    def file(self, path: Path) -> BinaryIO:
        """Return a shard's open file, after closing the previous one.

        Raises:
            FileFormatError: The file has changed since it was first opened.
            OSError: The shard cannot be opened.
        """
        if path == self._path and self._file is not None:
            return self._file
        self.__exit__()
        file = open_to_read(path, "load")
        self._path, self._file = path, file
        found = os.fstat(file.fileno())
        identity = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        if self._identities.setdefault(path, identity) != identity:
            raise FileFormatError(
                f"{path}: expected a file that does not change while it is read, got one that "
                "another program changed; load it again"
            )
        return file


class _Shard:
    """A shard's file, which is reopened if another shard was read in between.

    Reading another shard resets the position, so `seek` comes before each read.
    """

    def __init__(self, reader: ShardReader, path: Path) -> None:
        self._reader = reader
        self._path = path

    def __getattr__(self, name: str) -> Any:
        """Return a method of the open file: ``read``, ``readinto`` or ``seek``."""
        return getattr(self._reader.file(self._path), name)


def read_index(file: BinaryIO, name: str, open_shard: Callable[[Path], Safetensors]) -> Safetensors:
    """Read an index and the headers of its shards.

    Args:
        file: The index.
        name: Path of the index.
        open_shard: Returns the content of a shard, whose arrays can be read after it is closed.

    Raises:
        FileFormatError: The file is not an index, or names a file outside its folder or an array
            that is not in its shard, or is in two.
        MissingFileError: A shard is missing.
    """
    reader = ByteReader(file, name)
    if reader.remaining > _MAX_INDEX_NBYTES:
        raise reader.error(f"an index of up to {_MAX_INDEX_NBYTES} bytes", reader.remaining)
    text = reader.read(reader.remaining, "an index")
    content = parse_object(text, name, "the JSON of an index of safetensors files")
    if "weight_map" not in content:
        raise FileFormatError(
            f"{name}: expected the index of safetensors files, with the key 'weight_map', got "
            f"{found_text(text[:HEAD_NBYTES])}"
        )
    weight_map = _weight_map(content["weight_map"], name)
    shards = {}
    metadata: dict[str, str] = {}
    for shard in dict.fromkeys(weight_map.values()):
        shards[shard] = open_shard(_shard_path(Path(name), shard))
        metadata.update(shards[shard].metadata)
    arrays = {key: _find(shards, key, shard, name) for key, shard in weight_map.items()}
    for shard, found in shards.items():
        _check_distinct(found.arrays, shard, weight_map, name)
    return Safetensors(arrays, metadata)


def _check_distinct(
    keys: Iterable[str], shard: str, weight_map: Mapping[str, str], name: str
) -> None:
    """Refuse a shard with an array that the index says is in another one.

    Raises:
        FileFormatError: There is such an array.
    """
    for key in keys:
        if weight_map.get(key, shard) != shard:
            raise FileFormatError(
                f"{name}: expected each array in one file, got {key!r:.100} in {shard!r:.100} and "
                f"in {weight_map[key]!r:.100}, which the index names"
            )


def _weight_map(found: Any, name: str) -> dict[str, str]:
    if not isinstance(found, dict) or not all(isinstance(at, str) for at in found.values()):
        raise FileFormatError(
            f"{name}: expected a file's name for each array in the key 'weight_map' of an index of "
            f"safetensors files, got {found!r:.60}"
        )
    if len(set(found.values())) > _MAX_SHARDS:
        raise FileFormatError(
            f"{name}: expected up to {_MAX_SHARDS} files in the key 'weight_map', got more"
        )
    return found


def _shard_path(index: Path, shard: str) -> Path:
    """Return the path of a shard, after checking that it is in the folder of the index.

    Both may be symbolic links to files in one other folder, as in a download cache.
    """
    problem = ""
    if not shard.isprintable() or shard in ("", ".", "..") or set(shard) & set("/\\:"):
        problem = "which is not a file name"
    path = index.with_name("x" if problem else shard)
    if not problem:
        real = Path(os.path.realpath(path))
        folders = (Path(os.path.realpath(index.parent)), Path(os.path.realpath(index)).parent)
        if real.parent not in folders:
            problem = "a link that leads out of the folder; copy the file it names"
    if problem:
        raise FileFormatError(
            f"{index}: expected files of the same folder in the key 'weight_map', got "
            f"{shard!r:.100}, {problem}"
        )
    try:
        is_regular = stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        raise MissingFileError(
            f"{index}: expected a file {shard!r:.100} in the same folder, got {error.strerror}"
        ) from error
    if not is_regular:
        raise FileFormatError(
            f"{index}: expected regular files in the key 'weight_map', got {shard!r:.100}"
        )
    return path


def _find(shards: dict[str, Safetensors], key: str, shard: str, name: str) -> StoredArray:
    found = shards[shard].arrays.get(key)
    if found is None:
        raise FileFormatError(
            f"{name}: expected {key!r:.100} in {shard!r:.100}, as the index says, got "
            f"{len(shards[shard].arrays)} other arrays"
        )
    return found
