"""Executable: a graph bound to kernels and memory, run as a few engine jobs.

A frame and its arena belong to one call at a time: they are taken from a pool when the call's first
step runs and go back after its last, so that calls from several threads never meet in memory. A
call that fails leaves its frame to the garbage collector.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from gluonish_engine import Var

from gluonish.core.device import Device
from gluonish.core.errors import OperatorError
from gluonish.core.random_state import next_key
from gluonish.engine import current_engine
from gluonish.graph.frame_layout import Frame, FrameLayout, RunStep, ViewStep
from gluonish.graph.ir import Node, Value
from gluonish.ndarray.eager import HEAVY_INLINE_SIZE
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE, NDArray

__all__ = ["Executable"]

_MAX_IDLE_FRAMES = 8  # more calls at once than this allocate; keeps memory bounded after a burst
_MAX_INLINE_STEPS = 32

Key = tuple[int, int]
Steps = Sequence[RunStep | ViewStep]


class Executable:
    """A plan for one set of input specs on one device.

    Args:
        nodes: Operator nodes to run, in order, with specs.
        externals: Values that each call gives, in order.
        outputs: Values that each call delivers into arrays of the caller's, in order.
        device: Where it runs.
        static_alloc: Keep frames between calls.
        segment_size: Most steps in one engine job, at least 1.
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
        self.layout = FrameLayout(nodes, externals, outputs, device)
        self.inline = _is_light(nodes)
        self._static_alloc = static_alloc
        self._idle: list[Frame] = []
        steps = self.layout.steps
        self.segments: list[Steps] = [
            steps[i : i + segment_size] for i in range(0, len(steps), segment_size)
        ] or [()]

    def __call__(self, externals: Sequence[NDArray], outputs: Sequence[NDArray]) -> Key:
        """Push the steps to the engine.

        Args:
            externals: Arrays for the external values.
            outputs: Allocated arrays that receive the outputs.

        Returns:
            The key that the call's random numbers start from.
        """
        layout, device = self.layout, self.device
        key = (0, 0)
        if layout.random_count:
            key = next_key(device.context, layout.random_count)
        call = _Call(self, [x._data for x in externals], [y._data for y in outputs], key)
        reads = [x._var for x in externals]
        writes = [y._var for y in outputs]
        if layout.mutated:
            writes += [reads[i] for i in layout.mutated]
        if len(self.segments) > 1:
            self._push_segments(call, reads, writes)
        else:
            current_engine().push(
                call.run_all, reads, writes, device.lane, 0, self.name, self.inline
            )
        return key

    def _push_segments(self, call: "_Call", reads: list[Var], writes: list[Var]) -> None:
        # It orders the jobs, and an error in one keeps the later ones from running. The first and
        # the last job hold the call's arrays: whoever comes later waits for the last.
        frame_var = Var()
        last = len(self.segments) - 1
        mutated = writes[len(call.outputs) :]
        for i in range(last + 1):
            outer = i in (0, last)
            current_engine().push(
                partial(call.run_segment, i),
                [frame_var, *reads] if outer else [frame_var],
                [frame_var, *(writes if outer else mutated)],
                self.device.lane,
                0,
                self.name,
                self.inline,
            )

    def take_frame(self) -> Frame:
        """Return a frame that no other call uses."""
        try:
            return self._idle.pop()
        except IndexError:
            return self.layout.new_frame()

    def return_frame(self, frame: Frame) -> None:
        """Take a frame back after a call."""
        if self._static_alloc and len(self._idle) < _MAX_IDLE_FRAMES:
            for place in self.layout.transient:
                frame[place] = None
            self._idle.append(frame)


class _Call:
    """One call of an executable, shared by its engine jobs."""

    __slots__ = ("executable", "externals", "frame", "key", "outputs")

    def __init__(
        self,
        executable: Executable,
        externals: Sequence[Any],
        outputs: Sequence[Any],
        key: Key,
    ) -> None:
        self.executable = executable
        self.externals = externals
        self.outputs = outputs
        self.key = key
        self.frame: Frame = []

    def run_all(self) -> None:
        """Run everything in one job."""
        self._begin()
        self._run(self.executable.segments[0])
        self._end()

    def run_segment(self, index: int) -> None:
        """Run the job of one segment."""
        segments = self.executable.segments
        if index == 0:
            self._begin()
        self._run(segments[index])
        if index == len(segments) - 1:
            self._end()

    def _begin(self) -> None:
        """Take a frame and put in what the caller gave."""
        layout = self.executable.layout
        self.frame = frame = self.executable.take_frame()
        for place, raw in zip(layout.externals, self.externals, strict=True):
            frame[place] = raw
        for place, raw in zip(layout.outputs, self.outputs, strict=True):
            frame[place] = raw

    def _run(self, steps: Steps) -> None:
        xp = self.executable.device.xp
        frame, key = self.frame, self.key
        try:
            for step in steps:
                step(xp, frame, key)
        except Exception as error:
            raise OperatorError(f"{step.node.name}: {step.op.name} failed: {error}") from error

    def _end(self) -> None:
        """Make the copies that are left, and give the frame back."""
        frame = self.frame
        for source, target in self.executable.layout.copies:
            frame[target][...] = frame[source]
        self.executable.return_frame(frame)


def _is_light(nodes: Sequence[Node]) -> bool:
    """Whether the whole call is too little work for a hand-over to another thread."""
    light = heavy = 0
    for node in nodes:
        size = sum(spec.size for spec in node.specs)
        if node.op is not None and node.op.heavy:
            heavy += size
        else:
            light += size
    return (
        light <= LIGHT_INLINE_SIZE
        and heavy <= HEAVY_INLINE_SIZE
        and len(nodes) <= _MAX_INLINE_STEPS
    )
