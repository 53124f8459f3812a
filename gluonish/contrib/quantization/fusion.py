"""Fusion of layers with the operators that follow them, as in MXNet's oneDNN back end.

A Convolution is fused with a BatchNorm, then an activation, or a sum and a relu; a FullyConnected
with an activation. Each operator must be the only reader of the previous one.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from gluonish.graph.body import Body
from gluonish.graph.interpreter import output_names
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ops.registry import find_operator

CONV, DENSE = "_sg_mkldnn_conv", "_sg_mkldnn_fully_connected"


class _Group(NamedTuple):
    """Nodes to fuse into one.

    Attributes:
        nodes: The layer, then the operators that follow it.
        suffixes: For each following operator, the suffix to add to the name of the fused node.
        flags: Attributes of the fused node that stand for these operators.
    """

    nodes: list[Node]
    suffixes: list[str]
    flags: dict[str, str]


def layer_nodes(node: Node) -> Sequence[Node]:
    """Return a node, followed by the operators in its body if it is a fused layer.

    Args:
        node: The node.
    """
    if node.op is None or node.op.name not in (CONV, DENSE):
        return (node,)
    bodies = node.attrs["subgraphs"]
    inner = [n for body in bodies for n in topological_order(body.outputs) if n.op is not None]
    return (node, *inner)


def fuse(outputs: Sequence[Value]) -> list[Value]:
    """Return a graph's outputs after fusing its layers with the operators that follow them.

    Args:
        outputs: Outputs of a Symbol's graph, without shapes; the graph is not changed.
    """
    order = topological_order(outputs)
    groups = _Groups(order, outputs)
    counts = dict.fromkeys((CONV, DENSE), 0)
    last_nodes: dict[int, tuple[_Group, str]] = {}
    inner: set[int] = set()
    for node in order:
        found = groups.of(node)
        if found is None:
            continue
        kind = CONV if node.op is not None and node.op.name == "Convolution" else DENSE
        last_nodes[id(found.nodes[-1])] = found, _name(kind, found.suffixes, counts[kind])
        counts[kind] += 1
        inner.update(id(n) for n in found.nodes[:-1])
    made: dict[tuple[int, int], Value] = {}
    for node in order:
        if id(node) in inner:
            continue
        if id(node) in last_nodes:
            fused = _fused(*last_nodes[id(node)], made)
            made[id(node), 0] = Value(fused)
            continue
        if _is(node, "Dropout"):  # the identity function at inference
            made[id(node), 0] = made[node.inputs[0].key]
            continue
        copied = _copied(node, made)
        made |= {(id(node), i): Value(copied, i) for i in range(node.num_outputs)}
    return [made[value.key] for value in outputs]


def _name(kind: str, suffixes: Sequence[str], count: int) -> str:
    return "_".join([kind.removeprefix("_"), *suffixes, str(count)])


def _copied(node: Node, made: Mapping[tuple[int, int], Value]) -> Node:
    inputs = [made[value.key] for value in node.inputs]
    if all(new.node is old.node for new, old in zip(inputs, node.inputs, strict=True)):
        return node
    return Node(node.op, node.name, inputs, node.attrs, extra=node.extra, given=node.given)


class _Groups:
    """Finds groups of nodes to fuse; each node is in at most one group."""

    def __init__(self, order: Sequence[Node], outputs: Sequence[Value]) -> None:
        self._reads = Counter(value.key for node in order for value in node.inputs)
        self._reads.update(value.key for value in outputs)
        self._readers: dict[tuple[int, int], list[Node]] = defaultdict(list)
        for node in order:
            for value in node.inputs:
                self._readers[value.key].append(node)
        self._grouped: set[int] = set()

    def of(self, node: Node) -> _Group | None:
        """Return the group of a layer; None if the node is not a layer that can be fused."""
        if node.op is None or id(node) in self._grouped:
            return None
        if node.op.name == "FullyConnected":
            group = _Group([node], [], {})
            self._extend(group, _is_dense_function, "eltwise", "with_eltwise", "True")
        elif node.op.name == "Convolution" and len(node.attrs["kernel"]) > 1:
            group = _Group([node], [], {})
            self._extend(group, _is_normalization, "bn", "with_bn", "true")
            if self._extend(group, _is_conv_function, "act", "with_act", "true"):
                pass
            elif self._extend(group, _is_sum, "add", "with_sum", "true"):
                self._extend(group, _is_relu, "act", "with_postsum_act", "true")
        else:
            return None
        self._grouped.update(map(id, group.nodes))
        return group

    def _extend(
        self, group: _Group, supports: Callable[[Node], bool], suffix: str, flag: str, yes: str
    ) -> bool:
        """Add the only reader of a group's last node to the group, if that reader is supported."""
        end = group.nodes[-1]
        key = (id(end), 0)
        if self._reads[key] != 1 or not self._readers[key]:
            return False
        if any(self._reads[id(end), i] for i in range(1, end.num_outputs)):
            return False
        reader = self._readers[key][0]
        if id(reader) in self._grouped or not supports(reader):
            return False
        if reader.inputs[0].key != key and suffix != "add":
            return False
        group.nodes.append(reader)
        group.suffixes.append(suffix)
        group.flags[flag] = yes
        return True


def _is(node: Node, name: str) -> bool:
    return node.op is not None and node.op.name == name


def _is_normalization(node: Node) -> bool:
    return _is(node, "BatchNorm") and node.attrs["axis"] == 1


def _is_sum(node: Node) -> bool:
    return _is(node, "elemwise_add")


def _is_relu(node: Node) -> bool:
    return _is(node, "Activation") and node.attrs["act_type"] == "relu"


def _is_low_clip(node: Node) -> bool:
    return _is(node, "clip") and node.attrs["a_min"] == 0


def _is_leaky(node: Node, kinds: Collection[str]) -> bool:
    return _is(node, "LeakyReLU") and node.attrs["act_type"] in kinds


def _is_conv_function(node: Node) -> bool:
    return _is_relu(node) or _is_low_clip(node) or _is_leaky(node, ("leaky", "gelu"))


def _is_dense_function(node: Node) -> bool:
    simple = _is_relu(node) or _is_low_clip(node) or _is(node, "abs")
    return simple or _is_leaky(node, ("leaky", "elu", "gelu"))


def _fused(group: _Group, name: str, made: Mapping[tuple[int, int], Value]) -> Node:
    """Return the fused node of a group; the node's body is a graph with a variable per input."""
    first = group.nodes[0]
    op = find_operator(CONV if _is(first, "Convolution") else DENSE)
    inputs: list[Value] = []
    variables: list[Node] = []
    inside: dict[int, Node] = {}
    for node in group.nodes:
        values = []
        # The layer's output comes first, though it may be the second operand of a sum.
        ordered = sorted(node.inputs, key=lambda value: id(value.node) not in inside)
        for value in ordered if _is_sum(node) else node.inputs:
            if id(value.node) in inside:
                values.append(Value(inside[id(value.node)], value.index))
                continue
            outer = made[value.key]
            variable = Node(None, f"{output_names([outer])[0]}0")
            inputs.append(outer)
            variables.append(variable)
            values.append(Value(variable))
        inside[id(node)] = Node(node.op, node.name, values, node.attrs, given=node.given)
    body = Body(variables, [Value(inside[id(group.nodes[-1])])], name)
    attrs: dict[str, Any] = op.schema.parse(name, group.flags)
    return Node(op, name, inputs, {**attrs, "subgraphs": (body,)}, given=dict(group.flags))
