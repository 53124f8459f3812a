"""Windows of images as columns of a matrix, and sums of such columns: around products of BLAS.

A column is a position of the output; a row is a channel and a position in its window.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from gluonish.core.spec import Shape
from gluonish.kernels.compiler import CompiledKernel, compile_kernel
from gluonish.ops.kernel import Array, address

# Params: image, columns; channels, height, width, output height and width; window, stride, dilation
# and padding along both axes; distance in the columns from one sample and from one row to the next.
_HEAD = """
def body(begin, end, params):
    image, columns = f32(params[0]), f32(params[1])
    height, width, high, wide = params[3], params[4], params[5], params[6]
    kernel_h, kernel_w, stride_h, stride_w = params[7], params[8], params[9], params[10]
    dilate_h, dilate_w, pad_h, pad_w = params[11], params[12], params[13], params[14]
    sample_step, row_step = params[15], params[16]
"""

# The columns ``first`` to ``last`` - 1 of an output row whose pixel exists; ``off`` is the distance
# of the pixel from the window's.
BOUNDS = """
                first = select(off < 0, (stride_w - 1 - off) // stride_w, int64(0))
                first = min(first, wide)
                room = width - 1 - off
                last = select(room >= 0, room // stride_w + 1, int64(0))
                last = max(min(last, wide), first)
"""

# Copies the pixels of an output row from row ``line`` of an image, and zeros for those that do not
# exist, to ``columns`` from ``at`` on.
COPY_ROW = """
                if line < 0 or line >= height:
                    first, last = wide, wide
                for x in range(first):
                    independent()
                    columns[at + x] = float32(0)
                source = (plane * height + line) * width + off
                if stride_w == 1:
                    for x in range(first, last):
                        independent()
                        columns[at + x] = image[source + x]
                else:
                    for x in range(first, last):
                        independent()
                        columns[at + x] = image[source + x * stride_w]
                for x in range(last, wide):
                    independent()
                    columns[at + x] = float32(0)
"""

_BOUNDS = (
    """
                off = j * dilate_w - pad_w
"""
    + BOUNDS
)

# A step is a row of windows of a channel of a sample.
_GATHER = (
    _HEAD
    + """
    for step in range(begin, end):
        plane, i = step // kernel_h, step % kernel_h
        sample, channel = plane // params[2], plane % params[2]
        for j in range(kernel_w):
            row = (channel * kernel_h + i) * kernel_w + j
            target = sample * sample_step + row * row_step
            for y in range(high):
"""
    + _BOUNDS
    + """
                at = target + y * wide
                line = y * stride_h + i * dilate_h - pad_h
"""
    + COPY_ROW
)

# A step is a channel of a sample.
_SUM = (
    _HEAD
    + """
    for plane in range(begin, end):
        sample, channel = plane // params[2], plane % params[2]
        for p in range(plane * height * width, (plane + 1) * height * width):
            independent()
            image[p] = float32(0)
        for k in range(kernel_h * kernel_w):
            i, j = k // kernel_w, k % kernel_w
            source = sample * sample_step + (channel * kernel_h * kernel_w + k) * row_step
            for y in range(high):
"""
    + _BOUNDS
    + """
                line = y * stride_h + i * dilate_h - pad_h
                if line >= 0 and line < height:
                    at, target = source + y * wide, (plane * height + line) * width + off
                    if stride_w == 1:
                        for x in range(first, last):
                            independent()
                            image[target + x] += columns[at + x]
                    else:
                        for x in range(first, last):
                            independent()
                            image[target + x * stride_w] += columns[at + x]
"""
)


class Windows(NamedTuple):
    """Windows of planes: each field is that along height, and that along width."""

    size: tuple[int, int]  # of a plane
    counts: tuple[int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilate: tuple[int, int]
    pad: tuple[int, int]


@cache
def _kernel(source: str) -> CompiledKernel:
    return compile_kernel(source)


def gather_columns(image: Array, columns: Array, windows: Windows, *, joined: bool) -> None:
    """Write the windows of samples into columns.

    Args:
        image: Array (N, C, H, W), float32 and contiguous.
        columns: Array (N, rows, positions), contiguous; (rows, N * positions) if joined.
        windows: The windows.
        joined: Whether all samples are in one matrix.
    """
    params = _params(image, columns, windows, joined)
    steps = image.shape[0] * image.shape[1] * windows.kernel[0]
    _run(_GATHER, steps, params, columns.size // max(1, steps))


def sum_columns(columns: Array, image: Array, windows: Windows, *, joined: bool) -> None:
    """Set samples to the sums of columns: the transpose of `gather_columns`."""
    params = _params(image, columns, windows, joined)
    steps = image.shape[0] * image.shape[1]
    _run(_SUM, steps, params, columns.size // max(1, steps))


def _params(image: Array, columns: Array, windows: Windows, joined: bool) -> Array:
    samples, channels = image.shape[:2]
    places = windows.counts[0] * windows.counts[1]
    rows: Shape = (channels * windows.kernel[0] * windows.kernel[1],)
    steps = (places, samples * places) if joined else (rows[0] * places, places)
    along = (windows.kernel, windows.stride, windows.dilate, windows.pad)
    sizes = (*windows.size, *windows.counts, *(n for pair in along for n in pair))
    values = (address(image), address(columns), channels, *sizes, *steps)
    return np.array(values, np.int64)


_GRAIN = 1 << 14  # elements for each thread


def _run(source: str, steps: int, params: Array, elements: int) -> None:
    _kernel(source)(steps, params, max(1, _GRAIN // max(1, elements)))
