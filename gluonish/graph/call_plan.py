"""CallPlan: what a hybridized block does for one signature, forward and backward.

While recording, the forward plan also keeps what the backward plan will read, in a *state* that
goes back to a pool when the tape node is freed. A backward pass that is the last on its state
computes where the kept values were, as soon as nobody needs them. One that is not has a plan of its
own, made when it is first asked for, and memory of its own for what it computes.

``_lock`` guards the making of that plan; who comes in the middle of it makes one, too, and the
first that is there counts.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from gluonish.core.device import Device
from gluonish.core.out_of_memory import empty_or_refuse
from gluonish.core.spec import Spec
from gluonish.graph import interpreter
from gluonish.graph.arenas import Arenas
from gluonish.graph.executable import Executable
from gluonish.graph.inference import specialize
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.layout import channels_last_values
from gluonish.graph.partition import Partition
from gluonish.graph.pipeline import finish, fuse_layers, optimize, split_layers, without_history
from gluonish.graph.rewrite import constants, detached
from gluonish.graph.source_lines import SourceLines
from gluonish.graph.state import State, States, StateUse, state_places
from gluonish.kernels import back_ends
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import Link, NDArray, empty_like_spec
from gluonish.ndarray.recording import RECORDING, freed_error, moment
from gluonish.ops.nn.embedding import EMBEDDING_BACKWARD
from gluonish.ops.registry import apply
from gluonish_engine import Var

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
        repeats: Have the device repeat launches, if it can.
        segment_sizes: Most operators in one engine job, forward and backward.
        data_count: How many inputs, from the first, are not parameters.
        name: For engine jobs and messages.
        lines: Where the nodes were made, for messages.
        inline_limit: `autograd.get_symbol` shows a recorded call as one node where the graph has
            more operators; None: never.

    Attributes:
        traced: ``inputs`` and ``outputs``.
        graph: The graph with specs, before anything was fused.
        backward: The last backward pass of a recorded call; None where no gradient is wanted.
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
        repeats: bool = False,
        segment_sizes: tuple[int, int],
        data_count: int,
        name: str,
        lines: SourceLines | None = None,
        inline_limit: int | None = None,
    ) -> None:
        self.traced = inputs, outputs
        self.inline_limit = inline_limit
        self.specs = specs
        self.device = device
        self.training = training
        self.wanted = wanted
        self.wanted_positions = [i for i, want in enumerate(wanted) if want]
        self.graph = optimize(specialize(inputs, outputs, specs, train=bool(training)))
        self._static_alloc = static_alloc
        self._repeats = repeats
        self._data_count = data_count
        self._lines = lines
        self._arenas = Arenas(device, keep=static_alloc, name=name)
        is_static = not (training or self.wanted_positions)
        stable = self.graph.inputs[data_count:] if is_static else None
        planned = self.graph if self.wanted_positions else without_history(self.graph)
        fused = fuse_layers(planned, device, stable)
        parts = self.parts = Partition(
            fused, self.wanted_positions, lambda joint: split_layers(joint, device)
        )
        self.output_specs = [value.spec for value in parts.outputs]
        self.own_gradient = any(
            node.op is not None and node.op.own_gradient for node in self.graph.nodes
        )
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
        offsets, state_nbytes = state_places([value.spec for value in kept])
        self.states = States(device, state_nbytes, keep=static_alloc, name=name)
        self.forward = Executable(
            [node for node in forward.nodes if node.op is not None],
            [Value(node) for node in forward.inputs],
            forward.outputs[:count],
            device,
            arenas=self._arenas,
            segment_size=segment_sizes[0],
            name=name,
            lines=lines,
            stable=range(data_count, len(inputs)) if is_static else (),
            channels_last=last,
            state=StateUse(kept, offsets, given=False, lasting=True) if wanted else None,
            repeats=repeats,
            moving=[*range(data_count), *range(len(inputs), len(inputs) + count)],
        )
        self.backward: Executable | None = None
        self._retaining: Executable | None = None
        if self.wanted_positions:
            self._make_backward = partial(
                self._backward,
                offsets,
                [value.key in last for value in kept],
                segment_sizes[1],
                f"{name}_backward",
            )
            self.backward = self._make_backward(self._arenas, lasting=False)

    def retaining(self) -> Executable:
        """Return the backward pass that leaves a state as it is."""
        if self._retaining is None:
            arenas = Arenas(self.device, keep=self._static_alloc, name=self.forward.name)
            made = self._make_backward(arenas, lasting=True)
            if self._retaining is None:  # of several that are made at once the first one counts
                self._retaining = made
        return self._retaining

    def _backward(
        self,
        offsets: Sequence[int],
        kept_last: Sequence[bool],
        segment_size: int,
        name: str,
        arenas: Arenas,
        *,
        lasting: bool,
    ) -> Executable:
        parts = self.parts
        given = [
            *parts.heads,
            *[parts.inputs[i] for i in parts.read_inputs],
            *[parts.outputs[i] for i in parts.read_outputs],
            *parts.kept,
        ]
        graph = finish(detached(parts.backward, given, parts.gradients), self.device)
        values = [Value(node) for node in graph.inputs]
        first = len(given) - len(parts.kept)
        kept = values[first:]
        placed = [value.key for value, last in zip(kept, kept_last, strict=True) if last]
        return Executable(
            [node for node in graph.nodes if node.op is not None],
            values[:first],
            graph.outputs,
            self.device,
            arenas=arenas,
            segment_size=segment_size,
            name=name,
            lines=self._lines,
            channels_last=self._channels_last(graph, placed, len(graph.outputs)),
            state=StateUse(kept, offsets, given=True, lasting=lasting),
            repeats=self._repeats,
            moving=self._moving(first),
        )

    def _moving(self, externals: int) -> list[int]:
        """Return which arrays of a backward pass are others at each call: all but parameters'."""
        parts, data = self.parts, self._data_count
        heads = len(parts.heads)
        parameters = {i + heads for i, one in enumerate(parts.read_inputs) if one >= data}
        gradients = [i + externals for i, one in enumerate(parts.gradient_positions) if one < data]
        return [*(i for i in range(externals) if i not in parameters), *gradients]

    def _channels_last(
        self, graph: Graph, given: Sequence[tuple[int, int]], plain: int
    ) -> frozenset[tuple[int, int]]:
        """Return which values lie channels last: none of the first ``plain`` outputs."""
        if "channels_last" not in back_ends.passes(self.device.platform):
            return frozenset()
        found = channels_last_values(graph.nodes, given)
        return found - {value.key for value in graph.outputs[:plain]}

    def __call__(self, inputs: Sequence[NDArray], links: Links) -> list[NDArray]:
        """Return new outputs; with links, recorded."""
        kind = type(inputs[0])
        device, name = self.device, self.forward.name
        outputs = [empty_like_spec(spec, device, kind, name) for spec in self.output_specs]
        self.fill(inputs, links, outputs)
        return outputs

    def bind(self, parameters: Sequence[NDArray]) -> Callable[[Sequence[NDArray]], list[NDArray]]:
        """Return calls that are not recorded as a function of the data alone.

        Args:
            parameters: The inputs behind the data, in order. They stay the same arrays.
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
                    raw = empty_or_refuse(device, spec.shape, spec.dtype, name)
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
        """Compute into ``outputs``; with links, recorded.

        Returns:
            The key that the call's random numbers start from; ``key`` where that is given.
        """
        if self.backward is None:
            return self.forward(inputs, outputs, None, key)
        state = self.states.take()
        key = self.forward(inputs, outputs, state, key)
        GraphNode(self, inputs, outputs, state, links, key)
        return key


class GraphNode:
    """The recorded call of a CachedGraph; it links the outputs to itself."""

    __slots__ = (
        "__weakref__",
        "_lent",
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

    @property
    def own_gradient(self) -> bool:
        """Whether an operator of the graph has a gradient of its own."""
        return self.plan.own_gradient

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
        # Handles of their own: the node must not keep itself alive through its outputs.
        self.outputs = [outputs[i].detach() for i in plan.parts.read_outputs]
        self.state: State | None = state
        self._lent = plan.states.lend(state, self)
        self.parents = parents
        self.key = key
        self.output_count = len(outputs)
        self.made = moment()
        self.freed: float = math.inf
        for i, output in enumerate(outputs):
            output._link = (self, i)

    def backward(
        self,
        grads: Sequence[NDArray | None],
        targets: Sequence[NDArray | None] = (),
        *,
        last: bool = False,
    ) -> Sequence[NDArray | None]:
        """Return the gradient of every input, in the arrays of ``targets`` where there are some.

        By the planned backward graph; or, to differentiate again, operator by operator. The last
        time, what was kept is overwritten: the node counts as freed then, even where that fails.
        """
        plan, state = self.plan, self.state
        if state is None or plan.backward is None:
            raise freed_error()
        heads = [self._head(i, gradient) for i, gradient in enumerate(grads)]
        if recording.mode.get() & RECORDING:
            inputs = [x.connected(link) for x, link in zip(self.inputs, self.parents, strict=True)]
            return interpreter.gradients(plan.graph, inputs, heads, plan.wanted_positions, self.key)
        inputs = [self.inputs[i] for i in plan.parts.read_inputs]
        given = [*heads, *inputs, *self.outputs]
        results = self._results(targets, given)
        if last:
            self.state = None
            comes_back = plan.states.recall(self._lent)
            plan.backward(given, results, state)
            if comes_back:
                plan.states.give(state)
        else:
            plan.retaining()(given, results, state)
        found: list[NDArray | None] = [None] * len(self.inputs)
        rows = plan.parts.row_gradients
        for position, result in zip(plan.parts.gradient_positions, results, strict=True):
            present = found[position]
            if position in rows and present is not None:
                found[position] = apply(EMBEDDING_BACKWARD, (present, result), rows[position])
            else:
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
                or position in plan.parts.row_gradients
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
        """Give the kept memory back, and drop the parents."""
        state, self.state = self.state, None
        if self.plan.states.recall(self._lent) and state is not None:
            self.plan.states.give(state)
        self.inputs, self.outputs, self.parents = (), [], ()
        self.freed = moment()
