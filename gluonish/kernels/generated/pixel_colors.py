"""Color adjustments of an image, any number of them in one pass over its pixels.

Brightness, contrast, saturation and lighting are affine maps of a pixel's three channels, and any
sequence of them is one map. A hue rotation is not affine, so a list of adjustments becomes a map, a
hue rotation and another map. Contrast needs a mean first, which takes one more pass.

The kernels run in the calling thread, without a team, and release the GIL, as data loaders need.
They compute in float32, while the reference kernels use float64 for integers. Before truncation to
a byte, `_SLACK` is added, so that integers survive rounding errors: saturation must not change a
gray pixel.
"""

from collections.abc import Callable, Iterable, Sequence
from ctypes import addressof, c_int64
from functools import lru_cache, partial
from operator import mul
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, UINT8
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.ops.image.color import COLOR_STEPS, Step
from gluonish.ops.image.pixel_math import GRAY
from gluonish.ops.kernel import BackEnd, FastKernel, address
from gluonish.ops.registry import find_operator

Array = np.ndarray[Any, Any]

_VIEWS = {UINT8: "u8", FLOAT32: "f32"}
_Params = c_int64 * 5
_SLACK = 2.0**-13  # several times the rounding error of sums up to 255
_ANY_SIZE = 1 << 62

# Params: output, image, numbers; columns, elements from one row to the next.
_SOURCE = """
def body(begin, end, params):
    y, x, n = {out}(params[0]), {view}(params[1]), f32(params[2])
    width, down = params[3], params[4]
{numbers}
    for row in range(begin, end):
        source, at = row * down, row * width * 3
{prologue}
        for i in range(width):
            independent()
            at_pixel = source + i * ({across})
            r, g, b = float32(x[at_pixel]), float32(x[at_pixel + 1]), float32(x[at_pixel + 2])
{pixel}
{epilogue}
"""

# Numbers: an offset for each element of a row, and a single factor.
_ROWS = """
def body(begin, end, params):
    y, x, n = {view}(params[0]), {view}(params[1]), f32(params[2])
    size, down = params[3] * 3, params[4]
    factor = n[size]
    for row in range(begin, end):
        source, at = row * down, row * size
        for i in range(size):
            independent()
            v = float32(x[source + i]) * factor + n[i]
            y[at + i] = {value}
"""

# A map: three rows of weights of red, green and blue, and an offset.
_MAP = """\
p = r * {0} + g * {1} + b * {2} + {3}
q = r * {4} + g * {5} + b * {6} + {7}
s = r * {8} + g * {9} + b * {10} + {11}
r, g, b = p, q, s"""

# The hue of a pixel, from -1 to 5, and three trapezoid functions of it: each channel's share of the
# chroma above the lowest channel. Offsets include the rotation and are from 0 to 6, so that one
# further trapezoid covers the wrap-around.
_ROTATE_HUE = """\
high, low = maximum(maximum(r, g), b), minimum(minimum(r, g), b)
chroma = high - low
share = float32(1) / select(chroma > float32(0), chroma, float32(1))
third = float32(4) + (r - g) * share
second = float32(2) + (b - r) * share
hue = select(high == r, (g - b) * share, select(high == g, second, third))
r = low + chroma * trapezoid(hue + t0)
g = low + chroma * trapezoid(hue + t1)
b = low + chroma * trapezoid(hue + t2)"""

_TRAPEZOID = """
def trapezoid(at_pixel):
    away = minimum(fabs(at_pixel - float32(3)), fabs(at_pixel - float32(9))) - float32(1)
    return minimum(maximum(away, float32(0)), float32(1))
"""

_STORED = {FLOAT32: "{}", UINT8: "byte({})"}
_BYTE = f"""
def byte(v):
    v = v + float32({_SLACK})
    v = select(v > float32(0), v, float32(0))
    return uint8(int32(select(v < float32(255), v, float32(255))))
"""


def _indented(lines: Iterable[str], depth: int) -> str:
    return "\n".join(" " * depth + line for text in lines for line in text.splitlines())


def _source(kind: str, dtype: np.dtype[Any], across: int, rotates_hue: bool) -> str:
    """Return the source of a pass.

    Args:
        kind: "pixels" stores pixels; "rows" stores pixels whose channels are independent; "sums"
            stores the float64 sums of each row's channels, without the last map.
        dtype: Dtype of the image and of the output.
        across: Elements from one column to the next.
        rotates_hue: Whether a map and a hue rotation come before the last map.
    """
    if kind == "rows":
        made = _ROWS.format(view=_VIEWS[dtype], value=_STORED[dtype].format("v"))
        return made if dtype == FLOAT32 else _BYTE + made
    names = [f"n{i}" for i in range(27 if rotates_hue else 12)]
    last, pixel, sums = names[-12:], [], kind == "sums"
    if rotates_hue:
        pixel += [_MAP.format(*names[:12]), _ROTATE_HUE]
        names[12:15] = ("t0", "t1", "t2")
    if sums:
        pixel += ["reds, greens, blues = reds + r, greens + g, blues + b"]
    else:
        pixel += [_MAP.format(*last)]
        pixel += [f"y[at + 3 * i + {c}] = {_STORED[dtype].format(v)}" for c, v in enumerate("rgb")]
    zero = "reds, greens, blues = float32(0), float32(0), float32(0)"
    store = "y[3 * row], y[3 * row + 1], y[3 * row + 2] = reds, greens, blues"
    functions = (_TRAPEZOID if rotates_hue else "") + ("" if sums or dtype == FLOAT32 else _BYTE)
    return functions + _SOURCE.format(
        out="f64" if sums else _VIEWS[dtype],
        view=_VIEWS[dtype],
        numbers=_indented([f"{name} = n[{i}]" for i, name in enumerate(names)], 4),
        across=across,
        prologue=_indented([zero] if sums else [], 8),
        pixel=_indented(pixel, 12),
        epilogue=_indented([store] if sums else [], 8),
    )


@lru_cache(64)  # images have few different column strides
def _compiled(kind: str, dtype: np.dtype[Any], across: int, rotates_hue: bool) -> CompiledKernel:
    return compile_kernel(_source(kind, dtype, across, rotates_hue))


class _Map:
    """An affine map of a pixel's three channels.

    Attributes:
        rows: For each output channel, the weights of red, green and blue, and an offset.
        mixes: Whether an output channel depends on several input channels.
    """

    __slots__ = ("mixes", "rows")

    def __init__(self) -> None:
        self.rows = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
        self.mixes = False

    def scale(self, factor: float) -> None:
        """Multiply the result by a factor."""
        self.rows = [[factor * value for value in row] for row in self.rows]

    def shift(self, offsets: Sequence[float]) -> None:
        """Add an offset to each channel of the result."""
        for row, offset in zip(self.rows, offsets, strict=True):
            row[3] += offset

    def mix(self, factor: float) -> None:
        """Scale the difference of the result from its gray, as a change of saturation does."""
        rest = [(1 - factor) * value for value in self._gray()]
        self.rows = [[factor * v + r for v, r in zip(row, rest, strict=True)] for row in self.rows]
        self.mixes = True

    def gray_of(self, pixel: Sequence[float]) -> float:
        """Return the gray of a pixel after the map."""
        total: float = sum(map(mul, self._gray(), (*pixel, 1.0)))
        return total

    def _gray(self) -> list[float]:
        return [sum(map(mul, GRAY, column)) for column in zip(*self.rows, strict=True)]


class _Passes:
    """Collects the adjustments of one image, and applies them in as few passes as possible."""

    def __init__(self, image: Array) -> None:
        self._image = image
        self._before = _Map()
        self._rotation: float | None = None
        self._map = _Map()

    def add(self, kind: str, amount: Any) -> None:
        """Add an adjustment; for contrast, this computes the mean of the image first."""
        if kind == "hue":
            assert self._rotation is None  # operators rotate the hue once
            self._rotation = amount
            self._before, self._map = self._map, _Map()
        elif kind == "saturation":
            self._map.mix(amount)
        elif kind == "lighting":
            self._map.shift(amount)
        elif kind == "brightness":
            self._map.scale(amount)
        else:
            assert kind == "contrast", kind
            gray = self._map.gray_of(self._means())
            self._map.scale(amount)
            self._map.shift([gray * (1 - amount)] * 3)

    def _means(self) -> list[float]:
        """Return the means of the channels before the last map."""
        height, width, _ = self._image.shape
        sums = np.empty((height, 3))
        self._run("sums", sums, self._numbers())
        means: list[float] = (sums.sum(axis=0) / (height * width)).tolist()
        return means

    def fill(self, out: Array) -> None:
        """Fill ``out`` with the adjusted image."""
        rows, itemsize = self._map.rows, self._image.itemsize
        if (
            self._rotation is None
            and not self._map.mixes
            and self._image.strides[1] == 3 * itemsize
        ):
            width = self._image.shape[1]
            numbers = np.empty(3 * width + 1, np.float32)
            numbers[:-1].reshape(width, 3)[...] = [row[3] for row in rows]
            numbers[-1] = rows[0][0]
            self._run("rows", out, numbers)
        else:
            self._run("pixels", out, self._numbers())

    def _numbers(self) -> Array:
        numbers = [value for row in self._map.rows for value in row]
        if self._rotation is not None:
            rotates_hue = [(6 * self._rotation + offset) % 6 for offset in (0, 4, 2)]
            numbers = [value for row in self._before.rows for value in row] + rotates_hue + numbers
        return np.array(numbers, np.float32)

    def _run(self, kind: str, out: Array, numbers: Array) -> None:
        image = self._image
        height, width, _ = image.shape
        down, across = image.strides[0] // image.itemsize, image.strides[1] // image.itemsize
        kernel = _compiled(kind, image.dtype, across, self._rotation is not None)
        params = _Params(address(out), address(image), address(numbers), width, down)
        kernel.run_alone(height, addressof(params))


def changed_colors(out: Array, image: Array, steps: Iterable[Step]) -> None:
    """Fill ``out`` with a color-adjusted image.

    Args:
        out: The result (height, width, 3), uint8 or float32; must not overlap the image.
        image: An image of the shape and dtype of ``out``, not empty, with any strides.
        steps: Adjustments in order, with at most one hue rotation.
    """
    down, across, deep = image.strides
    size = image.itemsize
    straight = deep == size and abs(across) == 3 * size and down % size == 0
    if not (straight and image.flags.aligned):
        image = np.ascontiguousarray(image)
    passes = _Passes(image)
    for kind, amount in steps:
        passes.add(kind, amount)
    made = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    passes.fill(made)
    if made is not out:
        out[...] = made


def _kernel(
    draw_steps: Callable[..., list[Step]], xp: ModuleType, out: Any, data: Any, **attrs: Any
) -> None:
    changed_colors(out, data, draw_steps(xp, **attrs))


def _supports(data: Spec, **_: Any) -> bool:
    return data.dtype in _VIEWS and data.shape[-1] == 3 and data.size > 0


def _fast(draw_steps: Callable[..., list[Step]]) -> FastKernel:
    run = partial(_kernel, draw_steps)
    return FastKernel(
        BackEnd.GENERATED,
        "pixel_colors",
        _supports,
        run=run,
        enabled=available,
        serial_limit=_ANY_SIZE,
    )


KERNELS = tuple(
    (find_operator(name), _fast(draw_steps)) for name, draw_steps in COLOR_STEPS.items()
)
