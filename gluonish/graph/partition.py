"""Partition: a graph of outputs and gradients that is split into a forward and a backward pass."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gluonish.core.config import MXNET_BACKWARD_DO_MIRROR, MXNET_MEMORY_OPT
from gluonish.graph.gradient import Joint, differentiate
from gluonish.graph.ir import Graph, Node, Value, topological_order
from gluonish.graph.passes.mirror import mirror, ordered_backward
from gluonish.graph.pipeline import optimize
from gluonish.graph.saved_values import Effort
from gluonish.ops.nn.embedding import EMBEDDING_BACKWARD
from gluonish.ops.registry import Attrs


@dataclass(frozen=True, slots=True)
class Partition:
    """The forward and the backward pass of a graph.

    Attributes:
        forward: Operators of the forward pass, in order.
        backward: Operators of the backward pass, in an order that needs little memory.
        inputs: The graph's inputs.
        outputs: The graph's outputs.
        heads: Gradients of the outputs, which are inputs of the backward pass.
        gradients: Results of the backward pass.
        gradient_positions: Position of the input that each gradient belongs to.
        row_gradients: For each position of an input with a row-sparse gradient, the attributes of
            EMBEDDING_BACKWARD, which builds that gradient after the backward pass from the two
            gradients with this position (the rows, and their indices). So no array of the size
            of the input is computed.
        saved: Values, other than inputs and outputs, that the backward pass reads or delivers.
        read_inputs: Positions of the inputs that the backward pass reads or delivers.
        read_outputs: Positions of the outputs that the backward pass reads or delivers.
    """

    forward: Sequence[Node]
    backward: Sequence[Node]
    inputs: Sequence[Value]
    outputs: Sequence[Value]
    heads: Sequence[Value]
    gradients: Sequence[Value]
    gradient_positions: Sequence[int]
    row_gradients: Mapping[int, Attrs]
    saved: Sequence[Value]
    read_inputs: Sequence[int]
    read_outputs: Sequence[int]


def split_passes(
    graph: Graph,
    grad_inputs: Sequence[int],
    prepare: Callable[[Graph], Graph] = lambda graph: graph,
) -> Partition:
    """Return the forward and the backward pass of a graph.

    The current ``MXNET_BACKWARD_DO_MIRROR`` and ``MXNET_MEMORY_OPT`` decide which values the
    backward pass computes again, rather than reading saved ones.

    Args:
        graph: Specs on every value, training mode on every node that depends on it.
        grad_inputs: Positions of the inputs that require a gradient; may be empty.
        prepare: Function that transforms the graph of outputs and gradients before the split.
    """
    row_gradients: dict[int, Attrs] = {}
    flowing: list[tuple[int, Value]] = []
    joined = graph
    if grad_inputs:
        found = differentiate(graph, grad_inputs)
        for i, g in zip(sorted(grad_inputs), found.gradients, strict=True):
            if g is None:
                continue
            if g.node.op is EMBEDDING_BACKWARD and g.node.attrs["sparse_grad"]:
                row_gradients[i] = g.node.attrs
                flowing += [(i, value) for value in g.node.inputs]
            else:
                flowing.append((i, g))
        heads = [head.node for head in found.heads]
        joined = optimize(_joined(graph, heads, [g for _, g in flowing]))
    joint = Joint(prepare(joined), len(graph.inputs), len(graph.outputs))
    if flowing:
        joint = mirror(joint, _effort())
    inputs, backward = [Value(node) for node in joint.inputs], ordered_backward(joint)
    read = {value.key for node in backward for value in node.inputs}
    read |= {value.key for value in joint.gradients}
    delivered = {value.key for value in joint.outputs}
    return Partition(
        forward=joint.forward,
        backward=backward,
        inputs=inputs,
        outputs=joint.outputs,
        heads=[Value(node) for node in joint.heads],
        gradients=joint.gradients,
        gradient_positions=[i for i, _ in flowing],
        row_gradients=row_gradients,
        saved=[value for key, value in joint.read.items() if key not in delivered],
        read_inputs=[i for i, value in enumerate(inputs) if value.key in read],
        read_outputs=_positions_read(joint.outputs, set(joint.read)),
    )


def _effort() -> Effort:
    if MXNET_MEMORY_OPT.value:
        return Effort.ANYTHING
    return Effort.LITTLE if MXNET_BACKWARD_DO_MIRROR.value else Effort.NOTHING


def _positions_read(outputs: Sequence[Value], read: set[tuple[int, int]]) -> list[int]:
    """Return the positions of the outputs that are read; of equal outputs, only the first."""
    first = {value.key: i for i, value in reversed(list(enumerate(outputs)))}
    return sorted(i for key, i in first.items() if key in read)


def _joined(graph: Graph, heads: Sequence[Node], gradients: Sequence[Value]) -> Graph:
    """Return the graph with the gradients appended to its outputs, forward nodes first."""
    outputs = [*graph.outputs, *gradients]
    known = {id(node) for node in graph.nodes}
    behind = [node for node in topological_order(outputs) if id(node) not in known]
    return Graph([*graph.inputs, *heads], outputs, [*graph.nodes, *behind])
