"""Random programs of reads and writes: threaded engines give exactly what the naive one gives."""

import itertools
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
    updates: tuple[int, ...]
    lane: int
    priority: int
    inline: bool
    fails: bool
    slow: bool


@dataclass(frozen=True)
class Wait:
    kind: str
    var: int


@dataclass(frozen=True)
class BulkSize:
    size: int


some_vars = st.lists(st.integers(0, VARS - 1), max_size=2).map(tuple)
ops = st.builds(
    Op,
    reads=some_vars,
    writes=some_vars,
    updates=st.lists(st.integers(0, VARS - 1), max_size=1).map(tuple),
    lane=st.integers(0, len(LANES) - 1),
    priority=st.integers(-1, 1),
    inline=st.booleans(),
    fails=st.sampled_from((False,) * 7 + (True,)),
    slow=st.sampled_from((False,) * 3 + (True,)),
)
waits = st.builds(Wait, st.sampled_from(("wait", "wait_to_write", "all")), st.integers(0, VARS - 1))
steps = st.one_of(ops, ops, ops, ops, waits, st.builds(BulkSize, st.sampled_from((0, 1, 2, 5))))


@st.composite
def skipped_updates(draw: st.DrawFn) -> list[Op | Wait]:
    """A skipped update that meets its raise while a reader from before it is still pending."""
    bad, updated, busy, out = draw(st.permutations(range(VARS)))

    def op(reads: tuple[int, ...], writes: tuple[int, ...], **kind: Any) -> Op:
        plain = {"updates": (), "priority": 0, "fails": False, "slow": False} | kind
        lane, inline = draw(st.integers(0, len(LANES) - 1)), draw(st.booleans())
        return Op(reads, writes, lane=lane, inline=inline, **plain)

    return [
        op((), (bad,), fails=True),
        op((bad,), (), updates=(updated,)),
        op((), (busy,), slow=True),
        op((updated, busy), (out,)),
        Wait("wait", bad),
        op((updated,), (bad,)),
    ]


parts = st.one_of(*[steps.map(lambda step: [step])] * 5, skipped_updates())
programs = st.lists(parts, min_size=1, max_size=40).map(
    lambda found: list(itertools.chain.from_iterable(found))
)


class Run:
    """One program on one engine: the cells, and what each wait raised."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.vars = [Var() for _ in range(VARS)]
        self.cells = list(range(VARS))
        self.seen: list[str] = []

    def operator(self, index: int, op: Op) -> None:
        before = [self.cells[i] for i in (*op.updates, *op.reads)]
        # A slow one leaves work pending behind it while the program goes on, and waits, and raises.
        time.sleep(0.0005 if op.slow else 0)
        if op.fails:
            raise ArithmeticError(f"injected {index}")
        for i in (*op.writes, *op.updates):
            self.cells[i] = hash((index, i, *before)) & 0xFFFFFFFF
            time.sleep(0)

    def push(self, index: int, op: Op) -> None:
        self.engine.push(
            lambda: self.operator(index, op),
            [self.vars[i] for i in (*op.reads, *op.updates)],
            [self.vars[i] for i in (*op.updates, *op.writes)],
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
        # Before the raise of everything, stale variables raise once; after it, none does.
        for _ in range(2):
            for i in range(VARS):
                self.observe(Wait("wait", i))
            self.observe(Wait("all", 0))
        return self.cells, [var.version for var in self.vars], self.seen


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
