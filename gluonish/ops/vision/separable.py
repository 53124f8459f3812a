"""Separable linear maps of images: resizing and adaptive means.

Along an axis, every element of the result is a weighted sum of a few elements of the image. The
adjoint is a map of the same kind, with image and result exchanged.

_contrib_AdaptiveAvgPooling2D: means over a fixed number of windows.

_contrib_BilinearResize2D: resize images with bilinear interpolation.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import (
    Attribute,
    Schema,
    boolean,
    choice,
    integer,
    number,
    optional,
    shape,
)
from gluonish.core.spec import Shape, Spec
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.precision import widen
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.regions import check_floating, check_rank

Matrix = np.ndarray[Any, Any]


class Taps(NamedTuple):
    """The source elements of each element of a result along an axis.

    Attributes:
        indices: Source indices (taps, result extent).
        weight: Weights of the source elements, of the same shape.
    """

    indices: Matrix
    weight: Matrix

    def transposed(self, extent: int) -> "Taps":
        """Return the taps of the adjoint, for a result of ``extent`` elements."""
        (used,) = np.nonzero(self.weight.reshape(-1))
        sources = self.indices.reshape(-1)[used]
        used = used[np.argsort(sources, kind="stable")]
        sources = np.sort(sources, kind="stable")
        counts = np.bincount(sources, minlength=extent)
        rank = np.arange(len(sources)) - np.repeat(np.cumsum(counts) - counts, counts)
        depth = int(counts.max(initial=0))
        indices, weight = np.zeros((depth, extent), np.int64), np.zeros((depth, extent))
        indices[rank, sources] = used % max(1, self.indices.shape[1])
        weight[rank, sources] = self.weight.reshape(-1)[used]
        return Taps(indices, weight)


def _map_axis(xp: ModuleType, data: Any, taps: Taps, axis: int) -> Any:
    shape = list(data.shape)
    shape[axis] = taps.indices.shape[1]
    total = xp.zeros(shape, data.dtype)
    if not data.shape[axis]:
        return total
    across = (-1,) + (1,) * (data.ndim - 1 - axis)
    for indices, weight in zip(taps.indices, taps.weight, strict=True):
        factors = xp.asarray(weight.astype(data.dtype)).reshape(across)
        total += xp.take(data, xp.asarray(indices), axis=axis) * factors
    return total


def map_images(xp: ModuleType, out: Any, data: Any, rows: Taps, columns: Taps) -> None:
    """Map images (N, C, H, W) to ``out`` (N, C, H', W') with the taps of rows and columns."""
    wide = widen(data)
    if out.shape[2] <= data.shape[2]:  # the cheaper order: shrink first
        out[...] = _map_axis(xp, _map_axis(xp, wide, rows, 2), columns, 3)
    else:
        out[...] = _map_axis(xp, _map_axis(xp, wide, columns, 3), rows, 2)


def adjoint_operator(
    names: tuple[str, str],
    taps: Callable[..., Taps],
    doc: str,
    **attributes: Attribute,
) -> Callable[[V, Shape, Any], Any]:
    """Register a family of maps and its adjoint, and return a function that applies the adjoint.

    Args:
        names: Operator names of the family and of its adjoint.
        taps: ``taps(extent, out_extent, **attributes)`` returns the taps of one axis.
        **attributes: Additional attributes of ``taps``.

    Returns:
        ``adjoint(g, size, attributes)``: the gradient of images of a size, from the output's.
    """

    def both(size: Shape, out_size: Shape, attrs: Any) -> list[Taps]:
        return [taps(n, m, **attrs) for n, m in zip(size, out_size, strict=True)]

    def infer(data: Spec, *, size: Shape, **_: Any) -> tuple[Spec]:
        return (Spec((*data.shape[:2], *size), data.dtype),)

    def kernel(xp: ModuleType, out: Any, data: Any, *, size: Shape, **attrs: Any) -> None:
        rows, columns = both(size, data.shape[2:], attrs)
        map_images(xp, out, data, rows.transposed(size[0]), columns.transposed(size[1]))

    def gradient(g: V, data: V, *, size: Shape, **attrs: Any) -> tuple[Any]:
        return (lambda: apply(forward, (g,), {"size": data.shape[2:], **attrs}),)

    def forward_kernel(xp: ModuleType, out: Any, data: Any, *, size: Shape, **attrs: Any) -> None:
        map_images(xp, out, data, *both(data.shape[2:], size, attrs))

    def forward_gradient(g: V, data: V, *, size: Shape, **attrs: Any) -> tuple[Any]:
        return (lambda: apply(adjoint, (g,), {"size": data.shape[2:], **attrs}),)

    schema = Schema(size=shape(), **attributes)
    forward = register(
        Operator(names[0], infer, forward_kernel, forward_gradient, doc=doc, schema=schema)
    )
    adjoint = register(
        Operator(names[1], infer, kernel, gradient, doc=f"Adjoint of: {doc}", schema=schema)
    )

    def apply_adjoint(g: V, size: Shape, attrs: Any) -> Any:
        return apply(adjoint, (g,), {"size": size, **attrs})

    return apply_adjoint


_NAME = "_contrib_AdaptiveAvgPooling2D"


def _taps(extent: int, out_extent: int) -> Taps:
    """Return the pixels of each window, and 1 / length; windows may overlap."""
    steps = np.arange(out_extent)
    begin = steps * extent // max(1, out_extent)
    length = -(-(steps + 1) * extent // max(1, out_extent)) - begin
    offsets = np.arange(int(length.max(initial=0)))[:, None]
    index = np.minimum(begin + offsets, max(0, extent - 1))
    return Taps(index, (offsets < length) / np.maximum(length, 1))


def _size(output_size: Shape) -> Shape:
    """Return two extents; an empty tuple means (1, 1), and one number means a square."""
    if len(output_size) > 2 or any(extent < 0 for extent in output_size):
        raise OperatorError(
            f"{_NAME}: expected output_size to be up to 2 ints of at least 0, got {output_size}"
        )
    return (output_size or (1,)) * 2 if len(output_size) < 2 else output_size


def _infer(data: Spec, *, output_size: Shape) -> tuple[Spec]:
    check_rank(_NAME, "data", data, "N C H W")
    check_floating(_NAME, data)
    size = _size(output_size)
    if 0 in data.shape[2:]:
        raise OperatorError(f"{_NAME}: expected a nonempty image, got data {data.shape}")
    return (Spec(limited(_NAME, (*data.shape[:2], *size)), data.dtype),)


def _kernel(xp: ModuleType, out: Any, data: Any, *, output_size: Shape) -> None:
    sizes = zip(data.shape[2:], out.shape[2:], strict=True)
    map_images(xp, out, data, *(_taps(n, m) for n, m in sizes))


_adjoint = adjoint_operator(
    ("_adaptive_avg_pooling_forward", "_adaptive_avg_pooling_backward"),
    _taps,
    "Average windows of images.",
)


def _gradient(g: V, data: V, *, output_size: Shape) -> tuple[Any]:
    return (lambda: _adjoint(g, data.shape[2:], {}),)


ADAPTIVE_AVG_POOLING = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Apply adaptive average pooling: means over output_size windows of an image.\n\n"
            "Along an axis, window i of n begins at floor(i * size / n) and ends at\n"
            "ceil((i + 1) * size / n). output_size () means (1, 1), and (k,) means (k, k).\n\n"
            "Shapes: data (N, C, H, W), output (N, C, *output_size)."
        ),
        schema=Schema(output_size=shape(())),
    )
)


_RESIZE = "_contrib_BilinearResize2D"
_ALIGN: Attribute = boolean(True)


def _taps_bilinear_resize(extent: int, out_extent: int, *, align_corners: bool) -> Taps:
    """Return the two source pixels of each output pixel, and their weights."""
    positions = np.arange(out_extent, dtype=np.float64)
    if align_corners:
        positions *= (extent - 1) / (out_extent - 1) if out_extent > 1 else 0
    else:
        positions = (positions + 0.5) * (extent / out_extent if out_extent > 1 else 0) - 0.5
    positions = np.clip(positions, 0, max(0, extent - 1))
    first = positions.astype(np.int64)
    weight = positions - first
    second = np.minimum(first + 1, max(0, extent - 1))
    return Taps(np.stack([first, second]), np.stack([1 - weight, weight]))


def _scaled(extent: int, scale: float) -> int:
    return int(np.float32(extent) * np.float32(scale))  # in float32, as MXNet


def _resized(extent: int, like: int | None, size: int, scale: float | None, mode: str) -> int:
    """Return the result's extent along one axis."""
    odd = extent % 2
    if mode == "like":
        return extent if like is None else like
    if mode.startswith("to_"):
        step = 1 if mode.endswith("up") else -1
        return extent if odd == ("odd" in mode) else extent + step
    if scale is None:
        return size
    if mode == "odd_scale" and odd:
        return _scaled(extent - 1, scale) + 1
    return _scaled(extent, scale)


def _infer_bilinear_resize(data: Spec, like: Spec | None = None, **attrs: Any) -> tuple[Spec]:
    check_rank(_RESIZE, "data", data, "N C H W")
    check_floating(_RESIZE, data)
    mode, scales = attrs["mode"], (attrs["scale_height"], attrs["scale_width"])
    if like is not None:
        check_rank(_RESIZE, "like", like, "N C H W")
        check_floating(_RESIZE, data, like)
    supplied = [scale for scale in scales if scale is not None]
    scaled = mode == "odd_scale" or (mode == "size" and supplied)
    if scaled and (len(supplied) != 2 or not all(0 < scale <= 1e6 for scale in supplied)):
        raise OperatorError(
            f"{_RESIZE}: expected both scale_height and scale_width in (0, 1e6], or with "
            f"mode='size' neither, got {scales[0]} and {scales[1]}"
        )
    likes: Shape | tuple[None, None] = (None, None) if like is None else like.shape[2:]
    sizes = (attrs["height"], attrs["width"])
    out = tuple(
        _resized(*each, mode) for each in zip(data.shape[2:], likes, sizes, scales, strict=True)
    )
    if 0 in data.shape[2:] and out != data.shape[2:]:
        raise OperatorError(f"{_RESIZE}: expected a nonempty image, got data {data.shape}")
    if min(out) < 0:
        raise OperatorError(
            f"{_RESIZE}: expected a nonempty image for mode={mode!r}, got data {data.shape}"
        )
    return (Spec(limited(_RESIZE, (*data.shape[:2], *out)), data.dtype),)


def _kernel_bilinear_resize(
    xp: ModuleType, out: Any, data: Any, like: Any = None, **attrs: Any
) -> None:
    align = attrs["align_corners"]
    sizes = zip(data.shape[2:], out.shape[2:], strict=True)
    rows, columns = (_taps_bilinear_resize(n, m, align_corners=align) for n, m in sizes)
    map_images(xp, out, data, rows, columns)


_adjoint_bilinear_resize = adjoint_operator(
    ("_bilinear_resize_forward", "_bilinear_resize_backward"),
    _taps_bilinear_resize,
    "Resize images with bilinear interpolation.",
    align_corners=_ALIGN,
)


def _gradient_bilinear_resize(
    g: V, data: V, like: V | None = None, **attrs: Any
) -> tuple[Any, ...]:
    align = {"align_corners": attrs["align_corners"]}
    of_data = lambda: _adjoint_bilinear_resize(g, data.shape[2:], align)  # noqa: E731
    return (of_data,) if like is None else (of_data, lambda: like * 0.0)


def _active_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "like") if attrs["mode"] == "like" else ("data",)


BILINEAR_RESIZE = register(
    Operator(
        _RESIZE,
        _infer_bilinear_resize,
        _kernel_bilinear_resize,
        _gradient_bilinear_resize,
        doc=(
            "Resize images with bilinear interpolation.\n\n"
            "mode selects the new size: 'size' is height and width, or the old size times\n"
            "scale_height and scale_width, rounded down; 'odd_scale' is the same, but\n"
            "(size - 1) * scale + 1 for odd sizes; 'like' is the size of the second array;\n"
            "'to_even_down', 'to_even_up', 'to_odd_down' and 'to_odd_up' are the nearest even\n"
            "or odd size below or above. With align_corners the centers of the corner pixels of\n"
            "both images coincide; otherwise the outer edges of the images do. A new size of 1\n"
            "selects the first pixel.\n\n"
            "Shapes: data (N, C, H, W), like (N, C, H', W'), output (N, C, height, width), in\n"
            "pixels."
        ),
        inputs=("data", "like"),
        active_inputs=_active_inputs,
        schema=Schema(
            height=integer(1, low=1),
            width=integer(1, low=1),
            scale_height=optional(number()),
            scale_width=optional(number()),
            mode=choice(
                "like",
                "odd_scale",
                "size",
                "to_even_down",
                "to_even_up",
                "to_odd_down",
                "to_odd_up",
                default="size",
            ),
            align_corners=_ALIGN,
        ),
    )
)
