"""Scratch memory of generated kernels, of oneDNN's pool of buffers or, without the library, new."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.kernels.onednn import register as onednn
from gluonish.kernels.onednn.backend import current
from gluonish.ops.kernel import Array

_LINE = 16  # elements of a cache line


class Scratch:
    """Memory for at least ``count`` elements of float32, for a ``with`` block; not initialized."""

    __slots__ = ("_count", "_pool", "_workspace")

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool: Any = None
        self._workspace: Any = None

    def __enter__(self) -> Array:
        if not onednn.enabled():
            return np.empty(self._count, FLOAT32)
        self._pool = current().engine.workspaces
        self._workspace = self._pool.acquire(FLOAT32.itemsize * self._count)
        floats: Array = self._workspace.floats
        return floats

    def __exit__(self, *_: object) -> None:
        if self._workspace is not None:
            self._pool.release(self._workspace)


def size_of(*shapes: tuple[int, int]) -> int:
    """Return the number of elements that `matrices` needs for some shapes."""
    return sum(-(-rows * columns // _LINE) * _LINE for rows, columns in shapes)


def matrices(memory: Array, *shapes: tuple[int, int]) -> Sequence[Array]:
    """Return matrices in memory of float32, each at a cache line."""
    made, at = [], 0
    for rows, columns in shapes:
        made.append(memory[at : at + rows * columns].reshape(rows, columns))
        at += size_of((rows, columns))
    return made
