"""Generated kernels for scatter-add: the gradients of `gathering`.

The result is viewed as (outer, count, width). Each element belongs to one thread, which sets it to
zero and adds in the order of the positions, so that repeated positions need no atomics and sums do
not depend on the number of threads. 16-bit floats are summed in float32.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, INT64
from gluonish.core.spec import Shape, Spec
from gluonish.kernels import openmp
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.kernels.generated.loops import POSITIONS, WITHIN, readable
from gluonish.ops.indexing.gather_nd import SCATTER_ADD_ND, flat_points
from gluonish.ops.indexing.pick import ADD_ALONG
from gluonish.ops.indexing.take import TAKE_ADD, integer_indices
from gluonish.ops.kernel import Array, BackEnd, FastKernel, address
from gluonish.ops.nn.embedding import EMBEDDING_BACKWARD
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.host import scatter_accumulator

_LARGE = 1 << 13  # elements below which NumPy is faster
_GRAIN = 1 << 15  # minimum elements for each thread
_NARROW = 32  # elements per row below which threads split rows, not columns
_MANY = 16  # length of the outer axis from which threads split that axis

# For each dtype: views of the result and of terms, zero, and the expression of a term.
_FORMS = {
    FLOAT32: ("f32", "f32", "float32(0)", "g[{at}]"),
    FLOAT64: ("f64", "f64", "0.0", "g[{at}]"),
    INT32: ("i32", "i32", "int32(0)", "g[{at}]"),
    INT64: ("i64", "i64", "0", "g[{at}]"),
    FLOAT16: ("f32", "u16", "float32(0)", "load_f16(g[{at}])"),
    BFLOAT16: ("f32", "u16", "float32(0)", "load_bf16(g[{at}])"),
}

_HEAD = """
def body(begin, end, params):
    y, g, positions = {total}(params[0]), {term}(params[1]), {kind}(params[2])
    outer, many, count, width, chunk = params[3], params[4], params[5], params[6], params[7]
"""

# A step is a row of the result; each thread adds the positions among its rows.
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
                    y[to + c] += {rows_term}
"""
)

# A step is a chunk of columns, for one index of the outer axis.
_BY_COLUMNS = (
    _HEAD
    + """
    chunks = (width + chunk - 1) // chunk
    for step in range(begin, end):
        n, first = step // chunks, step % chunks * chunk
        last = min(first + chunk, width)
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
                y[to + c] += {rows_term}
"""
)

# The same with a position for each element; `many` for each index of the outer axis.
_ALONG = (
    _HEAD
    + """
    chunks = (width + chunk - 1) // chunk
    for step in range(begin, end):
        n, first = step // chunks, step % chunks * chunk
        last = min(first + chunk, width)
        for r in range(count):
            for j in range((n * count + r) * width + first, (n * count + r) * width + last):
                independent()
                y[j] = {zero}
        for k in range(n * many, (n + 1) * many, width):
            for i in range(k + first, k + last):
                chosen = {number}
                chosen = {within}
                y[(n * count + chosen) * width + i - k] += {along_term}
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
            y[n * count + chosen] += {along_term}
"""
)


@lru_cache(256)
def _kernel(text: str, dtype: np.dtype[Any], kind: np.dtype[Any], mode: str) -> CompiledKernel:
    total, term, zero, form = _FORMS[dtype]
    view, number = POSITIONS[kind]
    source = text.format(
        total=total,
        term=term,
        zero=zero,
        rows_term=form.format(at="at + c"),
        along_term=form.format(at="i"),
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
    *params: int,
) -> None:
    """Run a kernel over ``extent`` steps; ``params`` follow the addresses."""
    grad, positions = np.ascontiguousarray(grad), readable(positions)
    wide = scatter_accumulator(out.dtype)
    total = out if out.dtype == wide else np.empty(out.shape, wide)
    kernel = _kernel(text, grad.dtype, positions.dtype, mode)
    addresses = map(address, (total, grad, positions))
    grain = max(1, _GRAIN * extent // (out.size + grad.size))
    kernel(extent, np.array([*addresses, *params], np.int64), grain)
    if total is not out:
        out[...] = total.astype(out.dtype)


def _compile(text: str, inputs: Sequence[Array], mode: str = "clip") -> None:
    """Compile the kernel that `_run` needs for terms and positions."""
    grad, positions = inputs
    kind = positions.dtype if positions.dtype in POSITIONS else np.dtype(np.int64)
    _kernel(text, grad.dtype, kind, mode)


def _by_rows_or_columns(shape: Shape, axis: int, axes: int = 1) -> str:
    """Return the kernel that adds rows at positions along one or more axes of a shape."""
    narrow = math.prod(shape[axis + axes :]) < _NARROW and math.prod(shape[:axis]) < _MANY
    return _BY_ROWS if narrow else _BY_COLUMNS


def _add_rows(
    out: Array, grad: Array, positions: Array, mode: str, shape: Shape, axis: int, axes: int = 1
) -> None:
    """Fill ``out`` with the rows of ``grad``, added at positions along one or more axes."""
    outer, count = math.prod(shape[:axis]), math.prod(shape[axis : axis + axes])
    width, many = math.prod(shape[axis + axes :]), positions.size
    chunk = _chunk(outer, width)
    params = (outer, many, count, width, chunk)
    text = _by_rows_or_columns(shape, axis, axes)
    extent = count if text is _BY_ROWS else outer * -(-width // chunk)
    _run(text, out, grad, positions, mode, extent, *params)


def _chunk(outer: int, width: int) -> int:
    """Return the number of columns per step."""
    if outer >= _MANY:
        return width
    threads = openmp.team().threads()
    return max(_NARROW, -(-width // (threads * _NARROW)) * _NARROW)


def _take_add(
    xp: ModuleType, out: Array, g: Array, indices: Array, *, shape: Shape, axis: int, mode: str
) -> None:
    axis %= len(shape)
    if mode == "raise":
        indices, mode = integer_indices(np, "take", indices, shape[axis], mode), "clip"
    _add_rows(out, g, indices, mode, shape, axis)


def _compile_take(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> None:
    shape = attrs["shape"]
    text = _by_rows_or_columns(shape, attrs["axis"] % len(shape))
    if attrs["mode"] == "raise":
        _kernel(text, inputs[0].dtype, np.dtype(np.int64), "clip")
    else:
        _compile(text, inputs, attrs["mode"])


def _embedding_backward(xp: ModuleType, out: Array, grad: Array, data: Array, **_: object) -> None:
    _add_rows(out, grad, data, "clip", out.shape, 0)


def _compile_embedding(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> None:
    _compile(_by_rows_or_columns(outputs[0].shape, 0), inputs)


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
        chunk = _chunk(outer, width)
        extent = outer * -(-width // chunk)
        _run(_ALONG, out, data, index, mode, extent, outer, many, count, width, chunk)


def _compile_along(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> None:
    shape, mode = attrs["shape"], attrs["mode"]
    width = math.prod(shape[attrs["axis"] % len(shape) + 1 :])
    _compile(_ALONG_SINGLE if width == 1 else _ALONG, inputs, mode)


class _Scattering:
    """Decides which calls of an operator the generated scatter kernel supports."""

    __slots__ = ("_op",)

    def __init__(self, op: Operator) -> None:
        self._op = op

    def supports(self, grad: Spec, index: Spec, **attrs: Any) -> bool:
        """Whether the gradient or the result is large, of a supported dtype."""
        (made,) = self._op.infer(grad, index, **attrs)
        large = max(made.size, grad.size) >= _LARGE and made.size > 0
        return large and grad.dtype in _FORMS


KERNELS = tuple(
    (
        op,
        FastKernel(
            BackEnd.GENERATED,
            op.name,
            _Scattering(op).supports,
            run=run,
            compiles=compiles,
            enabled=available,
            large_only=True,
        ),
    )
    for op, run, compiles in (
        (TAKE_ADD, _take_add, _compile_take),
        (EMBEDDING_BACKWARD, _embedding_backward, _compile_embedding),
        (SCATTER_ADD_ND, _add_nd, None),
        (ADD_ALONG, _add_along, _compile_along),
    )
)
