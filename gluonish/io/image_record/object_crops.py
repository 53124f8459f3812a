"""Random regions of images with objects, under limits on how they overlap.

References:
    W. Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016.
"""

import math
import random
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.io.image_record.objects import Objects, box_areas, common_areas, cut_boxes
from gluonish.io.image_record.resizing import Image

__all__ = ["ObjectCrops"]

Array = np.ndarray[Any, Any]
Range = tuple[float, float]

# Of each sampler, by the middle of the parameters' names.
_RANGES = (
    "crop_scales",
    "crop_aspect_ratios",
    "crop_overlaps",
    "crop_sample_coverages",
    "crop_object_coverages",
)


class _Sampler(NamedTuple):
    """The limits of one kind of region."""

    scale: Range
    aspect: Range
    overlap: Range
    sample_coverage: Range
    object_coverage: Range
    trials: int


class ObjectCrops:
    """Crops a random region that satisfies the limits of one of several samplers.

    A region has ``scale`` squared of the image's area and the aspect ratio ``aspect``, as far as it
    fits into the image. For at least one object the IoU with the region, the fraction of the
    region that the object covers, and the fraction of the object that lies in the region must all
    be within the sampler's limits, and the region must keep at least one object. The samplers are
    tried in random order; if no trial succeeds, the image stays whole.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters.

    Raises:
        ArgumentError: A list has neither 1 nor ``num_crop_sampler`` numbers, or a range is invalid.
    """

    def __init__(self, name: str, parameters: Mapping[str, Any]) -> None:
        self._name = name
        self._by_center = parameters["crop_emit_mode"] == "center"
        self._threshold = parameters["emit_overlap_thresh"]
        count = parameters["num_crop_sampler"]
        columns: list[list[Any]] = []
        for what in _RANGES:
            low = self._repeated(parameters, f"min_{what}", count)
            high = self._repeated(parameters, f"max_{what}", count)
            most = math.inf if what == "crop_aspect_ratios" else 1
            for least, largest in zip(low, high, strict=True):
                if not 0 <= least <= largest <= most or (most > 1 and not least > 0):
                    raise ArgumentError(
                        f"{name}: expected 0 <= min_{what} <= max_{what} <= {most}, got {least} "
                        f"and {largest}"
                    )
            columns.append(list(zip(low, high, strict=True)))
        columns.append(self._repeated(parameters, "max_crop_trials", count))
        self._samplers = [_Sampler(*row) for row in zip(*columns, strict=True)]

    def _repeated(self, parameters: Mapping[str, Any], what: str, count: int) -> list[Any]:
        given = list(parameters[what])
        if len(given) == 1:
            return given * count
        if len(given) != count:
            raise ArgumentError(
                f"{self._name}: expected 1 or num_crop_sampler ({count}) numbers for {what}, got "
                f"{len(given)}"
            )
        return given

    def __call__(self, image: Image, objects: Objects, rng: random.Random) -> tuple[Image, Objects]:
        """Return a random region of an image, and the objects it keeps.

        Args:
            image: (height, width, channels).
            objects: Labelled objects of the image.
            rng: Random number generator.
        """
        for sampler in rng.sample(self._samplers, len(self._samplers)):
            for _ in range(sampler.trials):
                x, y, wide, tall = self._drawn(sampler, image, rng)
                size = np.array(image.shape[1::-1], np.float32)
                region = np.array([x, y, x + wide, y + tall], np.float32) / np.tile(size, 2)
                kept = self._kept(objects, region)
                if kept.any() and _within(sampler, objects.boxes(), region):
                    return image[y : y + tall, x : x + wide], cut_boxes(objects, region, kept)
        return image, objects

    def _drawn(
        self, sampler: _Sampler, image: Image, rng: random.Random
    ) -> tuple[int, int, int, int]:
        """Return left, top, width and height of a region, in pixels."""
        height, width = image.shape[:2]
        scale = max(rng.uniform(*sampler.scale), 1e-3)
        # Proportions in shares of the image; beyond these limits a side would not fit.
        aspect = rng.uniform(*sampler.aspect) * height / width
        aspect = min(max(aspect, scale * scale), 1 / (scale * scale))
        wide = min(width, max(1, round(scale * math.sqrt(aspect) * width)))
        tall = min(height, max(1, round(scale / math.sqrt(aspect) * height)))
        return rng.randint(0, width - wide), rng.randint(0, height - tall), wide, tall

    def _kept(self, objects: Objects, region: Array) -> Array:
        """Return which objects are those of a region."""
        boxes = objects.boxes()
        if self._by_center:
            x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
            inside: Array = (
                (region[0] <= x) & (x <= region[2]) & (region[1] <= y) & (y <= region[3])
            )
            return inside & (common_areas(boxes, region) > 0)
        covered: Array = common_areas(boxes, region) > self._threshold * box_areas(boxes)
        return covered


def _within(sampler: _Sampler, boxes: Array, region: Array) -> bool:
    """Whether an object fulfils all limits of a sampler."""
    common, own = common_areas(boxes, region), box_areas(boxes)
    area = float(box_areas(region[None])[0])
    shares = (
        (common / (own + area - common), sampler.overlap),
        (common / area, sampler.sample_coverage),
        (common / own, sampler.object_coverage),
    )
    fits = np.ones(len(boxes), bool)
    for share, (low, high) in shares:
        # Shares are quotients of float32: 1 may be a little more.
        fits &= (share >= low - 1e-6) & (share <= high + 1e-6)
    return bool(fits.any())
