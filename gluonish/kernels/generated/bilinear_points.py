"""Bilinear interpolation of images, and its gradients: the core of samplers.

A first kernel computes, for each position, the flat indices of its four pixels and its fractional
offsets along rows and columns. Other kernels apply these to all channels.
"""

from collections.abc import Callable
from functools import cache, partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.ops.kernel import BackEnd, FastKernel, address
from gluonish.ops.registry import Operator
from gluonish.ops.support.precision import widen
from gluonish.ops.vision.bilinear_points import (
    BILINEAR_POINTS,
    BILINEAR_POINTS_BACKWARD,
    read_bilinear,
)
from gluonish.ops.vision.bilinear_sampler import (
    BILINEAR_SAMPLER,
    SPATIAL_TRANSFORMER,
    sampler_kernel,
    transformer_kernel,
)
from gluonish.ops.vision.deformable_convolution import FORMS

_MAX_SIZE = 1 << 31  # elements per image
_SMALL = 1 << 10  # elements below which NumPy is faster

# Params: rows, columns, four indices, two offsets from the first pixel, two flags for a nonzero
# derivative; height, width, and whether the border is ``inside``. Positions outside the image
# become -2.
_CORNERS = """
def body(begin, end, params):
    rows, columns = {view}(params[0]), {view}(params[1])
    index00, index01 = i32(params[2]), i32(params[3])
    index10, index11 = i32(params[4]), i32(params[5])
    below, right = {view}(params[6]), {view}(params[7])
    row_free, column_free = {view}(params[8]), {view}(params[9])
    height, width, inside = params[10], params[11], params[12]
    none, last_row, last_column = {real}(0), {real}(height - 1), {real}(width - 1)
    high, wide, before = {real}(height), {real}(width), {real}(-1)
    for p in range(begin, end):
        independent()
        y, x = rows[p], columns[p]
        if inside != 0:
            y_in, x_in = y >= none and y < high, x >= none and x < wide
            y_free, x_free = y_in and y < last_row, x_in and x < last_column
            y, x = minimum(y, last_row), minimum(x, last_column)
        else:
            y_in, x_in = y > before and y < high, x > before and x < wide
            y_free, x_free = y_in, x_in
        y, x = select(y_in, y, {real}(-2)), select(x_in, x, {real}(-2))
        top, left = floor(y), floor(x)
        i, j = int64(top), int64(left)
        below[p], right[p] = y - top, x - left
        row_free[p] = flag_{real}(y_free)
        column_free[p] = flag_{real}(x_free)
        start = i * width + j
        i0, i1 = i >= 0 and i < height, i >= -1 and i < height - 1
        j0, j1 = j >= 0 and j < width, j >= -1 and j < width - 1
        index00[p] = int32(select(i0 and j0, start, int64(-1)))
        index01[p] = int32(select(i0 and j1, start + 1, int64(-1)))
        index10[p] = int32(select(i1 and j0, start + width, int64(-1)))
        index11[p] = int32(select(i1 and j1, start + width + 1, int64(-1)))
"""

_HEAD = """
def body(begin, end, params):
    index00, index01 = i32(params[0]), i32(params[1])
    index10, index11 = i32(params[2]), i32(params[3])
    below, right = {view}(params[4]), {view}(params[5])
    row_free, column_free = {view}(params[6]), {view}(params[7])
    channels, size, points = params[8], params[9], params[10]
    data, out = {view}(params[11]), {view}(params[12])
    one, none = {real}(1), {real}(0)
"""

_PIXELS = """
                a, b = int64(index00[k]), int64(index01[k])
                c, d = int64(index10[k]), int64(index11[k])
                v00 = select(a >= 0, data[image + select(a >= 0, a, int64(0))], none)
                v01 = select(b >= 0, data[image + select(b >= 0, b, int64(0))], none)
                v10 = select(c >= 0, data[image + select(c >= 0, c, int64(0))], none)
                v11 = select(d >= 0, data[image + select(d >= 0, d, int64(0))], none)
                y, x = below[k], right[k]
"""

# A step is a tile of an image's positions.
_TILE = 256
_READ = (
    _HEAD
    + """
    tiles = (points + {tile} - 1) // {tile}
    for step in range(begin, end):
        n, first = step // tiles, step % tiles * {tile}
        last = min(first + {tile}, points)
        for channel in range(n * channels, (n + 1) * channels):
            image = channel * size
            for p in range(first, last):
                independent()
                k = n * points + p
"""
    + _PIXELS
    + """
                above, left = one - y, one - x
                value = v00 * (above * left) + v01 * (above * x)
                out[channel * points + p] = value + v10 * (y * left) + v11 * (y * x)
"""
)

# The gradients of positions: ``out`` along rows, and another array along columns.
_SLOPES = (
    _HEAD
    + """
    along_columns, grad = {view}(params[13]), {view}(params[14])
    tiles = (points + {tile} - 1) // {tile}
    for step in range(begin, end):
        n, first = step // tiles, step % tiles * {tile}
        last = min(first + {tile}, points)
        for p in range(n * points + first, n * points + last):
            out[p] = none
            along_columns[p] = none
        for channel in range(n * channels, (n + 1) * channels):
            image = channel * size
            for p in range(first, last):
                independent()
                k = n * points + p
                g = grad[channel * points + p]
"""
    + _PIXELS
    + """
                by_row = (v10 - v00) * (one - x) + (v11 - v01) * x
                by_column = (v01 - v00) * (one - y) + (v11 - v10) * y
                out[k] += select(row_free[k] > none, g * by_row, none)
                along_columns[k] += select(column_free[k] > none, g * by_column, none)
"""
)

# A step is a channel of an image; ``data`` is the gradient of the interpolated values.
_ADD = (
    _HEAD
    + """
    for channel in range(begin, end):
        n = channel // channels
        image = channel * size
        for i in range(image, image + size):
            out[i] = none
        for p in range(points):
            k = n * points + p
            g, y, x = data[channel * points + p], below[k], right[k]
            above, left = one - y, one - x
            a, b = int64(index00[k]), int64(index01[k])
            c, d = int64(index10[k]), int64(index11[k])
            if a >= 0:
                out[image + a] += g * (above * left)
            if b >= 0:
                out[image + b] += g * (above * x)
            if c >= 0:
                out[image + c] += g * (y * left)
            if d >= 0:
                out[image + d] += g * (y * x)
"""
)


@cache
def _compiled(source: str, itemsize: int) -> CompiledKernel:
    real = {4: "float32", 8: "float64"}[itemsize]
    return compile_kernel(source.format(view=f"f{8 * itemsize}", real=real, tile=_TILE))


def _run(source: str, itemsize: int, extent: int, params: list[int], grain: int) -> None:
    _compiled(source, itemsize)(extent, np.array(params, np.int64), grain)


class _Corners(NamedTuple):
    """The four pixels of each position; must outlive the kernels that use its addresses."""

    index: Any  # (4, N, P)
    weights: Any  # (4, N, P): offsets below and right, and the flags of both

    def params(self) -> list[int]:
        """Return the params of the kernels: the addresses of all arrays."""
        return [address(row) for row in (*self.index, *self.weights)]


def _corners(rows: Any, columns: Any, extents: tuple[int, int], border: str) -> _Corners:
    rows, columns = np.ascontiguousarray(rows), np.ascontiguousarray(columns)
    index = np.empty((4, *rows.shape), np.int32)
    found = _Corners(index, np.empty((4, *rows.shape), rows.dtype))
    params = [address(rows), address(columns), *found.params(), *extents, border == "inside"]
    _run(_CORNERS, rows.itemsize, rows.size, params, 1 << 13)
    return found


def _tiles(rows: Any) -> int:
    batch, points = rows.shape
    return int(batch * -(-points // _TILE))


def _fill(out: Any, data: Any, rows: Any, columns: Any, border: str) -> None:
    """Interpolate at all positions into the C-contiguous array ``out`` (N, C, P)."""
    channels, height, width = data.shape[1:]
    data = np.ascontiguousarray(data)
    found = _corners(rows, columns, (height, width), border)
    params = [*found.params(), channels, height * width, rows.shape[1], address(data), address(out)]
    grain = max(1, (1 << 14) // (_TILE * channels))
    _run(_READ, data.itemsize, _tiles(rows), params, grain)


def _fits(data: Any, rows: Any) -> bool:
    """Whether the kernels support the shapes of these arrays or specs."""
    height, width = data.shape[2:]
    enough = min(data.size, rows.size) > 0 and rows.size * data.shape[1] >= _SMALL
    return bool(enough and height * width < _MAX_SIZE)


def read_points(xp: ModuleType, data: Any, rows: Any, columns: Any, border: str) -> Any:
    """Compute `gluonish.ops.vision.bilinear_points.read_bilinear`."""
    data, rows, columns = widen(data), widen(rows), widen(columns)
    if not _fits(data, rows) or len({data.dtype, rows.dtype, columns.dtype}) != 1:
        return read_bilinear(xp, data, rows, columns, border)
    out = np.empty((*data.shape[:2], rows.shape[1]), data.dtype)
    _fill(out, data, rows, columns, border)
    return out


def _supports(data: Spec, rows: Spec, columns: Spec, **_: Any) -> bool:
    one = data.dtype == rows.dtype == columns.dtype
    return one and data.dtype in (FLOAT32, FLOAT64) and _fits(data, rows)


def _supports_backward(grad: Spec, data: Spec, rows: Spec, columns: Spec, **attrs: Any) -> bool:
    return grad.dtype == data.dtype and _supports(data, rows, columns, **attrs)


def _kernel(xp: ModuleType, out: Any, data: Any, rows: Any, columns: Any, *, border: str) -> None:
    if out.flags.c_contiguous:
        _fill(out, data, rows, columns, border)
    else:
        out[...] = read_points(xp, data, rows, columns, border)


def _backward(
    xp: ModuleType, out: Any, grad: Any, data: Any, rows: Any, columns: Any, *, border: str
) -> None:
    batch, channels, height, width = data.shape
    grad, data = np.ascontiguousarray(grad), np.ascontiguousarray(data)
    made = [x if x.flags.c_contiguous else np.empty(x.shape, x.dtype) for x in out]
    found = _corners(rows, columns, (height, width), border)
    params = [*found.params(), channels, height * width, rows.shape[1]]
    images = [*params, address(grad), address(made[0])]
    _run(_ADD, data.itemsize, batch * channels, images, max(1, (1 << 13) // rows.shape[1]))
    slopes = [*params, address(data), address(made[1]), address(made[2]), address(grad)]
    grain = max(1, (1 << 13) // (_TILE * channels))
    _run(_SLOPES, data.itemsize, _tiles(rows), slopes, grain)
    for target, source in zip(out, made, strict=True):
        if target is not source:
            target[...] = source


def _any(*_specs: Spec, **_attrs: Any) -> bool:
    return True


def _fast(supports: Callable[..., bool], run: Callable[..., None]) -> FastKernel:
    return FastKernel(BackEnd.GENERATED, "bilinear_points", supports, run=run, enabled=available)


KERNELS: tuple[tuple[Operator, FastKernel], ...] = (
    (BILINEAR_POINTS, _fast(_supports, _kernel)),
    (BILINEAR_POINTS_BACKWARD, _fast(_supports_backward, _backward)),
    (BILINEAR_SAMPLER, _fast(_any, partial(sampler_kernel, read=read_points))),
    (SPATIAL_TRANSFORMER, _fast(_any, partial(transformer_kernel, read=read_points))),
    *((form.operator, _fast(_any, partial(form.kernel, read=read_points))) for form in FORMS),
)
