"""What a push and its execution on a lane cost: empty operators, no bulk, one worker.

    python -m benchmarks.cpu engine_push

One thread pushes operators that do nothing to a worker lane and waits for all of them at the end of
each round; the time of a round, divided by their number, is what push, hand-over, run and finish
cost together. Beside it, in the same round, a `queue.SimpleQueue` alone hands as many empty
functions to a thread that calls them: what no engine in Python can go below. Minimum, median and
third quartile of the rounds are printed in microseconds, and the median of the processor time that
all threads took, which other programs on the machine disturb less; the rows take turns in each
round, so that a busy machine slows all of them.
"""

import argparse
import statistics
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

from gluonish_engine import Engine, Var, create_engine

LANE = ("cpu", 0, "compute")


def nothing() -> None:
    """The operator."""


def hand_over(count: int) -> tuple[float, float]:
    """Have a thread take functions from a queue and call them.

    Returns:
        The seconds, and those of processor time.
    """
    queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def work() -> None:
        while (job := queue.get()) is not None:
            job()

    thread = threading.Thread(target=work)
    thread.start()
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(count):
        queue.put(nothing)
    queue.put(None)
    thread.join()
    return time.perf_counter() - start, time.process_time() - cpu


def pushes(
    engine: Engine, sets: list[tuple[tuple[Var, ...], tuple[Var, ...]]]
) -> tuple[float, float]:
    """Push an operator for each pair of sets, and wait for all.

    Returns:
        The seconds, and those of processor time.
    """
    push = engine.push
    start, cpu = time.perf_counter(), time.process_time()
    for reads, writes in sets:
        push(nothing, reads, writes, LANE)
    engine.wait_all()
    return time.perf_counter() - start, time.process_time() - cpu


def programs(count: int) -> dict[str, list[tuple[tuple[Var, ...], tuple[Var, ...]]]]:
    """Return what the operators of each row read and write."""
    one, two, three = Var(), Var(), Var()
    return {
        "no variables": [((), ())] * count,
        "a result of its own": [((), (Var(),)) for _ in range(count)],
        "two inputs, one result": [((one, two), (Var(),)) for _ in range(count)],
        "update in place": [((three,), (three,))] * count,
    }


def main() -> None:
    """Measure and print one line for each program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30, help="rounds of each row")
    parser.add_argument("--count", type=int, default=10_000, help="operators in a round")
    options = parser.parse_args()
    engine = create_engine("ThreadedEnginePerDevice")
    rows = programs(options.count)
    times: dict[str, list[tuple[float, float]]] = {
        "SimpleQueue alone": [],
        **{name: [] for name in rows},
    }
    for _ in range(options.rounds):
        times["SimpleQueue alone"].append(hand_over(options.count))
        for name, sets in rows.items():
            times[name].append(pushes(engine, sets))
    engine.shutdown()
    print(f"{'microseconds of an operator':28} minimum  median  three of four  processor")
    for name, found in times.items():
        wall, cpu = ([s / options.count * 1e6 for s in row] for row in zip(*found, strict=True))
        last, middle = statistics.quantiles(wall, n=4)[2], statistics.median(cpu)
        print(
            f"{name:28} {min(wall):7.2f} {statistics.median(wall):7.2f} {last:14.2f} {middle:10.2f}"
        )
