"""DataIter, the base of all iterators, and ResizeIter."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.object_repr import object_repr


class _NamedShape(NamedTuple):
    name: str
    shape: tuple[int, ...]


class DataDesc(_NamedShape):
    """Name, shape, dtype and layout of one array of a batch.

    It is a named tuple (name, shape): comparison ignores dtype and layout, and a description equals
    a tuple (name, shape).

    Args:
        name: Name of the network's input that receives the array.
        shape: Shape of the array for a whole batch.
        dtype: Element type.
        layout: One letter for each axis, such as ``"NCHW"``; ``"N"`` marks the batch axis.

    Attributes:
        dtype: Element type.
        layout: Layout.

    Example:
        >>> import gluonish as mx
        >>> desc = mx.io.DataDesc("data", (32, 3, 224, 224), layout="NCHW")
        >>> desc.shape, mx.io.DataDesc.get_batch_axis(desc.layout)
        ((32, 3, 224, 224), 0)
    """

    dtype: Any
    layout: str | None

    def __new__(
        cls,
        name: str,
        shape: tuple[int, ...],
        dtype: Any = np.float32,
        layout: str | None = "NCHW",
    ) -> "DataDesc":
        """Create the description; a tuple is immutable in `__init__`."""
        desc = super().__new__(cls, name, shape)
        desc.dtype = dtype
        desc.layout = layout
        return desc

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    def __reduce__(self) -> tuple[Any, ...]:
        """Preserve dtype and layout in copies and pickles."""
        return type(self), (self.name, self.shape, self.dtype, self.layout)

    @staticmethod
    def get_batch_axis(layout: str | None) -> int:
        """Return the index of the batch axis, ``"N"``, in a layout.

        Args:
            layout: One letter for each axis; None means that the batch axis is the first.

        Returns:
            The axis; -1 if the layout has no ``"N"``.

        Raises:
            ArgumentTypeError: ``layout`` is not a string.
        """
        if layout is None:
            return 0
        if not isinstance(layout, str):
            raise ArgumentTypeError(
                f"DataDesc.get_batch_axis: expected a layout such as 'NCHW' or None, got {layout!r}"
            )
        return layout.find("N")

    @staticmethod
    def get_list(
        shapes: Iterable[tuple[str, tuple[int, ...]]],
        types: Mapping[str, Any] | Iterable[tuple[str, Any]] | None,
    ) -> "list[DataDesc]":
        """Make a list of DataDesc from pairs of names, shapes and dtypes.

        Args:
            shapes: List of pairs (name, shape).
            types: List of pairs (name, dtype), one for each name; None for float32.

        Raises:
            ArgumentError: A name has no dtype.
        """
        if types is None:
            return [DataDesc(name, shape) for name, shape in shapes]
        dtypes = dict(types)
        shapes = list(shapes)
        missing = [name for name, _ in shapes if name not in dtypes]
        if missing:
            raise ArgumentError(
                f"DataDesc.get_list: expected a dtype for each name, got none for {missing}"
            )
        return [DataDesc(name, shape, dtypes[name]) for name, shape in shapes]


class DataBatch:
    """One batch: the output of an iterator and the input of ``Module.forward``.

    Args:
        data: List of the arrays of input data, in the order of ``provide_data``.
        label: List of the arrays of labels, in the order of ``provide_label``; None without labels.
        pad: Number of samples at the end that are only padding; None if unknown.
        index: Index of each sample in its data set, if known.
        bucket_key: Bucket of the batch, for networks with inputs of variable length.
        provide_data: Descriptions of ``data``, if they differ from the iterator's.
        provide_label: Descriptions of ``label``, if they differ from the iterator's.

    Attributes:
        data: The ``data`` argument; all other arguments are attributes, too.

    Raises:
        ArgumentTypeError: ``data`` or ``label`` is a single array instead of a list.
    """

    def __init__(
        self,
        data: Sequence[Any] | None,
        label: Sequence[Any] | None = None,
        pad: int | None = None,
        index: Any = None,
        bucket_key: Any = None,
        provide_data: list[DataDesc] | None = None,
        provide_label: list[DataDesc] | None = None,
    ) -> None:
        for name, arrays in (("data", data), ("label", label)):
            if arrays is not None and not isinstance(arrays, list | tuple):
                raise ArgumentTypeError(
                    f"DataBatch: expected {name} to be a list of arrays, got "
                    f"{type(arrays).__name__}"
                )
        self.data: Any = data
        self.label: Any = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f"DataBatch: data shapes: {_shapes(self.data)} label shapes: {_shapes(self.label)}"


def _shapes(arrays: Sequence[Any] | None) -> list[tuple[int, ...]] | None:
    return None if arrays is None else [array.shape for array in arrays]


class DataIter:
    """Base class of iterators over batches.

    A subclass defines ``provide_data`` and ``provide_label``, lists of `DataDesc`, and overrides
    either `next` or the four methods that `next` calls: `iter_next`, `getdata`, `getlabel` and
    `getpad`.

    Args:
        batch_size: Number of samples in a batch.

    Attributes:
        batch_size: Number of samples in a batch.
    """

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __repr__(self) -> str:
        shapes = []
        for kind in ("provide_data", "provide_label"):
            with contextlib.suppress(Exception):  # a program's iterator may need `reset` first
                shapes += [f"{desc[0]} {tuple(desc[1])}" for desc in getattr(self, kind) or ()]
        return object_repr(self, *shapes, batch_size=getattr(self, "batch_size", None))

    def __iter__(self) -> "DataIter":
        return self

    def __next__(self) -> DataBatch:
        return self.next()

    def reset(self) -> None:
        """Go back to the first batch."""

    def next(self) -> DataBatch:
        """Return the next batch.

        Raises:
            StopIteration: The pass is over; `reset` starts the next one.
        """
        if not self.iter_next():
            raise StopIteration
        return DataBatch(
            data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=self.getindex()
        )

    def iter_next(self) -> bool:
        """Advance to the next batch; return whether there is one."""
        return False

    def getdata(self) -> Any:
        """Return the data of the current batch, a list of arrays."""
        return None

    def getlabel(self) -> Any:
        """Return the labels of the current batch, a list of arrays."""
        return None

    def getindex(self) -> Any:
        """Return the indices of the current batch's samples in the data set; None if unknown."""
        return None

    def getpad(self) -> int | None:
        """Return the number of padding samples at the end of the current batch."""
        return None


class ResizeIter(DataIter):
    """Changes the number of batches in a pass over another iterator.

    If the other iterator ends within a pass, it is reset and the pass continues.

    Args:
        data_iter: The other iterator.
        size: Number of batches in a pass.
        reset_internal: Whether `reset` also resets the other iterator; otherwise the next pass
            continues where this one stopped.

    Attributes:
        data_iter: The argument; likewise size and reset_internal.
        cur: Number of batches of this pass returned so far.
        current_batch: The batch that was returned last, or None.
        provide_data: Descriptions of the data, from the other iterator.
        provide_label: Descriptions of the labels, from the other iterator.
        batch_size: Number of samples in a batch.
        default_bucket_key: The other iterator's key, if it has one.

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
