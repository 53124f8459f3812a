"""Transforms of an image and its boxes, as Blocks.

Boxes are rows (xmin, ymin, xmax, ymax, ...) in pixels; further columns are preserved. Random
numbers come from Python's `random`.
"""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block import Block
from gluonish.gluon.contrib.data.vision.transforms.bbox.boxes import (
    Constraint,
    bbox_crop,
    bbox_flip,
    bbox_random_crop_with_constraints,
    bbox_resize,
    bbox_translate,
    check_limits,
    checked_boxes,
)
from gluonish.image import imresize
from gluonish.image.pixels import as_host, as_ndarray
from gluonish.ndarray import NDArray

Array = np.ndarray[Any, Any]


class _ImageBbox(Block):
    """Base class of the transforms; accepts and returns either NDArrays or NumPy arrays."""

    def forward(self, img: Any, bbox: Any) -> tuple[Any, Any]:
        """Transform the image and its boxes."""
        name = type(self).__name__
        image = as_host(name, img)
        if image.ndim != 3:
            raise ArgumentError(
                f"{name}: expected an image (height, width, channels), got {image.shape}"
            )
        boxes = checked_boxes(name, as_host(name, bbox))
        changed, remaining = self._change(image, boxes)
        return _like(img, changed), _like(bbox, remaining)

    def _change(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        raise NotImplementedError


def _like(like: Any, values: Array) -> Any:
    return as_ndarray(values, like.context) if isinstance(like, NDArray) else values


def _checked_p(name: str, p: float) -> float:
    if not 0 <= p <= 1:
        raise ArgumentError(f"{name}: expected p in [0, 1], got {p}")
    return p


class ImageBboxRandomFlipLeftRight(_ImageBbox):
    """Flip an image and its boxes left to right with a given probability.

    Args:
        p: Probability of a flip.

    Inputs:
        img: (height, width, channels).
        bbox: (N, 4 or more).

    Outputs:
        img: (height, width, channels).
        bbox: (N, 4 or more).

    Raises:
        ArgumentError: ``p`` is outside [0, 1].
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = _checked_p("ImageBboxRandomFlipLeftRight", p)

    def _change(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        if random.random() >= self.p:
            return image, boxes
        high, wide = image.shape[:2]
        return image[:, ::-1], bbox_flip(boxes, (wide, high), flip_x=True)


class ImageBboxCrop(_ImageBbox):
    """Crop a region of an image and its boxes.

    Args:
        crop: (left, top, width, height) of the region, in pixels.
        allow_outside_center: Whether to keep boxes whose centre is outside the region.

    Inputs:
        img: (height, width, channels).
        bbox: (N, 4 or more).

    Outputs:
        img: The region; the whole image if the region is not inside it.
        bbox: At most N boxes, in coordinates of the region.

    Raises:
        ArgumentError: ``crop`` has a negative position, or a width or height below 1.
    """

    def __init__(self, crop: Sequence[int], allow_outside_center: bool = False) -> None:
        super().__init__()
        if len(crop) != 4 or min(crop[:2]) < 0 or min(crop[2:]) < 1:
            raise ArgumentError(
                "ImageBboxCrop: expected crop (xmin, ymin, width, height), at least 0 and 1, got "
                f"{crop}"
            )
        self.xmin, self.ymin, self.width, self.height = crop
        self.xmax, self.ymax = self.xmin + self.width, self.ymin + self.height
        self._allow_outside_center = allow_outside_center

    def _change(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        high, wide = image.shape[:2]
        if self.xmax > wide or self.ymax > high:
            return image, boxes
        region = (self.xmin, self.ymin, self.width, self.height)
        remaining = bbox_crop(boxes, region, self._allow_outside_center)
        return image[self.ymin : self.ymax, self.xmin : self.xmax], remaining


class ImageBboxRandomCropWithConstraints(_ImageBbox):
    """Crop a random region that overlaps the boxes; see `bbox_random_crop_with_constraints`.

    Args:
        p: Probability of applying the transform.
        min_scale: Minimum ratio of the region's sides to the image's.
        max_scale: Maximum of that ratio.
        max_aspect_ratio: Maximum factor by which the aspect ratio may change.
        constraints: Pairs of the minimum and maximum IoU with every box; None for SSD's.
        max_trial: Number of regions to try for each constraint.

    Inputs:
        img: (height, width, channels).
        bbox: (N, 4 or more).

    Outputs:
        img: The region.
        bbox: At most N boxes, in coordinates of the region.

    Raises:
        ArgumentError: ``p`` is outside [0, 1], or limits are out of order.
    """

    def __init__(
        self,
        p: float = 0.5,
        min_scale: float = 0.3,
        max_scale: float = 1,
        max_aspect_ratio: float = 2,
        constraints: Sequence[Constraint] | None = None,
        max_trial: int = 50,
    ) -> None:
        super().__init__()
        name = "ImageBboxRandomCropWithConstraints"
        self.p = _checked_p(name, p)
        check_limits(name, min_scale, max_scale, max_aspect_ratio)
        self._args = (min_scale, max_scale, max_aspect_ratio, constraints, max_trial)

    def _change(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        if random.random() >= self.p:
            return image, boxes
        high, wide = image.shape[:2]
        remaining, (x, y, width, height) = bbox_random_crop_with_constraints(
            boxes, (wide, high), *self._args
        )
        return image[y : y + height, x : x + width], remaining


class ImageBboxRandomExpand(_ImageBbox):
    """Place an image at a random position on a larger canvas.

    Args:
        p: Probability of applying the transform.
        max_ratio: Maximum ratio of the canvas's sides to the image's.
        fill: Value of the other pixels: one number, or one for each channel.
        keep_ratio: Whether the canvas has the image's aspect ratio.

    Inputs:
        img: (height, width, channels).
        bbox: (N, 4 or more).

    Outputs:
        img: The canvas.
        bbox: (N, 4 or more).

    Raises:
        ArgumentError: ``p`` is outside [0, 1], or ``max_ratio`` is below 1.
    """

    def __init__(
        self,
        p: float = 0.5,
        max_ratio: float = 4,
        fill: float | Sequence[float] = 0,
        keep_ratio: bool = True,
    ) -> None:
        super().__init__()
        self.p = _checked_p("ImageBboxRandomExpand", p)
        if max_ratio < 1:
            raise ArgumentError(
                f"ImageBboxRandomExpand: expected max_ratio of at least 1, got {max_ratio}"
            )
        self._max_ratio, self._fill, self._keep_ratio = max_ratio, fill, keep_ratio

    def _change(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        if self._max_ratio == 1 or random.random() >= self.p:
            return image, boxes
        high, wide, channels = image.shape
        across = random.uniform(1, self._max_ratio)
        down = across if self._keep_ratio else random.uniform(1, self._max_ratio)
        tall, broad = int(high * down), int(wide * across)
        y, x = random.randint(0, tall - high), random.randint(0, broad - wide)
        canvas = np.empty((tall, broad, channels), image.dtype)
        canvas[...] = np.asarray(self._fill)
        canvas[y : y + high, x : x + wide] = image
        return canvas, bbox_translate(boxes, x, y)


class ImageBboxResize(_ImageBbox):
    """Resize an image and its boxes.

    Args:
        width: New width, in pixels.
        height: New height, in pixels.
        interp: Interpolation method, as for `image.imresize`.

    Inputs:
        img: (height, width, channels); uint8, float32 or float64.
        bbox: (N, 4 or more).

    Outputs:
        img: (height, width, channels) of the new size.
        bbox: (N, 4 or more).
    """

    def __init__(self, width: int, height: int, interp: int = 1) -> None:
        super().__init__()
        self._args = (width, height, interp)

    def _change(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        high, wide = image.shape[:2]
        made = imresize(as_ndarray(image), *self._args).asnumpy()
        return made, bbox_resize(boxes, (wide, high), self._args[:2])
