"""Graphs that executors of one Symbol share, so that binding the Symbol again needs no new plan.

A Symbol refers to the graph of its last executor as long as the graph lives. The last 16 small
graphs are cached, because programs bind and drop many executors.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import ref

from gluonish.core.config import current_settings
from gluonish.core.context import Context
from gluonish.graph.ir import Graph
from gluonish.symbol.placed_graph import PlacedGraph
from gluonish.symbol.symbol import Symbol, attributes_set

_MAX_RECENT = 16
_SMALL_NBYTES = 1 << 20

_recent: deque[PlacedGraph] = deque(maxlen=_MAX_RECENT)


class _Placed(NamedTuple):
    """The graph of a Symbol's last executor, and the settings that the graph was made for."""

    values: Sequence[Any]
    context: Context
    settings: tuple[Any, int, int]
    graph: Callable[[], PlacedGraph | None]


def graph_of(symbol: Symbol, context: Context) -> PlacedGraph:
    """Return the graph that an executor runs, if possible that of the Symbol's last executor.

    Args:
        symbol: The Symbol that is bound.
        context: Device of all nodes.
    """
    settings = *current_settings(), attributes_set[0]
    last: _Placed | None = symbol._placed
    if last is not None and last.values is symbol._values and last.context == context:
        graph = last.graph()
        if graph is not None and last.settings == settings:
            return graph
    name = symbol.name or "executor"
    made = PlacedGraph(symbol._variables(), symbol._values, lambda node: context, name)
    symbol._placed = _Placed(symbol._values, context, settings, ref(made))
    return made


def keep_if_small(placed: PlacedGraph, graph: Graph) -> None:
    """Cache a graph for the Symbol's next executor, if the values in the graph are small.

    Args:
        placed: The graph.
        graph: The same graph with specs.
    """
    nbytes = sum(spec.nbytes for node in graph.nodes for spec in node.specs)
    if nbytes <= _SMALL_NBYTES and placed not in _recent:
        _recent.append(placed)
