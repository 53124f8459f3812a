"""Sums and means over any axes of floats, in float64 and rounded once to float32.

For 16-bit floats the result is rounded again to 16 bits; no array is copied to float32.

Adjacent axes merge if all are reduced, or none is. Then there are two algorithms. *Runs*: if long
contiguous runs of elements belong to the same sum, one run is added at a time. *Columns*:
otherwise, lines of memory are added elementwise to a line of sums, and at the end sums of the same
output are added; for the gradient of a bias, a line is a row.

The operators are sum, mean and the gradient of broadcasting.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from struct import pack, unpack
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.compiler.typed_values import SCRATCH_SUMS
from gluonish.kernels.generated.loops import is_narrow, narrowed
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.reductions.reduction import MEAN, SUM, reduced_axes
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.shape.broadcast_to import SUM_TO_SHAPE, stretched_axes

SMALL = 1 << 12  # elements below which NumPy is as fast in a single call
_GRAIN = 1 << 17  # minimum elements for each thread: 10 us
_CACHED = 1 << 20  # elements of about twice a core's cache
_LINE = 128  # preferred number of sums in a line
_LONG_LINE = 512  # preferred number in batches of more elements than `_LONG_BATCH`
_LONG_BATCH = 1 << 13
_LONG_RUN = 64  # minimum elements of a run
_APART = 64  # minimum columns for each thread: eight cache lines of sums
_MAX_AXES = 4  # merged axes, alternately reduced and not

# Params of both: out, x, bits of the divisor; batches of the inner axis, strides of the outer and
# of the inner axis. A step is a batch, or a block of its columns. {share} divides the rounded sum:
# if it overflows, the mean is infinite, too.
_HEAD = """
    out, x, divisor = f32(params[0]), f32(params[1]), float32(as_float(params[2]))
    inner, outer_stride, inner_stride = params[3], params[4], params[5]
"""

# Each row is a run; rows are a stride apart.
_RUNS = f"""
def body(begin, end, params):
{_HEAD}
    rows, row_stride, run = params[6], params[7], params[8]
    for step in range(begin, end):
        base = (step // inner) * outer_stride + (step % inner) * inner_stride
        total = 0.0
        for i in range(rows):
            at = base + i * row_stride
            for j in range(run):
                total += float64(x[at + j])
        out[step] = float32(total){{share}}
"""

# A row has `lines` lines and a shorter one of `rest` elements; rows are a stride apart. A batch has
# `count` steps of `size` columns each, of which a call processes at most `most` at once, and
# `results` sums. Sums of a line at multiples of `chunk` are added, and so are `terms` adjacent sums
# of a chunk.
_COLUMNS = f"""
def body(begin, end, params):
{_HEAD}
    rows, row_stride, lines, line, rest = params[6], params[7], params[8], params[9], params[10]
    count, size, most, results, chunk, terms = (
        params[11], params[12], params[13], params[14], params[15], params[16])
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
            full = lines - (lines - start) % 4
            for k in range(start, full, 4):
                a = at + k * line
                b = a + line
                c = b + line
                d = c + line
                for j in range(wide):
                    independent()
                    left = float64(x[a + j]) + float64(x[b + j])
                    sums[j] = sums[j] + (left + (float64(x[c + j]) + float64(x[d + j])))
            for k in range(full, lines):
                a = at + k * line
                for j in range(wide):
                    independent()
                    sums[j] = sums[j] + float64(x[a + j])
            a = at + lines * line
            for j in range(rest):
                independent()
                sums[j] = sums[j] + float64(x[a + j])
            start = 0
        while wide > chunk:
            half = (wide // chunk + 1) // 2 * chunk
            for j in range(wide - half):
                independent()
                sums[j] = sums[j] + sums[half + j]
            wide = half
        to = batch * results + first
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

# Runs are split into lanes, which reorders sums; columns are not.
_ALLOWED: dict[str, tuple[str, ...]] = {_RUNS: ("contract", "reassoc"), _COLUMNS: ()}


class _Work(NamedTuple):
    """A kernel for sums over some axes of an array of a given shape.

    Attributes:
        params: The params after the divisor.
        steps: Number of steps.
        least: Minimum steps for each thread.
    """

    source: str
    params: tuple[int, ...]
    steps: int
    least: int = 1


def _merged(shape: Shape, axes: Shape) -> list[tuple[int, bool]]:
    """Merge adjacent axes, omitting extents of 1; return each extent, and whether it is reduced."""
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
    """Return the kernel for a contiguous array; None if no axes are reduced, or if unsupported."""
    merged = _merged(shape, axes)
    if not merged or len(merged) > _MAX_AXES or not any(summed for _, summed in merged):
        return None
    extents = [1] * (_MAX_AXES - len(merged)) + [extent for extent, _ in merged]
    return _last_reduced(*extents) if merged[-1][1] else _last_remaining(*extents)


def _last_reduced(outer: int, rows: int, width: int, run: int) -> _Work:
    row = width * run
    if run >= _LONG_RUN or rows == 1:
        return _Work(_RUNS, (width, rows * row, run, rows, row, run), outer * width)
    most = SCRATCH_SUMS // run
    params = (1, rows * row, 0, rows, row, 1, 0, 0, width, run, most, width, row, run)
    return _Work(_COLUMNS, params, outer * width)


def _last_remaining(rows: int, outer: int, lines: int, width: int) -> _Work | None:
    run = lines * width
    if rows > 1 and rows * outer * run > _CACHED:  # NumPy reads memory in order, faster by half
        return None
    head = (1, run, 0, rows, outer * run)
    line = _LONG_LINE if run > _LONG_BATCH else _LINE
    if width <= line // 2:  # merge several lines
        merged = min(line // width, lines) * width
        count, rest = divmod(run, merged)
        return _Work(_COLUMNS, (*head, count, merged, rest, 1, merged, 1, width, width, 1), outer)
    params = (*head, lines, width, 0, width, 1, SCRATCH_SUMS, width, width, 1)
    return _Work(_COLUMNS, params, outer * width, _APART)


def supports_dtype(dtype: np.dtype[Any]) -> bool:
    """Whether the kernels support a dtype on this CPU."""
    return dtype == FLOAT32 or is_narrow(dtype)


def has_plan(shape: Shape, axes: Shape) -> bool:
    """Whether `sums_plan` supports a non-empty array, and compiling pays."""
    work = _work(shape, axes)
    return work is not None and (work.source == _COLUMNS or prod(shape) >= SMALL)


@lru_cache(4096)
def sums_plan(
    shape: Shape, axes: Shape, divisor: float, dtype: np.dtype[Any] = FLOAT32
) -> KernelPlan:
    """Return the plan that sums a contiguous array; its operands are (sums, array).

    Args:
        axes: Reduced axes, not negative.
        dtype: Dtype of the array and of the sums; see `supports_dtype`.

    Raises:
        RefusedError: No kernel supports these axes.
    """
    work = _work(shape, axes)
    if work is None:
        raise RefusedError(f"sum: expected fewer alternating axes, got {axes} of {shape}")
    share = "" if divisor == 1 else " / divisor"
    source = narrowed(work.source, ("out", "x"), (dtype, dtype)).replace("{share}", share)
    kernel = compile_kernel(source, _ALLOWED[work.source])
    params = (0, 0, unpack("q", pack("d", divisor))[0], *work.params)
    return KernelPlan(
        kernel, params, work.steps, max(work.least, _GRAIN * work.steps // prod(shape))
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


class _Row(NamedTuple):
    """An operator that sums over axes, and how to find the axes.

    Attributes:
        axes: Function that returns the reduced axes for a shape of the data and attributes.
        divides: Whether the sums are divided by the number of their terms.
    """

    op: Operator
    axes: Callable[..., Shape]
    divides: bool = False


def _by_axis(extents: Shape, *, axis: Shape | None, exclude: bool, **_: Any) -> Shape:
    return reduced_axes("sum", len(extents), axis, exclude)


def _by_shape(extents: Shape, *, shape: Shape) -> Shape:
    return stretched_axes(extents, shape)


_ROWS = (_Row(SUM, _by_axis), _Row(MEAN, _by_axis, True), _Row(SUM_TO_SHAPE, _by_shape))


def _in_memory(data: Array, axes: Shape) -> tuple[Array, Shape]:
    """Return the array with its axes in memory order, and the reduced axes.

    Raises:
        RefusedError: The array has gaps, or its remaining axes have another order in memory.
    """
    if data.flags.c_contiguous:
        return data, axes
    order = sorted(range(data.ndim), key=lambda i: -data.strides[i])
    remaining = [i for i in order if i not in axes]
    transposed = data.transpose(order)
    if not transposed.flags.c_contiguous or remaining != sorted(remaining):
        raise RefusedError(f"sum: expected contiguous arrays, got strides {data.strides}")
    return transposed, tuple(i for i, axis in enumerate(order) if axis in axes)


def _plan(row: _Row, out: Array, data: Array, attrs: Attrs) -> KernelPlan:
    axes = row.axes(data.shape, **attrs)
    divisor = prod(data.shape[i] for i in axes) if row.divides else 1
    transposed, axes = _in_memory(data, axes)
    if not out.flags.c_contiguous:
        raise RefusedError(f"sum: expected a contiguous result, got strides {out.strides}")
    return sums_plan(transposed.shape, axes, float(divisor), data.dtype)


def _kernel(row: _Row) -> FastKernel:
    op = row.op

    def supports(data: Spec, **attrs: Any) -> bool:
        if not supports_dtype(data.dtype) or not data.size:
            return False
        return has_plan(data.shape, row.axes(data.shape, **attrs))

    def run(xp: ModuleType, out: Array, data: Array, **attrs: Any) -> None:
        if data.size < SMALL:  # not worth compiling
            op.kernel(xp, out, data, **attrs)
        else:
            _plan(row, out, data, attrs).run(out, data)

    def plan(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
        return Bound(_plan(row, outputs[0], inputs[0], attrs))

    name = f"exact_{op.name.lstrip('_')}"
    return FastKernel(BackEnd.GENERATED, name, supports, plan=plan, run=run, enabled=available)


KERNELS = tuple((row.op, _kernel(row)) for row in _ROWS)
