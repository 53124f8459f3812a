"""LayerNorm, GroupNorm and InstanceNorm, with their common base, and RMSNorm."""

from types import ModuleType
from typing import Any

from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import DeferErrorToCall, check_attributes
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor, check_axis
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.parameter.parameter import Init

_REQ = {True: "write", False: "null"}  # grad_req by whether a parameter is trained


class Normalization(HybridBlock):
    """Base class of `LayerNorm`, `GroupNorm` and `InstanceNorm` with ``gamma`` and ``beta``.

    Args:
        extent: Number of entries of ``gamma`` and ``beta``; 0 infers it from the first batch.
        epsilon: Small constant added to the variance to avoid division by zero.
        center: Whether ``beta`` is trained; if not, it stays at its initial value.
        scale: Whether ``gamma`` is trained; if not, it stays at its initial value.
        beta_initializer: Initializer of ``beta`` (extent,).
        gamma_initializer: Initializer of ``gamma`` (extent,).
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.
    """

    def __init__(
        self,
        extent: int,
        epsilon: float,
        center: bool,
        scale: bool,
        beta_initializer: Init,
        gamma_initializer: Init,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        check_attributes(type(self).__name__, epsilon=epsilon)
        super().__init__(prefix=prefix, params=params)
        self._epsilon = epsilon
        self._center = center
        self._scale = scale
        declare = self.params._declare
        self.gamma = declare("gamma", (extent,), gamma_initializer, grad_req=_REQ[bool(scale)])
        self.beta = declare("beta", (extent,), beta_initializer, grad_req=_REQ[bool(center)])


class LayerNorm(Normalization):
    """Normalize along an axis: ``y = (x - mean) / sqrt(variance + epsilon) * gamma + beta``.

    Args:
        axis: The axis over which mean and variance are computed.
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
        with DeferErrorToCall(self):
            check_axis(type(self).__name__, axis)
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


class RMSNorm(HybridBlock):
    """Divide by the root mean square along an axis: ``y = x / sqrt(mean(x^2) + epsilon) * gamma``.

    16-bit inputs are normalized in float32.

    Args:
        axis: The axis over which the mean is computed.
        epsilon: Small constant added to the mean of the squares to avoid division by zero.
        scale: Whether ``gamma`` is trained; if not, it stays at its initial value.
        gamma_initializer: Initializer of ``gamma`` (C,); None for ones, or zeros with ``offset``.
        in_channels: Size C of the axis; 0 infers it from the first batch.
        offset: Whether the factor is ``1 + gamma``, as in Gemma.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        x: any shape with C at ``axis``.

    Outputs:
        y: shape of ``x``.

    References:
        B. Zhang, R. Sennrich, Root Mean Square Layer Normalization, 2019.
    """

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-6,
        scale: bool = True,
        gamma_initializer: Init | None = None,
        in_channels: int = 0,
        offset: bool = False,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        check_attributes("RMSNorm", epsilon=epsilon)
        super().__init__(prefix=prefix, params=params)
        with DeferErrorToCall(self):
            check_axis(type(self).__name__, axis)
        self._axis = axis
        self._epsilon = epsilon
        self._offset = offset
        self._kwargs = {"eps": epsilon, "axis": axis, "scale": scale, "offset": offset}
        if gamma_initializer is None:
            gamma_initializer = "zeros" if offset else "ones"
        self.gamma = self.params._declare(
            "gamma", (in_channels,), gamma_initializer, grad_req=_REQ[bool(scale)]
        )

    def hybrid_forward(self, F: ModuleType, data: Tensor, gamma: Tensor) -> Any:
        """Normalize along ``axis``.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            data: Any shape with C at ``axis``.
            gamma: Scale of each channel, or what is added to 1, a parameter.
        """
        return F.rms_norm(
            data, gamma=gamma, axis=self._axis, eps=self._epsilon, offset=self._offset
        )

    def __repr__(self) -> str:
        shape = self.gamma.shape
        return (
            f"{type(self).__name__}(eps={self._epsilon}, axis={self._axis}, "
            f"offset={self._offset}, in_channels={shape[0] if shape else 0})"
        )


class GroupNorm(Normalization):
    """Normalize groups of channels: ``y = (x - mean) / sqrt(variance + epsilon) * gamma + beta``.

    Mean and variance are computed over each group of channels of each sample.

    Args:
        num_groups: Number G of groups, which divides the number of channels.
        epsilon: Small constant added to the variance to avoid division by zero.
        center: Whether ``beta`` is trained; if not, it stays at its initial value.
        scale: Whether ``gamma`` is trained; if not, it stays at its initial value.
        beta_initializer: Initializer of ``beta``, (G,) or (C,).
        gamma_initializer: Initializer of ``gamma``, (G,) or (C,).
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.
        in_channels: Number C of channels, for one entry of ``gamma`` and ``beta`` per channel, as
            in MXNet 2.0; 0 infers it from the first batch. None for one per group, as in MXNet 1.9
            (by the rules of 2.0, for 0).

    Inputs:
        x: (N, C, ...), of at least 3 axes.

    Outputs:
        y: shape of ``x``.

    References:
        Y. Wu, K. He, Group Normalization, 2018; there gamma and beta have one entry per channel.
    """

    def __init__(
        self,
        num_groups: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Init = "zeros",
        gamma_initializer: Init = "ones",
        prefix: str | None = None,
        params: ParameterDict | None = None,
        in_channels: int | None = None,
    ) -> None:
        if in_channels is None and follows_mxnet2():
            in_channels = 0
        extent = num_groups if in_channels is None else in_channels
        factors = (extent, epsilon, center, scale, beta_initializer, gamma_initializer)
        super().__init__(*factors, prefix, params)
        self._num_groups = num_groups
        self._of_channels = in_channels is not None
        self._kwargs = {"eps": epsilon, "num_groups": num_groups, "center": center, "scale": scale}

    def hybrid_forward(self, F: ModuleType, data: Tensor, gamma: Tensor, beta: Tensor) -> Any:
        """Normalize each group of channels of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            data: (N, C, ...), of at least 3 axes.
            gamma: Scale of each group or channel, a parameter.
            beta: Offset of each group or channel, a parameter.
        """
        return F.GroupNorm(
            data, gamma=gamma, beta=beta, num_groups=self._num_groups, eps=self._epsilon
        )

    def __repr__(self) -> str:
        (entries,) = self.gamma.shape or (0,)
        return (
            f"{type(self).__name__}(eps={self._epsilon}, num_groups={self._num_groups}, "
            f"center={self._center}, scale={self._scale}"
            f"{f', in_channels={entries}' if self._of_channels else ''})"
        )


class InstanceNorm(Normalization):
    """Normalize each channel: ``y = (x - mean) / sqrt(variance + epsilon) * gamma + beta``.

    Mean and variance are computed over the spatial axes of each channel of each sample.

    Args:
        axis: The axis of the channels.
        epsilon: Small constant added to the variance to avoid division by zero.
        center: Whether ``beta`` is trained; if not, it stays at its initial value.
        scale: Whether ``gamma`` is trained; if not, it stays at its initial value.
        beta_initializer: Initializer of ``beta`` (C,).
        gamma_initializer: Initializer of ``gamma`` (C,).
        in_channels: Number C of channels; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: of at least 3 axes, with samples at axis 0 and C at ``axis``.

    Outputs:
        y: shape of ``x``.

    References:
        D. Ulyanov, A. Vedaldi, V. Lempitsky, Instance Normalization: The Missing Ingredient for
        Fast Stylization, 2016.
    """

    def __init__(
        self,
        axis: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = False,
        beta_initializer: Init = "zeros",
        gamma_initializer: Init = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        factors = (in_channels, epsilon, center, scale, beta_initializer, gamma_initializer)
        super().__init__(*factors, **kwargs)
        with DeferErrorToCall(self):
            check_axis(type(self).__name__, axis)
        self._axis = axis
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}

    def hybrid_forward(self, F: ModuleType, x: Tensor, gamma: Tensor, beta: Tensor) -> Any:
        """Normalize each channel of each sample over its spatial axes.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Of at least 3 axes, with samples at axis 0 and C at ``axis``.
            gamma: Scale of each channel, a parameter.
            beta: Offset of each channel, a parameter.
        """
        if self._axis == 1:
            return F.InstanceNorm(x, gamma, beta, name="fwd", eps=self._epsilon)
        swapped = F.swapaxes(x, dim1=1, dim2=self._axis)
        normalized = F.InstanceNorm(swapped, gamma, beta, name="fwd", eps=self._epsilon)
        return F.swapaxes(normalized, dim1=1, dim2=self._axis)

    def __repr__(self) -> str:
        shape = self.gamma.shape
        return (
            f"{type(self).__name__}(eps={self._epsilon}, axis={self._axis}, "
            f"center={self._center}, scale={self._scale}, in_channels={shape[0] if shape else 0})"
        )
