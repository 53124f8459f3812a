"""Arrays in files that are read when they are needed."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["StoredArray"]


class StoredArray(NamedTuple):
    """An array in a file, whose place in it was checked.

    Attributes:
        shape: Extents.
        dtype: Of the elements.
        read: Returns the values, which belong to the file's reader and must not be changed; works
            while the file is open.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Callable[[], Any]
