"""What a Symbol shows in a notebook: its graph as a drawing, or without Graphviz as a table."""

import shutil
import subprocess
from typing import Any

from gluonish.core.errors import GluonishError
from gluonish.core.html import frame, heading, table
from gluonish.graph.ir import Node, topological_order
from gluonish.symbol.symbol import Symbol, operator_attributes
from gluonish.symbol.visualization import plot_network

_MOST_DRAWN, _MOST_LISTED = 150, 400  # operators
_DRAWING_TIME_S = 10
_GRAY = "#808080"  # legible on light and on dark


def symbol_html(symbol: Symbol) -> str:
    """Return the HTML of a Symbol."""
    nodes = topological_order(symbol._values)
    operators = [node for node in nodes if node.op is not None]
    outputs = ", ".join(symbol.list_outputs()[:8])
    top = heading(
        type(symbol).__name__,
        f"outputs {outputs}",
        f"{len(operators):,} operators",
        f"{len(nodes) - len(operators):,} variables",
    )
    drawing = _drawing(symbol) if len(operators) <= _MOST_DRAWN else None
    return frame(top, _table(nodes) if drawing is None else drawing)


def _drawing(symbol: Symbol) -> str | None:
    """Return the graph as SVG; None if Graphviz is missing or fails."""
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        graph: Any = plot_network(symbol, node_attrs={"fontname": "sans-serif", "fontsize": "11"})
    except (GluonishError, RuntimeWarning):
        return None
    graph.graph_attr["bgcolor"] = "transparent"
    graph.edge_attr.update(color=_GRAY, fontcolor=_GRAY, fontsize="10")
    try:
        made = subprocess.run(
            [program, "-Tsvg"],
            input=graph.source.encode(),
            capture_output=True,
            timeout=_DRAWING_TIME_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    _, start, svg = made.stdout.decode().partition("<svg")
    return f"{start}{svg}" if start else None


def _table(nodes: list[Node]) -> str:
    """Return the operators with their inputs, variables left out."""
    rows = [
        (
            node.name,
            node.op.name,
            ", ".join(value.node.name for value in node.inputs),
            ", ".join(f"{name}={value}" for name, value in operator_attributes(node).items()),
        )
        for node in nodes
        if node.op is not None
    ]
    left = len(rows) - _MOST_LISTED
    more = [("...", f"{left:,} more", "", "")] if left > 0 else []
    return table(("name", "operator", "inputs", "arguments"), [*rows[:_MOST_LISTED], *more])
