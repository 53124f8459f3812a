"""_image_crop, and flips of images, fixed and random.

_cvcopyMakeBorder: add a border around an image.
"""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, number, numbers
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.image.pixel_math import check_image, check_images, store
from gluonish.ops.indexing.slice import slice_
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.transpose import reverse
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


_NAME = "_cvcopyMakeBorder"
# OpenCV's border types.
_CONSTANT, _REPLICATE, _REFLECT, _WRAP, _REFLECT_101 = range(5)
_MAX_BORDER = 1 << 15  # pixels


def _infer(src: Spec, *, top: int, bot: int, left: int, right: int, **attrs: Any) -> tuple[Spec]:
    check_image(_NAME, src)
    tall, wide, channels = src.shape
    if min(top, bot, left, right) < 0 or max(top, bot, left, right) > _MAX_BORDER:
        raise OperatorError(
            f"{_NAME}: expected borders from 0 to {_MAX_BORDER}, got {(top, bot, left, right)}"
        )
    if not _CONSTANT <= attrs["type"] <= _REFLECT_101:
        raise OperatorError(f"{_NAME}: expected type from 0 to {_REFLECT_101}, got {attrs['type']}")
    if attrs["type"] != _CONSTANT and 0 in (tall, wide):
        raise OperatorError(f"{_NAME}: expected a nonempty image, got {src.shape}")
    return (Spec((tall + top + bot, wide + left + right, channels), src.dtype),)


def _positions(xp: ModuleType, extent: int, before: int, after: int, kind: int) -> Any:
    """Return the index of the source pixel for each position of the padded axis."""
    at = xp.arange(-before, extent + after)
    if kind == _REPLICATE or extent == 1:
        return xp.clip(at, 0, extent - 1)
    if kind == _WRAP:
        return at % extent
    period = 2 * extent if kind == _REFLECT else 2 * extent - 2
    at = at % period
    return xp.where(at < extent, at, period - at - (kind == _REFLECT))


def _kernel(
    xp: ModuleType,
    out: Any,
    src: Any,
    *,
    top: int,
    bot: int,
    left: int,
    right: int,
    type: int,  # noqa: A002  # MXNet's name
    value: float,
    values: tuple[float, ...],
) -> None:
    tall, wide, channels = src.shape
    if type == _CONSTANT:
        # As in OpenCV's scalars, channels without a value get 0.
        fill = (*values, *(0.0,) * channels)[:channels] if values else (value,) * channels
        store(xp, out, xp.broadcast_to(xp.asarray(fill, dtype=xp.float64), out.shape))
        out[top : top + tall, left : left + wide] = src
        return
    rows = _positions(xp, tall, top, bot, type)
    out[...] = src[rows][:, _positions(xp, wide, left, right, type)]


MAKE_BORDER = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        None,
        doc=(
            "Add a border around an image.\n\n"
            "type 0 fills the border with value, or with values for each channel (0 for missing\n"
            "values); 1 repeats the outermost pixels; 2 reflects the image; 3 wraps around; 4\n"
            "reflects the image without its outermost pixels.\n\n"
            "Shapes: src (height, width, channels), output (height + top + bot, width + left +\n"
            "right, channels), in pixels."
        ),
        inputs=("src",),
        schema=Schema(
            top=integer(),
            bot=integer(),
            left=integer(),
            right=integer(),
            type=integer(0),
            value=number(0.0),
            values=numbers(()),
        ),
        shapes=ShapeFacts(complete=complete_same_dtype),
    )
)
