"""Random sequences of operations: RandAugment, TrivialAugment and AugMix.

Operations and magnitudes are those of torchvision (of RandAugment also those of timm), with images
of bytes as Pillow changes them.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import as_int
from gluonish.gluon.data.vision.transforms import levels
from gluonish.gluon.data.vision.transforms.augmentation import (
    Augmentation,
    Fill,
    fill_of,
    filled,
    interpolation_of,
    number_above,
    number_from,
)
from gluonish.gluon.data.vision.transforms.host import Array
from gluonish.gluon.data.vision.transforms.warp import affine_map, warped


class Magnitudes(NamedTuple):
    """Strengths of an operation.

    Args:
        values: One for each bin, from weak to strong.
        signed: Whether the sign is drawn, too.
    """

    values: Array
    signed: bool = False


Space = dict[str, Magnitudes]
_NONE = Magnitudes(np.zeros(1))
# Operations that are maps of positions: coefficients from magnitude, width and height.
_MAPS: dict[str, Callable[[float, int, int], tuple[float, ...]]] = {
    "ShearX": lambda m, w, h: affine_map((0, 0), shear=(math.degrees(math.atan(m)), 0)),
    "ShearY": lambda m, w, h: affine_map((0, 0), shear=(0, math.degrees(math.atan(m)))),
    "TranslateX": lambda m, w, h: affine_map((0, 0), translate=(int(m), 0)),
    "TranslateY": lambda m, w, h: affine_map((0, 0), translate=(0, int(m))),
    "Rotate": lambda m, w, h: affine_map((w / 2, h / 2), -m),
}
_LEVELS: dict[str, Callable[[Array, float], Array]] = {
    "Brightness": lambda x, m: levels.with_brightness(x, 1 + m),
    "Color": lambda x, m: levels.with_saturation(x, 1 + m),
    "Contrast": lambda x, m: levels.with_contrast(x, 1 + m),
    "Sharpness": lambda x, m: levels.with_sharpness(x, 1 + m),
    "Posterize": lambda x, m: levels.posterized(x, math.ceil(m)),
    "Solarize": levels.solarized,
    "AutoContrast": lambda x, m: levels.contrasted(x),
    "Equalize": lambda x, m: levels.equalized(x),
    "Invert": lambda x, m: levels.inverted(x),
    "SolarizeAdd": levels.raised,
}


def operation(
    values: Array, name: str, magnitude: float, interpolation: int, fill: tuple[float, ...]
) -> Array:
    """Apply an operation of a policy to an image.

    Args:
        values: Image (height, width, channels), uint8 or floating point in [0, 1]; contiguous.
        name: Name of the operation, as in `rand_augment_space`.
        magnitude: Its strength.
        interpolation: 0 for the nearest pixel, 1 for bilinear.
        fill: Value of each channel outside of the image.
    """
    if name == "Identity":
        return values
    if name in _MAPS:
        height, width = values.shape[:2]
        return warped(values, _MAPS[name](magnitude, width, height), interpolation, fill)
    return levels.on_colors(lambda colors: _LEVELS[name](colors, magnitude), values)


_SIZES = 64  # sizes of images whose operations are kept


def _space(
    bins: int, shear: float, shift: tuple[float, float], angle: float, factor: float, bits: Array
) -> Space:
    """Return the operations with magnitudes from 0 to the given strongest ones."""

    def up_to(most: float) -> Magnitudes:
        return Magnitudes(np.linspace(0, most, bins), True)

    return {
        "Identity": _NONE,
        "ShearX": up_to(shear),
        "ShearY": up_to(shear),
        "TranslateX": up_to(shift[0]),
        "TranslateY": up_to(shift[1]),
        "Rotate": up_to(angle),
        "Brightness": up_to(factor),
        "Color": up_to(factor),
        "Contrast": up_to(factor),
        "Sharpness": up_to(factor),
        "Posterize": Magnitudes(bits),
        "Solarize": Magnitudes(np.linspace(255, 0, bins)),
        "AutoContrast": _NONE,
        "Equalize": _NONE,
    }


def _fewer_bits(bins: int, start: int, less: int) -> Array:
    """Return numbers of bits, from ``start`` down to ``start - less``."""
    return start - np.round(np.arange(bins) / ((bins - 1) / less)).astype(int)


@lru_cache(maxsize=_SIZES)
def rand_augment_space(bins: int, height: int, width: int) -> Space:
    """Return the operations of RandAugment for images of a size."""
    part = 150 / 331  # AutoAugment's largest translation, of images of 331 pixels
    return _space(bins, 0.3, (part * width, part * height), 30, 0.9, _fewer_bits(bins, 8, 4))


def timm_space(bins: int, height: int, width: int) -> Space:
    """Return the operations of timm's RandAugment, all of which grow with the magnitude."""
    steps = np.linspace(0, 1, bins)
    shift = (0.45 * width, 0.45 * height)
    space = {
        **_space(bins, 0.3, shift, 30, 0.9, 4 - 4 * steps),  # a part of a bit counts as one
        "Solarize": Magnitudes(256 - 256 * steps),
        "SolarizeAdd": Magnitudes(np.minimum(128, 110 * steps)),
        "Invert": _NONE,
    }
    del space["Identity"]
    return space


def trivial_augment_space(bins: int) -> Space:
    """Return the operations of TrivialAugment Wide."""
    return _space(bins, 0.99, (32, 32), 135, 0.99, _fewer_bits(bins, 8, 6))


_AUGMIX_BINS = 10
_EXTRA_OPERATIONS = ("Brightness", "Color", "Contrast", "Sharpness")


@lru_cache(maxsize=_SIZES)
def augmix_space(height: int, width: int, all_ops: bool) -> Space:
    """Return the operations of AugMix for images of a size."""
    space = _space(
        _AUGMIX_BINS, 0.3, (width / 3, height / 3), 30, 0.9, _fewer_bits(_AUGMIX_BINS, 4, 4)
    )
    left_out = {"Identity"} if all_ops else {"Identity", *_EXTRA_OPERATIONS}
    return {name: found for name, found in space.items() if name not in left_out}


def _drawn_operation(
    space: Space, rng: np.random.Generator, index: Callable[[int], float]
) -> tuple[str, float]:
    """Draw an operation; ``index`` gives the bin of its magnitude from their number.

    Between two bins the magnitude is interpolated.
    """
    name = list(space)[int(rng.integers(len(space)))]
    values, signed = space[name]
    magnitude = 0.0
    if len(values) > 1:
        position = index(len(values))
        if isinstance(position, int):
            magnitude = float(values[position])
        else:
            magnitude = float(np.interp(position, np.arange(len(values)), values))
    return name, -magnitude if signed and rng.random() < 0.5 else magnitude


_SPACES: dict[str, Callable[[int, int, int], dict[str, Any]]] = {
    "torchvision": rand_augment_space,
    "timm": timm_space,
}


class _Policy(Augmentation):
    """Base class of random sequences of operations."""

    _colors = True

    def __init__(self, interpolation: Any, fill: Any) -> None:
        super().__init__()
        name = type(self).__name__
        self._interpolation = interpolation_of(name, interpolation)
        self._fill = fill_of(name, 0 if fill is None else fill)

    def _apply(self, values: Array, chosen: tuple[str, float]) -> Array:
        fill = filled(type(self).__name__, self._fill, values.shape[2])
        return operation(values, *chosen, self._interpolation, fill)


def _bins_of(owner: str, bins: int) -> int:
    return as_int(owner, "num_magnitude_bins", bins, 2)


class RandAugment(_Policy):
    """Apply random operations of one common magnitude, one after the other.

    The operations are Identity, ShearX, ShearY, TranslateX, TranslateY, Rotate, Brightness, Color,
    Contrast, Sharpness, Posterize, Solarize, AutoContrast and Equalize.

    Args:
        num_ops: Number of operations for an image.
        magnitude: Their strength, from 0 to ``num_magnitude_bins - 1``.
        num_magnitude_bins: Number of strengths, 2 or more.
        interpolation: ``"nearest"`` (0) or ``"bilinear"`` (1).
        fill: Value of pixels from outside of the image, or one for each channel, in units of the
            image; None for 0.
        magnitude_std: Standard deviation of the magnitude, which is then drawn for each operation
            from a normal distribution around ``magnitude``, clipped to the range of magnitudes.
        operations: ``"torchvision"`` for the operations above. ``"timm"`` for those of timm's
            ``rand-m{magnitude}-mstd{magnitude_std}-inc1`` (which has 11 bins): Invert and
            SolarizeAdd, too, no Identity, and each operation is left out with probability 0.5.

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, uint8, or floating point in [0, 1].

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: An argument is out of its range; at the call: the input is no such image.
        ArgumentTypeError: ``num_ops``, ``magnitude`` or ``num_magnitude_bins`` is not an int.

    References:
        E. D. Cubuk, B. Zoph, J. Shlens, Q. V. Le, RandAugment: Practical Automated Data
        Augmentation with a Reduced Search Space, NeurIPS 2020; operations and magnitudes as in
        torchvision. Those of timm: R. Wightman, H. Touvron, H. Jégou, ResNet Strikes Back, 2021.
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: int | str = "nearest",
        fill: Fill | None = None,
        *,
        magnitude_std: float = 0.0,
        operations: str = "torchvision",
    ) -> None:
        super().__init__(interpolation, fill)
        name = "RandAugment"
        self._std = number_from(name, "magnitude_std", magnitude_std, 0)
        if not isinstance(operations, str) or operations not in _SPACES:
            raise ArgumentError(
                f"{name}: expected operations 'torchvision' or 'timm', got {operations!r}"
            )
        self._operations = operations
        self._num_ops = as_int(name, "num_ops", num_ops, 0)
        self._bins = _bins_of(name, num_magnitude_bins)
        self._magnitude = as_int(name, "magnitude", magnitude, 0)
        if self._magnitude >= self._bins:
            raise ArgumentError(
                f"{name}: expected magnitude below num_magnitude_bins ({self._bins}), "
                f"got {magnitude}"
            )

    def changed(self, values: Array, rng: np.random.Generator) -> Array:
        """Return the changed image."""
        values = np.ascontiguousarray(values)
        height, width = values.shape[:2]
        space = _SPACES[self._operations](self._bins, height, width)
        for _ in range(self._num_ops):
            drawn = _drawn_operation(space, rng, lambda n: self._drawn_magnitude(rng))
            if self._operations == "torchvision" or rng.random() < 0.5:
                values = self._apply(values, drawn)
        return values

    def _drawn_magnitude(self, rng: np.random.Generator) -> float:
        if not self._std:
            return self._magnitude
        return min(max(float(rng.normal(self._magnitude, self._std)), 0.0), self._bins - 1.0)


class TrivialAugmentWide(_Policy):
    """Apply one random operation of random magnitude.

    The operations are those of `RandAugment`, with a wider range of magnitudes.

    Args:
        num_magnitude_bins: Number of strengths, 2 or more.
        interpolation: ``"nearest"`` (0) or ``"bilinear"`` (1).
        fill: Value of pixels from outside of the image, or one for each channel, in units of the
            image; None for 0.

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, uint8, or floating point in [0, 1].

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: An argument is out of its range; at the call: the input is no such image.
        ArgumentTypeError: ``num_magnitude_bins`` is not an int.

    References:
        S. G. Müller, F. Hutter, TrivialAugment: Tuning-free Yet State-of-the-Art Data Augmentation,
        ICCV 2021; operations and magnitudes as in torchvision.
    """

    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: int | str = "nearest",
        fill: Fill | None = None,
    ) -> None:
        super().__init__(interpolation, fill)
        self._space = trivial_augment_space(_bins_of("TrivialAugmentWide", num_magnitude_bins))

    def changed(self, values: Array, rng: np.random.Generator) -> Array:
        """Return the changed image."""
        chosen = _drawn_operation(self._space, rng, lambda n: int(rng.integers(n)))
        return self._apply(np.ascontiguousarray(values), chosen)


class AugMix(_Policy):
    """Mix an image with several chains of random operations.

    The result is ``(1 - m) x + m sum_i w_i chain_i(x)``, with ``m`` drawn from Beta(alpha, alpha)
    and the weights ``w`` from a Dirichlet distribution.

    Args:
        severity: Number of magnitudes to draw from, 1 to 10.
        mixture_width: Number of chains, 1 or more.
        chain_depth: Number of operations in a chain; -1 for 1 to 3 at random.
        alpha: Parameter of both distributions, above 0.
        all_ops: Whether Brightness, Color, Contrast and Sharpness are used, too, which overlap with
            the corruptions of ImageNet-C.
        interpolation: ``"nearest"`` (0) or ``"bilinear"`` (1).
        fill: Value of pixels from outside of the image, or one for each channel, in units of the
            image; None for 0.

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, uint8, or floating point in [0, 1].

    Outputs:
        y: shape and dtype of ``x``; bytes are rounded to the nearest.

    Raises:
        ArgumentError: An argument is out of its range; at the call: the input is no such image.
        ArgumentTypeError: ``severity``, ``mixture_width`` or ``chain_depth`` is not an int.

    References:
        D. Hendrycks, N. Mu, E. D. Cubuk, B. Zoph, J. Gilmer, B. Lakshminarayanan, AugMix: A Simple
        Data Processing Method to Improve Robustness and Uncertainty, ICLR 2020; operations and
        magnitudes as in torchvision.
    """

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: int | str = "bilinear",
        fill: Fill | None = None,
    ) -> None:
        super().__init__(interpolation, fill)
        name = "AugMix"
        self._severity = as_int(name, "severity", severity)
        if not 1 <= self._severity <= _AUGMIX_BINS:
            raise ArgumentError(f"{name}: expected severity from 1 to 10, got {severity}")
        self._width = as_int(name, "mixture_width", mixture_width, 1)
        self._depth = as_int(name, "chain_depth", chain_depth)
        if self._depth < 1 and self._depth != -1:
            raise ArgumentError(
                f"{name}: expected chain_depth of 1 or more, or -1, got {chain_depth}"
            )
        self._alpha = number_above(name, "alpha", alpha, 0)
        self._all_ops = bool(all_ops)

    def changed(self, values: Array, rng: np.random.Generator) -> Array:
        """Return the changed image."""
        values = np.ascontiguousarray(values)
        height, width = values.shape[:2]
        space = augmix_space(height, width, self._all_ops)
        mixed_part = rng.beta(self._alpha, self._alpha)
        weights = mixed_part * rng.dirichlet([self._alpha] * self._width)
        dtype = np.float64 if values.dtype == np.float64 else np.float32
        total: Array = values * dtype(1 - mixed_part)
        for weight in weights:
            chain = values
            depth = self._depth if self._depth > 0 else int(rng.integers(1, 4))
            for _ in range(depth):
                drawn = _drawn_operation(space, rng, lambda n: int(rng.integers(self._severity)))
                chain = self._apply(chain, drawn)
            total += chain * dtype(weight)
        whole = values.dtype == np.uint8
        found: Array = np.clip(np.rint(total), 0, 255) if whole else np.clip(total, 0, 1)
        return found.astype(values.dtype)
