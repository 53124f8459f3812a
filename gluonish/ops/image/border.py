"""_cvcopyMakeBorder: add a border around an image."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, number, numbers
from gluonish.core.spec import Spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.image.layout import check_image, store
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.dtype_rules import complete_same_dtype

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
    """Return the index of the source pixel at each position along an axis."""
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
