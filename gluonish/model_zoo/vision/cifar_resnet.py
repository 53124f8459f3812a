"""Residual networks for images of 32 by 32 pixels, versions 1 and 2.

Three stages of ``(layers - 2) / 6`` basic units with 16, 32 and 64 channels. They are not in
MXNet's model zoo, but weights that it published (``cifar_resnet20_v1-0000.params``) have these
architectures and names.

References:
    K. He, X. Zhang, S. Ren, J. Sun, Deep Residual Learning for Image Recognition, 2015, section 4.2
    (version 1; where the number of channels changes, the shortcut is a 1x1 convolution and not the
    paper's padding with zeros). K. He, X. Zhang, S. Ren, J. Sun, Identity Mappings in Deep Residual
    Networks, 2016 (version 2; the shortcut of a unit that halves the size projects the unit's
    input; the paper and MXNet's larger networks project it after normalization).
"""

import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError
from gluonish.gluon.nn.activations import Activation
from gluonish.gluon.nn.basic_layers import Dense, Flatten
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.pooling import GlobalAvgPool2D
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Tensor
from gluonish.model_zoo.registry import register_model
from gluonish.model_zoo.vision.classifier import load_published
from gluonish.model_zoo.vision.resnet import BasicBlockV1, BasicBlockV2, ResNet, Unit, conv3x3

_CPU = cpu()
_CHANNELS = (16, 16, 32, 64)
_STAGES = 3


class CIFARBasicBlockV2(BasicBlockV2):
    """Residual unit of two 3x3 convolutions, version 2, of networks for small images.

    Args:
        channels: Number of output channels.
        stride: Stride of the first convolution.
        downsample: Whether the shortcut is a 1x1 convolution instead of the identity; unlike in
            `BasicBlockV2`, its input is not normalized.
        in_channels: Number of input channels; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, in_channels, H, W).

    Outputs:
        y: (N, channels, H / stride, W / stride).
    """

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the unit's output.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, in_channels, H, W).
        """
        residual = x if self.downsample is None else self.downsample(x)
        x = self.conv1(F.Activation(self.bn1(x), act_type="relu"))
        x = self.conv2(F.Activation(self.bn2(x), act_type="relu"))
        return self._after_drop_path(x) + residual


class CIFARResNetV1(ResNet):
    """A residual network for small images, version 1.

    Args:
        block: `BasicBlockV1`, or another unit.
        layers: Number of residual units in each stage.
        channels: Number of output channels of the stem and of each stage.
        classes: Number of classes.
        drop_path: As in `ResNetV1`.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W), of 32 by 32 in the paper.

    Outputs:
        y: (N, classes) logits.

    Raises:
        ArgumentError: ``channels`` does not have one entry more than ``layers``, or ``drop_path``
            is not in [0, 1).
    """

    def __init__(
        self,
        block: Unit,
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 10,
        drop_path: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._check(layers, channels)
        with self.name_scope():
            self.features = HybridSequential(prefix="")
            # No activation here, as in the published networks.
            self.features.add(conv3x3(channels[0], 1, 0), BatchNorm())
            self._add_stages(block, layers, channels, drop_path)
            self.features.add(GlobalAvgPool2D())
            self.output = Dense(classes, in_units=channels[-1])


class CIFARResNetV2(ResNet):
    """A residual network for small images, version 2.

    Args:
        block: `CIFARBasicBlockV2`, or another unit.
        layers: Number of residual units in each stage.
        channels: Number of output channels of the stem and of each stage.
        classes: Number of classes.
        drop_path: As in `ResNetV1`.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W), of 32 by 32 in the paper.

    Outputs:
        y: (N, classes) logits.

    Raises:
        ArgumentError: ``channels`` does not have one entry more than ``layers``, or ``drop_path``
            is not in [0, 1).
    """

    def __init__(
        self,
        block: Unit,
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 10,
        drop_path: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._check(layers, channels)
        with self.name_scope():
            self.features = HybridSequential(prefix="")
            self.features.add(BatchNorm(scale=False, center=False), conv3x3(channels[0], 1, 0))
            self._add_stages(block, layers, channels, drop_path)
            self.features.add(BatchNorm(), Activation("relu"), GlobalAvgPool2D(), Flatten())
            self.output = Dense(classes, in_units=channels[-1])


def get_cifar_resnet(
    version: int,
    num_layers: int,
    pretrained: bool = False,
    ctx: Context | Sequence[Context] = _CPU,
    root: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> ResNet:
    """Create a residual network for small images.

    Args:
        version: 1 or 2.
        num_layers: 20, 32, 44, 56, 110, or another number that is 2 more than a multiple of 6.
        pretrained: Must be False: no weights were published for these networks.
        ctx: Unused; accepted for consistency with the other networks.
        root: Unused; accepted for consistency with the other networks.
        **kwargs: Arguments of `CIFARResNetV1` or `CIFARResNetV2`, such as ``classes``.

    Raises:
        ArgumentError: ``version`` or ``num_layers`` is not supported, or pretrained weights are
            requested.
    """
    if num_layers < 8 or (num_layers - 2) % (2 * _STAGES):
        raise ArgumentError(
            f"get_cifar_resnet: expected num_layers of 6 n + 2, such as 20 or 110, got {num_layers}"
        )
    if version not in (1, 2):
        raise ArgumentError(f"get_cifar_resnet: expected version 1 or 2, got {version}")
    layers = [(num_layers - 2) // (2 * _STAGES)] * _STAGES
    network: ResNet
    if version == 1:
        network = CIFARResNetV1(BasicBlockV1, layers, _CHANNELS, **kwargs)
    else:
        network = CIFARResNetV2(CIFARBasicBlockV2, layers, _CHANNELS, **kwargs)
    if pretrained:
        load_published(network, f"cifar_resnet{num_layers}_v{version}", ctx, root)
    return network


@register_model("cifar_resnet20_v1")
def cifar_resnet20_v1(**kwargs: Any) -> ResNet:
    """Create the small ResNet-20, version 1; see `get_cifar_resnet` for the arguments."""
    return get_cifar_resnet(1, 20, **kwargs)


@register_model("cifar_resnet32_v1")
def cifar_resnet32_v1(**kwargs: Any) -> ResNet:
    """Create the small ResNet-32, version 1; see `get_cifar_resnet` for the arguments."""
    return get_cifar_resnet(1, 32, **kwargs)


@register_model("cifar_resnet44_v1")
def cifar_resnet44_v1(**kwargs: Any) -> ResNet:
    """Create the small ResNet-44, version 1; see `get_cifar_resnet` for the arguments."""
    return get_cifar_resnet(1, 44, **kwargs)


@register_model("cifar_resnet56_v1")
def cifar_resnet56_v1(**kwargs: Any) -> ResNet:
    """Create the small ResNet-56, version 1; see `get_cifar_resnet` for the arguments."""
    return get_cifar_resnet(1, 56, **kwargs)


@register_model("cifar_resnet110_v1")
def cifar_resnet110_v1(**kwargs: Any) -> ResNet:
    """Create the small ResNet-110, version 1; see `get_cifar_resnet` for the arguments."""
    return get_cifar_resnet(1, 110, **kwargs)


@register_model("cifar_resnet20_v2")
def cifar_resnet20_v2(**kwargs: Any) -> ResNet:
    """Create the small ResNet-20, version 2; see `get_cifar_resnet` for the arguments."""
    return get_cifar_resnet(2, 20, **kwargs)


@register_model("cifar_resnet32_v2")
def cifar_resnet32_v2(**kwargs: Any) -> ResNet:
    """Create the small ResNet-32, version 2; see `get_cifar_resnet` for the arguments."""
    return get_cifar_resnet(2, 32, **kwargs)


@register_model("cifar_resnet44_v2")
def cifar_resnet44_v2(**kwargs: Any) -> ResNet:
    """Create the small ResNet-44, version 2; see `get_cifar_resnet` for the arguments."""
    return get_cifar_resnet(2, 44, **kwargs)


@register_model("cifar_resnet56_v2")
def cifar_resnet56_v2(**kwargs: Any) -> ResNet:
    """Create the small ResNet-56, version 2; see `get_cifar_resnet` for the arguments."""
    return get_cifar_resnet(2, 56, **kwargs)


@register_model("cifar_resnet110_v2")
def cifar_resnet110_v2(**kwargs: Any) -> ResNet:
    """Create the small ResNet-110, version 2; see `get_cifar_resnet` for the arguments."""
    return get_cifar_resnet(2, 110, **kwargs)
