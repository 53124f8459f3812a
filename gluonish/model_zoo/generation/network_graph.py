"""NetworkGraph: base class of Blocks that compute a part of a generating network as one graph."""

from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.options import HybridOptions


class NetworkGraph(HybridBlock):
    """A Block whose graph reads the weights of a network, which is not hybridized by it.

    Its plans read the weights where they are. Copies in a faster layout, which plans of inference
    keep otherwise, would fill the memory: there is a plan for each length of a piece of text.

    Args:
        net: The network.
        prefix: Prefix of the Block's name.
    """

    def __init__(self, net: Any, prefix: str) -> None:
        super().__init__(prefix=prefix)
        self.hybridize(static_alloc=True)  # before the network becomes a child
        self.net = net

    def _graph_options(self) -> HybridOptions:
        return super()._graph_options()._replace(packs_weights=False)
