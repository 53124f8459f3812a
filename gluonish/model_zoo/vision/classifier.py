"""Base class of the networks, and loading of published weights."""

import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.context import Context
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Tensor
from gluonish.model_zoo.model_store import get_model_file


class Classifier(HybridBlock):
    """Base class of the zoo's networks; both children can be replaced or used separately.

    Attributes:
        features: All layers up to the last hidden features, set by subclasses.
        output: The last layer, from features to logits, set by subclasses.
    """

    features: HybridSequential
    output: HybridBlock

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the logits of the classes.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Images (N, C, H, W).
        """
        return self.output(self.features(x))


def chain(*layers: HybridBlock) -> HybridSequential:
    """Return a HybridSequential of layers without a name prefix."""
    sequence = HybridSequential(prefix="")
    sequence.add(*layers)
    return sequence


def load_published(
    network: HybridBlock,
    name: str,
    ctx: Context | Sequence[Context],
    root: str | os.PathLike[str] | None,
) -> None:
    """Load weights trained on ImageNet into a network; download them if they are missing.

    Args:
        network: The network.
        name: Model name, such as ``resnet50_v1``.
        ctx: Device or devices for the weights.
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.

    Raises:
        ArgumentError: No weights of that name were published.
        DownloadError: The weights could not be downloaded.
    """
    network.load_parameters(get_model_file(name, root), ctx=ctx)
