"""Body: a graph that belongs to a node of another graph, as control flow has them.

It is made once, has no shapes of its own, and is planned for each set of specs that it is run on:
passes, memory plan and fast kernels are those of any graph. Its plan runs inside the step of the
node that owns it, in that step's thread.

``_lock`` guards the plans and gradients, and may be taken again halfway; graphs that are made twice
by chance are equal.
"""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from gluonish.core.device import Device, device_of_library
from gluonish.core.spec import PartialSpec, Spec
from gluonish.graph.body_gradient import branch_gradient, loop_gradient
from gluonish.graph.call_plan import CallPlan
from gluonish.graph.flat import FlatGraph, flattened, restored
from gluonish.graph.inference import Inference, specialize
from gluonish.graph.interpreter import output_names
from gluonish.graph.ir import Graph, Node, Value, topological_order
from gluonish.ndarray.recording import TRAINING
from gluonish.ops.control_flow.subgraph import BranchGradient, LoopGradient, Step

_MAX_PLANS = 16  # sets of specs, the oldest goes first
_WHOLE = 1 << 30  # segment size that never cuts
_numbers = count()


def _unpickled(graph: FlatGraph, num_inputs: int, name: str) -> "Body":
    values = restored(graph)
    return Body([value.node for value in values[:num_inputs]], values[num_inputs:], name)


class Body:
    """A graph that a node owns; see `gluonish.ops.control_flow.subgraph.Subgraph`.

    Args:
        inputs: Variables, in the order in which it is given arrays.
        outputs: Values.
        name: For messages.
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
        self.kept = kept_values(order)
        self.num_kept = len(self.kept)
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
        """Return the graph with so many further inputs, which nothing reads."""
        if not more:
            return self
        unused = [Node(None, f"unused{i}") for i in range(more)]
        body: Body = self._cached(
            ("more", more), lambda: Body([*self.inputs, *unused], self.outputs, self.name)
        )
        return body

    def infer(self, specs: Sequence[Spec]) -> tuple[Spec, ...]:
        """Return the specs of the outputs, then of the kept values.

        Raises:
            OperatorError: An operator refuses what reaches it; the message names the node.
        """
        graph = self.graph(specs, train=False)
        return tuple(value.spec for value in graph.outputs)

    def graph(self, specs: Sequence[Spec], *, train: bool) -> Graph:
        """Return the graph with specs, its outputs followed by its kept values."""
        graph: Graph = self._cached(
            ("graph", tuple(specs), train),
            lambda: specialize(self.inputs, [*self.outputs, *self.kept], specs, train=train),
        )
        return graph

    def complete(self, inputs: list[PartialSpec], outputs: list[PartialSpec]) -> None:
        """Fill in what is known of inputs and outputs from what is known of the others."""
        inference = Inference(topological_order(self.outputs), {})
        for node, spec in zip(self.inputs, inputs, strict=True):
            inference.give(Value(node), spec)
        for value, spec in zip(self.outputs, outputs, strict=True):
            inference.give(value, spec)
        inference.run()
        inputs[:] = [inference.spec(Value(node)) for node in self.inputs]
        outputs[:] = [inference.spec(value) for value in self.outputs]

    def step(self, xp: Any, arrays: Sequence[Any], *, train: bool, keep: bool) -> tuple[Step, int]:
        """Return what runs the body, and how many random keys each run uses.

        Args:
            arrays: Raw arrays like its inputs.
            keep: Whether kept values are wanted, behind the outputs.
        """
        device = device_of_library(xp)
        specs = tuple(Spec(x.shape, x.dtype) for x in arrays)
        plan: CallPlan = self._cached(
            ("plan", specs, device.context, train, keep),
            lambda: self._plan(list(specs), device, train=train, keep=keep),
        )
        return plan.forward.run_here, plan.forward.layout.random_count

    def _plan(self, specs: list[Spec], device: Device, *, train: bool, keep: bool) -> CallPlan:
        return CallPlan(
            self.inputs,
            [*self.outputs, *(self.kept if keep else ())],
            specs,
            device,
            training=TRAINING * train,
            wanted=[],
            static_alloc=True,
            segment_sizes=(_WHOLE, _WHOLE),
            data_count=self.num_inputs,
            name=self.name,
        )

    def loop_gradient(
        self,
        specs: Sequence[Spec],
        counts: tuple[int, int],
        heads: Sequence[bool],
        *,
        train: bool,
    ) -> LoopGradient:
        """Return one step back through a loop that this is the body of."""

        def make() -> LoopGradient:
            graph = self.graph(specs, train=train)
            parts = loop_gradient(graph, self.num_kept, counts, heads)
            return LoopGradient(Body(*parts.graph, f"{self.name}_backward"), *parts.flows)

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
        """Return the way back through a branch that this is the body of."""

        def make() -> BranchGradient:
            graph = self.graph(specs, train=train)
            parts = branch_gradient(graph, self.num_kept, heads, flows)
            return BranchGradient(Body(*parts.graph, f"{self.name}_backward"), *parts.flows)

        wanted = None if flows is None else tuple(flows)
        gradient: BranchGradient = self._cached(
            ("branch", tuple(specs), tuple(heads), wanted, train), make
        )
        return gradient


def kept_values(order: Sequence[Node]) -> list[Value]:
    """Return the values that cannot be computed again: those of nodes that draw or overwrite."""
    return [
        Value(node, i)
        for node in order
        if node.op is not None and (node.op.draws(node.attrs) or node.op.mutated_inputs(node.attrs))
        for i in range(node.num_outputs)
    ]
