"""AlexNet, in the single-device version.

References:
    A. Krizhevsky, One weird trick for parallelizing convolutional neural networks, 2014: one
    column, without local response normalization.
"""

import os
from collections.abc import Sequence
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.gluon.nn.basic_layers import Dense, Dropout, Flatten
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.pooling import MaxPool2D
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.model_zoo.registry import register_model
from gluonish.model_zoo.vision.classifier import Classifier, load_published

_CPU = cpu()


class AlexNet(Classifier):
    """AlexNet: five convolutions and three fully connected layers.

    Args:
        classes: Number of classes.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W), with H and W of 63 or more; pretrained weights are for (N, 3, 224, 224).

    Outputs:
        y: (N, classes) logits.
    """

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = HybridSequential(prefix="")
            self.features.add(
                Conv2D(64, 11, 4, 2, activation="relu"),
                MaxPool2D(3, 2),
                Conv2D(192, 5, padding=2, activation="relu"),
                MaxPool2D(3, 2),
                Conv2D(384, 3, padding=1, activation="relu"),
                Conv2D(256, 3, padding=1, activation="relu"),
                Conv2D(256, 3, padding=1, activation="relu"),
                MaxPool2D(3, 2),
                Flatten(),
                Dense(4096, activation="relu"),
                Dropout(0.5),
                Dense(4096, activation="relu"),
                Dropout(0.5),
            )
            self.output = Dense(classes)


@register_model("alexnet")
def alexnet(
    pretrained: bool = False,
    ctx: Context | Sequence[Context] = _CPU,
    root: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> AlexNet:
    """Create AlexNet.

    Args:
        pretrained: Whether to load weights trained on ImageNet, which are downloaded if missing.
        ctx: Device or devices for pretrained weights.
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.
        **kwargs: Arguments of `AlexNet`, such as ``classes``.

    Raises:
        DownloadError: The weights could not be downloaded.
    """
    network = AlexNet(**kwargs)
    if pretrained:
        load_published(network, "alexnet", ctx, root)
    return network
