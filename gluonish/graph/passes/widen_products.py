"""Products of 16-bit floats with float32 results, without rounding."""

from collections import Counter
from collections.abc import Sequence

from gluonish.core.dtype import FLOAT32
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import has_operator, rebuild
from gluonish.ops.linalg.matmul import WIDE_DOT


def widen_products(graph: Graph) -> Graph:
    """Compute products in float32 whose only reader is a cast to float32.

    In mixed precision these are the gradients of float32 weights: they are not rounded to 16 bits,
    and the cast needs no pass over memory.

    Requires: specs on every value.
    Ensures: no Cast to float32 is the only reader of a dot of 16-bit floats; values are the same,
    except for the rounding.
    """
    if not has_operator(graph, ("dot",)):
        return graph
    readers = Counter(value.key for node in graph.nodes for value in node.inputs)
    readers.update(value.key for value in graph.outputs)

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if node.op is None or node.op.name != "Cast" or node.specs[0].dtype != FLOAT32:
            return None
        product = inputs[0].node
        if product.op is None or product.op.name != "dot" or readers[node.inputs[0].key] > 1:
            return None
        if product.specs[0].dtype.itemsize != 2:
            return None
        attrs = product.attrs
        made = Node(WIDE_DOT, product.name, product.inputs, attrs, node.specs, product.extra)
        return [Value(made)]

    return rebuild(graph, rule)
