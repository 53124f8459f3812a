"""Executable: a graph bound to kernels and memory, run as a few engine jobs.

An arena, with the tail of a frame on it, belongs to one call at a time: it is taken when the call's
first step runs and goes back after its last, so that calls from several threads never meet in
memory. A call that fails leaves it to the garbage collector.

What follows from stable inputs (parameters at inference) is computed by the first call after they
changed, under a lock: the versions of their variables tell. It is kept for all calls. Nobody reads
it meanwhile, because a writer of a parameter has waited for all calls that read it. A handler or a
destructor in the middle of that may call the network, too: it takes the lock again and computes all
of it, and what was interrupted then writes the same values once more.
"""

from collections.abc import Collection, Sequence
from functools import partial

from gluonish.core.device import Device
from gluonish.core.errors import run_error
from gluonish.core.random_state import next_key
from gluonish.core.timeout_lock import Turn
from gluonish.engine import current_engine, submit
from gluonish.graph.arenas import Arena, Arenas
from gluonish.graph.chains import Chain, StepError, chained
from gluonish.graph.frame_layout import FrameLayout
from gluonish.graph.ir import Node, Value
from gluonish.graph.replays import MOST_COPIED, RepeatedSegment
from gluonish.graph.segment_use import origins, segment_uses
from gluonish.graph.source_lines import SourceLines
from gluonish.graph.state import State, StateUse
from gluonish.graph.steps import Frame, Step, ViewStep
from gluonish.graph.work import is_light, is_small
from gluonish.ndarray.ndarray import NDArray
from gluonish_engine import Var

Key = tuple[int, int]
Steps = Sequence[Step]
Versions = list[tuple[Var, int]]


class Executable:
    """A plan for one set of input specs on one device.

    Args:
        nodes: Operator nodes to run, in order, with specs.
        externals: Values that each call gives, in order.
        outputs: Values that each call delivers into arrays of the caller's, in order.
        device: Where it runs.
        arenas: Memory for intermediate values; other executables may take it in turn.
        segment_size: Most steps in one engine job, at least 1.
        name: For engine jobs and errors.
        lines: Where the nodes were made, for errors.
        stable: Positions of the externals that rarely change.
        channels_last: Keys of values that lie in memory with their channels last.
        state: What a call does with the state that it is given; None if it takes none.
        repeats: Whether a device that can captures the steps, and repeats them by a call each job.
        moving: Positions of the externals, then of the outputs behind them, whose arrays are others
            at each call.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        externals: Sequence[Value],
        outputs: Sequence[Value],
        device: Device,
        *,
        arenas: Arenas,
        segment_size: int,
        name: str,
        lines: SourceLines | None = None,
        stable: Collection[int] = (),
        channels_last: Collection[tuple[int, int]] = (),
        state: StateUse | None = None,
        repeats: bool = False,
        moving: Collection[int] = (),
    ) -> None:
        self.device = device
        self.name = name
        self._lines = lines
        self._note = device.note if device.streams else None
        self.layout = FrameLayout(
            nodes,
            externals,
            outputs,
            device,
            stable=stable,
            channels_last=channels_last,
            state=state,
        )
        self._reads_state = state is not None and state.given
        self._writes_state = state is not None and not (state.given and state.lasting)
        has_prologue = self.layout.prologue or self.layout.packing
        self._stable = sorted(stable) if has_prologue else []
        # The versions that the prologue's values are of; without a prologue, those of no variables.
        self._prepared: Versions | None = None if has_prologue else []
        self._turn = Turn()  # to prepare
        light = is_light(nodes)
        self._on_team = not light and device.is_host
        self._small = light or (self._on_team and is_small(nodes))
        self._arenas = arenas
        self._number = arenas.join(self.layout.arena_nbytes)
        steps = self.layout.steps
        self.segments: list[Steps] = [
            steps[i : i + segment_size] for i in range(0, len(steps), segment_size)
        ] or [()]
        # The same steps, as they run.
        self._runs: list[Sequence[Step | Chain]]
        self._repeats = repeats and device.graphs is not None
        if repeats and device.graphs is not None:
            values = [*externals, *outputs]
            given = origins(steps, len(values))
            copied = {i for i in moving if values[i].spec.nbytes <= MOST_COPIED}
            self._runs = [
                RepeatedSegment(one, given, copied, device.graphs) for one in self.segments
            ]
        else:
            self._runs = [chained(self.layout, segment) for segment in self.segments]
        self._uses = segment_uses(
            self.layout, self.segments, len(externals), len(outputs), self._stable
        )

    def __call__(
        self,
        externals: Sequence[NDArray],
        outputs: Sequence[NDArray],
        state: State | None = None,
        key: Key | None = None,
    ) -> Key:
        """Push the steps to the engine.

        Args:
            externals: Arrays for the external values.
            outputs: Allocated arrays that receive the outputs.
            state: For an executable that uses one.
            key: Where the random numbers of an earlier call started, to draw them again.

        Returns:
            The key that the call's random numbers start from.
        """
        # One loop for two lists is cheaper than two comprehensions, whatever their length.
        frame, reads, writes = [], [], []
        for x in externals:
            frame.append(x._data)
            reads.append(x._var)
        for y in outputs:
            frame.append(y._data)
            writes.append(y._var)
        return self.submit(frame, reads, writes, state, key)

    def run_here(self, frame: Frame, key: Key) -> None:
        """Run all steps in the calling thread, as part of an engine job that holds the arrays.

        Args:
            frame: Raw arrays of the external values and of the outputs; the executable keeps it.
            key: Where the random numbers start.
        """
        arena = self._arenas.take()
        frame += arena.tails.get(self._number) or self._new_tail(arena, None)
        for steps in self._runs:
            self._run(steps, frame, key)
        if self.layout.copies:
            self._copy(frame)
        self._arenas.give(arena)

    def submit(
        self,
        frame: Frame,
        reads: list[Var],
        writes: list[Var],
        state: State | None = None,
        key: Key | None = None,
    ) -> Key:
        """Push the steps to the engine; the executable keeps the lists.

        Args:
            frame: Raw arrays of the external values and of the outputs.
            reads: Variables of the external values.
            writes: Variables of the outputs.
            state: For an executable that uses one.
            key: Where the random numbers of an earlier call started, to draw them again.

        Returns:
            The key that the call's random numbers start from.
        """
        layout, device = self.layout, self.device
        versions: Versions = []
        if self._stable:
            versions = [(reads[i], reads[i].version) for i in self._stable]
        if key is None:
            key = (0, 0)
            if layout.random_count:
                key = next_key(device.context, layout.random_count)
        if len(self.segments) > 1:
            self._push_segments(frame, state, reads, writes, key, versions)
            return key
        if layout.mutated:
            writes += [reads[i] for i in layout.mutated]
        if state is not None:
            if self._reads_state:
                reads.append(state.var)
            if self._writes_state:
                writes.append(state.var)
        submit(
            lambda: self._run_all(frame, state, key, versions),  # half the price of a `partial`
            reads,
            writes,
            device.lane,
            self.name,
            small=self._small,
            on_team=self._on_team,
        )
        return key

    def _push_segments(
        self,
        frame: Frame,
        state: State | None,
        reads: list[Var],
        writes: list[Var],
        key: Key,
        versions: Versions,
    ) -> None:
        # Each job holds the arrays that its own steps touch, the first and the last the state too.
        # A link between two jobs orders them: if one fails or is skipped, the links behind it are
        # never written, so that no raise in between can forgive that to the jobs that follow.
        taken: list[Arena] = []
        link = None
        last = len(self.segments) - 1
        for i, use in enumerate(self._uses):
            held = [*[reads[n] for n in use.reads], *[writes[n] for n in use.reread]]
            made = [*[writes[n] for n in use.writes], *[reads[n] for n in use.updates]]
            if state is not None and i in (0, last):
                if self._reads_state:
                    held.append(state.var)
                if self._writes_state:
                    made.append(state.var)
            if link is not None:
                held.append(link)
            link = Var()
            made.append(link)
            submit(
                partial(self._run_segment, i, frame, state, taken, key, versions),
                held,
                made,
                self.device.lane,
                self.name,
                small=self._small,
                on_team=self._on_team,
            )
            if self.device.streams and use.writes and i < last:
                # Sums of these gradients need not come behind the rest of the backward pass.
                current_engine().mark(self.device.lane)

    def _run_all(self, frame: Frame, state: State | None, key: Key, versions: Versions) -> None:
        arena = self._arenas.take()
        tails = arena.tails if state is None else arena.tails_on(state)
        frame += tails.get(self._number) or self._new_tail(arena, state)
        if versions != self._prepared:
            self._prepare(frame, versions)
        self._run(self._runs[0], frame, key)
        if self.layout.copies:
            self._copy(frame)
        self._arenas.give(arena)

    def _run_segment(
        self,
        index: int,
        frame: Frame,
        state: State | None,
        taken: list[Arena],
        key: Key,
        versions: Versions,
    ) -> None:
        if index == 0:
            arena = self._arenas.take()
            taken.append(arena)
            tails = arena.tails if state is None else arena.tails_on(state)
            frame += tails.get(self._number) or self._new_tail(arena, state)
            if versions != self._prepared:
                self._prepare(frame, versions)
        self._run(self._runs[index], frame, key)
        if index == len(self.segments) - 1:
            self._copy(frame)
            self._arenas.give(taken[0])

    def _prepare(self, frame: Frame, versions: Versions) -> None:
        """Compute what follows from stable inputs, if they changed since the last time."""
        with self._turn:
            if versions != self._prepared:
                self._prepared = None
                self._run(self.layout.prologue, frame, (0, 0))
                # Packing looks at the arrays of its step, which may be other shapes of inputs.
                views = [step for step in self.layout.steps if isinstance(step, ViewStep)]
                self._run(views, frame, (0, 0))
                for step in self.layout.packing:
                    step.pack(self.device.xp, frame)
                self._prepared = versions

    def _run(self, steps: Sequence[Step | Chain], frame: Frame, key: Key) -> None:
        if self._repeats and isinstance(steps, RepeatedSegment):
            steps.run(self._run, self.device.xp, frame, key, self.device.note)
            return
        xp, note = self.device.xp, self._note
        for step in steps:
            if note is not None:
                note(step.op.name)
            try:
                step.run(xp, frame, key)
            except Exception as raised:
                failed, error = step, raised
                if isinstance(raised, StepError):
                    failed, error = raised.step, raised.error
                name = failed.op.name
                detail = str(error).removeprefix(f"{name}: ")  # most kernels' errors begin with it
                message = f"{failed.node.name}: {name} failed: {detail}"
                if self._lines is not None:
                    message = self._lines.completed(message)
                raise run_error(error)(message) from error

    def _copy(self, frame: Frame) -> None:
        """Make the copies that are left."""
        for source, target in self.layout.copies:
            frame[target][...] = frame[source]

    def _new_tail(self, arena: Arena, state: State | None) -> Frame:
        """Return the tail of a frame on an arena and a state, and keep it there."""
        tail = self.layout.new_tail(arena.raw, None if state is None else state.raw)
        if self._repeats:
            tail.append({})  # what is known of launches on this memory
        tails = arena.tails if state is None else arena.tails_on(state)
        tails[self._number] = tail
        return tail
