"""_image_crop, and flips of images, fixed and random."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.image.layout import check_image, check_images
from gluonish.ops.indexing.slice import slice_
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.reverse import reverse
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.dtype_rules import complete_same_dtype
from gluonish.ops.support.philox import random_bits

Key = tuple[int, int]


def _crop_infer(data: Spec, *, x: int, y: int, width: int, height: int) -> tuple[Spec]:
    check_images("_image_crop", data)
    *lead, tall, wide, channels = data.shape
    if width < 1 or height < 1:
        raise OperatorError(
            f"_image_crop: expected width and height of at least 1, got {width} and {height}"
        )
    if x < 0 or y < 0 or x + width > wide or y + height > tall:
        raise OperatorError(
            f"_image_crop: expected a region within the image's width {wide} and height {tall}, "
            f"got columns {x} to {x + width} and rows {y} to {y + height}"
        )
    return (Spec((*lead, height, width, channels), data.dtype),)


def _crop_kernel(
    xp: ModuleType, out: Any, data: Any, *, x: int, y: int, width: int, height: int
) -> None:
    out[...] = data[..., y : y + height, x : x + width, :]


def _cropped(data: V, *, x: int, y: int, width: int, height: int) -> Any:
    lead = (None,) * (len(data.shape) - 3)
    return slice_(data, (*lead, y, x, None), (*lead, y + height, x + width, None))


CROP = register(
    Operator(
        "_image_crop",
        _crop_infer,
        _crop_kernel,
        composite_gradient(_cropped),
        doc=(
            "Crop an image, or each image of a batch, to width and height, with the upper left\n"
            "corner at column x and row y.\n\n"
            "Shapes: data (H, W, C) or (N, H, W, C), output (height, width, C) or (N, height,\n"
            "width, C), in pixels."
        ),
        schema=Schema(x=integer(), y=integer(), width=integer(), height=integer()),
        aliases=("_npx__image_crop",),
        shapes=ShapeFacts(complete=complete_same_dtype),
    )
)


def _flip(name: str, sides: str, axis: int) -> Operator:
    def infer(data: Spec) -> tuple[Spec]:
        return (check_image(name, data),)

    def kernel(xp: ModuleType, out: Any, data: Any) -> None:
        out[...] = xp.flip(data, axis)

    def gradient(g: V, data: V) -> tuple[Any]:
        return (reverse(g, (axis,)),)

    return register(
        Operator(
            name,
            infer,
            kernel,
            gradient,
            doc=f"Flip an image {sides}.\n\nShapes: data and output (H, W, C).",
            aliases=(f"_npx_{name}",),
        )
    )


def _random_flip(name: str, sides: str, axis: int) -> Operator:
    def infer(data: Spec) -> tuple[Spec]:
        return (check_image(name, data),)

    def kernel(xp: ModuleType, out: Any, data: Any, *, key: Key) -> None:
        flipped = int(random_bits(xp, key, 1)[0]) >> 31
        out[...] = xp.flip(data, axis) if flipped else data

    return register(
        Operator(
            name,
            infer,
            kernel,
            None,
            doc=(
                f"Flip an image {sides} with probability 1/2.\n\nShapes: data and output (H, W, C)."
            ),
            aliases=(f"_npx_{name}",),
            execution=Execution(random=True),
        )
    )


FLIPS = (
    _flip("_image_flip_left_right", "left to right", 1),
    _flip("_image_flip_top_bottom", "top to bottom", 0),
)
RANDOM_FLIPS = (
    _random_flip("_image_random_flip_left_right", "left to right", 1),
    _random_flip("_image_random_flip_top_bottom", "top to bottom", 0),
)
