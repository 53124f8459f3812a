"""The passes in their order, and the switches that turn them off."""

from collections.abc import Callable

from gluonish.core.config import MXNET_ELIMINATE_COMMON_EXPR
from gluonish.graph.ir import Graph
from gluonish.graph.passes import eliminate_common_subexpressions, eliminate_dead_code, simplify

__all__ = ["PASSES", "optimize"]

# Simplification first: it makes subexpressions equal. Dead code last: it drops what the others left
# behind.
PASSES: tuple[tuple[Callable[[Graph], Graph], Callable[[], bool]], ...] = (
    (simplify, lambda: True),
    (eliminate_common_subexpressions, lambda: bool(MXNET_ELIMINATE_COMMON_EXPR.value)),
    (eliminate_dead_code, lambda: True),
)


def optimize(graph: Graph) -> Graph:
    """Return the graph after all passes that are switched on."""
    for graph_pass, enabled in PASSES:
        if enabled():
            graph = graph_pass(graph)
    return graph
