"""CachedGraph: what a hybridized block calls.

Traced once, planned once for each signature, recorded as one tape node. A signature is what a plan
depends on: specs and device of the inputs, training mode, and which inputs want a gradient. While
recording, the forward plan also delivers what the backward plan will read, into a *state* that goes
back to a pool when the tape node is freed.
"""

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
from gluonish.graph.inference import specialize
from gluonish.graph.ir import Node, Value
from gluonish.graph.partition import Partition
from gluonish.graph.pipeline import optimize
from gluonish.ndarray import recording
from gluonish.ndarray.copying import on_one_cpu
from gluonish.ndarray.ndarray import Link, NDArray, empty_like_spec
from gluonish.ndarray.recording import RECORDING, TRAINING

__all__ = ["CachedGraph", "GraphNode"]

_MAX_PLANS = 64  # signatures kept; the oldest plan goes first
_MAX_IDLE_STATES = 2
_WHOLE = 1 << 30  # segment size that never cuts

Links = Sequence[Link | None]


class CachedGraph:
    """A traced computation, called like a function on NDArrays.

    Args:
        inputs: Variables, in call order: data, parameters and auxiliary states.
        outputs: Values of the traced graph.
        static_alloc: Keep memory between calls.
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
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        name: str = "graph",
    ) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.name = name
        self.static_alloc = static_alloc
        self._forward_bulk_size = forward_bulk_size
        self._backward_bulk_size = backward_bulk_size
        self._plans: dict[Any, _Plan] = {}
        self._last: _Plan | None = None

    def __call__(self, inputs: Sequence[NDArray]) -> list[NDArray]:
        """Compute the outputs.

        Args:
            inputs: One array for each variable, all on one device.

        Returns:
            New arrays, one for each output.

        Raises:
            GraphError: if the number of inputs is wrong.
            DeviceError: if they lie on several devices.
            OperatorError: if an operator refuses the shapes or dtypes; the message names its node.
        """
        device = inputs[0]._device
        for x in inputs:
            if x._device is not device:
                return self(self._gathered(inputs))
        flags = recording.mode.get()
        specs = [x._spec for x in inputs]
        links: Links = [x._link for x in inputs] if flags & RECORDING else ()
        wanted = [link is not None for link in links]
        if True not in wanted:
            wanted = []
        # The plan of the call before is found by comparing lists: cheaper than hashing them.
        plan = self._last
        if (
            plan is None
            or plan.specs != specs
            or plan.device is not device
            or plan.training != flags & TRAINING
            or plan.wanted != wanted
        ):
            plan = self._last = self._find_plan(specs, device, flags & TRAINING, wanted)
        return plan(inputs, links)

    def _find_plan(
        self, specs: list[Spec], device: Device, training: int, wanted: list[bool]
    ) -> "_Plan":
        signature = (tuple(specs), device, training, tuple(wanted))
        plan = self._plans.get(signature)
        if plan is not None:
            return plan
        if len(specs) != len(self.inputs):
            raise GraphError(f"{self.name}: expected {len(self.inputs)} inputs, got {len(specs)}")
        plan = _Plan(self, specs, device, training, wanted)
        self._plans[signature] = plan
        if len(self._plans) > _MAX_PLANS:
            self._plans.pop(next(iter(self._plans)), None)
        return plan

    def _gathered(self, inputs: Sequence[NDArray]) -> list[NDArray]:
        """Return the inputs on one device, which host memory beside a CPU allows.

        Parameters lie where their network does, so that only data are moved.

        Raises:
            DeviceError: if the devices do not mix.
        """
        moved = on_one_cpu(inputs)
        if moved is None:
            raise self._mixed_devices(inputs)
        return moved

    def _mixed_devices(self, inputs: Sequence[NDArray]) -> DeviceError:
        device = inputs[0]._device
        node, x = next(
            (node, x)
            for node, x in zip(self.inputs, inputs, strict=True)
            if x._device is not device
        )
        return DeviceError(
            f"{self.name}: expected all arrays on {device.context}, got {node.name} on "
            f"{x.context}; move it with as_in_context, or initialize parameters on both"
        )

    def segment_sizes(self, *, train: bool) -> tuple[int, int]:
        """Return the most operators in one engine job, forward and backward."""
        if not train:
            forward = _WHOLE if MXNET_EXEC_BULK_EXEC_INFERENCE.value else 1
            backward = 1
        elif not MXNET_EXEC_BULK_EXEC_TRAIN.value:
            forward = backward = 1
        else:
            forward = MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD.value
            backward = MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD.value
        return (
            max(1, self._forward_bulk_size or forward),
            max(1, self._backward_bulk_size or backward),
        )


class _Plan:
    """Executables for one signature: forward, and backward where a gradient is wanted."""

    def __init__(
        self,
        owner: CachedGraph,
        specs: list[Spec],
        device: Device,
        training: int,
        wanted: list[bool],
    ) -> None:
        self.traced = owner.inputs, owner.outputs
        self.specs = specs
        self.device = device
        self.training = training
        self.wanted = wanted
        self.wanted_positions = [i for i, want in enumerate(wanted) if want]
        self.graph = optimize(specialize(owner.inputs, owner.outputs, specs, train=bool(training)))
        self._static_alloc = owner.static_alloc
        self._idle: list[list[NDArray]] = []
        sizes = owner.segment_sizes(train=bool(training or self.wanted_positions))
        parts = self.parts = Partition(self.graph, self.wanted_positions)
        self.output_specs = [value.spec for value in parts.outputs]
        self.gradient_specs = [value.spec for value in parts.gradients]
        self._kept_specs = [value.spec for value in parts.kept]
        self.forward = Executable(
            parts.forward,
            parts.inputs,
            [*parts.outputs, *parts.kept],
            device,
            static_alloc=owner.static_alloc,
            segment_size=sizes[0],
            name=owner.name,
        )
        self.backward: Executable | None = None
        if self.wanted_positions:
            self.backward = Executable(
                parts.backward,
                [
                    *parts.heads,
                    *[parts.inputs[i] for i in parts.read_inputs],
                    *[parts.outputs[i] for i in parts.read_outputs],
                    *parts.kept,
                ],
                parts.gradients,
                device,
                static_alloc=owner.static_alloc,
                segment_size=sizes[1],
                name=f"{owner.name}_backward",
            )

    def __call__(self, inputs: Sequence[NDArray], links: Links) -> list[NDArray]:
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
            return [empty_like_spec(spec, self.device) for spec in self._kept_specs]

    def return_state(self, state: list[NDArray]) -> None:
        """Keep a state's memory for the next recorded call; its variables order the writes."""
        if self._static_alloc and len(self._idle) < _MAX_IDLE_STATES:
            self._idle.append(state)


class GraphNode:
    """The recorded call of a CachedGraph; it links the outputs to itself."""

    __slots__ = ("inputs", "key", "output_count", "outputs", "parents", "plan", "state")

    def __init__(
        self,
        plan: _Plan,
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

    def backward(self, grads: Sequence[NDArray | None]) -> Sequence[NDArray | None]:
        """Return the gradient of every input.

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
        results = [empty_like_spec(spec, plan.device) for spec in plan.gradient_specs]
        inputs = [self.inputs[i] for i in plan.parts.read_inputs]
        plan.backward([*heads, *inputs, *self.outputs, *self.state], results)
        found: list[NDArray | None] = [None] * len(self.inputs)
        for position, result in zip(plan.parts.gradient_positions, results, strict=True):
            found[position] = result
        return found

    def _head(self, index: int, gradient: NDArray | None) -> NDArray:
        spec = self.plan.output_specs[index]
        if gradient is None:
            zero = empty_like_spec(spec, self.plan.device)
            zero._write(lambda out: out.fill(0), name="_zeros")
            return zero
        if gradient._spec != spec or gradient._device is not self.plan.device:
            moved: NDArray = gradient.as_in_context(self.plan.device.context).astype(spec.dtype)
            return moved
        return gradient

    def free(self) -> None:
        """Give the kept memory back."""
        if self.state is not None:
            self.plan.return_state(self.state)
        self.inputs, self.outputs, self.state = (), [], None

    def __del__(self) -> None:
        self.free()
