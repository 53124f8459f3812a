"""CallPlan: the executables of a hybridized block for one signature, forward and backward.

A recorded call also saves the values that its backward pass will read, in a *state* that returns
to a pool when the tape node is freed. The last backward pass on a state overwrites saved values
after their last reader. A backward pass that must leave the state unchanged has a separate plan and
separate memory, made when it is first needed.
"""

import math
from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

from gluonish.core.device import Device
from gluonish.core.out_of_memory import empty_or_raise
from gluonish.graph import interpreter
from gluonish.graph.arenas import Arenas
from gluonish.graph.executable import Executable
from gluonish.graph.ir import Node, Value
from gluonish.graph.pass_plans import PassPlans, plan_backward
from gluonish.graph.source_lines import SourceLines
from gluonish.graph.state import State, States
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import GradientEdge, NDArray, empty_like_spec
from gluonish.ndarray.recording import RECORDING, freed_error, timestamp
from gluonish.ndarray.value_checks import Origin, check_rule
from gluonish.ops.nn.embedding import EMBEDDING_BACKWARD
from gluonish.ops.registry import apply
from gluonish_engine import Var

Links = Sequence[GradientEdge | None]


class ChecksGradients(Protocol):
    """Checks the gradients of a recorded call, operator by operator."""

    def check(
        self,
        inputs: Sequence[NDArray],
        heads: Sequence[NDArray],
        found: Sequence[NDArray | None],
    ) -> None:
        """Check the gradients.

        Args:
            inputs: Inputs of the call.
            heads: Gradients of its outputs.
            found: Gradients of its inputs.
        """


class CallPlan:
    """Executables for one signature: forward, and backward if an input requires a gradient.

    Args:
        plans: Plans of the forward and the backward pass.
        traced: Variables and outputs of the traced graph.
        device: The device that the plans were made for.
        static_alloc: Whether to keep memory between calls.
        name: Name of engine jobs, and in messages.
        lines: Source lines of the nodes, for messages.
        inline_limit: `autograd.get_symbol` shows a recorded call as one node if the graph has more
            operators than this; None for no limit.

    Attributes:
        backward: Executable of the last backward pass of a recorded call; None without gradients.
    """

    def __init__(
        self,
        plans: PassPlans,
        traced: tuple[Sequence[Node], Sequence[Value]],
        device: Device,
        *,
        static_alloc: bool,
        name: str,
        lines: SourceLines | None = None,
        inline_limit: int | None = None,
    ) -> None:
        self.plans = plans
        self.partition = plans.partition
        self.traced = traced
        self.inline_limit = inline_limit
        self.device = device
        self.output_specs = [value.spec for value in plans.partition.outputs]
        self.gradient_specs = [value.spec for value in plans.partition.gradients]
        self.ignores_head_gradient = any(
            x.op is not None and x.op.ignores_head_gradient for x in plans.graph.nodes
        )
        self._static_alloc = static_alloc
        self._lines = lines
        self.states = States(device, plans.saved.nbytes, keep=static_alloc, name=name)
        arenas = Arenas(device, keep=static_alloc, name=name)
        self.forward = Executable(plans.forward, device, arenas=arenas, name=name, lines=lines)
        self.backward: Executable | None = None
        self._retaining: Executable | None = None
        if plans.backward is not None:
            self.backward = Executable(
                plans.backward, device, arenas=arenas, name=f"{name}_backward", lines=lines
            )

    def retaining(self) -> Executable:
        """Return the backward pass that leaves the state unchanged."""
        if self._retaining is None:
            plans, device, name = self.plans, self.device, self.forward.name
            made = Executable(
                plan_backward(plans.partition, plans.saved, device, plans.options, lasting=True),
                device,
                arenas=Arenas(device, keep=self._static_alloc, name=name),
                name=f"{name}_backward",
                lines=self._lines,
            )
            if self._retaining is None:  # if threads make several at once, the first is used
                self._retaining = made
        return self._retaining

    def __call__(self, inputs: Sequence[NDArray], links: Links) -> list[NDArray]:
        """Compute and return new outputs; record the call if there are links."""
        kind = type(inputs[0])
        device, name = self.device, self.forward.name
        outputs = [empty_like_spec(spec, device, kind, name) for spec in self.output_specs]
        self.fill(inputs, links, outputs)
        return outputs

    def bind(self, parameters: Sequence[NDArray]) -> Callable[[Sequence[NDArray]], list[NDArray]]:
        """Return a function of the data alone that makes unrecorded calls.

        Args:
            parameters: The inputs after the data, in order; all calls use the same arrays.
        """
        device, name, specs = self.device, self.forward.name, self.output_specs
        submit, parameter_vars = self.forward.submit, [x._var for x in parameters]

        def run(data: Sequence[NDArray]) -> list[NDArray]:
            values, reads = [], []
            for x in data:
                raw = x._data
                if not raw.flags.c_contiguous:
                    raw = x._make_contiguous()
                values.append(raw)
                reads.append(x._var)
            for x in parameters:
                values.append(x._data)
            reads += parameter_vars
            kind = type(data[0])
            outputs, writes = [], []
            for spec in specs:
                try:
                    raw = device.empty(spec.shape, spec.dtype)
                except (MemoryError, ValueError):
                    raw = empty_or_raise(device, spec.shape, spec.dtype, name)
                var = Var()
                values.append(raw)
                writes.append(var)
                outputs.append(kind(raw, spec, device, var))
            submit(values, reads, writes)
            return outputs

        return run

    def fill(
        self,
        inputs: Sequence[NDArray],
        links: Links,
        outputs: Sequence[NDArray],
        key: tuple[int, int] | None = None,
    ) -> tuple[int, int]:
        """Compute the outputs into ``outputs``; record the call if there are links.

        Returns:
            The key that the random numbers of the call start from; ``key`` if that is not None.
        """
        if self.backward is None:
            return self.forward(inputs, outputs, None, key)
        state = self.states.acquire()
        key = self.forward(inputs, outputs, state, key)
        GraphNode(self, inputs, outputs, state, links, key)
        return key


class GraphNode:
    """The tape node of a recorded call of a CachedGraph; outputs refer to it.

    Attributes:
        checks: Checks the gradients of its operators; set while values are checked.
    """

    __slots__ = (
        "__weakref__",
        "_release",
        "checks",
        "freed",
        "inputs",
        "key",
        "made",
        "output_count",
        "outputs",
        "parents",
        "plan",
        "state",
    )

    writes_gradients: ClassVar[bool] = True
    checks: ChecksGradients

    @property
    def ignores_head_gradient(self) -> bool:
        """Whether an operator of the graph has its own gradient, which needs no head."""
        return self.plan.ignores_head_gradient

    def __init__(
        self,
        plan: CallPlan,
        inputs: Sequence[NDArray],
        outputs: Sequence[NDArray],
        state: State,
        parents: Links,
        key: tuple[int, int],
    ) -> None:
        self.plan = plan
        self.inputs: Sequence[NDArray] = inputs
        # Detached, so that the node does not keep itself alive through its outputs.
        self.outputs = [outputs[i].detach() for i in plan.partition.read_outputs]
        self.state: State | None = state
        self._release = plan.states.release_with(state, self)
        self.parents = parents
        self.key = key
        self.output_count = len(outputs)
        self.made = timestamp()
        self.freed: float = math.inf
        for i, output in enumerate(outputs):
            output._edge = (self, i)

    def backward(
        self,
        grads: Sequence[NDArray | None],
        targets: Sequence[NDArray | None] = (),
        *,
        last: bool = False,
    ) -> Sequence[NDArray | None]:
        """Return the gradient of every input, in the arrays of ``targets`` where they are not None.

        The planned backward graph computes them or, while recording, the interpreter, operator by
        operator. The last backward pass overwrites saved values: the node counts as freed then,
        even if the pass fails.
        """
        plan, state = self.plan, self.state
        if state is None or plan.backward is None:
            raise freed_error()
        heads = [self._head(i, gradient) for i, gradient in enumerate(grads)]
        if recording.mode.get() & RECORDING:
            inputs = [x.connected(link) for x, link in zip(self.inputs, self.parents, strict=True)]
            return interpreter.gradients(
                plan.plans.graph, inputs, heads, plan.plans.grad_inputs, self.key
            )
        inputs = [self.inputs[i] for i in plan.partition.read_inputs]
        externals = [*heads, *inputs, *self.outputs]
        results = self._results(targets, externals)
        if last:
            self.state = None
            released = plan.states.cancel_release(self._release)
            plan.backward(externals, results, state)
            if released:
                plan.states.release(state)
        else:
            plan.retaining()(externals, results, state)
        found: list[NDArray | None] = [None] * len(self.inputs)
        rows = plan.partition.row_gradients
        for position, result in zip(plan.partition.gradient_positions, results, strict=True):
            present = found[position]
            if position in rows and present is not None:
                found[position] = apply(EMBEDDING_BACKWARD, (present, result), rows[position])
            else:
                found[position] = result
        return found

    def check_gradients(
        self, grads: Sequence[NDArray | None], found: Sequence[NDArray | None]
    ) -> None:
        """Check the gradients of the call's operators, or of the call if that was not checked.

        Args:
            grads: Gradients of the outputs.
            found: Gradients of the inputs.
        """
        checks: ChecksGradients | None = getattr(self, "checks", None)
        if checks is not None:
            checks.check(self.inputs, [self._head(i, g) for i, g in enumerate(grads)], found)
            return
        names = [node.name for node in self.plan.traced[0]]
        check_rule(self.plan.forward.name, names, grads, (), found, Origin("", None))

    def _results(
        self, targets: Sequence[NDArray | None], externals: Sequence[NDArray]
    ) -> list[NDArray]:
        """Return arrays for the gradients: targets that fit and are not read, or new arrays."""
        plan = self.plan
        if not targets:
            return [empty_like_spec(spec, plan.device) for spec in plan.gradient_specs]
        partition = plan.partition
        read = {x._var for x in externals}
        results = []
        for position, spec in zip(
            plan.partition.gradient_positions, plan.gradient_specs, strict=True
        ):
            target = targets[position]
            if (
                target is None
                or position in partition.row_gradients
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
        head._make_contiguous()
        return head

    def free(self) -> None:
        """Release the state, and drop the parents."""
        state, self.state = self.state, None
        if self.plan.states.cancel_release(self._release) and state is not None:
            self.plan.states.release(state)
        self.inputs, self.outputs, self.parents = (), [], ()
        self.freed = timestamp()
