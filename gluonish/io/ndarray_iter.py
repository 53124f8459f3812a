"""NDArrayIter: batches of arrays in memory."""

from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.io.array_rows import ArrayRows, array_rows, named_arrays
from gluonish.io.data_iter import DataDesc, DataIter

__all__ = ["NDArrayIter"]

_HANDLES = ("pad", "discard", "roll_over")


class NDArrayIter(DataIter):
    """Iterates over arrays in batches.

    What happens to samples that fill no batch at the end of a pass is ``last_batch_handle``:
    ``"pad"`` fills the batch with samples from the start, which ``pad`` counts; ``"discard"``
    leaves them out; ``"roll_over"`` keeps them for the start of the next pass, whose first batch
    has their number as ``pad``.

    Args:
        data: Arrays of data: an NDArray, dense or of stype csr (so are its batches; those of MXNet
            are dense, against its documentation), a NumPy array (made float32), an HDF5 data set
            of h5py (read batch by batch), a list of them, or a dict from names to them. Several
            are given in the order of their names.
        label: Arrays of labels, the same; None for none.
        batch_size: Number of samples in a batch.
        shuffle: Whether to shuffle the samples before each pass, by ``numpy.random``, in the order
            that MXNet has for the same seed.
        last_batch_handle: What to do with an incomplete last batch, as above.
        data_name: Name of the data where it is one array; of several, ``_0_data``, ``_1_data`` ...
        label_name: Name of the labels, the same.
        layout: Layout that descriptions have.

    Attributes:
        data: Pairs of a name and an array.
        label: The same of the labels.
        data_list: The arrays of both.
        num_source: How many they are.
        num_data: Samples in each.
        idx: Numbers of the samples in the order of this pass.
        cursor: Where in it the current batch begins; negative by as many samples as were kept.
        batch_size: The argument; so are shuffle, last_batch_handle and layout.

    Raises:
        ArgumentTypeError: An array is none.
        ArgumentError: There is none, they differ in length, or another argument has a wrong value.
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
        # Shuffled in place, again and again, as MXNet does: so the same seed gives the same orders.
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
        """Go back to the first batch, and drop samples kept by ``"roll_over"``."""
        self._begin(self.idx[:0])

    def reset(self) -> None:
        """Go back to the first batch, which begins with the samples kept by ``"roll_over"``."""
        kept = self.idx[:0]
        at_end = self.num_data - self.batch_size < self.cursor < self.num_data
        if self.last_batch_handle == "roll_over" and at_end:
            kept = self._rows_from(self.cursor)
        self._begin(kept)

    def _begin(self, kept: np.ndarray[Any, Any]) -> None:
        if self.shuffle:
            np.random.shuffle(self._permutation)  # noqa: NPY002  # the generator that MXNet uses
            self.idx = self.idx[self._permutation]
        self._kept = kept
        self.cursor = -len(kept) - self.batch_size
        self._current = False
        self._ended = False

    def _rows_from(self, cursor: int) -> np.ndarray[Any, Any]:
        """Return the samples from a place in the order on, up to its end."""
        if cursor < 0:
            return np.concatenate([self._kept[cursor:], self.idx])
        return self.idx[cursor:]

    def iter_next(self) -> bool:
        """Advance to the next batch; return whether there is one."""
        if not self._ended:
            self.cursor += self.batch_size
            needed = 1 if self.last_batch_handle == "pad" else self.batch_size
            self._current = self.cursor + needed <= self.num_data
            self._ended = not self._current
        return self._current

    def _taken(self, sources: list[ArrayRows]) -> list[Any]:
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
        """Return the arrays of data of the current batch.

        Raises:
            ArgumentError: There is no current batch.
        """
        return self._taken(self._data_rows)

    def getlabel(self) -> list[Any]:
        """Return the arrays of labels of the current batch.

        Raises:
            ArgumentError: There is no current batch.
        """
        return self._taken(self._label_rows)

    def getpad(self) -> int:
        """Return how many samples at the end of the current batch come from the start.

        With ``"roll_over"``: how many at its start come from the pass before.
        """
        if self.last_batch_handle == "pad":
            return max(0, self.cursor + self.batch_size - self.num_data)
        if self.last_batch_handle == "roll_over" and -self.batch_size < self.cursor < 0:
            return -self.cursor
        return 0


def _common_length(named: list[tuple[str, Any]]) -> int:
    """Return the number of samples of the first array; others may have more, which are left."""
    lengths = {name: value.shape[0] for name, value in named}
    first = int(next(iter(lengths.values())))
    if min(lengths.values()) < first:
        raise ArgumentError(
            f"NDArrayIter: expected {first} samples in each array, as in the first, got {lengths}"
        )
    return first
