"""Executable: a graph bound to kernels and memory, run as a few engine jobs.

A frame and its arena belong to one call at a time: they are taken from a pool when the call's first
step runs and go back after its last, so that calls from several threads never meet in memory. A
call that fails leaves its frame to the garbage collector.
"""

from collections.abc import Callable, Sequence
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
        self.segments = [
            _Segment(self.layout, steps[i : i + segment_size])
            for i in range(0, len(steps), segment_size)
        ] or [_Segment(self.layout, ())]
        self.segments[-1].add_outputs(self.layout, [copy for _, copy in self.layout.copies])

    def __call__(self, externals: Sequence[NDArray], outputs: Sequence[NDArray]) -> tuple[int, int]:
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
        engine = current_engine()
        if len(self.segments) == 1:
            if layout.mutated:
                writes += [reads[i] for i in layout.mutated]
            engine.push(call.run_all, reads, writes, device.lane, 0, self.name, self.inline)
            return key
        # It orders the call's jobs, and an error in one keeps the later ones from running.
        frame_var = Var()
        for i, segment in enumerate(self.segments):
            engine.push(
                call.job(i),
                [frame_var, *[reads[k] for k in segment.reads]],
                [
                    frame_var,
                    *[writes[k] for k in segment.writes],
                    *[reads[k] for k in segment.mutates],
                ],
                device.lane,
                0,
                self.name,
                self.inline,
            )
        return key

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


class _Segment:
    """The steps of one engine job, and what of the call's arrays they touch.

    Attributes:
        reads: Positions among the externals.
        writes: Positions among the outputs; an output that a later step of the call reads is
            ordered by the frame's variable.
        mutates: Positions among the externals that are overwritten.
    """

    __slots__ = ("mutates", "reads", "steps", "writes")

    def __init__(self, layout: FrameLayout, steps: Steps) -> None:
        self.steps = steps
        touched = {place for step in steps for place in step.reads}
        written = {place for step in steps for place in step.writes}
        overwritten = {
            step.reads[i]
            for step in steps
            if isinstance(step, RunStep)
            for i in step.op.mutated_inputs(step.attrs)
        }
        self.reads = [i for i, place in enumerate(layout.externals) if place in touched]
        self.writes = [i for i, place in enumerate(layout.outputs) if place in written]
        self.mutates = [i for i in layout.mutated if layout.externals[i] in overwritten]

    def add_outputs(self, layout: FrameLayout, places: Sequence[int]) -> None:
        """Count outputs that are copied after the steps as written here."""
        self.writes += [i for i, place in enumerate(layout.outputs) if place in places]
