"""nd.save and nd.load: lists and dicts of arrays in MXNet's ``.params`` files and other formats."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.context import current_context
from gluonish.core.device import device_of
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentTypeError, FileFormatError
from gluonish.core.files import AnyPath, path_text
from gluonish.core.habits import described_value
from gluonish.core.spec import Spec
from gluonish.core.tracebacks import short_traceback
from gluonish.ndarray.array_file import (
    ArrayFile,
    ArrayRecord,
    DenseRecord,
    SparseRecord,
    decode_record,
    encode_record,
    open_arrays,
    read_arrays,
    write_arrays,
)
from gluonish.ndarray.list_file import Entry, StoredArray, record_of
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish.ndarray.sparse.array import BaseSparseNDArray
from gluonish.ndarray.sparse.creation import from_record
from gluonish_engine import Var

__all__ = [
    "array_from_state",
    "array_state",
    "dense_values",
    "load",
    "load_frombuffer",
    "load_metadata",
    "save",
]

Loaded = list[NDArray] | dict[str, NDArray]


@short_traceback
def save(
    fname: AnyPath,
    data: Any,
    *,
    metadata: Mapping[str, str] | None = None,
    max_shard_nbytes: int | None = None,
    kind: str | None = None,
) -> None:
    """Save arrays to a file, atomically: after a crash it has the old or the new content.

    The extension selects the format: ``.safetensors``, which other libraries can read and which
    loads fastest; ``.safetensors.index.json``, sharded safetensors with this index; ``.npz``,
    NumPy's archive; any other extension, usually ``.params``, MXNet's format.

    Args:
        fname: Path of the file.
        data: An NDArray, a list of NDArrays, or a dict from names to NDArrays.
        metadata: Dict of texts to store with the arrays; not supported by MXNet's format.
        max_shard_nbytes: Maximum bytes of arrays in one shard, 5 GB by default; a larger array gets
            its own shard.
        kind: The format ``"npz"``, whatever the extension; None for that of the extension.

    Raises:
        ArgumentTypeError: ``data`` contains an object that is not an NDArray, or a name that is not
            a string; or the format does not support a dtype or storage type.
        ArgumentError: The format cannot store a name, or metadata.
        OSError: The file cannot be written.

    Example:
        >>> import tempfile
        >>> import gluonish as mx
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = f"{folder}/weights.safetensors"
        ...     mx.nd.save(path, {"w": mx.nd.ones((2, 3))}, metadata={"from": "me"})
        ...     print(mx.nd.load(path)["w"].shape, mx.nd.load_metadata(path))
        (2, 3) {'from': 'me'}
    """
    fname = path_text(fname, "save")
    names: list[str] = []
    arrays = [data]
    if isinstance(data, Mapping):
        names, arrays = list(data), list(data.values())
    elif isinstance(data, list | tuple):
        arrays = list(data)
    for i, array in enumerate(arrays):
        if not isinstance(array, NDArray):
            at = f" at key {names[i]!r}" if names else f" at position {i}" * (array is not data)
            kind, _, advice = described_value(array).partition("; ")
            raise ArgumentTypeError(f"save: expected NDArrays, got {kind}{at}; {advice}")
    if any(not isinstance(name, str) for name in names):
        raise ArgumentTypeError(f"save: expected str names, got {names!r}")
    write_arrays(
        fname,
        [_entry(array) for array in arrays],
        names,
        numpy_shape=any(_needs_numpy_shape(array) for array in arrays),
        metadata=metadata,
        max_shard_nbytes=max_shard_nbytes,
        kind=kind,
    )


def _needs_numpy_shape(array: NDArray) -> bool:
    """Whether only V3 records distinguish the array from an undefined one."""
    if array.stype != "default":
        return False
    return 0 in array.shape or not array.shape


@short_traceback
def load(fname: AnyPath, *, mmap: bool | None = None) -> Loaded:
    """Load the arrays of a file: a dict if they have names, else a list.

    The content determines the format, not the name: files of all MXNet versions, safetensors
    (single or sharded, by the index), and NumPy's ``.npz``.

    Warning:
        With ``mmap``, large arrays of safetensors files and of uncompressed npz files are mapped:
        they are read from the file on first use; writes to them do not change the file. Use it only
        for files that are not modified: in-place changes by another program show up in the arrays,
        and a program that truncates the file (as ``cp new old`` does) kills this process at the
        next use (SIGBUS). Replacing a file, as `save` does, is safe.

    Args:
        fname: Path of the file.
        mmap: Whether to map large arrays into memory instead of reading them; None for the option
            ``GLUONISH_MAP_FILES``, off by default. Ignored where mapping is not supported.

    Raises:
        FileFormatError: The file has another format, is truncated, or is damaged.
        ArgumentTypeError: ``fname`` is not a path.
        OSError: The file cannot be read.
    """
    return _arrays(read_arrays(path_text(fname, "load"), mmap))


def load_metadata(fname: AnyPath) -> dict[str, str]:
    """Return the texts that `save` stored with the arrays of a file, by name.

    Args:
        fname: Path of the file.

    Raises:
        FileFormatError: The file has another format, is truncated, or is damaged.
        ArgumentTypeError: ``fname`` is not a path.
        OSError: The file cannot be read.
    """
    with open_arrays(path_text(fname, "load_metadata")) as found:
        return found.metadata


def load_frombuffer(buf: bytes) -> Loaded:
    """Load arrays from the content of a file; see `load`.

    Args:
        buf: The bytes.
    """
    return _arrays(read_arrays(bytes(buf)))


def _arrays(found: ArrayFile) -> Loaded:
    arrays = [_array(record_of(entry)) for entry in found.arrays]
    return dict(zip(found.names, arrays, strict=True)) if found.names else arrays


def _array(record: ArrayRecord) -> NDArray:
    """Return a record's array, in the current context."""
    if isinstance(record, SparseRecord):
        return from_record(record)
    return owned_array(dense_values(record))


def owned_array(values: np.ndarray[Any, Any]) -> NDArray:
    """Return values as an array in the current context, without a copy where that is possible.

    Args:
        values: NumPy array that nobody else uses, such as one that was just read.
    """
    device = device_of(current_context())
    if device.streams or not (values.flags.c_contiguous and values.flags.aligned):
        return from_host(values, None, values.dtype)
    return NDArray(values, Spec(values.shape, normalize_dtype(values.dtype)), device, Var())


def _entry(array: NDArray) -> Entry:
    """Return what a writer needs of an array; a dense array is copied to the host lazily."""
    if isinstance(array, BaseSparseNDArray):
        return array._record()
    return StoredArray(array.shape, array._spec.dtype, array.asnumpy)


def _record(array: NDArray) -> ArrayRecord:
    return record_of(_entry(array))


def dense_values(record: ArrayRecord) -> np.ndarray[Any, Any]:
    """Return a record's values as a dense array; an undefined one has shape (0,)."""
    if isinstance(record, DenseRecord):
        return np.zeros(0, np.float32) if record.values is None else record.values
    dense = np.zeros(record.shape, record.dtype)
    if record.stype == "row_sparse":
        dense[record.aux[0]] = record.values
    else:
        pointers, columns = record.aux
        rows = np.repeat(np.arange(record.shape[0]), np.diff(pointers))
        dense[rows, columns] = record.values
    return dense


def array_state(array: NDArray) -> dict[str, bytearray]:
    """Return the state of a pickle: the array's record, as in MXNet."""
    content = encode_record(_record(array), numpy_shape=_needs_numpy_shape(array))
    return {"handle": bytearray(content)}


def array_from_state(array: NDArray, state: Mapping[str, bytes]) -> None:
    """Initialize an array, in the current context, from a pickle's state.

    Raises:
        FileFormatError: The state is not an array record.
    """
    record = decode_record(state["handle"], "pickled NDArray")
    if isinstance(array, BaseSparseNDArray):
        if record.stype != array.stype:
            raise FileFormatError(
                f"pickled NDArray: expected a {array.stype} array, got {record.stype}"
            )
        sparse = _array(record)
        assert isinstance(sparse, BaseSparseNDArray)
        parts = sparse._storage
        BaseSparseNDArray.__init__(array, parts.values, parts.aux, sparse.shape)
        return
    loaded = _array(DenseRecord(dense_values(record)))
    NDArray.__init__(array, loaded._data, loaded._spec, loaded._device, loaded._var)


document_arguments(globals(), __all__)
