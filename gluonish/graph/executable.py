"""Executable: an execution plan bound to memory, run as a few engine jobs.

An arena belongs to one call at a time: the first instruction of the call acquires it, and it is
released after the last, so that calls from several threads never share memory. A call that fails
leaves it to the garbage collector.

The constant values of the plan are computed by the first call after a constant input (a parameter
at inference) changed, under a lock; the versions of the variables show a change. All calls share
them. No call reads them meanwhile, because a writer of a parameter has waited for all calls that
read it. On a device with several compute streams, an engine variable orders the calls of a plan
with constant values. A handler or a destructor that interrupts the computation may call the
network, too: it acquires the lock again and computes everything; the interrupted call then writes
the same values again.

StaticValues: the arrays of a plan that later calls reuse.
"""

from collections.abc import Callable, Sequence
from functools import partial
from threading import get_ident
from typing import Any

import numpy as np

from gluonish.core.device import Device
from gluonish.core.dtype import UINT8
from gluonish.core.errors import OperatorError, run_error
from gluonish.core.memory_owners import MemoryOwner, register_memory_owner
from gluonish.core.out_of_memory import empty_or_raise
from gluonish.core.random_state import next_key
from gluonish.core.timeout_lock import TimeoutLock
from gluonish.engine import current_engine, submit
from gluonish.graph.arenas import Arena, Arenas
from gluonish.graph.awaited_calls import AwaitedCalls
from gluonish.graph.chains import InstructionError
from gluonish.graph.execution_plan import ExecutionPlan, Run
from gluonish.graph.instructions import PlannedInstruction, Values, ViewInstruction
from gluonish.graph.replays import RepeatedSegment
from gluonish.graph.source_lines import SourceLines
from gluonish.graph.state import State
from gluonish.graph.value_layout import ValueLayout
from gluonish.kernels import ahead
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.support.memory_layout import array_of
from gluonish_engine import Var


class StaticValues:
    """The constants of a layout on a device, and memory for the results of its prologue.

    Args:
        layout: The instructions, and the memory of their values.
        device: The device that the arrays are allocated on.
        entry_count: Number of planned instructions and chains; each has an entry after the values.
    """

    def __init__(self, layout: ValueLayout, device: Device, entry_count: int = 0) -> None:
        self._layout = layout
        self._device = device
        self._entry_count = entry_count
        self._arrays = {index: _raw(array) for index, array in layout.constants.items()}
        self._shared = {
            index: array_of(
                empty_or_raise(device, (spec.nbytes,), UINT8, "packed parameters"),
                spec,
                channels_last=index in layout.channels_last,
            )
            for index, spec in layout.shared.items()
        }

    def views(self, arena: Any, state: Any = None) -> Values:
        """Return the values that follow the arguments of a call.

        Args:
            arena: Bytes of the arena, at least `ValueLayout.arena_nbytes`.
            state: Bytes of the state, if the plan uses one.
        """
        layout = self._layout
        first = layout.argument_count
        values: Values = [None] * (layout.count - first)
        for index, raw in (*self._arrays.items(), *self._shared.items()):
            values[index - first] = raw
        # Equal views are one object: CuPy copies an input that overlaps the output, unless both
        # are the same object.
        views: dict[tuple[Any, ...], Any] = {}
        for index, slot in layout.slots.items():
            spec, last = layout.specs[index], index in layout.channels_last
            key = (slot.in_state, slot.offset, spec, last)
            if key not in views:
                space = state if slot.in_state else arena
                memory = space[slot.offset : slot.offset + slot.nbytes]
                views[key] = array_of(memory, spec, channels_last=last)
            values[index - first] = views[key]
        for index, (view, spec) in layout.strided.items():
            slot = layout.slots[view.root]
            space = state if slot.in_state else arena
            memory = space[slot.offset : slot.offset + slot.nbytes]
            values[index - first] = view.of(self._device.xp, memory, spec.dtype)
        if self._entry_count:
            values.append([None] * self._entry_count)
        return values


def _raw(array: Any) -> Any:
    array.wait_to_read()
    return array._data


def _holder(static: StaticValues) -> list[MemoryOwner]:
    shared = list(static._shared.values())
    return [MemoryOwner(static._device.context, "packed parameters of graphs", shared)]


register_memory_owner(StaticValues, _holder)


Key = tuple[int, int]
Versions = list[tuple[Var, int]]

_WEIGHT = 8  # of an awaited call among the small calls that move the team to the caller


class Executable:
    """A plan for one set of input specs, which runs on one device.

    Args:
        plan: The plan to execute.
        device: The device that the plan was made for.
        arenas: Memory for intermediate values, which executables may share.
        name: Name of engine jobs, and in errors.
        lines: Source lines of the nodes, for errors.
    """

    def __init__(
        self,
        plan: ExecutionPlan,
        device: Device,
        *,
        arenas: Arenas,
        name: str,
        lines: SourceLines | None = None,
    ) -> None:
        self.device = device
        self.name = name
        self.plan = plan
        self.layout = plan.layout
        self.segments = plan.segments
        self.static = StaticValues(plan.layout, device, plan.entry_count)
        self._lines = lines
        self._note = device.note if device.streams else None
        # Versions that the constant values belong to; without a prologue, those of no variables.
        self._prepared: Versions | None = None if plan.has_prologue else []
        self._lock = TimeoutLock()  # of `_prepare`
        # Only when calls run is it clear which one computes the constant values: each is a writer.
        several = plan.has_prologue and device.stream_count > 1
        self._constants_var = Var() if several else None
        self._constant_inputs = plan.constant_inputs
        self._is_small = plan.is_small
        self._on_team = device.is_host and not plan.is_light
        self._calls = AwaitedCalls() if plan.is_short else None
        self._arenas = arenas
        self._number = arenas.join(plan.layout.arena_nbytes)
        self._runs = _repeated(plan, device) if plan.repeats else plan.runs
        if device.is_host:
            ahead.announce(self)

    def __call__(
        self,
        externals: Sequence[NDArray],
        outputs: Sequence[NDArray],
        state: State | None = None,
        key: Key | None = None,
    ) -> Key:
        """Push the call to the engine.

        Args:
            externals: An array for each external.
            outputs: Allocated arrays that receive the outputs.
            state: State to read or write, if the plan uses one.
            key: Key of an earlier call, to draw its random numbers again.

        Returns:
            The key that the random numbers of the call start from.
        """
        # One loop for two lists is cheaper than two comprehensions, whatever their length.
        values, reads, writes = [], [], []
        for x in externals:
            values.append(x._data)
            reads.append(x._var)
        for y in outputs:
            values.append(y._data)
            writes.append(y._var)
        return self.submit(values, reads, writes, state, key)

    def run_here(self, values: Values, key: Key) -> None:
        """Run the plan in the calling thread, as part of an engine job that holds the arrays.

        Args:
            values: Raw arrays of the externals and the outputs; the list is extended.
            key: The key that the random numbers start from.
        """
        arena = self._arenas.acquire()
        values += arena.static_views.get(self._number) or self._new_static_views(arena, None)
        for run in self._runs:
            self._run(run, values, key)
        if self.layout.copies:
            self._copy(values)
        self._arenas.release(arena)

    def submit(
        self,
        values: Values,
        reads: list[Var],
        writes: list[Var],
        state: State | None = None,
        key: Key | None = None,
    ) -> Key:
        """Push the call to the engine; the executable owns the lists from now on.

        Args:
            values: Raw arrays of the externals and the outputs.
            reads: Variables of the externals.
            writes: Variables of the outputs.
            state: See `__call__`.
            key: See `__call__`.
        """
        layout, device = self.layout, self.device
        versions: Versions = []
        if self._constant_inputs:
            versions = [(reads[i], reads[i].version) for i in self._constant_inputs]
        if key is None:
            key = (0, 0)
            if layout.random_count:
                key = next_key(device.context, layout.random_count)
        if len(self.segments) > 1:
            self._push_segments(values, state, reads, writes, key, versions)
            return key
        if layout.mutated:
            writes += [reads[i] for i in layout.mutated]
        if state is not None:
            if self.plan.reads_state:
                reads.append(state.var)
            if self.plan.writes_state:
                writes.append(state.var)
        if self._constants_var is not None:
            writes.append(self._constants_var)
        calls = self._calls
        if calls is not None and state is None:
            caller = get_ident()
            submit(
                lambda: self._run_observed(values, key, versions, caller),
                reads,
                writes,
                device.lane,
                self.name,
                small=calls.run_here,
                on_team=self._on_team,
                in_worker=calls.observes,
                weight=_WEIGHT,
            )
            return key
        submit(
            lambda: self._run_all(values, state, key, versions),  # half the cost of a `partial`
            reads,
            writes,
            device.lane,
            self.name,
            small=self._is_small,
            on_team=self._on_team,
        )
        return key

    def _push_segments(
        self,
        values: Values,
        state: State | None,
        reads: list[Var],
        writes: list[Var],
        key: Key,
        versions: Versions,
    ) -> None:
        # Each job holds the arrays that its instructions use, the first and the last the state too.
        # A variable between two jobs orders them: if one fails or is skipped, the variables behind
        # it are never written, so that the later jobs are skipped even if a wait in between raised
        # and cleared the error.
        acquired: list[Arena] = []
        order = None
        last = len(self.segments) - 1
        for i, use in enumerate(self.plan.uses):
            held = [*[reads[n] for n in use.reads], *[writes[n] for n in use.reread]]
            made = [*[writes[n] for n in use.writes], *[reads[n] for n in use.updates]]
            if state is not None and i in (0, last):
                if self.plan.reads_state:
                    held.append(state.var)
                if self.plan.writes_state:
                    made.append(state.var)
            if self._constants_var is not None and i in (0, last):
                made.append(self._constants_var)
            if order is not None:
                held.append(order)
            order = Var()
            made.append(order)
            submit(
                partial(self._run_segment, i, values, state, acquired, key, versions),
                held,
                made,
                self.device.lane,
                self.name,
                small=self._is_small,
                on_team=self._on_team,
            )
            if self.device.streams and use.writes and i < last:
                # Sums of these gradients need not wait for the rest of the backward pass.
                current_engine().mark(self.device.lane)

    def _run_all(self, values: Values, state: State | None, key: Key, versions: Versions) -> None:
        arena = self._arenas.acquire()
        cached = arena.static_views if state is None else arena.static_views_on(state)
        values += cached.get(self._number) or self._new_static_views(arena, state)
        if versions != self._prepared:
            self._prepare(values, versions)
        self._run(self._runs[0], values, key)
        if self.layout.copies:
            self._copy(values)
        self._arenas.release(arena)

    def _run_observed(self, values: Values, key: Key, versions: Versions, caller: int) -> None:
        """Run a call, and observe whether the calling thread waits for it."""
        calls = self._calls
        assert calls is not None
        calls.begin(caller)
        self._run_all(values, None, key, versions)
        calls.end()

    def _run_segment(
        self,
        index: int,
        values: Values,
        state: State | None,
        acquired: list[Arena],
        key: Key,
        versions: Versions,
    ) -> None:
        if index == 0:
            arena = self._arenas.acquire()
            acquired.append(arena)
            cached = arena.static_views if state is None else arena.static_views_on(state)
            values += cached.get(self._number) or self._new_static_views(arena, state)
            if versions != self._prepared:
                self._prepare(values, versions)
        self._run(self._runs[index], values, key)
        if index == len(self.segments) - 1:
            self._copy(values)
            self._arenas.release(acquired[0])

    def _prepare(self, values: Values, versions: Versions) -> None:
        """Compute the constant values if a constant input has changed since the last call."""
        with self._lock:
            if versions != self._prepared:
                self._prepared = None
                self._run(self.layout.prologue, values, (0, 0))
                # Packing reads the arrays of its instruction, which may be views of inputs.
                views = [x for x in self.layout.instructions if isinstance(x, ViewInstruction)]
                self._run(views, values, (0, 0))
                for instruction in self.layout.packing:
                    instruction.pack(self.device.xp, values)
                self._prepared = versions

    def _run(self, run: Run, values: Values, key: Key, /) -> None:
        if self.plan.repeats and isinstance(run, RepeatedSegment):
            run.run(self._run, self.device.xp, values, key, self.device.note)
            return
        xp, note = self.device.xp, self._note
        for instruction in run:
            if note is not None:
                note(instruction.op.name)
            try:
                instruction.run(xp, values, key)
            except Exception as raised:
                failed, error = instruction, raised
                if isinstance(raised, InstructionError):
                    failed, error = raised.instruction, raised.error
                name = failed.op.name
                detail = str(error).removeprefix(f"{name}: ")  # most kernel errors begin with it
                message = f"{failed.node.name}: {name} failed: {detail}"
                if self._lines is not None:
                    message = self._lines.located(message)
                explained = run_error(error)(message)
                if isinstance(explained, OperatorError):
                    explained.located = self._lines is not None and self._lines.locate is not None
                raise explained from error

    def _copy(self, values: Values) -> None:
        for source, target in self.layout.copies:
            values[target][...] = values[source]

    def preparations(self) -> list[Callable[[], None]]:
        """Return functions that compile the kernels of the plan, in the order of a call."""
        layout = self.layout
        every = [*layout.prologue, *layout.instructions]
        if all(x.is_prepared for x in every if isinstance(x, PlannedInstruction)):
            return []  # a call has come to all of them
        # Memory that is never accessed, so that the system provides none.
        slots = layout.slots.values()
        state = max([slot.offset + slot.nbytes for slot in slots if slot.in_state], default=0)
        arena, saved = (np.empty(nbytes, np.uint8) for nbytes in (layout.arena_nbytes, state))
        values = [None] * layout.argument_count + self.static.views(arena, saved)
        for x in every:
            specs = [value.spec for value in x.node.inputs]
            read = zip(x.reads, specs, strict=False)  # a view reads only the first input
            for index, spec in (*read, *zip(x.writes, x.node.specs, strict=True)):
                if values[index] is None:
                    values[index] = array_of(
                        np.empty(spec.nbytes, np.uint8),
                        spec,
                        channels_last=index in layout.channels_last,
                    )
        return [partial(x.prepare, values) for x in every if not isinstance(x, ViewInstruction)]

    def _new_static_views(self, arena: Arena, state: State | None) -> Values:
        """Return the static values on an arena and a state, cached for later calls on them."""
        views = self.static.views(arena.raw, None if state is None else state.raw)
        if self.plan.repeats:
            views.append({})  # CUDA graphs captured on this memory
        cache = arena.static_views if state is None else arena.static_views_on(state)
        cache[self._number] = views
        return views


def _repeated(plan: ExecutionPlan, device: Device) -> list[RepeatedSegment]:
    graphs = device.graphs
    assert graphs is not None
    return [RepeatedSegment(x, plan.origins, plan.copied, graphs) for x in plan.segments]
