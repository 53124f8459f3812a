"""_contrib_MultiBoxPrior: the anchor boxes of a feature map.

References:
    W. Liu, D. Anguelov, D. Erhan, C. Szegedy, S. Reed, C. Fu, A. Berg, SSD: Single Shot MultiBox
        Detector, 2016.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, numbers
from gluonish.core.spec import Spec
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.precision import accumulator
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.support.zero_gradient import zero_gradient
from gluonish.ops.vision.extents import check_floating

_NAME = "_contrib_MultiBoxPrior"
_Numbers = tuple[float, ...]


def _infer(
    data: Spec,
    *,
    sizes: _Numbers,
    ratios: _Numbers,
    clip: bool,
    steps: _Numbers,
    offsets: _Numbers,
) -> tuple[Spec]:
    if len(data.shape) < 4 or min(data.shape[2:4]) < 1:
        raise OperatorError(f"{_NAME}: expected nonempty data (N, C, H, W), got {data.shape}")
    check_floating(_NAME, data)
    if not sizes or not ratios or min(ratios) <= 0:
        raise OperatorError(
            f"{_NAME}: expected at least one size and one ratio, ratios above 0, got {sizes} and "
            f"{ratios}"
        )
    if len(steps) != 2 or len(offsets) != 2 or steps[0] * steps[1] < 0:
        raise OperatorError(
            f"{_NAME}: expected two steps, both positive or neither, and two offsets, got "
            f"{steps} and {offsets}"
        )
    count = data.shape[2] * data.shape[3] * (len(sizes) + len(ratios) - 1)
    return (Spec(limited(_NAME, (1, count, 4)), data.dtype),)


def _kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    *,
    sizes: _Numbers,
    ratios: _Numbers,
    clip: bool,
    steps: _Numbers,
    offsets: _Numbers,
) -> None:
    height, width = data.shape[2:4]
    step = [s if s > 0 else 1 / n for s, n in zip(steps, (height, width), strict=True)]
    rows = (np.arange(height) + offsets[0]) * step[0]
    columns = (np.arange(width) + offsets[1]) * step[1]
    # Every size with the first ratio, then every other ratio with the first size.
    shapes = [(size, ratios[0]) for size in sizes] + [(sizes[0], ratio) for ratio in ratios[1:]]
    halves = np.array(
        [
            (size * height / width * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2)
            for size, ratio in shapes
        ]
    )
    centers = np.empty((height, width, 1, 2))
    centers[..., 0] = columns[None, :, None]
    centers[..., 1] = rows[:, None, None]
    boxes = np.concatenate([centers - halves, centers + halves], axis=-1)
    if clip:
        boxes = np.clip(boxes, 0, 1)
    wide = boxes.reshape(out.shape).astype(accumulator(out.dtype))
    out[...] = xp.asarray(wide)


MULTIBOX_PRIOR = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        zero_gradient,
        doc=(
            "Generate anchor boxes centered at every pixel of a feature map, as corners (xmin,\n"
            "ymin, xmax, ymax).\n\n"
            "Coordinates are fractions of the image's width and height. Each pixel has a box of\n"
            "every size with the first aspect ratio (width / height), and a box of the first\n"
            "size with every other ratio. A size is the side of the square box (ratio 1), as a\n"
            "fraction of the image's height. steps are the distances between pixels along y and\n"
            "x (1 / H and 1 / W unless positive), offsets the position (y, x) of the center\n"
            "within a pixel. clip clips boxes to the image. Only the shape of data is used.\n\n"
            "Shapes: data (N, C, H, W), output (1, H * W * (sizes + ratios - 1), 4)."
        ),
        schema=Schema(
            sizes=numbers((1.0,)),
            ratios=numbers((1.0,)),
            clip=boolean(False),
            steps=numbers((-1.0, -1.0)),
            offsets=numbers((0.5, 0.5)),
        ),
        aliases=("_npx_multibox_prior",),
    )
)
