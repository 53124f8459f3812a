"""Operators of graphs: each step of an executable as it runs; and the arrays of weight updates.

While the profiler runs, `Executable` runs its steps one by one here, so that each has its times and
its arrays. What a segment reads and writes is that of its steps together: read before it was
written, and written without being read again.
"""

from collections.abc import Callable, Mapping, Sequence

from gluonish.graph.chains import Chain, unchained
from gluonish.graph.executable import Executable
from gluonish.graph.steps import Frame
from gluonish.graph.steps import Step as GraphStep
from gluonish.optimizer.weight_update import Column, WeightUpdate
from gluonish.profiler.events import Step
from gluonish.profiler.operators import operands, running_job, telling
from gluonish.profiler.recorder import now

__all__ = ["observe_steps", "observe_updates"]

Key = tuple[int, int]


def observe_steps(*, wanted: bool) -> Callable[[], None]:
    """Start labelling jobs of graphs as such; return a function that stops it.

    Args:
        wanted: Whether to record the operators within each job, too.
    """
    original = Executable._run

    def run(self: Executable, steps: Sequence[GraphStep | Chain], frame: Frame, key: Key) -> None:
        job = running_job()
        if job is None:
            original(self, steps, frame, key)
            return
        if job.steps is None:
            job.steps = []
        if not wanted:
            original(self, steps, frame, key)
            return
        single = unchained(steps)
        for step in single:
            start_ns = now()
            try:
                original(self, (step,), frame, key)
            finally:
                stop_ns = now()
                inputs, outputs = (
                    operands([frame[i] for i in places if frame[i] is not None])
                    for places in (step.reads, step.writes)
                )
                node = step.node
                job.steps.append(Step(step.op.name, node.name, start_ns, stop_ns, inputs, outputs))
        read, written = _rims(single)
        job.told = operands([frame[i] for i in read]), operands([frame[i] for i in written])

    Executable._run = run  # type: ignore[method-assign]  # until `end`

    def end() -> None:
        Executable._run = original  # type: ignore[method-assign]  # as it was

    return end


def _rims(steps: Sequence[GraphStep]) -> tuple[list[int], list[int]]:
    """Return the places that steps read first, and those that they write last."""
    read: dict[int, None] = {}
    made: set[int] = set()
    last: dict[int, None] = {}
    for step in steps:
        for place in step.reads:
            last.pop(place, None)
            if place not in made:
                read[place] = None
        made.update(step.writes)
        last.update(dict.fromkeys(step.writes))
    return list(read), list(last)


def observe_updates() -> Callable[[], None]:
    """Start recording the arrays of weight updates; return a function that stops it."""
    original = WeightUpdate.push

    def push(self: WeightUpdate, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        read = [array for group in self._groups for array in group]
        written = [array for group in self._groups for array in (group[0], *group[2:])]
        with telling(read, written):
            original(self, columns, scalars)

    WeightUpdate.push = push  # type: ignore[method-assign]  # until `end`

    def end() -> None:
        WeightUpdate.push = original  # type: ignore[method-assign]  # as it was

    return end
