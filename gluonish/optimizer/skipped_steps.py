"""SkippedSteps: steps with a loss scale whose overflow check stays on the device.

A kernel tests the gradients, and the update that follows skips itself. The host learns of it later,
and does not wait. Update counts, and the rates that depend on them, must be those of the steps that
were not skipped. So the host counts as if no step was skipped. For each step without a known
outcome it keeps the progress before that step, and the rates. Kernels know how many of these steps
were skipped, and use the rates of as many updates before. When an outcome arrives, the host
restores its progress.

A program that reads the progress of an optimizer, such as ``num_update``, waits for all outcomes.
The host waits as well if it is `_MOST` steps ahead of the device, or if a step updates other
weights than the steps before it whose outcomes are unknown.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import gluonish.ndarray as nd
from gluonish.autograd import pause
from gluonish.core.context import Context
from gluonish.engine import submit
from gluonish.kernels.back_ends import step_outcomes
from gluonish.kernels.fused_updates import Column
from gluonish.kernels.loss_scale import Divides, Gate, Limits, State
from gluonish.ndarray import NDArray
from gluonish.optimizer.base import Index
from gluonish.optimizer.progress import Progress, schedule_of, settings_of
from gluonish.optimizer.rule_optimizer import RuleOptimizer
from gluonish.optimizer.weight_update import BoundUpdate, WeightUpdate

Updates = Sequence[tuple[BoundUpdate, Sequence[Index]]]

_MOST = 30  # below the numbers whose rates kernels store


class _Step(NamedTuple):
    """A step whose outcome is not known.

    Attributes:
        number: Its number, from 1 on.
        before: The progress before it, if no step without known outcome is skipped.
        columns: The rates of its updates for that progress.
    """

    number: int
    before: Progress
    columns: list[tuple[Column, ...]]


class Numbers(NamedTuple):
    """The numbers of a loss scale: those of this step and the next, and steps since a change."""

    loss_scale: float
    next_loss_scale: float
    clean: int


class SkippedSteps:
    """The steps of an optimizer on one GPU.

    Args:
        optimizer: The optimizer.
        context: The GPU.
        numbers: The loss scale to begin with.
        divisor: By what steps divide that divide as the step before.

    Attributes:
        active: Whether a step was begun and not ended.
        context: The GPU.
        optimizer: The optimizer.
        scale: The loss scale, (1,).
        state: The state of the loss scale, with the elements of `State`.
    """

    def __init__(
        self, optimizer: RuleOptimizer, context: Context, numbers: Numbers, divisor: float
    ) -> None:
        self.optimizer = optimizer
        self.context = context
        state = {State.LOSS_SCALE: numbers.loss_scale, State.NEXT: numbers.next_loss_scale}
        state |= {State.CLEAN: numbers.clean, State.DIVISOR: divisor}
        self.state = nd.array([state.get(place, 0.0) for place in State], context)
        self.scale = nd.array([numbers.loss_scale], context)
        self.active = False
        outcomes = step_outcomes(self.state._device, _MOST + 2)
        assert outcomes is not None, context
        self._outcomes = outcomes
        self._unknown: deque[_Step] = deque()
        self._count = self._skipped = 0  # steps; those of them that are known to be skipped
        self._updates: Updates = ()
        self._reads: tuple[Any, ...] = ()
        self._schedule = schedule_of(optimizer)
        self._settings = settings_of(optimizer)
        optimizer._steps = self

    def begin(self, updates: Updates, divides: Divides, limits: Limits) -> None:
        """Begin a step, which the device skips if a gradient is not finite.

        Args:
            updates: All updates of the step.
            divides: By what gradients are divided.
            limits: When and how far the loss scale changes.
        """
        self._learn()
        if self._unknown and (self._updates is not updates or len(self._unknown) >= _MOST):
            self.settle()
        self._adopt_settings(updates)
        if self._updates is not updates:
            self._bind(updates)
        self._count += 1
        self._unknown.append(_Step(self._count, Progress(self.optimizer), []))
        self.active = True
        arrays = (self.state._data, self.scale._data)
        submit(
            partial(self._outcomes.end_step, *arrays, self._count, divides, limits),
            self._reads,
            (self.state._var, self.scale._var),
            self.state._device.lane,
            "loss_scale",
            small=True,
        )

    def _bind(self, updates: Updates) -> None:
        """Set the updates of the following steps."""
        gradients = [x for update, _ in updates for x in _gradients(update)]
        submit(
            partial(self._outcomes.bind, [x._data for x in gradients]),
            (),
            (self.state._var,),
            self.state._device.lane,
            "loss_scale",
            small=True,
        )
        self._reads = (self.state._var, *(x._var for x in gradients))
        self._updates = updates

    def note(self, columns: tuple[Column, ...]) -> None:
        """Store the rates of an update of the current step."""
        self._unknown[-1].columns.append(columns)

    def push(
        self, update: BoundUpdate, columns: tuple[Column, ...], scalars: Mapping[str, float]
    ) -> None:
        """Push the update of the last `note`."""
        assert isinstance(update, WeightUpdate)
        place = len(self._unknown[-1].columns) - 1
        earlier = [step.columns[place] for step in reversed(self._unknown)]
        gate = Gate(self.state._data, self._count - self._skipped, self._skipped)
        update.push_gated(gate, self.state, [columns, *earlier[1:]], scalars)

    def end(self) -> None:
        """End a step."""
        self.active = False
        self._schedule = schedule_of(self.optimizer)
        if len(self._unknown[-1].columns) < len(self._updates):  # an update raised an error
            self._updates = ()

    def settle(self) -> None:
        """Wait for the outcomes of all steps, and correct the optimizer's progress."""
        if self.active or not self._unknown:
            return
        with pause():
            skipped = int(self.state.asnumpy()[State.SKIPPED]) - self._skipped
        self._adopt_schedule()
        for _ in range(skipped):
            self._go_back()
        self._unknown.clear()

    def leave(self) -> Numbers:
        """Wait for all steps, and detach the optimizer; return the loss scale."""
        self.settle()
        vars(self.optimizer).pop("_steps", None)
        with pause():
            state = self.state.asnumpy()
        scale, following, clean = (state[i] for i in (State.LOSS_SCALE, State.NEXT, State.CLEAN))
        return Numbers(float(scale), float(following), int(clean))

    def _learn(self) -> None:
        """Read the outcomes that have arrived."""
        unknown = self._unknown
        while unknown:
            outcome = self._outcomes.of(unknown[0].number)
            if outcome is None:
                return
            self._adopt_schedule()
            if outcome:
                self._go_back()
            else:
                unknown.popleft()

    def _go_back(self) -> None:
        """Count a skipped step: the progress is that of one update before.

        The first of the unknown steps becomes known, but it is the progress before the last one
        that becomes current, so the numbers of steps move by one.
        """
        last = self._unknown.pop()
        last.before.restore(self.optimizer)
        self._schedule = schedule_of(self.optimizer)
        self._skipped += 1
        for place, step in enumerate(self._unknown):
            self._unknown[place] = step._replace(number=step.number + 1)

    def _adopt_schedule(self) -> None:
        """Apply what a program changed in the scheduler since the last step to earlier progress."""
        current = schedule_of(self.optimizer)
        if current == self._schedule:
            return
        last = self._schedule
        changed = {k: v for k, v in current.items() if k not in last or last[k] != v}
        for step in self._unknown:
            step.before.schedule.update(changed)
        self._schedule = current
        self._settings = None

    def _adopt_settings(self, updates: Updates) -> None:
        """Compute the rates of unknown steps anew if the settings have changed."""
        self._adopt_schedule()
        optimizer, settings = self.optimizer, settings_of(self.optimizer)
        if self._unknown and (settings is None or settings != self._settings):
            current = Progress(optimizer)
            self.active = True
            for step in self._unknown:
                step.before.restore(optimizer)
                step.columns[:] = [optimizer.advance(*update) for update in updates]
            self.active = False
            current.restore(optimizer)
        self._settings = settings


def _gradients(update: BoundUpdate) -> Sequence[NDArray]:
    assert isinstance(update, WeightUpdate)
    return update.gradients
