"""Residual connections, and what scales and drops their branches."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Tensor, check_positive, check_rate
from gluonish.gluon.parameter.parameter import Init
from gluonish.initializer import Constant

__all__ = ["DropPath", "LayerScale", "Residual"]

_SMALL = Constant(1e-5)


class Residual(HybridSequential):
    """Run layers in sequence, and add the input: ``y = x + layers(x)``.

    Args:
        *layers: The layers; `add` appends further ones.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        x: input of the first layer.

    Outputs:
        y: shape of ``x``, which the last layer's output has.

    References:
        K. He et al., Deep Residual Learning for Image Recognition, 2015.

    Example:
        >>> import gluonish as mx
        >>> nn = mx.gluon.nn
        >>> block = nn.Residual(nn.LayerNorm(), nn.Dense(6, flatten=False), nn.DropPath(0.1))
        >>> block.initialize()
        >>> block(mx.nd.ones((2, 3, 6))).shape
        (2, 3, 6)
    """

    def __init__(self, *layers: HybridBlock, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.add(*layers)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:  # type: ignore[override]  # one input
        """Add the input to the output of the layers.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Input of the first layer.
        """
        return x + super().hybrid_forward(F, x)


class DropPath(HybridBlock):
    """Zero whole samples with probability ``rate`` in training, and scale the others.

    The branch of a residual connection is so dropped at random (stochastic depth); what remains is
    scaled by ``1 / (1 - rate)``.

    Args:
        rate: Probability of zeroing a sample, in [0, 1).
        batch_axis: Axis of the samples, 0 or 1.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, ...) or, with ``batch_axis=1``, (T, N, ...); of at least 2 axes, floating point.

    Outputs:
        y: shape of ``x``; equal to ``x`` outside training.

    Raises:
        ArgumentError: ``rate`` or ``batch_axis`` is out of range.
        ArgumentTypeError: ``rate`` is not a number.

    References:
        G. Huang et al., Deep Networks with Stochastic Depth, 2016.
    """

    def __init__(self, rate: float, batch_axis: int = 0, **kwargs: Any) -> None:
        check_rate("DropPath", "rate", rate)
        if batch_axis not in (0, 1):
            raise ArgumentError(f"DropPath: expected batch_axis 0 or 1, got {batch_axis}")
        super().__init__(**kwargs)
        self._rate, self._batch_axis = rate, batch_axis

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Zero random samples in training mode; return the input otherwise.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, ...) or (T, N, ...).
        """
        if not self._rate:
            return F.identity(x)
        shared = (1,) if self._batch_axis == 0 else (0, 2)
        flat = F.reshape(x, shape=(*(0,) * (self._batch_axis + 1), -1))
        return F.reshape_like(F.Dropout(flat, p=self._rate, axes=shared), x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p = {self._rate})"


class LayerScale(HybridBlock):
    """Multiply each channel by a trained factor: ``y = x * gamma``.

    Args:
        units: Number C of channels.
        axis: Axis of the channels, negative: -1, or -3 for images (N, C, H, W).
        gamma_initializer: Initializer of ``gamma`` (C,); 1e-5 by default.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape with C at ``axis``.

    Outputs:
        y: shape of ``x``.

    Raises:
        ArgumentError: ``units`` is below 1, or ``axis`` is not negative.

    References:
        H. Touvron et al., Going Deeper with Image Transformers, 2021.
    """

    def __init__(
        self, units: int, axis: int = -1, gamma_initializer: Init = _SMALL, **kwargs: Any
    ) -> None:
        check_positive("LayerScale", units=units)
        if axis >= 0:
            raise ArgumentError(f"LayerScale: expected an axis below 0, got {axis}")
        super().__init__(**kwargs)
        self._units, self._axis = units, axis
        self.gamma = self.params._declare("gamma", (units,), gamma_initializer)

    def hybrid_forward(self, F: ModuleType, x: Tensor, gamma: Tensor) -> Any:
        """Multiply channels by their factors.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape with C at ``axis``.
            gamma: Factor of each channel, a parameter.
        """
        if self._axis != -1:
            gamma = F.reshape(gamma, shape=(-1, *(1,) * (-1 - self._axis)))
        return F.broadcast_mul(x, gamma)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._units}, axis={self._axis})"
