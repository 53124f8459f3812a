"""ReflectionPad2D: enlarge images by their mirror images."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Extents, Tensor

__all__ = ["ReflectionPad2D"]


class ReflectionPad2D(HybridBlock):
    """Pad height and width by reflecting the image at its border.

    Args:
        padding: Number of elements added to each of the four sides; or 8 ints, the padding before
            and after each of the axes N, C, H and W, of which the first 4 must be 0.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W), with H and W larger than the padding.

    Outputs:
        y: (N, C, H + 2 * padding, W + 2 * padding).

    Raises:
        ArgumentError: ``padding`` is neither an int nor 8 ints of this form.
    """

    def __init__(self, padding: Extents = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        widths = (0, 0, 0, 0, *[padding] * 4) if isinstance(padding, int) else tuple(padding)
        if len(widths) != 8:
            raise ArgumentError(f"ReflectionPad2D: expected a number or 8 of them, got {padding}")
        self._padding = widths

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Pad height and width by reflection.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, C, H, W), with H and W larger than the padding.
        """
        return F.pad(x, mode="reflect", pad_width=self._padding)
