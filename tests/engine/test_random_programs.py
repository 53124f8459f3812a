"""Random programs of reads and writes: threaded engines give exactly what the naive one gives."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from gluonish_engine import Engine, EngineError, Var, create_engine

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("eager_switching")]

VARS = 4
LANES = (
    ("cpu", 0, "compute"),
    ("cpu", 0, "priority"),
    ("cpu", 1, "compute"),
    ("cpu", 1, "copy"),
)


@dataclass(frozen=True)
class Op:
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    lane: int
    priority: int
    inline: bool
    fails: bool


@dataclass(frozen=True)
class Wait:
    kind: str
    var: int


@dataclass(frozen=True)
class BulkSize:
    size: int


some_vars = st.lists(st.integers(0, VARS - 1), max_size=3).map(tuple)
ops = st.builds(
    Op,
    reads=some_vars,
    writes=some_vars,
    lane=st.integers(0, len(LANES) - 1),
    priority=st.integers(-1, 1),
    inline=st.booleans(),
    fails=st.sampled_from((False,) * 7 + (True,)),
)
waits = st.builds(Wait, st.sampled_from(("wait", "wait_to_write", "all")), st.integers(0, VARS - 1))
steps = st.one_of(ops, ops, ops, ops, waits, st.builds(BulkSize, st.sampled_from((0, 1, 2, 5))))
programs = st.lists(steps, min_size=1, max_size=40)


class Run:
    """One program on one engine: the cells, and what each wait raised."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.vars = [Var() for _ in range(VARS)]
        self.cells = list(range(VARS))
        self.seen: list[str] = []

    def operator(self, index: int, op: Op) -> None:
        before = [self.cells[i] for i in op.reads]
        time.sleep(0)
        if op.fails:
            raise ArithmeticError(f"injected {index}")
        for i in op.writes:
            self.cells[i] = hash((index, i, *before)) & 0xFFFFFFFF
            time.sleep(0)

    def push(self, index: int, op: Op) -> None:
        self.engine.push(
            lambda: self.operator(index, op),
            [self.vars[i] for i in op.reads],
            [self.vars[i] for i in op.writes],
            LANES[op.lane],
            op.priority,
            f"op{index}",
            op.inline,
        )

    def observe(self, step: Wait) -> None:
        try:
            if step.kind == "all":
                self.engine.wait_all()
            else:
                getattr(self.engine, step.kind)(self.vars[step.var])
        except EngineError as error:
            self.seen.append(str(error))
        else:
            # A read is safe now; a wait for all makes every cell so.
            self.seen.append(str(self.cells[step.var]))

    def result(self, program: Sequence[Any]) -> tuple[Any, ...]:
        for index, step in enumerate(program):
            if isinstance(step, Op):
                self.push(index, step)
            elif isinstance(step, Wait):
                self.observe(step)
            else:
                self.engine.set_bulk_size(step.size)
        self.observe(Wait("all", 0))
        errors = [None if var.error is None else var.error.name for var in self.vars]
        return self.cells, errors, [var.version for var in self.vars], self.seen


@pytest.mark.parametrize("kind", ["ThreadedEngine", "ThreadedEnginePerDevice"])
@pytest.mark.parametrize("workers", [1, 3])
@hypothesis.settings(max_examples=120)
@hypothesis.given(program=programs)
def test_threaded_gives_what_naive_gives(kind: str, workers: int, program: list[Any]) -> None:
    expected = Run(create_engine("NaiveEngine")).result(program)
    engine = create_engine(kind, cpu_workers=workers, priority_workers=2)
    try:
        assert Run(engine).result(program) == expected
    finally:
        assert engine.shutdown(timeout_s=20)
