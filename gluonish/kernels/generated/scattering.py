"""Generated kernels for adding at positions: the gradients of what `gathering` reads.

The result is seen as (outer, count, width). Each element of it belongs to one thread, which sets it
to zero and adds in the order of the positions, so that those that come twice need no care and sums
do not depend on the number of threads. 16-bit floats are added up in float32.
"""

import math
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, INT64
from gluonish.core.spec import Shape, Spec
from gluonish.kernels import openmp
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.kernels.generated.indices import POSITIONS, WITHIN, readable
from gluonish.ops.indexing.gather_nd import SCATTER_ADD_ND, flat_points
from gluonish.ops.indexing.pick import ADD_ALONG
from gluonish.ops.indexing.take import TAKE_ADD, whole_positions
from gluonish.ops.kernel import Array, BackEnd, FastKernel, address
from gluonish.ops.nn.embedding import EMBEDDING_BACKWARD
from gluonish.ops.registry import Operator
from gluonish.ops.support.scatter import scatter_accumulator

_LARGE = 1 << 13  # elements; NumPy adds so slowly that less is worth it than elsewhere
_GRAIN = 1 << 15  # elements that are worth a thread
_NARROW = 32  # elements of a row, below which threads share rows out, not columns
_MANY = 16  # indices of the outer axis, from which on threads share them out

# By type: views of result and summands, zero, and a summand as it is added.
_FORMS = {
    FLOAT32: ("f32", "f32", "float32(0)", "g[{at}]"),
    FLOAT64: ("f64", "f64", "0.0", "g[{at}]"),
    INT32: ("i32", "i32", "int32(0)", "g[{at}]"),
    INT64: ("i64", "i64", "0", "g[{at}]"),
    FLOAT16: ("f32", "u16", "float32(0)", "load_f16(g[{at}])"),
    BFLOAT16: ("f32", "u16", "float32(0)", "load_bf16(g[{at}])"),
}

_HEAD = """
def body(begin, end, words):
    y, g, positions = {total}(words[0]), {part}(words[1]), {kind}(words[2])
    outer, many, count, width, piece = words[3], words[4], words[5], words[6], words[7]
"""

# Steps are rows of the result, each thread's beside each other; it adds what falls among them.
_BY_ROWS = (
    _HEAD
    + """
    for n in range(outer):
        for j in range((n * count + begin) * width, (n * count + end) * width):
            independent()
            y[j] = {zero}
        for i in range(many):
            chosen = {number}
            chosen = {within}
            if chosen >= begin and chosen < end:
                at, to = (n * many + i) * width, (n * count + chosen) * width
                for c in range(width):
                    independent()
                    y[to + c] += {rows_part}
"""
)

# Steps are pieces of the columns, for each index of the outer axis.
_BY_COLUMNS = (
    _HEAD
    + """
    pieces = (width + piece - 1) // piece
    for step in range(begin, end):
        n, first = step // pieces, step % pieces * piece
        last = min(first + piece, width)
        for r in range(count):
            for j in range((n * count + r) * width + first, (n * count + r) * width + last):
                independent()
                y[j] = {zero}
        for i in range(many):
            chosen = {number}
            chosen = {within}
            at, to = (n * many + i) * width, (n * count + chosen) * width
            for c in range(first, last):
                independent()
                y[to + c] += {rows_part}
"""
)

# The same where each element has a position of its own; `many` of them for an index of the outer.
_ALONG = (
    _HEAD
    + """
    pieces = (width + piece - 1) // piece
    for step in range(begin, end):
        n, first = step // pieces, step % pieces * piece
        last = min(first + piece, width)
        for r in range(count):
            for j in range((n * count + r) * width + first, (n * count + r) * width + last):
                independent()
                y[j] = {zero}
        for k in range(n * many, (n + 1) * many, width):
            for i in range(k + first, k + last):
                chosen = {number}
                chosen = {within}
                y[(n * count + chosen) * width + i - k] += {along_part}
"""
)
_ALONG_SINGLE = (
    _HEAD
    + """
    for j in range(begin * count, end * count):
        independent()
        y[j] = {zero}
    for n in range(begin, end):
        for i in range(n * many, (n + 1) * many):
            chosen = {number}
            chosen = {within}
            y[n * count + chosen] += {along_part}
"""
)


@lru_cache(256)
def _kernel(text: str, dtype: np.dtype[Any], kind: np.dtype[Any], mode: str) -> CompiledKernel:
    total, part, zero, form = _FORMS[dtype]
    view, number = POSITIONS[kind]
    source = text.format(
        total=total,
        part=part,
        zero=zero,
        rows_part=form.format(at="at + c"),
        along_part=form.format(at="i"),
        kind=view,
        number=number,
        within=WITHIN[mode],
    )
    return compile_kernel(source)


def _run(
    text: str,
    out: Array,
    grad: Array,
    positions: Array,
    mode: str,
    extent: int,
    *words: int,
) -> None:
    """Run a kernel over ``extent`` steps; words are those behind the addresses."""
    grad, positions = np.ascontiguousarray(grad), readable(positions)
    wide = scatter_accumulator(out.dtype)
    total = out if out.dtype == wide else np.empty(out.shape, wide)
    kernel = _kernel(text, grad.dtype, positions.dtype, mode)
    addresses = map(address, (total, grad, positions))
    grain = max(1, _GRAIN * extent // (out.size + grad.size))
    kernel(extent, np.array([*addresses, *words], np.int64), grain)
    if total is not out:
        out[...] = total.astype(out.dtype)


def _add_rows(
    out: Array, grad: Array, positions: Array, mode: str, shape: Shape, axis: int, axes: int = 1
) -> None:
    """Fill ``out`` with zeros and rows of ``grad`` added at positions along an axis, or several."""
    outer, count = math.prod(shape[:axis]), math.prod(shape[axis : axis + axes])
    width, many = math.prod(shape[axis + axes :]), positions.size
    piece = _piece(outer, width)
    words = (outer, many, count, width, piece)
    if width < _NARROW and outer < _MANY:
        _run(_BY_ROWS, out, grad, positions, mode, count, *words)
    else:
        _run(_BY_COLUMNS, out, grad, positions, mode, outer * -(-width // piece), *words)


def _piece(outer: int, width: int) -> int:
    """Return how many columns beside each other are one step's."""
    if outer >= _MANY:
        return width
    threads = openmp.team().threads()
    return max(_NARROW, -(-width // (threads * _NARROW)) * _NARROW)


def _take_add(
    xp: ModuleType, out: Array, g: Array, indices: Array, *, shape: Shape, axis: int, mode: str
) -> None:
    axis %= len(shape)
    if mode == "raise":
        indices, mode = whole_positions(np, "take", indices, shape[axis], mode), "clip"
    _add_rows(out, g, indices, mode, shape, axis)


def _embedding_backward(xp: ModuleType, out: Array, grad: Array, data: Array, **_: object) -> None:
    _add_rows(out, grad, data, "clip", out.shape, 0)


def _add_nd(xp: ModuleType, out: Array, data: Array, indices: Array, *, shape: Shape) -> None:
    positions = flat_points(np, "scatter_nd", indices, shape)
    _add_rows(out, data, positions, "clip", shape, 0, indices.shape[0])


def _add_along(
    xp: ModuleType, out: Array, data: Array, index: Array, *, shape: Shape, axis: int, mode: str
) -> None:
    axis %= len(shape)
    outer, count, width = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    many = index.size // outer
    if width == 1:
        _run(_ALONG_SINGLE, out, data, index, mode, outer, outer, many, count, width, width)
    else:
        piece = _piece(outer, width)
        extent = outer * -(-width // piece)
        _run(_ALONG, out, data, index, mode, extent, outer, many, count, width, piece)


class _Scattering:
    """Says which inputs of an operator its kernel takes."""

    __slots__ = ("_op",)

    def __init__(self, op: Operator) -> None:
        self._op = op

    def takes(self, grad: Spec, index: Spec, **attrs: Any) -> bool:
        """Whether much is added or set to zero, of elements that the kernels know."""
        (made,) = self._op.infer(grad, index, **attrs)
        large = max(made.size, grad.size) >= _LARGE and made.size > 0
        return large and grad.dtype in _FORMS


KERNELS = tuple(
    (
        op,
        FastKernel(
            BackEnd.GENERATED,
            op.name,
            _Scattering(op).takes,
            run=run,
            enabled=available,
            large_only=True,
        ),
    )
    for op, run in (
        (TAKE_ADD, _take_add),
        (EMBEDDING_BACKWARD, _embedding_backward),
        (SCATTER_ADD_ND, _add_nd),
        (ADD_ALONG, _add_along),
    )
)
