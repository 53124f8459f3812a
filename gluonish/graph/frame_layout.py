"""FrameLayout: where each value of a planned graph lies while a call runs.

A *frame* is one list with the raw array of every value; a value's *place* is its index there. It
begins with what each call gives: the *externals* (inputs, and what a backward graph reads of its
forward graph), then the *outputs*. The rest, its *tail*, is made once and used by call after call:
*constants*; values that lie in an *arena* or a *state* at planned offsets; and room for *views*,
which are other shapes of given values on their memory.

Some externals are *stable*: their values rarely change, as parameters at inference. What follows
from stable values only is computed by the *prologue*, into memory that all tails share.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from gluonish.core.config import MXNET_EXEC_ENABLE_INPLACE, NNVM_EXEC_MATCH_RANGE
from gluonish.core.device import Device
from gluonish.core.dtype import UINT8
from gluonish.core.memory_owners import Holder, describe_holders
from gluonish.core.out_of_memory import empty_or_refuse
from gluonish.core.spec import Spec
from gluonish.graph.ir import Node, Value
from gluonish.graph.memory_plan import Step as PlannerStep
from gluonish.graph.memory_plan import plan_memory
from gluonish.graph.state import StateUse
from gluonish.graph.steps import Frame, PlanStep, RunStep, Step, ViewStep
from gluonish.graph.strided_views import StridedView, strided_views
from gluonish.ops.kernel import FastKernel
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.memory_layout import array_of


class FrameLayout:
    """Places, steps and memory of one graph on one device.

    Args:
        nodes: Operator nodes to run, in order, with specs.
        externals: Values that each call gives, in order.
        outputs: Values that each call delivers into arrays of the caller's, in order.
        device: Where it runs.
        stable: Positions of the externals that rarely change.
        channels_last: Keys of values that lie in memory with their channels last, given and
            delivered ones included.
        state: What the graph does with a state; None if it has none.

    Attributes:
        copies: Pairs of places, from and to, for outputs and kept values that no step writes: those
            that are given or delivered twice.
        steps: In order; a step that has nothing left to do is not among them, nor is the prologue.
        prologue: Steps that depend on stable values only, in order.
        packing: Steps that compute something from stable values ahead.
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
        *,
        stable: Collection[int] = (),
        channels_last: Collection[tuple[int, int]] = (),
        state: StateUse | None = None,
    ) -> None:
        self._device = device
        self._channels_last = channels_last
        self._places = {value.key: i for i, value in enumerate(externals)}
        self._count = self._given = len(externals) + len(outputs)
        self.copies: list[tuple[int, int]] = []
        kept = {} if state is None else self._kept_places(state)
        for i, value in enumerate(outputs, len(externals)):
            if value.key in self._places or value.node.op is None:
                self.copies.append((self._place(value), i))
            else:
                self._places[value.key] = i
        self._constants: dict[int, Any] = {}
        read = [value for node in nodes for value in node.inputs]
        self._bind_constants([*read, *outputs, *(() if state is None else state.values)])
        self.random_count = 0
        self._chosen: dict[tuple[Any, ...], FastKernel | None] = {}
        steps = [self._bound(node) for node in nodes]
        self._chosen.clear()
        overwritten = {step.reads[i] for step in steps for i in _mutated_inputs(step)}
        self.mutated = [i for i in range(len(externals)) if i in overwritten]
        delivered = {*range(len(externals), self._given), *kept}
        self._stable = ({*stable, *self._constants} - overwritten) if stable else set()
        self._last_places = {self._places[key] for key in channels_last if key in self._places}
        ahead = self._ahead(steps, delivered)
        views = self._views(steps, overwritten, delivered)
        self._shared = {
            place: self._new_array(place, spec)
            for place, spec in _planned_specs(ahead, {*views}).items()
        }
        own = {*range(self._given), *views, *self._shared}
        steps = self._without_copies(steps, own | overwritten, {*delivered, *dict(self.copies)})
        self._specs = _planned_specs(steps, own | {*self._strided})
        self._specs |= {view.root: spec for view, spec in self._strided.values()}
        self._specs |= {place: spec for place, (spec, _) in kept.items()}
        lasting = kept if state is None or state.lasting else {place for place, _ in self.copies}
        plan = plan_memory(
            [self._planner_step(step) for step in steps],
            {place: spec.nbytes for place, spec in self._specs.items()},
            state={place: offset for place, (_, offset) in kept.items()},
            lasting=[place for place in lasting if place in kept],
            match_range=NNVM_EXEC_MATCH_RANGE.value,
            in_place=MXNET_EXEC_ENABLE_INPLACE.value,
        )
        self._slots = plan.slots
        self.arena_nbytes = plan.nbytes
        self._calls_place = self._count
        self._planned_count = 0
        self.prologue: list[Step] = []
        self.steps: list[Step] = []
        self._sort_steps(steps, views)
        self.packing = [
            step
            for step in self.steps
            if isinstance(step, PlanStep)
            and step.fast is not None
            and step.fast.packs
            and self._stable.intersection(step.reads)
        ]

    def _without_copies(
        self, steps: Sequence[RunStep], others: Collection[int], delivered: Collection[int]
    ) -> list[RunStep]:
        """Return the steps but for those whose outputs can be views of other values."""
        self._strided: dict[int, tuple[StridedView, Spec]] = {}
        others = {*others, *self._last_places}
        roots = _planned_specs(steps, others)
        views, idle = strided_views(steps, roots, {*roots}.difference(delivered))
        self._strided = {place: (view, roots[view.root]) for place, view in views.items()}
        return [step for i, step in enumerate(steps) if i not in idle]

    def _kept_places(self, state: StateUse) -> dict[int, tuple[Spec, int]]:
        """Return the spec and the offset in the state of each kept value, by place."""
        kept = {}
        for value, offset in zip(state.values, state.offsets, strict=True):
            place = self._count
            if value.key in self._places or value.node.array is not None:
                self._count += 1
                self.copies.append((self._place(value), place))
            else:
                self._place(value)
            kept[place] = value.spec, offset
        return kept

    def _sort_steps(self, steps: Sequence[RunStep], views: Mapping[int, ViewStep]) -> None:
        """Fill the prologue and the steps of every call; views of stable values belong to both."""
        moving = {*range(self._given), *views}
        for step in steps:
            if self._has_nothing_to_do(step):
                continue
            target = step.writes[0]
            made = views.get(target) or self._planned(step, moving)
            if target not in self._shared:
                self.steps.append(made)
            if target in self._shared or (isinstance(made, ViewStep) and target in self._stable):
                self.prologue.append(made)

    def _ahead(self, steps: Sequence[RunStep], delivered: Collection[int]) -> list[RunStep]:
        """Return the steps that depend on stable values only; what they write is stable then."""
        ahead = []
        for step in steps:
            if (
                self._stable
                and step.random is None
                and not _mutated_inputs(step)
                and self._stable.issuperset(step.reads)
                and not any(place in delivered for place in step.writes)
            ):
                ahead.append(step)
                self._stable.update(step.writes)
        return ahead

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
        draws = op.draws(node.attrs)
        random = self.random_count if draws else None
        self.random_count += draws
        attrs = {k: v for k, v in node.attrs.items() if k != "key"}
        fast = self._fast(op, tuple([v.spec for v in node.inputs]), attrs)
        reads = [self._place(value) for value in node.inputs]
        writes = [self._place(Value(node, i)) for i in range(node.num_outputs)]
        return RunStep(node, op, fast, attrs, reads, writes, random)

    def _fast(self, op: Operator, specs: Sequence[Spec], attrs: Attrs) -> FastKernel | None:
        """Return the fast kernel of a step; equal steps ask once."""
        found = self._chosen
        try:
            key = (op, specs, *attrs.items())
            if key not in found:
                found[key] = op.select_fast(self._device.platform, specs, attrs)
        except TypeError:  # control flow holds what cannot be hashed
            return op.select_fast(self._device.platform, specs, attrs)
        return found[key]

    def _planned(self, step: RunStep, moving: Collection[int]) -> RunStep:
        """Return the step with its kernel's plan, if it has one."""
        fast = step.fast
        if fast is None or fast.plan is None or step.random is not None:
            return step
        return PlanStep(step, self.new_entry(), self._calls_place, moving, self._stable)

    def new_entry(self) -> int:
        """Return the index of one more entry of the list that plans keep in each tail."""
        self._planned_count += 1
        return self._planned_count - 1

    def _views(
        self, steps: Sequence[RunStep], overwritten: set[int], delivered: Collection[int]
    ) -> dict[int, ViewStep]:
        """Return view steps, by the place they write, for other shapes of given values."""
        sources = {*range(self._given), *self._constants, *self._stable} - overwritten
        views = {}
        for step in steps:
            if not (step.op.identity and step.single):
                continue
            source, target = step.reads[0], step.writes[0]
            last = step.node.inputs[0].key in self._channels_last
            if source in sources and target not in delivered and not last:
                shape = step.node.specs[0].shape
                views[target] = ViewStep(step.node, step.op, source, target, shape)
                sources.add(target)
        return views

    def _planner_step(self, step: RunStep) -> PlannerStep:
        return PlannerStep(
            tuple([self._home(place) for place in step.reads]),
            tuple([self._home(place) for place in step.writes]),
            in_place=step.op.elementwise and self._same_layout(step),
            alias=self._is_alias(step) and step.reads[0] in self._specs,
            over=self._overwritten(step),
        )

    def _home(self, place: int) -> int:
        """Return the place of the value whose memory a value lies in."""
        return self._strided[place][0].root if place in self._strided else place

    def _overwritten(self, step: RunStep) -> int | None:
        """Return the position of the one read that the output may lie on."""
        if step.op.overwrites is None:
            return None
        position = step.op.overwrites(step.attrs)
        if position is None or step.reads.count(step.reads[position]) > 1:
            return None
        place = step.reads[position] in self._last_places
        return position if place == (step.writes[0] in self._last_places) else None

    def _same_layout(self, step: RunStep) -> bool:
        """Whether what the step reads in the shape of its output lies as that does."""
        last = (id(step.node), 0) in self._channels_last
        spec = step.node.specs[0]
        return all(
            (value.key in self._channels_last) == last
            for value in step.node.inputs
            if value.spec.nbytes == spec.nbytes
        )

    def _is_alias(self, step: RunStep) -> bool:
        """Whether the output is the same bytes as the first input."""
        identity = step.op.identity and step.single
        return identity and step.node.inputs[0].key not in self._channels_last

    def _has_nothing_to_do(self, step: RunStep) -> bool:
        """Whether a step's output lies on its input in the arena, with the same elements."""
        if not self._is_alias(step):
            return False
        source, target = (self._slots.get(place) for place in (step.reads[0], step.writes[0]))
        return source is not None and source == target

    def _new_array(self, place: int, spec: Spec) -> Any:
        raw = empty_or_refuse(self._device, (spec.nbytes,), UINT8, "packed parameters")
        return array_of(raw, spec, channels_last=place in self._last_places)

    def new_tail(self, arena: Any, state: Any = None) -> Frame:
        """Return the part of a frame behind what a call gives.

        Args:
            arena: Bytes, `arena_nbytes` or more.
            state: The state's bytes, where there is one.
        """
        tail: Frame = [None] * (self._count - self._given)
        for place, raw in (*self._constants.items(), *self._shared.items()):
            tail[place - self._given] = raw
        # Equal views are one object: of two on the same bytes, CuPy takes one for a stranger that
        # the output would overwrite, and copies it.
        views: dict[tuple[Any, ...], Any] = {}
        for place, slot in self._slots.items():
            spec, last = self._specs[place], place in self._last_places
            key = (slot.in_state, slot.offset, spec, last)
            if key not in views:
                space = state if slot.in_state else arena
                memory = space[slot.offset : slot.offset + slot.nbytes]
                views[key] = array_of(memory, spec, channels_last=last)
            tail[place - self._given] = views[key]
        for place, (view, spec) in self._strided.items():
            slot = self._slots[view.root]
            space = state if slot.in_state else arena
            memory = space[slot.offset : slot.offset + slot.nbytes]
            tail[place - self._given] = view.of(memory, spec.dtype)
        if self._planned_count:
            tail.append([None] * self._planned_count)
        return tail


def _holder(layout: FrameLayout) -> list[Holder]:
    shared = list(layout._shared.values())
    return [Holder(layout._device.context, "packed parameters of graphs", shared)]


describe_holders(FrameLayout, _holder)


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
