"""Convert an image (height, width, channels) to float32 (channels, height, width) in one pass.

A list of steps is applied to each element; a step has one number for all channels, or one for each.
For example, dividing by 255, subtracting a mean and dividing by a deviation are three steps. Images
may be views: a region, reversed rows or columns, BGR.

For bytes, all steps become ``byte * a + b`` with one rounding; ``a`` and ``b`` are computed in
float64. This is more exact than the operators one by one, and differs from them in the last bits.
A single step rounds as in NumPy, and so do all steps on floats. A source is generated for the
dtype, channels, strides and kinds of steps, and compiled once; numbers are read from memory.
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
_MAX_CHANNELS = 4
_MAX_PLANS = 64  # images have few different strides of columns and channels

_FLOAT32 = np.dtype(np.float32)
_Params = ctypes.c_int64 * 6

# `numbers` are grouped by channel.
_SOURCE = """
def body(begin, end, params):
    y, x, numbers = f32(params[0]), {view}(params[1]), f32(params[2])
    width, plane, down = params[3], params[4], params[5]
{constants}
    for row in range(begin, end):
        source, at = row * down, row * width
        for i in range(width):
            independent()
{channels}
"""

# Dtype and channels of the image, bytes from one column to the next, and between channels.
_Layout = tuple[np.dtype[Any], int, int, int]


class PixelPlanes:
    """Converts images to planes of channels, applying a list of steps.

        ``PixelPlanes([("divide", [255]), ("subtract", mean), ("divide", std)])`` is `to_tensor` and
        `normalize`. It is thread-safe, runs in the calling thread only, and releases the GIL.

    Args:
        steps: Pairs of ``"add"``, ``"subtract"``, ``"multiply"`` or ``"divide"``, and one number
            for all channels or one for each, in order.

    Raises:
        ArgumentError: A step has another name, or no numbers.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        for name, numbers in steps:
            if name not in _UFUNCS or not len(numbers):
                raise ArgumentError(
                    f"PixelPlanes: expected steps of {', '.join(_UFUNCS)} with one number or more, "
                    f"got {name!r} with {numbers}"
                )
        self._steps = tuple((name, np.asarray(numbers, np.float32)) for name, numbers in steps)
        self._plans: dict[_Layout, _Plan | None] = {}

    def __reduce__(self) -> Any:
        """Pickle the steps only: compiled kernels belong to a process."""
        return type(self), ([(name, numbers.tolist()) for name, numbers in self._steps],)

    def fits(self, channels: int) -> bool:
        """Whether every step has one number, or one for each of ``channels``."""
        return all(len(numbers) in (1, channels) for _, numbers in self._steps)

    def __call__(self, out: Array, image: Array) -> None:
        """Fill ``out``, (channels, height, width) of float32, from an image.

        Args:
            out: The output, which must not overlap the image; fastest if C-contiguous.
            image: (height, width, channels) with any strides; fastest for bytes and float32.

        Raises:
            ArgumentError: The shapes do not match each other, or the steps.
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
        """Fill ``out`` by NumPy, as a fallback and as a reference for tests."""
        out[...] = np.moveaxis(image, -1, 0)
        for name, numbers in self._steps:
            _UFUNCS[name](out, numbers.reshape(-1, 1, 1), out=out)

    def _new_plan(self, layout: _Layout) -> "_Plan | None":
        """Make and cache the plan for images of a layout; None to use NumPy."""
        dtype, channels, across, deep = layout
        if not self.fits(channels):
            counts = [len(numbers) for _, numbers in self._steps]
            raise ArgumentError(
                f"PixelPlanes: expected as many channels as steps have numbers, {counts}, got an "
                f"image of {channels}"
            )
        plan = None
        straight = not (across % dtype.itemsize or deep % dtype.itemsize)
        if dtype in _VIEWS and channels <= _MAX_CHANNELS and straight and available():
            plan = self._compiled(layout)
        if len(self._plans) >= _MAX_PLANS:
            self._plans.clear()
        self._plans[layout] = plan
        return plan

    def _compiled(self, layout: _Layout) -> "_Plan | None":
        dtype, channels, _, _ = layout
        joined = self._joined(channels) if dtype == np.uint8 and len(self._steps) > 1 else None
        signs = [_SIGNS[name] for name, _ in self._steps]
        one_by_one = [f"v = v {sign} n{s}_{{c}}" for s, sign in enumerate(signs)]
        try:
            # Without contraction, so that products are rounded before sums.
            kernel = compile_kernel(
                _source(layout, one_by_one if joined is None else _JOINED), fastmath=()
            )
        except KernelError:
            return None
        return _Plan(kernel, self._numbers(channels) if joined is None else joined)

    def _joined(self, channels: int) -> Array | None:
        """Return the factor and term of each channel that combine all steps; None if not finite."""
        factor, term = np.ones(channels), np.zeros(channels)
        with np.errstate(all="ignore"):
            for name, numbers in self._steps:
                if name in ("multiply", "divide"):
                    factor = _UFUNCS[name](factor, numbers, dtype=np.float64)
                term = _UFUNCS[name](term, numbers, dtype=np.float64)
            table = np.stack([factor, term], axis=1).astype(np.float32)
        return table if np.isfinite(table).all() else None

    def _numbers(self, channels: int) -> Array:
        """Return the numbers of all steps as an array (channels, steps)."""
        table = np.empty((channels, len(self._steps)), np.float32)
        for s, (_, numbers) in enumerate(self._steps):
            table[:, s] = numbers
        return table


_JOINED = ["v = fma(v, n0_{c}, n1_{c})"]


def _source(layout: _Layout, lines: Sequence[str]) -> str:
    """Return the source of a kernel that applies ``lines`` to each value ``v`` of channel c."""
    dtype, channels, across, deep = layout
    count = 2 if lines is _JOINED else len(lines)
    constants, body = [], []
    for c in range(channels):
        offset = f"i * ({across // dtype.itemsize}) + ({c * deep // dtype.itemsize})"
        body.append(f"v = float32(x[source + {offset}])")
        constants += [f"    n{i}_{c} = numbers[{c * count + i}]" for i in range(count)]
        body += [line.format(c=c) for line in lines]
        body.append(f"y[{c} * plane + at + i] = v")
    return _SOURCE.format(
        view=_VIEWS[dtype],
        constants="\n".join(constants),
        channels="\n".join(" " * 12 + line for line in body),
    )


class _Plan:
    """A kernel for images of one layout, and the numbers that it reads."""

    __slots__ = ("_kernel", "_numbers", "_table")

    def __init__(self, kernel: CompiledKernel, table: Array) -> None:
        self._kernel = kernel
        self._table = table  # keeps the numbers alive
        self._numbers = address(table)

    def run(self, out: Array, image: Array) -> None:
        """Fill ``out`` from an image of the plan's layout."""
        height, width, _ = image.shape
        down = image.strides[0] // image.itemsize
        params = _Params(address(out), address(image), self._numbers, width, height * width, down)
        self._kernel.run_alone(height, ctypes.addressof(params))
