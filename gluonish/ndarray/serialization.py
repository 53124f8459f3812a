"""nd.save and nd.load: lists and dicts of arrays in MXNet's ``.params`` files."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentTypeError, FileFormatError
from gluonish.ndarray.array_file import (
    ArrayRecord,
    DenseRecord,
    SparseRecord,
    decode_record,
    encode_record,
    read_array_list,
    write_array_list,
)
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish.ndarray.sparse.array import BaseSparseNDArray
from gluonish.ndarray.sparse.creation import from_record

__all__ = ["array_from_state", "array_state", "dense_values", "load", "load_frombuffer", "save"]

Loaded = list[NDArray] | dict[str, NDArray]


def save(fname: str | os.PathLike[str], data: Any) -> None:
    """Save arrays to a file that MXNet reads, too; the file is written atomically.

    Args:
        fname: Path of the file.
        data: An NDArray, a list of them, or a dict from names to them.

    Raises:
        ArgumentTypeError: Something in ``data`` is not an NDArray, or a name is not a string.
        OSError: The file cannot be written.
    """
    names: list[str] = []
    arrays = [data]
    if isinstance(data, Mapping):
        names, arrays = list(data), list(data.values())
    elif isinstance(data, list | tuple):
        arrays = list(data)
    for i, array in enumerate(arrays):
        if not isinstance(array, NDArray):
            at = f" at key {names[i]!r}" if names else f" at position {i}" * (array is not data)
            raise ArgumentTypeError(f"save: expected NDArrays, got {type(array).__name__}{at}")
    if any(not isinstance(name, str) for name in names):
        raise ArgumentTypeError(f"save: expected str names, got {names!r}")
    records: list[ArrayRecord] = [_record(array) for array in arrays]
    numpy_shape = any(_needs_numpy_shape(array) for array in arrays)
    write_array_list(fname, records, names, numpy_shape=numpy_shape)


def _needs_numpy_shape(array: NDArray) -> bool:
    """Whether only the newer record version can tell the array from an undefined one."""
    if array.stype != "default":
        return False
    return 0 in array.shape or not array.shape


def load(fname: str | os.PathLike[str]) -> Loaded:
    """Load the arrays of a file of any MXNet version: a dict if they have names, else a list.

    Raises:
        FileFormatError: The file is of another kind, truncated, or damaged.
        ArgumentTypeError: if ``fname`` is not a path.
        OSError: It cannot be read.
    """
    if not isinstance(fname, str | os.PathLike):
        raise ArgumentTypeError(f"load: expected fname to be a path, got {fname!r}")
    return _arrays(*read_array_list(fname))


def load_frombuffer(buf: bytes) -> Loaded:
    """Load arrays from the content of a file; see `load`."""
    return _arrays(*read_array_list(bytes(buf)))


def _arrays(records: list[ArrayRecord], names: list[str]) -> Loaded:
    arrays = [_array(record) for record in records]
    return dict(zip(names, arrays, strict=True)) if names else arrays


def _array(record: ArrayRecord) -> NDArray:
    """Return a record's array, in the current context."""
    if isinstance(record, SparseRecord):
        return from_record(record)
    values = dense_values(record)
    return from_host(values, None, values.dtype)


def _record(array: NDArray) -> ArrayRecord:
    if isinstance(array, BaseSparseNDArray):
        return array._record()
    return DenseRecord(array.asnumpy())


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
    """Return what a pickle holds: the array's record, as MXNet's pickles do."""
    content = encode_record(_record(array), numpy_shape=_needs_numpy_shape(array))
    return {"handle": bytearray(content)}


def array_from_state(array: NDArray, state: Mapping[str, bytes]) -> None:
    """Fill a new array, in the current context, from a pickle's state.

    Raises:
        FileFormatError: The state holds no array record.
    """
    record = decode_record(state["handle"], "pickled NDArray")
    if isinstance(array, BaseSparseNDArray):
        if record.stype != array.stype:
            raise FileFormatError(
                f"pickled NDArray: expected a {array.stype} array, got {record.stype}"
            )
        sparse = _array(record)
        assert isinstance(sparse, BaseSparseNDArray)
        parts = sparse._parts
        BaseSparseNDArray.__init__(array, parts.values, parts.aux, sparse.shape)
        return
    loaded = _array(DenseRecord(dense_values(record)))
    NDArray.__init__(array, loaded._data, loaded._spec, loaded._device, loaded._var)


document_arguments(globals(), __all__)
