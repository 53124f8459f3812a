"""A million empty operators from four threads, with random dependencies and injected errors.

    python -m benchmarks.cpu engine_stress
    python -m benchmarks.cpu engine_stress --runs 100 --count 10000

Every operator reads and writes a few of some variables, chosen at random; one in a hundred raises.
After each run the number of operators that ran, failed and were skipped must be that of the pushes,
every variable must have seen its writes in a possible order, and nothing may be pending. A run that
does not end within two minutes is a deadlock: the stacks of all threads are printed.
"""

import argparse
import faulthandler
import random
import threading
import time
from functools import partial
from typing import Any

from tqdm import tqdm

from gluonish_engine import Engine, EngineError, Var, create_engine

THREADS = 4
VARIABLES = 64
ERRORS = 0.01
WAIT_S = 120.0
LANES = [("cpu", device, kind) for device in (0, 1) for kind in ("compute", "copy", "priority")]


class Stress:
    """One run: threads that push, and what became of the operators.

    Args:
        engine: What runs them.
        count: How many operators, in all.
        seed: Of the random choices.
        bar: Shows how many were pushed; None for none.
    """

    def __init__(self, engine: Engine, count: int, seed: int, bar: "tqdm[Any] | None") -> None:
        self.engine = engine
        self.each = count // THREADS
        self.seed = seed
        self.bar = bar
        self.variables = [Var() for _ in range(VARIABLES)]
        self.cells = [0] * VARIABLES  # how often each was written by operators that ran
        self.inside = [0] * VARIABLES  # operators that are writing it
        self.overlaps = 0
        self.ran = [0] * THREADS  # written by operators of one chain for each thread
        self.raised = [0] * THREADS

    def operator(self, thread: int, writes: list[int], fails: bool) -> None:
        """Count, and find out who else writes the same variable."""
        for place in writes:
            self.inside[place] += 1
            self.overlaps += self.inside[place] != 1
        for place in writes:
            self.cells[place] += 1
            self.inside[place] -= 1
        self.ran[thread] += 1
        if fails:
            self.raised[thread] += 1
            raise ArithmeticError("injected")

    def push(self, thread: int) -> None:
        """Push one thread's operators."""
        chance = random.Random(self.seed * THREADS + thread)
        # The operators of a thread follow each other on this one, which carries no error on: it is
        # only written.
        own = Var()
        for step in range(self.each):
            reads = chance.sample(range(VARIABLES), chance.randrange(3))
            writes = chance.sample(range(VARIABLES), chance.randrange(1, 3))
            fails = chance.random() < ERRORS
            self.engine.push(
                partial(self.operator, thread, writes, fails),
                (),
                [*(self.variables[place] for place in writes), own],
                chance.choice(LANES),
                chance.choice((0, 0, 0, 1, -1)),
                "stress",
                chance.random() < 0.2,
            )
            # What depends on what may have failed is skipped, and is no part of the count.
            self.engine.push(
                _nothing,
                [self.variables[place] for place in reads],
                (Var(),),
                chance.choice(LANES),
            )
            if self.bar is not None and step % 1000 == 999:
                self.bar.update(2000)
            if chance.random() < 0.0005:
                try:
                    self.engine.wait(self.variables[chance.randrange(VARIABLES)])
                except EngineError as error:
                    if "injected" not in str(error):
                        raise

    def run(self) -> None:
        """Push from all threads, wait for the end, and check it.

        Raises:
            AssertionError: Something was lost, or overlapped.
        """
        failures: list[BaseException] = []

        def guarded(thread: int) -> None:
            try:
                self.push(thread)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=guarded, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        try:
            self.engine.wait_all()
        except EngineError as error:
            if "injected" not in str(error):
                raise
        assert sum(self.ran) == self.each * THREADS, (self.ran, self.each)
        assert not self.overlaps
        assert not any(self.inside)
        assert all(not var.active and var.queue is None for var in self.variables)
        assert sum(self.raised) > 0 or self.each < 1000


def _nothing() -> None:
    """The operator that reads."""


def main() -> None:
    """Run and print how long it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1, help="runs, each with a seed of its own")
    parser.add_argument("--count", type=int, default=1_000_000, help="pushes of a run")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first run")
    options = parser.parse_args()
    start = time.perf_counter()
    with tqdm(total=options.runs * options.count, unit="push", unit_scale=True) as bar:
        for run in range(options.runs):
            faulthandler.dump_traceback_later(max(WAIT_S, options.count / 2000), exit=True)
            kind = ("ThreadedEnginePerDevice", "ThreadedEngine")[run % 2]
            engine = create_engine(kind, cpu_workers=1 + run % 3)
            Stress(engine, options.count // 2, options.seed + run, bar).run()
            assert engine.shutdown(timeout_s=WAIT_S)
            faulthandler.cancel_dump_traceback_later()
    seconds = time.perf_counter() - start
    pushes = options.runs * options.count
    print(f"{pushes} pushes in {seconds:.1f} s, {seconds / pushes * 1e6:.2f} us each: nothing lost")
