"""Write safetensors files, single or sharded with an index."""

import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.files import atomic_write, written_together
from gluonish.ndarray.list_file import StoredArray
from gluonish.ndarray.safetensors_file import DTYPES, MAX_HEADER_NBYTES, METADATA

INDEX_ENDING = ".safetensors.index.json"
_CODES = {dtype: code for code, dtype in DTYPES.items()}
# A cache line; no kernel needs more.
_ALIGNMENT = 64
_CHUNK_NBYTES = 1 << 24
# The default of other libraries.
DEFAULT_SHARD_NBYTES = 5_000_000_000


def check_safetensors(arrays: Mapping[str, StoredArray], metadata: Mapping[str, str]) -> None:
    """Reject arrays, names and metadata that the format does not support.

    Raises:
        ArgumentError: A name is reserved by the format, or cannot be encoded in UTF-8.
        ArgumentTypeError: A dtype is not supported, or metadata are not text.
    """
    for name, array in arrays.items():
        if _little_endian(array.dtype) not in _CODES:
            raise ArgumentTypeError(
                f"safetensors: expected {name!r} of a dtype among "
                f"{', '.join(dtype.name for dtype in _CODES)}, got {array.dtype}"
            )
        if name == METADATA:
            raise ArgumentError(
                f"safetensors: expected names other than {METADATA!r}, which the format reserves "
                "for metadata; rename the array"
            )
    _check_text([*arrays, *metadata, *metadata.values()])


def _check_text(texts: Sequence[Any]) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise ArgumentTypeError(f"safetensors: expected metadata of str, got {text!r}")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ArgumentError(
                f"safetensors: expected names and metadata that UTF-8 can hold, got {text!r}"
            ) from error


def _little_endian(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("<")


def _nbytes(array: StoredArray) -> int:
    return int(np.prod(array.shape, dtype=object)) * array.dtype.itemsize


def write_safetensors(
    file: BinaryIO,
    arrays: Mapping[str, StoredArray],
    metadata: Mapping[str, str],
    on_write: Callable[[memoryview], object] = lambda chunk: None,
) -> None:
    """Write arrays, aligned for kernels that use them from a mapping.

    Args:
        file: A file open for writing bytes.
        arrays: By name, accepted by `check_safetensors`; lazy ones are read one at a time.
        metadata: Text by name.
        on_write: Called with each chunk of values after it is written.

    Raises:
        ArgumentError: Names and shapes make a header that is too long.
        OSError: The file cannot be written.
    """
    order = _aligned_order(arrays)
    header: dict[str, Any] = {METADATA: dict(metadata)} if metadata else {}
    offsets, at = {}, 0
    for name in order:
        offsets[name] = [at, at := at + _nbytes(arrays[name])]
    for name, array in arrays.items():
        code = _CODES[_little_endian(array.dtype)]
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": offsets[name]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-(len(text) + 8) % _ALIGNMENT)
    if len(text) > MAX_HEADER_NBYTES:
        raise ArgumentError(
            f"safetensors: expected names and shapes that fit in a header of {MAX_HEADER_NBYTES} "
            f"bytes, got {len(text)}; write to {'*' + INDEX_ENDING!r}"
        )
    file.write(len(text).to_bytes(8, "little") + text)
    for name in order:
        for chunk in _chunks(arrays[name]):
            file.write(chunk)
            on_write(chunk)


def _aligned_order(arrays: Mapping[str, StoredArray]) -> list[str]:
    """Order arrays so that they are aligned: multiples of a cache line first, then by item size."""

    def key(name: str) -> tuple[bool, int]:
        array = arrays[name]
        return _nbytes(array) % _ALIGNMENT != 0, -array.dtype.itemsize

    return sorted(arrays, key=key)


def _chunks(array: StoredArray) -> Iterator[memoryview]:
    values = array.read()
    contiguous = np.asarray(values, dtype=_little_endian(values.dtype), order="C")
    content: memoryview = contiguous.reshape(-1).view(np.uint8).data
    for start in range(0, len(content), _CHUNK_NBYTES):
        yield content[start : start + _CHUNK_NBYTES]


def write_shards(
    path: str | os.PathLike[str],
    arrays: Mapping[str, StoredArray],
    metadata: Mapping[str, str],
    max_shard_nbytes: int | None,
) -> None:
    """Write arrays to shards and an index of them.

    The index is renamed last: a process that ends before leaves no index, or the old files. The
    shards of ``model.safetensors.index.json`` are ``model-00001-of-00002.safetensors`` and so on,
    in the same folder.

    Args:
        path: The index, which ends with ``.safetensors.index.json``.
        arrays: By name, accepted by `check_safetensors`.
        metadata: Text by name, stored in every shard.
        max_shard_nbytes: Maximum bytes of values in one shard; a larger array gets its own shard.
            None for 5 GB.
    """
    shards = _split(arrays, DEFAULT_SHARD_NBYTES if max_shard_nbytes is None else max_shard_nbytes)
    index = Path(path)
    stem = index.name[: -len(INDEX_ENDING)]
    names = [f"{stem}-{n:05d}-of-{len(shards):05d}.safetensors" for n in range(1, len(shards) + 1)]
    sums = []
    with written_together(index, *(index.with_name(name) for name in names)):
        for name, shard in zip(names, shards, strict=True):
            with atomic_write(index.with_name(name)) as file:
                checksum = _Checksum()
                write_safetensors(file, shard, metadata, checksum.add)
                sums.append(f"{checksum.value:08x}")
        total = sum(_nbytes(array) for array in arrays.values())
        # Checksums make the index depend on the values, so an old index never matches new shards,
        # whenever the process ends.
        facts = {"total_size": total, "crc32": sums}
        weight_map = {key: name for name, shard in zip(names, shards, strict=True) for key in shard}
        with atomic_write(index) as file:
            file.write(json.dumps({"metadata": facts, "weight_map": weight_map}, indent=2).encode())


class _Checksum:
    value = 0

    def add(self, chunk: memoryview) -> None:
        self.value = zlib.crc32(chunk, self.value)


def _split(arrays: Mapping[str, StoredArray], most: int) -> list[dict[str, StoredArray]]:
    shards: list[dict[str, StoredArray]] = [{}]
    filled = 0
    for name, array in arrays.items():
        nbytes = _nbytes(array)
        if shards[-1] and filled + nbytes > most:
            shards.append({})
            filled = 0
        shards[-1][name] = array
        filled += nbytes
    return shards
