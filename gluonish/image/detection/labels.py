"""Labels with boxes, as lists and records store them."""

from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError
from gluonish.image.host_array import Array
from gluonish.ndarray import NDArray

__all__ = ["parsed_boxes"]

_LEAST_HEADER, _LEAST_WIDTH = 2, 5


def parsed_boxes(name: str, label: Any, where: str) -> Array:
    """Return the boxes of a stored label; boxes without an area are dropped.

    Args:
        name: Class name of the reader, for error messages.
        label: The label, as `ImageDetIter` describes it.
        where: Description of the image, for error messages.

    Returns:
        (objects, values), float32, at least one object.

    Raises:
        FileFormatError: It is not such a label, or no box has an area.
    """
    values = np.asarray(label.asnumpy() if isinstance(label, NDArray) else label).reshape(-1)
    if values.size < _LEAST_HEADER + _LEAST_WIDTH:
        raise FileFormatError(
            f"{name}: expected a label with a header and an object, {_LEAST_HEADER + _LEAST_WIDTH} "
            f"numbers or more, got {values.size} in {where}"
        )
    if not np.isfinite(values[:2]).all():
        raise FileFormatError(f"{name}: expected a header of numbers, got {values[:2]} of {where}")
    header, width = int(values[0]), int(values[1])
    objects = values.size - header
    if header < _LEAST_HEADER or width < _LEAST_WIDTH or objects < 1 or objects % width:
        raise FileFormatError(
            f"{name}: expected a header of 2 numbers or more, its length and the width of objects, "
            f"5 or more, and then objects of that width, got header {header}, width {width}, and "
            f"{objects} numbers after it, in {where}"
        )
    boxes = values[header:].astype(np.float32).reshape(-1, width)
    found: Array = boxes[(boxes[:, 3] > boxes[:, 1]) & (boxes[:, 4] > boxes[:, 2])]
    if not len(found):
        raise FileFormatError(
            f"{name}: expected a box with an area, got none among {len(boxes)} of {where}"
        )
    return found
