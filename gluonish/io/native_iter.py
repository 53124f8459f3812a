"""MXDataIter: base class of the iterators that are native code in MXNet.

`CSVIter`, `LibSVMIter`, `MNISTIter` and the `ImageRecordIter` family combine this class with a
`BatchSource`, which makes the batches of one pass in a background thread. To write another:

1. A `Schema` of its parameters in MXNet's order, ended by ``**PREFETCH_PARAMETERS``.
2. A `BatchSource` whose constructor opens files and checks arguments, so that these errors are
   raised on construction; later errors are raised by ``next``.
3. A subclass of `MXDataIter` whose ``__init__(self, **parameters)`` calls `parse_parameters`,
   creates the source and passes it to ``super().__init__``.

The end of a pass (``round_batch``): an incomplete last batch is filled with ``pad`` samples from
the start of the data, and the next pass begins after them. The iterator passes ``pad`` of the last
*returned* batch to the next pass as ``start``, regardless of prefetched batches, so that passes
do not depend on timing. A reset in the middle of a pass starts at 0.
"""

import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from gluonish.core.errors import ArgumentError, nearest
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.numpy_mode import is_np_array
from gluonish.core.schema import Attribute, Schema, choice, dtype_attr, integer, optional
from gluonish.core.spec import Spec
from gluonish.io.data_iter import DataBatch, DataDesc, DataIter
from gluonish.io.prefetching_iter import ReadAhead
from gluonish.numpy.array import as_np_ndarray

# The last parameters of every native iterator. `ctx` and `device_id` have no effect and log a
# message: batches are in ordinary CPU memory, where MXNet uses pinned memory.
PREFETCH_PARAMETERS: Mapping[str, Attribute] = {
    "prefetch_buffer": integer(4, low=0),
    "ctx": choice("cpu", "gpu", default="gpu"),
    "dtype": optional(dtype_attr()),
}


class BatchSource(ABC):
    """Makes the batches of consecutive epochs; runs in a thread.

    A source must not refer to the `MXDataIter` that owns it. Only one epoch runs at a time.

    Args:
        name: Class name of the iterator, for error messages.
        data: Shape and dtype of a batch's data.
        label: Shape and dtype of a batch's labels.
        prefetch_buffer: Number of batches to load ahead.

    Attributes:
        name: The argument.
        data: The argument.
        label: The argument.
        batch_size: Number of samples in a batch.
        prefetch_buffer: The argument.
    """

    def __init__(self, name: str, data: Spec, label: Spec, prefetch_buffer: int = 4) -> None:
        self.name = name
        self.data = data
        self.label = label
        self.batch_size = data.shape[0]
        self.prefetch_buffer = prefetch_buffer

    @abstractmethod
    def batches(self, epoch: int, start: int) -> Iterator[DataBatch]:
        """Return a generator of the batches of one epoch, each with one data and one label array.

        The thread that runs the generator also closes it, perhaps in the middle of an epoch:
        release files and threads in a ``finally``.

        Args:
            epoch: Number of the epoch, from 0; with the seed it determines the order.
            start: Number of samples of this epoch in the previous epoch's last batch; it may exceed
                the size of an epoch if that batch wrapped around more than once.
        """


def _as_np(batch: DataBatch) -> DataBatch:
    """Give a batch ``np`` arrays in place of its dense ``nd`` arrays."""
    batch.data = [as_np_ndarray(x) if x.stype == "default" else x for x in batch.data or ()]
    batch.label = [as_np_ndarray(x) if x.stype == "default" else x for x in batch.label or ()]
    return batch


class MXDataIter(DataIter):
    """Iterator over batches that a background thread prepares.

    The thread starts when the first batch is requested, and ends with the pass, at `reset`, or when
    the iterator is deleted. Several threads may request batches; each batch is returned once.

    Args:
        handle: The `BatchSource` that makes the batches.
        data_name: Name of the data.
        label_name: Name of the labels.

    Attributes:
        handle: The source.
        provide_data: List with the description of the data.
        provide_label: List with the description of the labels.
        batch_size: Number of samples in a batch.
    """

    def __init__(
        self,
        handle: BatchSource,
        data_name: str = "data",
        label_name: str = "softmax_label",
        **_: Any,
    ) -> None:
        super().__init__(handle.batch_size)
        self.handle = handle
        self.provide_data = [DataDesc(data_name, handle.data.shape, handle.data.dtype.type)]
        self.provide_label = [DataDesc(label_name, handle.label.shape, handle.label.dtype.type)]
        self._prefetcher: ReadAhead[DataBatch] | None = None
        self._epoch = 0
        self._start = 0
        self._batch: DataBatch | None = None
        # Whether `_batch` was only peeked at, and is still to be returned.
        self._peeked = False
        self._skip_load = False

    @property
    def first_batch(self) -> DataBatch | None:
        """The batch that the first `next` will return; None once it was returned.

        Raises:
            StopIteration: There are no batches.
        """
        if self._batch is None:
            self._batch = self._load()
            self._peeked = True
        return self._batch if self._peeked else None

    def debug_skip_load(self) -> None:
        """Return the first batch repeatedly, to time training without loading."""
        self._skip_load = True

    def reset(self) -> None:
        """Start the next pass; has no effect if the current pass has not returned a batch."""
        if self._prefetcher is None or self._peeked:
            return
        self._start = 0 if self._batch is None else self._batch.pad or 0
        self._epoch += 1
        self._batch = None
        prefetcher, self._prefetcher = self._prefetcher, None
        prefetcher.close()

    def next(self) -> DataBatch:
        """Return the next batch.

        Raises:
            StopIteration: The pass is over; `reset` starts the next one.
            GluonishError: The batch could not be made; this ends the pass.
        """
        batch = self._batch
        if not self._skip_load or batch is None:
            if self._peeked:  # atomic
                self._peeked = False
                batch = self._batch
            else:
                batch = self._batch = self._load()
        assert batch is not None
        return batch

    def iter_next(self) -> bool:
        """Advance to the next batch; return whether there is one."""
        try:
            self.next()
        except StopIteration:
            return False
        return True

    def _load(self) -> DataBatch:
        prefetcher = self._prefetcher
        if prefetcher is None:
            source, epoch, start = self.handle, self._epoch, self._start
            prefetcher = ReadAhead(
                lambda: source.batches(epoch, start), source.prefetch_buffer, source.name
            )
            if self._prefetcher is None:  # atomic
                self._prefetcher = prefetcher
            else:  # another thread or a handler has started the pass
                prefetcher.close()
                prefetcher = self._prefetcher
        batch = next(prefetcher)
        return _as_np(batch) if follows_mxnet2() and is_np_array() else batch

    def _current(self) -> DataBatch:
        batch = self.first_batch if self._batch is None else self._batch
        assert batch is not None
        return batch

    def getdata(self) -> Any:
        """Return the current batch's data array; before the first `next`, the first batch's."""
        batch = self._current()
        return None if batch.data is None else batch.data[0]

    def getlabel(self) -> Any:
        """Return the label array of the current batch."""
        batch = self._current()
        return None if batch.label is None else batch.label[0]

    def getitems(self) -> list[Any]:
        """Return the arrays of the current batch: the data, and the labels if there are any."""
        return [x for x in (self.getdata(), self.getlabel()) if x is not None]

    def getindex(self) -> Any:
        """Return the ids of the current batch's samples, uint64 (batch_size,); None if unknown."""
        return self._current().index

    def getpad(self) -> int | None:
        """Return the number of padding samples at the end of the current batch."""
        return self._current().pad


def parse_parameters(
    iterator: str, schema: Schema, params: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Parse an iterator's parameters; return them and the names of data and labels.

    As in MXNet, values may be strings, and unknown parameters are ignored, here with a warning. If
    ``ctx`` or ``device_id`` selects a GPU, a warning is logged once for each iterator class:
    batches stay in CPU memory.

    Args:
        iterator: Class name of the iterator, for error messages.
        schema: Schema of the iterator's parameters.
        params: The caller's keyword arguments, including ``data_name`` and ``label_name``.

    Returns:
        The parameters, and the keyword arguments ``data_name`` and ``label_name`` of `MXDataIter`.

    Raises:
        OperatorError: A parameter is missing or of the wrong type.
    """
    names = {name: str(params[name]) for name in ("data_name", "label_name") if name in params}
    known = {name: value for name, value in params.items() if schema.accepts(name)}
    unknown = [name for name in params if name not in known and name not in names]
    if unknown:
        hints = ", ".join(repr(name) + nearest(name, schema.attributes) for name in unknown)
        warnings.warn(
            f"{iterator}: expected known parameters, got {hints}; ignored",
            UserWarning,
            stacklevel=3,
        )
    parsed = schema.parse(iterator, known)
    if ("ctx" in params and parsed["ctx"] == "gpu") or parsed.get("device_id"):
        _warn_cpu_batches(iterator)
    return parsed, names


@cache  # to warn once
def _warn_cpu_batches(iterator: str) -> None:
    logging.getLogger("gluonish").warning(
        "%s: batches stay in CPU memory, ctx and device_id have no effect; "
        "copy them to a GPU with as_in_context",
        iterator,
    )


def check_parts(iterator: str, num_parts: int, part_index: int) -> None:
    """Check that ``part_index`` is in [0, num_parts).

    Args:
        iterator: Class name of the iterator, for error messages.
        num_parts: Number of parts that the data are divided into, for several workers.
        part_index: Index of the part to use, from 0.

    Raises:
        ArgumentError: ``part_index`` is out of range.
    """
    if num_parts < 1 or not 0 <= part_index < num_parts:
        raise ArgumentError(
            f"{iterator}: expected part_index in [0, num_parts), got part_index {part_index} of "
            f"num_parts {num_parts}"
        )
