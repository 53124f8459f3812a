"""_contrib_BilinearResize2D: resize images with bilinear interpolation."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean, choice, integer, number, optional
from gluonish.core.spec import Shape, Spec
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.extents import check_floating, check_rank
from gluonish.ops.vision.separable import Taps, adjoint_operator, map_images

_NAME = "_contrib_BilinearResize2D"
_ALIGN: Attribute = boolean(True)


def _taps(extent: int, out_extent: int, *, align_corners: bool) -> Taps:
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
    """Return one extent of the result."""
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


def _infer(data: Spec, like: Spec | None = None, **attrs: Any) -> tuple[Spec]:
    check_rank(_NAME, "data", data, "N C H W")
    check_floating(_NAME, data)
    mode, scales = attrs["mode"], (attrs["scale_height"], attrs["scale_width"])
    if like is not None:
        check_rank(_NAME, "like", like, "N C H W")
        check_floating(_NAME, data, like)
    supplied = [scale for scale in scales if scale is not None]
    scaled = mode == "odd_scale" or (mode == "size" and supplied)
    if scaled and (len(supplied) != 2 or not all(0 < scale <= 1e6 for scale in supplied)):
        raise OperatorError(
            f"{_NAME}: expected both scale_height and scale_width in (0, 1e6], or with "
            f"mode='size' neither, got {scales[0]} and {scales[1]}"
        )
    likes: Shape | tuple[None, None] = (None, None) if like is None else like.shape[2:]
    sizes = (attrs["height"], attrs["width"])
    out = tuple(
        _resized(*each, mode) for each in zip(data.shape[2:], likes, sizes, scales, strict=True)
    )
    if 0 in data.shape[2:] and out != data.shape[2:]:
        raise OperatorError(f"{_NAME}: expected a nonempty image, got data {data.shape}")
    if min(out) < 0:
        raise OperatorError(
            f"{_NAME}: expected a nonempty image for mode={mode!r}, got data {data.shape}"
        )
    return (Spec(limited(_NAME, (*data.shape[:2], *out)), data.dtype),)


def _kernel(xp: ModuleType, out: Any, data: Any, like: Any = None, **attrs: Any) -> None:
    align = attrs["align_corners"]
    sizes = zip(data.shape[2:], out.shape[2:], strict=True)
    rows, columns = (_taps(n, m, align_corners=align) for n, m in sizes)
    map_images(xp, out, data, rows, columns)


_adjoint = adjoint_operator(
    ("_bilinear_resize_forward", "_bilinear_resize_backward"),
    _taps,
    "Resize images with bilinear interpolation.",
    align_corners=_ALIGN,
)


def _gradient(g: V, data: V, like: V | None = None, **attrs: Any) -> tuple[Any, ...]:
    align = {"align_corners": attrs["align_corners"]}
    of_data = lambda: _adjoint(g, data.shape[2:], align)  # noqa: E731
    return (of_data,) if like is None else (of_data, lambda: like * 0.0)


def _active_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "like") if attrs["mode"] == "like" else ("data",)


BILINEAR_RESIZE = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        _gradient,
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
