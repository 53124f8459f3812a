"""rotary_embedding in one pass over memory, with tables of cosines and sines that are made once.

A table has a row for each position from 0 on, float32 (positions, 2, dim / 2), and grows with the
positions that calls have. Positions beyond `_MOST` elements of a table, and those of scaling
``dynamic`` in sequences longer than the training's, have a table for the call alone.
"""

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import compile_kernel
from gluonish.kernels.generated.loops import is_narrow, narrowed
from gluonish.kernels.generated.support import enabled
from gluonish.ops.attention.rotary import AXES, ROTARY_EMBEDDING, positions_of, width_of
from gluonish.ops.attention.rotary_frequencies import ATTRIBUTES, tables
from gluonish.ops.kernel import Array, BackEnd, FastKernel, RefusedError, address
from gluonish.ops.registry import Attrs

_SMALL = 1 << 9  # elements below which NumPy is as fast
_GRAIN = 1 << 13  # minimum elements for each thread
_FIRST = 1 << 9  # rows of a new table
_MOST = 1 << 24  # elements of a table that is cached
_MANY = 64  # tables that are cached

# Params: 0 out, 1 data, 2 table, 3 rows of the table, 4 elements of a row, 5 pairs, 6 sign of the
# sines, 7 data rows per step, 8 steps, 9 data rows per sample, 10 samples, 11 positions per sample
# (0 if all samples share them).
_SOURCE = """
def body(begin, end, params):
    out, x = f32(params[0]), f32(params[1])
    table, places = f32(params[2]), i64(params[3])
    width, half, sign = params[4], params[5], float32(params[6])
    by_step, steps, by_sample = params[7], params[8], params[9]
    samples, stride = params[10], params[11]
    for row in range(begin, end):
        sample = (row // by_sample) % samples
        at_cos = places[sample * stride + (row // by_step) % steps] * 2 * half
        at_sin = at_cos + half
        at = row * width
        for j in range(half):
            independent()
            c = table[at_cos + j]
            s = table[at_sin + j] * sign
            p = x[{first}]
            q = x[{second}]
            out[{first}] = p * c - q * s
            out[{second}] = q * c + p * s
        for j in range(2 * half, width):
            independent()
            out[at + j] = x[at + j]
"""
_SOURCES = {
    "halves": _SOURCE.format(first="at + j", second="at + half + j"),
    "neighbours": _SOURCE.format(first="at + 2 * j", second="at + 2 * j + 1"),
}

_kept: dict[tuple[Any, ...], Array] = {}


class _Lookup(NamedTuple):
    """A table and, for each position of a call, its row there."""

    table: Array
    rows: Array


def _table(positions: Array, dim: int, attrs: Attrs, length: int) -> Array:
    """Return cosines and sines, float32 (positions, 2, dim / 2)."""
    made = tables(np, positions.reshape(-1), dim, attrs, length)
    return np.stack([x.astype(np.float32) for x in made], 1)


def look_up(positions: Array, dim: int, attrs: Attrs) -> _Lookup:
    """Return the table for a call, and the rows of its positions."""
    length = int(positions.max()) + 1
    original = attrs["original_max_position_embeddings"]
    stretched = attrs["scaling"] == "dynamic" and length > original
    if stretched or length * dim > _MOST:
        rows = np.arange(positions.size, dtype=np.int64)
        return _Lookup(_table(positions, dim, attrs, length), rows)
    key = (dim, *[attrs[name] for name in ATTRIBUTES])
    found = _kept.get(key)
    if found is None or len(found) < length:
        if len(_kept) >= _MANY:
            _kept.clear()
        count = max(_FIRST, 1 << (length - 1).bit_length())
        # Up to the original length 'dynamic' has the frequencies of the training.
        found = _table(np.arange(count), dim, attrs, length)
        _kept[key] = found
    return _Lookup(found, np.ascontiguousarray(positions))


def _strides(data: Array, layout: str) -> tuple[int, int, int, int]:
    """Return data rows per step, steps, data rows per sample, and samples."""
    shape = data.shape
    samples, steps = (shape[axis] for axis in AXES[layout])
    if layout == "NHTC":
        return 1, steps, data.size // (shape[-1] * samples), samples
    heads = shape[2]
    if layout == "NTHC":
        return heads, steps, heads * steps, samples
    return heads * samples, steps, heads, samples


def _run(xp: ModuleType, out: Array, data: Array, *positions: Array, **attrs: Any) -> None:
    if not (out.flags.c_contiguous and data.flags.c_contiguous):
        raise RefusedError("rotary_embedding: expected contiguous arrays, got strided ones")
    dim, width = width_of(data.shape, attrs), data.shape[-1]
    found = positions_of(np, data, positions, attrs)
    table, rows = look_up(found, dim, attrs)
    by_step, steps, by_sample, samples = _strides(data, attrs["layout"])
    sign = -1 if attrs["transposed"] else 1
    numbers = [width, dim // 2, sign, by_step, steps, by_sample, samples]
    addresses = [address(x) for x in (out, data, table, rows)]
    params = np.array([*addresses, *numbers, steps if found.ndim > 1 else 0], np.int64)
    source = narrowed(_SOURCES[attrs["pairing"]], ("out", "x"), [out.dtype, data.dtype])
    compile_kernel(source)(data.size // width, params, max(1, _GRAIN // width))


def _supports(data: Spec, *_: Spec, **attrs: Any) -> bool:
    narrow = is_narrow(data.dtype)
    return data.size >= _SMALL and (narrow or data.dtype == FLOAT32)


KERNELS = (
    (
        ROTARY_EMBEDDING,
        FastKernel(
            *(BackEnd.GENERATED, "rotary_embedding", _supports),
            run=_run,
            enabled=enabled,
            serial_limit=_GRAIN,
        ),
    ),
)
