"""BatchNorm and BatchNormReLU: normalize each channel over the batch."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import BFLOAT16, FLOAT16, normalize_dtype
from gluonish.core.number_check import DeferErrorToCall, check_attributes
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor, check_axis
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.parameter.parameter import Init


class BatchNormLayer(HybridBlock):
    """Common base of the batch normalizations; see `BatchNorm` for the arguments.

    ``fuse_relu``, a class attribute or keyword argument, applies ReLU to the result.
    """

    fuse_relu: bool = False

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Init = "zeros",
        gamma_initializer: Init = "ones",
        running_mean_initializer: Init = "zeros",
        running_variance_initializer: Init = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        check_attributes(type(self).__name__, momentum=momentum, epsilon=epsilon)
        self.fuse_relu = kwargs.pop("fuse_relu", type(self).fuse_relu)
        super().__init__(**kwargs)
        with DeferErrorToCall(self):
            check_axis(type(self).__name__, axis)
        self._kwargs: dict[str, Any] = {
            "axis": axis,
            "eps": epsilon,
            "momentum": momentum,
            "fix_gamma": not scale,
            "use_global_stats": use_global_stats,
        }
        self.in_channels = in_channels
        self.gamma = self._statistic("gamma", gamma_initializer, scale)
        self.beta = self._statistic("beta", beta_initializer, center)
        self.running_mean = self._statistic("running_mean", running_mean_initializer, False)
        self.running_var = self._statistic("running_var", running_variance_initializer, False)

    def _statistic(self, name: str, init: Init, trained: bool) -> Parameter:
        options = {"grad_req": "write" if trained else "null", "differentiable": trained}
        return self.params._declare(name, (self.in_channels,), init, **options)

    def cast(self, dtype: Any) -> None:
        """Convert the parameters to another dtype; for float16 and bfloat16 they stay float32.

        Batch statistics lose too much precision in 16 bits.

        Args:
            dtype: The new element type.
        """
        halves = (FLOAT16, BFLOAT16)
        super().cast("float32" if normalize_dtype(dtype) in halves else dtype)

    def hybrid_forward(
        self,
        F: ModuleType,
        x: Tensor,
        gamma: Tensor,
        beta: Tensor,
        running_mean: Tensor,
        running_var: Tensor,
    ) -> Any:
        """Normalize the input; in training mode also update the running statistics.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape with C channels at ``axis``.
            gamma: Scale of each channel, a parameter.
            beta: Offset of each channel, a parameter.
            running_mean: Running mean of each channel.
            running_var: Running variance of each channel.
        """
        normalize = F.contrib.BatchNormWithReLU if self.fuse_relu else F.BatchNorm
        return normalize(x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        shape = self.gamma.shape
        settings = ", ".join(f"{name}={value!r}" for name, value in self._kwargs.items())
        in_channels = (shape[0] if shape else 0) or None
        return f"{type(self).__name__}({settings}, in_channels={in_channels})"


class BatchNorm(BatchNormLayer):
    """Normalize each channel: ``y = (x - mean) / sqrt(variance + epsilon) * gamma + beta``.

    In training, mean and variance are those of the batch, and the running statistics are updated:
    ``running = momentum * running + (1 - momentum) * batch``. Otherwise the running statistics
    are used.

    Args:
        axis: The axis of the channels.
        momentum: Weight of the old running statistics in an update.
        epsilon: Small constant added to the variance to avoid division by zero.
        center: Whether ``beta`` is trained; if not, it stays at its initial value.
        scale: Whether to multiply by ``gamma``; if not, gamma is fixed at 1.
        use_global_stats: Whether to normalize by the running statistics even in training.
        beta_initializer: Initializer of ``beta`` (C,).
        gamma_initializer: Initializer of ``gamma`` (C,).
        running_mean_initializer: Initializer of ``running_mean`` (C,).
        running_variance_initializer: Initializer of ``running_var`` (C,).
        in_channels: Number C of channels; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape with C at ``axis``.

    Outputs:
        y: shape of ``x``.

    References:
        S. Ioffe, C. Szegedy, Batch Normalization: Accelerating Deep Network Training by Reducing
        Internal Covariate Shift, 2015.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.BatchNorm()
        >>> layer.initialize()
        >>> x = mx.nd.array([[1, 10], [3, 30]])
        >>> with mx.autograd.record():  # training mode: statistics of the batch
        ...     y = layer(x)
        >>> y.round().tolist()
        [[-1.0, -1.0], [1.0, 1.0]]
    """


class BatchNormReLU(BatchNormLayer):
    """Batch normalization followed by ReLU, in one operator; see `BatchNorm` for the arguments.

    Inputs:
        x: any shape with C channels at ``axis``.

    Outputs:
        y: shape of ``x``; negative results are replaced by 0.
    """

    fuse_relu = True
