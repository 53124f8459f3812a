"""Copies between layouts on all cores: by rows, and by tiles for transpositions.

Source and target are loops (see `gluonish.kernels.generated.loops`), sorted by the target's
strides. The source's stride in the innermost loop decides how to copy:

- contiguous, constant or strided elements: row by row;
- at most eight elements: unrolled, for each step of the next outer loop;
- strided elements, while another loop is contiguous in the source: in square tiles of both loops,
  through a buffer, so that both sides access whole cache lines.
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

VIEWS = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}  # keyed by itemsize
_GRAIN = 1 << 15  # minimum elements for each thread
_TILE = 32  # elements along each side of a tile
_SHORT = 8  # maximum elements of an unrolled loop
_FEW = 512  # elements per row below which a step copies several rows
_MANY = 64  # minimum number of steps for that
_LONGEST = 1 << 14  # elements above which a row is split into chunks
_NEAR = 4  # strides up to which they are constants in the source, to vectorize

# Params of all: target, source; strides of the innermost loop in both; its extent, extent of a
# chunk; then for each outer loop, from the inside, its extent and the strides in both.
_HEAD = """
def body(begin, end, params):
    y, x = {view}(params[0]), {view}(params[1])
    to, by, count, chunk = params[2], params[3], params[4], params[5]
    chunks = (count + chunk - 1) // chunk
"""

_FIND = """
        at = params[6 + 3 * {n} + 1] * (left % params[6 + 3 * {n}]) + at
        i = params[6 + 3 * {n} + 2] * (left % params[6 + 3 * {n}]) + i
        left = left // params[6 + 3 * {n}]
"""

# Additional params if a step copies several rows: those of the next outer loop.
_ROWS = (
    _HEAD
    + """
    for step in range(begin, end):
        left, first = step // chunks, step % chunks * chunk
        last = min(first + chunk, count)
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

# Params after `chunk`: the loop that is contiguous in the source, then the other outer loops. The
# buffer has 32 bits for each element; `low` and `high` are the halves of 64-bit ones.
_TILES = (
    _HEAD
    + """
    rows, row_to, row_by = params[6], params[7], params[8]
    tiles = (rows + {tile} - 1) // {tile}
    buffer = scratch()
    for step in range(begin, end):
        first, left = step % chunks * {tile}, step // chunks
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
    """Copy elements between arrays of equal dtype and any strides, which must not overlap.

    The source is broadcast to the target's shape.

    Raises:
        RefusedError: The itemsize is not supported, or an array is not aligned.
    """
    if source.shape != target.shape:
        source = np.broadcast_to(source, target.shape)
    plan = _plan(target.itemsize, target.shape, target.strides, source.strides)
    if plan is None or not (target.flags.aligned and source.flags.aligned):
        raise RefusedError(
            "copy: expected aligned elements of 1, 2, 4 or 8 bytes, got another itemsize or "
            "alignment"
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
    """Return the params of the outer loops, from the inside, except the loops ``without``."""
    numbers = [n for n in reversed(range(len(loops.extents))) if n not in without]
    return [
        param
        for n in numbers
        for param in (loops.extents[n], loops.strides[0][n], loops.strides[1][n])
    ]


def _find(params: list[int], first: int = 0) -> str:
    return "".join(_FIND.replace("{n}", str(n)) for n in range(first, len(params) // 3))


def _row_plan(size: int, loops: Loops, copies: str = "", *, elements: int = 1) -> KernelPlan:
    """Return a plan that copies row by row; ``copies`` unrolls ``elements`` elements of a step."""
    count, (to, by) = loops.extents[-1], (strides[-1] for strides in loops.strides)
    around = _around(loops, len(loops.extents) - 1)
    if not copies:
        copies = _SHORT_COPY.format(
            to=_stride_text("to", to), by=_stride_text("by", by), skip=0, jump=0
        )
    chunk = count if count <= _LONGEST else _LONGEST // 4
    steps = math.prod(loops.extents[:-1]) * -(-count // chunk)
    # Finding a row takes a division for each outer loop.
    nested = len(around) > 3 and chunk * elements < _FEW and steps // around[0] >= _MANY
    rows = ("params[6]", "params[7]", "params[8]") if nested else ("1", "0", "0")
    source = _ROWS.format(
        view=VIEWS[size],
        find=_find(around, int(nested)),
        copies=copies,
        **dict(zip(("rows", "row_to", "row_by"), rows, strict=True)),
    )
    step_elements = chunk * elements * (around[0] if nested else 1)
    extent = steps // around[0] if nested else steps
    params = (0, 0, to, by, count, chunk, *around)
    return KernelPlan(compile_kernel(source), params, extent, max(1, _GRAIN // step_elements))


def _stride_text(name: str, stride: int) -> str:
    """Return a stride as source text: a constant if that lets the loop vectorize, else a name."""
    return str(stride) if abs(stride) <= _NEAR else name


def _short_plan(size: int, loops: Loops) -> KernelPlan:
    outer = Loops(loops.extents[:-1], tuple(strides[:-1] for strides in loops.strides))
    count, (skip, jump) = loops.extents[-1], (strides[-1] for strides in loops.strides)
    # Constants if elements are near enough for LLVM to combine their accesses.
    to, by = (
        str(strides[-1]) if abs(strides[-1]) <= _SHORT * max(1, abs(step)) else name
        for strides, step, name in zip(outer.strides, (skip, jump), ("to", "by"), strict=True)
    )
    copies = "\n".join(
        _SHORT_COPY.format(to=to, by=by, skip=n * skip, jump=n * jump) for n in range(count)
    )
    return _row_plan(size, outer, copies, elements=count)


def _tile_plan(size: int, loops: Loops, along: int) -> KernelPlan:
    count, (to, by) = loops.extents[-1], (strides[-1] for strides in loops.strides)
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
    params = (0, 0, to, by, count, tile, *around)
    return KernelPlan(compile_kernel(source), params, extent, max(1, _GRAIN // (tile * tile)))
