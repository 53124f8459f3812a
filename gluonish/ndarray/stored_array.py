"""Arrays in files that are read when they are needed."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gluonish.ndarray.array_record import DenseRecord, SparseRecord

__all__ = ["Entry", "StoredArray", "record_of"]


class StoredArray(NamedTuple):
    """An array in a file, whose place in it was checked, or one on a device that is to be written.

    Attributes:
        shape: Extents.
        dtype: Of the elements.
        read: Returns the values; those of a file may belong to its reader, which works while the
            file is open, and must not be changed then.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Callable[[], Any]


# An array as files hold it, or as it will be read.
Entry = StoredArray | DenseRecord | SparseRecord


def record_of(entry: Entry) -> DenseRecord | SparseRecord:
    """Return an entry with its values."""
    return DenseRecord(entry.read()) if isinstance(entry, StoredArray) else entry
