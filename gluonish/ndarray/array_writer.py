"""Write array files in the format that the extension selects; see `array_file`."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import BinaryIO

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.files import AnyPath, atomic_write, path_text
from gluonish.core.loading import load
from gluonish.ndarray.array_record import SparseRecord
from gluonish.ndarray.list_file import Entry, StoredArray, write_list

Target = str | os.PathLike[str] | BinaryIO

PARAMS, NPZ, NPY = "params", "npz", "npy"
SAFETENSORS, SHARDS = "safetensors", "sharded safetensors"
# Longest first. All other names are list files.
_ENDINGS = {".safetensors.index.json": SHARDS, ".safetensors": SAFETENSORS, ".npz": NPZ}

_PREFIX_ENDINGS = (".safetensors", ".npz")

# Metadata entry that marks a list of arrays without names, in formats that require names.
LIST_KEY, LIST = "gluonish.arrays", "list"


def format_of(path: AnyPath) -> str:
    """Return the kind of file to write to a path; see `ArrayFile`."""
    name = os.fsdecode(path).lower()
    return next((kind for ending, kind in _ENDINGS.items() if name.endswith(ending)), PARAMS)


def split_prefix(prefix: AnyPath) -> tuple[str, str]:
    """Split a model's prefix into the stem of its file names and the extension of array files.

    The extension is ``.safetensors`` or ``.npz`` if the prefix ends with it, else ``.params``.
    """
    prefix = path_text(prefix, "prefix")
    for ending in _PREFIX_ENDINGS:
        if prefix.lower().endswith(ending) and len(os.path.basename(prefix)) > len(ending):
            return prefix[: -len(ending)], ending
    return prefix, ".params"


def find_arrays(prefix: AnyPath, middle: str) -> str:
    """Return the path of a model's array file, in the first format for which a file exists.

    Args:
        prefix: See `split_prefix`; its format is tried first.
        middle: Text between the stem and the extension.
    """
    stem, ending = split_prefix(prefix)
    paths = [f"{stem}{middle}{kind}" for kind in (ending, ".params", *_PREFIX_ENDINGS)]
    return next(filter(os.path.exists, paths), paths[0])


def list_name(kind: str, number: int) -> str:
    """Return the name of an unnamed array in a format that requires names."""
    return f"arr_{number}" if kind == NPZ else str(number)


def write_arrays(
    path: str | os.PathLike[str],
    arrays: Sequence[Entry],
    names: Sequence[str] = (),
    *,
    numpy_shape: bool = False,
    metadata: Mapping[str, str] | None = None,
    max_shard_nbytes: int | None = None,
    kind: str | None = None,
) -> None:
    """Write arrays atomically, in the format that the extension of the path selects.

    Args:
        path: The file.
        arrays: The arrays; lazy ones are read one at a time.
        names: The name of each array; empty if arrays have no names.
        numpy_shape: For list files, see `write_list`.
        metadata: Text by name; not supported by list files.
        max_shard_nbytes: For ``.safetensors.index.json``: maximum bytes of values in one shard; a
            larger array gets its own shard. None for 5 GB.
        kind: The format, such as `NPZ`, whatever the extension.

    Raises:
        ArgumentError: The format does not support a name, an array, metadata or a shard size.
        ArgumentTypeError: The format does not support the dtype of an array.
        OSError: The file cannot be written.
    """
    kind = format_of(path) if kind is None else kind
    entries = dict(metadata or {})
    if max_shard_nbytes is not None and (kind != SHARDS or max_shard_nbytes < 1):
        raise ArgumentError(
            "save: expected max_shard_nbytes of 1 or more and a name that ends with "
            f"'.safetensors.index.json', got {max_shard_nbytes} and {os.fspath(path)!r}"
        )
    if kind == PARAMS:
        if entries:
            raise ArgumentError(
                f"save: expected no metadata for a list file, got {sorted(entries)} for "
                f"{os.fspath(path)!r}; save as .safetensors or .npz"
            )
        write_array_list(path, arrays, names, numpy_shape=numpy_shape)
        return
    _check_names(arrays, names)
    if not names:
        entries[LIST_KEY] = LIST
        names = [list_name(kind, i) for i in range(len(arrays))]
    if kind == NPZ:
        npz_writer = load("gluonish.ndarray.npz_writer")
        npz_writer.check_npz(arrays, names, entries)
        with atomic_write(path) as file:
            npz_writer.write_npz(file, arrays, names, entries)
        return
    dense = {name: _dense(array, name) for array, name in zip(arrays, names, strict=True)}
    safetensors_writer = load("gluonish.ndarray.safetensors_writer")
    safetensors_writer.check_safetensors(dense, entries)
    if kind == SHARDS:
        safetensors_writer.write_shards(path, dense, entries, max_shard_nbytes)
        return
    with atomic_write(path) as file:
        safetensors_writer.write_safetensors(file, dense, entries)


def _check_names(arrays: Sequence[Entry], names: Sequence[str]) -> None:
    if names and len(names) != len(arrays):
        raise ArgumentError(f"save: expected {len(arrays)} names or none, got {len(names)}")
    if len(set(names)) != len(names):
        ((twice, _),) = Counter(names).most_common(1)
        raise ArgumentError(f"save: expected distinct names, got {twice!r} twice")


def _dense(array: Entry, name: str) -> StoredArray:
    if isinstance(array, StoredArray):
        return array
    if isinstance(array, SparseRecord) or array.values is None:
        what = array.stype if isinstance(array, SparseRecord) else "an undefined one"
        raise ArgumentTypeError(
            f"save: expected dense arrays for safetensors, got {what} at {name!r}; save as "
            ".params, or use tostype('default')"
        )
    values = array.values
    return StoredArray(values.shape, values.dtype, lambda: values)


def write_array_list(
    target: Target,
    records: Sequence[Entry],
    names: Sequence[str] = (),
    *,
    numpy_shape: bool = False,
) -> None:
    """Write a list file to a path, atomically, or to an open binary file; see `write_list`.

    Raises:
        ArgumentError: The number of names is wrong, or see `write_list`.
        ArgumentTypeError: The format does not support the dtype of an array.
        OSError: The file cannot be written.
    """
    if names and len(names) != len(records):
        raise ArgumentError(
            f"write_array_list: expected {len(records)} names or none, got {len(names)}"
        )
    if isinstance(target, str | os.PathLike):
        with atomic_write(target) as file:
            write_list(file, records, names, numpy_shape=numpy_shape)
    else:
        write_list(target, records, names, numpy_shape=numpy_shape)
