"""The choice of the forward values to save for the backward pass, and of those to recompute.

Maximum flow, for minimum cuts.

References:
    Y. Dinitz, Algorithm for Solution of a Problem of Maximum Flow in Networks with Power
        Estimation, 1970.

Recipes that compute forward values a second time.

A copy has the values of the original and no side effects: it draws no random numbers and updates no
statistics. So batch normalization is applied again with its statistics, and dropout with its mask.
"""

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from gluonish.graph.gradient import Joint, overwritten
from gluonish.graph.ir import Node, Value, append
from gluonish.ops.attention.scaled_dot_product import READERS_OF_VIEWS
from gluonish.ops.nn.dropout import DROPOUT_FACTORS
from gluonish.ops.normalization.fold_batch_norm import BATCH_NORM_APPLY
from gluonish.ops.normalization.layer_norm import LAYER_NORM
from gluonish.ops.registry import Operator, find_operator

Key = tuple[int, int]

_MULTIPLY = find_operator("broadcast_mul")
_ADD = find_operator("broadcast_add")
_ADDITIONS = ("elemwise_add", "broadcast_add")

# Heavy per element for a small array; for a large array they cost about as much as reading it.
_PASSES_OVER_MEMORY = frozenset(
    {
        *("Pooling", "softmax", "log_softmax", "softmin"),
        *("LayerNorm", "GroupNorm", "InstanceNorm", "L2Normalization"),
    }
)


_MOVES = frozenset({"transpose", "SwapAxis", "SliceChannel", "slice_axis"})


class Effort(IntEnum):
    """The operators that may run again to recompute a value."""

    NOTHING = 0  # reshapes of available values
    LITTLE = 1  # passes over memory, too
    ANYTHING = 2  # products, too


class Recipe(NamedTuple):
    """A way to recompute one value.

    Attributes:
        sources: The values that the computation reads.
        make: Function that returns the copy, given the sources or copies of them.
    """

    sources: tuple[Value, ...]
    make: Callable[[Sequence[Value]], Value]


def recipe_of(value: Value, effort: Effort, overwritten: Collection[Key] = ()) -> Recipe | None:
    """Return a recipe for a value; None if there is none, or it costs too much.

    Args:
        value: The value to recompute.
        effort: The maximum effort.
        overwritten: Keys of values that change, such as moving statistics.
    """
    op = value.node.op
    if op is None:
        return None
    special = _SPECIAL.get(op.name)
    found = None if special is None or effort < Effort.LITTLE else special(value)
    if found is None and _repeats(value.node, op, effort):
        found = _copy_recipe(value)
    if found is None or any(source.key in overwritten for source in found.sources):
        return None
    return found


def _repeats(node: Node, op: Operator, effort: Effort) -> bool:
    """Whether a node may run again with this effort."""
    if op.draws(node.attrs) or op.mutated_inputs(node.attrs) or not node.inputs:
        return False
    if effort == Effort.NOTHING:
        return op.identity and op.single
    return effort == Effort.ANYTHING or not op.heavy or op.name in _PASSES_OVER_MEMORY


def _copy_recipe(value: Value) -> Recipe:
    node = value.node

    def make(inputs: Sequence[Value]) -> Value:
        copy = Node(node.op, node.name, inputs, node.attrs, node.specs, node.extra)
        return Value(copy, value.index)

    return Recipe(node.inputs, make)


def _batch_norm(value: Value) -> Recipe | None:
    return _normalized(value, relu=False, addend=None)


def _batch_norm_relu(value: Value) -> Recipe | None:
    return _normalized(value, relu=True, addend=None)


def _normalized(value: Value, *, relu: bool, addend: Value | None) -> Recipe | None:
    """Return the recipe of a batch normalization and, optionally, a following sum and ReLU."""
    node = value.node
    if value.index:
        return None
    data, gamma, beta = node.inputs[:3]
    attrs = {
        "fix_gamma": node.attrs["fix_gamma"],
        "axis": node.attrs["axis"],
        "add": addend is not None,
        "relu": relu,
    }
    statistics = (Value(node, 1), Value(node, 2))
    sources = (data, gamma, beta, *statistics, *(() if addend is None else (addend,)))

    def make(inputs: Sequence[Value]) -> Value:
        made: Value = append(BATCH_NORM_APPLY, inputs, attrs)
        return made

    return Recipe(sources, make)


def _dropout(value: Value) -> Recipe | None:
    if value.index:
        return None

    def make(inputs: Sequence[Value]) -> Value:
        made: Value = append(_MULTIPLY, inputs, {})
        return made

    return Recipe((value.node.inputs[0], Value(value.node, 1)), make)


def _dropout_keyed(value: Value) -> Recipe | None:
    if value.index:
        return None
    p, data = value.node.attrs["p"], value.node.inputs[0]

    def make(inputs: Sequence[Value]) -> Value:
        return _dropped(inputs[0], inputs[1], p)

    return Recipe((data, Value(value.node, 1)), make)


def _dropped(data: Value, key: Value, p: float) -> Value:
    """Return what Dropout made of data with a stored key."""
    attrs = {"p": p, "shape": data.shape, "dtype": data.spec.dtype}
    made: Value = append(_MULTIPLY, (data, append(DROPOUT_FACTORS, (key,), attrs)), {})
    return made


def _add_layer_norm(value: Value) -> Recipe | None:
    """Return the recipe of LayerNorm of a sum, or of the sum, behind a Dropout if there is one."""
    node, p = value.node, value.node.attrs["p"]
    data, residual, gamma, beta = node.inputs
    drawn = (Value(node, 4),) if p else ()

    def norm(inputs: Sequence[Value]) -> Value:
        attrs = {"axis": -1, "eps": node.attrs["eps"], "output_mean_var": False}
        return Value(append(LAYER_NORM, inputs, attrs).node)

    def total(inputs: Sequence[Value]) -> Value:
        term, other, *keys = inputs
        term = _dropped(term, keys[0], p) if keys else term
        made: Value = append(_ADD, (other, term), {})
        return made

    if value.index == 0:
        return Recipe((Value(node, 1), gamma, beta), norm)
    return Recipe((data, residual, *drawn), total) if value.index == 1 else None


def _activation(value: Value) -> Recipe | None:
    """Return the recipe of a ReLU after a batch normalization, with or without a sum between."""
    if value.node.attrs.get("act_type", "relu") != "relu":
        return None
    return _relu_of(value.node.inputs[0])


def _relu_of(inner: Value) -> Recipe | None:
    if _is_batch_norm(inner):
        return _normalized(inner, relu=True, addend=None)
    node = inner.node
    if node.op is not None and node.op.name in _ADDITIONS:
        for value, other in (node.inputs, node.inputs[::-1]):
            if _is_batch_norm(value) and other.spec == value.spec:
                return _normalized(value, relu=True, addend=other)
    return None


def _is_batch_norm(value: Value) -> bool:
    op = value.node.op
    return op is not None and op.name == "BatchNorm" and value.index == 0


_Special = Callable[[Value], Recipe | None]

_SPECIAL: Mapping[str, _Special] = {
    "Activation": _activation,
    "BatchNorm": _batch_norm,
    "Dropout": _dropout,
    "_add_layer_norm": _add_layer_norm,
    "_dropout_keyed": _dropout_keyed,
    "_contrib_BatchNormWithReLU": _batch_norm_relu,
    "relu": _activation,
}


UNLIMITED = 1 << 62  # capacity of an edge that no cut contains


class FlowNetwork:
    """A flow network of numbered nodes, and edges with capacities.

    An edge and its reverse have neighbouring numbers, so that ``edge ^ 1`` is the other.
    """

    __slots__ = ("_edges", "_left", "_targets")

    def __init__(self) -> None:
        self._edges: list[list[int]] = []  # numbers of the edges that leave each node
        self._targets: list[int] = []
        self._left: list[int] = []  # remaining capacity

    def add_node(self) -> int:
        """Add a node and return its number."""
        self._edges.append([])
        return len(self._edges) - 1

    def add_edge(self, start: int, end: int, capacity: int) -> None:
        """Add an edge with a capacity, and its reverse without one."""
        for node, target, left in ((start, end, capacity), (end, start, 0)):
            self._edges[node].append(len(self._targets))
            self._targets.append(target)
            self._left.append(left)

    def sink_side(self, source: int, sink: int) -> set[int]:
        """Return the nodes on the sink's side of the minimum cut nearest to the sink.

        The cut is the edges into the set. The call consumes the capacities.
        """
        while True:
            levels = self._levels(source)
            if sink not in levels:
                return self._reaching(sink)
            unseen = [list(edges) for edges in self._edges]
            while self._push(source, sink, levels, unseen):
                pass

    def _levels(self, source: int) -> dict[int, int]:
        """Return the distance from the source, for each node with a residual path from it."""
        levels = {source: 0}
        waiting = deque([source])
        while waiting:
            node = waiting.popleft()
            for edge in self._edges[node]:
                target = self._targets[edge]
                if self._left[edge] and target not in levels:
                    levels[target] = levels[node] + 1
                    waiting.append(target)
        return levels

    def _push(
        self, source: int, sink: int, levels: dict[int, int], unseen: list[list[int]]
    ) -> bool:
        """Push flow along one shortest path; return False if there is none."""
        path: list[int] = []
        node = source
        while node != sink:
            if unseen[node]:
                edge = unseen[node][-1]
                target = self._targets[edge]
                if self._left[edge] and levels.get(target) == levels[node] + 1:
                    path.append(edge)
                    node = target
                else:
                    unseen[node].pop()
            elif path:
                edge = path.pop()
                node = self._targets[edge ^ 1]
                unseen[node].pop()
            else:
                return False
        amount = min(self._left[edge] for edge in path)
        for edge in path:
            self._left[edge] -= amount
            self._left[edge ^ 1] += amount
        return True

    def _reaching(self, sink: int) -> set[int]:
        """Return the nodes with a residual path to the sink."""
        found = {sink}
        waiting = [sink]
        while waiting:
            for edge in self._edges[waiting.pop()]:
                node = self._targets[edge]
                if self._left[edge ^ 1] and node not in found:
                    found.add(node)
                    waiting.append(node)
        return found


# Values below this share of the bytes that the backward pass reads are not worth a copy.
_NEGLIGIBLE = 5000
# Bytes from which one pass over memory is spent even without effort: a pass over 100 MB takes about
# a thousandth of the training step of a network with such values.
_BULKY = 64 << 20


class SavedChoice(NamedTuple):
    """A choice of forward values to save, and of values to recompute.

    Attributes:
        saved: Saved values, by key.
        recomputed: Recipes of the other values, and of values that only these recipes read, by key.
    """

    saved: dict[Key, Value]
    recomputed: dict[Key, Recipe]


def cheapest_choice(joint: Joint, effort: Effort, checkpoints: Collection[Key] = ()) -> SavedChoice:
    """Return the choice that saves the fewest bytes and, among equals, recomputes the least.

    Args:
        joint: Both passes; outputs of the forward pass need not be saved.
        effort: The maximum effort to recompute a value.
        checkpoints: Keys of values that are not recomputed.
    """
    delivered = {value.key for value in joint.outputs}
    read = [value for value in joint.read.values() if value.key not in delivered]
    final = {value.key for value in joint.gradients}.union(checkpoints)
    mutable = overwritten(joint.forward)
    least = sum(value.spec.nbytes for value in read) // _NEGLIGIBLE

    def recipe(value: Value) -> Recipe | None:
        if value.key in final:
            return None
        if value.key in views:
            return _copy_recipe(value)
        if effort == Effort.NOTHING and value.spec.nbytes >= _BULKY:
            found = recipe_of(value, Effort.LITTLE, mutable)
            return found if found is not None and _is_one_pass(found) else None
        return recipe_of(value, effort if value.spec.nbytes >= least else Effort.NOTHING, mutable)

    views = _free_views(joint)
    return _minimum(_recipes(read, recipe, delivered), read, views)


def _minimum(
    recipes: Mapping[Key, tuple[Value, Recipe | None]],
    read: Sequence[Value],
    views: Collection[Key],
) -> SavedChoice:
    """Return the choice that saves the fewest bytes.

    Each value is two nodes of a network, and an edge between them that costs its bytes; a value
    that can be recomputed is reached from its sources at no cost. The minimum cut is the values to
    save.

    Args:
        recipes: The values with their recipes, if any, by key.
        read: The values that the backward pass reads.
        views: Keys of values to recompute rather than save, at equal bytes.
    """
    network = FlowNetwork()
    source, sink = network.add_node(), network.add_node()
    entries = {key: (network.add_node(), network.add_node()) for key in recipes}
    for key, (value, found) in recipes.items():
        start, end = entries[key]
        network.add_edge(start, end, value.spec.nbytes + (key in views))
        if found is None:
            network.add_edge(source, start, UNLIMITED)
            continue
        for other in found.sources:
            if other.key in entries:
                network.add_edge(entries[other.key][1], start, UNLIMITED)
    for value in read:
        network.add_edge(entries[value.key][1], sink, UNLIMITED)
    behind = network.sink_side(source, sink)
    choice = SavedChoice({}, {})
    for key, (value, found) in recipes.items():
        start, end = entries[key]
        if start in behind and found is not None:
            choice.recomputed[key] = found
        elif end in behind:
            choice.saved[key] = value
    return choice


def _free_views(joint: Joint) -> set[Key]:
    """Return the keys of the transposed, split and reshaped values that nobody needs as copies.

    Their readers read strided memory; see `gluonish.graph.strided_views`.
    """
    needed = {value.key for value in (*joint.outputs, *joint.gradients)}
    moves: list[tuple[Node, set[Key]]] = []
    for node in reversed((*joint.forward, *joint.backward)):
        op = node.op
        assert op is not None
        made = {(id(node), i) for i in range(node.num_outputs)}
        if (op.name in _MOVES or (op.identity and op.single)) and needed.isdisjoint(made):
            moves.append((node, made))
        elif op not in READERS_OF_VIEWS:
            needed |= {value.key for value in node.inputs}
    # Inputs and outputs of the graph have no planned memory.
    fixed = {value.key for value in joint.outputs}
    views: set[Key] = set()
    for node, made in reversed(moves):
        source = node.inputs[0]
        if source.key in views or (source.node.op is not None and source.key not in fixed):
            views |= made
    return views


def _is_one_pass(recipe: Recipe) -> bool:
    """Whether a recipe reads at most one large value; a chain of such recipes is one kernel."""
    return sum(source.spec.nbytes >= _BULKY for source in recipe.sources) <= 1


def _recipes(
    read: Sequence[Value], recipe: Callable[[Value], Recipe | None], delivered: Collection[Key]
) -> dict[Key, tuple[Value, Recipe | None]]:
    """Return the recipes of some values and of their sources; None for a value without recipe."""
    found: dict[Key, tuple[Value, Recipe | None]] = {}
    waiting = list(read)
    while waiting:
        value = waiting.pop()
        if value.key in found:
            continue
        way = recipe(value)
        found[value.key] = (value, way)
        if way is not None:
            waiting += [v for v in way.sources if v.node.op is not None and v.key not in delivered]
    return found
