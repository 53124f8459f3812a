"""Generated kernels for gathering: take, Embedding, gather_nd, pick and batch_take.

The data are viewed as (outer, count, width), and positions index the middle axis. NumPy gathers on
one core, after further passes over the positions.
"""

import math
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.spec import Spec
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.kernels.generated.loops import POSITIONS, WITHIN, readable
from gluonish.kernels.generated.strided_copy import VIEWS
from gluonish.ops.indexing.gather_nd import GATHER_ND, flat_points
from gluonish.ops.indexing.pick import BATCH_TAKE, PICK, TAKE_ALONG
from gluonish.ops.indexing.take import TAKE, integer_indices
from gluonish.ops.kernel import Array, BackEnd, FastKernel, address
from gluonish.ops.nn.embedding import EMBEDDING, check_ids
from gluonish.ops.registry import Operator

_LARGE = 1 << 15  # elements below which NumPy is faster
_GRAIN = 1 << 15  # minimum elements for each thread

_HEAD = """
def body(begin, end, params):
    y, x, positions = {view}(params[0]), {view}(params[1]), {kind}(params[2])
    many, count, width = params[3], params[4], params[5]
"""

# The same `many` positions for every index of the outer axis.
_ROWS = (
    _HEAD
    + """
    for row in range(begin, end):
        i = row % many
        chosen = {number}
        chosen = {within}
        at, source = row * width, (row // many * count + chosen) * width
        for c in range(width):
            independent()
            y[at + c] = x[source + c]
"""
)
_SINGLE = (
    _HEAD
    + """
    row = begin
    while row < end:
        n = row // many
        last = min(end, (n + 1) * many)
        for j in range(row, last):
            independent()
            i = j - n * many
            chosen = {number}
            chosen = {within}
            y[j] = x[n * count + chosen]
        row = last
"""
)

# One position per element, `many` for each index of the outer axis. Divisions are omitted where the
# quotient is known.
_ALONG = (
    _HEAD
    + """
    for i in range(begin, end):
        independent()
        chosen = {number}
        chosen = {within}
        y[i] = x[({row} * count + chosen) * width + {column}]
"""
)


@lru_cache(256)
def _kernel(
    text: str, size: int, kind: np.dtype[Any], mode: str, one: bool, thin: bool
) -> CompiledKernel:
    view, number = POSITIONS[kind]
    return compile_kernel(
        text.format(
            view=VIEWS[size],
            kind=view,
            number=number,
            within=WITHIN[mode],
            row="i" if one else "(i // many)",
            column="0" if thin else "i % width",
        )
    )


def _run(
    text: str,
    out: Array,
    data: Array,
    positions: Array,
    mode: str,
    extent: int,
    many: int,
    count: int,
    width: int,
) -> None:
    """Run a kernel over ``extent`` steps; the sources explain the other parameters."""
    data, positions = np.ascontiguousarray(data), readable(positions)
    kernel = _kernel(text, out.itemsize, positions.dtype, mode, many == 1, width == 1)
    addresses = map(address, (out, data, positions))
    grain = max(1, _GRAIN * extent // out.size)
    kernel(extent, np.array([*addresses, many, count, width], np.int64), grain)


def gather_rows(
    out: Array, data: Array, positions: Array, mode: str, count: int, width: int
) -> None:
    """Fill ``out`` with the rows of the data at positions, for every index of the outer axis.

    Args:
        out: The result (outer, positions, width), contiguous, not empty.
        data: The rows (outer, count, width).
        positions: Indices of rows, of any shape.
        mode: ``clip`` or ``wrap``.
    """
    text = _SINGLE if width == 1 else _ROWS
    _run(text, out, data, positions, mode, out.size // width, positions.size, count, width)


def _take(xp: ModuleType, out: Array, a: Array, indices: Array, *, axis: int, mode: str) -> None:
    axis %= a.ndim
    count = a.shape[axis]
    if mode == "raise":
        indices, mode = integer_indices(np, "take", indices, count, mode), "clip"
    gather_rows(out, a, indices, mode, count, math.prod(a.shape[axis + 1 :]))


def _embedding(
    xp: ModuleType, out: Array, data: Array, weight: Array, *, input_dim: int, **_: object
) -> None:
    check_ids("Embedding", data, input_dim)
    gather_rows(out, weight, data, "clip", input_dim, weight.shape[1])


def _gather_nd(xp: ModuleType, out: Array, data: Array, indices: Array) -> None:
    axes = indices.shape[0]
    positions = flat_points(np, "gather_nd", indices, data.shape)
    count = math.prod(data.shape[:axes])
    gather_rows(out, data, positions, "clip", count, math.prod(data.shape[axes:]))


def _take_along(
    xp: ModuleType,
    out: Array,
    data: Array,
    index: Array,
    *,
    axis: int,
    mode: str,
    keepdims: bool = False,
) -> None:
    axis %= data.ndim
    width, outer = math.prod(data.shape[axis + 1 :]), math.prod(data.shape[:axis])
    many = index.size // outer
    _run(_ALONG, out, data, index, mode, out.size, many, data.shape[axis], width)


def _batch_take(xp: ModuleType, out: Array, a: Array, indices: Array) -> None:
    _take_along(xp, out, a, indices, axis=1, mode="clip")


class _Gathering:
    """Decides which calls of an operator the generated gather kernel supports."""

    __slots__ = ("_op",)

    def __init__(self, op: Operator) -> None:
        self._op = op

    def supports(self, *specs: Spec, **attrs: Any) -> bool:
        """Whether the result is large, with a supported itemsize."""
        (made,) = self._op.infer(*specs, **attrs)
        return made.size >= _LARGE and made.dtype.itemsize in VIEWS


KERNELS = tuple(
    (
        op,
        FastKernel(
            BackEnd.GENERATED,
            op.name,
            _Gathering(op).supports,
            run=run,
            enabled=available,
            large_only=True,
        ),
    )
    for op, run in (
        (TAKE, _take),
        (EMBEDDING, _embedding),
        (GATHER_ND, _gather_nd),
        (TAKE_ALONG, _take_along),
        (PICK, _take_along),
        (BATCH_TAKE, _batch_take),
    )
)
