"""The passes in their order, and the switches that turn them off."""

from collections.abc import Callable

from gluonish.core.config import MXNET_ELIMINATE_COMMON_EXPR, Flag
from gluonish.graph.ir import Graph
from gluonish.graph.passes import eliminate_common_subexpressions, eliminate_dead_code, simplify

__all__ = ["FINISHING_PASSES", "PASSES", "finish", "optimize"]

# Each with the variable that switches it off, if there is one. Simplification first: it makes
# subexpressions equal. Dead code last: it drops what the others left behind.
PASSES: tuple[tuple[Callable[[Graph], Graph], Flag[bool] | None], ...] = (
    (simplify, None),
    (eliminate_common_subexpressions, MXNET_ELIMINATE_COMMON_EXPR),
    (eliminate_dead_code, None),
)

# What is done to each executable's graph by itself, after the backward pass was parted off.
FINISHING_PASSES: tuple[tuple[Callable[[Graph], Graph], Flag[bool] | None], ...] = ()


def finish(graph: Graph) -> Graph:
    """Return an executable's graph after the last passes that are switched on."""
    return _through(FINISHING_PASSES, graph)


def optimize(graph: Graph) -> Graph:
    """Return the graph after all passes that are switched on."""
    return _through(PASSES, graph)


def _through(
    passes: tuple[tuple[Callable[[Graph], Graph], Flag[bool] | None], ...], graph: Graph
) -> Graph:
    for graph_pass, switch in passes:
        if switch is None or switch.value:
            graph = graph_pass(graph)
    return graph
