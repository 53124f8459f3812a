"""What the families of networks share: features then scores, and weights that were published."""

import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.block.hybrid_block import HybridBlock
from gluonish.core.context import Context
from gluonish.model_zoo.model_store import get_model_file
from gluonish.nn.sequential import HybridSequential
from gluonish.nn.tensor import Tensor

__all__ = ["Classifier", "chain", "load_published"]


class Classifier(HybridBlock):
    """A network of two parts, each of which may be replaced or used alone.

    Subclasses set the attributes ``features`` and ``output``.
    """

    features: HybridSequential
    output: HybridBlock

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the scores of the classes."""
        return self.output(self.features(x))


def chain(*layers: HybridBlock) -> HybridSequential:
    """Return layers as one that runs them in order and adds nothing to their names."""
    sequence = HybridSequential(prefix="")
    sequence.add(*layers)
    return sequence


def load_published(
    network: HybridBlock,
    name: str,
    ctx: Context | Sequence[Context],
    root: str | os.PathLike[str] | None,
) -> None:
    """Give a network the weights trained on ImageNet, fetching them if need be.

    Args:
        network: As its family's function makes it.
        name: Model name, such as ``resnet50_v1``.
        ctx: Device or devices for the weights.
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.

    Raises:
        ArgumentError: No weights of that name were published.
        DownloadError: They could not be fetched.
    """
    network.load_parameters(get_model_file(name, root), ctx=ctx)
