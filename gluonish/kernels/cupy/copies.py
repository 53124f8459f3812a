"""Copies between arrays of any strides in one launch, converting floats.

Axes that are adjacent in both arrays are one loop. If the innermost axis of the target is adjacent
in the source, too, or no axis of the source is, elements are copied along it, 16 bytes at a time
where extents and addresses allow it (copies.cu). Otherwise tiles go through shared memory, so that
both arrays are accessed along their own innermost axis (transposes.cu).

CuPy copies what these kernels do not: dense arrays of equal layout, by a memory copy; other
dtypes; and arrays that overlap.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import GLUONISH_CUDA_COPIES
from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64
from gluonish.kernels.cupy.source import KINDS, VECTOR_NBYTES, Macros, launch_blocks
from gluonish.kernels.generated.loops import find_loops

_THREADS = 256  # as in the sources
_UNROLLED = 4  # units of a thread
_MANY = 1 << 18  # units from which a thread copies several
_LIMIT_32 = 1 << 31
_LEAST = 16  # extent of the axes of tiles
_RANKS = (1, 2, 3, 4, 8)  # of loops; a kernel has the next one
_TILE = {1: 64, 2: 64, 4: 32, 8: 32}  # elements of a side, by their size
_PLAIN = 100  # more than any cudaDataType: a copy that converts nothing
_MAX_PLANS = 4096  # if exceeded, all are dropped, to bound memory if shapes never repeat
_CASTS = frozenset(
    (source, target)
    for kinds in ((FLOAT32, FLOAT16, BFLOAT16), (FLOAT32, FLOAT64))
    for source in kinds
    for target in kinds
    if source != target
)

_Steps = tuple[int, ...]
_Axis = tuple[int, int, int]  # extent, and step in the target and in the source


class _Plan(NamedTuple):
    """A launch for arrays of given layouts; all but their addresses.

    Attributes:
        name: The source, which has one kernel.
        function: That kernel.
        table: Its parameter.
        reach: Bytes from an array's first element to its lowest address, and behind its highest;
            of the target and of the source.
    """

    name: str
    function: str
    macros: Macros
    blocks: int
    table: Any
    reach: tuple[tuple[int, int], tuple[int, int]]


_plans: dict[tuple[Any, ...], _Plan | None] = {}


def copy(xp: Any, out: Any, source: Any) -> None:
    """Copy an array into another one, as ``out[...] = source`` does.

    Args:
        xp: CuPy.
        out: Array of any strides.
        source: Array of the same device, whose shape broadcasts to that of ``out``.
    """
    plan = None
    if source.shape != out.shape and source.ndim <= out.ndim:
        source = xp.broadcast_to(source, out.shape)
    if source.shape == out.shape and GLUONISH_CUDA_COPIES.value:
        plan = _plan_of(out, source)
    if plan is None or _overlap(plan, out, source):
        out[...] = source
        return
    # By bytes, as a copy of a structure leaves its gaps as they are, and graphs are compared.
    table = plan.table.view(np.uint8).copy().view(plan.table.dtype)
    table["written"], table["read"] = out.data.ptr, source.data.ptr
    # The macros name the types, so that KIND is that of any dtype.
    launch_blocks(
        *(xp, plan.name, plan.function, FLOAT32, (table,), (plan.blocks,), _THREADS),
        plan.macros,
    )


def contiguous(xp: Any, array: Any) -> Any:
    """Return the array, or a contiguous copy if the array is not contiguous."""
    return array if array.flags.c_contiguous else duplicate(xp, array)


def duplicate(xp: Any, array: Any) -> Any:
    """Return a contiguous copy."""
    made = xp.empty(array.shape, array.dtype)
    copy(xp, made, array)
    return made


@contextmanager
def contiguous_target(xp: Any, out: Any) -> Iterator[Any]:
    """Give an array to fill: ``out`` or, if that is not contiguous, one that is copied to it."""
    if out.flags.c_contiguous:
        yield out
        return
    made = xp.empty(out.shape, out.dtype)
    yield made
    copy(xp, out, made)


def _overlap(plan: _Plan, out: Any, source: Any) -> bool:
    """Whether the addresses of two arrays overlap, so that an order of accesses is needed."""
    (low, high), (start, end) = plan.reach
    written, read = out.data.ptr, source.data.ptr
    return bool(written + low < read + end and read + start < written + high)


def _plan_of(out: Any, source: Any) -> _Plan | None:
    """Return the launch for two arrays of one shape; None if CuPy's own serves them better."""
    alignments = _alignment(out.data.ptr), _alignment(source.data.ptr)
    key = (out.dtype, source.dtype, out.shape, out.strides, source.strides, alignments)
    try:
        return _plans[key]
    except KeyError:
        pass
    if len(_plans) >= _MAX_PLANS:
        _plans.clear()
    plan = _plans[key] = _new_plan(out, source, *alignments)
    return plan


def _alignment(address: int) -> int:
    """Return the bytes of which an address is a multiple, at most those of a vector."""
    return (address | VECTOR_NBYTES) & -(address | VECTOR_NBYTES)


def _new_plan(out: Any, source: Any, out_alignment: int, alignment: int) -> _Plan | None:
    types = _types(source.dtype, out.dtype)
    if types is None or not out.size:
        return None
    if any(step % x.itemsize for x in (out, source) for step in x.strides):
        return None
    strides = [[step // x.itemsize for step in x.strides] for x in (out, source)]
    extents, (to, come) = find_loops(out.shape, strides)
    axes = list(zip(extents, to, come, strict=True))
    if out.dtype == source.dtype and to == come and len(axes) == 1 and to[0] == 1:
        return None  # a memory copy
    reach = _reach(axes, 1, out.itemsize), _reach(axes, 2, source.itemsize)
    far = any(high - low >= _LIMIT_32 for low, high in reach)
    sides = (_Side(1, out.itemsize, out_alignment), _Side(2, source.itemsize, alignment))
    tiled = _tiled_axis(axes)
    if tiled is None:
        name, function, made = "copies", "copy_elements", _elements(axes, *sides)
    else:
        name, function = "transposes", "transpose_tiles"
        made = _tiles([*axes[:tiled], *axes[tiled + 1 :]], axes[tiled], *sides)
    if made is None:
        return None
    macros, blocks, table = made
    macros = (("FROM", types[0]), ("TO", types[1]), ("FAR", int(far)), *macros)
    return _Plan(name, function, macros, blocks, table, reach)


def _types(source: np.dtype[Any], target: np.dtype[Any]) -> tuple[int, int] | None:
    """Return the macros FROM and TO; None for dtypes that are not supported."""
    if source == target:
        code = _PLAIN + source.itemsize
        return (code, code) if source.itemsize in _TILE else None
    return (KINDS[source], KINDS[target]) if (source, target) in _CASTS else None


def _reach(axes: Sequence[_Axis], side: int, itemsize: int) -> tuple[int, int]:
    ends = [(axis[0] - 1) * axis[side] for axis in axes]
    low, high = (sum(limit(end, 0) for end in ends) for limit in (min, max))
    return low * itemsize, (high + 1) * itemsize


class _Side(NamedTuple):
    """One of both arrays: its steps are ``axis[side]`` of each axis."""

    side: int
    itemsize: int
    alignment: int

    def vector(self, limit: int, extent: int, others: Sequence[_Axis]) -> int:
        """Return how many elements can be accessed at once along an axis whose step is 1.

        Args:
            limit: The most, a power of 2.
            extent: Of that axis.
            others: The other axes.
        """
        count = limit
        while count > 1:
            nbytes = min(count * self.itemsize, VECTOR_NBYTES)
            fits = all(axis[self.side] * self.itemsize % nbytes == 0 for axis in others)
            if extent % count == 0 and self.alignment % nbytes == 0 and fits:
                break
            count //= 2
        return count


def _tiled_axis(axes: Sequence[_Axis]) -> int | None:
    """Return the axis that is adjacent in the source; None if tiles are of no use."""
    extent, to, come = axes[-1]
    if to != 1 or come in (0, 1) or extent < _LEAST:
        return None
    for i, (rows, _, step) in enumerate(axes[:-1]):
        if step == 1 and rows >= _LEAST:
            return i
    return None


_Made = tuple[Macros, int, Any]  # macros, blocks, and the table


def _elements(axes: Sequence[_Axis], target: _Side, source: _Side) -> _Made | None:
    """Return how elements are copied along the innermost axis; None for too many axes."""
    *outer, (extent, to, come) = axes
    adjacent = come == 1
    vector = VECTOR_NBYTES // min(target.itemsize, source.itemsize)
    vector = target.vector(vector, extent, outer) if to == 1 else 1
    if adjacent:
        vector = source.vector(vector, extent, outer)
    loops = [*outer, (extent // vector, to * vector, come * vector)]
    rank = _rank(len(loops))
    count = _count(loops)
    if rank is None or count >= _LIMIT_32 - (1 << 16):
        return None
    unrolled = _UNROLLED if count >= _MANY else 1
    table = np.zeros(1, _LOOPS[rank])
    _set_axes(table[0], loops, rank)
    table["apart"], table["count"] = come, count
    macros = (("RANK", rank), ("VECTOR", vector), ("ADJACENT", int(adjacent or vector == 1)))
    return (*macros, ("UNROLLED", unrolled)), -(-count // (_THREADS * unrolled)), table


def _tiles(others: Sequence[_Axis], down: _Axis, target: _Side, source: _Side) -> _Made | None:
    """Return how tiles are copied; None for too many axes or tiles.

    Args:
        others: All axes but ``down``; the last is ``across``.
    """
    *outer, across = others
    tile = _TILE[target.itemsize]
    into = target.vector(VECTOR_NBYTES // target.itemsize, across[0], [*outer, down])
    out_of = source.vector(VECTOR_NBYTES // source.itemsize, down[0], others)
    numbers = [-(-axis[0] // tile) for axis in (down, across)]
    rank = _rank(len(outer) or 1)
    blocks = _count(outer) * numbers[0] * numbers[1]
    if rank is None or blocks >= _LIMIT_32:
        return None
    table = np.zeros(1, _TILES[rank])
    row = table[0]
    _set_axes(row, outer, rank)
    row["down_step"], row["across_step"] = down[1], across[2]
    row["down"], row["across"] = down[0], across[0]
    row["tiles_down"], row["tiles_across"] = numbers
    row["down_factor"], row["down_shift"] = division(numbers[0])
    row["across_factor"], row["across_shift"] = division(numbers[1])
    macros = (("RANK", rank), ("SIDE", tile), ("IN_VECTOR", out_of), ("OUT_VECTOR", into))
    return macros, blocks, table


def _count(axes: Sequence[_Axis]) -> int:
    count = 1
    for extent, _, _ in axes:
        count *= extent
    return count


def _rank(loops: int) -> int | None:
    return next((rank for rank in _RANKS if rank >= loops), None)


def _set_axes(row: Any, axes: Sequence[_Axis], rank: int) -> None:
    """Set the fields of all axes, of which kernels want the innermost first."""
    padded = [*reversed(axes), *[(1, 0, 0)] * (rank - len(axes))]
    for i, (extent, to, come) in enumerate(padded):
        row["extents"][i], row["to"][i], row["from"][i] = extent, to, come
        row["factors"][i], row["shifts"][i] = division(extent)


def division(extent: int) -> tuple[int, int]:
    """Return a factor and a shift that divide numbers below 2^31 by an extent.

    The factor exceeds 2^shift / extent by less than 2^(shift - 31) / extent, so that the product
    with such a number is above the quotient by less than 1 / extent.
    """
    shift = 31 + (extent - 1).bit_length()
    return -(-(1 << shift) // extent), shift


def _axes_fields(rank: int) -> list[Any]:
    return [(name, np.uint32, (rank,)) for name in ("extents", "factors", "shifts")]


def _head(rank: int) -> list[Any]:
    addresses = [("written", np.uint64), ("read", np.uint64)]
    return [*addresses, ("to", np.int64, (rank,)), ("from", np.int64, (rank,))]


# The structures of the sources.
_LOOPS = {
    rank: np.dtype(
        [*_head(rank), ("apart", np.int64), *_axes_fields(rank), ("count", np.uint32)], align=True
    )
    for rank in _RANKS
}
_TILES = {
    rank: np.dtype(
        [
            *_head(rank),
            *((name, np.int64) for name in ("down_step", "across_step")),
            *_axes_fields(rank),
            *((name, np.uint32) for name in ("down", "across", "tiles_down", "tiles_across")),
            *((name, np.uint32) for name in ("down_factor", "down_shift")),
            *((name, np.uint32) for name in ("across_factor", "across_shift")),
        ],
        align=True,
    )
    for rank in _RANKS
}
