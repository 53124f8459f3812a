"""LayerNorm: normalize each example over one axis."""

from types import ModuleType
from typing import Any

from gluonish.gluon.nn.normalization import Normalization
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.parameter.parameter import Init

__all__ = ["LayerNorm"]


class LayerNorm(Normalization):
    """Normalize along an axis: ``y = (x - mean) / sqrt(variance + epsilon) * gamma + beta``.

    Args:
        axis: The axis that mean and variance are taken over.
        epsilon: Small constant added to the variance to avoid division by zero.
        center: Whether ``beta`` is trained; if not, it stays at its initial value.
        scale: Whether ``gamma`` is trained; if not, it stays at its initial value.
        beta_initializer: Initializer of ``beta`` (C,).
        gamma_initializer: Initializer of ``gamma`` (C,).
        in_channels: Size C of the axis; 0 infers it from the first batch.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        x: any shape with C at ``axis``.

    Outputs:
        y: shape of ``x``.

    References:
        J. L. Ba, J. R. Kiros, G. E. Hinton, Layer Normalization, 2016.
    """

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Init = "zeros",
        gamma_initializer: Init = "ones",
        in_channels: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        factors = (in_channels, epsilon, center, scale, beta_initializer, gamma_initializer)
        super().__init__(*factors, prefix, params)
        self._axis = axis
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}

    def hybrid_forward(self, F: ModuleType, data: Tensor, gamma: Tensor, beta: Tensor) -> Any:
        """Normalize along ``axis``.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            data: Any shape with C at ``axis``.
            gamma: Scale of each channel, a parameter.
            beta: Offset of each channel, a parameter.
        """
        return F.LayerNorm(data, gamma=gamma, beta=beta, axis=self._axis, eps=self._epsilon)

    def __repr__(self) -> str:
        shape = self.gamma.shape
        return (
            f"{type(self).__name__}(eps={self._epsilon}, axis={self._axis}, "
            f"center={self._center}, scale={self._scale}, in_channels={shape[0] if shape else 0})"
        )
