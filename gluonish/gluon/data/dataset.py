"""Datasets: elements by index, and datasets derived from others."""

import os
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    NotSupportedError,
    OutOfBoundsError,
)
from gluonish.core.files import path_text
from gluonish.core.object_repr import arguments_repr, brief, counted, object_repr
from gluonish.core.program_lines import warn_at_line
from gluonish.core.tables import column_values, columns_of, is_column, is_table, table_values
from gluonish.gluon.data.sampler import FilterSampler, Sampler, SequentialSampler
from gluonish.ndarray import NDArray
from gluonish.recordio import MXIndexedRecordIO

__all__ = ["ArrayDataset", "Dataset", "RecordFileDataset", "SimpleDataset"]


class Dataset:
    """Base class of datasets; a subclass defines ``__getitem__`` and ``__len__``."""

    def __repr__(self) -> str:
        return arguments_repr(self, *counted(self, "samples"))

    def __getitem__(self, idx: Any) -> Any:
        raise NotSupportedError(
            f"{type(self).__name__}: expected __getitem__ to be defined, got none"
        )

    def __len__(self) -> int:
        raise NotSupportedError(f"{type(self).__name__}: expected __len__ to be defined, got none")

    def filter(self, fn: Callable[[Any], object]) -> "Dataset":
        """Return the elements for which a function is true; it is called immediately.

        Args:
            fn: Called once with each element; returns whether to keep the element.
        """
        return _SampledDataset(self, FilterSampler(fn, self))

    def __mx_handle__(self) -> NoReturn:
        """Raise an error: gluonish has no native form of datasets, and needs none.

        Raises:
            NotSupportedError: Always, as for datasets of MXNet 2.0 without a native form.
        """
        raise NotSupportedError(
            f"{type(self).__name__}: expected no request for a native form, got one; DataLoader "
            "takes the dataset itself"
        )

    def shard(self, num_shards: int, index: int) -> "Dataset":
        """Return one of ``num_shards`` contiguous shards; the first shards may be longer by 1.

        Args:
            num_shards: Number of shards.
            index: Index of the shard, from 0.

        Raises:
            ArgumentError: ``index`` is out of range.
        """
        if not 0 <= index < num_shards:
            raise ArgumentError(
                f"Dataset.shard: expected an index in 0..{num_shards - 1}, got {index}"
            )
        length, longer = divmod(len(self), num_shards)
        start = length * index + min(index, longer)
        return _SampledDataset(self, SequentialSampler(length + (index < longer), start))

    def take(self, count: int | None) -> "Dataset":
        """Return the first elements as a dataset.

        Args:
            count: Largest number of elements; None for all.

        Raises:
            ArgumentError: ``count`` is negative.
        """
        if count is not None and count < 0:
            raise ArgumentError(f"Dataset.take: expected a count of 0 or more, got {count}")
        length = len(self) if count is None else min(count, len(self))
        return _SampledDataset(self, SequentialSampler(length))

    def sample(self, sampler: Sampler) -> "Dataset":
        """Return the elements that a sampler selects, in its order.

        Args:
            sampler: The `Sampler`, which is iterated once, immediately.

        Raises:
            ArgumentTypeError: ``sampler`` is not a `Sampler`.
        """
        if not isinstance(sampler, Sampler):
            raise ArgumentTypeError(
                f"Dataset.sample: expected a Sampler, got {type(sampler).__name__}"
            )
        return _SampledDataset(self, sampler)

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> "Dataset":
        """Return a dataset with a function applied to each element.

        Args:
            fn: Called with an element; the items of a tuple are passed as separate arguments.
            lazy: Whether to call it each time an element is accessed; if not, it is applied to all
                elements immediately.

        Example:
            >>> import gluonish as mx
            >>> dataset = mx.gluon.data.SimpleDataset([1, 2, 3]).transform(lambda x: 10 * x)
            >>> dataset[1]
            20
        """
        refuse_class(fn)
        transformed = _LazyTransformDataset(self, fn)
        if lazy:
            return transformed
        return SimpleDataset([transformed[i] for i in range(len(transformed))])

    def transform_first(self, fn: Callable[..., Any], lazy: bool = True) -> "Dataset":
        """Return a dataset with a function applied to the first item of each element.

        Args:
            fn: Called with the first item, such as the image of (image, label).
            lazy: Whether to call it each time an element is accessed; if not, it is applied to all
                elements immediately.
        """
        refuse_class(fn)
        return self.transform(FirstOnly(fn), lazy)


def refuse_class(fn: Any) -> None:
    """Raise an error if the class of a transform is passed instead of a transform, or no function.

    Raises:
        ArgumentTypeError: ``fn`` is a class of Blocks, or cannot be called.
    """
    if not callable(fn):
        raise ArgumentTypeError(
            f"transform: expected a function or a transform, got {fn!r:.100}"
            + ("; put them into transforms.Compose" if isinstance(fn, list | tuple) else "")
        )
    if isinstance(fn, type) and hasattr(fn, "hybridize"):
        raise ArgumentTypeError(
            f"transform: expected a function or a transform, got the class {fn.__name__}; create "
            f"it: {fn.__name__}()"
        )


class TableRows:
    """The rows of a table of polars, pandas or pyarrow, as dicts of the values by column.

    Args:
        table: The table.
    """

    def __init__(self, table: Any) -> None:
        self._columns = {name: column_values(x) for name, x in columns_of(table).items()}
        self._length = len(table)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, idx: int) -> dict[str, Any]:
        return {name: column[idx] for name, column in self._columns.items()}


def indexable(data: Any) -> Any:
    """Return data with indices: the rows of a table, the values of a column; others unchanged."""
    if is_table(data):
        return TableRows(data)
    return column_values(data) if is_column(data) else data


def check_dataset(data: Any, *, needs_length: bool) -> None:
    """Refuse what has no samples by index, and warn of arrays that were meant to be paired.

    Raises:
        ArgumentTypeError: ``data`` lacks indices, or a length that is needed.
    """
    kind = type(data)
    if not hasattr(kind, "__getitem__") or (needs_length and not hasattr(kind, "__len__")):
        advice = "pass a list of it" if hasattr(kind, "__iter__") else "gluon.data.Dataset has both"
        raise ArgumentTypeError(
            f"DataLoader: expected a dataset with __getitem__ and __len__, got {kind.__name__}; "
            f"{advice}"
        )
    if kind is tuple and len(data) > 1 and all(isinstance(x, NDArray | np.ndarray) for x in data):
        warn_at_line(
            f"DataLoader: got a tuple of {len(data)} arrays, which is a dataset of {len(data)} "
            "samples; gluon.data.ArrayDataset(x, y) pairs their rows"
        )


def check_batchify(what: str, function: Any) -> None:
    """Refuse a class of batchify functions that was passed instead of one of them.

    Raises:
        ArgumentTypeError: ``function`` is such a class.
    """
    if isinstance(function, type) and "__call__" in vars(function):
        raise ArgumentTypeError(
            f"{what}: expected batchify_fn to be a function, got the class {function.__name__}; "
            f"create it: {function.__name__}()"
        )


class SimpleDataset(Dataset):
    """A dataset over a list, or any object with indices and a length.

    Args:
        data: The elements; or a table of polars, pandas or pyarrow, whose rows are dicts.
    """

    def __init__(self, data: Any) -> None:
        self._data = indexable(data)

    def __repr__(self) -> str:
        return arguments_repr(self, *counted(self, "samples"), leave_out=("data",))

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        return self._data[idx]


class ArrayDataset(Dataset):
    """A dataset that combines several arrays, lists or datasets of equal length.

    An element is a tuple with one item of each array; for a single array, the item itself.
    Elements of an NDArray with one axis are NumPy scalars.

    Args:
        *args: One or more arrays, such as images and labels; also columns of polars, pandas and
            pyarrow, and tables of numbers, whose elements are rows (columns,).

    Raises:
        ArgumentError: There are no arguments, or their lengths differ.
        ArgumentTypeError: A column of a table has no numbers.

    Example:
        >>> import gluonish as mx
        >>> dataset = mx.gluon.data.ArrayDataset([10, 20, 30], ["a", "b", "c"])
        >>> len(dataset), dataset[1]
        (3, (20, 'b'))
    """

    def __init__(self, *args: Any) -> None:
        if not args:
            raise ArgumentError("ArrayDataset: expected at least one array, got none")
        self._length = len(args[0])
        self._data: list[Any] = []
        for i, data in enumerate(args):
            if len(data) != self._length:
                raise ArgumentError(
                    f"ArrayDataset: expected arrays of equal length, got {self._length} "
                    f"and {len(data)} (array {i})"
                )
            if isinstance(data, NDArray):
                self._data.append(data.asnumpy() if len(data.shape) == 1 else data)
            else:
                table = is_table(data)
                self._data.append(table_values("ArrayDataset", data) if table else indexable(data))

    def __repr__(self) -> str:
        return object_repr(self, f"{self._length} samples", *map(brief, self._data))

    def __getitem__(self, idx: Any) -> Any:
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple(data[idx] for data in self._data)

    def __len__(self) -> int:
        return self._length


class RecordFileDataset(Dataset):
    """The records of a RecordIO file, each a byte string, in the order of its index.

    Args:
        filename: Path of the ``.rec`` file; its index is in the same folder, with the ending
            ``.idx``.

    Attributes:
        filename: The record file.
        idx_file: Its index.

    Raises:
        MissingFileError: The record file or its index does not exist.
        FileFormatError: The index is damaged.
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        self.filename = path_text(filename, "RecordFileDataset")
        self.idx_file = os.path.splitext(self.filename)[0] + ".idx"
        self._record = MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def __getitem__(self, idx: int) -> Any:
        return self._read(idx)

    def _read(self, idx: int) -> bytes:
        try:
            key = self._record.keys[idx]
        except IndexError:
            raise OutOfBoundsError(
                f"{type(self).__name__}: expected an index below {len(self)}, got {idx}"
            ) from None
        return self._record.read_idx(key)

    def __len__(self) -> int:
        return len(self._record.keys)


class _SampledDataset(Dataset):
    """A dataset of the elements that a sampler selected from another dataset on construction."""

    def __init__(self, dataset: Dataset, sampler: Sampler) -> None:
        self._dataset = dataset
        # An array, because a list of a million ints is slow to send to workers.
        self._indices = np.array(list(sampler), dtype=np.int64)

    def __repr__(self) -> str:
        return object_repr(self, f"{len(self)} samples", f"of {brief(self._dataset)}")

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, idx: Any) -> Any:
        return self._dataset[int(self._indices[idx])]


class _LazyTransformDataset(Dataset):
    """A dataset that applies a function to each element of another dataset on access."""

    def __init__(self, data: Dataset, fn: Callable[..., Any]) -> None:
        self._data = data
        self._fn = fn

    def __repr__(self) -> str:
        return object_repr(self, brief(self._data), transform=self._fn)

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        return apply_to_sample(self._fn, self._data[idx])


def apply_to_sample(fn: Callable[..., Any], item: Any) -> Any:
    """Apply a transform to a sample: the items of a tuple are separate arguments."""
    if not isinstance(item, tuple):
        return fn(item)
    try:
        return fn(*item)
    except TypeError as error:
        trace = error.__traceback__
        if trace is not None and trace.tb_next is None:  # the call itself was refused
            error.add_note(
                f"Dataset.transform: the function gets the {len(item)} items of a sample as "
                "separate arguments; transform_first transforms only the first"
            )
        raise


class FirstOnly:
    """Applies a function to the first argument; a class, so that it can be pickled."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._fn = fn

    def __repr__(self) -> str:
        return object_repr(self, brief(self._fn))

    def __call__(self, first: Any, *rest: Any) -> Any:
        return (self._fn(first), *rest) if rest else self._fn(first)
