"""Shape checks and inference of convolutions."""

from gluonish.core.errors import OperatorError
from gluonish.core.spec import UNKNOWN, Shape, Spec
from gluonish.ops.registry import Attrs
from gluonish.ops.support.windows import (
    Geometry,
    channels_last,
    is_channels_last,
    normalize_geometry,
    window_count,
)

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


def check_rank(data: Shape, geometry: Geometry) -> None:
    """Refuse data whose axes are not batch, channels and the kernel's axes."""
    if len(data) != len(geometry.kernel) + 2:
        raise OperatorError(
            f"Convolution: expected data of {len(geometry.kernel) + 2} axes for kernel "
            f"{geometry.kernel}, "
            f"got {data}"
        )


def check_data(data: Spec, geometry: Geometry, attrs: Attrs) -> None:
    """Refuse data of invalid rank, channels or extents."""
    check_rank(data.shape, geometry)
    groups = attrs["num_group"]
    channels = channels_first_shape(data.shape, attrs["layout"])[1]
    if channels % groups or attrs["num_filter"] % groups:
        raise OperatorError(
            f"Convolution: expected channels and num_filter that num_group={groups} divides, "
            f"got {channels} and {attrs['num_filter']}"
        )
