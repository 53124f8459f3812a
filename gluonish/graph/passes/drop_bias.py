"""The bias of a convolution in front of batch normalization, which only moves the running mean."""

from collections.abc import Mapping, Sequence

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import has_operator, rebuild
from gluonish.ops.registry import find_operator

_STATISTICS = find_operator("_batch_norm_statistics")
# Readers of the data that subtract its mean, with the positions of data and mean.
_CENTRING = {
    "_batch_norm_sums": (1, 2),
    "_batch_norm_residual_sums": (3, 4),
    "_batch_norm_data_gradient": (1, 2),
}

Readers = Mapping[tuple[int, int], Sequence[tuple[Node | None, int]]]


def drop_bias(graph: Graph) -> Graph:
    """Leave out the bias of a convolution that only BatchNorm with batch statistics reads.

    The mean of each channel contains the bias, and BatchNorm subtracts it from the data. So only
    the moving mean depends on it, to which the statistics add its share.

    Requires: specs on every value, and BatchNorm and its gradient split into their operators.
    Ensures: the same outputs and moving statistics within round-off.
    """
    if not has_operator(graph, ("_batch_norm_statistics",)):
        return graph
    readers = _readers(graph)
    found: dict[int, Value] = {}  # biases by convolution and by statistics
    for node in graph.nodes:
        statistics = _only_normalized(node, readers)
        if statistics is not None:
            found[id(node)] = found[id(statistics)] = node.inputs[2]

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        bias = found.get(id(node))
        if bias is None:
            return None
        if node.op is _STATISTICS:
            given, attrs = [*inputs, bias], {**node.attrs, "has_bias": True}
        else:
            given, attrs = list(inputs[:2]), {**node.attrs, "no_bias": True}
        made = Node(node.op, node.name, given, attrs, node.specs, node.extra)
        return [Value(made, i) for i in range(made.num_outputs)]

    return rebuild(graph, rule) if found else graph


def _readers(graph: Graph) -> Readers:
    """Return the nodes that read each value, and at which position; None for the graph's output."""
    found: dict[tuple[int, int], list[tuple[Node | None, int]]] = {}
    for node in graph.nodes:
        for position, value in enumerate(node.inputs):
            found.setdefault(value.key, []).append((node, position))
    for position, value in enumerate(graph.outputs):
        found.setdefault(value.key, []).append((None, position))
    return found


def _only_normalized(node: Node, readers: Readers) -> Node | None:
    """Return the statistics of a convolution's output if everything reads it without its mean."""
    if node.op is None or node.op.name != "Convolution" or node.attrs["no_bias"]:
        return None
    if node.inputs[2].spec.dtype != node.specs[0].dtype or len(node.specs) > 1:
        return None
    read = readers.get((id(node), 0), [])
    found = [reader for reader, _ in read if reader is not None and reader.op is _STATISTICS]
    if len(found) != 1 or not _is_of_batch(found[0]):
        return None
    mean = Value(found[0], 0)
    centred = all(_is_centred(each, mean, readers) for each in read if each[0] is not found[0])
    alone = all(_is_subtracted(each, node, readers) for each in readers.get(mean.key, []))
    return found[0] if centred and alone else None


def _is_of_batch(statistics: Node) -> bool:
    attrs = statistics.attrs
    return attrs["train"] and not attrs["use_global_stats"] and len(statistics.inputs) == 4


def _is_centred(reader: tuple[Node | None, int], mean: Value, readers: Readers) -> bool:
    """Whether a reader of data, or of data that was cast, subtracts the mean."""
    node, position = reader
    if node is None or node.op is None:
        return False
    if node.op.name == "Cast":
        read = readers.get((id(node), 0), [])
        return all(_is_centred(each, mean, readers) for each in read)
    if node.op.name == "broadcast_sub":
        reshaped = node.inputs[1].node
        is_reshape = reshaped.op is not None and reshaped.op.name == "Reshape"
        return position == 0 and is_reshape and reshaped.inputs[0].key == mean.key
    at = _CENTRING.get(node.op.name)
    return at is not None and position == at[0] and node.inputs[at[1]].key == mean.key


def _is_subtracted(reader: tuple[Node | None, int], data: Node, readers: Readers) -> bool:
    """Whether a reader of the mean, perhaps of another shape, subtracts it from the data."""
    node, position = reader
    if node is None or node.op is None:
        return False
    if node.op.name == "Reshape":
        read = readers.get((id(node), 0), [])
        return all(_is_subtracted(each, data, readers) for each in read)
    if node.op.name == "broadcast_sub":
        value = node.inputs[0]
        cast = value.node.op is not None and value.node.op.name == "Cast"
        return position == 1 and (value.node.inputs[0].node if cast else value.node) is data
    at = _CENTRING.get(node.op.name)
    return at is not None and position == at[1] and node.inputs[at[0]].node is data
