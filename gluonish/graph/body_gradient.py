"""The gradient of a body, as a separate graph.

The graph recomputes forward values. It reads only the saved values, which cannot be recomputed.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gluonish.core.dtype import is_floating
from gluonish.graph.gradient import walk_back
from gluonish.graph.ir import Graph, Node, Value, append, variable
from gluonish.ops.registry import find_operator

_Key = tuple[int, int]


class BodyGradient(NamedTuple):
    """A graph that computes gradients, and the inputs of the body that they belong to."""

    graph: tuple[Sequence[Node], Sequence[Value]]
    flows: tuple[tuple[int, ...], ...]


class _Back:
    """A copy of a body's graph that reads saved values from variables, to be differentiated.

    Args:
        graph: The body's graph; saved values are its last outputs.
        num_saved: Number of saved values.

    Attributes:
        inputs: Variables for the inputs.
        saved: Variables for the saved values.
    """

    def __init__(self, graph: Graph, num_saved: int) -> None:
        self.graph = graph
        self.inputs = [variable(node.name, node.specs[0]) for node in graph.inputs]
        saved = graph.outputs[len(graph.outputs) - num_saved :]
        self.saved = [variable(f"{x.node.name}_saved{x.index}", x.spec) for x in saved]
        self._copies = _copies(
            graph,
            {(id(node), 0): x for node, x in zip(graph.inputs, self.inputs, strict=True)}
            | {value.key: x for value, x in zip(saved, self.saved, strict=True)},
        )

    def heads(self, positions: Sequence[int]) -> list[Value]:
        """Return a variable for the gradient of each output at ``positions``."""
        outputs = self.graph.outputs
        return [variable(f"head{i}", outputs[i].spec) for i in positions]

    def gradients(self, positions: Sequence[int], heads: Sequence[Value]) -> list[Any]:
        """Return each input's gradient, or None, given those of the outputs at ``positions``."""
        floating_inputs = [
            i for i, node in enumerate(self.graph.inputs) if is_floating(node.specs[0].dtype)
        ]
        outputs = [self.graph.outputs[i] for i in positions]
        graph = Graph(self.graph.inputs, outputs, self.graph.nodes)
        found = walk_back(graph, floating_inputs, heads, lambda value: self._copies[value.key])
        spread: list[Any] = [None] * len(self.graph.inputs)
        for i, gradient in zip(floating_inputs, found, strict=True):
            spread[i] = gradient
        return spread


def _copies(graph: Graph, replaced: Mapping[_Key, Value]) -> dict[_Key, Value]:
    """Copy the nodes of a graph, and return the copy of each value, by key."""
    made = dict(replaced)
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
    graph: Graph, num_saved: int, counts: tuple[int, int], heads: Sequence[bool]
) -> BodyGradient:
    """Return the gradient of one iteration; see `gluonish.ops.control_flow.subgraph.LoopGradient`.

    Args:
        graph: The body's graph: its inputs are data, states and remaining inputs, its outputs are
            outputs, new states and saved values.
        num_saved: Number of saved values.
        counts: Number of data inputs, and number of states.
        heads: Whether each output, each earlier state and each saved value has a gradient.
    """
    back = _Back(graph, num_saved)
    data, states = counts
    outs = len(graph.outputs) - states - num_saved
    floating = [i for i in range(states) if is_floating(graph.outputs[outs + i].spec.dtype)]
    from_outs = [i for i in range(outs) if heads[i]]
    from_past = [i for i in range(states) if heads[outs + i]]
    from_saved = [outs + states + i for i in range(num_saved) if heads[outs + states + i]]
    out_heads, kept_heads = back.heads(from_outs), back.heads(from_saved)
    past_heads = back.heads([outs + i for i in from_past])
    carried = back.heads([outs + i for i in floating])
    found = back.gradients(
        [*from_outs, *from_saved, *(outs + i for i in floating)],
        [*out_heads, *kept_heads, *carried],
    )
    state_gradients = found[data : data + states]
    for i, head in zip(from_past, past_heads, strict=True):
        present = state_gradients[i]
        state_gradients[i] = head if present is None else present + head
    new = [
        _zeros_like(carry) if state_gradients[i] is None else state_gradients[i]
        for i, carry in zip(floating, carried, strict=True)
    ]
    remaining = found[data + states :]
    flowing = [i for i, gradient in enumerate(remaining) if gradient is not None]
    remain = back.inputs[data + states :]
    sums = [variable(f"sum{i}", remain[i].spec) for i in flowing]
    reached = [i for i, gradient in enumerate(found[:data]) if gradient is not None]
    inputs = [
        *back.inputs[:data],
        *back.inputs[data : data + states],
        *back.saved,
        *(*out_heads, *past_heads, *kept_heads),
        *(*carried, *sums, *remain),
    ]
    outputs = [
        *[found[i] for i in reached],
        *new,
        *[total + remaining[i] for i, total in zip(flowing, sums, strict=True)],
    ]
    flows = (tuple(reached), tuple(floating), tuple(flowing))
    return BodyGradient(([x.node for x in inputs], outputs), flows)


def branch_gradient(
    graph: Graph, num_saved: int, heads: Sequence[bool], flows: Sequence[int] | None
) -> BodyGradient:
    """Return the gradient of a branch.

    Args:
        graph: The body's graph: its outputs are outputs, then saved values.
        num_saved: Number of saved values.
        heads: Whether each output and saved value has a gradient.
        flows: Positions of the inputs to differentiate; those that no gradient reaches get zeros.
            None: all inputs that a gradient reaches.
    """
    back = _Back(graph, num_saved)
    positions = [i for i, present in enumerate(heads) if present]
    head_values = back.heads(positions)
    found = back.gradients(positions, head_values)
    if flows is None:
        flows = [i for i, gradient in enumerate(found) if gradient is not None]
    outputs = [_zeros_like(back.inputs[i]) if found[i] is None else found[i] for i in flows]
    inputs = [*back.inputs, *back.saved, *head_values]
    return BodyGradient(([x.node for x in inputs], outputs), (tuple(flows),))


def _zeros_like(x: Value) -> Any:
    return append(find_operator("zeros_like"), (x,), {})
