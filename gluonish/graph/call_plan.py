"""CallPlan: what a hybridized block does for one signature, forward and backward.

While recording, the forward plan also delivers what the backward plan will read, into a *state*
that goes back to a pool when the tape node is freed.
"""

from collections.abc import Sequence
from typing import ClassVar

from gluonish.core.device import Device
from gluonish.core.dtype import UINT8
from gluonish.core.errors import AutogradError
from gluonish.core.spec import Spec
from gluonish.graph import interpreter
from gluonish.graph.arenas import Arenas
from gluonish.graph.executable import Executable
from gluonish.graph.inference import specialize
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.layout import channels_last_values
from gluonish.graph.partition import Partition
from gluonish.graph.pipeline import finish, fuse_layers, optimize, split_layers
from gluonish.graph.rewrite import constants, detached
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import Link, NDArray, empty_like_spec
from gluonish.ndarray.recording import RECORDING
from gluonish.ops.memory_layout import array_of
from gluonish_engine import Var

__all__ = ["CallPlan", "GraphNode", "Links"]

_MAX_IDLE_STATES = 2

Links = Sequence[Link | None]


class CallPlan:
    """Executables for one signature: forward, and backward where a gradient is wanted.

    Args:
        inputs: Variables of the traced graph.
        outputs: Values of the traced graph.
        specs: Specs of the inputs.
        device: Where it runs.
        training: Whether in training mode.
        wanted: For each input whether its gradient is wanted; empty for none.
        static_alloc: Keep memory between calls.
        segment_sizes: Most operators in one engine job, forward and backward.
        data_count: How many inputs, from the first, are not parameters.
        name: For engine jobs and messages.

    Attributes:
        traced: ``inputs`` and ``outputs``.
        graph: The graph with specs, before anything was fused.
    """

    def __init__(
        self,
        inputs: Sequence[Node],
        outputs: Sequence[Value],
        specs: list[Spec],
        device: Device,
        *,
        training: int,
        wanted: list[bool],
        static_alloc: bool,
        segment_sizes: tuple[int, int],
        data_count: int,
        name: str,
    ) -> None:
        self.traced = inputs, outputs
        self.specs = specs
        self.device = device
        self.training = training
        self.wanted = wanted
        self.wanted_positions = [i for i, want in enumerate(wanted) if want]
        self.graph = optimize(specialize(inputs, outputs, specs, train=bool(training)))
        self._static_alloc = static_alloc
        self._arenas = Arenas(device, keep=static_alloc)
        self._idle: list[list[NDArray]] = []
        is_static = not (training or self.wanted_positions)
        stable = self.graph.inputs[data_count:] if is_static else None
        fused = fuse_layers(self.graph, device, stable)
        parts = self.parts = Partition(
            fused, self.wanted_positions, lambda joint: split_layers(joint, device)
        )
        self.output_specs = [value.spec for value in parts.outputs]
        self.gradient_specs = [value.spec for value in parts.gradients]
        count = len(parts.outputs)
        forward = finish(
            Graph(
                [x.node for x in parts.inputs],
                [*parts.outputs, *parts.kept],
                [*(x.node for x in parts.inputs), *constants(parts.forward), *parts.forward],
            ),
            device,
        )
        last = self._channels_last(forward, [], count)
        kept = forward.outputs[count:]
        self._kept_layouts = [(value.spec, value.key in last) for value in kept]
        self.forward = Executable(
            [node for node in forward.nodes if node.op is not None],
            [Value(node) for node in forward.inputs],
            forward.outputs,
            device,
            arenas=self._arenas,
            segment_size=segment_sizes[0],
            name=name,
            stable=range(data_count, len(inputs)) if is_static else (),
            channels_last=last,
        )
        self.backward: Executable | None = None
        if self.wanted_positions:
            self.backward = self._backward(segment_sizes[1], f"{name}_backward")

    def _backward(self, segment_size: int, name: str) -> Executable:
        parts = self.parts
        given = [
            *parts.heads,
            *[parts.inputs[i] for i in parts.read_inputs],
            *[parts.outputs[i] for i in parts.read_outputs],
            *parts.kept,
        ]
        graph = finish(detached(parts.backward, given, parts.gradients), self.device)
        kept = graph.inputs[len(given) - len(parts.kept) :]
        lasting = [
            (id(node), 0) for node, (_, last) in zip(kept, self._kept_layouts, strict=True) if last
        ]
        return Executable(
            [node for node in graph.nodes if node.op is not None],
            [Value(node) for node in graph.inputs],
            graph.outputs,
            self.device,
            arenas=self._arenas,
            segment_size=segment_size,
            name=name,
            channels_last=self._channels_last(graph, lasting, len(graph.outputs)),
        )

    def _channels_last(
        self, graph: Graph, given: Sequence[tuple[int, int]], plain: int
    ) -> frozenset[tuple[int, int]]:
        """Return which values lie channels last: none of the first ``plain`` outputs."""
        if self.device.xp_name != "numpy":
            return frozenset()
        found = channels_last_values(graph.nodes, given)
        return found - {value.key for value in graph.outputs[:plain]}

    def __call__(self, inputs: Sequence[NDArray], links: Links) -> list[NDArray]:
        """Return new outputs; with links, recorded."""
        outputs = [empty_like_spec(spec, self.device) for spec in self.output_specs]
        if self.backward is None:
            self.forward(inputs, outputs)
            return outputs
        state = self._take_state()
        key = self.forward(inputs, [*outputs, *state])
        GraphNode(self, inputs, outputs, state, links, key)
        return outputs

    def _take_state(self) -> list[NDArray]:
        """Return an array for each value that the backward pass needs besides the call's own."""
        try:
            return self._idle.pop()
        except IndexError:
            return [self._empty(spec, last=last) for spec, last in self._kept_layouts]

    def _empty(self, spec: Spec, *, last: bool) -> NDArray:
        if not last:
            return empty_like_spec(spec, self.device)
        raw = empty_like_spec(Spec((spec.nbytes,), UINT8), self.device)._data
        return NDArray(array_of(raw, spec, channels_last=True), spec, self.device, Var())

    def return_state(self, state: list[NDArray]) -> None:
        """Keep a state's memory for the next recorded call; its variables order the writes."""
        if self._static_alloc and len(self._idle) < _MAX_IDLE_STATES:
            self._idle.append(state)


class GraphNode:
    """The recorded call of a CachedGraph; it links the outputs to itself."""

    __slots__ = ("inputs", "key", "output_count", "outputs", "parents", "plan", "state")

    writes_gradients: ClassVar[bool] = True

    def __init__(
        self,
        plan: CallPlan,
        inputs: Sequence[NDArray],
        outputs: Sequence[NDArray],
        state: list[NDArray],
        parents: Links,
        key: tuple[int, int],
    ) -> None:
        self.plan = plan
        self.inputs: Sequence[NDArray] = inputs
        # Handles of their own: the node must not keep itself alive through its outputs.
        self.outputs = [outputs[i].detach() for i in plan.parts.read_outputs]
        self.state: list[NDArray] | None = state
        self.parents = parents
        self.key = key
        self.output_count = len(outputs)
        for i, output in enumerate(outputs):
            output._link = (self, i)

    def backward(
        self, grads: Sequence[NDArray | None], targets: Sequence[NDArray | None] = ()
    ) -> Sequence[NDArray | None]:
        """Return the gradient of every input, in the arrays of ``targets`` where there are some.

        By the planned backward graph; or, to differentiate again, operator by operator.
        """
        plan = self.plan
        if self.state is None or plan.backward is None:
            raise AutogradError(
                "backward: expected a recorded graph, got one that an earlier backward freed; "
                "pass retain_graph=True to the earlier one"
            )
        heads = [self._head(i, gradient) for i, gradient in enumerate(grads)]
        if recording.mode.get() & RECORDING:
            inputs = [x.connected(link) for x, link in zip(self.inputs, self.parents, strict=True)]
            return interpreter.gradients(plan.graph, inputs, heads, plan.wanted_positions, self.key)
        inputs = [self.inputs[i] for i in plan.parts.read_inputs]
        given = [*heads, *inputs, *self.outputs, *self.state]
        results = self._results(targets, given)
        plan.backward(given, results)
        found: list[NDArray | None] = [None] * len(self.inputs)
        for position, result in zip(plan.parts.gradient_positions, results, strict=True):
            found[position] = result
        return found

    def _results(
        self, targets: Sequence[NDArray | None], given: Sequence[NDArray]
    ) -> list[NDArray]:
        """Return arrays for the gradients: targets that fit, and that nothing is read from."""
        plan = self.plan
        if not targets:
            return [empty_like_spec(spec, plan.device) for spec in plan.gradient_specs]
        read = {x._var for x in given}
        results = []
        for position, spec in zip(plan.parts.gradient_positions, plan.gradient_specs, strict=True):
            target = targets[position]
            if (
                target is None
                or target._spec != spec
                or target._device is not plan.device
                or target._var in read
            ):
                target = empty_like_spec(spec, plan.device)
            results.append(target)
        return results

    def _head(self, index: int, gradient: NDArray | None) -> NDArray:
        spec = self.plan.output_specs[index]
        if gradient is None:
            zero = empty_like_spec(spec, self.plan.device)
            zero._write(lambda out: out.fill(0), name="_zeros")
            return zero
        head: NDArray = gradient
        if gradient._spec != spec or gradient._device is not self.plan.device:
            head = gradient.as_in_context(self.plan.device.context).astype(spec.dtype)
        head._settle()
        return head

    def free(self) -> None:
        """Give the kept memory back."""
        if self.state is not None:
            self.plan.return_state(self.state)
        self.inputs, self.outputs, self.state = (), [], None

    def __del__(self) -> None:
        self.free()
