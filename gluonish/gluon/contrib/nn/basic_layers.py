"""Layers beyond those of `gluon.nn`: pixel shuffles, SparseEmbedding, SyncBatchNorm."""

import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import gluonish.ndarray as nd
from gluonish.core.device import gpu_count
from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import DeferErrorToCall
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.sequential import Concurrent, HybridConcurrent, Identity
from gluonish.gluon.nn.tensor import Extents, Tensor
from gluonish.gluon.parameter.parameter import Init
from gluonish.ndarray import NDArray

__all__ = [
    "Concurrent",
    "HybridConcurrent",
    "Identity",
    "PixelShuffle1D",
    "PixelShuffle2D",
    "PixelShuffle3D",
    "SparseEmbedding",
    "SyncBatchNorm",
]


def _factors(factor: Any, rank: int, layer: str) -> tuple[int, ...]:
    """Return one factor for each spatial axis."""
    values: Any = tuple(factor) if isinstance(factor, Sequence) and rank > 1 else (factor,) * rank
    try:
        found = tuple(int(number) for number in values)
    except (TypeError, ValueError):
        found = ()
    if len(found) != rank:
        expected = "a number" if rank == 1 else f"a number or {rank} of them"
        raise ArgumentError(
            f"{layer}: expected factor to be {expected}, at least 1, got {factor!r}"
        )
    return found


def _check_factors(block: HybridBlock, factors: tuple[int, ...]) -> None:
    """Make calls raise an error for factors below 1."""
    with DeferErrorToCall(block):
        if min(factors) < 1:
            raise ArgumentError(
                f"{type(block).__name__}: expected factor to be a number of at least 1, got "
                f"{min(factors)}"
            )


class PixelShuffle1D(HybridBlock):
    """Upsample one spatial axis by interleaving ``factor`` channels.

    Args:
        factor: Upsampling factor of the axis.

    Inputs:
        x: (N, C * factor, W).

    Outputs:
        y: (N, C, W * factor).

    Raises:
        ArgumentError: ``factor`` is not a single number; at the call: ``factor`` is below 1.

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
        ArgumentError: There are not two factors; at the call: a factor is below 1.

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
        ArgumentError: There are not three factors; at the call: a factor is below 1.

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


class SparseEmbedding(Block):
    """Look up a vector for each index, ``y[...] = weight[x[...]]``, in a row-sparse ``weight``.

    The table is stored in the store of a Trainer. Each call pulls only the rows it needs, and the
    gradient contains only these rows, so a table may be larger than a device's memory. The layer is
    not a HybridBlock, because the rows depend on the values of ``x``.

    Args:
        input_dim: Number of vectors in the table.
        output_dim: Length of a vector.
        dtype: Element type of the table and the output.
        weight_initializer: Initializer of ``weight`` (input_dim, output_dim).
        **kwargs: See `Block`.

    Inputs:
        x: Any shape; integers in [0, input_dim), of any dtype.

    Outputs:
        y: Shape of ``x`` with a last axis of output_dim added.

    Raises:
        ParameterError: When called: ``weight`` belongs to no Trainer.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": True,
        }
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            grad_stype="row_sparse",
            stype="row_sparse",
        )

    def forward(self, x: NDArray) -> Any:
        """Pull the rows and return the vectors.

        Args:
            x: Indices, any shape.
        """
        weight = self.weight.row_sparse_data(x)
        return nd.Embedding(x, weight, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        return "{}({input_dim} -> {output_dim}, {dtype})".format(
            type(self).__name__, **self._kwargs
        )


class SyncBatchNorm(BatchNorm):
    """Normalize each channel of axis 1 over the batches of all devices.

    ``y = (x - mean) / sqrt(variance + epsilon) * gamma + beta``. While training, mean, variance and
    gradients are computed over the whole batch, as by `BatchNorm` on one device with the whole
    batch. Otherwise the running statistics are used.

    While training, the layer must be called once on each device before a result is read, by one
    thread or by one thread per device (on the NaiveEngine, by one thread per device); likewise the
    backward passes. Waiting for a result raises an error if a device does not call the layer within
    60 seconds.

    With a ``dist_sync`` store, or a Trainer that will create one, the statistics include all
    devices of all processes, which must run the same layers in the same order; ``num_devices`` is
    the number per process. With other stores they are local to each process.

    A hybridized network with such layers runs operator by operator while it trains on several
    devices or processes.

    Args:
        in_channels: Number C of channels; 0 infers it from the first batch.
        num_devices: Number of devices of this process that train; None for the number of GPUs, at
            least 1.
        momentum: Weight of the old running statistics in an update.
        epsilon: Small constant added to the variance to avoid division by zero.
        center: Whether ``beta`` is trained; if not, ``beta`` keeps its initial value.
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
            num_devices = _default_num_devices()
        devices = max(1, num_devices)  # MXNet accepts 0 and less, too
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


def _default_num_devices() -> int:
    found = max(1, gpu_count())
    warnings.warn(
        f"SyncBatchNorm: expected num_devices, got None; using {found}, the number of GPUs; "
        "pass num_devices to train on another number of devices",
        UserWarning,
        stacklevel=3,
    )
    return found
