"""Shifted planes: a copy of an image in which the pixels of neighbouring windows are neighbours.

An image is copied once, with its padding, so that its rows follow one another: then the pixels that
an element of the window meets, for neighbouring windows, are neighbours as well. With strides, the
pixels of each remainder of a division by them are a plane of their own. A *term* is a channel and
an element of the window; the distance of its first pixel from the start of a sample's planes is its
*offset*. `shifted_products` sums over terms or over positions.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gluonish.kernels.generated.window_columns import Windows
from gluonish.ops.kernel import Array

FLOAT = 4  # bytes
LINE = 16  # elements of a cache line


class Planes(NamedTuple):
    """How an image is copied: plane ``f`` has at (y, x) the pixel ``y * step + phase[f] - origin``.

    Attributes:
        size: Height and width of the image, as all of these pairs.
        extent: Those of a plane.
        step: Distance of neighbours in the image.
        origin: Distance of the image from the start of the plane.
        phases: The first pixel of each plane.
    """

    size: tuple[int, int]
    extent: tuple[int, int]
    step: tuple[int, int]
    origin: tuple[int, int]
    phases: tuple[tuple[int, int], ...]

    @property
    def elements(self) -> int:
        """Elements from one plane to the next: an odd number of cache lines, for few conflicts."""
        return (-(-self.extent[0] * self.extent[1] // LINE) | 1) * LINE


class Sums(NamedTuple):
    """The sums of an output.

    Attributes:
        planes: The planes of the image.
        counts: Rows and columns of the output.
        first: The output's first row and column in its array.
        step: Distance of neighbours in its array, along both axes.
        taps: The elements of the window, as indices.
        offsets: The offset of each term in bytes; those of a channel are neighbours.
    """

    planes: Planes
    counts: tuple[int, int]
    first: tuple[int, int]
    step: tuple[int, int]
    taps: Array
    offsets: Array

    @property
    def positions(self) -> int:
        """The number of positions from the first one to the last, with those between rows."""
        return (self.counts[0] - 1) * self.planes.extent[1] + self.counts[1]


@lru_cache(512)
def forward_sums(windows: Windows, channels: int) -> Sums:
    """Return the sums of a convolution of ``channels`` channels."""
    pixels = [
        [divmod(i * dilate, stride) for i in range(kernel)]
        for kernel, stride, dilate in zip(
            windows.kernel, windows.stride, windows.dilate, strict=True
        )
    ]
    elements = [(y, x) for y in pixels[0] for x in pixels[1]]
    phases = tuple(sorted({(y[1], x[1]) for y, x in elements}))
    extent = tuple(
        count + max(shift for shift, _ in along)
        for count, along in zip(windows.counts, pixels, strict=True)
    )
    planes = Planes(windows.size, (extent[0], extent[1]), windows.stride, windows.pad, phases)
    shifts = [
        phases.index((y[1], x[1])) * planes.elements + y[0] * extent[1] + x[0] for y, x in elements
    ]
    offsets = _offsets(planes, channels, shifts)
    return Sums(planes, windows.counts, (0, 0), (1, 1), np.arange(len(shifts)), offsets)


@lru_cache(512)
def data_sums(windows: Windows, filters: int) -> tuple[Sums, ...]:
    """Return the sums of the gradient of the data, one for each remainder of its positions.

    The image is the gradient of the output, of ``filters`` channels.
    """
    along = [_meetings(windows, axis) for axis in (0, 1)]
    shifts = [[shift for one in some for _, shift in one.elements] for some in along]
    low, high = ([pick(some, default=0) for some in shifts] for pick in (min, max))
    extent = [
        max(one.pixels for one in some) + top - bottom
        for some, top, bottom in zip(along, high, low, strict=True)
    ]
    planes = Planes(windows.counts, (extent[0], extent[1]), (1, 1), (-low[0], -low[1]), ((0, 0),))
    return tuple(
        _data_sum(windows, planes, filters, down, right) for down in along[0] for right in along[1]
    )


class _Meeting(NamedTuple):
    """Pixels of one remainder along an axis: how many, and which windows each of them is in.

    Attributes:
        first: The first pixel.
        pixels: Number of pixels.
        elements: Pairs of an element of the window, and the distance of the window's number from
            the pixel's.
    """

    first: int
    pixels: int
    elements: list[tuple[int, int]]


def _meetings(windows: Windows, axis: int) -> list[_Meeting]:
    stride, dilate, pad = (x[axis] for x in (windows.stride, windows.dilate, windows.pad))
    return [
        _Meeting(
            first,
            -(-(windows.size[axis] - first) // stride),
            [
                (i, (first + pad - i * dilate) // stride)
                for i in range(windows.kernel[axis])
                if (first + pad - i * dilate) % stride == 0
            ],
        )
        for first in range(min(stride, windows.size[axis]))
    ]


def _data_sum(
    windows: Windows, planes: Planes, filters: int, down: _Meeting, right: _Meeting
) -> Sums:
    pairs = [(y, x) for y in down.elements for x in right.elements]
    taps = [y[0] * windows.kernel[1] + x[0] for y, x in pairs]
    shifts = [
        (y[1] + planes.origin[0]) * planes.extent[1] + x[1] + planes.origin[1] for y, x in pairs
    ]
    return Sums(
        planes,
        (down.pixels, right.pixels),
        (down.first, right.first),
        windows.stride,
        np.array(taps, np.int64),
        _offsets(planes, filters, shifts),
    )


def _offsets(planes: Planes, channels: int, shifts: Sequence[int]) -> Array:
    step = len(planes.phases) * planes.elements
    offsets = np.arange(channels)[:, None] * step + np.array(shifts, np.int64)
    return np.ascontiguousarray(offsets.reshape(-1) * FLOAT)
