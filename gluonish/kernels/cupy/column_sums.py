"""Sums over leading axes, such as gradients of biases: one launch, or two if there are many rows.

16-bit elements are added in float32, others in float64, and the sum is rounded once. The order of a
sum depends on the shape and the dtype only, not on addresses: unaligned arrays are read by smaller
accesses, in the same order.
"""

import math
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy.copies import contiguous, copy
from gluonish.kernels.cupy.gemm import supports_floats
from gluonish.kernels.cupy.source import VECTOR_NBYTES, index, launch, launch_blocks
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.reductions.reduction import SUM, reduced_axes
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.shape.broadcast_to import SUM_TO_SHAPE, stretched_axes

_SOURCE = "column_sums"
# The same as in column_sums.cu.
_THREADS = 256
_UNROLLED = 4

_ABREAST = 32  # vectors of a row that a block reads, if a row has as many
_BLOCKS = 1024  # enough blocks to fill any device
_MAX_CHUNKS = 64
_MIN_ROWS = 8  # per thread
_LIMIT_32 = 2**31


class _Tiling(NamedTuple):
    """How the elements of a matrix are distributed over blocks.

    Attributes:
        abreast: Vectors of a row that a block reads at once.
        chunk: Rows of a block.
        chunks: Number of blocks along a column.
    """

    abreast: int
    chunk: int
    chunks: int


def _tiling(rows: int, columns: int, itemsize: int) -> _Tiling:
    vectors = -(-columns * itemsize // VECTOR_NBYTES)
    abreast = min(_ABREAST, 1 << (vectors - 1).bit_length())
    step = _THREADS // abreast * _UNROLLED
    limit = min(_MAX_CHUNKS, -(-_BLOCKS // -(-vectors // abreast)))
    least = max(-(-rows // limit), _THREADS // abreast * _MIN_ROWS)
    chunk = -(-least // step) * step
    return _Tiling(abreast, chunk, -(-rows // chunk))


def sum_rows(xp: ModuleType, out: Any, data: Any) -> None:
    """Set ``out`` to the sums of the columns of ``data``, (rows, columns), not empty.

    ``out`` is contiguous, (columns,).
    """
    rows, columns = data.shape
    dtype, itemsize = data.dtype, data.itemsize
    data = contiguous(xp, data)
    tiling = _tiling(rows, columns, itemsize)
    # The widest access that a row's length and the address allow, in elements.
    vector = math.gcd(VECTOR_NBYTES, data.data.ptr, columns * itemsize) // itemsize
    last = tiling.chunks == 1
    wide = rows * columns >= _LIMIT_32
    sum_dtype = FLOAT32 if itemsize == 2 else FLOAT64
    target = out if last else xp.empty((tiling.chunks, columns), sum_dtype)
    numbers = (index(n, wide) for n in (rows, columns, tiling.chunk))
    blocks = (-(-columns // (tiling.abreast * vector)), tiling.chunks)
    macros = (("ABREAST", tiling.abreast), ("VECTOR", vector), ("LAST", int(last)))
    args = (data, target, *numbers)
    launch_blocks(xp, _SOURCE, "column_sums", dtype, args, blocks, _THREADS, macros, wide=wide)
    if not last:
        chunks = (np.int32(tiling.chunks),)
        launch(xp, _SOURCE, "add_chunks", dtype, (target, out), columns, chunks)


_Axes = Callable[[Shape, Attrs], Shape]  # the summed axes of data of a shape


def _by_axis(shape: Shape, attrs: Attrs) -> Shape:
    return reduced_axes("sum", len(shape), attrs["axis"], attrs["exclude"])


def _by_shape(shape: Shape, attrs: Attrs) -> Shape:
    return stretched_axes(shape, attrs["shape"])


def _supports(axes_of: _Axes, data: Spec, **attrs: Any) -> bool:
    """Whether axes from the first on are summed, and others remain."""
    if not (data.size and supports_floats(data)):
        return False
    axes = axes_of(data.shape, attrs)
    return 0 < len(axes) < len(data.shape) and axes == tuple(range(len(axes)))


def _run(axes_of: _Axes, xp: ModuleType, out: Any, data: Any, **attrs: Any) -> None:
    rows = math.prod(data.shape[: len(axes_of(data.shape, attrs))])
    columns = data.size // rows
    if out.flags.c_contiguous:
        sum_rows(xp, out.reshape(columns), data.reshape(rows, columns))
    else:
        made = xp.empty(columns, out.dtype)
        sum_rows(xp, made, data.reshape(rows, columns))
        copy(xp, out, made.reshape(out.shape))


def _row(op: Operator, axes_of: _Axes) -> tuple[Operator, FastKernel]:
    return op, FastKernel(
        BackEnd.CUPY, "column_sums", partial(_supports, axes_of), run=partial(_run, axes_of)
    )


KERNELS: tuple[tuple[Operator, FastKernel], ...] = (
    _row(SUM, _by_axis),
    _row(SUM_TO_SHAPE, _by_shape),
)
