"""Base class of augmentations that are functions of NumPy arrays, and checks of their arguments."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import as_float
from gluonish.core.object_repr import default_repr
from gluonish.gluon.data.vision.transforms.host import (
    Array,
    HostTransform,
    random_key,
    with_others,
)
from gluonish.io.shared_batch import ndarray_view
from gluonish.ndarray import NDArray, array
from gluonish.numpy.array import gluon_array

COLOR_CHANNELS = (1, 3, 4)
_INTERPOLATIONS = {"nearest": 0, "bilinear": 1, 0: 0, 1: 1}


class _PhiloxKey(ISeedSequence):
    """A key for Philox as a seed sequence: ``Philox(key=...)`` asks the system for entropy, too.

    Args:
        seed: The key's upper 64 bits.
        counter: Its lower 64 bits.
    """

    __slots__ = ("_words",)
    __repr__ = default_repr

    def __init__(self, seed: int, counter: int) -> None:
        self._words = np.array((counter, seed), np.uint64)

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> Any:
        """Return the key, the two 64-bit words for which Philox asks."""
        return self._words


def random_generator() -> np.random.Generator:
    """Return a generator seeded with the next random key of gluonish's generator on the host."""
    seed: Any = _PhiloxKey(*random_key())  # NumPy's types ask for its own SeedSequence
    return np.random.Generator(np.random.Philox(seed))


def number_in(owner: str, name: str, value: object, low: float, high: float) -> float:
    """Return a number in [low, high] as a float, or raise an ArgumentError."""
    number = as_float(owner, name, value)
    if not low <= number <= high:
        raise ArgumentError(f"{owner}: expected {name} in [{low:g}, {high:g}], got {value!r}")
    return number


def number_above(owner: str, name: str, value: object, low: float) -> float:
    """Return a finite number above ``low`` as a float, or raise an ArgumentError."""
    number = as_float(owner, name, value)
    if not low < number < np.inf:
        raise ArgumentError(f"{owner}: expected {name} above {low:g}, got {value!r}")
    return number


def number_from(owner: str, name: str, value: object, low: float) -> float:
    """Return a finite number of at least ``low`` as a float, or raise an ArgumentError."""
    number = as_float(owner, name, value)
    if not low <= number < np.inf:
        raise ArgumentError(f"{owner}: expected {name} of {low:g} or more, got {value!r}")
    return number


def range_of(
    owner: str, name: str, value: object, low: float = -np.inf, high: float = np.inf
) -> tuple[float, float]:
    """Return (smallest, largest), two numbers in order and in [low, high].

    Raises:
        ArgumentError: The numbers are not in order, or out of range.
        ArgumentTypeError: The value is not a pair of numbers.
    """
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise ArgumentTypeError(f"{owner}: expected {name} to be (min, max), got {value!r}")
    first, second = (as_float(owner, name, limit) for limit in value)
    if not low <= first <= second <= high or np.isinf([first, second]).any():
        limits = "" if low == -np.inf else f" of at least {low:g}"
        limits += "" if high == np.inf else f" and at most {high:g}"
        raise ArgumentError(f"{owner}: expected {name} (min, max) in order{limits}, got {value!r}")
    return first, second


def interpolation_of(owner: str, value: Any) -> int:
    """Return 0 for ``"nearest"`` or 0, 1 for ``"bilinear"`` or 1."""
    try:
        return _INTERPOLATIONS[value]
    except (KeyError, TypeError):
        raise ArgumentError(
            f"{owner}: expected interpolation 'nearest' (0) or 'bilinear' (1), got {value!r}"
        ) from None


Fill = float | Sequence[float]


def fill_of(owner: str, value: Any) -> tuple[float, ...]:
    """Return the values of new pixels, one or one for each channel."""
    several = isinstance(value, Sequence) and not isinstance(value, str)
    values = tuple(value) if several else (value,)
    if not values:
        raise ArgumentError(f"{owner}: expected fill with a number for each channel, got {value!r}")
    return tuple(number_in(owner, "fill", number, 0, 255) for number in values)


def filled(owner: str, fill: tuple[float, ...], channels: int) -> tuple[float, ...]:
    """Return a value for each channel of an image, or raise an ArgumentError."""
    if len(fill) == 1:
        return fill * channels
    if len(fill) != channels:
        raise ArgumentError(
            f"{owner}: expected fill with 1 or {channels} numbers, the channels of the image, "
            f"got {fill}"
        )
    return fill


def check_pixels(owner: str, values: Array, colors: bool) -> None:
    """Raise an ArgumentError for what is no image (height, width, channels) of bytes or floats.

    Args:
        owner: Class name of the transform.
        values: The image.
        colors: Whether it must have 1, 3 or 4 channels, and floats in [0, 1].
    """
    if values.ndim != 3 or not values.size or (colors and values.shape[2] not in COLOR_CHANNELS):
        kind = "1, 3 or 4 channels" if colors else "channels"
        raise ArgumentError(
            f"{owner}: expected an image (height, width, {kind}), got shape {values.shape}"
        )
    if values.dtype == np.uint8:
        return
    if values.dtype.kind != "f":
        raise ArgumentTypeError(
            f"{owner}: expected an image of uint8 or floats, got {values.dtype}"
        )
    if colors:
        low, high = float(values.min()), float(values.max())
        if not (low >= 0 and high <= 1):
            raise ArgumentError(
                f"{owner}: expected floats in [0, 1], got values from {low:g} to {high:g}; divide "
                "by 255, or use uint8"
            )


class Augmentation(HostTransform):
    """Base class of augmentations: a subclass implements `changed`.

    The computation runs on the host; images on other devices are copied there and back. Random
    numbers come from gluonish's generator, so `mx.random.seed` repeats them.

    Args:
        p: Probability that the image is changed.
    """

    _colors = False

    def __init__(self, p: float = 1.0) -> None:
        super().__init__()
        self._p = number_in(type(self).__name__, "p", p, 0, 1)

    def changed(self, values: Array, rng: np.random.Generator) -> Array:
        """Return the changed image, of the shape and dtype of ``values``.

        Args:
            values: Image (height, width, channels), uint8 or floating point; not modified.
            rng: Generator of the random numbers.
        """
        raise NotImplementedError

    def augmented(self, values: Array, rng: np.random.Generator) -> Array:
        """Apply the transform to a NumPy array, with a given generator of random numbers.

        Args:
            values: Image (height, width, channels), uint8 or floating point; not modified.
            rng: Generator of the random numbers.
        """
        check_pixels(type(self).__name__, values, self._colors)
        if self._p < 1 and rng.random() >= self._p:
            return values
        return self.changed(values, rng)

    def on_host(self, values: Array) -> Array:
        """Apply the transform to a NumPy array."""
        return self.augmented(values, random_generator())

    def forward(self, x: NDArray, *args: Any) -> Any:
        """Apply the transform.

        Args:
            x: Image (height, width, channels), uint8 or floating point.
            *args: Further arguments, such as a label, which are returned after the image.
        """
        return with_others(array_like(self.on_host(x.asnumpy()), x), args)


def array_like(values: Array, x: NDArray) -> NDArray:
    """Return a NumPy array, not copied on the host, as an array of the device of another."""
    if x.ctx == cpu():
        return ndarray_view(np.ascontiguousarray(values))
    return gluon_array(array(values, ctx=x.ctx, dtype=values.dtype))
