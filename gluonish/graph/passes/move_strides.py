"""Strides of convolutions with a window of one element, moved to the layers before them.

Such a convolution with stride 2 reads a quarter of the elements of a map. Where nobody reads the
others, the layers before need not compute them: the last two of each stage of ResNet v1 then do a
quarter of their work.
"""

from collections.abc import Iterator, Sequence

from gluonish.core.dtype import INT8, UINT8
from gluonish.core.spec import Shape, Spec
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import count_reads, has_operator, rebuild
from gluonish.ops.nn.pooling import POOLING
from gluonish.ops.quantization.range_preserving import INT8_POOLING
from gluonish.ops.registry import apply

_CONVOLUTIONS = ("Convolution", "_int8_convolution")
_ADDEND = 5  # the position of what _int8_convolution adds to its sums


def move_strides(graph: Graph) -> Graph:
    """Compute only those elements of a map that are read.

    Requires: specs on every value, and that no gradient is wanted.
    Ensures: the outputs have the specs and, within round-off, the values that they had. Where all
    that reads a convolution's output, through elementwise operators or not, are convolutions with
    a window of one element and equal strides, it has these strides and they have none. Other maps
    that such an operator reads are picked out with the strides before.
    """
    if not has_operator(graph, _CONVOLUTIONS):
        return graph
    strides = _read_strides(graph)
    if not strides:
        return graph

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        mine, attrs = strides.get((id(node), 0)), node.attrs
        if _is_convolution(node) and node.inputs[0].key in strides:
            attrs = {**attrs, "stride": (1,) * len(attrs["kernel"])}
        elif _is_convolution(node) and mine is not None:
            attrs = {**attrs, "stride": _product(_own(node), mine)}
        elif mine is None:
            return None
        specs, values = node.specs, list(inputs)
        if mine is not None:
            specs = (_picked(node.specs[0], mine),)
            for i in _maps(node):
                if node.inputs[i].key not in strides:
                    values[i] = _pick(inputs[i], mine)
        return [Value(Node(node.op, node.name, values, attrs, specs, node.extra))]

    return rebuild(graph, rule)


def _read_strides(graph: Graph) -> dict[tuple[int, int], Shape]:
    """Return by their keys the values of which to compute less, each with strides."""
    reads = count_reads(graph)
    wishes: dict[tuple[int, int], list[Shape]] = {}

    def agreed(node: Node) -> Shape | None:
        found = wishes.get((id(node), 0), [])
        alike = len(found) == reads[id(node), 0] and len(set(found)) == 1
        return found[0] if alike and node.num_outputs == 1 else None

    for node in reversed(graph.nodes):
        for value, strides in _wishes(node, agreed(node)):
            wishes.setdefault(value.key, []).append(strides)
    found: dict[tuple[int, int], Shape] = {}
    for node in graph.nodes:
        mine = agreed(node)
        if mine is None or node.op is None:
            continue
        # An elementwise operator alone is not worth the copy of what it reads.
        if _is_convolution(node) or any(node.inputs[i].key in found for i in _maps(node)):
            found[id(node), 0] = mine
    return found


def _wishes(node: Node, mine: Shape | None) -> Iterator[tuple[Value, Shape]]:
    """Yield what a node reads with strides, if its own output is read with ``mine``."""
    if _is_convolution(node) and _is_point(node):
        strides = _own(node) if mine is None else _product(_own(node), mine)
        if max(strides) > 1:
            yield node.inputs[0], strides
    if mine is not None and node.op is not None:
        for i in _maps(node):
            yield node.inputs[i], mine


def _is_convolution(node: Node) -> bool:
    """Whether a node is a convolution whose channels are in axis 1."""
    if node.op is None or node.op.name not in _CONVOLUTIONS:
        return False
    layout = node.attrs["layout"]
    return layout is None or bool(layout[1] == "C")


def _is_point(node: Node) -> bool:
    """Whether a convolution has a window of one element, and no padding."""
    return max(node.attrs["kernel"]) == 1 and not any(node.attrs["pad"])


def _own(node: Node) -> Shape:
    """Return the strides of a convolution."""
    return tuple(node.attrs["stride"]) or (1,) * len(node.attrs["kernel"])


def _product(one: Shape, other: Shape) -> Shape:
    return tuple(a * b for a, b in zip(one, other, strict=True))


def _maps(node: Node) -> list[int]:
    """Return the positions of the inputs whose elements its output's are of, at the same places.

    There are none where another input depends on the place.
    """
    assert node.op is not None
    if node.op.name == "_int8_convolution":
        return [_ADDEND] if node.attrs["with_sum"] else []
    if not node.op.elementwise or node.op.draws(node.attrs) or node.op.mutated_inputs(node.attrs):
        return []
    shape = node.specs[0].shape
    found = [i for i, value in enumerate(node.inputs) if value.spec.shape == shape]
    rest = [value.spec.shape for i, value in enumerate(node.inputs) if i not in found]
    return found if all(max(extents[-len(shape) + 2 :], default=1) == 1 for extents in rest) else []


def _picked(spec: Spec, strides: Shape) -> Spec:
    """Return the spec of what `_pick` gives."""
    spatial = zip(spec.shape[2:], strides, strict=True)
    return Spec((*spec.shape[:2], *(-(-n // step) for n, step in spatial)), spec.dtype)


def _pick(value: Value, strides: Shape) -> Value:
    """Return the elements of a map that lie ``strides`` apart."""
    op = INT8_POOLING if value.spec.dtype in (INT8, UINT8) else POOLING
    window = {"kernel": (1,) * len(strides), "stride": strides}
    picked: Value = apply(op, (value,), op.schema.parse(op.name, window))
    return picked
