"""LayerNorm and its gradients over an axis that is not the last one, in one pass over memory.

The elements to normalize together lie ``inner`` elements apart. A tile has neighbouring positions
of the inner axes, with all their elements, which stay in the second-level cache between the
readings. Means and sums of squared deviations take one reading: those of eight elements at a time
are merged (Chan, Golub and LeVeque, Updating Formulae and a Pairwise Algorithm for Computing Sample
Variances, 1979); there is nothing to merge with the first ones, even if their squares are infinite.
Loops run along the inner axes, where memory is contiguous; sums of each position are in ``lanes``.

The gradients of gamma and beta sum the rows of a tile in float32, and the tiles in float64, with
separate sums for each chunk of tiles. Neither tiles nor chunks depend on the number of threads, so
results do not, either. Elements may be 16-bit floats; arithmetic is in float32.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from struct import pack, unpack
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.kernels.generated.loops import is_narrow, narrowed
from gluonish.ops.kernel import Array, BackEnd, FastKernel, RefusedError, address
from gluonish.ops.normalization.layer_norm import LAYER_NORM, LAYER_NORM_BACKWARD

_LEAST = 8  # inner elements below which the loops along them do not pay
_SINGLE_THREAD = 1 << 13  # elements up to which one thread is used
_TILE_NBYTES = 1 << 20  # of each array that a tile reads, in float32
_LEAST_TILES = 8  # of data of many elements, for as many threads
_LEAST_SIZE = 1 << 15  # elements from which data has more than one tile for that reason
_CHUNKS = 32

_FORWARD_NAMES = ("out", "means", "stds", "x", "gamma", "beta")
_BACKWARD_NAMES = ("out", "grad", "x", "gamma", "means", "stds")
_TILE = """
            row = i // blocks
            first = (i - row * blocks) * width
            n = min(width, inner - first)
            base = row * count * inner + first
            place = row * inner + first
"""
_FORWARD = f"""
def body(begin, end, params):
    out, means, stds = f32(params[0]), f32(params[1]), f32(params[2])
    x, gamma, beta = f32(params[3]), f32(params[4]), f32(params[5])
    lanes, eps = f32(params[6]), float32(as_float(params[7]))
    count, inner, width, blocks = params[8], params[9], params[10], params[11]
    tiles, step = params[12], params[13]
    divisor = float32(count)
    full = count - count % 8
    for chunk in range(begin, end):
        mean = chunk * 2 * width
        scale = mean + width
        for i in range(chunk * step, min(chunk * step + step, tiles)):
{_TILE}
            for j in range(n):
                independent()
                lanes[mean + j] = float32(0)
                lanes[scale + j] = float32(0)
            for c in range(0, full, 8):
                at = base + c * inner
                part = float32(8.0 / float64(c + 8))
                weight = float32(float64(c) * (8.0 / float64(c + 8)))
                for j in range(n):
                    independent()
                    a0, a1 = x[at + j], x[at + inner + j]
                    a2, a3 = x[at + 2 * inner + j], x[at + 3 * inner + j]
                    a4, a5 = x[at + 4 * inner + j], x[at + 5 * inner + j]
                    a6, a7 = x[at + 6 * inner + j], x[at + 7 * inner + j]
                    total = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7))
                    average = total * float32(0.125)
                    a0, a1, a2, a3 = a0 - average, a1 - average, a2 - average, a3 - average
                    a4, a5, a6, a7 = a4 - average, a5 - average, a6 - average, a7 - average
                    squares = (a0 * a0 + a1 * a1) + (a2 * a2 + a3 * a3)
                    squares = squares + ((a4 * a4 + a5 * a5) + (a6 * a6 + a7 * a7))
                    change = average - lanes[mean + j]
                    lanes[mean + j] = lanes[mean + j] + change * part
                    more = select(weight > float32(0), change * change * weight, float32(0))
                    lanes[scale + j] = lanes[scale + j] + (squares + more)
            for c in range(full, count):
                at = base + c * inner
                part = float32(1.0 / float64(c + 1))
                weight = float32(float64(c) / float64(c + 1))
                for j in range(n):
                    independent()
                    change = x[at + j] - lanes[mean + j]
                    lanes[mean + j] = lanes[mean + j] + change * part
                    more = select(weight > float32(0), change * change * weight, float32(0))
                    lanes[scale + j] = lanes[scale + j] + more
            for j in range(n):
                independent()
                means[place + j] = lanes[mean + j]
                std = sqrt(lanes[scale + j] / divisor + eps)
                stds[place + j] = std
                lanes[scale + j] = float32(1) / std
            for c in range(count):
                at = base + c * inner
                factor = gamma[c]
                shift = beta[c]
                for j in range(n):
                    independent()
                    y = (x[at + j] - lanes[mean + j]) * lanes[scale + j]
                    out[at + j] = y * factor + shift
"""
# Lanes: the mean of the scaled gradient, that of its products with the standardized data, the means
# and 1 / std.
_BACKWARD = f"""
def body(begin, end, params):
    out, grad, x, gamma = f32(params[0]), f32(params[1]), f32(params[2]), f32(params[3])
    means, stds = f32(params[4]), f32(params[5])
    lanes, sums = f32(params[6]), f64(params[7])
    count, inner, width, blocks = params[8], params[9], params[10], params[11]
    tiles, step = params[12], params[13]
    divisor = float32(count)
    for chunk in range(begin, end):
        of_gamma = chunk * 2 * count
        of_beta = of_gamma + count
        for j in range(2 * count):
            independent()
            sums[of_gamma + j] = 0.0
        total = chunk * 4 * width
        product = total + width
        mean = product + width
        scale = mean + width
        for i in range(chunk * step, min(chunk * step + step, tiles)):
{_TILE}
            for j in range(n):
                independent()
                lanes[total + j] = float32(0)
                lanes[product + j] = float32(0)
                lanes[mean + j] = means[place + j]
                lanes[scale + j] = float32(1) / stds[place + j]
            for c in range(count):
                at = base + c * inner
                factor = gamma[c]
                d_gamma = float32(0)
                d_beta = float32(0)
                for j in range(n):
                    independent()
                    g = grad[at + j]
                    y = (x[at + j] - lanes[mean + j]) * lanes[scale + j]
                    d_gamma += g * y
                    d_beta += g
                    lanes[total + j] = lanes[total + j] + g * factor
                    lanes[product + j] = lanes[product + j] + g * factor * y
                sums[of_gamma + c] += float64(d_gamma)
                sums[of_beta + c] += float64(d_beta)
            for j in range(n):
                independent()
                lanes[total + j] = lanes[total + j] / divisor
                lanes[product + j] = lanes[product + j] / divisor
            for c in range(count):
                at = base + c * inner
                factor = gamma[c]
                for j in range(n):
                    independent()
                    y = (x[at + j] - lanes[mean + j]) * lanes[scale + j]
                    change = lanes[total + j] + y * lanes[product + j]
                    out[at + j] = (grad[at + j] * factor - change) * lanes[scale + j]
"""


class _Tiles(NamedTuple):
    """How data is divided into tiles.

    Attributes:
        elements: Number of elements that are normalized together.
        inner: Elements between two of them.
        width: Positions of a tile; the last ones of a row of tiles may have fewer.
        blocks: Tiles in a row.
        tiles: All tiles.
        step: Tiles in a chunk.
    """

    elements: int
    inner: int
    width: int
    blocks: int
    tiles: int
    step: int

    @property
    def chunks(self) -> int:
        """Number of chunks, each of which one thread computes with lanes of its own."""
        return -(-self.tiles // self.step)


@lru_cache(4096)
def _tiles_of(shape: Shape, axis: int) -> _Tiles:
    """Divide data of a shape into tiles, regardless of the number of threads."""
    axis %= len(shape)
    count, inner, outer = shape[axis], prod(shape[axis + 1 :]), prod(shape[:axis])
    widest = max(16, _TILE_NBYTES // (4 * count))
    least = min(_LEAST_TILES, count * inner * outer // _LEAST_SIZE)
    blocks = max(-(-inner // widest), min(-(-least // outer), inner // 16), 1)
    width = -(-inner // blocks)
    width += -width % 16 if blocks > 1 else 0
    blocks = -(-inner // width)
    tiles = outer * blocks
    return _Tiles(count, inner, width, blocks, tiles, -(-tiles // _CHUNKS))


def _supports(data: Spec, others: Sequence[Spec], axis: int) -> bool:
    rank = len(data.shape)
    if not MXNET_USE_FUSION.value or not data.size or axis % rank == rank - 1:
        return False
    if prod(data.shape[axis % rank + 1 :]) < _LEAST:
        return False
    return all(spec.dtype == FLOAT32 or is_narrow(spec.dtype) for spec in (data, *others))


def _supports_forward(data: Spec, *rest: Spec, axis: int, **_: Any) -> bool:
    return _supports(data, rest, axis)


def _supports_backward(grad: Spec, data: Spec, *rest: Spec, axis: int, **_: Any) -> bool:
    return _supports(data, (grad, *rest), axis)


def _refuse_strided(arrays: Sequence[Array]) -> None:
    if not all(x.flags.c_contiguous for x in arrays):
        raise RefusedError("layer_norm: expected contiguous arrays, got strided ones")


@lru_cache
def _kernel_of(*, backward: bool, dtypes: tuple[np.dtype[Any], ...]) -> CompiledKernel:
    if backward:
        return compile_kernel(narrowed(_BACKWARD, _BACKWARD_NAMES, dtypes))
    return compile_kernel(narrowed(_FORWARD, _FORWARD_NAMES, dtypes))


def _run(arrays: tuple[Array, ...], numbers: list[int], tiles: _Tiles, *, backward: bool) -> None:
    """Run a kernel on arrays, with numbers before the sizes of the tiles."""
    kernel = _kernel_of(backward=backward, dtypes=tuple([x.dtype for x in arrays]))
    params = np.array([*map(address, arrays), *numbers, *tiles], np.int64)
    small = tiles.tiles * tiles.width * tiles.elements <= _SINGLE_THREAD
    kernel(tiles.chunks, params, tiles.chunks if small else 1)


def _forward(
    xp: ModuleType,
    outputs: tuple[Array, ...],
    data: Array,
    gamma: Array,
    beta: Array,
    *,
    axis: int,
    eps: float,
    **_: Any,
) -> None:
    arrays = (*outputs, data, gamma, beta)
    _refuse_strided(arrays)
    tiles = _tiles_of(data.shape, axis)
    lanes = np.empty((tiles.chunks, 2, tiles.width), np.float32)
    (bits,) = unpack("q", pack("d", eps))
    _run(arrays, [address(lanes), bits], tiles, backward=False)


def _backward(
    xp: ModuleType,
    outputs: tuple[Array, ...],
    grad: Array,
    data: Array,
    gamma: Array,
    mean: Array,
    std: Array,
    *,
    axis: int,
    **_: Any,
) -> None:
    d_data, d_gamma, d_beta = outputs
    arrays = (d_data, grad, data, gamma, mean, std)
    _refuse_strided(arrays)
    tiles = _tiles_of(data.shape, axis)
    lanes = np.empty((tiles.chunks, 4, tiles.width), np.float32)
    sums = np.empty((tiles.chunks, 2, tiles.elements), np.float64)
    _run(arrays, [address(lanes), address(sums)], tiles, backward=True)
    d_gamma[...], d_beta[...] = sums.sum(axis=0)


KERNELS = (
    (
        LAYER_NORM,
        FastKernel(
            *(BackEnd.GENERATED, "layer_norm_columns", _supports_forward),
            run=_forward,
            enabled=available,
            serial_limit=_SINGLE_THREAD,
        ),
    ),
    (
        LAYER_NORM_BACKWARD,
        FastKernel(
            *(BackEnd.GENERATED, "layer_norm_backward_columns", _supports_backward),
            run=_backward,
            enabled=available,
        ),
    ),
)
