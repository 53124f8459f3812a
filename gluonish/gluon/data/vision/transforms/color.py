"""Random color transforms.

Images are (height, width, channels); random numbers are drawn from gluonish's generator. Integers
are truncated toward zero and clipped to the range of their dtype.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import check_numbers
from gluonish.core.spec import Spec
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.data.vision.transforms.host import HostTransform, random_key, run_operator
from gluonish.gluon.nn.tensor import Tensor
from gluonish.ops.image.pixel_math import check_color_image
from gluonish.ops.registry import find_operator
from gluonish.ops.support.philox import uniform


def _checked(name: str, **amounts: float) -> tuple[float, ...]:
    check_numbers(name, **amounts)
    for kind, amount in amounts.items():
        if not abs(amount) < math.inf:
            raise ArgumentError(f"{name}: expected a finite {kind}, got {amount}")
    return tuple(map(abs, amounts.values()))  # as in MXNet, which then swaps the limits


class _ByRandomFactor(HostTransform, HybridBlock):
    """Base class of transforms with a factor drawn from [max(0, 1 - amount), 1 + amount].

    Args:
        kind: The changed property, as in the operator's name.
        amount: Largest change of the factor.
    """

    def __init__(self, kind: str, amount: float) -> None:
        super().__init__()
        (amount,) = _checked(type(self).__name__, **{kind: amount})
        self._kwargs = {kind: amount}
        self._function = f"random_{kind}"
        self._operator = f"_image_random_{kind}"
        self._min_factor, self._max_factor = max(0, 1 - amount), 1 + amount

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Change the image."""
        return getattr(F.image, self._function)(x, self._min_factor, self._max_factor)

    def on_host(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Apply the transform to a NumPy array."""
        op = find_operator(self._operator)
        return run_operator(op, values, min_factor=self._min_factor, max_factor=self._max_factor)


class RandomBrightness(_ByRandomFactor):
    """Change the brightness: multiply the image by a random factor.

    Args:
        brightness: The factor is drawn from [max(0, 1 - brightness), 1 + brightness].

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, any dtype but bool; a fourth channel
            (alpha) does not change.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``brightness`` is negative.
    """

    def __init__(self, brightness: float) -> None:
        super().__init__("brightness", brightness)


class RandomContrast(_ByRandomFactor):
    """Change the contrast: scale the distance of each pixel from the image's mean gray level.

    Args:
        contrast: The factor is drawn from [max(0, 1 - contrast), 1 + contrast].

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, any dtype but bool; a fourth channel
            (alpha) does not change.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``contrast`` is negative.
    """

    def __init__(self, contrast: float) -> None:
        super().__init__("contrast", contrast)


class RandomSaturation(_ByRandomFactor):
    """Change the saturation: scale each pixel's distance from its gray by a random factor.

    Args:
        saturation: The factor is drawn from [max(0, 1 - saturation), 1 + saturation].

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, any dtype but bool; a fourth channel
            (alpha) does not change.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``saturation`` is negative.
    """

    def __init__(self, saturation: float) -> None:
        super().__init__("saturation", saturation)


class RandomHue(_ByRandomFactor):
    """Change the hue: rotate the colors of an image by a random angle.

    Args:
        hue: The angle, in full turns, is drawn from [max(0, 1 - hue), 1 + hue]; 1 changes nothing.

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, any dtype but bool; a fourth channel
            (alpha) does not change.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``hue`` is negative.
    """

    def __init__(self, hue: float) -> None:
        super().__init__("hue", hue)


class RandomColorJitter(HostTransform, HybridBlock):
    """Change brightness, contrast, saturation and hue at random, in random order.

    Args:
        brightness: Largest change of the brightness factor; 0 for none.
        contrast: Largest change of the contrast factor; 0 for none.
        saturation: Largest change of the saturation factor; 0 for none.
        hue: Largest rotation of the hue, in full turns; 0 for none.

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, any dtype but bool; a fourth channel
            (alpha) does not change.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: An amount is negative.
    """

    def __init__(
        self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0
    ) -> None:
        super().__init__()
        self._kwargs = {
            "brightness": brightness,
            "contrast": contrast,
            "saturation": saturation,
            "hue": hue,
        }
        self._args = _checked("RandomColorJitter", **self._kwargs)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Change brightness, contrast, saturation and hue in random order.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (height, width, channels).
        """
        return F.image.random_color_jitter(x, *self._args)

    def on_host(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Apply the transform to a NumPy array."""
        amounts: dict[str, Any] = dict(zip(self._kwargs, self._args, strict=True))
        return run_operator(find_operator("_image_random_color_jitter"), values, **amounts)


class RandomGray(HostTransform, HybridBlock):
    """Convert an image to gray with a given probability.

    Args:
        p: The probability.

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, any dtype but bool; a fourth channel
            (alpha) does not change.

    Outputs:
        y: shape and dtype of ``x``; three channels of the same brightness, or ``x``.

    Raises:
        ArgumentError: ``p`` is outside [0, 1].
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ArgumentError(f"RandomGray: expected p in [0, 1], got {p}")
        self._p = p

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Convert the image to gray with the given probability.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (height, width, channels).
        """
        # Saturation 0 is gray, with the weights of all color transforms.
        gray = F.image.random_saturation(x, 0, 0)
        drawn = F.random.uniform(shape=(1, 1, 1)) < self._p
        return F.where(F.broadcast_like(drawn, x), gray, x)

    def on_host(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Apply the transform to a NumPy array."""
        check_color_image("RandomGray", Spec(values.shape, values.dtype))
        key = random_key()
        if uniform(np, random_key(), (1,))[0] >= np.float32(self._p):
            return values
        op = find_operator("_image_random_saturation")
        return run_operator(op, values, key, min_factor=0.0, max_factor=0.0)


class RandomLighting(HostTransform, HybridBlock):
    """Add random light along the principal color components of ImageNet (AlexNet's PCA noise).

    Args:
        alpha: Standard deviation of the amount along each component.

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, any dtype but bool; a fourth channel
            (alpha) does not change, nor does a gray image.

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
        """Add PCA noise to the image.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (height, width, channels).
        """
        return F.image.random_lighting(x, self._alpha)

    def on_host(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Apply the transform to a NumPy array."""
        op = find_operator("_image_random_lighting")
        return run_operator(op, values, alpha_std=self._alpha)
