"""Pointwise fusion: elementwise operators that feed each other become one node.

A *group* is a set of nodes whose outputs have the same shape. The pass visits nodes in order, and
joins each with the groups that it reads, unless a path leaves the joined group and returns: the
fused node would have to run both before and after the nodes on that path.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence

from gluonish.core.device import Platform
from gluonish.core.spec import Shape, Spec
from gluonish.graph.clusters import Contraction
from gluonish.graph.ir import Graph, Node, Value
from gluonish.ops.fused.pointwise import (
    FUSED_POINTWISE,
    FUSED_POINTWISE_MANY,
    FUSED_POINTWISE_RANDOM,
    Instruction,
    Program,
)
from gluonish.ops.kernel import BackEnd
from gluonish.ops.nn.dropout import DROPOUT_FACTORS, DROPOUT_KEYED
from gluonish.ops.registry import Attrs, Operator

# Minimum number of elements. A kernel for fewer saves only the overhead of calls, and compiling it
# costs more than thousands of calls.
_SMALLEST = 1024
# The same for a single operator, whose fusion saves no pass over memory, or (slow) some passes.
_SMALLEST_ALONE = 16384
_SMALLEST_SLOW = 4096
# Arrays that a kernel reads, and its operators, so that it fits registers and compiles quickly.
_MAX_INPUTS = 12
_MAX_NODES = 40
_KEY_NBYTES = 16  # of a key of random numbers
# Steps after which the search assumes a path. One of two groups that may be joined has hardly any
# other neighbours; a longer path leads through layers.
_MAX_STEPS = 128

Key = tuple[int, int]
Supports = Callable[[Operator, Attrs, Sequence[Spec]], bool]
AlignedShape = Callable[[Operator, Attrs, Sequence[Spec], int], Shape]


def fuse_pointwise(
    graph: Graph,
    least: int = _SMALLEST,
    *,
    least_slow: int = _SMALLEST_SLOW,
    alone: bool = True,
    several_passes: bool = False,
    platform: Platform = "cpu",
    supports: Supports,
    aligned_shape: AlignedShape,
) -> Graph:
    """Join elementwise operators into `_fused_pointwise` nodes.

    With ``alone``, a single large operator without a fast kernel becomes such a node, too.

    Args:
        graph: The graph.
        least: Minimum number of elements of the arrays of fused operators.
        least_slow: The same for a single operator that passes over memory several times.
        alone: Whether to fuse single operators.
        several_passes: Fuse only those single operators that pass over memory several times.
        platform: Platform whose fast kernels are considered.
        supports: Returns whether generated kernels support an operator, its attributes and specs.
        aligned_shape: Returns the shape in which an input of an operator broadcasts.

    Requires: specs on every value, and the training mode on every node that depends on it.
    Ensures: the outputs have the same specs, and the same values except for round-off of elementary
    functions. No value is read or written more often than before. A fused node has at most one
    operator that may draw random numbers, and these keep their order.
    """
    groups = _Groups(graph, least, supports)
    for node in graph.nodes:
        groups.add(node)
    members = groups.members(
        lambda node: (
            alone and _pays_alone(node, platform, least_slow, several_passes=several_passes)
        )
    )
    return _rebuilt(graph, members, aligned_shape)


class _Group:
    """Nodes that become one fused node.

    Attributes:
        number: Number of the group in the contraction of the graph.
        nodes: The nodes, in order.
        shape: Shape of their outputs; None for nodes that are not elementwise.
        random: Whether one of them may draw random numbers.
    """

    __slots__ = ("nodes", "number", "random", "shape")

    def __init__(self, number: int, node: Node, shape: Shape | None) -> None:
        self.number = number
        self.nodes = [node]
        self.shape = shape
        self.random = shape is not None and _draws(node)


class _Groups:
    """The groups of the nodes seen so far."""

    def __init__(self, graph: Graph, least: int, supports: Supports) -> None:
        self._least = least
        self._supports = supports
        self._overwritten = _overwritten(graph)
        self._positions = {id(node): i for i, node in enumerate(graph.nodes)}
        self._contraction = Contraction()
        self._of: dict[int, _Group] = {}
        self._all: dict[int, _Group] = {}  # groups by id, in order of their first nodes

    def add(self, node: Node) -> None:
        """Add the next node to the groups that it reads, joining them, or to a new group."""
        # Variables that are not among the nodes have no group.
        read = [self._of[id(v.node)] for v in node.inputs if id(v.node) in self._of]
        number = self._contraction.add(group.number for group in read)
        group = _Group(number, node, self._shape(node))
        self._of[id(node)] = self._all[id(group)] = group
        if group.shape is None:
            return
        for value in node.inputs:
            group = self._of[id(node)]
            other = self._of.get(id(value.node))
            if other is not None and other is not group and self._may_join(other, group):
                self._join(other, group)

    def _shape(self, node: Node) -> Shape | None:
        """Return the shape of a node's outputs if the node can be fused, else None."""
        op = node.op
        if op is None or op.identity:
            return None
        shape = node.specs[0].shape
        made = node.specs[:1] if op is DROPOUT_KEYED else node.specs
        size = node.specs[0].size
        if size < self._least or any(spec.shape != shape for spec in made):
            return None
        if op is DROPOUT_FACTORS and size <= _KEY_NBYTES:  # an output must not overwrite the key
            return None
        if not self._supports(op, node.attrs, [value.spec for value in node.inputs]):
            return None
        return None if any(value.key in self._overwritten for value in node.inputs) else shape

    def _may_join(self, a: _Group, b: _Group) -> bool:
        if a.shape != b.shape or (a.random and b.random):
            return False
        if len(a.nodes) + len(b.nodes) > _MAX_NODES or self._reads_too_much(a, b):
            return False
        return not self._contraction.has_detour(a.number, b.number, _MAX_STEPS)

    def _reads_too_much(self, a: _Group, b: _Group) -> bool:
        outside = set()
        for node in (*a.nodes, *b.nodes):
            for value in node.inputs:
                if self._of.get(id(value.node)) not in (a, b):
                    outside.add(value.key)
                    if len(outside) > _MAX_INPUTS:
                        return True
        return False

    def _join(self, a: _Group, b: _Group) -> None:
        """Join two groups; ``b`` was made later than ``a``."""
        a.number = self._contraction.join(a.number, b.number)
        a.nodes = sorted([*a.nodes, *b.nodes], key=lambda node: self._positions[id(node)])
        a.random |= b.random
        for node in b.nodes:
            self._of[id(node)] = a
        del self._all[id(b)]

    def members(self, pays_alone: Callable[[Node], bool]) -> list[list[Node]]:
        """Return the nodes of the groups that become fused nodes."""
        return [
            group.nodes
            for group in self._all.values()
            if group.shape is not None and (len(group.nodes) > 1 or pays_alone(group.nodes[0]))
        ]


def _overwritten(graph: Graph) -> set[Key]:
    """Return the values that some node overwrites; nodes that read them must not be reordered."""
    return {
        node.inputs[i].key
        for node in graph.nodes
        if node.op is not None
        for i in node.op.mutated_inputs(node.attrs)
    }


def _draws(node: Node) -> bool:
    # In any mode: every such node uses one of the call's keys, and later nodes must get the same
    # keys as without fusion.
    return node.op is not None and node.op.draws(node.attrs)


def _pays_alone(node: Node, platform: Platform, least_slow: int, *, several_passes: bool) -> bool:
    op = node.op
    assert op is not None
    if several_passes and not op.several_passes:
        return False
    if node.specs[0].size < (least_slow if op.several_passes else _SMALLEST_ALONE):
        return False
    attrs = {name: value for name, value in node.attrs.items() if name != "key"}
    fast = op.select_fast(platform, [value.spec for value in node.inputs], attrs)
    return fast is None or fast.back_end is BackEnd.GENERATED


def _rebuilt(graph: Graph, groups: Sequence[Sequence[Node]], aligned_shape: AlignedShape) -> Graph:
    """Return the graph with one node for each group."""
    units: dict[int, Sequence[Node]] = {id(node): group for group in groups for node in group}
    read = _readers(graph)
    replaced: dict[Key, Value] = {}
    nodes: list[Node] = []
    for unit in _in_order(graph, units):
        if id(unit[0]) in units:
            nodes.append(_fused(unit, read, replaced, aligned_shape))
        else:
            nodes.append(_on_new_inputs(unit[0], replaced))
    outputs = [replaced.get(value.key, value) for value in graph.outputs]
    return Graph(graph.inputs, outputs, nodes)


def _readers(graph: Graph) -> dict[Key, set[int]]:
    """Return the ids of the nodes that read each value; 0 stands for the caller of the graph."""
    read: dict[Key, set[int]] = {value.key: {0} for value in graph.outputs}
    for node in graph.nodes:
        for value in node.inputs:
            read.setdefault(value.key, set()).add(id(node))
    return read


def _in_order(graph: Graph, units: dict[int, Sequence[Node]]) -> Iterator[Sequence[Node]]:
    """Yield the nodes of each group, or a single node, after the nodes that they read.

    A group has the position of its last node or, so that random nodes keep their order and their
    keys, of its random node.
    """
    positions = {id(node): i for i, node in enumerate(graph.nodes)}
    groups = {id(group): group for node in graph.nodes for group in [units.get(id(node), (node,))]}
    of = {id(node): key for key, group in groups.items() for node in group}
    # Groups of single nodes are made here, and must live as long as their ids are used.
    waiting: dict[int, set[int]] = {}
    behind: dict[int, list[int]] = {}
    for key, group in groups.items():
        reads = {id(value.node) for node in group for value in node.inputs}
        before = {of[read] for read in reads if read in of} - {key}
        waiting[key] = before
        for other in before:
            behind.setdefault(other, []).append(key)

    def position(key: int) -> int:
        group = groups[key]
        random = [positions[id(node)] for node in group if len(group) > 1 and _draws(node)]
        return random[0] if random else positions[id(group[-1])]

    ready = [(position(key), key) for key, before in waiting.items() if not before]
    heapq.heapify(ready)
    while ready:
        _, key = heapq.heappop(ready)
        yield groups[key]
        for other in behind.get(key, ()):
            waiting[other].discard(key)
            if not waiting[other]:
                heapq.heappush(ready, (position(other), other))


def _on_new_inputs(node: Node, replaced: dict[Key, Value]) -> Node:
    inputs = [replaced.get(value.key, value) for value in node.inputs]
    if all(a is b for a, b in zip(inputs, node.inputs, strict=True)):
        return node
    made = Node(node.op, node.name, inputs, node.attrs, node.specs, node.extra)
    replaced.update({(id(node), i): Value(made, i) for i in range(made.num_outputs)})
    return made


def _fused(
    group: Sequence[Node],
    read: dict[Key, set[int]],
    replaced: dict[Key, Value],
    aligned_shape: AlignedShape,
) -> Node:
    """Return the node of a group, and add its outputs to ``replaced``."""
    inside = {id(node) for node in group}
    inputs: dict[tuple[Key, Shape], Value] = {}
    for node in group:
        for value, shape in _aligned_inputs(node, aligned_shape):
            if id(value.node) not in inside:
                inputs.setdefault((value.key, shape), value)
    numbers = {key: i for i, key in enumerate(inputs)}
    made: dict[Key, int] = {}
    delivered: list[tuple[Key, int]] = []
    specs_of: dict[Key, Spec] = {}
    instructions = []
    for node in group:
        assert node.op is not None
        reads = tuple(
            made[value.key] if value.key in made else numbers[value.key, shape]
            for value, shape in _aligned_inputs(node, aligned_shape)
        )
        attrs = {name: value for name, value in node.attrs.items() if name != "key"}
        instructions.append(Instruction(node.op, reads, attrs))
        for i in range(node.num_outputs):
            key = (id(node), i)
            made[key] = len(inputs) + len(made)
            if not read.get(key, inside) <= inside:
                delivered.append((key, made[key]))
                specs_of[key] = node.specs[i]
    if not delivered:  # dead code, which another pass eliminates
        delivered.append(((id(group[-1]), 0), made[id(group[-1]), 0]))
        specs_of[id(group[-1]), 0] = group[-1].specs[0]
    # Kernels have keys of random numbers behind the other outputs.
    keys = {(id(node), 1) for node in group if node.op is DROPOUT_KEYED}
    delivered.sort(key=lambda output: output[0] in keys)
    specs = [specs_of[key] for key, _ in delivered]
    program = Program(len(inputs), instructions, [number for _, number in delivered])
    values = [replaced.get(value.key, value) for value in inputs.values()]
    last = group[-1]
    fused = Node(
        _operator(group, specs, values),
        last.name,
        values,
        {"num_args": len(values), "program": program},
        specs,
        last.extra,
    )
    replaced.update({key: Value(fused, i) for i, (key, _) in enumerate(delivered)})
    return fused


def _aligned_inputs(node: Node, aligned_shape: AlignedShape) -> Iterator[tuple[Value, Shape]]:
    """Yield the inputs of a node with the shapes in which they broadcast."""
    assert node.op is not None
    specs = [value.spec for value in node.inputs]
    for i, value in enumerate(node.inputs):
        yield value, aligned_shape(node.op, node.attrs, specs, i)


def _operator(group: Sequence[Node], results: Sequence[Spec], inputs: Sequence[Value]) -> Operator:
    if any(_draws(node) for node in group):
        return FUSED_POINTWISE_RANDOM
    if len(results) > 1:
        return FUSED_POINTWISE_MANY
    (result,) = results
    fits = all(v.spec.nbytes != result.nbytes or v.shape == result.shape for v in inputs)
    return FUSED_POINTWISE if fits else FUSED_POINTWISE_MANY
