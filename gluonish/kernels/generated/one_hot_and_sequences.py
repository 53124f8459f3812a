"""Generated kernels that fill or copy rows: one_hot, SequenceMask, SequenceReverse, and _arange."""

import math
from collections.abc import Callable, Container
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, INT32, INT64
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.kernels.generated.expressions import KINDS
from gluonish.kernels.generated.gathering import gather_rows
from gluonish.kernels.generated.loops import POSITIONS, readable
from gluonish.kernels.generated.strided_copy import VIEWS
from gluonish.ops.creation import ARANGE, arange_bounds, is_rounded, whole_steps
from gluonish.ops.indexing.pick import ONE_HOT
from gluonish.ops.kernel import Array, BackEnd, FastKernel, address
from gluonish.ops.nn.sequence import SEQUENCE_MASK, SEQUENCE_REVERSE, reversed_steps
from gluonish.ops.registry import Operator
from gluonish.ops.support.precision import in_dtype

_LARGE = 1 << 15  # elements below which NumPy is faster
_GRAIN = 1 << 15  # minimum elements for each thread

# Params: result, positions; elements of a row, bits of the off value and of the on value.
_ONE_HOT = """
def body(begin, end, params):
    y, positions, width = {view}(params[0]), {kind}(params[1]), params[2]
    off, on = {element}(params[3]), {element}(params[4])
    for j in range(begin * width, end * width):
        independent()
        y[j] = off
    for i in range(begin, end):
        chosen = {number}
        if chosen >= 0 and chosen < width:
            y[i * width + chosen] = on
"""

# Params: result, lengths, data; rows along the second axis, elements of a row, bits of the padding
# value. A step is a row of both axes.
_MASK = """
def body(begin, end, params):
    y, positions, x = {view}(params[0]), {kind}(params[1]), {view}(params[2])
    second, width, value = params[3], params[4], {element}(params[5])
    for row in range(begin, end):
        n, m = row // second, row % second
        i, step = {order}
        first = row * width
        if step < {number}:
            for j in range(first, first + width):
                independent()
                y[j] = x[j]
        else:
            for j in range(first, first + width):
                independent()
                y[j] = value
"""

# Params: result; first value and step as bits of float64, number of repeats. A step is a value;
# conversions of int32 to float vectorize.
_COUNT = """
def body(begin, end, params):
    y, first, step = {view}(params[0]), as_float(params[1]), as_float(params[2])
    for block in range(begin, end, 1024):
        base = float64(block)
        for c in range(min(1024, end - block)):
            independent()
            y[block + c] = {element}(first + (base + float64(int32(c))) * step)
"""
_COUNT_REPEATED = """
def body(begin, end, params):
    y, first, step, repeat = {view}(params[0]), as_float(params[1]), as_float(params[2]), params[3]
    for i in range(begin, end):
        value = {element}(first + float64(i) * step)
        for j in range(i * repeat, (i + 1) * repeat):
            independent()
            y[j] = value
"""
_COUNTED: dict[np.dtype[Any], str] = {
    FLOAT32: "float32",
    FLOAT64: "float64",
    INT32: "int32",
    INT64: "int64",
}


@lru_cache(256)
def _kernel(text: str, size: int, kind: np.dtype[Any], order: str = "") -> CompiledKernel:
    view, number = POSITIONS[kind]
    return compile_kernel(
        text.format(
            view=VIEWS[size], element=f"uint{8 * size}", kind=view, number=number, order=order
        )
    )


def _bits(dtype: np.dtype[Any], value: float) -> int:
    """Convert a number to a dtype, and return its bits as an integer."""
    element = np.asarray(in_dtype(dtype, value)).astype(dtype)
    return int(element.view(f"u{dtype.itemsize}"))


def _run(kernel: CompiledKernel, extent: int, out: Array, *args: Any) -> None:
    params = [address(x) if isinstance(x, np.ndarray) else x for x in (out, *args)]
    kernel(extent, np.array(params, np.uint64).view(np.int64), max(1, _GRAIN * extent // out.size))


def _one_hot(
    xp: ModuleType,
    out: Array,
    indices: Array,
    *,
    depth: int,
    on_value: float,
    off_value: float,
    dtype: np.dtype[Any],
) -> None:
    positions = readable(indices)
    kernel = _kernel(_ONE_HOT, out.itemsize, positions.dtype)
    values = _bits(dtype, off_value), _bits(dtype, on_value)
    _run(kernel, positions.size, out, positions, depth, *values)


def _mask(
    xp: ModuleType,
    out: Array,
    data: Array,
    length: Array | None = None,
    *,
    use_sequence_length: bool,
    value: float,
    axis: int,
) -> None:
    assert length is not None
    lengths, data = readable(length), np.ascontiguousarray(data)
    kernel = _kernel(_MASK, out.itemsize, lengths.dtype, "n, m" if axis else "m, n")
    width = math.prod(data.shape[2:])
    rows = data.shape[0] * data.shape[1]
    _run(kernel, rows, out, lengths, data, data.shape[1], width, _bits(out.dtype, value))


def _supports_sequences(data: Spec, length: Spec | None = None, **_: Any) -> bool:
    return length is not None and data.size >= _LARGE and data.dtype.itemsize in VIEWS


def _reverse(
    xp: ModuleType, out: Array, data: Array, length: Array | None = None, **_: Any
) -> None:
    assert length is not None
    steps, batch = data.shape[:2]
    positions = reversed_steps(np, length, steps) * batch + np.arange(batch)
    gather_rows(out, data, positions, "clip", steps * batch, math.prod(data.shape[2:]))


@lru_cache(16)
def _counting(dtype: np.dtype[Any], repeated: bool) -> CompiledKernel:
    view = f"{dtype.kind}{8 * dtype.itemsize}"
    text = (_COUNT_REPEATED if repeated else _COUNT).format(view=view, element=_COUNTED[dtype])
    return compile_kernel(text, ())  # the product is rounded before the sum, as in NumPy


def _arange(
    xp: ModuleType,
    out: Array,
    *,
    start: float,
    stop: float | None,
    step: float,
    repeat: int,
    dtype: np.dtype[Any],
    **_: Any,
) -> None:
    first, count = arange_bounds(start, stop, step)
    bits = np.array(whole_steps(dtype, first, step), np.float64).view(np.uint64)
    _run(_counting(dtype, repeat > 1), count, out, *map(int, bits), repeat)


def _large_output(op: Operator, known: Container[Any]) -> Callable[..., bool]:
    """Return a predicate: whether the result is large and its dtype or itemsize is supported."""

    def supports(*specs: Spec, **attrs: Any) -> bool:
        (made,) = op.infer(*specs, **attrs)
        return made.size >= _LARGE and (made.dtype in known or made.dtype.itemsize in known)

    return supports


_is_large_arange = _large_output(ARANGE, _COUNTED)


def _supports_arange(*, start: float, stop: float | None, step: float, **attrs: Any) -> bool:
    if not _is_large_arange(start=start, stop=stop, step=step, **attrs):
        return False
    first, count = arange_bounds(start, stop, step)
    return not is_rounded(first, step, count)


KERNELS: tuple[tuple[Operator, FastKernel], ...] = tuple(
    (
        op,
        FastKernel(
            *(BackEnd.GENERATED, op.name, supports),
            run=run,
            enabled=available,
            large_only=True,
            makes=makes,
        ),
    )
    for op, supports, run, makes in (
        (ONE_HOT, _large_output(ONE_HOT, VIEWS), _one_hot, KINDS),
        (SEQUENCE_MASK, _supports_sequences, _mask, ()),
        (SEQUENCE_REVERSE, _supports_sequences, _reverse, ()),
        (ARANGE, _supports_arange, _arange, _COUNTED),
    )
)
