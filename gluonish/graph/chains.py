"""Chains: neighbouring steps of one library that run as one, so that Python is left once for all.

A step of a plan costs some 3 us beside what its primitive costs; a chain of them costs that once.
That is 3 to 4 % of MobileNet v2 in 8 bits at batch size 1 (benchmarks/cpu/chained_steps.py).
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from gluonish.graph.frame_layout import FrameLayout
from gluonish.graph.steps import Frame, PlanStep, Step
from gluonish.ops.kernel import Attached, Joinable, Key


class StepError(Exception):
    """A step of a chain failed that ran by itself.

    Args:
        step: The step.
        error: What it raised.
    """

    def __init__(self, step: PlanStep, error: Exception) -> None:
        super().__init__(step.node.name)
        self.step = step
        self.error = error


class _Named(NamedTuple):
    """What messages call a chain."""

    name: str


class Chain:
    """Steps that run as one, once each of them has run on some memory.

    Args:
        steps: Two or more, neighbours.
        index: The chain's entry in the list that the steps' own entries are in.
    """

    __slots__ = ("_index", "node", "op", "steps")

    def __init__(self, steps: Sequence[PlanStep], index: int) -> None:
        self.steps = steps
        self._index = index
        first, last = steps[0].node.name, steps[-1].node.name
        self.node = _Named(f"one of {len(steps)} steps from {first} to {last}")
        self.op = _Named(f"{steps[0].op.name} .. {steps[-1].op.name}")

    def run(self, xp: Any, frame: Frame, key: Key) -> None:
        """Run all steps; one by one where they have never run before.

        Raises:
            StepError: One of them failed that ran by itself.
            Exception: What steps raise that ran as one.
        """
        entries = frame[self.steps[0].calls]
        joined = entries[self._index]
        if joined is not None:
            joined.run(frame)
            return
        for step in self.steps:
            try:
                step.run(xp, frame, key)
            except Exception as error:
                raise StepError(step, error) from error
        entries[self._index] = _Parts([(entries[step.index], step) for step in self.steps])


class _Parts:
    """What has been attached, joined where that can be."""

    __slots__ = ("_parts",)

    def __init__(self, attached: Sequence[tuple[Attached, PlanStep]]) -> None:
        self._parts: list[tuple[Attached, PlanStep | None]] = []
        for _, group in groupby(attached, lambda pair: type(pair[0])):
            members = list(group)
            first = members[0][0]
            if isinstance(first, Joinable) and len(members) > 1:
                self._parts.append((first.joined([one for one, _ in members]), None))
            else:
                self._parts += members

    def run(self, frame: Frame) -> None:
        for part, step in self._parts:
            try:
                part.run(frame)
            except Exception as error:
                if step is None:
                    raise
                raise StepError(step, error) from error


def chained(layout: FrameLayout, steps: Sequence[Step]) -> list[Step | Chain]:
    """Return the steps with chains in place of neighbours that one library plans.

    Args:
        layout: That of the steps, which makes room for what the chains keep.
        steps: Those of one segment.
    """
    found: list[Step | Chain] = []
    for joins, group in groupby(steps, _joins):
        members = list(group)
        if joins and len(members) > 1:
            found.append(Chain(members, layout.new_entry()))  # type: ignore[arg-type]  # PlanSteps
        else:
            found += members
    return found


def unchained(steps: Sequence[Step | Chain]) -> list[Step]:
    """Return the steps with those of chains in their place."""
    found: list[Step] = []
    for step in steps:
        found += step.steps if isinstance(step, Chain) else [step]
    return found


def _joins(step: Step) -> bool:
    return isinstance(step, PlanStep) and step.fast is not None and step.fast.back_end.joins_calls
