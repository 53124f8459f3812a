"""ResizeIter: a pass of any number of batches."""

from typing import Any

from gluonish.io.data_iter import DataBatch, DataIter

__all__ = ["ResizeIter"]


class ResizeIter(DataIter):
    """Changes the number of batches in a pass over another iterator.

    If the other iterator ends within a pass, it is reset and the pass continues.

    Args:
        data_iter: The other iterator.
        size: Number of batches in a pass.
        reset_internal: Whether `reset` also resets the other iterator; if not, the next pass
            continues where this one stopped.

    Attributes:
        data_iter: The argument; likewise size and reset_internal.
        cur: Number of batches of this pass returned so far.
        current_batch: The batch that was returned last, or None.
        provide_data: Descriptions of the data, from the other iterator.
        provide_label: Descriptions of the labels, from the other iterator.
        batch_size: Number of samples in a batch.
        default_bucket_key: That of the other iterator, if it has one.

    Example:
        >>> import gluonish as mx
        >>> data = mx.io.NDArrayIter(mx.nd.arange(4), batch_size=2)
        >>> [batch.data[0].tolist() for batch in mx.io.ResizeIter(data, size=3)]
        [[0.0, 1.0], [2.0, 3.0], [0.0, 1.0]]
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
        """Start the next pass."""
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def next(self) -> DataBatch:
        """Return the other iterator's next batch, unchanged.

        Raises:
            StopIteration: The pass is over, or the other iterator has no batches at all.
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
        """Return the data of the current batch, a list of arrays."""
        return None if self.current_batch is None else self.current_batch.data

    def getlabel(self) -> Any:
        """Return the labels of the current batch, a list of arrays."""
        return None if self.current_batch is None else self.current_batch.label

    def getindex(self) -> Any:
        """Return the indices of the current batch's samples; None if unknown."""
        return None if self.current_batch is None else self.current_batch.index

    def getpad(self) -> int | None:
        """Return the number of padding samples of the current batch."""
        return None if self.current_batch is None else self.current_batch.pad
