"""Where the nodes of a Block's graph come from, for `mx.check_values`."""

import sys
from typing import Any

from gluonish.gluon.block.block_errors import described_block, owner_of
from gluonish.graph.source_lines import SourceLines
from gluonish.graph.value_checks import NodeOrigins
from gluonish.ndarray.value_checks import Origin


def origins_in(network: Any, lines: SourceLines, name: str) -> NodeOrigins:
    """Return the layers and lines of the nodes of a call that is being made.

    Args:
        network: The Block whose graph is called; None if it was freed.
        lines: Lines of the nodes; nodes without one have the line of the call.
        name: Name of the graph.
    """
    whole = Origin.of(sys._getframe(1))

    def of(node: str) -> Origin:
        owner = None if network is None else owner_of(node, network)
        layer = whole.layer if owner is None else described_block(owner)
        return Origin(layer, lines.line_of(node) or whole.line)

    return NodeOrigins(of, whole, name)
