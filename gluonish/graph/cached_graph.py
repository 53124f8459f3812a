"""CachedGraph: what a hybridized block calls. Traced once, planned once for each signature,
recorded as one tape node.

A signature is what a plan depends on: specs and device of the inputs, training mode, and which
inputs want a gradient. While recording, the forward plan also delivers what the backward plan will
read, into a *state* that goes back to a pool when the tape node is freed.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from gluonish.core.config import (
    MXNET_EXEC_BULK_EXEC_INFERENCE,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD,
    MXNET_EXEC_BULK_EXEC_TRAIN,
)
from gluonish.core.device import Device
from gluonish.core.errors import AutogradError, DeviceError, GraphError
from gluonish.core.spec import Spec
from gluonish.graph import interpreter
from gluonish.graph.executable import Executable
from gluonish.graph.gradient import differentiate
from gluonish.graph.inference import specialize
from gluonish.graph.ir import Graph, Node, Value, topological_order
from gluonish.graph.pipeline import optimize
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray, empty_like_spec
from gluonish.ndarray.recording import RECORDING, TRAINING, Leaf

__all__ = ["CachedGraph"]

_MAX_PLANS = 64  # signatures kept; the least recently used plan goes first
_WHOLE = 1 << 30  # segment size that never cuts

Signature = tuple[Any, ...]


class CachedGraph:
    """A traced computation, called like a function on NDArrays.

    Args:
        inputs: Variables, in call order: data, parameters and auxiliary states.
        outputs: Values of the traced graph.
        static_alloc: Keep memory between calls.
        static_shape: Accepted with ``static_alloc``; on a CPU nothing follows from it.
        forward_bulk_size: Most operators in one engine job of the forward pass; None as the
            environment says.
        backward_bulk_size: The same of the backward pass.
        name: For engine jobs and messages.
    """

    def __init__(
        self,
        inputs: Sequence[Node],
        outputs: Sequence[Value],
        *,
        static_alloc: bool = False,
        static_shape: bool = False,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        name: str = "graph",
    ) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.name = name
        self._static_alloc = static_alloc
        self._forward_bulk_size = forward_bulk_size
        self._backward_bulk_size = backward_bulk_size
        self._plans: OrderedDict[Signature, _Plan] = OrderedDict()

    def __call__(self, *inputs: NDArray) -> list[NDArray]:
        """Compute the outputs.

        Args:
            *inputs: One array for each variable, all on one device.

        Returns:
            New arrays, one for each output.

        Raises:
            GraphError: if the number of inputs is wrong.
            DeviceError: if they lie on several devices.
            OperatorError: if an operator refuses the shapes or dtypes; the message names its node.
        """
        flags = recording.mode.get()
        links = [x._link for x in inputs] if flags & RECORDING else ()
        wanted = tuple([i for i, link in enumerate(links) if link is not None])
        signature = (tuple([x._spec for x in inputs]), inputs[0]._device, flags & TRAINING, wanted)
        plan = self._plans.get(signature)
        if plan is None:
            plan = self._add_plan(signature, inputs)
        return plan(inputs, links)

    def _add_plan(self, signature: Signature, inputs: Sequence[NDArray]) -> "_Plan":
        if len(inputs) != len(self.inputs):
            raise GraphError(f"{self.name}: expected {len(self.inputs)} inputs, got {len(inputs)}")
        specs, device, training, wanted = signature
        for node, x in zip(self.inputs, inputs, strict=True):
            if x._device is not device:
                raise DeviceError(
                    f"{self.name}: expected all arrays on {device.context}, got {node.name} on {x.context}; "
                    "move it with as_in_context, or initialize parameters on both"
                )
        plan = _Plan(self, specs, device, wanted, train=bool(training))
        self._plans[signature] = plan
        if len(self._plans) > _MAX_PLANS:
            self._plans.popitem(last=False)
        return plan

    def segment_sizes(self, *, train: bool) -> tuple[int, int]:
        """Return the most operators in one engine job, forward and backward."""
        if not train:
            bulk = MXNET_EXEC_BULK_EXEC_INFERENCE.value
            return self._forward_bulk_size or (_WHOLE if bulk else 1), 1
        if not MXNET_EXEC_BULK_EXEC_TRAIN.value:
            return self._forward_bulk_size or 1, self._backward_bulk_size or 1
        return (
            self._forward_bulk_size or MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD.value,
            self._backward_bulk_size or MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD.value,
        )


class _State:
    """What one recorded call keeps for its backward pass: an array for each kept value."""

    __slots__ = ("arrays",)

    def __init__(self, specs: Sequence[Spec], device: Device) -> None:
        self.arrays = [empty_like_spec(spec, device) for spec in specs]


class _Plan:
    """Executables for one signature: forward, and backward where a gradient is wanted."""

    def __init__(
        self,
        owner: CachedGraph,
        specs: Sequence[Spec],
        device: Device,
        wanted: Sequence[int],
        *,
        train: bool,
    ) -> None:
        self.device = device
        self.wanted = wanted
        self.graph = optimize(specialize(owner.inputs, owner.outputs, specs, train=train))
        self._static_alloc = owner._static_alloc
        self._idle: list[_State] = []
        forward_size, backward_size = owner.segment_sizes(train=train or bool(wanted))
        joint, output_count = self._joint_graph(wanted)
        forward_nodes, backward_nodes = self._split(joint, output_count)
        outputs = joint.outputs[:output_count]
        gradients = joint.outputs[output_count:]
        self.kept = _crossing(forward_nodes, backward_nodes, joint, outputs, gradients)
        self.output_specs = [value.spec for value in outputs]
        self.gradient_specs = [value.spec for value in gradients]
        inputs = [Value(node) for node in joint.inputs[: len(specs)]]
        heads = [Value(node) for node in joint.inputs[len(specs) :]]
        # Outputs that the backward pass reads are handed over as they are, everything else it reads
        # is kept.
        self.forward = Executable(
            forward_nodes,
            inputs,
            [*outputs, *self.kept],
            device,
            static_alloc=owner._static_alloc,
            segment_size=forward_size,
            name=owner.name,
        )
        self.backward: Executable | None = None
        if wanted:
            self.backward = Executable(
                backward_nodes,
                [*heads, *inputs, *_distinct(outputs), *self.kept],
                gradients,
                device,
                static_alloc=owner._static_alloc,
                segment_size=backward_size,
                name=f"{owner.name}_backward",
            )
        self.output_choice = _distinct_positions(outputs)

    def _joint_graph(self, wanted: Sequence[int]) -> tuple[Graph, int]:
        """Return the optimized forward and backward graph in one, and how many of its outputs are
        forward's."""
        count = len(self.graph.outputs)
        if not wanted:
            self.gradient_positions: list[int] = []
            return self.graph, count
        found = differentiate(self.graph, wanted)
        gradients = [g for g in found.gradients if g is not None]
        self.gradient_positions = [
            i for i, g in zip(sorted(wanted), found.gradients, strict=True) if g is not None
        ]
        outputs = [*self.graph.outputs, *gradients]
        order = [*self.graph.nodes]
        known = {id(node) for node in order}
        order += [node for node in topological_order(outputs) if id(node) not in known]
        heads = [head.node for head in found.heads]
        return optimize(Graph([*self.graph.inputs, *heads], outputs, order)), count

    def _split(self, joint: Graph, output_count: int) -> tuple[list[Node], list[Node]]:
        """Part the operators into those that the outputs need and the rest, which is the backward
        pass."""
        forward = {id(n) for n in topological_order(joint.outputs[:output_count])}
        operators = [node for node in joint.nodes if node.op is not None]
        return (
            [node for node in operators if id(node) in forward],
            [node for node in operators if id(node) not in forward],
        )

    def __call__(self, inputs: Sequence[NDArray], links: Sequence[Any]) -> list[NDArray]:
        outputs = [empty_like_spec(spec, self.device) for spec in self.output_specs]
        if self.backward is None:
            self.forward(inputs, outputs)
            return outputs
        state = self._take_state()
        key = self.forward(inputs, [*outputs, *state.arrays])
        node = _GraphNode(self, inputs, [y.detach() for y in outputs], state, links, key)
        for i, output in enumerate(outputs):
            output._link = (node, i)
        return outputs

    def _take_state(self) -> _State:
        try:
            return self._idle.pop()
        except IndexError:
            return _State([value.spec for value in self.kept], self.device)

    def return_state(self, state: _State) -> None:
        """Keep a state's memory for the next recorded call; its variables order that call's
        writes."""
        if self._static_alloc and len(self._idle) < 2:
            self._idle.append(state)


def _crossing(
    forward: Sequence[Node],
    backward: Sequence[Node],
    joint: Graph,
    outputs: Sequence[Value],
    gradients: Sequence[Value],
) -> list[Value]:
    """Return forward values, other than the outputs, that the backward nodes read or deliver."""
    inside = {id(node) for node in forward}
    delivered = {value.key for value in outputs}
    kept: dict[tuple[int, int], Value] = {}
    reads = [value for node in backward for value in node.inputs]
    for value in [*reads, *gradients]:
        if id(value.node) in inside and value.key not in delivered:
            kept.setdefault(value.key, value)
    return list(kept.values())


def _distinct_positions(values: Sequence[Value]) -> list[int]:
    seen: set[tuple[int, int]] = set()
    positions = []
    for i, value in enumerate(values):
        if value.key not in seen and value.node.op is not None:
            seen.add(value.key)
            positions.append(i)
    return positions


def _distinct(values: Sequence[Value]) -> list[Value]:
    return [values[i] for i in _distinct_positions(values)]


class _GraphNode:
    """The recorded call of a CachedGraph."""

    __slots__ = ("inputs", "key", "output_count", "outputs", "parents", "plan", "state")

    def __init__(
        self,
        plan: _Plan,
        inputs: Sequence[NDArray],
        outputs: Sequence[NDArray],
        state: _State,
        parents: Sequence[tuple[recording.Node | Leaf, int] | None],
        key: tuple[int, int],
    ) -> None:
        self.plan = plan
        self.inputs: Sequence[NDArray] = inputs
        self.outputs: Sequence[NDArray] = outputs
        self.state: _State | None = state
        self.parents = parents
        self.key = key
        self.output_count = len(outputs)

    def backward(self, grads: Sequence[NDArray | None]) -> Sequence[NDArray | None]:
        """Return the gradient of every input, by the planned backward graph or, to differentiate
        again, operator by operator."""
        plan = self.plan
        if self.state is None or plan.backward is None:
            raise AutogradError(
                "backward: expected a recorded graph, got one that an earlier backward freed; "
                "pass retain_graph=True to the earlier one"
            )
        heads = [self._head(i, gradient) for i, gradient in enumerate(grads)]
        if recording.mode.get() & RECORDING:
            inputs = [x.connected(link) for x, link in zip(self.inputs, self.parents, strict=True)]
            return interpreter.gradients(plan.graph, inputs, heads, plan.wanted, self.key)
        found: list[NDArray | None] = [None] * len(self.inputs)
        results = [empty_like_spec(spec, plan.device) for spec in plan.gradient_specs]
        outputs = [self.outputs[i] for i in plan.output_choice]
        plan.backward([*heads, *self.inputs, *outputs, *self.state.arrays], results)
        for position, result in zip(plan.gradient_positions, results, strict=True):
            found[position] = result
        return found

    def _head(self, index: int, gradient: NDArray | None) -> NDArray:
        if gradient is not None:
            return gradient
        zeros = empty_like_spec(self.plan.output_specs[index], self.plan.device)
        zeros._write(lambda out: out.fill(0), name="_zeros")
        return zeros

    def free(self) -> None:
        """Give the kept memory back."""
        if self.state is not None:
            self.plan.return_state(self.state)
        self.inputs = self.outputs = ()
        self.state = None

    def __del__(self) -> None:
        self.free()
