"""DummyIter: an iterator that costs nothing, to time what comes after it."""

from typing import Any

from gluonish.io import DataIter

__all__ = ["DummyIter"]


class DummyIter(DataIter):
    """Iterator that returns the first batch of another iterator over and over, to measure speed.

    Args:
        real_iter: Iterator of batches with ``provide_data``, ``provide_label`` and ``batch_size``,
            such as those of ``mx.io``.

    Attributes:
        real_iter: That iterator.
        provide_data: Its ``provide_data``.
        provide_label: Its ``provide_label``.
        batch_size: Number of samples in a batch.
        the_batch: The batch.
    """

    def __init__(self, real_iter: Any) -> None:
        super().__init__(real_iter.batch_size)
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.the_batch = next(iter(real_iter))

    def next(self) -> Any:
        """Return the batch."""
        return self.the_batch

    def reset(self) -> None:
        """Start again, which changes nothing."""
