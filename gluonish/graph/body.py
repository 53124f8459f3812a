"""Body: a graph that belongs to a node of another graph, such as a loop of control flow.

A body has no shapes; it is planned for each set of input specs, with the passes, memory plan and
fast kernels of any graph. Its plan runs inside the instruction of the node that owns it, in the
same thread. If two threads make the same plan, the first one is used.
"""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from gluonish.core.device import Device, device_of_library
from gluonish.core.spec import PartialSpec, Spec
from gluonish.graph.body_gradient import branch_gradient, loop_gradient
from gluonish.graph.call_plan import CallPlan
from gluonish.graph.inference import Inference, specialize
from gluonish.graph.interpreter import output_names
from gluonish.graph.ir import (
    FlatGraph,
    Graph,
    Node,
    Value,
    flattened,
    restored,
    topological_order,
)
from gluonish.graph.pass_plans import PassOptions, plan_passes
from gluonish.ops.control_flow.subgraph import BranchGradient, LoopGradient, Step

_MAX_PLANS = 16  # sets of specs; the oldest is dropped first
_UNLIMITED = 1 << 30  # segment size
_numbers = count()


def _unpickled(graph: FlatGraph, num_inputs: int, name: str) -> "Body":
    values = restored(graph)
    return Body([value.node for value in values[:num_inputs]], values[num_inputs:], name)


class Body:
    """A graph that a node owns; see `gluonish.ops.control_flow.subgraph.Subgraph`.

    Args:
        inputs: Variables, in the order of the arrays that a call supplies.
        outputs: Outputs of the graph.
        name: Name of the body, for messages.
    """

    def __init__(self, inputs: Sequence[Node], outputs: Sequence[Value], name: str) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.name = name
        self.number = next(_numbers)  # two nodes are equal only if they own the same body
        self.num_inputs = len(self.inputs)
        order = topological_order(outputs)
        self.draws = any(node.op is not None and node.op.draws(node.attrs) for node in order)
        overwritten = {
            id(node.inputs[i].node)
            for node in order
            if node.op is not None
            for i in node.op.mutated_inputs(node.attrs)
        }
        self.mutated = tuple(i for i, x in enumerate(self.inputs) if id(x) in overwritten)
        self.saved = saved_values(order)
        self.num_saved = len(self.saved)
        self.output_names = output_names(self.outputs)
        self._made: dict[Any, Any] = {}

    def __repr__(self) -> str:
        return f"<body {self.name} {self.number}>"

    def __reduce__(self) -> tuple[Any, ...]:
        values = [*map(Value, self.inputs), *self.outputs]
        return _unpickled, (flattened(values), self.num_inputs, self.name)

    def _cached(self, key: Any, make: Callable[[], Any]) -> Any:
        found = self._made.get(key)
        if found is None:
            found = self._made.setdefault(key, make())
            if len(self._made) > _MAX_PLANS:
                self._made.pop(next(iter(tuple(self._made))), None)
        return found

    def reordered(self, order: tuple[int, ...]) -> "Body":
        """Return the graph with its inputs in another order."""
        if order == tuple(range(self.num_inputs)):
            return self
        body: Body = self._cached(
            ("order", order),
            lambda: Body([self.inputs[i] for i in order], self.outputs, self.name),
        )
        return body

    def widened(self, more: int) -> "Body":
        """Return the graph with ``more`` further inputs, which nothing reads."""
        if not more:
            return self
        unused = [Node(None, f"unused{i}") for i in range(more)]
        body: Body = self._cached(
            ("more", more), lambda: Body([*self.inputs, *unused], self.outputs, self.name)
        )
        return body

    def infer(self, specs: Sequence[Spec]) -> tuple[Spec, ...]:
        """Return the specs of the outputs, then of the saved values.

        Raises:
            OperatorError: An operator rejects its inputs; the message names the node.
        """
        graph = self.graph(specs, train=False)
        return tuple(value.spec for value in graph.outputs)

    def graph(self, specs: Sequence[Spec], *, train: bool) -> Graph:
        """Return the graph with specs, its outputs followed by its saved values."""
        graph: Graph = self._cached(
            ("graph", tuple(specs), train),
            lambda: specialize(self.inputs, [*self.outputs, *self.saved], specs, train=train),
        )
        return graph

    def complete(self, inputs: list[PartialSpec], outputs: list[PartialSpec]) -> None:
        """Complete the partial specs of the inputs from those of the outputs, and vice versa."""
        inference = Inference(topological_order(self.outputs), {})
        for node, spec in zip(self.inputs, inputs, strict=True):
            inference.add(Value(node), spec)
        for value, spec in zip(self.outputs, outputs, strict=True):
            inference.add(value, spec)
        inference.run()
        inputs[:] = [inference.spec(Value(node)) for node in self.inputs]
        outputs[:] = [inference.spec(value) for value in self.outputs]

    def step(self, xp: Any, arrays: Sequence[Any], *, train: bool, keep: bool) -> tuple[Step, int]:
        """Return a function that runs the body, and the number of random keys of each run.

        Args:
            arrays: Raw arrays with the specs of the body's inputs.
            keep: Whether the outputs are followed by the saved values.
        """
        device = device_of_library(xp)
        specs = tuple(Spec(x.shape, x.dtype) for x in arrays)
        plan: CallPlan = self._cached(
            ("plan", specs, device.context, train, keep),
            lambda: self._plan(list(specs), device, train=train, keep=keep),
        )
        return plan.forward.run_here, plan.forward.layout.random_count

    def _plan(self, specs: list[Spec], device: Device, *, train: bool, keep: bool) -> CallPlan:
        outputs = [*self.outputs, *(self.saved if keep else ())]
        plans = plan_passes(
            self.inputs,
            outputs,
            specs,
            device,
            training=train,
            requires_grad=(),
            options=PassOptions((_UNLIMITED, _UNLIMITED), self.num_inputs),
        )
        traced = self.inputs, outputs
        return CallPlan(plans, traced, device, static_alloc=True, name=self.name)

    def loop_gradient(
        self,
        specs: Sequence[Spec],
        counts: tuple[int, int],
        heads: Sequence[bool],
        *,
        train: bool,
    ) -> LoopGradient:
        """Return the gradient of one iteration of a loop over this body."""

        def make() -> LoopGradient:
            graph = self.graph(specs, train=train)
            back = loop_gradient(graph, self.num_saved, counts, heads)
            return LoopGradient(Body(*back.graph, f"{self.name}_backward"), *back.flows)

        gradient: LoopGradient = self._cached(
            ("loop", tuple(specs), counts, tuple(heads), train), make
        )
        return gradient

    def branch_gradient(
        self,
        specs: Sequence[Spec],
        heads: Sequence[bool],
        flows: Sequence[int] | None,
        *,
        train: bool,
    ) -> BranchGradient:
        """Return the gradient of a branch with this body."""

        def make() -> BranchGradient:
            graph = self.graph(specs, train=train)
            back = branch_gradient(graph, self.num_saved, heads, flows)
            return BranchGradient(Body(*back.graph, f"{self.name}_backward"), *back.flows)

        key = None if flows is None else tuple(flows)
        gradient: BranchGradient = self._cached(
            ("branch", tuple(specs), tuple(heads), key, train), make
        )
        return gradient


def saved_values(order: Sequence[Node]) -> list[Value]:
    """Return the outputs of nodes that cannot run again: they draw numbers or overwrite inputs."""
    return [
        Value(node, i)
        for node in order
        if node.op is not None and (node.op.draws(node.attrs) or node.op.mutated_inputs(node.attrs))
        for i in range(node.num_outputs)
    ]
