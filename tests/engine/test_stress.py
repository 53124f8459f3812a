"""Many operations from several threads at once: none is lost, none overlaps where it must not."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.cpu.engine_stress import Stress
from gluonish_engine import Engine, Var

pytestmark = pytest.mark.timeout(60)

THREADS = 4
EACH = 7_500
COUNTERS = 3


def in_threads(body: Callable[[int], None], count: int = THREADS) -> None:
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            body(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=50)
        assert not thread.is_alive()
    assert not failures


def count_up(engine: Engine, each: int, inline: Callable[[int], bool], bulk: int = 0) -> list[int]:
    cells = [0] * COUNTERS
    variables = [Var() for _ in cells]
    other = Var()

    def body(number: int) -> None:
        engine.set_bulk_size(bulk)
        lane = ("cpu", number % 2, "compute")
        for step in range(each):
            index = step % COUNTERS
            counter = variables[index]

            def add(index: int = index) -> None:
                value = cells[index]
                cells[index] = value + 1

            engine.push(add, (other, counter), (counter,), lane, inline=inline(step))
            if step % 1000 == 0:
                engine.wait(counter)
        engine.set_bulk_size(0)

    in_threads(body)
    engine.wait_all()
    assert sum(var.version for var in variables) == THREADS * each
    return cells


@pytest.mark.parametrize("bulk", [0, 15])
def test_thirty_thousand_operations_are_all_done(threaded: Engine, bulk: int) -> None:
    cells = count_up(threaded, EACH, inline=lambda step: step % 3 != 0, bulk=bulk)
    assert sum(cells) == THREADS * EACH


@pytest.mark.slow
@pytest.mark.parametrize("bulk", [0, 15])
def test_hundred_thousand_operations_are_all_done(threaded: Engine, bulk: int) -> None:
    cells = count_up(threaded, 25_000, inline=lambda step: step % 3 != 0, bulk=bulk)
    assert sum(cells) == THREADS * 25_000


@pytest.mark.usefixtures("eager_switching")
def test_no_increment_is_lost_when_threads_change_often(engine: Engine) -> None:
    cells = count_up(engine, 1000, inline=lambda step: step % 2 == 0)
    assert sum(cells) == THREADS * 1000


@pytest.mark.usefixtures("eager_switching")
def test_inline_writers_of_two_threads_never_overlap(threaded: Engine) -> None:
    var, inside, overlaps = Var(), [0], [0]

    def write() -> None:
        inside[0] += 1
        overlaps[0] += inside[0] != 1
        inside[0] -= 1

    def body(number: int) -> None:
        for _ in range(2000):
            threaded.push(write, (), (var,), ("cpu", number, "compute"), inline=True)

    in_threads(body, 2)
    threaded.wait_all()
    assert overlaps == [0]
    assert var.version == 4000


def test_naive_engine_takes_threads_on_variables_of_their_own(make_engine: Any) -> None:
    engine = make_engine("NaiveEngine")
    cells = [0] * THREADS

    def body(number: int) -> None:
        var = Var()

        def add() -> None:
            cells[number] += 1

        for _ in range(EACH // 2):
            engine.push(add, (var,), (var,), "cpu")

    in_threads(body)
    assert cells == [EACH // 2] * THREADS


@pytest.mark.parametrize("seed", range(4))
def test_random_dependencies_of_four_threads_with_errors_lose_nothing(
    threaded: Engine, seed: int
) -> None:
    run = Stress(threaded, 4000, seed, None)
    worker = threading.Thread(target=run.run, daemon=True)
    worker.start()
    worker.join(50)
    assert not worker.is_alive(), "a deadlock"
    assert sum(run.ran) == 4000
    assert sum(run.raised) > 0
    assert run.overlaps == 0
