"""Sums of rows at equal positions: gradients of take, Embedding and gather_nd; and scatter_nd.

The device sorts the positions (order.cu), and sums of equal rows are made in their order
(scatter.cu), so that equal runs have equal bits, and the host waits for nothing. A row that has
more than a segment of positions is summed by segments, whose sums are then added in order.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy.copies import contiguous, contiguous_target, copy, division
from gluonish.kernels.cupy.gather import (
    checked,
    enabled,
    flat_positions,
    numbers_of,
    positions_of,
    put_last,
)
from gluonish.kernels.cupy.memory_layout import access_length, vector_length
from gluonish.kernels.cupy.source import KINDS, launch_blocks
from gluonish.ops.indexing.gather_nd import (
    SCATTER_ADD_ND,
    SCATTER_ND,
    SCATTER_SET_ND,
)
from gluonish.ops.indexing.take import TAKE_ADD
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.nn.embedding import EMBEDDING_BACKWARD
from gluonish.ops.registry import Operator

# As in the sources.
_THREADS = 256
_LANES = 8

_CHUNK = 4096  # positions that are sorted at once
_MAX_POSITIONS = 1 << 20  # chunks are merged by a search of each in each
_LEAST_SEGMENT = 32  # positions
_BLOCK_ITEMS = 2048  # units of a block that finishes rows
_MAX_ROWS = 256  # of such a block
_LIMIT = (1 << 31) - (1 << 16)
_ITEMSIZES = (1, 2, 4, 8)


def ordered(xp: Any, positions: Any, count: int, mode: str) -> tuple[Any, Any]:
    """Return the rows of positions in order, and the place of each; equal rows keep their order.

    Args:
        positions: At most `_MAX_POSITIONS`, not empty; of any shape.
        count: Number of rows.
        mode: ``clip`` or ``wrap``.
    """
    positions, macros = positions_of(xp, positions, mode)
    total = positions.size
    macros = (("CHUNK", _CHUNK), *macros)
    chunks = -(-total // _CHUNK)
    pair = xp.empty(total, np.uint32), xp.empty(total, np.uint32)
    blocks = (-(-min(total, _CHUNK) * _LANES // _THREADS), chunks)
    args = (positions, *pair, np.uint32(total), np.int64(count))
    launch_blocks(xp, "order", "sort_chunks", FLOAT32, args, blocks, _THREADS, macros)
    if chunks == 1:
        return pair
    merged = xp.empty(total, np.uint32), xp.empty(total, np.uint32)
    launch_blocks(
        *(xp, "order", "merge_chunks", FLOAT32, (*pair, *merged, np.uint32(total))),
        *((-(-total // _THREADS),), _THREADS, macros),
    )
    return merged


def _segment(total: int) -> int:
    """Return how many positions are summed at once: a row that has all is summed in two steps."""
    return int(max(_LEAST_SEGMENT, 1 << -(-(total - 1).bit_length() // 2)))


def _add(xp: Any, out: Any, grad: Any, positions: Any, mode: str, axis: int, axes: int) -> None:
    """Fill ``out`` with rows of ``grad``, added at positions along ``axes`` axes from ``axis``."""
    count = math.prod(out.shape[axis : axis + axes])
    width, total = math.prod(out.shape[axis + axes :]), positions.size
    grad = contiguous(xp, grad)
    order = ordered(xp, positions, count, mode)
    with contiguous_target(xp, out) as target:
        vector = access_length(vector_length(width, out.itemsize), grad, target)
        units = width // vector
        columns = grad.size // total // vector
        segment = _segment(total)
        segments = -(-total // segment)
        wide = FLOAT64 if out.dtype == FLOAT64 else FLOAT32
        partial = xp.empty((segments, 2, columns * vector), wide)
        threads = segments * columns
        numbers = numbers_of(
            *(threads, total, segment, columns, *division(columns), units, *division(units))
        )
        abreast = min(columns, _BLOCK_ITEMS)
        rows = max(1, min(_MAX_ROWS, _BLOCK_ITEMS // abreast))
        macros = (("VECTOR", vector), ("ROWS", rows))
        launch_blocks(
            *(xp, "scatter", "sum_segments", out.dtype),
            (grad, *order, target, partial, *numbers, np.int64(count)),
            *((-(-threads // _THREADS),), _THREADS, macros),
        )
        numbers = numbers_of(
            *(total, segment, columns, abreast, *division(abreast), units, *division(units), count)
        )
        launch_blocks(
            *(xp, "scatter", "finish_rows", out.dtype, (order[0], partial, target, *numbers)),
            *((-(-count // rows), -(-columns // abreast)), _THREADS, macros),
        )


def _take_add(
    xp: ModuleType, out: Any, g: Any, indices: Any, *, shape: Shape, axis: int, mode: str
) -> None:
    axis %= len(shape)
    indices, mode = checked(xp, "take", indices, shape[axis], mode)
    _add(xp, out, g, indices, mode, axis, 1)


def _embedding_backward(xp: ModuleType, out: Any, grad: Any, data: Any, **_: object) -> None:
    _add(xp, out, grad, data, "clip", 0, 1)


def _add_nd(xp: ModuleType, out: Any, data: Any, indices: Any, *, shape: Shape) -> None:
    positions = flat_positions(xp, "_backward_gather_nd", indices, shape)
    _add(xp, out, data, positions, "clip", 0, indices.shape[0])


def _put(xp: Any, out: Any, data: Any, name: str, indices: Any) -> None:
    """Write rows of data to ``out``, contiguous, at the points in indices."""
    axes = indices.shape[0]
    positions = flat_positions(xp, name, indices, out.shape)
    order = ordered(xp, positions, math.prod(out.shape[:axes]), "clip")
    put_last(xp, out, contiguous(xp, data), order, math.prod(out.shape[axes:]))


def _put_nd(xp: ModuleType, out: Any, data: Any, indices: Any, *, shape: Shape) -> None:
    with contiguous_target(xp, out) as target:
        target.fill(0)
        _put(xp, target, data, "scatter_nd", indices)


def _set_nd(xp: ModuleType, out: Any, lhs: Any, rhs: Any, indices: Any, *, shape: Shape) -> None:
    with contiguous_target(xp, out) as target:
        copy(xp, target, lhs)
        _put(xp, target, rhs, "_scatter_set_nd", indices)


def _positions(op: Operator, indices: Spec) -> int:
    """Return the number of positions; those of points have several coordinates."""
    if op in (TAKE_ADD, EMBEDDING_BACKWARD):
        return indices.size
    return indices.size // max(1, indices.shape[0])


class _Scattering:
    """Decides which calls of an operator are supported."""

    __slots__ = ("_op",)

    def __init__(self, op: Operator) -> None:
        self._op = op

    def supports(self, *specs: Spec, **attrs: Any) -> bool:
        """Whether there are rows to scatter, of a supported dtype."""
        (made,) = self._op.infer(*specs, **attrs)
        *_, data, indices = specs
        many = _positions(self._op, indices)
        if not (0 < many <= _MAX_POSITIONS and 0 < data.size < _LIMIT and 0 < made.size < _LIMIT):
            return False
        adds = self._op in (TAKE_ADD, EMBEDDING_BACKWARD, SCATTER_ADD_ND)
        return made.dtype in KINDS if adds else made.dtype.itemsize in _ITEMSIZES


def _row(op: Operator, run: Any) -> tuple[Operator, FastKernel]:
    return op, FastKernel(
        *(BackEnd.CUPY, f"scatter_{op.name}", _Scattering(op).supports), run=run, enabled=enabled
    )


KERNELS = (
    _row(TAKE_ADD, _take_add),
    _row(EMBEDDING_BACKWARD, _embedding_backward),
    _row(SCATTER_ADD_ND, _add_nd),
    _row(SCATTER_ND, _put_nd),
    _row(SCATTER_SET_ND, _set_nd),
)
