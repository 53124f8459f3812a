"""Checks of the values in a graph, for `mx.check_values`.

A planned call runs as usual, so that its results keep their bits; fused kernels have no values
between their operators. Then the operators run once more, one by one, with the same inputs and
random numbers, and each is checked.
"""

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gluonish.core.errors import NonFiniteError, OperatorError, public_name
from gluonish.core.random_state import KeyJournal
from gluonish.core.value_scope import ValueScope
from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.call_plan import GraphNode
from gluonish.graph.gradient import overwritten, walk_back
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import values_of
from gluonish.graph.ir import Graph, Node, Value
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import CHECKED, RECORDING, TRAINING, Checks
from gluonish.ndarray.value_checks import (
    Origin,
    check_operator,
    check_rule,
    drop_failures,
    located_error,
    non_finite,
)

Key = tuple[int, int]
Array = NDArray | None


class NodeOrigins(NamedTuple):
    """Where the nodes of a graph come from.

    Attributes:
        of: Returns the origin of a node by its name.
        whole: The origin of the call of the graph.
        name: Name of the graph.
    """

    of: Callable[[str], Origin]
    whole: Origin
    name: str


def named_origins(name: str) -> NodeOrigins:
    """Return the origins of a graph of Symbols, whose nodes have names.

    Args:
        name: Name of the graph.
    """
    whole = Origin.of(sys._getframe(1))
    return NodeOrigins(lambda node: Origin(node, whole.line), whole, name)


def checked_run(
    cached: CachedGraph,
    inputs: Sequence[NDArray],
    run: Callable[[], Sequence[NDArray]],
    origins: NodeOrigins,
) -> Sequence[NDArray]:
    """Run a graph as usual, and check the values of its operators and, later, their gradients.

    Args:
        cached: The graph.
        inputs: Inputs of the call.
        run: Makes the call, and returns its outputs.
        origins: Where the nodes come from.

    Raises:
        OperatorIndexError: An index is out of range.
        NonFiniteError: An output is NaN or infinite.
    """
    checks = recording.checks.get()
    if checks is None:
        return run()
    train = bool(recording.mode.get() & TRAINING)
    graph = specialize(cached.inputs, cached.outputs, [x._spec for x in inputs], train=train)
    changed = overwritten(graph.nodes)
    before = [
        x.detach().copy() if Value(node).key in changed else x
        for node, x in zip(graph.inputs, inputs, strict=True)
    ]
    journal = KeyJournal()
    with journal.recording():
        results = run()
    key = journal.first((0, 0))
    try:
        check_graph(graph, before, results, key, checks, origins)
    except OperatorError:
        drop_failures(results)
        raise
    edge = results[0]._edge if results else None
    if edge is not None and isinstance(edge[0], GraphNode):
        node, plans = edge[0], edge[0].plan.plans
        node.checks = GraphGradients(plans.graph, plans.grad_inputs, key, origins)
    return results


class _Again(ValueScope):
    """Scope in which operators run again: neither recorded nor observed."""

    __slots__ = ()

    def __enter__(self) -> None:
        self._change(recording.mode, recording.mode.get() & ~(RECORDING | CHECKED))


def check_graph(
    graph: Graph,
    inputs: Sequence[NDArray],
    outputs: Sequence[NDArray],
    key: Key,
    checks: Checks,
    origins: NodeOrigins,
) -> None:
    """Check the operators of a graph, and the outputs of a call.

    Args:
        graph: The graph, as `gluonish.graph.inference.specialize` returns it.
        inputs: Inputs of the call, as they were before it.
        outputs: Outputs of the call.
        key: The key of its random numbers.
        checks: What is checked.
        origins: Where its nodes come from.

    Raises:
        OperatorIndexError: An index is out of range.
        NonFiniteError: An output is NaN or infinite.
    """

    def observe(node: Node, read: Sequence[NDArray], made: Sequence[NDArray]) -> None:
        if node.op is not None:
            check_operator(node.op, node.attrs, read, made, checks, lambda: origins.of(node.name))

    with _Again():
        values = values_of(graph, [x.detach() for x in inputs], key, observe)
    if not checks.values:
        return
    for i, (value, y) in enumerate(zip(graph.outputs, outputs, strict=True)):
        found = non_finite(y)
        # Fused kernels may overflow where the single operators do not.
        if found is not None and non_finite(values[value.key]) is None:
            raise located_error(
                NonFiniteError,
                f"{origins.name}: expected finite values, got {found.kind} in output {i} {found} "
                "of the graph, though its operators compute finite values one by one",
                origins.whole,
            )


class GraphGradients(NamedTuple):
    """Checks the gradients in a recorded call of a graph.

    Attributes:
        graph: The graph, with specs, before fusion.
        positions: Positions of the inputs that require a gradient.
        key: The key of the call's random numbers.
        origins: Where the nodes come from.
    """

    graph: Graph
    positions: Sequence[int]
    key: Key
    origins: NodeOrigins

    def check(
        self, inputs: Sequence[NDArray], heads: Sequence[NDArray], found: Sequence[Array]
    ) -> None:
        """Check the gradients of each operator, and those that the planned backward pass computed.

        Args:
            inputs: Inputs of the call.
            heads: Gradients of its outputs.
            found: Gradients of its inputs.

        Raises:
            NonFiniteError: A gradient is NaN or infinite.
        """
        with _Again():
            values = values_of(self.graph, [x.detach() for x in inputs], self.key)

            def value_of(value: Value) -> NDArray:
                return values[value.key]

            def observe(node: Node, received: Sequence[Array], made: Sequence[Array]) -> None:
                op = node.op
                if op is not None:
                    names, read = op.input_names(node.attrs), list(map(value_of, node.inputs))
                    origin = self.origins.of(node.name)
                    check_rule(public_name(op.name), names, received, read, made, origin)

            walked = walk_back(self.graph, self.positions, heads, value_of, observe)
        for position, single in zip(sorted(self.positions), walked, strict=True):
            gradient = found[position]
            bad = None if gradient is None else non_finite(gradient)
            if bad is None:
                continue
            name = self.graph.inputs[position].name
            what = f"expected finite gradients, got {bad.kind} in the gradient of {name} {bad}"
            if single is not None and non_finite(single) is None:
                what += ", though the operators compute finite gradients one by one"
            elif not bad.nan:
                continue  # a gradient that the program passed to backward
            raise located_error(NonFiniteError, f"{self.origins.name}: {what}", self.origins.whole)
