"""SqueezeNet, versions 1.0 and 1.1.

References:
    F. N. Iandola, S. Han, M. W. Moskewicz, K. Ashraf, W. J. Dally, K. Keutzer, SqueezeNet:
    AlexNet-level accuracy with 50x fewer parameters and <0.5MB model size, 2016. Version 1.1 is
    the authors' later one, which pools earlier.
"""

import os
from collections.abc import Sequence
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError
from gluonish.gluon.nn.activations import Activation
from gluonish.gluon.nn.basic_layers import Dropout, Flatten
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.pooling import AvgPool2D, MaxPool2D
from gluonish.gluon.nn.sequential import HybridConcurrent, HybridSequential
from gluonish.model_zoo.registry import register_model
from gluonish.model_zoo.vision.classifier import Classifier, chain, load_published

_CPU = cpu()
# By version: channels and kernel of the stem, then channels of each fire module's squeezing
# convolution; None is pooling. The two expanding convolutions have four times as many channels.
_SPEC: dict[str, tuple[int, int, tuple[int | None, ...]]] = {
    "1.0": (96, 7, (None, 16, 16, 32, None, 32, 48, 48, 64, None, 64)),
    "1.1": (64, 3, (None, 16, 16, None, 32, 32, None, 48, 48, 64, 64)),
}


def convolution(channels: int, kernel_size: int = 1, padding: int = 0) -> HybridSequential:
    """Return a convolution with ReLU.

    Args:
        channels: Number of output channels.
        kernel_size: Height and width of the kernel.
        padding: Number of zeros added to both ends of each spatial axis.
    """
    return chain(Conv2D(channels, kernel_size, padding=padding), Activation("relu"))


def _fire(channels: int) -> HybridSequential:
    squeeze = convolution(channels)
    expand = HybridConcurrent(axis=1, prefix="")
    expand.add(convolution(4 * channels), convolution(4 * channels, 3, 1))
    return chain(squeeze, expand)


class SqueezeNet(Classifier):
    """SqueezeNet.

    Args:
        version: ``"1.0"`` or ``"1.1"``.
        classes: Number of classes.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W); H and W are 224, or a similar size that gives 13 x 13 before the last
            pooling.

    Outputs:
        y: (N, classes) logits, not negative.

    Raises:
        ArgumentError: ``version`` is neither ``"1.0"`` nor ``"1.1"``.
    """

    def __init__(self, version: str, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if version not in _SPEC:
            raise ArgumentError(
                f"SqueezeNet: expected version {' or '.join(map(repr, _SPEC))}, got {version!r}"
            )
        stem, kernel_size, fires = _SPEC[version]
        with self.name_scope():
            self.features = HybridSequential(prefix="")
            self.features.add(Conv2D(stem, kernel_size, strides=2), Activation("relu"))
            for channels in fires:
                if channels is None:
                    self.features.add(MaxPool2D(3, 2, ceil_mode=True))
                else:
                    self.features.add(_fire(channels))
            self.features.add(Dropout(0.5))
            self.output = chain(Conv2D(classes, 1), Activation("relu"), AvgPool2D(13), Flatten())


def get_squeezenet(
    version: str,
    pretrained: bool = False,
    ctx: Context | Sequence[Context] = _CPU,
    root: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> SqueezeNet:
    """Create SqueezeNet.

    Args:
        version: ``"1.0"`` or ``"1.1"``.
        pretrained: Whether to load weights trained on ImageNet, which are downloaded if missing.
        ctx: Device or devices for pretrained weights.
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.
        **kwargs: Arguments of `SqueezeNet`, such as ``classes``.

    Raises:
        ArgumentError: ``version`` is neither ``"1.0"`` nor ``"1.1"``.
        DownloadError: The weights could not be downloaded.
    """
    network = SqueezeNet(version, **kwargs)
    if pretrained:
        load_published(network, f"squeezenet{version}", ctx, root)
    return network


@register_model("squeezenet1.0")
def squeezenet1_0(**kwargs: Any) -> SqueezeNet:
    """Create SqueezeNet 1.0; see `get_squeezenet` for the arguments."""
    return get_squeezenet("1.0", **kwargs)


@register_model("squeezenet1.1")
def squeezenet1_1(**kwargs: Any) -> SqueezeNet:
    """Create SqueezeNet 1.1; see `get_squeezenet` for the arguments."""
    return get_squeezenet("1.1", **kwargs)
