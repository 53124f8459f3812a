"""Symbol.debug_str: a graph as text."""

from gluonish.graph.ir import Node, topological_order
from gluonish.symbol.symbol import Symbol, operator_attributes


def debug_str(self: Symbol) -> str:
    """Return the nodes of the graph with inputs and attributes as text, in execution order."""
    lines = ["Symbol Outputs:"]
    lines += [
        f"\toutput[{i}]={value.node.name}({value.index})" for i, value in enumerate(self._values)
    ]
    for node in topological_order(self._values):
        lines += [f"Variable:{node.name}"] if node.op is None else _operator_lines(node)
    return "\n".join([*lines, ""])


def _operator_lines(node: Node) -> list[str]:
    op = node.op
    assert op is not None
    mutated = op.mutated_inputs(node.attrs)
    lines = ["-" * 20, f"Op:{op.name}, Name={node.name}", "Inputs:"]
    lines += [
        f"\targ[{i}]={value.node.name}({value.index})"
        + (f" version={int(i in mutated)}" if value.node.op is None else "")
        for i, value in enumerate(node.inputs)
    ]
    attrs = {**operator_attributes(node), **node.extra}
    if attrs:
        lines += ["Attrs:", *(f"\t{key}={value}" for key, value in sorted(attrs.items()))]
    return lines
