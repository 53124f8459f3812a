"""Object detection: box labels, crops with constraints on boxes, and samples of a batch.

A label is the width of the header, the width of an object, the rest of the header, and then the
objects, each with a class, the corners of its box (left, top, right, bottom, as fractions of the
image), and optional further numbers.

References:
    W. Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016.
"""

import math
import random
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError, FileFormatError, NotSupportedError
from gluonish.io.image_record.augmentation import scaled, shifted_hls, shorter_side
from gluonish.io.image_record.geometry import Image, resized
from gluonish.io.image_record.normalization import Normalization
from gluonish.ops.image.resampling import open_cv

Array = np.ndarray[Any, Any]

_MIN_HEADER = 2
_MIN_OBJECT = 5
BOX = slice(1, 5)


class Objects(NamedTuple):
    """The objects of one image, parsed from its label.

    Attributes:
        header: The label's header, including the two widths it starts with.
        table: One row per object: class, left, top, right, bottom, and further numbers.
    """

    header: Array
    table: Array

    def boxes(self) -> Array:
        """Return the corners (N, 4) of each object's box, a view."""
        view: Array = self.table[:, BOX]
        return view


def parse_objects(labels: Array, name: str) -> Objects:
    """Parse the objects of a label; objects with an empty box are dropped.

    Args:
        labels: The label, float32; see `ImageDetRecordIter`.
        name: Class name of the iterator, for error messages.

    Raises:
        FileFormatError: The label is malformed.
    """
    count = len(labels)
    widths = [int(x) if np.isfinite(x) else -1 for x in labels[:2]]
    if count < _MIN_HEADER or widths[0] < _MIN_HEADER or widths[1] < _MIN_OBJECT:
        raise FileFormatError(
            f"{name}: expected a label that starts with the width of its header (at least 2) and "
            f"of an object (at least 5), got {count} numbers that start {labels[:8].tolist()}"
        )
    header, width = widths
    if header > count or (count - header) % width:
        raise FileFormatError(
            f"{name}: expected objects of {width} numbers after a header of {header}, got a label "
            f"of {count} numbers"
        )
    table = labels[header:].reshape(-1, width)
    left, top, right, bottom = table[:, BOX].T
    return Objects(labels[:header], table[(right > left) & (bottom > top)])


def box_areas(boxes: Array) -> Array:
    """Return the area of each box (N, 4)."""
    areas: Array = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return areas


def common_areas(boxes: Array, region: Array) -> Array:
    """Return the area of the intersection of each box with a region."""
    wide = np.minimum(boxes[:, 2], region[2]) - np.maximum(boxes[:, 0], region[0])
    tall = np.minimum(boxes[:, 3], region[3]) - np.maximum(boxes[:, 1], region[1])
    areas: Array = np.maximum(wide, 0) * np.maximum(tall, 0)
    return areas


def cut_boxes(objects: Objects, region: Array, mask: Array | None = None) -> Objects:
    """Convert objects to the coordinates of a region, and clip them to it.

    Args:
        objects: Objects of an image.
        region: Left, top, right, bottom of the region as fractions of the image; it may be larger
            than the image.
        mask: Boolean mask (N,) of the objects to return; None for all.
    """
    table = (objects.table if mask is None else objects.table[mask]).copy()
    boxes = table[:, BOX]
    origin, extent = region[:2], region[2:] - region[:2]
    table[:, BOX] = np.clip((boxes - np.tile(origin, 2)) / np.tile(extent, 2), 0, 1)
    return Objects(objects.header, table)


Range = tuple[float, float]

# Names of a sampler's ranges, without min_ and max_.
_RANGES = (
    "crop_scales",
    "crop_aspect_ratios",
    "crop_overlaps",
    "crop_sample_coverages",
    "crop_object_coverages",
)


class _Sampler(NamedTuple):
    """The limits of one crop sampler."""

    scale: Range
    aspect: Range
    overlap: Range
    sample_coverage: Range
    object_coverage: Range
    trials: int


class ObjectCrops:
    """Crops a random region that satisfies the limits of one of several samplers.

    A region has ``scale`` squared of the image's area and the aspect ratio ``aspect``, limited by
    the image. For at least one object the IoU with the region, the fraction of the region covered
    by the object, and the fraction of the object inside the region must all be within the sampler's
    limits, and at least one object must be kept. The samplers are tried in random order; if no
    trial succeeds, the image is not cropped.

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
        for key in _RANGES:
            low = self._repeated(parameters, f"min_{key}", count)
            high = self._repeated(parameters, f"max_{key}", count)
            limit = math.inf if key == "crop_aspect_ratios" else 1
            for lower, upper in zip(low, high, strict=True):
                if not 0 <= lower <= upper <= limit or (limit > 1 and not lower > 0):
                    raise ArgumentError(
                        f"{name}: expected 0 <= min_{key} <= max_{key} <= {limit}, got {lower} "
                        f"and {upper}"
                    )
            columns.append(list(zip(low, high, strict=True)))
        columns.append(self._repeated(parameters, "max_crop_trials", count))
        self._samplers = [_Sampler(*row) for row in zip(*columns, strict=True)]

    def _repeated(self, parameters: Mapping[str, Any], key: str, count: int) -> list[Any]:
        numbers = list(parameters[key])
        if len(numbers) == 1:
            return numbers * count
        if len(numbers) != count:
            raise ArgumentError(
                f"{self._name}: expected 1 or num_crop_sampler ({count}) numbers for {key}, got "
                f"{len(numbers)}"
            )
        return numbers

    def __call__(self, image: Image, objects: Objects, rng: random.Random) -> tuple[Image, Objects]:
        """Crop a random region of an image; return the region and its objects."""
        for sampler in rng.sample(self._samplers, len(self._samplers)):
            for _ in range(sampler.trials):
                x, y, wide, tall = self._draw_region(sampler, image, rng)
                size = np.array(image.shape[1::-1], np.float32)
                region = np.array([x, y, x + wide, y + tall], np.float32) / np.tile(size, 2)
                mask = self._inside(objects, region)
                if mask.any() and _within(sampler, objects.boxes(), region):
                    return image[y : y + tall, x : x + wide], cut_boxes(objects, region, mask)
        return image, objects

    def _draw_region(
        self, sampler: _Sampler, image: Image, rng: random.Random
    ) -> tuple[int, int, int, int]:
        """Draw a region: left, top, width and height in pixels."""
        height, width = image.shape[:2]
        scale = max(rng.uniform(*sampler.scale), 1e-3)
        # Relative to the image; beyond these limits a side would exceed the image.
        aspect = rng.uniform(*sampler.aspect) * height / width
        aspect = min(max(aspect, scale * scale), 1 / (scale * scale))
        wide = min(width, max(1, round(scale * math.sqrt(aspect) * width)))
        tall = min(height, max(1, round(scale / math.sqrt(aspect) * height)))
        return rng.randint(0, width - wide), rng.randint(0, height - tall), wide, tall

    def _inside(self, objects: Objects, region: Array) -> Array:
        """Return the mask of the objects in a region."""
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
    """Whether an object satisfies all limits of a sampler."""
    common, areas = common_areas(boxes, region), box_areas(boxes)
    area = float(box_areas(region[None])[0])
    shares = (
        (common / (areas + area - common), sampler.overlap),
        (common / area, sampler.sample_coverage),
        (common / areas, sampler.object_coverage),
    )
    fits = np.ones(len(boxes), bool)
    for share, (low, high) in shares:
        # Quotients of float32 may slightly exceed 1.
        fits &= (share >= low - 1e-6) & (share <= high + 1e-6)
    return bool(fits.any())


LABEL_HEAD = 4  # channels, height, width, and the length of the label

_PROBABILITIES = (
    "rand_crop_prob",
    "rand_pad_prob",
    "random_hue_prob",
    "random_saturation_prob",
    "random_illumination_prob",
    "random_contrast_prob",
    "rand_mirror_prob",
)
_SHIFTS = ("hue", "illumination", "saturation")  # in the order of OpenCV's HLS


class ObjectSamples:
    """Augments images and their boxes for detection, and writes them into a batch.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters.
        normalization: Writes the augmented image.

    Raises:
        ArgumentError: A parameter is out of range.
        NotSupportedError: Colour shifts need OpenCV, which is not installed.
    """

    def __init__(
        self, name: str, parameters: Mapping[str, Any], normalization: Normalization
    ) -> None:
        self._name = name
        self._p = parameters
        self._normalization = normalization
        for key in _PROBABILITIES:
            if not 0 <= parameters[key] <= 1:
                raise ArgumentError(f"{name}: expected {key} from 0 to 1, got {parameters[key]}")
        self._crops = ObjectCrops(name, parameters)
        self._shifts = [
            (abs(parameters[f"max_random_{key}"]), parameters[f"random_{key}_prob"])
            for key in _SHIFTS
        ]
        self._contrast = abs(parameters["max_random_contrast"])
        if any(limit and share for limit, share in self._shifts) and open_cv() is None:
            raise NotSupportedError(
                f"{name}: expected OpenCV for random hue, saturation and illumination, got none; "
                "install opencv-python-headless"
            )

    def write(
        self, data: Array, label: Array, image: Array, labels: Array, rng: random.Random
    ) -> None:
        """Write one sample; see `SampleWriter`."""
        p = self._p
        objects = parse_objects(labels, self._name)
        if p["resize"] > 0:
            image = shorter_side(image, p["resize"], p["inter_method"], rng)
        if p["max_pad_scale"] > 1 and rng.random() < p["rand_pad_prob"]:
            image, objects = self._padded(image, objects, rng)
        if rng.random() < p["rand_crop_prob"]:
            image, objects = self._crops(image, objects, rng)
        if rng.random() < p["rand_mirror_prob"]:
            image, objects = image[:, ::-1], _mirrored(objects)
        height, width = self._size(image, *data.shape[1:])
        image = self._colored(resized(image, height, width, p["inter_method"], rng), rng)
        if (height, width) != data.shape[1:]:
            data[...] = 0
            data = data[:, :height, :width]
        self._normalization.write(data, image, False, rng)
        self._write_label(label, (len(data), height, width), objects)

    def _padded(self, image: Image, objects: Objects, rng: random.Random) -> tuple[Image, Objects]:
        """Paste an image at a random position of a larger canvas; move its objects."""
        scale = rng.uniform(1, self._p["max_pad_scale"])
        height, width = image.shape[:2]
        tall, wide = int(height * scale), int(width * scale)
        y, x = rng.randint(0, tall - height), rng.randint(0, wide - width)
        made = np.full((tall, wide, image.shape[2]), self._p["fill_value"], np.uint8)
        made[y : y + height, x : x + width] = image
        canvas = np.array([-x, -y, wide - x, tall - y], np.float32)
        return made, cut_boxes(objects, canvas / np.array([width, height] * 2, np.float32))

    def _size(self, image: Image, height: int, width: int) -> tuple[int, int]:
        """Return the height and width to resize an image to, within the size of a sample."""
        mode = self._p["resize_mode"]
        tall, wide = image.shape[:2]
        if mode == "force":
            return height, width
        if mode == "shrink" and tall <= height and wide <= width:
            return tall, wide
        if height * wide < width * tall:
            return height, max(1, wide * height // tall)
        return max(1, tall * width // wide), width

    def _colored(self, image: Image, rng: random.Random) -> Image:
        shifts = [
            rng.randint(-limit, limit) if limit and rng.random() < share else 0
            for limit, share in self._shifts
        ]
        if image.shape[2] == 3:
            image = shifted_hls(image, shifts)
        if self._contrast and rng.random() < self._p["random_contrast_prob"]:
            image = scaled(image, 1 + rng.uniform(-self._contrast, self._contrast))
        return image

    def _write_label(self, label: Array, shape: tuple[int, ...], objects: Objects) -> None:
        values = np.concatenate([objects.header, objects.table.ravel()])
        end = LABEL_HEAD + len(values)
        if end > len(label):
            raise FileFormatError(
                f"{self._name}: expected labels of at most {len(label) - LABEL_HEAD} numbers, got "
                f"{len(values)}; set label_pad_width"
            )
        label[:LABEL_HEAD] = *shape, len(values)
        label[LABEL_HEAD:end] = values
        label[end:] = self._p["label_pad_value"]


def _mirrored(objects: Objects) -> Objects:
    table = objects.table.copy()
    left, top, right, bottom = objects.boxes().T
    table[:, BOX] = np.stack([1 - right, top, 1 - left, bottom], axis=1)
    return Objects(objects.header, table)
