"""VGG networks, with and without batch normalization.

References:
    K. Simonyan, A. Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition,
    2014: configurations A, B, D and E.
"""

import os
from collections.abc import Sequence
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError, KeyLookupError
from gluonish.gluon.nn.activations import Activation
from gluonish.gluon.nn.basic_layers import Dense, Dropout
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.pooling import MaxPool2D
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.initializer import Xavier
from gluonish.model_zoo.registry import register_model
from gluonish.model_zoo.vision.classifier import Classifier, load_published

_CPU = cpu()


class VGG(Classifier):
    """A VGG network: stages of 3x3 convolutions and a pooling, and three dense layers.

    Args:
        layers: Number of convolutions in each stage.
        filters: Number of output channels of each stage.
        classes: Number of classes.
        batch_norm: Whether to add batch normalization after each convolution.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W); pretrained weights are for (N, 3, 224, 224).

    Outputs:
        y: (N, classes) logits.

    Raises:
        ArgumentError: ``filters`` and ``layers`` differ in length.
    """

    def __init__(
        self,
        layers: Sequence[int],
        filters: Sequence[int],
        classes: int = 1000,
        batch_norm: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if len(layers) != len(filters):
            raise ArgumentError(
                f"VGG: expected filters for each of {len(layers)} stages, got {list(filters)}"
            )
        with self.name_scope():
            self.features = self._make_features(layers, filters, batch_norm)
            for _ in range(2):
                self.features.add(
                    Dense(4096, activation="relu", weight_initializer="normal"), Dropout(0.5)
                )
            self.output = Dense(classes, weight_initializer="normal")

    def _make_features(
        self, layers: Sequence[int], filters: Sequence[int], batch_norm: bool
    ) -> HybridSequential:
        """Return the convolutions of all stages; MXNet's name, which subclasses call."""
        features = HybridSequential(prefix="")
        for count, channels in zip(layers, filters, strict=True):
            for _ in range(count):
                init = Xavier(rnd_type="gaussian", factor_type="out", magnitude=2)
                features.add(Conv2D(channels, 3, padding=1, weight_initializer=init))
                if batch_norm:
                    features.add(BatchNorm())
                features.add(Activation("relu"))
            features.add(MaxPool2D(strides=2))
        return features


# By number of layers with weights: convolutions and channels of each stage.
vgg_spec: dict[int, tuple[list[int], list[int]]] = {
    11: ([1, 1, 2, 2, 2], [64, 128, 256, 512, 512]),
    13: ([2, 2, 2, 2, 2], [64, 128, 256, 512, 512]),
    16: ([2, 2, 3, 3, 3], [64, 128, 256, 512, 512]),
    19: ([2, 2, 4, 4, 4], [64, 128, 256, 512, 512]),
}


def get_vgg(
    num_layers: int,
    pretrained: bool = False,
    ctx: Context | Sequence[Context] = _CPU,
    root: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> VGG:
    """Create a VGG network of a published size.

    Args:
        num_layers: 11, 13, 16 or 19.
        pretrained: Whether to load weights trained on ImageNet, which are downloaded if missing.
        ctx: Device or devices for pretrained weights.
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.
        **kwargs: Arguments of `VGG`, such as ``classes`` and ``batch_norm``.

    Raises:
        KeyLookupError: ``num_layers`` has another value.
        DownloadError: The weights could not be downloaded.
    """
    if num_layers not in vgg_spec:
        raise KeyLookupError(f"get_vgg: expected num_layers in {list(vgg_spec)}, got {num_layers}")
    layers, filters = vgg_spec[num_layers]
    network = VGG(layers, filters, **kwargs)
    if pretrained:
        suffix = "_bn" if kwargs.get("batch_norm") else ""
        load_published(network, f"vgg{num_layers}{suffix}", ctx, root)
    return network


@register_model("vgg11")
def vgg11(**kwargs: Any) -> VGG:
    """Create VGG-11; see `get_vgg` for the arguments."""
    return get_vgg(11, **kwargs)


@register_model("vgg11_bn")
def vgg11_bn(**kwargs: Any) -> VGG:
    """Create VGG-11 with batch normalization; see `get_vgg` for the arguments."""
    return get_vgg(11, **{**kwargs, "batch_norm": True})


@register_model("vgg13")
def vgg13(**kwargs: Any) -> VGG:
    """Create VGG-13; see `get_vgg` for the arguments."""
    return get_vgg(13, **kwargs)


@register_model("vgg13_bn")
def vgg13_bn(**kwargs: Any) -> VGG:
    """Create VGG-13 with batch normalization; see `get_vgg` for the arguments."""
    return get_vgg(13, **{**kwargs, "batch_norm": True})


@register_model("vgg16")
def vgg16(**kwargs: Any) -> VGG:
    """Create VGG-16; see `get_vgg` for the arguments."""
    return get_vgg(16, **kwargs)


@register_model("vgg16_bn")
def vgg16_bn(**kwargs: Any) -> VGG:
    """Create VGG-16 with batch normalization; see `get_vgg` for the arguments."""
    return get_vgg(16, **{**kwargs, "batch_norm": True})


@register_model("vgg19")
def vgg19(**kwargs: Any) -> VGG:
    """Create VGG-19; see `get_vgg` for the arguments."""
    return get_vgg(19, **kwargs)


@register_model("vgg19_bn")
def vgg19_bn(**kwargs: Any) -> VGG:
    """Create VGG-19 with batch normalization; see `get_vgg` for the arguments."""
    return get_vgg(19, **{**kwargs, "batch_norm": True})
