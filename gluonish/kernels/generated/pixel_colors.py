"""Changes of an image's colours, however many, in one pass over its pixels.

Brightness, contrast, saturation and light are affine maps of a pixel's three channels, and any
number of them in a row is one map. A turn of hues is none, so that a list of changes becomes: a
map, a turn, another map. Contrast needs a mean first, which costs a pass of reading before.

Any thread may call it, for it takes no team of threads, and releases the GIL: that is how loaders
transform images. Everything is computed in float32, where the reference kernels take float64 for
whole numbers. Before a byte is cut toward zero it gets `_SLACK`, so that what is a whole number but
for rounding stays it: a gray pixel's saturation is no change.
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
_Words = c_int64 * 5
_SLACK = 2.0**-13  # several times the rounding of sums of 255
_ANY_SIZE = 1 << 62

# Words: what is filled, the image, numbers; columns, elements from a row to the next.
_SOURCE = """
def body(begin, end, words):
    y, x, n = {out}(words[0]), {view}(words[1]), f32(words[2])
    width, down = words[3], words[4]
{numbers}
    for row in range(begin, end):
        source, at = row * down, row * width * 3
{prologue}
        for i in range(width):
            independent()
            place = source + i * ({across})
            r, g, b = float32(x[place]), float32(x[place + 1]), float32(x[place + 2])
{pixel}
{epilogue}
"""

# Numbers: an offset for each element of a row, and a factor of all.
_ROWS = """
def body(begin, end, words):
    y, x, n = {view}(words[0]), {view}(words[1]), f32(words[2])
    size, down = words[3] * 3, words[4]
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

# Where on the circle of hues a pixel is, from -1 to 5, and from there three trapezoids over the
# circle: how far each channel is from the lowest, of the chroma. Offsets, which hold the turn, are
# from 0 to 6, so that one more trapezoid is all that goes around.
_TURN = """\
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
def trapezoid(place):
    away = minimum(fabs(place - float32(3)), fabs(place - float32(9))) - float32(1)
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


def _source(kind: str, dtype: np.dtype[Any], across: int, turns: bool) -> str:
    """Return the source of a pass.

    Args:
        kind: "pixels" stores pixels; "rows" does so where no channel depends on another; "sums"
            stores the sums of each row's channels, of float64, without the last map.
        dtype: Of the image, and of what is filled.
        across: Elements from a column to the next.
        turns: Whether a map and a turn of hues come before the last map.
    """
    if kind == "rows":
        made = _ROWS.format(view=_VIEWS[dtype], value=_STORED[dtype].format("v"))
        return made if dtype == FLOAT32 else _BYTE + made
    names = [f"n{i}" for i in range(27 if turns else 12)]
    last, pixel, sums = names[-12:], [], kind == "sums"
    if turns:
        pixel += [_MAP.format(*names[:12]), _TURN]
        names[12:15] = ("t0", "t1", "t2")
    if sums:
        pixel += ["reds, greens, blues = reds + r, greens + g, blues + b"]
    else:
        pixel += [_MAP.format(*last)]
        pixel += [f"y[at + 3 * i + {c}] = {_STORED[dtype].format(v)}" for c, v in enumerate("rgb")]
    zero = "reds, greens, blues = float32(0), float32(0), float32(0)"
    keep = "y[3 * row], y[3 * row + 1], y[3 * row + 2] = reds, greens, blues"
    functions = (_TRAPEZOID if turns else "") + ("" if sums or dtype == FLOAT32 else _BYTE)
    return functions + _SOURCE.format(
        out="f64" if sums else _VIEWS[dtype],
        view=_VIEWS[dtype],
        numbers=_indented([f"{name} = n[{i}]" for i, name in enumerate(names)], 4),
        across=across,
        prologue=_indented([zero] if sums else [], 8),
        pixel=_indented(pixel, 12),
        epilogue=_indented([keep] if sums else [], 8),
    )


@lru_cache(64)  # strides of columns are few; more are somebody's experiments
def _compiled(kind: str, dtype: np.dtype[Any], across: int, turns: bool) -> CompiledKernel:
    return compile_kernel(_source(kind, dtype, across, turns))


class _Map:
    """An affine map of pixels: a row of weights of red, green and blue and an offset each.

    Attributes:
        rows: Three of four numbers.
        mixes: Whether a channel depends on another.
    """

    __slots__ = ("mixes", "rows")

    def __init__(self) -> None:
        self.rows = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
        self.mixes = False

    def scale(self, factor: float) -> None:
        """Multiply what it gives."""
        self.rows = [[factor * value for value in row] for row in self.rows]

    def shift(self, offsets: Sequence[float]) -> None:
        """Add to each channel that it gives."""
        for row, offset in zip(self.rows, offsets, strict=True):
            row[3] += offset

    def mix(self, factor: float) -> None:
        """Keep a factor of each pixel's distance from its gray."""
        rest = [(1 - factor) * value for value in self._gray()]
        self.rows = [[factor * v + r for v, r in zip(row, rest, strict=True)] for row in self.rows]
        self.mixes = True

    def gray_of(self, pixel: Sequence[float]) -> float:
        """Return the gray of what it makes of a pixel."""
        total: float = sum(map(mul, self._gray(), (*pixel, 1.0)))
        return total

    def _gray(self) -> list[float]:
        return [sum(map(mul, GRAY, column)) for column in zip(*self.rows, strict=True)]


class _Passes:
    """The changes of one image, collected until they are applied."""

    def __init__(self, image: Array) -> None:
        self._image = image
        self._before = _Map()
        self._turn: float | None = None
        self._map = _Map()

    def add(self, word: str, amount: Any) -> None:
        """Add a change."""
        if word == "hue":
            assert self._turn is None  # operators turn hues once
            self._turn = amount
            self._before, self._map = self._map, _Map()
        elif word == "saturation":
            self._map.mix(amount)
        elif word == "lighting":
            self._map.shift(amount)
        elif word == "brightness":
            self._map.scale(amount)
        else:
            assert word == "contrast", word
            gray = self._map.gray_of(self._means())
            self._map.scale(amount)
            self._map.shift([gray * (1 - amount)] * 3)

    def _means(self) -> list[float]:
        """Return the means of the channels where the last map begins."""
        height, width, _ = self._image.shape
        sums = np.empty((height, 3))
        self._run("sums", sums, self._numbers())
        means: list[float] = (sums.sum(axis=0) / (height * width)).tolist()
        return means

    def fill(self, out: Array) -> None:
        """Store the changed image."""
        rows, itemsize = self._map.rows, self._image.itemsize
        if self._turn is None and not self._map.mixes and self._image.strides[1] == 3 * itemsize:
            width = self._image.shape[1]
            numbers = np.empty(3 * width + 1, np.float32)
            numbers[:-1].reshape(width, 3)[...] = [row[3] for row in rows]
            numbers[-1] = rows[0][0]
            self._run("rows", out, numbers)
        else:
            self._run("pixels", out, self._numbers())

    def _numbers(self) -> Array:
        numbers = [value for row in self._map.rows for value in row]
        if self._turn is not None:
            turns = [(6 * self._turn + offset) % 6 for offset in (0, 4, 2)]
            numbers = [value for row in self._before.rows for value in row] + turns + numbers
        return np.array(numbers, np.float32)

    def _run(self, kind: str, out: Array, numbers: Array) -> None:
        image = self._image
        height, width, _ = image.shape
        down, across = image.strides[0] // image.itemsize, image.strides[1] // image.itemsize
        kernel = _compiled(kind, image.dtype, across, self._turn is not None)
        words = _Words(address(out), address(image), address(numbers), width, down)
        kernel.run_alone(height, addressof(words))


def changed_colors(out: Array, image: Array, steps: Iterable[Step]) -> None:
    """Fill ``out`` with an image whose colours are changed.

    Args:
        out: (height, width, 3), uint8 or float32, not the image's memory.
        image: Shape and dtype of ``out``, with a pixel or more and any strides.
        steps: Changes in order, of which one at most turns hues.
    """
    down, across, deep = image.strides
    size = image.itemsize
    straight = deep == size and abs(across) == 3 * size and down % size == 0
    if not (straight and image.flags.aligned):
        image = np.ascontiguousarray(image)
    passes = _Passes(image)
    for word, amount in steps:
        passes.add(word, amount)
    made = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    passes.fill(made)
    if made is not out:
        out[...] = made


def _kernel(
    drawn: Callable[..., list[Step]], xp: ModuleType, out: Any, data: Any, **attrs: Any
) -> None:
    changed_colors(out, data, drawn(xp, **attrs))


def _takes(data: Spec, **_: Any) -> bool:
    return data.dtype in _VIEWS and data.shape[-1] == 3 and data.size > 0


def _fast(drawn: Callable[..., list[Step]]) -> FastKernel:
    run = partial(_kernel, drawn)
    return FastKernel(
        BackEnd.GENERATED, "pixel_colors", _takes, run=run, enabled=available, alone=_ANY_SIZE
    )


KERNELS = tuple((find_operator(name), _fast(drawn)) for name, drawn in COLOR_STEPS.items())
