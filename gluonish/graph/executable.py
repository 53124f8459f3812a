"""Executable: a graph bound to kernels and memory, run as a few engine jobs.

A call has a *frame*: one list with the raw array of every value. Values come from four places:
external ones (inputs, and values of the forward graph that a backward graph reads) and outputs are
given with the call, constants are bound at once, all others lie in an arena at planned offsets. A
frame and its arena belong to one call at a time: they are taken from a pool when the call's first
step runs and go back after its last, so calls from several threads never meet in memory.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_EXEC_ENABLE_INPLACE, NNVM_EXEC_MATCH_RANGE
from gluonish.core.device import Device
from gluonish.core.random_state import next_key
from gluonish.core.spec import Spec
from gluonish.engine import current_engine
from gluonish.graph.ir import Node, Value
from gluonish.graph.memory_plan import MemoryPlan, Step, plan_memory
from gluonish.ndarray.eager import HEAVY_INLINE_SIZE
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE, NDArray
from gluonish.ops.registry import Operator
from gluonish_engine import Var

__all__ = ["Executable"]

Frame = list[Any]
Kernel = Callable[..., None]
_MAX_IDLE_FRAMES = 8  # more calls at once than this allocate; keeps memory bounded after a burst


class _Run:
    """One step: a kernel and the places in the frame of what it writes and reads."""

    __slots__ = ("attrs", "kernel", "op", "random", "reads", "single", "writes")

    def __init__(
        self,
        op: Operator,
        kernel: Kernel,
        attrs: Mapping[str, Any],
        reads: Sequence[int],
        writes: Sequence[int],
        random: int | None,
    ) -> None:
        self.op = op
        self.kernel = kernel
        self.attrs = attrs
        self.reads = reads
        self.writes = writes
        self.single = len(writes) == 1
        self.random = random  # which of the call's random keys it uses

    def __call__(self, xp: Any, frame: Frame, key: tuple[int, int]) -> None:
        out = frame[self.writes[0]] if self.single else tuple([frame[i] for i in self.writes])
        inputs = [frame[i] for i in self.reads]
        if self.random is None:
            self.kernel(xp, out, *inputs, **self.attrs)
        else:
            own = (key[0], key[1] + self.random)
            self.kernel(xp, out, *inputs, **self.attrs, key=own)


class Executable:
    """A plan for one set of input specs on one device.

    Args:
        nodes: Operator nodes to run, in order, with specs.
        externals: Values that each call gives, in order.
        outputs: Values that each call delivers into arrays of the caller's, in order.
        device: Where it runs.
        static_alloc: Keep arenas between calls.
        segment_size: Most steps in one engine job.
        name: For engine jobs and errors.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        externals: Sequence[Value],
        outputs: Sequence[Value],
        device: Device,
        *,
        static_alloc: bool,
        segment_size: int,
        name: str,
    ) -> None:
        self.device = device
        self.name = name
        self.outputs = tuple(outputs)
        self._places: dict[tuple[int, int], int] = {}
        self._static_alloc = static_alloc
        self._idle: list[Frame] = []
        self._externals = [self._place(value) for value in externals]
        # A value that is both given and delivered, or delivered twice, is copied.
        self._output_places: list[int] = []
        self._copies: list[tuple[int, int]] = []
        for value in outputs:
            if value.key in self._places or value.node.op is None:
                self._place(value)
                copy = len(self._places)
                self._places[id(value), -1] = copy  # a place of its own, found by no value
                self._copies.append((self._places[value.key], copy))
                self._output_places.append(copy)
            else:
                self._output_places.append(self._place(value))
        given = set(self._externals) | set(self._output_places)
        self._constants = self._bind_constants([value for node in nodes for value in node.inputs])
        self._constants |= self._bind_constants(outputs)
        self._steps = self._bind_steps(nodes)
        self.random_count = sum(step.random is not None for step in self._steps)
        self._specs = self._planned_specs(nodes, given)
        self.plan = self._plan_memory(given)
        self._segments = self._cut(max(1, segment_size))
        self.mutated = [
            i
            for i, value in enumerate(externals)
            if self._places[value.key] in self._mutated_places()
        ]
        self.inline = self._is_light(nodes)

    # -- building ------------------------------------------------------------------------------

    def _place(self, value: Value) -> int:
        return self._places.setdefault(value.key, len(self._places))

    def _bind_constants(self, values: Sequence[Value]) -> dict[int, NDArray]:
        found = {}
        for value in values:
            if value.node.array is not None:
                value.node.array.wait_to_read()
                found[self._place(value)] = value.node.array
        return found

    def _bind_steps(self, nodes: Sequence[Node]) -> list[_Run]:
        steps = []
        drawn = 0
        for node in nodes:
            op = node.op
            assert op is not None
            specs = [value.spec for value in node.inputs]
            random = drawn if op.random else None
            drawn += op.random
            attrs = {k: v for k, v in node.attrs.items() if k != "key"}
            kernel = op.select_kernel(self.device.xp_name, specs, attrs)
            reads = [self._place(value) for value in node.inputs]
            writes = [self._place(Value(node, i)) for i in range(node.num_outputs)]
            steps.append(_Run(op, kernel, attrs, reads, writes, random))
        return steps

    def _planned_specs(self, nodes: Sequence[Node], given: set[int]) -> dict[int, Spec]:
        specs = {}
        for node, step in zip(nodes, self._steps, strict=True):
            for place, spec in zip(step.writes, node.specs, strict=True):
                if place not in given:
                    specs[place] = spec
        return specs

    def _plan_memory(self, given: set[int]) -> MemoryPlan:
        steps = [
            Step(
                tuple(step.reads),
                tuple(step.writes),
                in_place=step.op.elementwise and step.single,
                alias=step.op.identity and step.single and step.reads[0] in self._specs,
            )
            for step in self._steps
        ]
        return plan_memory(
            steps,
            {place: spec.nbytes for place, spec in self._specs.items()},
            match_range=NNVM_EXEC_MATCH_RANGE.value,
            in_place=bool(MXNET_EXEC_ENABLE_INPLACE.value),
        )

    def _mutated_places(self) -> set[int]:
        return {step.reads[i] for step in self._steps for i in step.op.mutated_inputs(step.attrs)}

    def _is_light(self, nodes: Sequence[Node]) -> bool:
        """Whether the whole call is too little work for a hand-over to another thread."""
        light = heavy = 0
        for node in nodes:
            size = sum(spec.size for spec in node.specs)
            if node.op is not None and node.op.heavy:
                heavy += size
            else:
                light += size
        return light <= LIGHT_INLINE_SIZE and heavy <= HEAVY_INLINE_SIZE and len(nodes) <= 32

    def _cut(self, size: int) -> list[Sequence[_Run]]:
        steps = [step for step in self._steps if not self._is_prebound_alias(step)]
        return [steps[i : i + size] for i in range(0, len(steps), size)] or [[]]

    def _is_prebound_alias(self, step: _Run) -> bool:
        """Whether a step's output lies on its input's memory in the arena, so that nothing is left
        to do."""
        if not (step.op.identity and step.single):
            return False
        slots = self.plan.slots
        source, target = step.reads[0], step.writes[0]
        return source in slots and target in slots and slots[source].offset == slots[target].offset

    # -- running -------------------------------------------------------------------------------

    def _new_frame(self) -> Frame:
        frame: Frame = [None] * len(self._places)
        for place, array in self._constants.items():
            frame[place] = array._data
        arena = self.device.empty((self.plan.nbytes,), np.dtype(np.uint8))
        for place, slot in self.plan.slots.items():
            spec = self._specs[place]
            raw = arena[slot.offset : slot.offset + slot.nbytes]
            frame[place] = raw.view(spec.dtype).reshape(spec.shape)
        return frame

    def _take_frame(self) -> Frame:
        try:
            return self._idle.pop()
        except IndexError:
            return self._new_frame()

    def _return_frame(self, frame: Frame) -> None:
        if self._static_alloc and len(self._idle) < _MAX_IDLE_FRAMES:
            for place in self._externals:
                frame[place] = None
            for place in self._output_places:
                frame[place] = None
            self._idle.append(frame)

    def __call__(self, externals: Sequence[NDArray], outputs: Sequence[NDArray]) -> tuple[int, int]:
        """Push the steps to the engine.

        Args:
            externals: Arrays for the external values.
            outputs: Allocated arrays that receive the outputs.

        Returns:
            The key that the call's random numbers start from.
        """
        key = next_key(self.device.context, self.random_count) if self.random_count else (0, 0)
        call = _Call(self, [x._data for x in externals], [y._data for y in outputs], key)
        reads = [x._var for x in externals]
        writes = [y._var for y in outputs] + [externals[i]._var for i in self.mutated]
        engine = current_engine()
        if len(self._segments) == 1:
            engine.push(call.run_all, reads, writes, self.device.lane, 0, self.name, self.inline)
            return key
        frame_var = Var()  # orders the call's jobs and carries an error from one to the next
        last = len(self._segments) - 1
        for i in range(len(self._segments)):
            engine.push(
                call.job(i),
                reads,
                [frame_var, *writes] if i in (0, last) else [frame_var],
                self.device.lane,
                0,
                self.name,
                self.inline,
            )
        return key


class _Call:
    """One call of an executable, shared by its engine jobs."""

    __slots__ = ("executable", "externals", "frame", "key", "outputs")

    def __init__(
        self,
        executable: Executable,
        externals: Sequence[Any],
        outputs: Sequence[Any],
        key: tuple[int, int],
    ) -> None:
        self.executable = executable
        self.externals = externals
        self.outputs = outputs
        self.key = key
        self.frame: Frame = []

    def begin(self) -> None:
        """Take a frame and put in what the caller gave."""
        executable = self.executable
        self.frame = frame = executable._take_frame()
        for place, raw in zip(executable._externals, self.externals, strict=True):
            frame[place] = raw
        for place, raw in zip(executable._output_places, self.outputs, strict=True):
            frame[place] = raw

    def run(self, steps: Sequence[_Run]) -> None:
        """Run some steps."""
        xp = self.executable.device.xp
        frame, key = self.frame, self.key
        for step in steps:
            step(xp, frame, key)

    def end(self) -> None:
        """Make the copies that are left, and give the frame back."""
        for source, target in self.executable._copies:
            self.frame[target][...] = self.frame[source]
        self.executable._return_frame(self.frame)

    def run_all(self) -> None:
        """Run everything in one job."""
        self.begin()
        self.run(self.executable._segments[0])
        self.end()

    def job(self, index: int) -> Callable[[], None]:
        """Return the job of one segment."""
        segments = self.executable._segments

        def run() -> None:
            if index == 0:
                self.begin()
            self.run(segments[index])
            if index == len(segments) - 1:
                self.end()

        return run
