"""Labels of images with objects: how they are stored, and what is done to the boxes.

A label is the width of the header, the width of an object, what else the header holds, and then the
objects, each with a class, the corners of its box (left, top, right, bottom, as shares of the
image), and what else it has.
"""

from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import FileFormatError

__all__ = ["BOX", "Objects", "box_areas", "common_areas", "cut_boxes", "parse_objects"]

Array = np.ndarray[Any, Any]

_LEAST_HEADER = 2
_LEAST_OBJECT = 5
BOX = slice(1, 5)


class Objects(NamedTuple):
    """The objects of one image, as its label describes them.

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
    """Return the objects of a label; objects whose box has no area are dropped.

    Args:
        labels: The label, float32, as `ImageDetRecordIter` describes it.
        name: Class name of the iterator, for error messages.

    Raises:
        FileFormatError: The label does not have that form.
    """
    count = len(labels)
    widths = [int(x) if np.isfinite(x) else -1 for x in labels[:2]]
    if count < _LEAST_HEADER or widths[0] < _LEAST_HEADER or widths[1] < _LEAST_OBJECT:
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
    """Return the area of each box (N, 4).

    Args:
        boxes: Left, top, right, bottom of each box.
    """
    areas: Array = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return areas


def common_areas(boxes: Array, region: Array) -> Array:
    """Return the area of the intersection of each box with a region.

    Args:
        boxes: (N, 4): left, top, right, bottom of each box.
        region: (4,), the same of the region.
    """
    wide = np.minimum(boxes[:, 2], region[2]) - np.maximum(boxes[:, 0], region[0])
    tall = np.minimum(boxes[:, 3], region[3]) - np.maximum(boxes[:, 1], region[1])
    areas: Array = np.maximum(wide, 0) * np.maximum(tall, 0)
    return areas


def cut_boxes(objects: Objects, region: Array, kept: Array | None = None) -> Objects:
    """Return objects in the coordinates of a region, clipped to it.

    Args:
        objects: Objects of an image.
        region: Left, top, right, bottom of the region as fractions of the image; it may be larger
            than the image.
        kept: Boolean mask (N,) of the objects to keep; None keeps all.
    """
    table = (objects.table if kept is None else objects.table[kept]).copy()
    boxes = table[:, BOX]
    origin, extent = region[:2], region[2:] - region[:2]
    table[:, BOX] = np.clip((boxes - np.tile(origin, 2)) / np.tile(extent, 2), 0, 1)
    return Objects(objects.header, table)
