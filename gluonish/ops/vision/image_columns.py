"""im2col and col2im: rearrange image windows into columns, and sum columns into an image."""

import math
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.precision import widen
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.support.windows import (
    Geometry,
    add_windows,
    normalize_geometry,
    sliding_windows,
    window_count,
)
from gluonish.ops.vision.regions import check_floating

_GEOMETRY = {"kernel": shape(), "stride": shape(()), "dilate": shape(()), "pad": shape(())}


def _plan(name: str, spatial: Shape, **attrs: Shape) -> tuple[Geometry, Shape]:
    """Return the window geometry and the number of windows along each axis."""
    kernel = attrs["kernel"]
    if not 1 <= len(kernel) <= 3 or len(spatial) != len(kernel):
        raise OperatorError(
            f"{name}: expected a kernel of 1 to 3 axes, as the image {spatial}, got {kernel}"
        )
    geometry = normalize_geometry(name, **attrs)
    padded = tuple(n + 2 * p for n, p in zip(spatial, geometry.pad, strict=True))
    limited(name, padded)
    counts = tuple(
        window_count(extent, *along) for extent, *along in zip(spatial, *geometry, strict=True)
    )
    if min(counts) < 1:
        raise OperatorError(
            f"{name}: expected an image at least as large as the kernel {kernel}, got {spatial}"
        )
    return geometry, counts


def _im2col_infer(data: Spec, **attrs: Shape) -> tuple[Spec]:
    check_floating("im2col", data)
    geometry, counts = _plan("im2col", data.shape[2:], **attrs)
    rows = data.shape[1] * math.prod(geometry.kernel)
    return (Spec(limited("im2col", (data.shape[0], rows, math.prod(counts))), data.dtype),)


def _im2col_kernel(xp: ModuleType, out: Any, data: Any, **attrs: Shape) -> None:
    geometry, counts = _plan("im2col", data.shape[2:], **attrs)
    windows = sliding_windows(xp, data, geometry, counts)
    out.reshape(windows.shape)[...] = windows


def _im2col_gradient(g: V, data: V, **attrs: Shape) -> tuple[Any]:
    return (lambda: apply(COL2IM, (g,), {"output_size": data.shape[2:], **attrs}),)


def _col2im_infer(data: Spec, *, output_size: Shape, **attrs: Shape) -> tuple[Spec]:
    check_floating("col2im", data)
    if min(output_size, default=0) < 0:
        raise OperatorError(f"col2im: expected output_size of at least 0, got {output_size}")
    geometry, counts = _plan("col2im", output_size, **attrs)
    window, count = math.prod(geometry.kernel), math.prod(counts)
    if len(data.shape) != 3 or data.shape[1] % window or data.shape[2] != count:
        raise OperatorError(
            f"col2im: expected data (N, C * {window}, {count}) for output_size {output_size} and "
            f"kernel {geometry.kernel}, got {data.shape}"
        )
    out = (data.shape[0], data.shape[1] // window, *output_size)
    return (Spec(limited("col2im", out), data.dtype),)


def _col2im_kernel(
    xp: ModuleType, out: Any, data: Any, *, output_size: Shape, **attrs: Shape
) -> None:
    geometry, counts = _plan("col2im", output_size, **attrs)
    add_windows(xp, out, widen(data).reshape(*out.shape[:2], *geometry.kernel, *counts), geometry)


def _col2im_gradient(g: V, data: V, *, output_size: Shape, **attrs: Shape) -> tuple[Any]:
    return (lambda: apply(IM2COL, (g,), attrs),)


IM2COL = register(
    Operator(
        "im2col",
        _im2col_infer,
        _im2col_kernel,
        _im2col_gradient,
        doc=(
            "Rearrange the windows of images into columns.\n\n"
            "stride, dilate and pad are as in Convolution; there are 1 to 3 spatial axes.\n\n"
            "Shapes: data (N, C, *spatial), output (N, C * window, positions)."
        ),
        schema=Schema(**_GEOMETRY),
    )
)

COL2IM = register(
    Operator(
        "col2im",
        _col2im_infer,
        _col2im_kernel,
        _col2im_gradient,
        doc=(
            "Sum columns into images at the positions where im2col reads them: the adjoint of\n"
            "im2col.\n\n"
            "Shapes: data (N, C * window, positions), output (N, C, *output_size)."
        ),
        schema=Schema(output_size=shape(), **_GEOMETRY),
    )
)
