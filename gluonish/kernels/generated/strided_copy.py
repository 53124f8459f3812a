"""Copies of elements from one layout to another, by all cores: rows, and tiles of transpositions.

Source and target are seen as loops (see `gluonish.kernels.generated.loops`), sorted by the target's
strides. What the innermost loop reads decides how it is copied:

- neighbours, one element again and again, or elements at some distance: row by row;
- at most eight of them: written out one by one, for each step of the loop around them;
- elements at a distance, while another loop walks through the source's memory: in square tiles of
  both loops, which pass through a buffer, so that both sides are touched a cache line at a time.
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.generated.loops import Loops, find_loops
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.ops.kernel import RefusedError
from gluonish.ops.support.work import LARGE_COPY

VIEWS = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}  # by the size of an element
_GRAIN = 1 << 15  # elements that are worth a thread
_TILE = 32  # elements along each side
_SHORT = 8  # elements of a loop that is written out
_FEW = 512  # elements of rows, several of which are a step
_MANY = 64  # steps, enough for all threads
_LONGEST = 1 << 14  # elements of a row that is not cut for the threads' sake
_NEAR = 4  # distances up to here stand in the text, where they vectorize

# Words of all: target, source; steps of the innermost loop in both; its extent, extent of a piece;
# then for each loop around it from the inside its extent and the steps in both.
_HEAD = """
def body(begin, end, words):
    y, x = {view}(words[0]), {view}(words[1])
    to, by, count, piece = words[2], words[3], words[4], words[5]
    pieces = (count + piece - 1) // piece
"""

_FIND = """
        at = words[6 + 3 * {n} + 1] * (left % words[6 + 3 * {n}]) + at
        i = words[6 + 3 * {n} + 2] * (left % words[6 + 3 * {n}]) + i
        left = left // words[6 + 3 * {n}]
"""

# Words behind those where a step does several rows: the loop around them, as the others.
_ROWS = (
    _HEAD
    + """
    for step in range(begin, end):
        left, first = step // pieces, step % pieces * piece
        last = min(first + piece, count)
        at, i = first * to, first * by
{find}
        for row in range({rows}):
            for c in range(last - first):
                independent()
{copies}
            at, i = at + {row_to}, i + {row_by}
"""
)
_SHORT_COPY = "                y[at + c * {to} + {skip}] = x[i + c * {by} + {jump}]"

# Words behind `piece`: the loop through the source's memory, as the loops around have them. The
# buffer holds 32 bits an element; `low` and `high` cut longer ones.
_TILES = (
    _HEAD
    + """
    rows, row_to, row_by = words[6], words[7], words[8]
    tiles = (rows + {tile} - 1) // {tile}
    buffer = scratch()
    for step in range(begin, end):
        first, left = step % pieces * {tile}, step // pieces
        top, left = left % tiles * {tile}, left // tiles
        wide, high = min({tile}, count - first), min({tile}, rows - top)
        at, i = first * to + top * row_to, first * by + top * row_by
{find}
        for c in range(wide):
            for r in range(high):
                independent()
                buffer[c * {tile} + r] = {narrow}(x[i + c * by + r * row_by])
{second}
        for r in range(high):
            for c in range(wide):
                independent()
                y[at + c * to + r * row_to] = {read}
"""
)
_SECOND = """
        for c in range(wide):
            for r in range(high):
                independent()
                buffer[c * {tile} + r + {half}] = uint32(x[i + c * by + r * row_by] >> uint64(32))
"""


def move(target: Any, source: Any) -> None:
    """Copy elements into an array of the same dtype, which no source element lies in.

    Args:
        target: Where to, with any strides.
        source: From where, with any strides; stretched to the target's shape.

    Raises:
        RefusedError: The elements are of a size that is not known, or off their alignment.
    """
    if source.shape != target.shape:
        source = np.broadcast_to(source, target.shape)
    plan = _plan(target.itemsize, target.shape, target.strides, source.strides)
    if plan is None or not (target.flags.aligned and source.flags.aligned):
        raise RefusedError(
            "move: expected aligned elements of 1, 2, 4 or 8 bytes, got another size or address"
        )
    plan.run(target, source)


def is_large(array: Any) -> bool:
    """Whether a copy of an array is worth a team of threads."""
    return array.size >= LARGE_COPY and available()


def copy(target: Any, source: Any) -> None:
    """Copy elements into an array of the same shape and any dtype, on all cores if it is large."""
    if target.dtype == source.dtype and is_large(target):
        try:
            move(target, source)
        except RefusedError:
            pass
        else:
            return
    target[...] = source


@lru_cache(4096)
def _plan(
    size: int, shape: tuple[int, ...], target: tuple[int, ...], source: tuple[int, ...]
) -> KernelPlan | None:
    if size not in VIEWS or any(step % size for step in (*target, *source)):
        return None
    steps = [tuple(step // size for step in strides) for strides in (target, source)]
    loops = find_loops(shape, steps)
    by, length = loops.strides[1][-1], loops.extents[-1]
    if length <= _SHORT and len(loops.extents) > 1:
        return _short_plan(size, loops)
    if abs(by) > 1 and length > _SHORT:
        inward = [
            abs(step) if step and extent > _SHORT else abs(by)
            for step, extent in zip(loops.strides[1][:-1], loops.extents, strict=False)
        ]
        if inward and min(inward) < abs(by):
            return _tile_plan(size, loops, inward.index(min(inward)))
    return _row_plan(size, loops)


def _around(loops: Loops, *without: int) -> list[int]:
    """Return the words of the loops around, from the inside, but for some."""
    kept = [n for n in reversed(range(len(loops.extents))) if n not in without]
    return [
        word for n in kept for word in (loops.extents[n], loops.strides[0][n], loops.strides[1][n])
    ]


def _find(words: list[int], first: int = 0) -> str:
    return "".join(_FIND.replace("{n}", str(n)) for n in range(first, len(words) // 3))


def _row_plan(size: int, loops: Loops, copies: str = "", *, elements: int = 1) -> KernelPlan:
    """Return the plan of rows; ``copies`` writes out ``elements`` elements of a step."""
    count, (to, by) = loops.extents[-1], (own[-1] for own in loops.strides)
    around = _around(loops, len(loops.extents) - 1)
    if not copies:
        copies = _SHORT_COPY.format(to=_distance("to", to), by=_distance("by", by), skip=0, jump=0)
    piece = count if count <= _LONGEST else _LONGEST // 4
    steps = math.prod(loops.extents[:-1]) * -(-count // piece)
    # To find a row takes a division for each loop around it.
    nested = len(around) > 3 and piece * elements < _FEW and steps // around[0] >= _MANY
    rows = ("words[6]", "words[7]", "words[8]") if nested else ("1", "0", "0")
    source = _ROWS.format(
        view=VIEWS[size],
        find=_find(around, int(nested)),
        copies=copies,
        **dict(zip(("rows", "row_to", "row_by"), rows, strict=True)),
    )
    own = piece * elements * (around[0] if nested else 1)
    extent = steps // around[0] if nested else steps
    words = (0, 0, to, by, count, piece, *around)
    return KernelPlan(compile_kernel(source), words, extent, max(1, _GRAIN // own))


def _distance(word: str, step: int) -> str:
    """Return a distance as the text has it: as a number where the loop vectorizes with it."""
    return str(step) if abs(step) <= _NEAR else word


def _short_plan(size: int, loops: Loops) -> KernelPlan:
    outer = Loops(loops.extents[:-1], tuple(own[:-1] for own in loops.strides))
    count, (skip, jump) = loops.extents[-1], (own[-1] for own in loops.strides)
    # As numbers where elements then are so near that LLVM may read or write them together.
    to, by = (
        str(own[-1]) if abs(own[-1]) <= _SHORT * max(1, abs(step)) else word
        for own, step, word in zip(outer.strides, (skip, jump), ("to", "by"), strict=True)
    )
    copies = "\n".join(
        _SHORT_COPY.format(to=to, by=by, skip=n * skip, jump=n * jump) for n in range(count)
    )
    return _row_plan(size, outer, copies, elements=count)


def _tile_plan(size: int, loops: Loops, along: int) -> KernelPlan:
    count, (to, by) = loops.extents[-1], (own[-1] for own in loops.strides)
    rows = [loops.extents[along], loops.strides[0][along], loops.strides[1][along]]
    around = rows + _around(loops, along, len(loops.extents) - 1)
    wide = size == 8
    tile = _TILE // 2 if wide else _TILE
    half = tile * tile
    low = f"buffer[c * {tile} + r]"
    high = f"uint64(buffer[c * {tile} + r + {half}]) << uint64(32)"
    source = _TILES.format(
        view=VIEWS[size],
        tile=tile,
        find=_find(around, 1),
        narrow="uint32",
        second=_SECOND.format(tile=tile, half=half) if wide else "",
        read=f"uint64({low}) | ({high})" if wide else f"uint{8 * size}({low})",
    )
    for name, step in (("row_by", rows[2]), ("to", to)):
        if step == 1:
            source = source.replace(f" * {name}]", "]")
    tiles = -(-count // tile) * -(-rows[0] // tile)
    extent = tiles * math.prod(around[3::3])
    words = (0, 0, to, by, count, tile, *around)
    return KernelPlan(compile_kernel(source), words, extent, max(1, _GRAIN // (tile * tile)))
