"""Random changes of an image's colours.

Images are (height, width, channels); what is random is drawn from gluonish's generator. Whole
numbers are cut toward zero, and end at what their dtype holds.
"""

import math
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.hybrid_block import HybridBlock
from gluonish.nn.tensor import Tensor

__all__ = [
    "RandomBrightness",
    "RandomColorJitter",
    "RandomContrast",
    "RandomHue",
    "RandomLighting",
    "RandomSaturation",
]


def _checked(name: str, **amounts: float) -> tuple[float, ...]:
    for word, amount in amounts.items():
        if not 0 <= amount < math.inf:
            raise ArgumentError(f"{name}: expected {word} of at least 0, got {amount}")
    return tuple(amounts.values())


def _factors(name: str, **amounts: float) -> tuple[float, float]:
    """Return the least and the largest factor of a change by up to an amount."""
    (amount,) = _checked(name, **amounts)
    return max(0, 1 - amount), 1 + amount


class RandomBrightness(HybridBlock):
    """Multiply an image by a random factor.

    Args:
        brightness: The factor is drawn from [max(0, 1 - brightness), 1 + brightness].

    Inputs:
        x: (height, width, channels), any dtype but bool.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``brightness`` is negative.
    """

    def __init__(self, brightness: float) -> None:
        super().__init__()
        self._args = _factors("RandomBrightness", brightness=brightness)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Change the brightness."""
        return F.image.random_brightness(x, *self._args)


class RandomContrast(HybridBlock):
    """Multiply an image's distance from its mean gray by a random factor.

    Args:
        contrast: The factor is drawn from [max(0, 1 - contrast), 1 + contrast].

    Inputs:
        x: (height, width, channels), any dtype but bool.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``contrast`` is negative.
    """

    def __init__(self, contrast: float) -> None:
        super().__init__()
        self._args = _factors("RandomContrast", contrast=contrast)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Change the contrast."""
        return F.image.random_contrast(x, *self._args)


class RandomSaturation(HybridBlock):
    """Multiply each pixel's distance from its gray by a random factor.

    Args:
        saturation: The factor is drawn from [max(0, 1 - saturation), 1 + saturation].

    Inputs:
        x: (height, width, channels), any dtype but bool.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``saturation`` is negative.
    """

    def __init__(self, saturation: float) -> None:
        super().__init__()
        self._args = _factors("RandomSaturation", saturation=saturation)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Change the saturation."""
        return F.image.random_saturation(x, *self._args)


class RandomHue(HybridBlock):
    """Turn the hues of an image by a random share of the circle of hues.

    Args:
        hue: The share is drawn from [max(0, 1 - hue), 1 + hue]; 1 is a full turn, no change.

    Inputs:
        x: (height, width, channels), any dtype but bool.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``hue`` is negative.
    """

    def __init__(self, hue: float) -> None:
        super().__init__()
        self._args = _factors("RandomHue", hue=hue)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Turn the hues."""
        return F.image.random_hue(x, *self._args)


class RandomColorJitter(HybridBlock):
    """Change brightness, contrast, saturation and hue by up to some amounts, in random order.

    Args:
        brightness: Largest change of the factor; 0 for none.
        contrast: Likewise.
        saturation: Likewise.
        hue: Largest share of the circle of hues to turn by.

    Inputs:
        x: (height, width, channels), any dtype but bool.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: An amount is negative.
    """

    def __init__(
        self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0
    ) -> None:
        super().__init__()
        self._args = _checked(
            "RandomColorJitter",
            brightness=brightness,
            contrast=contrast,
            saturation=saturation,
            hue=hue,
        )

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Change the colours."""
        return F.image.random_color_jitter(x, *self._args)


class RandomLighting(HybridBlock):
    """Add light of random amount and of the colours in which the images of ImageNet vary.

    Args:
        alpha: Standard deviation of the amount in each colour.

    Inputs:
        x: (height, width, 3), any dtype but bool.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``alpha`` is negative.

    References:
        A. Krizhevsky, I. Sutskever, G. Hinton, ImageNet Classification with Deep Convolutional
        Neural Networks, NeurIPS 2012.
    """

    def __init__(self, alpha: float) -> None:
        super().__init__()
        (self._alpha,) = _checked("RandomLighting", alpha=alpha)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Add light."""
        return F.image.random_lighting(x, self._alpha)
