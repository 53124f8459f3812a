"""_contrib_AdaptiveAvgPooling2D: means over a fixed number of windows."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.extents import check_floating, check_rank
from gluonish.ops.vision.separable import Taps, adjoint_operator, map_images

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
    """Return two extents: an empty tuple means (1, 1), one number a square."""
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
