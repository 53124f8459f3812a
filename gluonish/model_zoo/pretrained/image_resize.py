"""AntialiasedResize: resizing by Pillow, whose filters see all pixels of images that shrink."""

from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.gluon.data.vision.transforms.host import HostTransform

__all__ = ["METHODS", "AntialiasedResize"]

METHODS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")  # Pillow's 0, 1, ...
Array = np.ndarray[Any, Any]


class AntialiasedResize(HostTransform):
    """Resize an image with filters that grow as it shrinks, so that every pixel counts.

    `Resize` looks at a fixed number of neighbours. Published networks were trained with these
    filters, by Pillow, which computes on the host.

    Args:
        size: Height and width in pixels; or the length of the shorter side, with the aspect ratio
            preserved.
        method: One of `METHODS`.

    Inputs:
        x: (height, width, channels), uint8.

    Outputs:
        y: the resized image.

    Raises:
        ArgumentError: At the call: the input is no such image, or has no pixels.
    """

    def __init__(self, size: int | tuple[int, int], method: str = "bicubic") -> None:
        super().__init__()
        self._size, self._method = size, method

    def on_host(self, values: Array) -> Array:
        """Apply the transform to a NumPy array."""
        from PIL import Image

        if values.ndim != 3 or not values.size or values.dtype != np.uint8:
            raise ArgumentError(
                "AntialiasedResize: expected an image (height, width, channels) of uint8, got "
                f"{values.dtype}{values.shape}; transform images before they are batched"
            )
        height, width = self._size_of(*values.shape[:2])
        kind = METHODS.index(self._method)
        # Channels are resized one by one, as images of other numbers of channels than 3 may be.
        channels = [
            np.asarray(Image.fromarray(np.ascontiguousarray(x)).resize((width, height), kind))
            for x in np.moveaxis(values, -1, 0)
        ]
        return np.stack(channels, axis=-1)

    def _size_of(self, height: int, width: int) -> tuple[int, int]:
        """Return the height and width of the result."""
        if not isinstance(self._size, int):
            return self._size
        short, long = sorted((height, width))
        other = max(1, int(self._size * long / short))
        return (self._size, other) if height <= width else (other, self._size)

    def forward(self, x: Any) -> Any:
        """Resize an image.

        Args:
            x: Image (height, width, channels).
        """
        return nd.array(self.on_host(x.asnumpy()), ctx=x.context, dtype=x.dtype)

    def __repr__(self) -> str:
        return f"AntialiasedResize({self._size}, {self._method!r})"
