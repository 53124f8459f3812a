"""NDArrayIter: batches of rows of arrays."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.spec import Spec
from gluonish.core.tables import is_column, is_table, numbers_of
from gluonish.io.data_iter import DataDesc, DataIter
from gluonish.io.rows import SparseRows
from gluonish.io.shared_batch import values_of
from gluonish.ndarray import NDArray, array, from_numpy
from gluonish.ndarray.sparse import CSRNDArray, RowSparseNDArray

Numbers = np.ndarray[Any, Any]


class ArrayRows(Protocol):
    """Selects rows of an array, for batches."""

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
    """Normalize data to pairs (name, array), sorted by name as in MXNet.

    Args:
        data: One array (NDArray, NumPy, HDF5 data set, or a table or column of polars, pandas or
            pyarrow), a list of arrays, a dict from names to arrays, or None. Items of a list or
            dict may be lists of numbers, too.
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
            default_name if one else f"_{i}_{default_name}": value for i, value in enumerate(data)
        }
    if not isinstance(data, Mapping):
        raise ArgumentTypeError(
            f"{iterator}: expected an NDArray, a NumPy array, an HDF5 data set, a list of them or "
            f"a dict with them as values, got {type(data).__name__}"
        )
    return [(str(name), _as_array(data[name], str(name), iterator)) for name in sorted(data)]


def _is_array(value: Any) -> bool:
    if isinstance(value, NDArray | np.ndarray):
        return True
    return _is_hdf5(value) or is_table(value) or is_column(value)


def _is_hdf5(value: Any) -> bool:
    """Whether a value is a data set of h5py, which is an optional dependency."""
    kind = type(value)
    return kind.__name__ == "Dataset" and kind.__module__.partition(".")[0] == "h5py"


def _as_array(value: Any, name: str, iterator: str) -> Any:
    if isinstance(value, RowSparseNDArray):
        value = value.tostype("default")
    if not isinstance(value, NDArray) and not _is_hdf5(value):
        value = numbers_of(iterator, value)
        try:
            # A copy, so that later changes have no effect; float32 as in MXNet.
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
        return _CsrRows(value)
    if not isinstance(value, NDArray):
        return _Hdf5Rows(value)
    return _GpuRows(value) if value.context.device_type == "gpu" else _CpuRows(value)


class _CpuRows:
    """Rows of a dense array in CPU memory; a batch is a copy of the current values."""

    def __init__(self, value: NDArray) -> None:
        self.spec = Spec(value.shape, np.dtype(value.dtype))
        self._value = value

    def take(self, rows: Numbers) -> NDArray:
        return from_numpy(values_of(self._value).take(rows, axis=0))


class _GpuRows:
    """Rows of a dense array on a GPU; the batches stay on the GPU."""

    def __init__(self, value: NDArray) -> None:
        self.spec = Spec(value.shape, np.dtype(value.dtype))
        self._value = value

    def take(self, rows: Numbers) -> NDArray:
        selected: NDArray = self._value.take(array(rows, self._value.context, np.int64))
        return selected


class _CsrRows:
    """Rows of a csr matrix; the batches are csr matrices, too."""

    def __init__(self, value: CSRNDArray) -> None:
        self.spec = Spec(value.shape, np.dtype(value.dtype))
        parts = (value.data, value.indices, value.indptr)
        self._rows = SparseRows(*(part.asnumpy() for part in parts))

    def take(self, rows: Numbers) -> NDArray:
        spec = Spec((len(rows), *self.spec.shape[1:]), self.spec.dtype)
        return self._rows.take(rows).to_batch(spec)


class _Hdf5Rows:
    """Rows of a data set in an HDF5 file, which is read batch by batch."""

    def __init__(self, value: Any) -> None:
        # The default dtype of nd.array.
        self.spec = Spec(tuple(value.shape), np.dtype(np.float32))
        self._value = value

    def take(self, rows: Numbers) -> NDArray:
        # h5py requires unique rows in ascending order.
        ascending, inverse = np.unique(rows, return_inverse=True)
        values = np.asarray(self._value[ascending], self.spec.dtype)
        return from_numpy(values[inverse.reshape(-1)])


_HANDLES = ("pad", "discard", "roll_over")


class NDArrayIter(DataIter):
    """Iterates over arrays in batches.

    ``last_batch_handle`` applies if the number of samples is not a multiple of the batch size:
    ``"pad"`` fills the last batch with samples from the start, counted by ``pad``; ``"discard"``
    drops the incomplete batch; ``"roll_over"`` saves its samples for the start of the next pass,
    and their number is the ``pad`` of that pass's first batch.

    Args:
        data: Data arrays with samples along the first axis: an NDArray, dense or csr (its batches
            are then csr; MXNet's are dense, against its documentation), a NumPy array (converted to
            float32), an h5py data set (read batch by batch), a list of arrays, or a dict from names
            to arrays. Several arrays are sorted by name.
        label: Label arrays, in the same forms; None for none.
        batch_size: Number of samples in a batch.
        shuffle: Whether to shuffle the samples before each pass. ``numpy.random.seed`` determines
            the order, which is MXNet's for the same seed.
        last_batch_handle: What to do with an incomplete last batch, as above.
        data_name: Name of a single data array; several are named ``_0_data``, ``_1_data`` ...
        label_name: Name of a single label array; several are named the same way.
        layout: Layout in the descriptions of the arrays.

    Attributes:
        data: List of pairs (name, data array).
        label: List of pairs (name, label array).
        data_list: All data and label arrays.
        num_source: Number of arrays in ``data_list``.
        num_data: Number of samples.
        idx: Indices of the samples, in the order of this pass.
        cursor: Position in ``idx`` at which the current batch begins; negative within samples saved
            from the last pass.
        batch_size: The argument; likewise shuffle, last_batch_handle and layout.

    Raises:
        ArgumentTypeError: ``data`` or ``label`` contains an item that is not an array.
        ArgumentError: There is no data array, an array has fewer samples than the first, or another
            argument is invalid.

    Example:
        >>> import gluonish as mx
        >>> batches = mx.io.NDArrayIter(mx.nd.arange(5), label=mx.nd.zeros(5), batch_size=2)
        >>> [(batch.data[0].tolist(), batch.pad) for batch in batches]
        [([0.0, 1.0], 0), ([2.0, 3.0], 0), ([4.0, 0.0], 1)]
        >>> batches.reset()  # for the next epoch
    """

    def __init__(
        self,
        data: Any,
        label: Any = None,
        batch_size: int = 1,
        shuffle: bool = False,
        last_batch_handle: str = "pad",
        data_name: str = "data",
        label_name: str = "softmax_label",
        layout: str = "NCHW",
    ) -> None:
        super().__init__(batch_size)
        if batch_size < 1:
            raise ArgumentError(f"NDArrayIter: expected batch_size of at least 1, got {batch_size}")
        if last_batch_handle not in _HANDLES:
            raise ArgumentError(
                f"NDArrayIter: expected last_batch_handle in {_HANDLES}, got {last_batch_handle!r}"
            )
        self.data = named_arrays(data, data_name, "NDArrayIter")
        self.label = named_arrays(label, label_name, "NDArrayIter")
        if not self.data:
            raise ArgumentError("NDArrayIter: expected at least one array of data, got none")
        self.data_list = [value for _, value in self.data + self.label]
        self.num_source = len(self.data_list)
        self.num_data = _common_length(self.data + self.label)
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self.layout = layout
        self.idx = np.arange(self.num_data)
        # Shuffled in place in each pass, as MXNet does, so that the same seed gives the same
        # orders.
        self._permutation = np.arange(self.num_data)
        self._data_rows = [array_rows(value) for _, value in self.data]
        self._label_rows = [array_rows(value) for _, value in self.label]
        self.hard_reset()

    @property
    def provide_data(self) -> list[DataDesc]:
        """Descriptions of the data of a batch."""
        return self._described(self.data, self._data_rows)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Descriptions of the labels of a batch."""
        return self._described(self.label, self._label_rows)

    def _described(self, named: list[tuple[str, Any]], sources: list[ArrayRows]) -> list[DataDesc]:
        return [
            DataDesc(
                name,
                (self.batch_size, *source.spec.shape[1:]),
                source.spec.dtype.type,
                self.layout,
            )
            for (name, _), source in zip(named, sources, strict=True)
        ]

    def hard_reset(self) -> None:
        """Go back to the first batch, and drop the samples that ``"roll_over"`` saved."""
        self._begin(self.idx[:0])

    def reset(self) -> None:
        """Go back to the first batch, which starts with the samples that ``"roll_over"`` saved."""
        leftover = self.idx[:0]
        at_end = self.num_data - self.batch_size < self.cursor < self.num_data
        if self.last_batch_handle == "roll_over" and at_end:
            leftover = self._rows_from(self.cursor)
        self._begin(leftover)

    def _begin(self, leftover: np.ndarray[Any, Any]) -> None:
        if self.shuffle:
            np.random.shuffle(self._permutation)  # noqa: NPY002  # MXNet's generator
            self.idx = self.idx[self._permutation]
        self._leftover = leftover
        self.cursor = -len(leftover) - self.batch_size
        self._current = False
        self._ended = False

    def _rows_from(self, cursor: int) -> np.ndarray[Any, Any]:
        """Return the samples from a position in the order to its end."""
        if cursor < 0:
            return np.concatenate([self._leftover[cursor:], self.idx])
        return self.idx[cursor:]

    def iter_next(self) -> bool:
        """Advance to the next batch; return whether there is one."""
        if not self._ended:
            self.cursor += self.batch_size
            needed = 1 if self.last_batch_handle == "pad" else self.batch_size
            self._current = self.cursor + needed <= self.num_data
            self._ended = not self._current
        return self._current

    def _batch_arrays(self, sources: list[ArrayRows]) -> list[Any]:
        if not self._current:
            raise ArgumentError(
                "NDArrayIter: expected a current batch, got none; call next or iter_next, and "
                "reset at the end of a pass"
            )
        rows = self._rows_from(self.cursor)[: self.batch_size]
        missing = self.batch_size - len(rows)
        if missing:
            rows = np.concatenate([rows, np.resize(self.idx, missing)])
        return [source.take(rows) for source in sources]

    def getdata(self) -> list[Any]:
        """Return the data of the current batch, a list of arrays.

        Raises:
            ArgumentError: There is no current batch.
        """
        return self._batch_arrays(self._data_rows)

    def getlabel(self) -> list[Any]:
        """Return the labels of the current batch, a list of arrays.

        Raises:
            ArgumentError: There is no current batch.
        """
        return self._batch_arrays(self._label_rows)

    def getpad(self) -> int:
        """Return how many samples from the start of the data pad the end of the current batch.

        With ``"roll_over"``: how many samples at the batch's start are from the previous pass.
        """
        if self.last_batch_handle == "pad":
            return max(0, self.cursor + self.batch_size - self.num_data)
        if self.last_batch_handle == "roll_over" and -self.batch_size < self.cursor < 0:
            return -self.cursor
        return 0


def _common_length(named: list[tuple[str, Any]]) -> int:
    """Return the number of samples of the first array; extra samples of others are ignored."""
    lengths = {name: value.shape[0] for name, value in named}
    first = int(next(iter(lengths.values())))
    if min(lengths.values()) < first:
        raise ArgumentError(
            f"NDArrayIter: expected at least {first} samples in each array, as many as in the "
            f"first, got {lengths}"
        )
    return first
