"""DetAugmenter, the base class of augmenters of images with boxes, and parsing of labels."""

import json
import random
from collections.abc import Iterable
from typing import Any

import numpy as np

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileFormatError,
    NotSupportedError,
)
from gluonish.core.object_repr import default_repr
from gluonish.image.augmenters.augmenter import Augmenter, apply_augmenter, json_arguments
from gluonish.image.augmenters.checks import checked_image, checked_probability
from gluonish.image.pixels import Array, as_host, as_ndarray
from gluonish.ndarray import NDArray


class DetAugmenter:
    """Base class of augmenters for object detection, which are called with an image and its boxes.

    A subclass overrides ``__call__``, a function of an NDArray and a NumPy array that returns both.

    Args:
        **kwargs: Arguments of the constructor, for `dumps`.

    Inputs:
        src: (height, width, channels), an NDArray or a NumPy array; the output has the same type.
        label: (N, 5 or more), floating-point NumPy array: class, left, top, right and bottom of
            each box as fractions of the image's width and height, and any further numbers.

    Outputs:
        src: The augmented image, a new array.
        label: The boxes, (M, 5 or more). The inputs are not modified.
    """

    __repr__ = default_repr

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = json_arguments(kwargs)

    def dumps(self) -> Any:
        """Return the class's name and its arguments as JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: Any, label: Any) -> tuple[Any, Array]:
        """Return the augmented image and its boxes.

        Args:
            src: Image (height, width, channels).
            label: Boxes (N, 5 or more).

        Raises:
            ArgumentTypeError: ``src`` or ``label`` is not an array.
            ArgumentError: ``label`` has the wrong shape.
        """
        name = type(self).__name__
        boxes = as_host(name, label)
        if boxes.ndim != 2 or boxes.shape[1] < 5:
            raise ArgumentError(
                f"{name}: expected label (objects, 5 or more): class, left, top, right, bottom, "
                f"got {boxes.shape}"
            )
        if isinstance(src, np.ndarray):
            return self._change(src, boxes)
        made, boxes = self._change(as_host(name, src), boxes)
        return as_ndarray(made, src.context), boxes

    def _change(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        """Transform an image and its boxes on the host; the inputs are not modified."""
        raise NotSupportedError(
            f"{type(self).__name__}: expected a subclass that overrides __call__, got one without"
        )


def apply_with_boxes(augmenter: Any, image: Array, boxes: Array) -> tuple[Array, Array]:
    """Apply an augmenter to an image in host memory and its boxes."""
    if isinstance(augmenter, DetAugmenter) and type(augmenter).__call__ is DetAugmenter.__call__:
        return augmenter._change(image, boxes)
    name = type(augmenter).__name__
    made, label = augmenter(as_ndarray(image.copy()), boxes.copy())
    return as_host(name, made), as_host(name, label)


class DetBorrowAug(DetAugmenter):
    """Apply an image augmenter that does not affect the boxes.

    Args:
        augmenter: The `Augmenter`; it must not move pixels, except by resizing.

    Raises:
        ArgumentTypeError: ``augmenter`` is not an `Augmenter`.
    """

    def __init__(self, augmenter: Augmenter) -> None:
        if not isinstance(augmenter, Augmenter):
            raise ArgumentTypeError(
                f"DetBorrowAug: expected an Augmenter, got {type(augmenter).__name__}"
            )
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self) -> list[Any]:
        """Return a list: the class's name in lower case, and the `dumps` of its augmenter."""
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def _change(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        return apply_augmenter(self.augmenter, image), boxes


class DetRandomSelectAug(DetAugmenter):
    """Apply one of several augmenters, chosen at random for each image, or none of them.

    Args:
        aug_list: A `DetAugmenter`, or a list of them.
        skip_prob: Probability of applying none.

    Attributes:
        aug_list: List of `DetAugmenter`.
        skip_prob: The argument; 1 if the list is empty.

    Raises:
        ArgumentTypeError: An item of the list is not a `DetAugmenter`, or ``skip_prob`` is not a
            number.
        ArgumentError: ``skip_prob`` is not in [0, 1].
    """

    def __init__(
        self, aug_list: DetAugmenter | Iterable[DetAugmenter], skip_prob: float = 0
    ) -> None:
        super().__init__(skip_prob=skip_prob)
        found = list(aug_list) if isinstance(aug_list, Iterable) else [aug_list]
        for augmenter in found:
            if not isinstance(augmenter, DetAugmenter):
                raise ArgumentTypeError(
                    "DetRandomSelectAug: expected a list of DetAugmenters, got an item of type "
                    f"{type(augmenter).__name__}"
                )
        checked_probability("DetRandomSelectAug", "skip_prob", skip_prob)
        self.aug_list = found
        self.skip_prob = skip_prob if found else 1

    def dumps(self) -> list[Any]:
        """Return a list: the class's name in lower case, and the `dumps` of its augmenters."""
        return [type(self).__name__.lower(), [augmenter.dumps() for augmenter in self.aug_list]]

    def _change(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        if random.random() < self.skip_prob:
            return image, boxes
        random.shuffle(self.aug_list)
        return apply_with_boxes(self.aug_list[0], image, boxes)


class DetHorizontalFlipAug(DetAugmenter):
    """Flip an image and its boxes left to right with a given probability.

    Args:
        p: The probability; random numbers come from Python's `random`.

    Raises:
        ArgumentTypeError: ``p`` is not a number.
        ArgumentError: ``p`` is not in [0, 1].
    """

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = checked_probability("DetHorizontalFlipAug", "p", p)

    def _change(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        if random.random() >= self.p:
            return image, boxes
        checked_image("DetHorizontalFlipAug", image)
        flipped = boxes.copy()
        flipped[:, 1] = 1 - boxes[:, 3]
        flipped[:, 3] = 1 - boxes[:, 1]
        return image[:, ::-1], flipped


_MIN_HEADER, _MIN_WIDTH = 2, 5


def parsed_boxes(name: str, label: Any, where: str) -> Array:
    """Parse the boxes of a stored label; empty boxes are dropped.

    Args:
        name: Class name of the reader, for error messages.
        label: The label; see `ImageDetIter`.
        where: Description of the image, for error messages.

    Returns:
        (objects, values), float32, at least one object.

    Raises:
        FileFormatError: The label is malformed, or all boxes are empty.
    """
    values = np.asarray(label.asnumpy() if isinstance(label, NDArray) else label).reshape(-1)
    if values.size < _MIN_HEADER + _MIN_WIDTH:
        raise FileFormatError(
            f"{name}: expected a label with a header and an object, {_MIN_HEADER + _MIN_WIDTH} "
            f"numbers or more, got {values.size} in {where}"
        )
    if not np.isfinite(values[:2]).all():
        raise FileFormatError(f"{name}: expected a header of numbers, got {values[:2]} of {where}")
    header, width = int(values[0]), int(values[1])
    objects = values.size - header
    if header < _MIN_HEADER or width < _MIN_WIDTH or objects < 1 or objects % width:
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
