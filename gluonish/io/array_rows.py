"""Arrays that batches are taken from by rows: in memory, sparse, on a GPU, in an HDF5 file."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.spec import Spec
from gluonish.io.rows import SparseRows
from gluonish.io.shared_batch import values_of
from gluonish.ndarray import NDArray, array, from_numpy
from gluonish.ndarray.sparse import CSRNDArray, RowSparseNDArray

__all__ = ["ArrayRows", "array_rows", "named_arrays"]

Numbers = np.ndarray[Any, Any]


class ArrayRows(Protocol):
    """Gives selected rows of an array, for batches."""

    @property
    def spec(self) -> Spec:
        """Shape and dtype of the whole array."""
        ...

    def take(self, rows: Numbers) -> NDArray:
        """Return a new array of the selected rows.

        Args:
            rows: Indices of the rows, an integer array (n,).
        """
        ...


def named_arrays(data: Any, default_name: str, iterator: str) -> list[tuple[str, Any]]:
    """Return pairs (name, array), sorted by name as in MXNet.

    Args:
        data: One array (NDArray, NumPy, HDF5 data set), a list of arrays, a dict from names to
            arrays, or None. Items of a list or dict may be lists of numbers, too.
        default_name: Name of a single array; the arrays of a list are ``_0_name``, ``_1_name`` ...
        iterator: Class name of the iterator, for error messages.

    Returns:
        Pairs of a name and an NDArray or HDF5 data set. NumPy arrays become float32.

    Raises:
        ArgumentTypeError: ``data`` or one of its items is not an array.
        ArgumentError: An array has no axis of samples.
    """
    if data is None:
        return []
    if _is_array(data):
        data = {default_name: data}
    elif isinstance(data, list):
        one = len(data) == 1
        data = {
            default_name if one else f"_{place}_{default_name}": value
            for place, value in enumerate(data)
        }
    if not isinstance(data, Mapping):
        raise ArgumentTypeError(
            f"{iterator}: expected an NDArray, a NumPy array, an HDF5 data set, a list of them or "
            f"a dict with them as values, got {type(data).__name__}"
        )
    return [(str(name), _as_array(data[name], str(name), iterator)) for name in sorted(data)]


def _is_array(value: Any) -> bool:
    return isinstance(value, NDArray | np.ndarray) or _is_stored(value)


def _is_stored(value: Any) -> bool:
    """Whether a value is a data set of h5py, which needs not be there."""
    kind = type(value)
    return kind.__name__ == "Dataset" and kind.__module__.partition(".")[0] == "h5py"


def _as_array(value: Any, name: str, iterator: str) -> Any:
    if isinstance(value, RowSparseNDArray):
        value = value.tostype("default")
    if not isinstance(value, NDArray) and not _is_stored(value):
        try:
            # A copy, so that the iterator does not see later changes; MXNet makes it float32.
            value = from_numpy(np.array(value, np.float32, order="C"))
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(
                f"{iterator}: expected {name} to be an array, got {type(value).__name__} ({error})"
            ) from None
    if not value.shape:
        raise ArgumentError(f"{iterator}: expected {name} to have an axis of samples, got none")
    return value


def array_rows(value: Any) -> ArrayRows:
    """Return the `ArrayRows` of an array that `named_arrays` returned.

    Args:
        value: NDArray, dense or csr, or HDF5 data set.
    """
    if isinstance(value, CSRNDArray):
        return _Sparse(value)
    if not isinstance(value, NDArray):
        return _Stored(value)
    return _OnGpu(value) if value.context.device_type == "gpu" else _InMemory(value)


class _InMemory:
    """A dense array in CPU memory; a batch has the values of the moment in which it is taken."""

    def __init__(self, value: NDArray) -> None:
        self.spec = Spec(value.shape, np.dtype(value.dtype))
        self._value = value

    def take(self, rows: Numbers) -> NDArray:
        return from_numpy(values_of(self._value).take(rows, axis=0))


class _OnGpu:
    """A dense array on a GPU, where its batches stay."""

    def __init__(self, value: NDArray) -> None:
        self.spec = Spec(value.shape, np.dtype(value.dtype))
        self._value = value

    def take(self, rows: Numbers) -> NDArray:
        taken: NDArray = self._value.take(array(rows, self._value.context, np.int64))
        return taken


class _Sparse:
    """A matrix of stype csr; so are its batches."""

    def __init__(self, value: CSRNDArray) -> None:
        self.spec = Spec(value.shape, np.dtype(value.dtype))
        parts = (value.data, value.indices, value.indptr)
        self._rows = SparseRows(*(part.asnumpy() for part in parts))

    def take(self, rows: Numbers) -> NDArray:
        spec = Spec((len(rows), *self.spec.shape[1:]), self.spec.dtype)
        return self._rows.take(rows).to_batch(spec)


class _Stored:
    """A data set of an HDF5 file, read batch by batch."""

    def __init__(self, value: Any) -> None:
        # What nd.array makes of NumPy values.
        self.spec = Spec(tuple(value.shape), np.dtype(np.float32))
        self._value = value

    def take(self, rows: Numbers) -> NDArray:
        # h5py wants each row once, and in ascending order.
        ascending, places = np.unique(rows, return_inverse=True)
        values = np.asarray(self._value[ascending], self.spec.dtype)
        return from_numpy(values[places.reshape(-1)])
