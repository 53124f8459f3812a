"""Running a graph operator by operator on NDArrays, so that everything it does is recorded."""

from collections.abc import Callable, Sequence
from typing import Any

from gluonish.core.random_state import next_key
from gluonish.graph.ir import Graph, Node
from gluonish.ndarray.eager import record_call, run
from gluonish.ndarray.ndarray import NDArray, empty_like_spec
from gluonish.ndarray.recording import RECORDING, mode
from gluonish.ops.composite import input_gradients
from gluonish.ops.registry import Operator

__all__ = ["evaluate", "gradients"]

Values = dict[tuple[int, int], NDArray]
Monitor = Callable[[str, str, NDArray], object]


def evaluate(
    graph: Graph, inputs: Sequence[NDArray], monitor: tuple[Monitor, bool] | None = None
) -> list[NDArray]:
    """Return a graph's outputs, computed eagerly.

    Args:
        graph: Specs on every value, training mode on every node that depends on it.
        inputs: One array for each of the graph's inputs.
        monitor: Called with name, operator name and array for every output of an operator and, if
            the flag beside it is set, for every input.
    """
    values = _forward(graph, inputs, None, repeat=False)
    if monitor is not None:
        _report(graph, values, *monitor)
    return [values[value.key] for value in graph.outputs]


def _report(graph: Graph, values: Values, callback: Monitor, monitor_all: bool) -> None:
    for node in graph.nodes:
        if node.op is None:
            continue
        if monitor_all:
            for name, value in zip(node.op.input_names(node.attrs), node.inputs, strict=True):
                callback(f"{node.name}_{name}", node.op.name, values[value.key])
        for i in range(node.num_visible):
            suffix = "output" if node.num_visible == 1 else f"output{i}"
            callback(f"{node.name}_{suffix}", node.op.name, values[id(node), i])


def _forward(
    graph: Graph, inputs: Sequence[NDArray], key: tuple[int, int] | None, *, repeat: bool
) -> Values:
    values: Values = {(id(node), 0): x for node, x in zip(graph.inputs, inputs, strict=True)}
    drawn = 0
    for node in graph.nodes:
        if node.op is None:
            if node.array is not None:
                values[id(node), 0] = node.array
            continue
        arrays = [values[value.key] for value in node.inputs]
        if repeat:  # a repeated call must not update moving statistics once more
            mutated = node.op.mutated_inputs(node.attrs)
            arrays = [x.copy() if i in mutated else x for i, x in enumerate(arrays)]
        attrs: dict[str, Any] = dict(node.attrs)
        if node.op.random:
            attrs["key"] = next_key(arrays[0].context) if key is None else (key[0], key[1] + drawn)
            drawn += 1
        for i, result in enumerate(_run(node.op, node, arrays, attrs)):
            values[id(node), i] = result
    return values


def _run(
    op: Operator, node: Node, inputs: Sequence[NDArray], attrs: dict[str, Any]
) -> list[NDArray]:
    device = inputs[0]._device
    results = [empty_like_spec(spec, device) for spec in node.specs]
    run(op, inputs, attrs, results, device)
    if mode.get() & RECORDING and op.gradient is not None:
        record_call(op, inputs, attrs, results)
    return results


def gradients(
    graph: Graph,
    inputs: Sequence[NDArray],
    heads: Sequence[NDArray],
    wanted: Sequence[int],
    key: tuple[int, int],
) -> list[NDArray | None]:
    """Return the gradients of a graph's outputs with respect to some inputs, recorded like any
    eager computation.

    Args:
        graph: The graph of a call that was made.
        inputs: What it was called with, linked to the tape.
        heads: Gradients of its outputs.
        wanted: Positions of the inputs.
        key: Where its random numbers started.

    Returns:
        One entry for each input; None where no gradient is wanted or flows.
    """
    values = _forward(graph, inputs, key, repeat=True)
    grads: Values = {}
    for value, head in zip(graph.outputs, heads, strict=True):
        _add(grads, value.key, head)
    targets = {id(graph.inputs[i]) for i in wanted}
    needed = set(targets)
    for node in graph.nodes:
        if any(id(value.node) in needed for value in node.inputs):
            needed.add(id(node))
    for node in reversed(graph.nodes):
        received = [grads.get((id(node), i)) for i in range(node.num_outputs)]
        if node.op is None or id(node) not in needed or all(g is None for g in received):
            continue
        arrays = [values[value.key] for value in node.inputs]
        outputs = [values[id(node), i] for i in range(node.num_outputs)]
        attrs = {**node.attrs, "key": None} if node.op.random else node.attrs
        flows = [id(value.node) in needed for value in node.inputs]
        found = input_gradients(node.op, received, arrays, outputs, attrs, flows)
        for value, gradient in zip(node.inputs, found, strict=True):
            if gradient is not None:
                _add(grads, value.key, gradient)
    return [grads.get((id(node), 0)) if id(node) in targets else None for node in graph.inputs]


def _add(grads: Values, key: tuple[int, int], gradient: NDArray) -> None:
    present = grads.get(key)
    grads[key] = gradient if present is None else present + gradient
