"""Affine and perspective maps of images of bytes, with the bytes of Pillow's ``Image.transform``.

An image is converted to 32-bit pixels with a border that repeats its edge. So a kernel gathers
whole pixels, several at a time, and needs no case for the edge.

Positions and interpolation are rounded as in Pillow: float64 for bilinear interpolation and for
perspective maps, numbers with 16 binary places for the nearest pixels of an affine map, and no
contraction. For nearest pixels, Pillow rounds otherwise if a map scales without rotation, or if
positions are beyond 2**15; for such maps there is no kernel.

The kernels run in the calling thread, without a team, and release the GIL, as data loaders need.
"""

from ctypes import addressof, c_int64
from functools import lru_cache
from typing import Any

import numpy as np

from gluonish.kernels.compiler import CompiledKernel, KernelError, available, compile_kernel
from gluonish.ops.kernel import address
from gluonish.ops.support.refusals import note_refusal

Array = np.ndarray[Any, Any]

_MAX_CHANNELS = 4
_MAX_PIXELS = 1 << 30  # so that a pixel's number is an int32, also with the border
_MAX_POSITION = 1 << 15  # of numbers with 16 binary places
_PackParams = c_int64 * 3
_Params = c_int64 * 12

# Params: image, pixels with the border, columns.
_PACK = """
def body(begin, end, params):
    x, y, width = u8(params[0]), u8(params[1]), params[2]
    for row in range(begin, end):
        source, at = row * width * {channels}, ((row + 1) * (width + 2) + 1) * 4
        for i in range(width):
            independent()
{copies}
        for c in range(4):
            y[at - 4 + c] = y[at + c]
            y[at + 4 * width + c] = y[at + 4 * width - 4 + c]
"""

# Params: output, pixels with the border; products of the map with columns, products with rows, and
# constants; columns, rows, 0; fill of four channels.
_START = """
def body(begin, end, params):
    y, x = u8(params[0]), u32(params[1])
    columns, rows, constants = {kind}(params[2]), {kind}(params[3]), {kind}(params[4])
    width, height = params[5], params[6]
    pitch = width + 2
{fills}
"""

# Positions with 16 binary places.
_FIXED = """
    start, turn = constants[0], constants[1]
    for row in range(begin, end):
        across, down = int32(start + rows[row]), int32(turn + rows[height + row])
        at = row * width * {channels}
        for i in range(width):
            independent()
            u = int32(int32(columns[i] + across) >> 16)
            v = int32(int32(columns[width + i] + down) >> 16)
            inside = (u >= 0) & (u < width) & (v >= 0) & (v < height)
            index = select(inside, int32(v * pitch + u + (pitch + 1)), int32(0))
            p = x[index]
{stores}
"""

_POSITIONS = """
    wide, high, w = float64(width), float64(height), float64(pitch)
    first = w + 1.0
    c, f = constants[0], constants[1]
    for row in range(begin, end):
        r0, r1, r2 = rows[row], rows[height + row], rows[2 * height + row]
        at = row * width * {channels}
        for i in range(width):
            independent()
            u = columns[i] + r0 + c
            v = columns[width + i] + r1 + f
{division}
            inside = (u >= 0.0) & (u < wide) & (v >= 0.0) & (v < high)
"""
_DIVISION = """\
below = columns[2 * width + i] + r2 + 1.0
u, v = u / below, v / below"""

_NEAREST = """\
            u, v = select(inside, u, 0.0), select(inside, v, 0.0)
            p = x[int32(floor(v) * w + floor(u) + first)]
{stores}
"""

_BILINEAR = """\
            u, v = select(inside, u, 0.5) - 0.5, select(inside, v, 0.5) - 0.5
            left, top = floor(u), floor(v)
            du, dv = u - left, v - top
            index = int32(top * w + left + first)
            p, q = x[index], x[index + 1]
            r, s = x[index + pitch], x[index + pitch + 1]
{stores}
"""
_FUNCTIONS = """
def channel(pixel, shift):
    return int32((pixel >> shift) & 255)

def mixed(p, q, shift, part):
    a = channel(p, shift)
    return float64(a) + float64(int32(channel(q, shift) - a)) * part

def sampled(p, q, r, s, shift, du, dv):
    a = mixed(p, q, shift, du)
    return int32(a + (mixed(r, s, shift, du) - a) * dv)
"""


def _lines(texts: list[str], depth: int) -> str:
    return "\n".join(" " * depth + line for text in texts for line in text.splitlines())


def _source(kind: str, channels: int) -> str:
    """Return the source of a kernel.

    Args:
        kind: "fixed" for the nearest pixels of an affine map, "nearest" for those of a perspective
            map; "bilinear" and "perspective" for bilinear interpolation in such maps.
        channels: Channels of the image.
    """
    smooth = kind in ("bilinear", "perspective")
    value = "sampled(p, q, r, s, {0}, du, dv)" if smooth else "channel(p, {0})"
    stores = [
        f"v{c} = {value.format(8 * c)}\ny[at + {channels} * i + {c}] = select(inside, v{c}, f{c})"
        for c in range(channels)
    ]
    positions = _FIXED if kind == "fixed" else _POSITIONS + (_BILINEAR if smooth else _NEAREST)
    return _FUNCTIONS + (_START + positions).format(
        kind="i64" if kind == "fixed" else "f64",
        channels=channels,
        fills=_lines([f"f{c} = int32(params[{8 + c}])" for c in range(channels)], 4),
        division=_lines([] if kind == "bilinear" else [_DIVISION], 12),
        stores=_lines(stores, 12),
    )


def _pack_source(channels: int) -> str:
    copies = [
        f"y[at + 4 * i + {c}] = x[source + {channels} * i + {min(c, channels - 1)}]"
        for c in range(4)
    ]
    return _PACK.format(channels=channels, copies=_lines(copies, 12))


@lru_cache(16)
def _kernels(kind: str, channels: int) -> tuple[CompiledKernel, CompiledKernel] | None:
    """Return the kernel that converts to pixels, and that of a map; None if they do not compile."""
    try:
        pack = compile_kernel(_pack_source(channels))
        return pack, compile_kernel(_source(kind, channels), fastmath=())
    except KernelError as error:
        note_refusal("image_warp", error)
        return None


def warped_bytes(
    values: Array, coefficients: tuple[float, ...], interpolation: int, fill: tuple[int, ...]
) -> Array | None:
    """Return an image of bytes, sampled at mapped positions; None if there is no kernel for it.

    Args:
        values: Image (height, width, channels), uint8, not empty.
        coefficients: (a, b, c, d, e, f) of an affine map, or eight numbers of a perspective map:
            (x, y) is sampled at ((a x + b y + c) / q, (d x + e y + f) / q), q = g x + h y + 1.
        interpolation: 0 for the nearest pixel, 1 for bilinear.
        fill: Value of each channel where the position is outside of the image.
    """
    height, width, channels = values.shape
    fits = channels <= _MAX_CHANNELS and (height + 2) * (width + 2) <= _MAX_PIXELS
    if not fits or not available():
        return None
    affine = len(coefficients) == 6
    if interpolation:
        kind = "bilinear" if affine else "perspective"
    else:
        kind = "fixed" if affine else "nearest"
        if affine and not _is_fixed(coefficients, height, width):
            return None
    kernels = _kernels(kind, channels)
    if kernels is None:
        return None
    a, b, c, d, e, f, g, h = (*coefficients, 0.0, 0.0)[:8]
    if kind == "fixed":
        columns = np.multiply.outer(_rounded(a, d), np.arange(width))
        rows = np.multiply.outer(_rounded(b, e), np.arange(height))
        constants = _rounded(c + a * 0.5 + b * 0.5, f + d * 0.5 + e * 0.5)
    else:
        columns = np.multiply.outer((a, d, g), np.arange(0.5, width))
        rows = np.multiply.outer((b, e, h), np.arange(0.5, height))
        constants = np.array((c, f), np.float64)
    pixels = _packed(values, kernels[0])
    out = np.empty(values.shape, np.uint8)
    arrays = (out, pixels, columns, rows, constants)
    fills = (*fill, 0, 0, 0)[:4]
    params = _Params(*map(address, arrays), width, height, 0, *fills)
    kernels[1].run_alone(height, addressof(params))
    return out


def _packed(values: Array, kernel: CompiledKernel) -> Array:
    """Return an image as uint32 pixels, (height + 2, width + 2), its border repeated."""
    values = np.ascontiguousarray(values)
    height, width, _ = values.shape
    pixels = np.empty((height + 2, width + 2), np.uint32)
    params = _PackParams(address(values), address(pixels), width)
    kernel.run_alone(height, addressof(params))
    pixels[0], pixels[-1] = pixels[1], pixels[-2]
    return pixels


def _rounded(*numbers: float) -> Array:
    """Return numbers in units of 2**-16."""
    return np.floor(np.array(numbers) * 65536.0 + 0.5).astype(np.int64)


def _is_fixed(coefficients: tuple[float, ...], height: int, width: int) -> bool:
    """Whether Pillow computes the nearest pixels of an affine map with 16 binary places."""
    a, b, c, d, e, f = coefficients
    if b == 0 and d == 0:  # scaling
        return False
    corners = [(x, y) for x in (0, width) for y in (0, height)]
    return all(
        abs(a * x + b * y + c) < _MAX_POSITION and abs(d * x + e * y + f) < _MAX_POSITION
        for x, y in corners
    )
