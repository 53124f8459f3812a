"""rotary_embedding in one pass over memory, with tables of cosines and sines that are made once.

A table has a row for each position from 0 on, float32 (positions, 2, dim / 2), and grows with the
positions that calls have. Positions beyond `_MOST` elements of a table, and those of scaling
``dynamic`` in sequences longer than the training's, have a table for the call alone.
"""

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import FLOAT32, INT32, INT64
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import compile_kernel
from gluonish.kernels.generated.loops import is_narrow, narrowed
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.kernels.generated.support import enabled
from gluonish.ops.attention.rotary import ROTARY_EMBEDDING, positions_of, width_of
from gluonish.ops.attention.rotary_frequencies import ATTRIBUTES, tables
from gluonish.ops.kernel import Array, BackEnd, FastKernel, RefusedError
from gluonish.ops.registry import Attrs

_SMALL = 1 << 9  # elements below which NumPy is as fast
_GRAIN = 1 << 13  # minimum elements for each thread
_FIRST = 1 << 9  # rows of a new table
_MOST = 1 << 24  # elements of a table that is cached
_MANY = 64  # tables that are cached

# A step is a row of the data, (a, b, c) of three axes. Params: 0 out, 1 data, 2 table, 3 rows of
# the table, 4 elements of a row, 5 pairs, 6 sign of the sines, 7 and 8 extents of b and c, 9 to 11
# strides of a, b and c in the data, 12 to 14 their strides among the positions.
_SOURCE = """
def body(begin, end, params):
    out, x = f32(params[0]), f32(params[1])
    table, positions = f32(params[2]), {positions}(params[3])
    width, half, sign = params[4], params[5], float32(params[6])
    n, m = params[7], params[8]
    for row in range(begin, end):
        a, c = row // (n * m), row % m
        b = row // m - a * n
        at_cos = positions[a * params[12] + b * params[13] + c * params[14]] * 2 * half
        at_sin = at_cos + half
        to = row * width
        at = a * params[9] + b * params[10] + c * params[11]
        for j in range(half):
            independent()
            cosine = table[at_cos + j]
            sine = table[at_sin + j] * sign
            p = x[at + {first}]
            q = x[at + {second}]
            out[to + {first}] = p * cosine - q * sine
            out[to + {second}] = q * cosine + p * sine
        for j in range(2 * half, width):
            independent()
            out[to + j] = x[at + j]
"""
_MEMBERS = {"halves": ("j", "half + j"), "neighbours": ("2 * j", "2 * j + 1")}  # of a pair
_POSITIONS = {INT32: "i32", INT64: "i64"}

_kept: dict[tuple[Any, ...], Array] = {}


class _Lookup(NamedTuple):
    """A table and, for each position of a call, its row there."""

    table: Array
    rows: Array


def _table(positions: Array, dim: int, attrs: Attrs, length: int) -> Array:
    """Return cosines and sines, float32 (positions, 2, dim / 2)."""
    made = tables(np, positions.reshape(-1), dim, attrs, length)
    return np.stack([x.astype(np.float32) for x in made], 1)


def _key_of(dim: int, attrs: Attrs) -> tuple[Any, ...]:
    return (dim, *[attrs[name] for name in ATTRIBUTES])


def look_up(positions: Array, dim: int, attrs: Attrs) -> _Lookup:
    """Return the table for a call, and the rows of its positions."""
    length = int(positions.max()) + 1
    original = attrs["original_max_position_embeddings"]
    stretched = attrs["scaling"] == "dynamic" and length > original
    if stretched or length * dim > _MOST:
        rows = np.arange(positions.size, dtype=np.int64)
        return _Lookup(_table(positions, dim, attrs, length), rows)
    key = _key_of(dim, attrs)
    found = _kept.get(key)
    if found is None or len(found) < length:
        if len(_kept) >= _MANY:
            _kept.clear()
        count = max(_FIRST, 1 << (length - 1).bit_length())
        # Up to the original length 'dynamic' has the frequencies of the training.
        found = _table(np.arange(count), dim, attrs, length)
        _kept[key] = found
    return _Lookup(found, np.ascontiguousarray(positions))


# The axes of samples and of positions among the three of a row, by layout.
_AXES = {"NHTC": (0, 2), "NTHC": (0, 1), "TNHC": (1, 0)}


class _Layout(NamedTuple):
    """What a plan depends on.

    Attributes:
        dtypes: Those of out and data.
        shape: Of the data.
        strides: Of the data, in bytes.
        positions: Dtype of the positions.
        shared: Whether all samples have the same positions.
        axes: The operator's layout.
        dim: Number of elements of a row that are rotated.
        pairing: The operator's.
        transposed: Whether the rotation is the inverse one.
    """

    dtypes: tuple[np.dtype[Any], ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    positions: np.dtype[Any]
    shared: bool
    axes: str
    dim: int
    pairing: str
    transposed: bool


@lru_cache(1024)
def _plan_of(layout: _Layout) -> KernelPlan:
    shape, strides = _three_axes(layout)
    sample, step = _AXES[layout.axes]
    steps = [0, 0, 0]
    steps[step] = 1
    if not layout.shared:
        steps[sample] = shape[step]
    *_, width = layout.shape
    numbers = [width, layout.dim // 2, -1 if layout.transposed else 1, *shape[1:]]
    first, second = _MEMBERS[layout.pairing]
    source = _SOURCE.format(first=first, second=second, positions=_POSITIONS[layout.positions])
    source = narrowed(source, ("out", "x"), layout.dtypes)
    params = [0, 0, 0, 0, *numbers, *strides, *steps]
    rows = math.prod(layout.shape[:-1])
    return KernelPlan(compile_kernel(source), params, rows, max(1, _GRAIN // width))


def _three_axes(layout: _Layout) -> tuple[list[int], list[int]]:
    """Return extents and strides, in elements of the data, of the axes of a row."""
    shape, itemsize = layout.shape, layout.dtypes[1].itemsize
    if len(shape) == 4 and layout.strides[-1] == itemsize:
        return list(shape[:-1]), [step // itemsize for step in layout.strides[:-1]]
    expected, each = [], itemsize
    for extent in reversed(shape):
        expected.append(each)
        each *= extent
    if tuple(reversed(expected)) != layout.strides:
        raise RefusedError("rotary_embedding: expected contiguous arrays, got strided ones")
    *before, steps, width = shape
    samples = before[0] if before else 1
    heads = math.prod(before[1:])
    return [samples, heads, steps], [heads * steps * width, steps * width, width]


def _layout_of(out: Array, data: Array, positions: Array, dim: int, attrs: Attrs) -> _Layout:
    return _Layout(
        (out.dtype, data.dtype),
        data.shape,
        data.strides,
        positions.dtype,
        positions.ndim < 2,
        attrs["layout"],
        dim,
        attrs["pairing"],
        bool(attrs["transposed"]),
    )


def _run(xp: ModuleType, out: Array, data: Array, *positions: Array, **attrs: Any) -> None:
    if not out.flags.c_contiguous:
        raise RefusedError("rotary_embedding: expected contiguous arrays, got strided ones")
    dim = width_of(data.shape, attrs)
    found = positions_of(np, data, positions, attrs)
    table, rows = look_up(found, dim, attrs)
    _plan_of(_layout_of(out, data, found, dim, attrs)).run(out, data, table, rows)


def _supports(data: Spec, *_: Spec, **attrs: Any) -> bool:
    narrow = is_narrow(data.dtype)
    return data.size >= _SMALL and (narrow or data.dtype == FLOAT32)


class _Attached:
    """The kernel in memory of a graph, whose layouts stay; see `FastKernel`.

    A call whose positions are in the table takes the short way.
    """

    __slots__ = ("_attrs", "_key", "_operands", "_plan", "_xp")

    def __init__(self, xp: ModuleType, operands: Sequence[int], attrs: Attrs) -> None:
        self._xp = xp
        self._operands = operands
        self._attrs = attrs
        self._key: tuple[Any, ...] = ()
        self._plan: KernelPlan | None = None

    def run(self, arrays: Sequence[Any]) -> None:
        """Rotate."""
        used = [arrays[i] for i in self._operands]
        if self._plan is not None and len(used) == 3:
            positions = used[2]
            if positions.size == 1:
                least = most = positions.item()
            else:
                least, most = positions.min(), positions.max()
            table = _kept.get(self._key)
            if table is not None and least >= 0 and most < len(table):
                self._plan.run(used[0], used[1], table, positions)
                return
        self._run_otherwise(*used)

    def _run_otherwise(self, out: Array, data: Array, *positions: Array) -> None:
        attrs = self._attrs
        plain = not attrs["offset"] and attrs["scaling"] != "dynamic" and len(positions) == 1
        if plain and positions[0].dtype in _POSITIONS and positions[0].flags.c_contiguous:
            dim = width_of(data.shape, attrs)
            self._key = _key_of(dim, attrs)
            self._plan = _plan_of(_layout_of(out, data, positions[0], dim, attrs))
        _run(self._xp, out, data, *positions, **attrs)

    def pack(self, arrays: Sequence[Any]) -> None:
        """Do nothing."""


def _attach(
    xp: ModuleType, operands: Sequence[int], movable: Collection[int], attrs: Attrs
) -> _Attached:
    return _Attached(xp, operands, attrs)


def _reads_strides(position: int, shape: Sequence[int], strides: Sequence[int]) -> bool:
    return not position and len(shape) == 4 and strides[-1] == 1


KERNELS = (
    (
        ROTARY_EMBEDDING,
        FastKernel(
            *(BackEnd.GENERATED, "rotary_embedding", _supports),
            run=_run,
            attach=_attach,
            enabled=enabled,
            serial_limit=_GRAIN,
            reads_strides=_reads_strides,
        ),
    ),
)
