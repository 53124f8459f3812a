"""ResizeIter: a pass of any number of batches."""

from typing import Any

from gluonish.io.data_iter import DataBatch, DataIter

__all__ = ["ResizeIter"]


class ResizeIter(DataIter):
    """Iterates over another iterator in passes of a given number of batches.

    The other iterator is reset when it ends within a pass.

    Args:
        data_iter: The other iterator.
        size: Number of batches in a pass.
        reset_internal: Whether `reset` resets the other iterator, too; if not, it continues.

    Attributes:
        data_iter: The argument; so are size and reset_internal.
        cur: How many batches of this pass were given.
        current_batch: The last of them, or None.
        provide_data: Descriptions of the data, of the other.
        provide_label: Descriptions of the labels, of the other.
        batch_size: Number of samples in a batch.
        default_bucket_key: That of the other, where it has one.
    """

    def __init__(self, data_iter: Any, size: int, reset_internal: bool = True) -> None:
        super().__init__(data_iter.batch_size)
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self.current_batch: DataBatch | None = None
        self.provide_data = data_iter.provide_data
        self.provide_label = data_iter.provide_label
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key

    def reset(self) -> None:
        """Begin the next pass."""
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def next(self) -> DataBatch:
        """Return the next batch as the other made it, with its bucket.

        Raises:
            StopIteration: The pass is over, or the other iterator has no batch at all.
        """
        if not self.iter_next():
            raise StopIteration
        assert self.current_batch is not None
        return self.current_batch

    def iter_next(self) -> bool:
        """Advance to the next batch; return whether there is one."""
        if self.cur >= self.size:
            return False
        batch = next(self.data_iter, None)
        if batch is None:
            self.data_iter.reset()
            batch = next(self.data_iter, None)
        if batch is None:
            return False
        self.current_batch = batch
        self.cur += 1
        return True

    def getdata(self) -> Any:
        """Return the arrays of data of the current batch."""
        return None if self.current_batch is None else self.current_batch.data

    def getlabel(self) -> Any:
        """Return the arrays of labels of the current batch."""
        return None if self.current_batch is None else self.current_batch.label

    def getindex(self) -> Any:
        """Return the numbers of the samples of the current batch, where they are known."""
        return None if self.current_batch is None else self.current_batch.index

    def getpad(self) -> int | None:
        """Return how many samples of the current batch only fill it."""
        return None if self.current_batch is None else self.current_batch.pad
