"""RandomFlipLeftRight and RandomFlipTopBottom."""

from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from gluonish.core.dtype import BOOL
from gluonish.core.errors import ArgumentError
from gluonish.core.spec import Spec
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.data.vision.transforms.host import HostTransform, random_key
from gluonish.gluon.nn.tensor import Tensor
from gluonish.ops.image.layout import check_image
from gluonish.ops.support.philox import random_bits, uniform

__all__ = ["RandomFlipLeftRight", "RandomFlipTopBottom"]

_EVEN = 0.5


class _RandomFlip(HostTransform, HybridBlock):
    """What both flips share; a subclass says along which axis, and how that is reversed."""

    _reversed: ClassVar[tuple[slice, ...]]
    _direction: ClassVar[str]

    def __init__(self, p: float = _EVEN) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ArgumentError(f"{type(self).__name__}: expected p in [0, 1], got {p}")
        self._p = p

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Flip the image, or not."""
        if self._p == _EVEN:
            return getattr(F.image, f"random_flip_{self._direction}")(x)
        flipped = getattr(F.image, f"flip_{self._direction}")(x)
        drawn = F.random.uniform(shape=(1, 1, 1)) < self._p
        return F.where(F.broadcast_like(drawn, x), flipped, x)

    def on_host(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Apply the transform to a NumPy array."""
        if values.ndim != 3 or values.dtype == BOOL:
            check_image(f"_image_random_flip_{self._direction}", Spec(values.shape, values.dtype))
        if self._p == _EVEN:
            flips = int(random_bits(np, random_key(), 1)[0]) >> 31 == 1
        else:
            flips = bool(uniform(np, random_key(), (1,))[0] < self._p)
        return values[self._reversed] if flips else values


class RandomFlipLeftRight(_RandomFlip):
    """Flip an image left to right with probability ``p``.

    Args:
        p: The probability of a flip.

    Inputs:
        x: (height, width, channels), any dtype but bool.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``p`` is outside [0, 1].
    """

    _reversed = (slice(None), slice(None, None, -1))
    _direction = "left_right"


class RandomFlipTopBottom(_RandomFlip):
    """Flip an image top to bottom with probability ``p``.

    Args:
        p: The probability of a flip.

    Inputs:
        x: (height, width, channels), any dtype but bool.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``p`` is outside [0, 1].
    """

    _reversed = (slice(None, None, -1),)
    _direction = "top_bottom"
