"""Reads checkpoints of other libraries as arrays by name, in any supported file format."""

import io
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO

import numpy as np

from gluonish.core.errors import ArgumentError, FileFormatError, NotSupportedError
from gluonish.core.file_kind import HEAD_NBYTES, file_kind, found_text
from gluonish.core.files import open_to_read, path_text
from gluonish.model_zoo.foreign.torch_file import (
    ReadStorage,
    is_legacy_start,
    read_torch_legacy,
    read_torch_zip,
    stored_array,
)
from gluonish.model_zoo.foreign.torch_pickle import StoredTensor
from gluonish.ndarray.array_file import kind_of
from gluonish.ndarray.array_record import DenseRecord
from gluonish.ndarray.array_writer import PARAMS, SAFETENSORS, SHARDS
from gluonish.ndarray.list_file import StoredArray
from gluonish.ndarray.npz_file import read_npz
from gluonish.ndarray.safetensors_file import read_safetensors
from gluonish.ndarray.sharded_file import ShardReader, read_index

# Keys under which training programs save averaged weights, which are preferred, and weights.
_AVERAGED_KEYS = ("state_dict_ema", "model_ema", "ema_state_dict", "ema")
_STATE_KEYS = (
    *("state_dict", "model_state_dict", "model_state", "model"),
    *("net", "network", "module", "weights", "params"),
)
# Prefixes that wrappers of PyTorch and training programs add to every name.
_WRAPPERS = ("module", "_orig_mod", "model", "net")
_MAX_DEPTH = 4


@dataclass
class Checkpoint:
    """The arrays of a checkpoint.

    Attributes:
        path: Path of the file.
        kind: Format: ``"safetensors"``, ``"sharded safetensors"``, ``"PyTorch zip"``, ``"PyTorch
            before 1.6"`` or ``"npz"``.
        arrays: Arrays by name, in the order of the file.
        notes: Messages for the user: chosen and ignored entries.
    """

    path: str
    kind: str
    arrays: Mapping[str, StoredArray]
    notes: list[str] = field(default_factory=list)


@contextmanager
def open_checkpoint(path: str | os.PathLike[str], key: str | None = None) -> Iterator[Checkpoint]:
    """Open a safetensors file, a PyTorch checkpoint or an `.npz` archive, detected by content.

    Args:
        path: Path of the file; for sharded safetensors, of the index.
        key: Entry of a PyTorch checkpoint with the weights; by default averaged weights
            (``state_dict_ema``, ``model_ema``), else ``state_dict``, ``model`` and similar.

    Yields:
        The `Checkpoint`, whose arrays can be read inside the ``with`` block.

    Raises:
        MissingFileError: The file does not exist.
        FileFormatError: The file is truncated, corrupt or malicious.
        NotSupportedError: The format is not supported; the message gives advice.
        ArgumentError: There is no entry ``key``, or without ``key`` several entries contain
            weights.
    """
    name = path_text(path, "open_checkpoint")
    with open_to_read(path, "open_checkpoint") as file, ShardReader() as shards:
        head = file.read(HEAD_NBYTES)
        file.seek(0)
        yield _read(file, head, name, key, shards)


def _read(
    file: BinaryIO, head: bytes, name: str, key: str | None, shards: ShardReader
) -> Checkpoint:
    if head.startswith(b"PK"):
        members = _members(file, name)
        if members and all(member.endswith(".npy") for member in members):
            return _from_npz(file, name)
        if members and not any(member.endswith("data.pkl") for member in members):
            raise FileFormatError(
                f"{name}: expected safetensors, a PyTorch zip archive or npz, got "
                f"{found_text(head)}"
            )
        return _from_torch("PyTorch zip", *read_torch_zip(file, name), name, key)
    if is_legacy_start(head):
        return _from_torch("PyTorch before 1.6", *read_torch_legacy(file, name), name, key)
    _raise_for_known_format(head, name)
    notes: list[str] = []
    if kind_of(head[:9]) == SHARDS:
        found = read_index(file, name, shards.open)
        return Checkpoint(name, "sharded safetensors", _strip_wrappers(found.arrays, notes), notes)
    arrays = _strip_wrappers(read_safetensors(file, name).arrays, notes)
    return Checkpoint(name, "safetensors", arrays, notes)


def _raise_for_known_format(head: bytes, name: str) -> None:
    """Raise an error with advice for known formats that are not supported."""
    resave = "load it in PyTorch and save it again: torch.save(model.state_dict(), path)"
    others: tuple[tuple[bool, str, str], ...] = (
        (
            head.startswith(b"\x89HDF"),
            "a Keras HDF5 file",
            "save the weights as npz: np.savez(path, **{getattr(w, 'path', w.name): w.numpy() for"
            " w in model.weights})",
        ),
        (head[257:262] == b"ustar", "a tar archive of PyTorch before 0.1.10", resave),
        (head.startswith(b"\x80"), "a pickle that is no checkpoint of PyTorch", resave),
        (
            kind_of(head[:9]) == PARAMS,
            "a .params file, which needs no import",
            "use load_parameters",
        ),
    )
    for found, what, advice in others:
        if found:
            raise NotSupportedError(
                f"{name}: expected safetensors, a PyTorch zip archive or npz, got {what}; {advice}"
            )
    if kind_of(head[:9]) not in (SAFETENSORS, SHARDS) and file_kind(head).known:
        raise FileFormatError(
            f"{name}: expected safetensors, a PyTorch zip archive or npz, got {found_text(head)}"
        )


def _members(file: BinaryIO, name: str) -> list[str]:
    try:
        with zipfile.ZipFile(file) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise FileFormatError(f"{name}: expected a zip archive, got {error}") from error
    finally:
        file.seek(0, io.SEEK_SET)


def _from_npz(file: BinaryIO, name: str) -> Checkpoint:
    records, names, _ = read_npz(file, name)
    arrays = {}
    for key, record in zip(names, records, strict=True):
        if isinstance(record, StoredArray):
            arrays[key] = record
            continue
        if not isinstance(record, DenseRecord) or record.values is None:
            raise FileFormatError(f"{name}: expected dense arrays, got {key!r:.100}")
        values = record.values
        arrays[key] = StoredArray(values.shape, values.dtype, partial(np.asarray, values))
    return Checkpoint(name, "npz", arrays)


def _from_torch(
    kind: str, value: object, read: ReadStorage, name: str, key: str | None
) -> Checkpoint:
    notes: list[str] = []
    state = _find_state(value, name, key, notes)
    tensors = {k: v for k, v in state.items() if isinstance(v, StoredTensor)}
    if len(tensors) < len(state):
        ignored = [str(k) for k in state if k not in tensors]
        notes.append(f"left out entries that are not tensors: {', '.join(ignored)[:200]}")
    arrays = {k: stored_array(v, read) for k, v in tensors.items()}
    return Checkpoint(name, kind, _strip_wrappers(arrays, notes), notes)


def _find_state(value: object, name: str, key: str | None, notes: list[str]) -> dict[str, object]:
    """Find the dictionary of tensors in nested dictionaries."""
    for _ in range(_MAX_DEPTH):
        if not isinstance(value, dict) or not all(isinstance(k, str) for k in value):
            break
        if key is None and any(isinstance(v, StoredTensor) for v in value.values()):
            return value
        inner = [k for k, v in value.items() if isinstance(v, dict) and _has_tensors(v)]
        chosen = _choose(inner, name, key)
        if len(inner) > 1:
            others = ", ".join(k for k in inner if k != chosen)
            notes.append(f"used the entry {chosen!r}; the others are {others}")
        value, key = value[chosen], None
    raise FileFormatError(
        f"{name}: expected a dictionary of tensors by name, got {type(value).__name__}; save the"
        " state_dict in PyTorch: torch.save(model.state_dict(), path)"
    )


def _choose(inner: list[str], name: str, key: str | None) -> str:
    if key is not None:
        if key in inner:
            return key
        raise ArgumentError(
            f"{name}: expected key to name a dictionary of tensors, one of {inner}, got {key!r}"
        )
    for known in (*_AVERAGED_KEYS, *_STATE_KEYS):
        if known in inner:
            return known
    if len(inner) == 1:
        return inner[0]
    if inner:
        raise ArgumentError(f"{name}: expected one of the keys {inner}, got none; pass key")
    raise FileFormatError(f"{name}: expected tensors, got none")


def _has_tensors(value: dict[object, object]) -> bool:
    """Whether a dictionary or a nested dictionary contains a tensor."""
    pending, seen = [value], {id(value)}
    while pending:
        for inner in pending.pop().values():
            if isinstance(inner, StoredTensor):
                return True
            if isinstance(inner, dict) and id(inner) not in seen:
                seen.add(id(inner))
                pending.append(inner)
    return False


def _strip_wrappers(arrays: dict[str, StoredArray], notes: list[str]) -> dict[str, StoredArray]:
    """Strip wrapper prefixes from all names; the counter of averaged weights has no prefix."""
    for wrapper in _WRAPPERS:
        prefix = f"{wrapper}."
        inside = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
        if inside and all(k.startswith(prefix) or k == "n_averaged" for k in arrays):
            notes.append(f"dropped the prefix {prefix!r} of all names")
            arrays = inside
    return arrays
