"""PrefetchingIter: batches of other iterators, made ahead in threads."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from gluonish.core.errors import ArgumentError, GluonishError
from gluonish.io.data_iter import DataBatch, DataDesc, DataIter
from gluonish.io.read_ahead import ReadAhead

__all__ = ["PrefetchingIter"]

Names = Sequence[Mapping[str, str]] | None


class PrefetchingIter(DataIter):
    """Runs one or more iterators in background threads, one batch ahead.

    Each batch combines one batch of every iterator. The threads start at once, and again at
    `reset`; they end with the pass, at `reset`, or when this iterator is deleted. While they run,
    do not use the other iterators. An error in one of them is raised by `next`.

    Args:
        iters: An iterator, or a list of iterators, with equal numbers of batches and equal ``pad``.
        rename_data: For each iterator, a dict from old to new names of its data; None keeps them.
        rename_label: The same for the labels.

    Attributes:
        iters: List of the iterators.
        n_iter: Number of iterators.
        rename_data: The argument; likewise rename_label.
        batch_size: Number of samples in a batch.
        current_batch: The batch that was returned last, or None.

    Raises:
        ArgumentError: There is no iterator, or the number of dicts is not that of the iterators.

    Example:
        >>> import gluonish as mx
        >>> data = mx.io.NDArrayIter(mx.nd.arange(4), batch_size=2)
        >>> [batch.data[0].tolist() for batch in mx.io.PrefetchingIter(data)]
        [[0.0, 1.0], [2.0, 3.0]]
    """

    def __init__(self, iters: Any, rename_data: Names = None, rename_label: Names = None) -> None:
        super().__init__()
        self.iters = iters if isinstance(iters, list) else [iters]
        self.n_iter = len(self.iters)
        if not self.iters:
            raise ArgumentError("PrefetchingIter: expected at least one iterator, got none")
        for names in (rename_data, rename_label):
            if names is not None and len(names) != self.n_iter:
                raise ArgumentError(
                    f"PrefetchingIter: expected names for {self.n_iter} iterators, got {names!r}"
                )
        self.rename_data = rename_data
        self.rename_label = rename_label
        self.batch_size = self.provide_data[0].shape[0]
        self.current_batch: DataBatch | None = None
        self._ahead: list[ReadAhead[DataBatch]] = []
        self._start()

    @property
    def provide_data(self) -> list[DataDesc]:
        """Descriptions of the data of all iterators, renamed."""
        return _renamed([data_iter.provide_data for data_iter in self.iters], self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Descriptions of the labels of all iterators, renamed."""
        return _renamed([data_iter.provide_label for data_iter in self.iters], self.rename_label)

    def _start(self) -> None:
        self._ahead = [
            ReadAhead(partial(_batches, data_iter), 1, "PrefetchingIter")
            for data_iter in self.iters
        ]

    def reset(self) -> None:
        """Go back to the first batch of all iterators."""
        for ahead in self._ahead:
            ahead.close()
        for data_iter in self.iters:
            data_iter.reset()
        self.current_batch = None
        self._start()

    def next(self) -> DataBatch:
        """Return the next batch of each iterator, combined.

        Raises:
            StopIteration: The pass is over; `reset` starts the next one.
            GluonishError: The iterators differ in the number of batches or in ``pad``.
        """
        if not self.iter_next():
            raise StopIteration
        assert self.current_batch is not None
        return self.current_batch

    def iter_next(self) -> bool:
        """Advance to the next batch; return whether there is one.

        Raises:
            GluonishError: The iterators differ in the number of batches or in ``pad``.
        """
        taken = [next(ahead, None) for ahead in self._ahead]
        batches = [batch for batch in taken if batch is not None]
        if not batches:
            return False
        if len(batches) != self.n_iter:
            raise GluonishError(
                "PrefetchingIter: expected iterators with equal numbers of batches, got iterator "
                f"{taken.index(None)} ending first"
            )
        pads = {batch.pad for batch in batches}
        if len(pads) > 1:
            raise GluonishError(
                f"PrefetchingIter: expected batches with the same pad, got {sorted(map(str, pads))}"
            )
        self.current_batch = DataBatch(
            [array for batch in batches for array in batch.data or ()],
            [array for batch in batches for array in batch.label or ()],
            pad=batches[0].pad,
            index=batches[0].index,
            bucket_key=batches[0].bucket_key,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )
        return True

    def getdata(self) -> Any:
        """Return the data of the current batch, a list of arrays."""
        return None if self.current_batch is None else self.current_batch.data

    def getlabel(self) -> Any:
        """Return the labels of the current batch, a list of arrays."""
        return None if self.current_batch is None else self.current_batch.label

    def getindex(self) -> Any:
        """Return the indices of the samples, from the first iterator; None if unknown."""
        return None if self.current_batch is None else self.current_batch.index

    def getpad(self) -> int | None:
        """Return the number of padding samples at the end of the current batch."""
        return None if self.current_batch is None else self.current_batch.pad


def _batches(data_iter: Any) -> Iterator[DataBatch]:
    """Yield the batches of one pass; iterators of a user's need not be able to end twice."""
    while (batch := next(data_iter, None)) is not None:
        yield batch


def _renamed(provided: list[Any], names: Names) -> list[DataDesc]:
    """Return the descriptions of several iterators, with new names."""
    described = []
    for place, descriptions in enumerate(provided):
        for given in descriptions:
            desc = given if isinstance(given, DataDesc) else DataDesc(*given)
            if names is not None:
                if desc.name not in names[place]:
                    raise ArgumentError(
                        f"PrefetchingIter: expected a new name for {desc.name!r} of iterator "
                        f"{place}, got {dict(names[place])}"
                    )
                desc = DataDesc(names[place][desc.name], desc.shape, desc.dtype, desc.layout)
            described.append(desc)
    return described
