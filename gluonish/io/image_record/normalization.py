"""Conversion of a cropped image to planes of a batch: mirror, mean, deviation, scale, dtype."""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.kernels.generated.pixel_planes import PixelPlanes, Step

Array = np.ndarray[Any, Any]

_INT8_MAX = 127


class Normalization:
    """Writes normalized images into a batch.

    A pixel becomes ``((pixel - mean) * contrast + light) * scale / std``.

    The mean is one number per channel, or a mean image. Contrast and light are drawn for each
    image. For integer dtypes the result is rounded and clipped to their range.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters; the normalization parameters are optional.
        dtype: Element type of the batch.
        mean_image: Mean image (channels, height, width), float32; it replaces the channels' means.

    Raises:
        ArgumentError: A standard deviation, or the limit of a random change, is negative.
    """

    def __init__(
        self,
        name: str,
        parameters: Mapping[str, Any],
        dtype: np.dtype[Any],
        mean_image: Array | None = None,
    ) -> None:
        channels = parameters["data_shape"][0]
        letters = "rgba"[:channels]
        means = [parameters.get(f"mean_{letter}", 0.0) for letter in letters]
        # 0, the default for detection, means no division.
        deviations = [parameters.get(f"std_{letter}", 0.0) or 1.0 for letter in letters]
        self._contrast = parameters.get("max_random_contrast", 0.0)
        self._light = parameters.get("max_random_illumination", 0.0)
        if min(*deviations, self._contrast, self._light) < 0:
            raise ArgumentError(
                f"{name}: expected standard deviations and limits >= 0, got std_{letters} "
                f"{deviations}, max_random_contrast {self._contrast} and max_random_illumination "
                f"{self._light}"
            )
        self._dtype = dtype
        self._mean_image = mean_image
        scale = parameters.get("scale", 1.0)
        self._mean_steps: list[Step] = []
        if mean_image is None and any(means):
            self._mean_steps.append(("subtract", means))
        self._scale_steps: list[Step] = []
        if scale != 1:
            self._scale_steps.append(("multiply", [scale]))
        if any(deviation != 1 for deviation in deviations):
            self._scale_steps.append(("divide", deviations))
        self._planes = PixelPlanes(self._mean_steps + self._scale_steps)
        self._is_identity = mean_image is None and not (
            self._mean_steps or self._scale_steps or self._contrast or self._light
        )

    def write(self, out: Array, image: Array, mirrored: bool, rng: random.Random) -> None:
        """Normalize an image and write it into the batch.

        Args:
            out: Array (channels, height, width) to fill; C-contiguous float32 is fastest. A smaller
                array is the upper left corner of a sample.
            image: Decoded image (height, width, channels), uint8, blue first.
            mirrored: Whether to flip the image horizontally.
            rng: Random number generator for contrast and light.
        """
        if image.shape[2] == 3:
            image = image[..., ::-1]
        elif image.shape[2] == 4:
            image = image[..., [2, 1, 0, 3]]
        if mirrored:
            image = image[:, ::-1]
        if self._is_identity and self._dtype.kind in "iu":
            _copy(out, image)
        elif out.dtype == np.float32 and out.flags.c_contiguous:
            self._fill(out, image, mirrored, rng)
        else:
            values = np.empty(out.shape, np.float32)
            self._fill(values, image, mirrored, rng)
            _convert(out, values)

    def _fill(self, out: Array, image: Array, mirrored: bool, rng: random.Random) -> None:
        steps = self._mean_steps
        if self._contrast or self._light:
            contrast = 1 + rng.uniform(-self._contrast, self._contrast)
            light = rng.uniform(-self._light, self._light)
            changed: list[Step] = [("multiply", [contrast]), ("add", [light])]
            if self._mean_image is None:
                PixelPlanes([*steps, *changed, *self._scale_steps])(out, image)
                return
        else:
            changed = []
            if self._mean_image is None:
                self._planes(out, image)
                return
        out[...] = np.moveaxis(image, -1, 0)
        mean = self._mean_image[:, : out.shape[1], : out.shape[2]]
        out -= mean[..., ::-1] if mirrored else mean
        if changed or self._scale_steps:
            planes = PixelPlanes([*changed, *self._scale_steps])
            planes.by_numpy(out, np.moveaxis(out.copy(), 0, -1))


def _copy(out: Array, image: Array) -> None:
    """Copy bytes to integer planes."""
    if out.dtype == np.int8:
        image = np.minimum(image, _INT8_MAX)
    for channel, plane in enumerate(out):
        np.copyto(plane, image[..., channel], casting="unsafe")


def _convert(out: Array, values: Array) -> None:
    """Convert float32 values, which are overwritten, to the dtype of ``out``."""
    if out.dtype.kind in "iu":
        limits = np.iinfo(out.dtype)
        np.clip(np.rint(values, out=values), limits.min, limits.max, out=values)
    out[...] = values.astype(out.dtype)
