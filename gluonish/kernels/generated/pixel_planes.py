"""From an image (height, width, channels) to float32 planes (channels, height, width), in one pass.

What is done to each number is a list of steps, each with one number for all channels or one for
each: to divide by 255, take a mean off and divide by a deviation are three. Images may be views: a
region, rows or columns in reverse, blue before red.

Bytes go through all steps at once: ``byte * a + b``, with ``a`` and ``b`` of float64 and one
rounding of the result. It is nearer to the exact value than what the operators give one by one, and
differs from that in the last bits. One step alone rounds as NumPy's, as all do on floats. A source
is generated for what the loop is made of (dtype, channels, strides, steps), and compiled once;
numbers come from memory.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.kernels.compiler import CompiledKernel, KernelError, available, compile_kernel
from gluonish.ops.kernel import address

Array = np.ndarray[Any, Any]
Step = tuple[str, Sequence[float]]

_VIEWS = {np.dtype(np.uint8): "u8", np.dtype(np.float32): "f32"}
_UFUNCS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
}
_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_MOST_CHANNELS = 4
_MOST_PLANS = 64  # strides of columns and channels are few; more are somebody's experiments

_FLOAT32 = np.dtype(np.float32)
_Words = ctypes.c_int64 * 6

# `numbers` has those of each channel, one behind the other.
_SOURCE = """
def body(begin, end, words):
    y, x, numbers = f32(words[0]), {view}(words[1]), f32(words[2])
    width, plane, down = words[3], words[4], words[5]
{constants}
    for row in range(begin, end):
        source, at = row * down, row * width
        for i in range(width):
            independent()
{channels}
"""

# What a kernel is made for: dtype and channels of the image, bytes from a column to the next, and
# from a channel.
_Layout = tuple[np.dtype[Any], int, int, int]


class PixelPlanes:
    """Makes planes of images by a list of steps.

    ``PixelPlanes([("divide", [255]), ("subtract", mean), ("divide", std)])`` is `to_tensor` and
    `normalize`. It may be called from several threads at once, runs in the caller's thread only,
    and releases the GIL.

    Args:
        steps: Pairs of ``"add"``, ``"subtract"``, ``"multiply"`` or ``"divide"``, and one number
            for all channels or one for each, in order.

    Raises:
        ArgumentError: A step is another, or has no number.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        for what, numbers in steps:
            if what not in _UFUNCS or not len(numbers):
                raise ArgumentError(
                    f"PixelPlanes: expected steps of {', '.join(_UFUNCS)} with one number or more, "
                    f"got {what!r} with {numbers}"
                )
        self._steps = tuple((what, np.asarray(numbers, np.float32)) for what, numbers in steps)
        self._plans: dict[_Layout, _Plan | None] = {}

    def __reduce__(self) -> Any:
        """Send the steps alone: a kernel's code belongs to a process."""
        return type(self), ([(what, numbers.tolist()) for what, numbers in self._steps],)

    def fits(self, channels: int) -> bool:
        """Whether images of so many channels can be given: every step has a number for each."""
        return all(len(numbers) in (1, channels) for _, numbers in self._steps)

    def __call__(self, out: Array, image: Array) -> None:
        """Fill ``out``, (channels, height, width) of float32, from an image.

        Args:
            out: Memory of its own, not the image's; C-contiguous ones are filled fastest.
            image: (height, width, channels) with any strides; bytes and float32 are fastest.

        Raises:
            ArgumentError: Shapes do not fit one another or the steps.
        """
        height, width, channels = image.shape
        if out.shape != (channels, height, width):
            raise ArgumentError(
                f"PixelPlanes: expected out {(channels, height, width)} for an image "
                f"{image.shape}, got {out.shape}"
            )
        down, across, deep = image.strides
        layout = (image.dtype, channels, across, deep)
        plan = self._plans[layout] if layout in self._plans else self._new_plan(layout)
        fast = out.dtype == _FLOAT32 and out.flags.c_contiguous and image.flags.aligned
        if plan is None or not fast or down % image.itemsize:
            self.by_numpy(out, image)
        else:
            plan.run(out, image)

    def by_numpy(self, out: Array, image: Array) -> None:
        """Do the same without a generated kernel: what it is held against."""
        out[...] = np.moveaxis(image, -1, 0)
        for what, numbers in self._steps:
            _UFUNCS[what](out, numbers.reshape(-1, 1, 1), out=out)

    def _new_plan(self, layout: _Layout) -> "_Plan | None":
        """Return how to fill planes from images of a layout; None where only NumPy can."""
        dtype, channels, across, deep = layout
        if not self.fits(channels):
            counts = [len(numbers) for _, numbers in self._steps]
            raise ArgumentError(
                f"PixelPlanes: expected as many channels as steps have numbers, {counts}, got an "
                f"image of {channels}"
            )
        plan = None
        straight = not (across % dtype.itemsize or deep % dtype.itemsize)
        if dtype in _VIEWS and channels <= _MOST_CHANNELS and straight and available():
            plan = self._compiled(layout)
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        self._plans[layout] = plan
        return plan

    def _compiled(self, layout: _Layout) -> "_Plan | None":
        dtype, channels, _, _ = layout
        joined = self._joined(channels) if dtype == np.uint8 and len(self._steps) > 1 else None
        signs = [_SIGNS[what] for what, _ in self._steps]
        one_by_one = [f"v = v {sign} n{s}_{{c}}" for s, sign in enumerate(signs)]
        try:
            # Without contraction: a product is rounded before it is added to.
            kernel = compile_kernel(
                _source(layout, one_by_one if joined is None else _JOINED), fastmath=()
            )
        except KernelError:
            return None
        return _Plan(kernel, self._numbers(channels) if joined is None else joined)

    def _joined(self, channels: int) -> Array | None:
        """Return of each channel the factor and the term that all steps together are, if finite."""
        factor, term = np.ones(channels), np.zeros(channels)
        with np.errstate(all="ignore"):
            for what, numbers in self._steps:
                if what in ("multiply", "divide"):
                    factor = _UFUNCS[what](factor, numbers, dtype=np.float64)
                term = _UFUNCS[what](term, numbers, dtype=np.float64)
            table = np.stack([factor, term], axis=1).astype(np.float32)
        return table if np.isfinite(table).all() else None

    def _numbers(self, channels: int) -> Array:
        """Return the number of each channel and step."""
        table = np.empty((channels, len(self._steps)), np.float32)
        for s, (_, numbers) in enumerate(self._steps):
            table[:, s] = numbers
        return table


_JOINED = ["v = fma(v, n0_{c}, n1_{c})"]


def _source(layout: _Layout, lines: Sequence[str]) -> str:
    """Return the source of a kernel that does to each number ``v`` of channel c what lines say."""
    dtype, channels, across, deep = layout
    count = 2 if lines is _JOINED else len(lines)
    constants, body = [], []
    for c in range(channels):
        place = f"i * ({across // dtype.itemsize}) + ({c * deep // dtype.itemsize})"
        body.append(f"v = float32(x[source + {place}])")
        constants += [f"    n{i}_{c} = numbers[{c * count + i}]" for i in range(count)]
        body += [line.format(c=c) for line in lines]
        body.append(f"y[{c} * plane + at + i] = v")
    return _SOURCE.format(
        view=_VIEWS[dtype],
        constants="\n".join(constants),
        channels="\n".join(" " * 12 + line for line in body),
    )


class _Plan:
    """A kernel and its numbers."""

    __slots__ = ("_kernel", "_numbers", "_table")

    def __init__(self, kernel: CompiledKernel, table: Array) -> None:
        self._kernel = kernel
        self._table = table  # keeps the numbers alive
        self._numbers = address(table)

    def run(self, out: Array, image: Array) -> None:
        """Fill ``out`` from an image of the plan's layout."""
        height, width, _ = image.shape
        down = image.strides[0] // image.itemsize
        words = _Words(address(out), address(image), self._numbers, width, height * width, down)
        self._kernel.run_alone(height, ctypes.addressof(words))
