"""The way back through a body, as a graph of its own.

It computes what it needs of the forward graph once more; only kept values, which a second
computation would not give again, are read.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gluonish.core.dtype import is_floating
from gluonish.graph.gradient import walk_back
from gluonish.graph.ir import Graph, Node, Value, append, variable
from gluonish.ops.registry import find_operator

_Key = tuple[int, int]


class GradientParts(NamedTuple):
    """A gradient's graph: its inputs and outputs; and which gradients it computes."""

    graph: tuple[Sequence[Node], Sequence[Value]]
    flows: tuple[tuple[int, ...], ...]


class _Back:
    """A copy of a body's graph, over variables for its inputs and kept values, and gradients.

    Args:
        graph: The body's graph; kept values are its last outputs.
        num_kept: How many.

    Attributes:
        inputs: Variables for the inputs.
        kept: Variables for the kept values.
    """

    def __init__(self, graph: Graph, num_kept: int) -> None:
        self.graph = graph
        self.inputs = [variable(node.name, node.specs[0]) for node in graph.inputs]
        kept = graph.outputs[len(graph.outputs) - num_kept :]
        self.kept = [variable(f"{x.node.name}_kept{x.index}", x.spec) for x in kept]
        self._copies = _copies(
            graph,
            {(id(node), 0): x for node, x in zip(graph.inputs, self.inputs, strict=True)}
            | {value.key: x for value, x in zip(kept, self.kept, strict=True)},
        )

    def heads(self, positions: Sequence[int]) -> list[Value]:
        """Return variables for gradients of some outputs."""
        outputs = self.graph.outputs
        return [variable(f"head{i}", outputs[i].spec) for i in positions]

    def gradients(self, positions: Sequence[int], heads: Sequence[Value]) -> list[Any]:
        """Return the gradient of every input, None where none flows, from those of some outputs."""
        wanted = [i for i, node in enumerate(self.graph.inputs) if is_floating(node.specs[0].dtype)]
        outputs = [self.graph.outputs[i] for i in positions]
        graph = Graph(self.graph.inputs, outputs, self.graph.nodes)
        found = walk_back(graph, wanted, heads, lambda value: self._copies[value.key])
        spread: list[Any] = [None] * len(self.graph.inputs)
        for i, gradient in zip(wanted, found, strict=True):
            spread[i] = gradient
        return spread


def _copies(graph: Graph, stands_for: Mapping[_Key, Value]) -> dict[_Key, Value]:
    """Return what stands for each value in a copy of a graph."""
    made = dict(stands_for)
    for node in graph.nodes:
        if (id(node), 0) in made:
            continue
        copy = node
        if node.op is not None:
            inputs = [made[value.key] for value in node.inputs]
            copy = Node(node.op, node.name, inputs, node.attrs, node.specs, node.extra)
        made.update({(id(node), i): Value(copy, i) for i in range(node.num_outputs)})
    return made


def loop_gradient(
    graph: Graph, num_kept: int, counts: tuple[int, int], heads: Sequence[bool]
) -> GradientParts:
    """Return one step back through a loop; see `gluonish.ops.control_flow.subgraph.LoopGradient`.

    Args:
        graph: The body's graph: reads data, states, remaining inputs; gives outputs, new states and
            kept values.
        num_kept: How many are kept values.
        counts: How many are data, and how many states.
        heads: Whether there is a gradient of each output, each state before, each kept value.
    """
    back = _Back(graph, num_kept)
    data, states = counts
    outs = len(graph.outputs) - states - num_kept
    floating = [i for i in range(states) if is_floating(graph.outputs[outs + i].spec.dtype)]
    from_outs = [i for i in range(outs) if heads[i]]
    from_past = [i for i in range(states) if heads[outs + i]]
    from_kept = [outs + states + i for i in range(num_kept) if heads[outs + states + i]]
    out_heads, kept_heads = back.heads(from_outs), back.heads(from_kept)
    past_heads = back.heads([outs + i for i in from_past])
    carried = back.heads([outs + i for i in floating])
    found = back.gradients(
        [*from_outs, *from_kept, *(outs + i for i in floating)],
        [*out_heads, *kept_heads, *carried],
    )
    own = found[data : data + states]
    for i, head in zip(from_past, past_heads, strict=True):
        own[i] = head if own[i] is None else own[i] + head
    new = [
        _zeros_like(carry) if own[i] is None else own[i]
        for i, carry in zip(floating, carried, strict=True)
    ]
    rest = found[data + states :]
    flowing = [i for i, gradient in enumerate(rest) if gradient is not None]
    remain = back.inputs[data + states :]
    sums = [variable(f"sum{i}", remain[i].spec) for i in flowing]
    reached = [i for i, gradient in enumerate(found[:data]) if gradient is not None]
    inputs = [
        *back.inputs[:data],
        *back.inputs[data : data + states],
        *back.kept,
        *(*out_heads, *past_heads, *kept_heads),
        *(*carried, *sums, *remain),
    ]
    outputs = [
        *[found[i] for i in reached],
        *new,
        *[total + rest[i] for i, total in zip(flowing, sums, strict=True)],
    ]
    flows = (tuple(reached), tuple(floating), tuple(flowing))
    return GradientParts(([x.node for x in inputs], outputs), flows)


def branch_gradient(
    graph: Graph, num_kept: int, heads: Sequence[bool], flows: Sequence[int] | None
) -> GradientParts:
    """Return the way back through a branch.

    Args:
        graph: The body's graph: gives outputs, then kept values.
        num_kept: How many are kept values.
        heads: Whether there is a gradient of each output and kept value.
        flows: Positions of the inputs whose gradient it gives, zero where none flows; None for
            those where one does.
    """
    back = _Back(graph, num_kept)
    positions = [i for i, there in enumerate(heads) if there]
    given = back.heads(positions)
    found = back.gradients(positions, given)
    if flows is None:
        flows = [i for i, gradient in enumerate(found) if gradient is not None]
    outputs = [_zeros_like(back.inputs[i]) if found[i] is None else found[i] for i in flows]
    inputs = [*back.inputs, *back.kept, *given]
    return GradientParts(([x.node for x in inputs], outputs), (tuple(flows),))


def _zeros_like(x: Value) -> Any:
    return append(find_operator("zeros_like"), (x,), {})
