"""Evaluation of a graph operator by operator on NDArrays, with recording."""

from collections.abc import Callable, Sequence
from typing import Any

from gluonish.core.context import current_context
from gluonish.core.device import Device, device_of
from gluonish.core.random_state import next_key
from gluonish.graph.gradient import walk_back
from gluonish.graph.ir import Graph, Node, Value
from gluonish.ndarray.eager import record_call, run
from gluonish.ndarray.ndarray import NDArray, empty_like_spec
from gluonish.ndarray.recording import RECORDING, mode
from gluonish.ops.registry import Attrs, Operator

Values = dict[tuple[int, int], NDArray]
Monitor = Callable[[str, str, NDArray], object]
Observe = Callable[[Node, Sequence[NDArray], Sequence[NDArray]], None]


def evaluate(
    graph: Graph,
    inputs: Sequence[NDArray],
    monitor: tuple[Monitor, bool] | None = None,
    *,
    variables: bool = False,
) -> list[NDArray]:
    """Return a graph's outputs, computed eagerly.

    Args:
        graph: Specs on every value, training mode on every node that depends on it.
        inputs: One array for each input of the graph; without inputs, it runs in the current
            context.
        monitor: A function that receives the name, operator name and array of each operator output;
            and whether it receives the inputs of operators, too.
        variables: Whether inputs that are variables are also reported under their names.
    """
    values = values_of(graph, inputs)
    if monitor is not None:
        report(graph.nodes, values, monitor, variables=variables)
    return [values[value.key] for value in graph.outputs]


def report(
    nodes: Sequence[Node], values: Values, monitor: tuple[Monitor, bool], *, variables: bool = False
) -> None:
    """Report the values of operators to a monitor.

    Args:
        nodes: Nodes in order; those without an operator are skipped.
        values: Values by key.
        monitor: See `evaluate`.
        variables: See `evaluate`.
    """
    callback, monitor_all = monitor
    for node in nodes:
        op = node.op
        if op is None:
            continue
        if monitor_all:
            for name, value in zip(input_suffixes(op, node.attrs), node.inputs, strict=True):
                if variables and value.node.op is None:
                    callback(value.node.name, op.name, values[value.key])
                callback(f"{node.name}_{name}", op.name, values[value.key])
        for i in range(node.num_visible):
            callback(
                f"{node.name}_{output_suffix(op, node.attrs, i)}", op.name, values[id(node), i]
            )


# Operators whose only input MXNet reports as ``data``; the input of the others is ``input0``.
_NAMED = frozenset(
    {
        *("Dropout", "L2Normalization", "LRN", "LeakyReLU", "MakeLoss", "Pad", "Pooling"),
        *("SequenceLast", "SequenceMask", "SequenceReverse", "SliceChannel", "SwapAxis"),
        *("depth_to_space", "log_softmax", "repeat", "reverse", "softmax", "space_to_depth"),
        *("squeeze", "tile"),
    }
)


def input_suffixes(op: Operator, attrs: Attrs) -> tuple[str, ...]:
    """Return the suffixes of an operator's inputs in reports, as in MXNet."""
    if op.variadic is None and op.inputs == ("data",) and op.name not in _NAMED:
        return ("input0",)
    return op.input_names(attrs)


def output_suffix(op: Operator | None, attrs: Attrs, index: int) -> str:
    """Return the suffix of an output's name: ``output``, ``output1``, ``mean``."""
    words = () if op is None else op.output_names_for(attrs)
    if len(words) > 1:
        return words[index]
    word = words[0] if words else "output"
    return f"{word}{index if op is not None and op.num_visible(attrs) > 1 else ''}"


def output_names(values: Sequence[Value]) -> tuple[str, ...]:
    """Return the names of a graph's outputs: ``<node>_output``."""
    return tuple(
        value.node.name
        if value.node.op is None
        else f"{value.node.name}_{output_suffix(value.node.op, value.node.attrs, value.index)}"
        for value in values
    )


def values_of(
    graph: Graph,
    inputs: Sequence[NDArray],
    repeated: tuple[int, int] | None = None,
    observe: Observe | None = None,
) -> Values:
    """Return every value of a graph, computed eagerly.

    Args:
        graph: See `evaluate`.
        inputs: See `evaluate`.
        repeated: The random key of an earlier call that is repeated; moving statistics do not
            change then.
        observe: Receives each node with an operator, its inputs and its outputs.
    """
    device = inputs[0]._device if inputs else device_of(current_context())
    values: Values = {(id(node), 0): x for node, x in zip(graph.inputs, inputs, strict=True)}
    drawn = 0
    for node in graph.nodes:
        op = node.op
        if op is None:
            if node.array is not None:
                values[id(node), 0] = node.array.as_in_context(device.context)
            continue
        arrays = [values[value.key] for value in node.inputs]
        if repeated is not None:
            for i in op.mutated_inputs(node.attrs):
                arrays[i] = arrays[i].copy()
        attrs: dict[str, Any] = dict(node.attrs)
        if op.draws(node.attrs):
            attrs["key"] = (
                next_key(device.context) if repeated is None else (repeated[0], repeated[1] + drawn)
            )
            drawn += 1
        made = _run(op, node, arrays, attrs, device)
        for i, result in enumerate(made):
            values[id(node), i] = result
        if observe is not None:
            observe(node, arrays, made)
    return values


def _run(
    op: Operator, node: Node, inputs: Sequence[NDArray], attrs: dict[str, Any], device: Device
) -> list[NDArray]:
    results = [empty_like_spec(spec, device) for spec in node.specs]
    run(op, inputs, attrs, results, device)
    if mode.get() & RECORDING and op.gradient is not None:
        record_call(op, inputs, attrs, results)
    return results


def gradients(
    graph: Graph,
    inputs: Sequence[NDArray],
    heads: Sequence[NDArray],
    positions: Sequence[int],
    key: tuple[int, int],
) -> list[NDArray | None]:
    """Return the gradients of a graph's outputs, recorded like any eager computation.

    Args:
        graph: The graph of an earlier call.
        inputs: Inputs of the call, connected to the tape.
        heads: Gradients of its outputs.
        positions: Positions of the inputs that require a gradient, ascending.
        key: The random key of the call.

    Returns:
        One entry for each input; None for an input without gradient.
    """
    values = values_of(graph, inputs, repeated=key)
    found: list[NDArray | None] = [None] * len(inputs)
    walked = walk_back(graph, positions, heads, lambda value: values[value.key])
    for position, gradient in zip(positions, walked, strict=True):
        found[position] = gradient
    return found
