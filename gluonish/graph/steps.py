"""Steps of an executable: what runs on a frame, one after the other.

A *frame* is one list with the raw array of every value of a call; a value's *place* is its index
there. A step reads and writes places.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gluonish.core.spec import Shape
from gluonish.graph.ir import Node
from gluonish.ops.kernel import Attached, FastKernel, Key
from gluonish.ops.registry import Operator

Frame = list[Any]


class RunStep:
    """A kernel, and the places in the frame of what it reads and writes.

    Attributes:
        node: What it computes, for messages.
        fast: The fast kernel; None for the reference kernel.
        random: Which of the call's random keys it uses; None if it draws nothing.
    """

    __slots__ = ("attrs", "fast", "kernel", "node", "op", "random", "reads", "single", "writes")

    def __init__(
        self,
        node: Node,
        op: Operator,
        fast: FastKernel | None,
        attrs: Mapping[str, Any],
        reads: Sequence[int],
        writes: Sequence[int],
        random: int | None,
    ) -> None:
        self.node = node
        self.op = op
        self.fast = fast
        self.kernel = op.kernel if fast is None else fast.kernel
        self.attrs = attrs
        self.reads = reads
        self.writes = writes
        self.single = op.single
        self.random = random

    def run(self, xp: Any, frame: Frame, key: Key) -> None:
        """Run the kernel; ``key`` is where the call's random numbers start."""
        out = frame[self.writes[0]] if self.single else tuple([frame[i] for i in self.writes])
        inputs = [frame[i] for i in self.reads]
        if self.random is None:
            self.kernel(xp, out, *inputs, **self.attrs)
        else:
            own = (key[0], key[1] + self.random)
            self.kernel(xp, out, *inputs, **self.attrs, key=own)


class ViewStep:
    """Another shape of a value that the call gives: no copy, only a view."""

    __slots__ = ("node", "op", "reads", "shape", "writes")

    def __init__(self, node: Node, op: Operator, source: int, target: int, shape: Shape) -> None:
        self.node = node
        self.op = op
        self.reads = (source,)
        self.writes = (target,)
        self.shape = shape

    def run(self, xp: Any, frame: Frame, key: Key) -> None:
        """Put the view into the frame."""
        frame[self.writes[0]] = frame[self.reads[0]].reshape(self.shape)


class PlanStep(RunStep):
    """A step whose kernel plans ahead: the first call on some memory looks everything up.

    Args:
        step: The step without a plan; its fast kernel has one.
        index: The step's entry in the list at the place ``calls`` of the frame. That list belongs
            to one memory of the executable, and holds what runs the step there.
        calls: See ``index``.
        moving: Places whose arrays may lie elsewhere at the next call.
        stable: Places whose values rarely change; what depends on them only is computed by `pack`.
    """

    __slots__ = ("_packing", "calls", "index", "moving", "stable")

    def __init__(
        self,
        step: RunStep,
        index: int,
        calls: int,
        moving: Collection[int],
        stable: Collection[int],
    ) -> None:
        super().__init__(
            *(step.node, step.op, step.fast, step.attrs, step.reads, step.writes, step.random)
        )
        self.index = index
        self.calls = calls
        self.moving = moving
        self.stable = stable
        self._packing: Any = None

    def run(self, xp: Any, frame: Frame, key: Key) -> None:
        """Run the plan on the frame."""
        attached = frame[self.calls][self.index]
        if attached is None:
            attached = self._attach(xp, frame)
        attached.run(frame)

    def pack(self, xp: Any, frame: Frame) -> None:
        """Compute what depends on stable values only; one thread at a time."""
        attached = frame[self.calls][self.index]
        if attached is None:
            attached = self._attach(xp, frame)
        attached.pack(frame)

    def _attach(self, xp: Any, frame: Frame) -> Attached:
        places = [*self.writes, *self.reads]
        outputs = [frame[i] for i in self.writes]
        assert self.fast is not None
        bound = self.op.plan(self.fast, outputs, [frame[i] for i in self.reads], self.attrs)
        if bound is None:
            attached: Attached = _Unplanned(self, xp)
        else:
            operands = bound.order(places)
            stable = [i for i, place in enumerate(operands) if place in self.stable]
            if stable and self._packing is None:
                self._packing = bound.plan.packing(stable)
            attached = bound.plan.attach(operands, frame, self.moving, self._packing)
        frame[self.calls][self.index] = attached
        return attached


class _Unplanned:
    """Runs the kernel of a step that was refused a plan; it hands on what it refuses."""

    __slots__ = ("_step", "_xp")

    def __init__(self, step: PlanStep, xp: Any) -> None:
        self._step = step
        self._xp = xp

    def run(self, arrays: Any) -> None:
        RunStep.run(self._step, self._xp, arrays, (0, 0))

    def pack(self, arrays: Any) -> None:
        """Nothing is kept."""


Step = RunStep | ViewStep
