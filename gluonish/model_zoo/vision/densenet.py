"""Densely connected networks: a layer's input is the concatenated outputs of the stage so far.

References:
    G. Huang, Z. Liu, L. van der Maaten, K. Q. Weinberger, Densely Connected Convolutional Networks,
    2016: the variant with bottlenecks and compression by a half.
"""

import os
from collections.abc import Sequence
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.core.errors import KeyLookupError
from gluonish.gluon.nn.activations import Activation
from gluonish.gluon.nn.basic_layers import Dense, Dropout, Flatten
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.pooling import AvgPool2D, MaxPool2D
from gluonish.gluon.nn.sequential import HybridConcurrent, HybridSequential, Identity
from gluonish.model_zoo.registry import register_model
from gluonish.model_zoo.vision.classifier import Classifier, chain, load_published

_CPU = cpu()


def dense_layer(growth_rate: int, bn_size: int, dropout: float) -> HybridConcurrent:
    """Return a layer that concatenates ``growth_rate`` new channels to its input.

    Args:
        growth_rate: Number of new channels.
        bn_size: Width of the bottleneck, as a multiple of ``growth_rate``.
        dropout: Dropout rate of the new channels; 0 for none.
    """
    new = chain(
        BatchNorm(),
        Activation("relu"),
        Conv2D(bn_size * growth_rate, 1, use_bias=False),
        BatchNorm(),
        Activation("relu"),
        Conv2D(growth_rate, 3, padding=1, use_bias=False),
    )
    if dropout:
        new.add(Dropout(dropout))
    layer = HybridConcurrent(axis=1, prefix="")
    layer.add(Identity(), new)
    return layer


def transition(channels: int) -> HybridSequential:
    """Return the layers between two stages, which halve the spatial size and change the channels.

    Args:
        channels: Number of output channels.
    """
    return chain(
        BatchNorm(), Activation("relu"), Conv2D(channels, 1, use_bias=False), AvgPool2D(2, 2)
    )


class DenseNet(Classifier):
    """A densely connected network.

    Args:
        num_init_features: Number of channels of the stem.
        growth_rate: Number of channels that each layer adds.
        block_config: Number of layers of each stage.
        bn_size: Number of channels of each bottleneck, as a multiple of ``growth_rate``.
        dropout: Dropout rate of each layer's output; 0 for none.
        classes: Number of classes.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W); with four stages H and W are 221 or more, and pretrained weights are for
            (N, 3, 224, 224).

    Outputs:
        y: (N, classes) logits.
    """

    def __init__(
        self,
        num_init_features: int,
        growth_rate: int,
        block_config: Sequence[int],
        bn_size: int = 4,
        dropout: float = 0,
        classes: int = 1000,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = HybridSequential(prefix="")
            self.features.add(
                Conv2D(num_init_features, 7, 2, 3, use_bias=False),
                BatchNorm(),
                Activation("relu"),
                MaxPool2D(3, 2, 1),
            )
            channels = num_init_features
            for i, count in enumerate(block_config):
                if i:
                    channels //= 2
                    self.features.add(transition(channels))
                stage = HybridSequential(prefix=f"stage{i + 1}_")
                with stage.name_scope():
                    for _ in range(count):
                        stage.add(dense_layer(growth_rate, bn_size, dropout))
                self.features.add(stage)
                channels += count * growth_rate
            self.features.add(BatchNorm(), Activation("relu"), AvgPool2D(7), Flatten())
            self.output = Dense(classes)


# By number of layers: channels of the stem, growth rate, layers of each stage.
densenet_spec: dict[int, tuple[int, int, list[int]]] = {
    121: (64, 32, [6, 12, 24, 16]),
    161: (96, 48, [6, 12, 36, 24]),
    169: (64, 32, [6, 12, 32, 32]),
    201: (64, 32, [6, 12, 48, 32]),
}


def get_densenet(
    num_layers: int,
    pretrained: bool = False,
    ctx: Context | Sequence[Context] = _CPU,
    root: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> DenseNet:
    """Create a densely connected network of a published size.

    Args:
        num_layers: 121, 161, 169 or 201.
        pretrained: Whether to load weights trained on ImageNet, which are downloaded if missing.
        ctx: Device or devices for pretrained weights.
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.
        **kwargs: Arguments of `DenseNet`, such as ``classes``.

    Raises:
        KeyLookupError: ``num_layers`` has another value.
        DownloadError: The weights could not be downloaded.
    """
    if num_layers not in densenet_spec:
        raise KeyLookupError(
            f"get_densenet: expected num_layers in {list(densenet_spec)}, got {num_layers}"
        )
    network = DenseNet(*densenet_spec[num_layers], **kwargs)
    if pretrained:
        load_published(network, f"densenet{num_layers}", ctx, root)
    return network


@register_model("densenet121")
def densenet121(**kwargs: Any) -> DenseNet:
    """Create DenseNet-121; see `get_densenet` for the arguments."""
    return get_densenet(121, **kwargs)


@register_model("densenet161")
def densenet161(**kwargs: Any) -> DenseNet:
    """Create DenseNet-161; see `get_densenet` for the arguments."""
    return get_densenet(161, **kwargs)


@register_model("densenet169")
def densenet169(**kwargs: Any) -> DenseNet:
    """Create DenseNet-169; see `get_densenet` for the arguments."""
    return get_densenet(169, **kwargs)


@register_model("densenet201")
def densenet201(**kwargs: Any) -> DenseNet:
    """Create DenseNet-201; see `get_densenet` for the arguments."""
    return get_densenet(201, **kwargs)
