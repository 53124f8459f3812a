"""Sums and means over any axes of floats, in float64 and rounded once to float32.

Of 16-bit floats that is rounded to 16 bits: no array is copied to float32.

Axes that follow one another and are all summed, or all kept, are one. Then there are two ways. Long
*runs* of elements that lie side by side and go into one sum are added each by itself. Everything
else is *columns*: lines of memory are added to a line of sums, and at the end those sums of it are
added that belong together. So is the gradient of a bias: a line is a row.
"""

from functools import lru_cache
from math import prod
from struct import pack, unpack
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape
from gluonish.kernels.compiler import compile_kernel
from gluonish.kernels.compiler.typed_values import SCRATCH_SUMS
from gluonish.kernels.generated.half_precision import is_narrow, narrowed
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.ops.kernel import Array, RefusedError

SMALL = 1 << 12  # elements below which NumPy is as fast in a single call
_GRAIN = 1 << 17  # elements that are worth a thread: 10 us
_CACHED = 1 << 20  # elements that a processor's own cache holds about half of
_LINE = 128  # sums of a line where it is free to choose
_LONG_LINE = 512  # the same in batches of more elements than `_LONG_BATCH`
_LONG_BATCH = 1 << 13
_LONG_RUN = 64  # elements of a run that is added by itself
_APART = 64  # columns that a thread adds, at least: eight cache lines of sums
_PARTS = 4  # axes in turn, summed and kept

# Words of both: out, x, the bits of what sums are divided by; then where a sum starts: batches of
# the inner axis, strides of the outer and the inner one. A step is a batch, or a block of its
# columns. {share} divides a sum where that is asked for: one that overflows is infinite, and so is
# its mean.
_HEAD = """
    out, x, divisor = f32(words[0]), f32(words[1]), float32(as_float(words[2]))
    inner, outer_stride, inner_stride = words[3], words[4], words[5]
"""

# Rows of a run, a stride apart.
_RUNS = f"""
def body(begin, end, words):
{_HEAD}
    rows, row_stride, run = words[6], words[7], words[8]
    for step in range(begin, end):
        base = (step // inner) * outer_stride + (step % inner) * inner_stride
        total = 0.0
        for i in range(rows):
            at = base + i * row_stride
            for j in range(run):
                total += float64(x[at + j])
        out[step] = float32(total){{share}}
"""

# Rows of lines, strides apart, and of a shorter one with `rest` elements. A batch has `count` steps
# of `size` columns each, of which a call does at most `most` at once, and `given` sums. Of the sums
# of a line, those that are a multiple of `piece` apart belong together, and of a piece so do
# `terms` side by side.
_COLUMNS = f"""
def body(begin, end, words):
{_HEAD}
    rows, row_stride, lines, line, rest = words[6], words[7], words[8], words[9], words[10]
    count, size, most, given, piece, terms = (
        words[11], words[12], words[13], words[14], words[15], words[16])
    sums = scratch_sums()
    step = begin
    while step < end:
        batch = step // count
        first = step - batch * count
        done = min(min(most, count - first), end - step)
        step += done
        wide = done * size
        base = (batch // inner) * outer_stride + (batch % inner) * inner_stride + first * size
        for j in range(wide):
            independent()
            sums[j] = float64(x[base + j])
        start = 1
        for i in range(rows):
            at = base + i * row_stride
            whole = lines - (lines - start) % 4
            for k in range(start, whole, 4):
                a = at + k * line
                b = a + line
                c = b + line
                d = c + line
                for j in range(wide):
                    independent()
                    left = float64(x[a + j]) + float64(x[b + j])
                    sums[j] = sums[j] + (left + (float64(x[c + j]) + float64(x[d + j])))
            for k in range(whole, lines):
                a = at + k * line
                for j in range(wide):
                    independent()
                    sums[j] = sums[j] + float64(x[a + j])
            a = at + lines * line
            for j in range(rest):
                independent()
                sums[j] = sums[j] + float64(x[a + j])
            start = 0
        while wide > piece:
            half = (wide // piece + 1) // 2 * piece
            for j in range(wide - half):
                independent()
                sums[j] = sums[j] + sums[half + j]
            wide = half
        to = batch * given + first
        if terms == 1:
            for j in range(wide):
                independent()
                out[to + j] = float32(sums[j]){{share}}
        else:
            for k in range(wide // terms):
                total = 0.0
                for j in range(terms):
                    total += sums[k * terms + j]
                out[to + k] = float32(total){{share}}
"""

# Runs are cut into lanes, which takes sums in another order; columns are not.
_ALLOWED: dict[str, tuple[str, ...]] = {_RUNS: ("contract", "reassoc"), _COLUMNS: ()}


class _Work(NamedTuple):
    """How a kernel sums.

    Attributes:
        source: Its source.
        words: Its words behind the divisor.
        steps: How many it has.
        least: How many are worth a thread, at least.
    """

    source: str
    words: tuple[int, ...]
    steps: int
    least: int = 1


def _merged(shape: Shape, axes: Shape) -> list[tuple[int, bool]]:
    """Return extents, and whether they are summed: those of 1 left out, like neighbours merged."""
    found: list[tuple[int, bool]] = []
    for axis, extent in enumerate(shape):
        summed = axis in axes
        if extent == 1:
            continue
        if found and found[-1][1] == summed:
            found[-1] = (found[-1][0] * extent, summed)
        else:
            found.append((extent, summed))
    return found


@lru_cache(4096)
def _work(shape: Shape, axes: Shape) -> _Work | None:
    """Return how to sum a contiguous array; None for nothing to sum, or axes that take turns."""
    parts = _merged(shape, axes)
    if not parts or len(parts) > _PARTS or not any(summed for _, summed in parts):
        return None
    extents = [1] * (_PARTS - len(parts)) + [extent for extent, _ in parts]
    return _ending_in_summed(*extents) if parts[-1][1] else _ending_in_kept(*extents)


def _ending_in_summed(outer: int, rows: int, kept: int, run: int) -> _Work:
    row = kept * run
    if run >= _LONG_RUN or rows == 1:
        return _Work(_RUNS, (kept, rows * row, run, rows, row, run), outer * kept)
    most = SCRATCH_SUMS // run
    words = (1, rows * row, 0, rows, row, 1, 0, 0, kept, run, most, kept, row, run)
    return _Work(_COLUMNS, words, outer * kept)


def _ending_in_kept(rows: int, outer: int, lines: int, kept: int) -> _Work | None:
    run = lines * kept
    if rows > 1 and rows * outer * run > _CACHED:  # NumPy goes along memory, faster by half
        return None
    head = (1, run, 0, rows, outer * run)
    line = _LONG_LINE if run > _LONG_BATCH else _LINE
    if kept <= line // 2:  # several lines as one
        width = min(line // kept, lines) * kept
        count, rest = divmod(run, width)
        return _Work(_COLUMNS, (*head, count, width, rest, 1, width, 1, kept, kept, 1), outer)
    words = (*head, lines, kept, 0, kept, 1, SCRATCH_SUMS, kept, kept, 1)
    return _Work(_COLUMNS, words, outer * kept, _APART)


def takes_dtype(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of a dtype are summed here, on this CPU."""
    return dtype == FLOAT32 or is_narrow(dtype)


def has_plan(shape: Shape, axes: Shape) -> bool:
    """Whether `sums_plan` takes an array that is not empty, and is worth compiling a kernel for."""
    work = _work(shape, axes)
    return work is not None and (work.source == _COLUMNS or prod(shape) >= SMALL)


@lru_cache(4096)
def sums_plan(
    shape: Shape, axes: Shape, divisor: float, dtype: np.dtype[Any] = FLOAT32
) -> KernelPlan:
    """Return the plan for sums of a contiguous array.

    Args:
        axes: What is summed over; not negative.
        divisor: What the sums are divided by.
        dtype: Of the array and of the sums; `takes_dtype` says which.

    Returns:
        The plan, for (sums, array).

    Raises:
        RefusedError: There is none.
    """
    work = _work(shape, axes)
    if work is None:
        raise RefusedError(f"sum: expected fewer axes in turn, got {axes} of {shape}")
    share = "" if divisor == 1 else " / divisor"
    source = narrowed(work.source, ("out", "x"), (dtype, dtype)).replace("{share}", share)
    kernel = compile_kernel(source, _ALLOWED[work.source])
    words = (0, 0, unpack("q", pack("d", divisor))[0], *work.words)
    return KernelPlan(
        kernel, words, work.steps, max(work.least, _GRAIN * work.steps // prod(shape))
    )


def add_rows(out: Array, matrix: Array) -> None:
    """Fill ``out`` (columns,) with the sum of the rows of a contiguous ``matrix``."""
    if len(matrix) <= 1 or not matrix.size:
        out[...] = matrix[0] if len(matrix) else 0
        return
    target = out if out.flags.c_contiguous else np.empty(out.shape, FLOAT32)
    sums_plan(matrix.shape, (0,), 1.0).run(target, matrix)
    if target is not out:
        out[...] = target
