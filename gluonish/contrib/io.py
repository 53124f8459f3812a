"""DataLoaderIter: a Gluon DataLoader as an iterator of ``mx.io``."""

from collections.abc import Iterator
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.io import DataBatch, DataDesc, DataIter
from gluonish.ndarray import NDArray, concatenate, zeros

__all__ = ["DataLoaderIter"]


class DataLoaderIter(DataIter):
    """DataIter over the batches of a `DataLoader` whose samples are pairs of data and label.

    A smaller batch at the end is padded with zeros, counted by ``pad``.

    Args:
        loader: DataLoader of batches (data, label), all of the same size except the last.
        data_name: Name of the data.
        label_name: Name of the labels.
        dtype: Element type to which both are converted.

    Attributes:
        batch_size: Number of samples in a batch.
        dtype: The argument.
        provide_data: List with the description of the data.
        provide_label: List with the description of the labels.

    Raises:
        ArgumentError: The loader has no batches, or its batches are not pairs.
    """

    def __init__(
        self,
        loader: Any,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        self._loader = loader
        self._iter: Iterator[Any] = iter(loader)
        self._first = next(self._iter, None)
        if self._first is None:
            raise ArgumentError("DataLoaderIter: expected a loader with a batch, got an empty one")
        data, label = _pair(self._first)
        self.batch_size = data.shape[0]
        self.dtype = dtype
        self.provide_data = [DataDesc(data_name, data.shape, dtype)]
        self.provide_label = [DataDesc(label_name, label.shape, dtype)]
        self._current: tuple[NDArray, NDArray] | None = None

    def reset(self) -> None:
        """Start a new pass over the loader."""
        self._first = None
        self._iter = iter(self._loader)
        self._current = None

    def next(self) -> DataBatch:
        """Return the next batch.

        Raises:
            StopIteration: The pass is over; `reset` starts the next one.
        """
        if not self.iter_next():
            raise StopIteration
        return DataBatch([self.getdata()], [self.getlabel()], self.getpad(), self.getindex())

    def iter_next(self) -> bool:
        """Advance to the next batch; return whether there is one.

        Raises:
            ArgumentError: The batch is not a pair, or is larger than the first one.
        """
        # The constructor has loaded the first batch, to read the shapes.
        batch, self._first = self._first, None
        batch = next(self._iter, None) if batch is None else batch
        self._current = None if batch is None else self._checked(batch)
        return batch is not None

    def _checked(self, batch: Any) -> tuple[NDArray, NDArray]:
        data, label = _pair(batch)
        counts = data.shape[0], label.shape[0]
        if counts[0] != counts[1] or counts[0] > self.batch_size:
            raise ArgumentError(
                f"DataLoaderIter: expected as many labels as samples, and at most "
                f"{self.batch_size}, as the first batch had, got {counts[1]} labels of {counts[0]}"
            )
        return data, label

    def _padded(self, index: int) -> Any:
        if self._current is None:
            return None
        values = self._current[index].astype(self.dtype, copy=False)
        pad = self.getpad()
        if not pad:
            return values
        shape = (pad, *values.shape[1:])
        return concatenate([values, zeros(shape, values.context, self.dtype)])

    def getdata(self) -> Any:
        """Return the data of the current batch, (batch_size, ...); None if there is no batch."""
        return self._padded(0)

    def getlabel(self) -> Any:
        """Return the labels of the current batch; None if there is no batch."""
        return self._padded(1)

    def getpad(self) -> int:
        """Return the number of padding samples at the end of the current batch."""
        return 0 if self._current is None else self.batch_size - self._current[0].shape[0]

    def getindex(self) -> Any:
        """Return None: a DataLoader does not report the indices of its samples."""
        return None


def _pair(batch: Any) -> tuple[NDArray, NDArray]:
    if not isinstance(batch, list | tuple) or len(batch) != 2:
        kind = f"{len(batch)} arrays" if isinstance(batch, list | tuple) else type(batch).__name__
        raise ArgumentError(f"DataLoaderIter: expected batches of data and label, got {kind}")
    return batch[0], batch[1]
