"""Inception v3, and the units that it shares with Inception-BN.

References:
    C. Szegedy, V. Vanhoucke, S. Ioffe, J. Shlens, Z. Wojna, Rethinking the Inception Architecture
    for Computer Vision, 2015. There is no auxiliary classifier.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import Activation
from gluonish.gluon.nn.basic_layers import Dense, Dropout
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.pooling import AvgPool2D, MaxPool2D
from gluonish.gluon.nn.sequential import HybridConcurrent, HybridSequential
from gluonish.gluon.nn.tensor import Extents
from gluonish.model_zoo.registry import register_model
from gluonish.model_zoo.vision.classifier import Classifier, chain, load_published


@dataclass(frozen=True, slots=True)
class Conv:
    """A convolution without bias, batch normalization and ReLU.

    Args:
        channels: Number of output channels.
        kernel_size: Height and width of the kernel.
        strides: Step of the kernel along each spatial axis.
        padding: Number of zeros added to both ends of each spatial axis.
        epsilon: Epsilon of the batch normalization.
    """

    channels: int
    kernel_size: Extents = 1
    strides: Extents = 1
    padding: Extents = 0
    epsilon: float = 1e-5


# A layer without weights is a callable that creates it.
Layer = Conv | Callable[[], HybridBlock]


@dataclass(frozen=True, slots=True)
class Split:
    """A branch that forks: a chain of layers, then several convolutions of its output.

    Args:
        layers: The chain of layers.
        ends: Layers applied to the chain's output; their outputs are concatenated.
    """

    layers: Sequence[Layer]
    ends: Sequence[Conv]


Branch = Sequence[Layer] | Split

AVERAGE: Callable[[], HybridBlock] = partial(AvgPool2D, 3, 1, 1)
"""Pooling that preserves the size."""


def normalized_conv(conv: Conv) -> HybridSequential:
    """Return a convolution followed by batch normalization and activation.

    Args:
        conv: Description of the convolution.
    """
    return chain(
        Conv2D(conv.channels, conv.kernel_size, conv.strides, conv.padding, use_bias=False),
        BatchNorm(epsilon=conv.epsilon),
        Activation("relu"),
    )


def _make(branch: Branch) -> HybridSequential:
    if isinstance(branch, Split):
        stem = _make(branch.layers)
        ends = HybridConcurrent(axis=1, prefix="")
        ends.add(*[_make([end]) for end in branch.ends])
        return chain(stem, ends)
    return chain(
        *[normalized_conv(layer) if isinstance(layer, Conv) else layer() for layer in branch]
    )


def add_module(network: HybridSequential, name: str, branches: Sequence[Branch]) -> None:
    """Append an Inception module to a network, within the network's name scope.

    Args:
        network: Network to append to.
        name: Prefix of the names of the module's parameters.
        branches: Branches applied to the module's input; their outputs are concatenated.
    """
    module = HybridConcurrent(axis=1, prefix=f"{name}_")
    with module.name_scope():
        module.add(*[_make(branch) for branch in branches])
    network.add(module)


_CPU = cpu()
_MAXIMUM: Callable[[], HybridBlock] = partial(MaxPool2D, 3, 2)

_Conv = partial(Conv, epsilon=0.001)
_conv3x3 = partial(_Conv, kernel_size=3, padding=1)
_conv3x3_halving = partial(_Conv, kernel_size=3, strides=2)
# Rows by columns.
_conv1x7 = partial(_Conv, kernel_size=(1, 7), padding=(0, 3))
_conv7x1 = partial(_Conv, kernel_size=(7, 1), padding=(3, 0))


def _module_a(pooled: int) -> list[Branch]:
    """Return the module at 35 by 35; ``pooled`` channels come from its pooling branch."""
    return [
        [_Conv(64)],
        [_Conv(48), _Conv(64, 5, padding=2)],
        [_Conv(64), _conv3x3(96), _conv3x3(96)],
        [AVERAGE, _Conv(pooled)],
    ]


def _module_b() -> list[Branch]:
    """Return the module from 35 by 35 to 17 by 17."""
    return [
        [_conv3x3_halving(384)],
        [_Conv(64), _conv3x3(96), _conv3x3_halving(96)],
        [_MAXIMUM],
    ]


def _module_c(inner: int) -> list[Branch]:
    """Return the module at 17 by 17, with ``inner`` channels inside its branches."""
    return [
        [_Conv(192)],
        [_Conv(inner), _conv1x7(inner), _conv7x1(192)],
        [_Conv(inner), _conv7x1(inner), _conv1x7(inner), _conv7x1(inner), _conv1x7(192)],
        [AVERAGE, _Conv(192)],
    ]


def _module_d() -> list[Branch]:
    """Return the module from 17 by 17 to 8 by 8."""
    return [
        [_Conv(192), _conv3x3_halving(320)],
        [_Conv(192), _conv1x7(192), _conv7x1(192), _conv3x3_halving(192)],
        [_MAXIMUM],
    ]


def _module_e() -> list[Branch]:
    """Return the module at 8 by 8."""
    ends = [
        _Conv(384, kernel_size=(1, 3), padding=(0, 1)),
        _Conv(384, kernel_size=(3, 1), padding=(1, 0)),
    ]
    return [
        [_Conv(320)],
        Split([_Conv(384)], ends),
        Split([_Conv(448), _conv3x3(384)], ends),
        [AVERAGE, _Conv(192)],
    ]


class Inception3(Classifier):
    """Inception v3.

    Args:
        classes: Number of classes.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, 299, 299).

    Outputs:
        y: (N, classes) logits.
    """

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = HybridSequential(prefix="")
            self.features.add(
                normalized_conv(_conv3x3_halving(32)),
                normalized_conv(_Conv(32, 3)),
                normalized_conv(_conv3x3(64)),
                _MAXIMUM(),
                normalized_conv(_Conv(80)),
                normalized_conv(_Conv(192, 3)),
                _MAXIMUM(),
            )
            for i, pooled in enumerate((32, 64, 64)):
                add_module(self.features, f"A{i + 1}", _module_a(pooled))
            add_module(self.features, "B", _module_b())
            for i, inner in enumerate((128, 160, 160, 192)):
                add_module(self.features, f"C{i + 1}", _module_c(inner))
            add_module(self.features, "D", _module_d())
            for i in range(2):
                add_module(self.features, f"E{i + 1}", _module_e())
            self.features.add(AvgPool2D(8), Dropout(0.5))
            self.output = Dense(classes)


@register_model("inceptionv3")
def inception_v3(
    pretrained: bool = False,
    ctx: Context | Sequence[Context] = _CPU,
    root: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> Inception3:
    """Create Inception v3, ``inceptionv3`` for `get_model`.

    Args:
        pretrained: Whether to load weights trained on ImageNet, which are downloaded if missing.
        ctx: Device or devices for pretrained weights.
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.
        **kwargs: Arguments of `Inception3`, such as ``classes``.

    Raises:
        DownloadError: The weights could not be downloaded.
    """
    network = Inception3(**kwargs)
    if pretrained:
        load_published(network, "inceptionv3", ctx, root)
    return network
