"""Passes that only remove: dead code, repeated expressions, operators without effect."""

import math
from collections.abc import Sequence
from operator import is_
from typing import Any

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.graph.ir import Graph, Node, Value, topological_order
from gluonish.graph.rewrite import rebuild
from gluonish.ops.registry import find_operator

# Operators that only change the shape, as their gradients do. Other identities, such as BlockGrad,
# have different gradients.
_RESHAPES = (
    *("Reshape", "_reshape_exact", "Flatten", "expand_dims", "reshape_like", "squeeze"),
    "_sample_weight",
)
_RESHAPE_EXACT = find_operator("_reshape_exact")
_CAST = find_operator("Cast")

# Reductions that return a single element, and its gradient, unchanged.
_REDUCTIONS = ("sum", "mean")


def simplify(graph: Graph) -> Graph:
    """Drop copies, reshapes, casts, sums and means that change nothing, and idle dropout.

    Requires: specs on every value, and the training mode on every node that depends on it.
    Ensures: the outputs have the same specs, values and gradients. No reshape reads a reshape, no
    sum or mean reduces axes of one element, casts of mixed precision are ordinary casts, and no
    cast reverses a widening cast.
    """
    read = {value.key for node in graph.nodes for value in node.inputs}

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        return _simpler(node, inputs, mask_is_read=(id(node), 1) in read)

    return rebuild(graph, rule)


def _simpler(node: Node, inputs: Sequence[Value], *, mask_is_read: bool) -> Sequence[Value] | None:
    """Return values that replace the outputs of a node; None to keep the node."""
    op = node.op
    if op is None or not inputs:
        return None
    source = inputs[0]
    if op.name == "_copy" or (op.name == "Cast" and source.spec == node.specs[0]):
        return [source]
    if op.name in ("amp_cast", "amp_multicast"):
        return [_cast(node, x, i) for i, x in enumerate(inputs)]
    if op.name == "Dropout" and not mask_is_read and _does_nothing(node):
        return [source, source]
    if op.name in _RESHAPES or _reduces_nothing(node, source):
        return _shorter_chain(node, source)
    return None


def _cast(node: Node, source: Value, index: int) -> Value:
    """Return the value that replaces an output of amp_cast or amp_multicast."""
    spec = node.specs[index]
    while source.spec != spec:
        inner = source.node
        if inner.op is not _CAST or inner.specs[0].dtype != FLOAT32:
            break
        before = inner.inputs[0]
        if before.spec.dtype not in (FLOAT16, BFLOAT16):
            break
        source = before  # float32 holds every 16-bit float
    if source.spec == spec:
        return source
    attrs = {"dtype": spec.dtype}
    return Value(Node(_CAST, node.name, (source,), attrs, (spec,), node.extra))


def _does_nothing(node: Node) -> bool:
    return not node.attrs.get("train", True) and node.attrs["mode"] == "training"


def _reduces_nothing(node: Node, source: Value) -> bool:
    """Whether a node is the sum or mean of single elements: a reshape."""
    assert node.op is not None
    if node.op.name not in _REDUCTIONS or node.specs[0].dtype != source.spec.dtype:
        return False
    return math.prod(source.shape) == math.prod(node.specs[0].shape) > 0


def _shorter_chain(node: Node, source: Value) -> Sequence[Value] | None:
    """Return the source of a reshape, or one reshape in place of two; None to keep the reshape.

    A reduction is always replaced.
    """
    inner = source.node
    chained = inner.op is not None and inner.op.name in _RESHAPES
    if chained:
        source = inner.inputs[0]
    if source.spec == node.specs[0]:
        return [source]
    if not chained and node.op is not None and node.op.name in _RESHAPES:
        return None
    attrs = {"shape": node.specs[0].shape}
    return [Value(Node(_RESHAPE_EXACT, node.name, (source,), attrs, node.specs, node.extra))]


def eliminate_dead_code(graph: Graph) -> Graph:
    """Drop nodes whose outputs nothing reads.

    Requires: nothing.
    Ensures: every operator node leads to an output of the graph; the order is unchanged. A node
    that updates moving statistics is dropped with its output, as in MXNet.
    """
    needed = {id(node) for node in topological_order(graph.outputs)}
    return Graph(graph.inputs, graph.outputs, [n for n in graph.nodes if id(n) in needed])


def eliminate_common_subexpressions(graph: Graph) -> Graph:
    """Compute the same operator on the same inputs once.

    Requires: nothing.
    Ensures: no two nodes of the graph have the same operator, inputs and attributes, except for
    nodes that draw random numbers or overwrite an input.
    """
    first: dict[Any, Sequence[Value]] = {}

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        op = node.op
        if op is None or op.draws(node.attrs) or op.mutates:
            return None
        # Compared as text, because 0.0 equals -0.0, and 1 equals True.
        attrs = node.attrs
        texts = [(name, repr(attrs[name])) for name in sorted(attrs)] if attrs else ()
        key = (op.name, tuple([x.key for x in inputs]), tuple(texts))
        values = first.get(key)
        if values is not None:
            return values
        if inputs is node.inputs or all(map(is_, inputs, node.inputs)):
            first[key] = _outputs(node)
            return None
        copy = Node(op, node.name, inputs, node.attrs, node.specs, node.extra)
        first[key] = _outputs(copy)
        return first[key]

    return rebuild(graph, rule)


def _outputs(node: Node) -> Sequence[Value]:
    return [Value(node, i) for i in range(node.num_outputs)]
