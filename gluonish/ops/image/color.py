"""Random color augmentation of images, and lighting by specified amounts.

Images are (height, width, channels), of 1, 3 or 4 channels. Saturation, hue and lighting do not
change gray images; the fourth channel is alpha, which does not change.

References:
    A. Krizhevsky, I. Sutskever, G. Hinton, ImageNet Classification with Deep Convolutional Neural
    Networks, NeurIPS 2012.
"""

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, number, numbers
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution
from gluonish.ops.image.pixel_math import (
    COLOR_COMPONENTS,
    COLOR_DEVIATIONS,
    add_offsets,
    check_color_image,
    on_colors,
    scale_brightness,
    scale_contrast,
    scale_saturation,
    store,
)
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.support.philox import normal, random_bits, uniform_number
from gluonish.ops.support.precision import as_real
from gluonish.ops.support.variates import substream

Key = tuple[int, int]
Step = tuple[str, Any]  # name and amount of a change: a number, or an offset for each channel

_COMPONENTS = [
    [deviation * share for deviation, share in zip(COLOR_DEVIATIONS, row, strict=True)]
    for row in COLOR_COMPONENTS
]


def _hue(xp: ModuleType, image: Any, amount: float) -> Any:
    """Rotate the hue by ``amount`` turns; lightness and saturation do not change."""
    if image.shape[-1] != 3:
        return image
    red, green, blue = (image[..., i] for i in range(3))
    high = xp.maximum(xp.maximum(red, green), blue)
    low = xp.minimum(xp.minimum(red, green), blue)
    chroma = high - low
    share = xp.where(chroma > 0, chroma, 1)
    hue = xp.where(
        high == red,
        (green - blue) / share,
        xp.where(high == green, 2 + (blue - red) / share, 4 + (red - green) / share),
    )
    hue = (hue + 6 * amount) % 6
    channels = []
    for offset in (0, 4, 2):
        # The channel's distance from the lowest one, a trapezoid over the circle of hues.
        position = xp.abs((hue + offset) % 6 - 3)
        channels.append(low + chroma * xp.clip(position - 1, 0, 1))
    return xp.stack(channels, axis=-1)


def _lighting(xp: ModuleType, image: Any, offsets: Sequence[float]) -> Any:
    return add_offsets(xp, image, offsets) if image.shape[-1] == 3 else image


# (xp, image of floats, amount) -> image
_CHANGES: dict[str, Callable[[ModuleType, Any, Any], Any]] = {
    "brightness": scale_brightness,
    "contrast": scale_contrast,
    "saturation": scale_saturation,
    "hue": _hue,
    "lighting": _lighting,
}

# By operator name: ``steps(xp, **attrs)`` draws the changes of a call, in order. Also used by other
# kernels.
COLOR_STEPS: dict[str, Callable[..., list[Step]]] = {}


def _change(
    steps: Callable[..., list[Step]], xp: ModuleType, out: Any, data: Any, attrs: Attrs
) -> None:
    """Draw the color changes of a call, and apply them in order."""

    def change(image: Any) -> Any:
        for name, amount in steps(xp, **attrs):
            image = _CHANGES[name](xp, image, amount)
        return image

    store(xp, out, on_colors(xp, as_real(xp, data), change))


def _light(alpha: Sequence[float]) -> Step:
    offsets = [sum(c * a for c, a in zip(row, alpha, strict=True)) for row in _COMPONENTS]
    return "lighting", offsets


def _between(key: Key, low: float, high: float) -> float:
    return low + (high - low) * uniform_number(key)


def _register(
    name: str,
    doc: str,
    parameters: dict[str, Attribute],
    check: Callable[[str, Attrs], None],
    steps: Callable[..., list[Step]],
) -> Operator:
    """Register an operator that changes colors by random amounts.

    Args:
        doc: Public documentation.
        check: ``check(operator, attributes)`` raises OperatorError for invalid attributes.
        steps: See `COLOR_STEPS`; the attributes include ``key``.
    """
    COLOR_STEPS[name] = steps

    def infer(data: Spec, **attrs: Any) -> tuple[Spec]:
        check(name, attrs)
        return (check_color_image(name, data),)

    def kernel(xp: ModuleType, out: Any, data: Any, **attrs: Any) -> None:
        _change(steps, xp, out, data, attrs)

    return register(
        Operator(
            name,
            infer,
            kernel,
            None,
            doc=(
                f"{doc}.\n\nA fourth channel is alpha, and does not change. Integers are truncated "
                "toward zero and\nclipped to the range of their dtype.\n\n"
                "Shapes: data and output (height, width, channels), of 1, 3 or 4 channels."
            ),
            schema=Schema(**parameters),
            aliases=(f"_npx_{name}",),
            execution=Execution(random=True, heavy=True),
        )
    )


def _check_range(name: str, attrs: Attrs) -> None:
    low, high = attrs["min_factor"], attrs["max_factor"]
    if not 0 <= low <= high < math.inf:
        raise OperatorError(f"{name}: expected 0 <= min_factor <= max_factor, got {low} and {high}")


def _check_amounts(name: str, attrs: Attrs) -> None:
    for attribute, amount in attrs.items():
        if not 0 <= amount < math.inf:
            raise OperatorError(f"{name}: expected {attribute} of at least 0, got {amount}")


def _ranged(name: str, doc: str) -> Operator:
    change = name.removeprefix("_image_random_")

    def steps(xp: ModuleType, *, key: Key, min_factor: float, max_factor: float) -> list[Step]:
        return [(change, _between(key, min_factor, max_factor))]

    doc += " a random number" if change == "hue" else " by a random factor"
    doc += " from min_factor to max_factor"
    limits = {"min_factor": number(), "max_factor": number()}
    return _register(name, doc, limits, _check_range, steps)


_JITTER = ("brightness", "contrast", "saturation", "hue")


def _jitter(xp: ModuleType, *, key: Key, **amounts: float) -> list[Step]:
    """Draw the changes with a nonzero amount, in random order."""
    order = sorted(zip(random_bits(xp, key, len(_JITTER)).tolist(), _JITTER, strict=True))
    steps: list[Step] = []
    for i, (_, change) in enumerate(order):
        amount = amounts[change]
        if amount > 0:
            sample = _between(substream(key, i + 1), -amount, amount)
            steps.append((change, sample if change == "hue" else 1 + sample))
    return steps


def _random_lighting(xp: ModuleType, *, key: Key, alpha_std: float) -> list[Step]:
    return [_light((normal(xp, key, (3,), FLOAT64) * alpha_std).tolist())]


RANDOM_COLORS = (
    _ranged("_image_random_brightness", "Change the brightness of an image: multiply it"),
    _ranged(
        "_image_random_contrast",
        "Change the contrast of an image: multiply its difference from its mean gray",
    ),
    _ranged(
        "_image_random_saturation",
        "Change the saturation of an image: multiply its difference from gray",
    ),
    _ranged(
        "_image_random_hue",
        "Change the hue of an image: add to it, as a fraction of the color circle,",
    ),
    _register(
        "_image_random_color_jitter",
        "Change the brightness, contrast, saturation and hue of an image by at most these amounts, "
        "in random order",
        {change: number() for change in _JITTER},
        _check_amounts,
        _jitter,
    ),
    _register(
        "_image_random_lighting",
        "Add random light to an image, along the principal color components of ImageNet (PCA "
        "lighting)",
        {"alpha_std": number(0.05)},
        _check_amounts,
        _random_lighting,
    ),
)


def _adjust_infer(data: Spec, *, alpha: tuple[float, ...]) -> tuple[Spec]:
    if len(alpha) != 3:
        raise OperatorError(f"_image_adjust_lighting: expected alpha of 3 numbers, got {alpha}")
    return (check_color_image("_image_adjust_lighting", data),)


def _adjust_steps(xp: ModuleType, *, alpha: tuple[float, ...]) -> list[Step]:
    return [_light(alpha)]


COLOR_STEPS["_image_adjust_lighting"] = _adjust_steps


def _adjust_kernel(xp: ModuleType, out: Any, data: Any, **attrs: Any) -> None:
    _change(_adjust_steps, xp, out, data, attrs)


def _adjust_gradient(g: V, data: V, *, alpha: tuple[float, ...]) -> tuple[Any]:
    return (g,)


ADJUST_LIGHTING = register(
    Operator(
        "_image_adjust_lighting",
        _adjust_infer,
        _adjust_kernel,
        _adjust_gradient,
        doc=(
            "Add light to an image: alpha of each principal color component of ImageNet (PCA\n"
            "lighting).\n\n"
            "A fourth channel does not change, nor does a gray image. Integers are truncated\n"
            "toward zero and clipped to the range of their dtype.\n\n"
            "Shapes: data and output (height, width, channels), of 1, 3 or 4 channels, alpha 3\n"
            "numbers."
        ),
        schema=Schema(alpha=numbers()),
        aliases=("_npx__image_adjust_lighting",),
    )
)
