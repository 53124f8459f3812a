"""The passes in their order, and the switches that turn them off."""

from collections.abc import Callable

from gluonish.core.config import MXNET_ELIMINATE_COMMON_EXPR, Flag
from gluonish.graph.ir import Graph
from gluonish.graph.passes import eliminate_common_subexpressions, eliminate_dead_code, simplify

__all__ = ["PASSES", "optimize"]

# Each with the variable that switches it off, if there is one. Simplification first: it makes
# subexpressions equal. Dead code last: it drops what the others left behind.
PASSES: tuple[tuple[Callable[[Graph], Graph], Flag[bool] | None], ...] = (
    (simplify, None),
    (eliminate_common_subexpressions, MXNET_ELIMINATE_COMMON_EXPR),
    (eliminate_dead_code, None),
)


def optimize(graph: Graph) -> Graph:
    """Return the graph after all passes that are switched on."""
    for graph_pass, switch in PASSES:
        if switch is None or switch.value:
            graph = graph_pass(graph)
    return graph
