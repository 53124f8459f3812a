"""PixelShuffle: turn channels into a finer grid, for upsampling by a convolution."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.refusal import RefusedAtCall
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Extents, Tensor

__all__ = ["PixelShuffle1D", "PixelShuffle2D", "PixelShuffle3D"]


def _factors(factor: Any, rank: int, layer: str) -> tuple[int, ...]:
    """Return one factor for each spatial axis."""
    given: Any = tuple(factor) if isinstance(factor, Sequence) and rank > 1 else (factor,) * rank
    try:
        found = tuple(int(number) for number in given)
    except (TypeError, ValueError):
        found = ()
    if len(found) != rank:
        wanted = "a number" if rank == 1 else f"a number or {rank} of them"
        raise ArgumentError(f"{layer}: expected factor to be {wanted}, at least 1, got {factor!r}")
    return found


def _check_factors(block: HybridBlock, factors: tuple[int, ...]) -> None:
    """Have calls refuse factors below 1."""
    with RefusedAtCall(block):
        if min(factors) < 1:
            raise ArgumentError(
                f"{type(block).__name__}: expected factor to be a number of at least 1, got "
                f"{min(factors)}"
            )


class PixelShuffle1D(HybridBlock):
    """Upsample one spatial axis by rearranging channels: ``factor`` channels become neighbours.

    Args:
        factor: Upsampling factor of the axis.

    Inputs:
        x: (N, C * factor, W).

    Outputs:
        y: (N, C, W * factor).

    Raises:
        ArgumentError: ``factor`` is not a single number; at the call: it is below 1.

    References:
        W. Shi, J. Caballero, F. Huszar, J. Totz, A. P. Aitken, R. Bishop, D. Rueckert, Z. Wang,
        Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel Convolutional
        Neural Network, 2016.
    """

    def __init__(self, factor: int) -> None:
        super().__init__()
        self._factor = _factors(factor, 1, "PixelShuffle1D")[0]
        _check_factors(self, (self._factor,))

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Rearrange the channels.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, C * factor, W).
        """
        x = F.reshape(x, shape=(0, -4, -1, self._factor, 0))  # (N, C, f, W)
        return F.reshape(F.transpose(x, axes=(0, 1, 3, 2)), shape=(0, 0, -3))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._factor})"


class PixelShuffle2D(HybridBlock):
    """Upsample two spatial axes by rearranging channels into blocks of f1 by f2 elements.

    Args:
        factor: Upsampling factor: one int, or (f1, f2).

    Inputs:
        x: (N, C * f1 * f2, H, W).

    Outputs:
        y: (N, C, H * f1, W * f2).

    Raises:
        ArgumentError: There are not two factors; at the call: one is below 1.

    References:
        As `PixelShuffle1D`.
    """

    def __init__(self, factor: Extents) -> None:
        super().__init__()
        self._factors = _factors(factor, 2, "PixelShuffle2D")
        _check_factors(self, self._factors)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Rearrange the channels.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, C * f1 * f2, H, W).
        """
        f1, f2 = self._factors
        x = F.reshape(x, shape=(0, -4, -1, f1 * f2, 0, 0))  # (N, C, f1 * f2, H, W)
        x = F.reshape(x, shape=(0, 0, -4, f1, f2, 0, 0))
        x = F.transpose(x, axes=(0, 1, 4, 2, 5, 3))  # (N, C, H, f1, W, f2)
        return F.reshape(x, shape=(0, 0, -3, -3))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._factors})"


class PixelShuffle3D(HybridBlock):
    """Upsample three spatial axes by rearranging channels into blocks of f1 by f2 by f3.

    Args:
        factor: Upsampling factor: one int, or (f1, f2, f3).

    Inputs:
        x: (N, C * f1 * f2 * f3, D, H, W).

    Outputs:
        y: (N, C, D * f1, H * f2, W * f3).

    Raises:
        ArgumentError: There are not three factors; at the call: one is below 1.

    References:
        As `PixelShuffle1D`.
    """

    def __init__(self, factor: Extents) -> None:
        super().__init__()
        self._factors = _factors(factor, 3, "PixelShuffle3D")
        _check_factors(self, self._factors)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Rearrange the channels.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, C * f1 * f2 * f3, D, H, W).
        """
        f1, f2, f3 = self._factors
        x = F.reshape(x, shape=(0, -4, -1, f1 * f2 * f3, 0, 0, 0))  # (N, C, f1 * f2 * f3, D, H, W)
        x = F.reshape(x, shape=(0, 0, -4, f1, f2 * f3, 0, 0, 0))
        x = F.reshape(x, shape=(0, 0, 0, -4, f2, f3, 0, 0, 0))
        x = F.transpose(x, axes=(0, 1, 5, 2, 6, 3, 7, 4))  # (N, C, D, f1, H, f2, W, f3)
        return F.reshape(x, shape=(0, 0, -3, -3, -3))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._factors})"
