"""FrameLayout: where each value of a planned graph lies while a call runs.

A *frame* is one list with the raw array of every value; a value's *place* is its index there. It
begins with what each call gives: the *externals* (inputs, and what a backward graph reads of its
forward graph), then the *outputs*. The rest, its *tail*, is made once and used by call after call:
*constants*; values that lie in an *arena* at planned offsets; and room for *views*, which are other
shapes of given values on their memory.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_EXEC_ENABLE_INPLACE, NNVM_EXEC_MATCH_RANGE
from gluonish.core.device import Device
from gluonish.core.spec import Shape, Spec
from gluonish.graph.ir import Node, Value
from gluonish.graph.memory_plan import Step, plan_memory
from gluonish.ops.registry import Operator

__all__ = ["Frame", "FrameLayout", "RunStep", "ViewStep"]

Frame = list[Any]
Key = tuple[int, int]


class RunStep:
    """A kernel, and the places in the frame of what it reads and writes.

    Attributes:
        node: What it computes, for messages.
        random: Which of the call's random keys it uses; None if it draws nothing.
    """

    __slots__ = ("attrs", "kernel", "node", "op", "random", "reads", "single", "writes")

    def __init__(
        self,
        node: Node,
        op: Operator,
        kernel: Callable[..., None],
        attrs: Mapping[str, Any],
        reads: Sequence[int],
        writes: Sequence[int],
        random: int | None,
    ) -> None:
        self.node = node
        self.op = op
        self.kernel = kernel
        self.attrs = attrs
        self.reads = reads
        self.writes = writes
        self.single = op.single
        self.random = random

    def __call__(self, xp: Any, frame: Frame, key: Key) -> None:
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

    def __call__(self, xp: Any, frame: Frame, key: Key) -> None:
        """Put the view into the frame."""
        frame[self.writes[0]] = frame[self.reads[0]].reshape(self.shape)


class FrameLayout:
    """Places, steps and memory of one graph on one device.

    Args:
        nodes: Operator nodes to run, in order, with specs.
        externals: Values that each call gives, in order.
        outputs: Values that each call delivers into arrays of the caller's, in order.
        device: Where it runs.

    Attributes:
        copies: Pairs of places, from and to, for outputs that no step writes: those that are given
            or delivered twice.
        steps: In order; a step that has nothing left to do is not among them.
        mutated: Positions of the externals that a step overwrites.
        random_count: How many random keys a call uses.
        arena_nbytes: Size of the arena.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        externals: Sequence[Value],
        outputs: Sequence[Value],
        device: Device,
    ) -> None:
        self._device = device
        self._places = {value.key: i for i, value in enumerate(externals)}
        self._count = self._given = len(externals) + len(outputs)
        self.copies: list[tuple[int, int]] = []
        for i, value in enumerate(outputs, len(externals)):
            if value.key in self._places or value.node.op is None:
                self.copies.append((self._place(value), i))
            else:
                self._places[value.key] = i
        self._constants: dict[int, Any] = {}
        self._bind_constants([*(value for node in nodes for value in node.inputs), *outputs])
        self.random_count = 0
        steps = [self._bound(node) for node in nodes]
        overwritten = {step.reads[i] for step in steps for i in _mutated_inputs(step)}
        self.mutated = [i for i in range(len(externals)) if i in overwritten]
        views = self._views(steps, overwritten, range(len(externals), self._given))
        self._specs = _planned_specs(steps, {*range(self._given), *views})
        plan = plan_memory(
            [self._planner_step(step) for step in steps],
            {place: spec.nbytes for place, spec in self._specs.items()},
            match_range=NNVM_EXEC_MATCH_RANGE.value,
            in_place=MXNET_EXEC_ENABLE_INPLACE.value,
        )
        self._slots = plan.slots
        self.arena_nbytes = plan.nbytes
        self.steps: list[RunStep | ViewStep] = [
            views.get(step.writes[0], step) for step in steps if not self._has_nothing_to_do(step)
        ]

    def _place(self, value: Value) -> int:
        place = self._places.get(value.key)
        if place is None:
            place = self._places[value.key] = self._count
            self._count += 1
        return place

    def _bind_constants(self, values: Iterable[Value]) -> None:
        for value in values:
            if value.node.array is not None and self._place(value) not in self._constants:
                array = value.node.array.as_in_context(self._device.context)
                array.wait_to_read()
                self._constants[self._place(value)] = array._data

    def _bound(self, node: Node) -> RunStep:
        op = node.op
        assert op is not None
        random = self.random_count if op.random else None
        self.random_count += op.random
        attrs = {k: v for k, v in node.attrs.items() if k != "key"}
        kernel = op.select_kernel(self._device.xp_name, [v.spec for v in node.inputs], attrs)
        reads = [self._place(value) for value in node.inputs]
        writes = [self._place(Value(node, i)) for i in range(node.num_outputs)]
        return RunStep(node, op, kernel, attrs, reads, writes, random)

    def _views(
        self, steps: Sequence[RunStep], overwritten: set[int], delivered: range
    ) -> dict[int, ViewStep]:
        """Return view steps, by the place they write, for other shapes of given values."""
        sources = {*range(self._given), *self._constants} - overwritten
        views = {}
        for step in steps:
            if not (step.op.identity and step.single):
                continue
            source, target = step.reads[0], step.writes[0]
            if source in sources and target not in delivered:
                shape = step.node.specs[0].shape
                views[target] = ViewStep(step.node, step.op, source, target, shape)
                sources.add(target)
        return views

    def _planner_step(self, step: RunStep) -> Step:
        return Step(
            tuple(step.reads),
            tuple(step.writes),
            in_place=step.op.elementwise and step.single,
            alias=step.op.identity and step.single and step.reads[0] in self._specs,
        )

    def _has_nothing_to_do(self, step: RunStep) -> bool:
        """Whether a step's output lies on its input in the arena, with the same elements."""
        if not (step.op.identity and step.single):
            return False
        source, target = (self._slots.get(place) for place in (step.reads[0], step.writes[0]))
        return source is not None and source == target

    def new_tail(self) -> Frame:
        """Return the part of a frame behind what a call gives: constants and an arena."""
        tail: Frame = [None] * (self._count - self._given)
        for place, raw in self._constants.items():
            tail[place - self._given] = raw
        arena = self._device.empty((self.arena_nbytes,), np.dtype(np.uint8))
        for place, slot in self._slots.items():
            spec = self._specs[place]
            raw = arena[slot.offset : slot.offset + slot.nbytes]
            tail[place - self._given] = raw.view(spec.dtype).reshape(spec.shape)
        return tail


def _mutated_inputs(step: RunStep) -> tuple[int, ...]:
    return step.op.mutated_inputs(step.attrs)


def _planned_specs(steps: Sequence[RunStep], given: set[int]) -> dict[int, Spec]:
    """Return the specs of the values that need memory of the plan's, by place."""
    return {
        place: spec
        for step in steps
        for place, spec in zip(step.writes, step.node.specs, strict=True)
        if place not in given
    }
