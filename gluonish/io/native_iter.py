"""MXDataIter: what the iterators share that are native code in MXNet.

`CSVIter`, `LibSVMIter`, `MNISTIter` and the `ImageRecordIter` family are this class over a
`BatchSource`, which makes the batches of one pass; a thread runs it ahead. To write another:

1. A `Schema` of its parameters in MXNet's order, ended by ``**PREFETCH_PARAMETERS``.
2. A `BatchSource` whose constructor opens files and refuses bad arguments, so that errors of that
   kind come when the iterator is made; what goes wrong later is raised at ``next``.
3. A subclass of `MXDataIter` whose ``__init__(self, **parameters)`` calls `parse_parameters`, makes
   the source and hands it to ``super().__init__``.

How a pass ends (``round_batch``): a last batch that lacks ``pad`` samples takes them from the start
of the data, and the next pass begins behind these. The iterator remembers ``pad`` of the last batch
*that was taken* and hands it to the next pass as ``start``: what the thread made ahead of that does
not matter, so that passes do not depend on timing. A reset in mid-pass starts at 0.
"""

import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from gluonish.core.errors import ArgumentError, nearest
from gluonish.core.schema import Attribute, Schema, choice, dtype_attr, integer, optional
from gluonish.core.spec import Spec
from gluonish.io.data_iter import DataBatch, DataDesc, DataIter
from gluonish.io.read_ahead import ReadAhead

__all__ = [
    "PREFETCH_PARAMETERS",
    "BatchSource",
    "MXDataIter",
    "check_parts",
    "parse_parameters",
]

# The parameters that end the list of every native iterator. `ctx`, and the `device_id` of some,
# change nothing: batches are made in the ordinary memory of the CPU, where MXNet makes them in
# memory that is pinned for the copy to a GPU. Whoever passes them is told so.
PREFETCH_PARAMETERS: Mapping[str, Attribute] = {
    "prefetch_buffer": integer(4, low=0),
    "ctx": choice("cpu", "gpu", default="gpu"),
    "dtype": optional(dtype_attr()),
}


class BatchSource(ABC):
    """Makes the batches of one pass after another; runs in a thread.

    It must not refer to the `MXDataIter` that owns it. Only one pass is under way at a time.

    Args:
        name: The iterator, for messages.
        data: Shape and dtype of the array of data of a whole batch.
        label: Shape and dtype of the array of labels of a whole batch.
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
        """Return a generator of the batches of one pass, with one array of data and one of labels.

        It is closed in the thread that runs it, in mid-pass, too: release files and threads in a
        ``finally``.

        Args:
            epoch: How many passes began before this one: with a seed, what an order is drawn from.
            start: How many samples of this pass the last batch of the pass before gave already;
                it may exceed their number where that batch went round more than once.
        """


class MXDataIter(DataIter):
    """Iterator over the batches of a source, which a thread makes ahead.

    The thread starts with the first batch that is asked for. It ends with the pass, at `reset`, or
    when the iterator is dropped. Several threads may ask for batches; each is given once.

    Args:
        handle: Makes the batches.
        data_name: Name of the data.
        label_name: Name of the labels.

    Attributes:
        handle: The source.
        provide_data: Description of the data, a list of one.
        provide_label: Description of the labels, a list of one.
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
        self._ahead: ReadAhead[DataBatch] | None = None
        self._epoch = 0
        self._start = 0
        self._batch: DataBatch | None = None
        # Whether `_batch` was only looked at, and is still the next one.
        self._peeked = False
        self._skip_load = False

    @property
    def first_batch(self) -> DataBatch | None:
        """The batch that `next` would give first, until it has; then None.

        Raises:
            StopIteration: There is none.
        """
        if self._batch is None:
            self._batch = self._load()
            self._peeked = True
        return self._batch if self._peeked else None

    def debug_skip_load(self) -> None:
        """Give the first batch again and again, without end: to time what comes after loading."""
        self._skip_load = True

    def reset(self) -> None:
        """Begin the next pass; nothing happens where this one has given no batch yet."""
        if self._ahead is None or self._peeked:
            return
        self._start = 0 if self._batch is None else self._batch.pad or 0
        self._epoch += 1
        self._batch = None
        ahead, self._ahead = self._ahead, None
        ahead.close()

    def next(self) -> DataBatch:
        """Return the next batch.

        Raises:
            StopIteration: There is none before the next `reset`.
            GluonishError: It could not be made; the pass is over.
        """
        batch = self._batch
        if not self._skip_load or batch is None:
            if self._peeked:  # a step
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
        ahead = self._ahead
        if ahead is None:
            source, epoch, start = self.handle, self._epoch, self._start
            ahead = ReadAhead(
                lambda: source.batches(epoch, start), source.prefetch_buffer, source.name
            )
            if self._ahead is None:  # a step
                self._ahead = ahead
            else:  # another thread, or a handler, has begun the pass meanwhile
                ahead.close()
                ahead = self._ahead
        return next(ahead)

    def _current(self) -> DataBatch:
        batch = self.first_batch if self._batch is None else self._batch
        assert batch is not None
        return batch

    def getdata(self) -> Any:
        """Return the array of data of the current batch; before the first `next`, of the first."""
        batch = self._current()
        return None if batch.data is None else batch.data[0]

    def getlabel(self) -> Any:
        """Return the array of labels of the current batch."""
        batch = self._current()
        return None if batch.label is None else batch.label[0]

    def getindex(self) -> Any:
        """Return the number of each sample of the current batch, uint64 (batch_size,), or None."""
        return self._current().index

    def getpad(self) -> int | None:
        """Return how many samples at the end of the current batch only fill it."""
        return self._current().pad


def parse_parameters(
    iterator: str, schema: Schema, given: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the parameters of a native iterator with defaults filled in, and its two names.

    As in MXNet, values may be strings, and unknown parameters do not count; here they are warned
    of. That a GPU as ``ctx`` or ``device_id`` changes nothing is logged, once for each iterator.

    Args:
        iterator: Its name, for messages.
        schema: Its parameters.
        given: What the caller passed, by name; also ``data_name`` and ``label_name``.

    Returns:
        The parameters, and the keyword arguments ``data_name`` and ``label_name`` of `MXDataIter`.

    Raises:
        OperatorError: A parameter is missing, or its value is of a wrong kind.
    """
    names = {name: str(given[name]) for name in ("data_name", "label_name") if name in given}
    known = {name: value for name, value in given.items() if schema.takes(name)}
    unknown = [name for name in given if name not in known and name not in names]
    if unknown:
        hints = ", ".join(repr(name) + nearest(name, schema.attributes) for name in unknown)
        warnings.warn(
            f"{iterator}: expected its own parameters, got {hints}; ignored",
            UserWarning,
            stacklevel=3,
        )
    parsed = schema.parse(iterator, known)
    if ("ctx" in given and parsed["ctx"] == "gpu") or parsed.get("device_id"):
        _tell_where_batches_are(iterator)
    return parsed, names


@cache  # to tell it once
def _tell_where_batches_are(iterator: str) -> None:
    logging.getLogger("gluonish").warning(
        "%s: batches are in ordinary memory of the CPU, whatever ctx and device_id say; "
        "as_in_context copies them to a GPU",
        iterator,
    )


def check_parts(iterator: str, num_parts: int, part_index: int) -> None:
    """Refuse a part that is none.

    Args:
        iterator: Its name, for messages.
        num_parts: Number of parts that the data are divided into, for several workers.
        part_index: Index of the part to use, from 0.

    Raises:
        ArgumentError: There are no parts, or fewer.
    """
    if num_parts < 1 or not 0 <= part_index < num_parts:
        raise ArgumentError(
            f"{iterator}: expected part_index in [0, num_parts), got part_index {part_index} of "
            f"num_parts {num_parts}"
        )
