"""Partition: one graph of outputs and gradients, parted into a forward and a backward pass."""

from collections.abc import Callable, Sequence

from gluonish.core.config import MXNET_BACKWARD_DO_MIRROR, MXNET_MEMORY_OPT
from gluonish.graph.gradient import Joint, differentiate
from gluonish.graph.ir import Graph, Node, Value, topological_order
from gluonish.graph.passes.mirror import mirror, ordered_backward
from gluonish.graph.pipeline import optimize
from gluonish.graph.recompute import Effort
from gluonish.ops.nn.embedding import EMBEDDING_BACKWARD
from gluonish.ops.registry import Attrs


class Partition:
    """The two passes of a graph.

    What the backward pass computes again, in place of reading what the forward pass kept, is as
    ``MXNET_BACKWARD_DO_MIRROR`` and ``MXNET_MEMORY_OPT`` say now.

    Args:
        graph: Specs on every value, training mode on every node that depends on it.
        wanted: Positions of the inputs whose gradient is wanted; may be empty.
        prepare: What is done to outputs and gradients together, before they are parted.

    Attributes:
        forward: Operators of the forward pass, in order.
        backward: Operators of the backward pass, in an order in which little lives at once.
        inputs: The graph's inputs.
        outputs: The graph's outputs.
        heads: Gradients of the outputs, one each, which the backward pass is given.
        gradients: What the backward pass computes.
        gradient_positions: For each gradient, which input it belongs to.
        row_gradients: For inputs whose gradient is row-sparse, the attributes of the operator that
            makes it, after the backward pass, of the two gradients of that position: rows, and
            which rows they add to. So nothing of the size of the input is computed.
        kept: Values, other than inputs and outputs, that the backward pass reads or delivers.
        read_inputs: Positions of the inputs that the backward pass reads or delivers.
        read_outputs: The same of the outputs.
    """

    def __init__(
        self,
        graph: Graph,
        wanted: Sequence[int],
        prepare: Callable[[Graph], Graph] = lambda graph: graph,
    ) -> None:
        self.row_gradients: dict[int, Attrs] = {}
        flowing: list[tuple[int, Value]] = []
        joined = graph
        if wanted:
            found = differentiate(graph, wanted)
            pairs = zip(sorted(wanted), found.gradients, strict=True)
            for i, g in pairs:
                if g is not None:
                    flowing += [(i, part) for part in self._parts_of(i, g)]
            heads = [head.node for head in found.heads]
            joined = optimize(_joined(graph, heads, [g for _, g in flowing]))
        joined = prepare(joined)
        joint = Joint(joined, len(graph.inputs), len(graph.outputs))
        if flowing:
            joint = mirror(joint, _effort())
        self.inputs = [Value(node) for node in joint.inputs]
        self.heads = [Value(node) for node in joint.heads]
        self.outputs = joint.outputs
        self.gradients = joint.gradients
        self.gradient_positions = [i for i, _ in flowing]
        self.forward = joint.forward
        self.backward = ordered_backward(joint)
        reads = [value for node in self.backward for value in node.inputs]
        read = {value.key for value in [*reads, *self.gradients]}
        delivered = {value.key for value in self.outputs}
        self.read_inputs = [i for i, value in enumerate(self.inputs) if value.key in read]
        self.read_outputs = _positions_read(self.outputs, set(joint.read))
        self.kept = [value for key, value in joint.read.items() if key not in delivered]

    def _parts_of(self, position: int, gradient: Value) -> Sequence[Value]:
        """Return what the backward pass computes of a gradient: itself, or rows and places."""
        node = gradient.node
        if node.op is not EMBEDDING_BACKWARD or not node.attrs["sparse_grad"]:
            return (gradient,)
        self.row_gradients[position] = node.attrs
        return node.inputs


def _effort() -> Effort:
    if MXNET_MEMORY_OPT.value:
        return Effort.ANYTHING
    return Effort.LITTLE if MXNET_BACKWARD_DO_MIRROR.value else Effort.NOTHING


def _positions_read(outputs: Sequence[Value], read: set[tuple[int, int]]) -> list[int]:
    """Return the positions of outputs that are read, of equal ones the first."""
    first = {value.key: i for i, value in reversed(list(enumerate(outputs)))}
    return sorted(i for key, i in first.items() if key in read)


def _joined(graph: Graph, heads: Sequence[Node], gradients: Sequence[Value]) -> Graph:
    """Return the graph with gradients among its outputs, forward nodes first."""
    outputs = [*graph.outputs, *gradients]
    known = {id(node) for node in graph.nodes}
    behind = [node for node in topological_order(outputs) if id(node) not in known]
    return Graph([*graph.inputs, *heads], outputs, [*graph.nodes, *behind])
