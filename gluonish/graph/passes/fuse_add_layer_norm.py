"""LayerNorm of a sum, and the Dropout before the sum, as one operator."""

from collections.abc import Callable, Mapping, Sequence

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.passes.simplify import eliminate_dead_code
from gluonish.graph.rewrite import Reads, count_reads, has_operator, rebuild
from gluonish.ops.nn.dropout import DROPOUT, drops
from gluonish.ops.normalization.add_layer_norm import ADD_LAYER_NORM
from gluonish.ops.normalization.layer_norm import LAYER_NORM
from gluonish.ops.registry import apply

_SUMS_OF_TWO = ("broadcast_add", "elemwise_add")

Supports = Callable[..., bool]


def fuse_add_layer_norm(graph: Graph, *, supports: Supports) -> Graph:
    """Make one operator of a sum of two arrays and LayerNorm along its last axis.

    A term that Dropout gives, and nothing else reads, becomes that of the operator, too.

    Args:
        graph: The graph.
        supports: ``supports(count, *specs)`` returns whether the kernels of LayerNorm support
            ``count`` arrays of data, followed by parameters.

    Requires: specs on every value, training mode on every node that depends on it.
    Ensures: the same bits; the same random numbers, which are drawn in the same order.
    """
    if not has_operator(graph, (LAYER_NORM.name,)):
        return graph
    reads = count_reads(graph)
    norms = _norms(graph, reads, supports)
    dropouts = _dropouts(graph, norms, reads)
    made: dict[int, list[Value]] = {}  # outputs of the new operators, by the ids of sum and norm

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if id(node) in made:
            out, _, mean, std, *_ = made[id(node)]
            return [out, mean, std]
        norm = norms.get(id(node))
        if norm is None:
            return None
        side = dropouts.get(id(node), 0)
        data, residual = inputs if side == 0 else inputs[::-1]
        p = 0.0
        if id(node) in dropouts:
            p = data.node.attrs["p"]
            data = data.node.inputs[0]
        attrs = {"p": p, "eps": norm.attrs["eps"]}
        made[id(norm)] = apply(ADD_LAYER_NORM, (data, residual, *norm.inputs[1:]), attrs)
        return [made[id(norm)][1]]

    return eliminate_dead_code(rebuild(graph, rule)) if norms else graph


def _norms(graph: Graph, reads: Reads, supports: Supports) -> dict[int, Node]:
    """Return the first LayerNorm of each sum of two, by the sum's id."""
    found: dict[int, Node] = {}
    for node in graph.nodes:
        if node.op is not LAYER_NORM:
            continue
        data, *parameters = node.inputs
        rank = len(data.shape)
        total = data.node
        if (
            node.attrs["axis"] % rank == rank - 1
            and total.op is not None
            and total.op.name in _SUMS_OF_TWO
            and all(x.spec == data.spec for x in total.inputs)
            and not any(_is_joined_otherwise(x, reads) for x in total.inputs)
            and all(map(_is_parameter, parameters))
            and supports(2, data.spec, data.spec, *[x.spec for x in parameters])
        ):
            found.setdefault(id(total), node)
    return found


def _is_joined_otherwise(value: Value, reads: Reads) -> bool:
    """Whether a value comes from a pointwise operator, whose kernel can add another value to it."""
    return value.node.op is not None and value.node.op.elementwise and reads[value.key] == 1


def _is_parameter(value: Value) -> bool:
    """Whether a value is a variable or a function of variables, and so depends on no sum."""
    return value.node.op is None or all(x.node.op is None for x in value.node.inputs)


def _dropouts(graph: Graph, norms: Mapping[int, Node], reads: Reads) -> dict[int, int]:
    """Return which term of a sum is that of a Dropout to join, by the sum's id.

    No other operator draws between the two.
    """
    found: dict[int, int] = {}
    last: Node | None = None  # the last node that draws
    for node in graph.nodes:
        if id(node) in norms and last is not None:
            for side, value in enumerate(node.inputs):
                if value.node is last and _is_simple_dropout(value, reads):
                    found[id(node)] = side
        if node.op is not None and node.op.draws(node.attrs):
            last = node
    return found


def _is_simple_dropout(value: Value, reads: Reads) -> bool:
    """Whether a value is that of a Dropout without shared axes, and nothing else reads it."""
    node = value.node
    return (
        node.op is DROPOUT
        and value.index == 0
        and not node.attrs["axes"]
        and drops(node.attrs)
        and reads[value.key] == 1
        and not reads[id(node), 1]
    )
