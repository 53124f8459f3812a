"""The order in which MXNet writes a graph's nodes."""

from gluonish.core.order import post_order
from gluonish.symbol.json_format import GraphData, NodeData, renumber


def depth_first(graph: GraphData) -> GraphData:
    """The graph in that order: depth first from the heads, without nodes that no head needs."""

    def before(node: NodeData) -> list[NodeData]:
        sources = [*(entry[0] for entry in node.inputs), *node.control_deps]
        return [graph.nodes[number] for number in sources]

    order = post_order([graph.nodes[head[0]] for head in graph.heads], before)
    numbers = {id(node): number for number, node in enumerate(graph.nodes)}
    places = {numbers[id(node)]: place for place, node in enumerate(order)}
    return renumber(graph, order, places)
