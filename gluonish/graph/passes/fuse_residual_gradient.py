"""The gradient of a relu behind a sum, inside the sums of BatchNorm's gradient."""

from collections.abc import Mapping, Sequence

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import count_reads, has_operator, rebuild
from gluonish.ops.registry import apply, find_operator

_SUMS = find_operator("_batch_norm_sums")
_RESIDUAL = find_operator("_batch_norm_residual_sums")
_SUMS_OF_TWO = ("broadcast_add", "elemwise_add", "_grad_add")


def fuse_residual_gradient(graph: Graph) -> Graph:
    """Compute the gradient of ``relu(BatchNorm(x) + y)`` with the sums of BatchNorm's.

    The gradient of such a block is a sum of two: that of the next block's layers, and that of what
    is added to them. One operator adds them, applies the relu's gradient and sums the result.

    Requires: specs on every value, and the gradient of BatchNorm split into its operators.
    Ensures: the same values within round-off of the sums. The gradient of a relu is written once,
    and read once less, if it is a sum of two and a BatchNorm's sums without bounds read it.
    """
    if not has_operator(graph, ("_batch_norm_sums",)):
        return graph
    chosen = _chosen(graph)
    made: dict[int, Node] = {}

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        sums = chosen.get((id(node), 0))
        if sums is not None:
            made[id(sums)] = _joined(sums, inputs[0].node.inputs, inputs[1])
            return [Value(made[id(sums)], 0)]
        joined = made.get(id(node))
        return None if joined is None else [Value(joined, i) for i in range(1, 5)]

    return rebuild(graph, rule) if chosen else graph


def _chosen(graph: Graph) -> dict[tuple[int, int], Node]:
    """Return the first sums of each gradient that they may compute, by its key."""
    reads = count_reads(graph)
    found: dict[tuple[int, int], Node] = {}
    behind: set[int] = set()  # such gradients, and what depends on them
    for node in graph.nodes:
        if _is_residual(node, reads) or any(id(value.node) in behind for value in node.inputs):
            behind.add(id(node))
        if node.op is _SUMS and not node.attrs["bounds"]:
            grad = node.inputs[0]
            given = node.inputs[1:5]
            if _is_residual(grad.node, reads) and all(id(x.node) not in behind for x in given):
                found.setdefault(grad.key, node)
    return found


def _joined(sums: Node, terms: Sequence[Value], relu: Value) -> Node:
    """Return the operator for sums whose gradient is that of ``relu``, given two terms."""
    attrs = {name: value for name, value in sums.attrs.items() if name != "bounds"}
    made: list[Value] = apply(_RESIDUAL, (*terms, relu, *sums.inputs[1:5]), attrs)
    return made[0].node


def _is_residual(node: Node, reads: Mapping[tuple[int, int], int]) -> bool:
    """Whether a node is the gradient of a relu, of a sum of two values that nothing else reads."""
    if node.op is None or node.op.name != "_activation_backward":
        return False
    total = node.inputs[0].node
    return (
        node.attrs["act_type"] == "relu"
        and total.op is not None
        and total.op.name in _SUMS_OF_TWO
        and reads[node.inputs[0].key] == 1
        and all(value.spec == node.specs[0] for value in total.inputs)
    )
