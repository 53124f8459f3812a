"""Strides of 1x1 convolutions, moved to the layers before them.

A 1x1 convolution with stride 2 reads a quarter of the elements of a map. If nothing reads the
others, the layers before need not compute them: the last two layers of each stage of ResNet v1 then
do a quarter of their work.
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
_ADDEND = 5  # position of the addend of _int8_convolution


def move_strides(graph: Graph) -> Graph:
    """Compute only the elements of a map that are read.

    Requires: specs on every value, and that no gradient is required.
    Ensures: the outputs have the same specs and, within round-off, the same values. If all readers
    of a convolution's output, directly or through elementwise operators, are 1x1 convolutions with
    equal strides, the convolution has these strides and its readers have none. Other maps that an
    elementwise operator reads are sampled with the strides first.
    """
    if not has_operator(graph, _CONVOLUTIONS):
        return graph
    strides = _read_strides(graph)
    if not strides:
        return graph

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        own_strides, attrs = strides.get((id(node), 0)), node.attrs
        if _is_convolution(node) and node.inputs[0].key in strides:
            attrs = {**attrs, "stride": (1,) * len(attrs["kernel"])}
        elif _is_convolution(node) and own_strides is not None:
            attrs = {**attrs, "stride": _product(_strides_of(node), own_strides)}
        elif own_strides is None:
            return None
        specs, values = node.specs, list(inputs)
        if own_strides is not None:
            specs = (_sampled_spec(node.specs[0], own_strides),)
            for i in _maps(node):
                if node.inputs[i].key not in strides:
                    values[i] = _sample(inputs[i], own_strides)
        return [Value(Node(node.op, node.name, values, attrs, specs, node.extra))]

    return rebuild(graph, rule)


def _read_strides(graph: Graph) -> dict[tuple[int, int], Shape]:
    """Return the strides of the values that can be sampled, by key."""
    reads = count_reads(graph)
    requests: dict[tuple[int, int], list[Shape]] = {}

    def agreed(node: Node) -> Shape | None:
        found = requests.get((id(node), 0), [])
        unanimous = len(found) == reads[id(node), 0] and len(set(found)) == 1
        return found[0] if unanimous and node.num_outputs == 1 else None

    for node in reversed(graph.nodes):
        for value, strides in _requested(node, agreed(node)):
            requests.setdefault(value.key, []).append(strides)
    found: dict[tuple[int, int], Shape] = {}
    for node in graph.nodes:
        own_strides = agreed(node)
        if own_strides is None or node.op is None:
            continue
        # For an elementwise operator alone, sampling its inputs costs too much.
        if _is_convolution(node) or any(node.inputs[i].key in found for i in _maps(node)):
            found[id(node), 0] = own_strides
    return found


def _requested(node: Node, strides_read: Shape | None) -> Iterator[tuple[Value, Shape]]:
    """Yield inputs that a node can read with strides, and these, given those of its readers."""
    if _is_convolution(node) and _is_point(node):
        strides = _strides_of(node)
        if strides_read is not None:
            strides = _product(strides, strides_read)
        if max(strides) > 1:
            yield node.inputs[0], strides
    if strides_read is not None and node.op is not None:
        for i in _maps(node):
            yield node.inputs[i], strides_read


def _is_convolution(node: Node) -> bool:
    """Whether a node is a convolution whose channels are in axis 1."""
    if node.op is None or node.op.name not in _CONVOLUTIONS:
        return False
    layout = node.attrs["layout"]
    return layout is None or bool(layout[1] == "C")


def _is_point(node: Node) -> bool:
    """Whether a convolution has a 1x1 kernel and no padding."""
    return max(node.attrs["kernel"]) == 1 and not any(node.attrs["pad"])


def _strides_of(node: Node) -> Shape:
    return tuple(node.attrs["stride"]) or (1,) * len(node.attrs["kernel"])


def _product(one: Shape, other: Shape) -> Shape:
    return tuple(a * b for a, b in zip(one, other, strict=True))


def _maps(node: Node) -> list[int]:
    """Return the positions of the inputs that an elementwise operator maps to its output.

    The list is empty if another input varies over the spatial axes.
    """
    assert node.op is not None
    if node.op.name == "_int8_convolution":
        return [_ADDEND] if node.attrs["with_sum"] else []
    if not node.op.elementwise or node.op.draws(node.attrs) or node.op.mutated_inputs(node.attrs):
        return []
    shape = node.specs[0].shape
    found = [i for i, value in enumerate(node.inputs) if value.spec.shape == shape]
    others = [value.spec.shape for i, value in enumerate(node.inputs) if i not in found]
    constant = all(max(extents[-len(shape) + 2 :], default=1) == 1 for extents in others)
    return found if constant else []


def _sampled_spec(spec: Spec, strides: Shape) -> Spec:
    spatial = zip(spec.shape[2:], strides, strict=True)
    return Spec((*spec.shape[:2], *(-(-n // step) for n, step in spatial)), spec.dtype)


def _sample(value: Value, strides: Shape) -> Value:
    """Subsample a feature map by ``strides`` along its spatial axes."""
    op = INT8_POOLING if value.spec.dtype in (INT8, UINT8) else POOLING
    window = {"kernel": (1,) * len(strides), "stride": strides}
    sampled: Value = apply(op, (value,), op.schema.parse(op.name, window))
    return sampled
