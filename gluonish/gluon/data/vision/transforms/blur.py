"""Gaussian blur."""

from collections.abc import Sequence

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import as_int
from gluonish.gluon.data.vision.transforms.augmentation import (
    Augmentation,
    number_above,
    range_of,
)
from gluonish.gluon.data.vision.transforms.host import Array
from gluonish.ops.image.resampling import open_cv


def gaussian_weights(size: int, sigma: float) -> Array:
    """Return ``size`` weights of a normal distribution about their middle, with sum 1, float64."""
    distance = np.arange(size) - (size - 1) / 2
    weights: Array = np.exp(-0.5 * (distance / sigma) ** 2)
    weights /= weights.sum()
    return weights


def blurred(values: Array, across: Array, down: Array) -> Array:
    """Convolve an image with weights along both axes; the border reflects, without its last pixel.

    Args:
        values: Image (height, width, channels), uint8 or floating point.
        across: Weights along the width, an odd number.
        down: Weights along the height, an odd number.
    """
    height, width, channels = values.shape
    dtype = np.float64 if values.dtype == np.float64 else np.float32
    x: Array = np.array(values, dtype, order="C")
    cv2 = open_cv()
    if cv2 is not None and channels <= 4:
        border = cv2.BORDER_REFLECT_101
        x = cv2.sepFilter2D(x, -1, across, down, borderType=border).reshape(values.shape)
    else:
        x = _convolved(x.reshape(height, width * channels), down).reshape(values.shape)
        lines = np.ascontiguousarray(x.swapaxes(0, 1)).reshape(width, height * channels)
        x = _convolved(lines, across).reshape(width, height, channels).swapaxes(0, 1)
    if values.dtype == np.uint8:
        np.rint(x, out=x)
    return x.astype(values.dtype, copy=False)


def _convolved(rows: Array, weights: Array) -> Array:
    """Convolve along the first axis with symmetric weights."""
    half = len(weights) // 2
    padded = np.pad(rows, ((half, half), (0, 0)), "reflect")
    count = len(rows)
    out: Array = padded[half : half + count] * rows.dtype.type(weights[half])
    for offset in range(1, half + 1):
        pair = padded[half - offset : half - offset + count] + padded[half + offset :][:count]
        pair *= rows.dtype.type(weights[half + offset])
        out += pair
    return out


class GaussianBlur(Augmentation):
    """Blur an image with a Gaussian of random width.

    Args:
        kernel_size: Number of weights along width and height, odd; a pair for two numbers.
        sigma: Limits (min, max) of the standard deviation in pixels, above 0; a number for a fixed
            one.
        p: Probability that an image is changed.

    Inputs:
        x: (height, width, channels), uint8 or floating point; higher and wider than half of
            ``kernel_size``.

    Outputs:
        y: shape and dtype of ``x``; bytes are rounded to the nearest.

    Raises:
        ArgumentError: ``kernel_size`` is even or below 1, ``sigma`` is not above 0 and in order, or
            ``p`` is outside [0, 1]; at the call: the input is no such image, or too small.
    """

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        sigma: float | Sequence[float] = (0.1, 2.0),
        p: float = 1.0,
    ) -> None:
        super().__init__(p)
        name = "GaussianBlur"
        sizes = tuple(kernel_size) if isinstance(kernel_size, Sequence) else (kernel_size,) * 2
        if len(sizes) != 2:
            raise ArgumentTypeError(
                f"{name}: expected kernel_size to be one or two ints, got {kernel_size!r}"
            )
        self._sizes = tuple(as_int(name, "kernel_size", size, 1) for size in sizes)
        if any(size % 2 == 0 for size in self._sizes):
            raise ArgumentError(f"{name}: expected an odd kernel_size, got {kernel_size!r}")
        if isinstance(sigma, Sequence):
            self._sigma = range_of(name, "sigma", sigma, 0)
            number_above(name, "sigma[0]", sigma[0], 0)
        else:
            self._sigma = (number_above(name, "sigma", sigma, 0),) * 2

    def changed(self, values: Array, rng: np.random.Generator) -> Array:
        """Return the changed image."""
        across, down = self._sizes
        height, width = values.shape[:2]
        if width <= across // 2 or height <= down // 2:
            raise ArgumentError(
                f"GaussianBlur: expected an image of more than {down // 2} rows and {across // 2} "
                f"columns for kernel_size {self._sizes}, got shape {values.shape}"
            )
        sigma = rng.uniform(self._sigma[0], self._sigma[1])
        return blurred(values, gaussian_weights(across, sigma), gaussian_weights(down, sigma))
