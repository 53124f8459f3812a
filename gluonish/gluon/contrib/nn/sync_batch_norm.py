"""SyncBatchNorm: batch normalization over the batches of all devices and processes together."""

import warnings
from types import ModuleType
from typing import Any

from gluonish.core.device import gpu_count
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter.parameter import Init

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(BatchNorm):
    """Normalize each channel of axis 1 over the batches that all devices see at the same time.

    ``y = (x - mean) / sqrt(variance + epsilon) * gamma + beta``. While training, mean and variance
    are those of the whole batch, and so are the gradients: what several devices compute is what
    `BatchNorm` computes on one that has the whole batch. Otherwise the running ones are used.

    While training, the layer is called once on each device before anything reads a result, by one
    thread or by one for each device (on the NaiveEngine, by one for each device); the backward
    passes are run likewise. Whoever waits for a result gets an error if a device has not
    come after 60 seconds.

    Where a ``dist_sync`` store joins processes, or a Trainer that will make one, they are those of
    all devices of all processes, which run the same layers in the same order; ``num_devices`` is
    the number in each. With other stores each process has its own.

    A hybridized network with such layers runs operator by operator while it trains on several
    devices or processes.

    Args:
        in_channels: Number C of channels; 0 infers it from the first batch.
        num_devices: Number of devices of this process that train; None for the number of GPUs, at
            least 1.
        momentum: Fraction of the running statistics that an update keeps; the rest comes from
            the batch.
        epsilon: Small constant added to the variance to avoid division by zero.
        center: Whether ``beta`` is trained; if not, it stays at its initial value.
        scale: Whether to multiply by ``gamma``; if not, gamma is fixed at 1.
        use_global_stats: Whether to normalize by the running statistics even while training.
        beta_initializer: Initializer of ``beta`` (C,).
        gamma_initializer: Initializer of ``gamma`` (C,).
        running_mean_initializer: Initializer of ``running_mean`` (C,).
        running_variance_initializer: Initializer of ``running_var`` (C,).
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, ...); N may differ from device to device.

    Outputs:
        y: shape of ``x``.

    Raises:
        ArgumentError: ``num_devices`` is less than 1.

    References:
        H. Zhang, K. Dana, J. Shi, Z. Zhang, X. Wang, A. Tyagi, A. Agrawal, Context Encoding for
        Semantic Segmentation, 2018.
    """

    def __init__(
        self,
        in_channels: int = 0,
        num_devices: int | None = None,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Init = "zeros",
        gamma_initializer: Init = "ones",
        running_mean_initializer: Init = "zeros",
        running_variance_initializer: Init = "ones",
        **kwargs: Any,
    ) -> None:
        factors = beta_initializer, gamma_initializer
        statistics = running_mean_initializer, running_variance_initializer
        super().__init__(
            *(1, momentum, epsilon, center, scale, use_global_stats, *factors, *statistics),
            in_channels,
            **kwargs,
        )
        if num_devices is None:
            num_devices = _devices_found()
        devices = max(1, num_devices)  # MXNet takes 0 and less, too
        settings: dict[str, Any] = {**self._kwargs, "ndev": devices, "key": self.prefix}
        del settings["axis"]
        self._kwargs = settings

    def hybrid_forward(
        self,
        F: ModuleType,
        x: Tensor,
        gamma: Tensor,
        beta: Tensor,
        running_mean: Tensor,
        running_var: Tensor,
    ) -> Any:
        """Normalize the input; while training, update the running statistics.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, C, ...).
            gamma: Scale of each channel, a parameter.
            beta: Offset of each channel, a parameter.
            running_mean: Running mean of each channel.
            running_var: Running variance of each channel.
        """
        arrays = (x, gamma, beta, running_mean, running_var)
        return F.contrib.SyncBatchNorm(*arrays, name="fwd", **self._kwargs)


def _devices_found() -> int:
    found = max(1, gpu_count())
    warnings.warn(
        f"SyncBatchNorm: expected num_devices, got None; {found}, the number of GPUs, is used; "
        "pass num_devices if you train on another number of devices",
        UserWarning,
        stacklevel=3,
    )
    return found
