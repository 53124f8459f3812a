"""Passes: pure functions from a graph to a graph, one a file."""

from gluonish.graph.passes.common_subexpressions import eliminate_common_subexpressions
from gluonish.graph.passes.dead_code import eliminate_dead_code
from gluonish.graph.passes.simplify import simplify

__all__ = ["eliminate_common_subexpressions", "eliminate_dead_code", "simplify"]
