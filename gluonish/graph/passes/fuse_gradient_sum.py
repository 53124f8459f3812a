"""Sums of gradients before and after LayerNorm's gradient, inside its kernel."""

from collections.abc import Callable, Mapping, Sequence

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.passes.simplify import eliminate_dead_code
from gluonish.graph.rewrite import Reads, count_reads, has_operator, rebuild
from gluonish.ops.normalization.add_layer_norm import BACKWARD_SUMS
from gluonish.ops.normalization.layer_norm import LAYER_NORM_BACKWARD
from gluonish.ops.registry import apply

Key = tuple[int, int]
Supports = Callable[..., bool]

_SUMS_OF_TWO = ("broadcast_add", "elemwise_add", "_grad_add")
_NAMES = (LAYER_NORM_BACKWARD.name, BACKWARD_SUMS.name)


def fuse_gradient_sum(graph: Graph, *, supports: Supports) -> Graph:
    """Add gradients up in the kernel of LayerNorm's gradient, which reads or makes one of them.

    Where a layer branches, its gradient is a sum of two. If only LayerNorm's gradient reads the
    sum, it reads the two; if one of the two is LayerNorm's gradient, the other is added to it
    before it is written.

    Args:
        graph: The graph.
        supports: ``supports(count, *specs)`` returns whether the kernels of LayerNorm support
            ``count`` arrays of data, followed by parameters.

    Requires: specs on every value; gradients are in the graph already, since the new operator has
    none.
    Ensures: the same bits. Nothing is read or written more often than before.
    """
    if not has_operator(graph, _NAMES):
        return graph
    reads = count_reads(graph)
    later = _sums_behind(graph, reads)
    replaced: dict[Key, Value] = {}

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        total = later.get(id(node))
        found = replaced.get((id(node), 0))
        if found is not None:
            return [found]
        made = _fused(node, inputs, total, reads, replaced, supports)
        if made is not None and total is not None:
            replaced[id(total), 0] = made[0]
        if made is None and any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
            copy = Node(node.op, node.name, inputs, node.attrs, node.specs, node.extra)
            made = [Value(copy, i) for i in range(copy.num_outputs)]
        replaced.update({(id(node), i): value for i, value in enumerate(made or ())})
        return made

    return eliminate_dead_code(rebuild(graph, rule))


def _fused(
    node: Node,
    inputs: Sequence[Value],
    total: Node | None,
    reads: Reads,
    replaced: Mapping[Key, Value],
    supports: Supports,
) -> list[Value] | None:
    """Return the outputs of a gradient with sums; None if there is no sum, or no such gradient.

    Args:
        node: A node.
        inputs: Its inputs in the new graph.
        total: A sum of its first output and an earlier value, if any.
        reads: The reads of values in the old graph.
        replaced: Values of the new graph by the keys of those that they replace.
        supports: See `fuse_gradient_sum`.
    """
    if not _is_gradient(node, supports):
        return None
    attrs = {name: node.attrs.get(name, 0) for name in ("two", "plus", "p")}
    grads, rest = [inputs[0]], list(inputs[1:])
    # The kernel of another LayerNorm's gradient may have the sum already.
    stays = inputs[0].node.op is node.inputs[0].node.op
    if not attrs["two"] and stays and _is_sum_to_join(node.inputs[0], reads):
        grads = list(inputs[0].node.inputs)
    if total is not None:
        (other,) = [x for x in total.inputs if x.node is not node]
        rest.insert(1 + attrs["two"], replaced.get(other.key, other))
    if len(grads) == 1 and total is None:
        return None
    attrs["two"] = bool(attrs["two"]) or len(grads) == 2
    attrs["plus"] = bool(attrs["plus"]) or total is not None
    made: list[Value] = apply(BACKWARD_SUMS, (*grads, *rest), {**attrs, "eps": node.attrs["eps"]})
    return made


def _is_gradient(node: Node, supports: Supports) -> bool:
    """Whether a node is LayerNorm's gradient along the last axis, as the kernel computes it."""
    if node.op is BACKWARD_SUMS:
        return True
    if node.op is not LAYER_NORM_BACKWARD:
        return False
    grad, data, *parameters = (value.spec for value in node.inputs)
    rank = len(data.shape)
    return node.attrs["axis"] % rank == rank - 1 and supports(2, grad, data, *parameters)


def _is_sum_to_join(value: Value, reads: Reads) -> bool:
    """Whether a value is a sum of two that nothing else reads, and no pointwise kernel makes."""
    node = value.node
    return (
        node.op is not None
        and node.op.name in _SUMS_OF_TWO
        and reads[value.key] == 1
        and all(x.spec == value.spec for x in node.inputs)
        and not any(_is_joined_otherwise(x, reads) for x in node.inputs)
    )


def _is_joined_otherwise(value: Value, reads: Reads) -> bool:
    """Whether a value comes from a pointwise operator, whose kernel can add another value to it."""
    return value.node.op is not None and value.node.op.elementwise and reads[value.key] == 1


def _sums_behind(graph: Graph, reads: Reads) -> dict[int, Node]:
    """Return the sums of gradients of data, and of values before these, by the gradients' ids."""
    positions = {id(node): i for i, node in enumerate(graph.nodes)}
    found: dict[int, Node] = {}
    for total in graph.nodes:
        if total.op is None or total.op.name not in _SUMS_OF_TWO:
            continue
        for own, other in (total.inputs, total.inputs[::-1]):
            node = own.node
            if (
                node.op is not None
                and node.op.name in _NAMES
                and own.index == 0
                and reads[own.key] == 1
                and not (node.attrs.get("plus") or node.attrs.get("p"))
                and own.spec == other.spec == total.specs[0]
                and positions[id(other.node)] < positions[id(node)]
                and not _is_joined_otherwise(other, reads)
            ):
                found[id(node)] = total
                break
    return found
