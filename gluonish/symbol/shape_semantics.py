"""Shapes in files that were written without NumPy's shape semantics, where 0 is an unknown size."""

import ast
from collections.abc import Mapping
from dataclasses import replace

from gluonish.core.numpy_mode import is_np_shape
from gluonish.core.schema import UNPARSABLE
from gluonish.symbol.json_format import GraphData, NodeData

_SHAPE = "__shape__"
# Operators whose shape follows from their readers if it is missing, or () in such a file.
_SAMPLERS = "_random_"


def with_current_shapes(graph: GraphData) -> GraphData:
    """Convert the shapes of a graph to the current shape semantics.

    With NumPy semantics, unknown sizes of a graph that was saved without them become -1.

    Args:
        graph: The graph, from `parse`.
    """
    if graph.attrs.get("is_np_shape", ("int", 0))[1]:
        return graph
    return _converted(graph)


def _converted(graph: GraphData) -> GraphData:
    nodes = tuple(
        replace(
            node,
            attrs=_current(node),
            subgraphs=tuple(_converted(body) for body in node.subgraphs),
        )
        for node in graph.nodes
    )
    return replace(graph, nodes=nodes)


def _current(node: NodeData) -> Mapping[str, str]:
    attrs = node.attrs
    if not node.is_variable:
        unknown = node.op.startswith(_SAMPLERS) and attrs.get("shape", "").strip() in ("()", "[]")
        return {k: v for k, v in attrs.items() if k != "shape"} if unknown else attrs
    if _SHAPE not in attrs or not is_np_shape():
        return attrs
    try:
        extents = ast.literal_eval(attrs[_SHAPE].replace("L", ""))
        known = tuple(-1 if n == 0 else n for n in extents)
    except UNPARSABLE:
        return attrs  # reading the shape raises the error
    others = {k: v for k, v in attrs.items() if k != _SHAPE}
    return {**others, _SHAPE: str(known)} if known else others
