"""Sliding windows over the spatial axes of (N, C, ...) arrays, for convolution and pooling.

All functions are channels-first; `channels_first` and `channels_last` convert other layouts.

Also checks and infers the shapes of convolutions.
"""

import itertools
from collections.abc import Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.errors import OperatorError
from gluonish.core.spec import UNKNOWN, Shape, Spec
from gluonish.ops.registry import Attrs
from gluonish.ops.support.shape_rules import limited

# Elements gathered at a time: 16 MiB of float32 for any batch size.
_CHUNK_ELEMENTS = 1 << 22
_MOST = 2**31 - 1  # of any extent, step or padding


class Geometry(NamedTuple):
    """Kernel, stride, dilation and padding, with one entry per spatial axis."""

    kernel: Shape
    stride: Shape
    dilate: Shape
    pad: Shape


@lru_cache(maxsize=512)
def normalize_geometry(
    operator: str, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape
) -> Geometry:
    """Fill in defaults: strides of 1, no dilation, no padding.

    Raises:
        OperatorError: A tuple's length differs from ``kernel``'s, or an extent is out of range.
    """
    rank = len(kernel)
    filled = Geometry(kernel, stride or (1,) * rank, dilate or (1,) * rank, pad or (0,) * rank)
    for name, values in zip(Geometry._fields, filled, strict=True):
        low = 0 if name == "pad" else 1
        if len(values) != rank or any(value < low for value in values):
            raise OperatorError(
                f"{operator}: expected {name} to be {rank} ints of at least {low}, got {values}"
            )
        if any(value > _MOST for value in values):
            raise OperatorError(
                f"{operator}: expected {name} to be ints of at most {_MOST}, got {values}"
            )
    return filled


def is_channels_last(layout: str | None) -> bool:
    """Whether the channels are the last axis of this layout (``NHWC``); None: they are axis 1."""
    return layout is not None and layout.endswith("C")


def channels_first(xp: ModuleType, array: Any, layout: str | None) -> Any:
    """Return a view with the channel axis (a weight's input channels) at 1."""
    return xp.moveaxis(array, -1, 1) if is_channels_last(layout) else array


def channels_last(shape: Shape, layout: str | None) -> Shape:
    """Return a channels-first shape in another layout."""
    return (shape[0], *shape[2:], shape[1]) if is_channels_last(layout) else shape


def window_count(extent: int, kernel: int, stride: int, dilate: int, pad: int) -> int:
    """Return the number of windows along an axis padded at both ends; may be below 1."""
    return (extent + 2 * pad - dilate * (kernel - 1) - 1) // stride + 1


def sample_chunks(samples: int, elements: int) -> Iterator[slice]:
    """Yield slices of the batch axis that limit the memory of gathering ``elements`` per sample."""
    step = max(1, _CHUNK_ELEMENTS // max(1, elements))
    for start in range(0, samples, step):
        yield slice(start, min(start + step, samples))


def _padded_shape(spatial: Shape, counts: Shape, geometry: Geometry) -> Shape:
    """Return the padded extents, large enough for the last window."""
    return tuple(
        max(extent + pad, (count - 1) * stride + (kernel - 1) * dilate + 1)
        for extent, count, kernel, stride, dilate, pad in zip(
            spatial, counts, *geometry, strict=True
        )
    )


def check_windows(operator: str, data: Shape, counts: Shape, geometry: Geometry) -> None:
    """Check the size of the padded data.

    Args:
        data: Shape (N, C, *spatial).
        counts: Number of windows along each axis.
        geometry: The windows.

    Raises:
        OperatorError: The padded data exceeds the size limit of arrays.
    """
    padded = tuple(
        max(extent + 2 * pad, needed)
        for extent, pad, needed in zip(
            data[2:], geometry.pad, _padded_shape(data[2:], counts, geometry), strict=True
        )
    )
    limited(operator, (*data[:2], *padded), "padded data")


def _inner(spatial: Shape, pad: Shape) -> tuple[slice, ...]:
    """Return the index of the data in its padded array."""
    return tuple(slice(p, p + n) for n, p in zip(spatial, pad, strict=True))


def padded_for_windows(
    xp: ModuleType, data: Any, geometry: Geometry, counts: Shape, fill: float = 0
) -> Any:
    """Pad the data with ``fill`` as far as windows reach; return it as is if they do not."""
    spatial = data.shape[2:]
    needed = _padded_shape(spatial, counts, geometry)
    if needed == spatial:
        return data
    padded = xp.full((*data.shape[:2], *needed), fill, dtype=data.dtype)
    padded[(..., *_inner(spatial, geometry.pad))] = data
    return padded


def sliding_windows(xp: ModuleType, data: Any, geometry: Geometry, counts: Shape) -> Any:
    """Return the windows of (N, C, *spatial) as a view (N, C, *kernel, *counts).

    The data is copied once if a window reaches beyond it. ``counts`` holds the number of windows
    along each spatial axis.
    """
    data = padded_for_windows(xp, data, geometry, counts)
    steps = data.strides[2:]
    return xp.lib.stride_tricks.as_strided(
        data,
        (*data.shape[:2], *geometry.kernel, *counts),
        (
            *data.strides[:2],
            *(step * d for step, d in zip(steps, geometry.dilate, strict=True)),
            *(step * s for step, s in zip(steps, geometry.stride, strict=True)),
        ),
    )


class WindowSum:
    """Sum of (overlapping) windows: the transpose of `sliding_windows`.

    Args:
        shape: Shape (N, C, *spatial) of the data.
        counts: Number of windows along each spatial axis.
        dtype: Dtype of the accumulator.
    """

    __slots__ = ("_inner", "total")

    def __init__(
        self, xp: ModuleType, shape: Shape, geometry: Geometry, counts: Shape, dtype: Any
    ) -> None:
        self.total = xp.zeros(
            (*shape[:2], *_padded_shape(shape[2:], counts, geometry)), dtype=dtype
        )
        self._inner = _inner(shape[2:], geometry.pad)

    def result(self) -> Any:
        """Return the sums, without the padding."""
        return self.total[(..., *self._inner)]


def add_windows(xp: ModuleType, out: Any, columns: Any, geometry: Geometry) -> None:
    """Set ``out`` (N, C, *spatial) to the sum of windows (N, C, *kernel, *counts)."""
    counts = columns.shape[out.ndim :]
    sums = WindowSum(xp, out.shape, geometry, counts, columns.dtype)
    for position, place in window_elements(geometry, counts):
        sums.total[place] += columns[(slice(None), slice(None), *position)]
    out[...] = sums.result()


def window_elements(geometry: Geometry, counts: Shape) -> Iterator[tuple[Shape, tuple[Any, ...]]]:
    """Yield each index in a window, and the index of that element of all windows in padded data."""
    for position in itertools.product(*map(range, geometry.kernel)):
        slices = (
            slice(i * dilate, i * dilate + (count - 1) * stride + 1, stride)
            for i, count, stride, dilate in zip(
                position, counts, geometry.stride, geometry.dilate, strict=True
            )
        )
        yield position, (..., *slices)


LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def convolution_geometry(
    *,
    kernel: Shape,
    stride: Shape = (),
    dilate: Shape = (),
    pad: Shape = (),
    layout: str | None = None,
    **_: object,
) -> Geometry:
    """Return the window geometry of a convolution's attributes, with defaults filled in.

    Raises:
        OperatorError: The tuples' lengths differ, or the layout has a different rank.
    """
    if len(kernel) not in LAYOUTS:
        raise OperatorError(f"Convolution: expected a kernel of 1 to 3 axes, got {kernel}")
    if layout is not None and layout not in LAYOUTS[len(kernel)]:
        raise OperatorError(
            f"Convolution: expected layout {' or '.join(LAYOUTS[len(kernel)])} for kernel "
            f"{kernel}, got {layout}"
        )
    return normalize_geometry("Convolution", kernel, stride, dilate, pad)


def channels_first_shape(shape: Shape, layout: str | None) -> Shape:
    """Return a shape of some layout as (N, C, ...)."""
    return (shape[0], shape[-1], *shape[1:-1]) if is_channels_last(layout) else shape


def weight_shape(data: Shape, attrs: Attrs) -> Shape:
    """Return the weight's shape in its layout, for data whose channels may be unknown."""
    channels = channels_first_shape(data, attrs["layout"])[1]
    groups = attrs["num_group"]
    per_group = UNKNOWN if channels == UNKNOWN else channels // groups
    return channels_last((attrs["num_filter"], per_group, *attrs["kernel"]), attrs["layout"])


def out_shape(data: Shape, geometry: Geometry, attrs: Attrs) -> Shape:
    """Return the output's shape, unchecked; unknown extents stay unknown."""
    layout = attrs["layout"]
    first = channels_first_shape(data, layout)
    counts = tuple(
        UNKNOWN if extent == UNKNOWN else window_count(extent, *along)
        for extent, *along in zip(first[2:], *geometry, strict=True)
    )
    return channels_last((first[0], attrs["num_filter"], *counts), layout)


_NO_BATCH = "; x.expand_dims(axis=0) adds the axis of the batch"


def _missing_axes(rank: int, spatial: int) -> str:
    """Return advice for data of a rank that has a known cause."""
    if rank == spatial + 1:
        return _NO_BATCH
    if rank == 2:
        sizes = ", ".join(("depth", "height", "width")[-spatial:])
        return f"; reshape flat samples: x.reshape((0, channels, {sizes}))"
    return ""


def check_rank(data: Shape, geometry: Geometry) -> None:
    """Raise OperatorError unless the data's axes are batch, channels and the kernel's axes."""
    if len(data) != len(geometry.kernel) + 2:
        raise OperatorError(
            f"Convolution: expected data of {len(geometry.kernel) + 2} axes for kernel "
            f"{geometry.kernel}, got {data}" + _missing_axes(len(data), len(geometry.kernel))
        )


def check_data(data: Spec, geometry: Geometry, attrs: Attrs) -> None:
    """Raise OperatorError for data of invalid rank, channels or extents."""
    check_rank(data.shape, geometry)
    groups = attrs["num_group"]
    channels = channels_first_shape(data.shape, attrs["layout"])[1]
    if channels % groups or attrs["num_filter"] % groups:
        raise OperatorError(
            f"Convolution: expected channels and num_filter that num_group={groups} divides, "
            f"got {channels} and {attrs['num_filter']}"
        )
