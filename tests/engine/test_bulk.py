import threading
from typing import Any

import pytest

from gluonish_engine import Engine, Var

pytestmark = pytest.mark.timeout(60)
LANE = ("cpu", 0, "compute")
OTHER = ("cpu", 1, "compute")
LONG_S = 30


def run_from_another_thread(engine: Engine, lane: Any = LANE) -> None:
    """Return after the lane has run an operator pushed now, by a thread that waits for nothing."""
    done = threading.Event()
    thread = threading.Thread(target=lambda: engine.push(done.set, (), (), lane), daemon=True)
    thread.start()
    thread.join(LONG_S)
    assert done.wait(LONG_S)


def test_set_bulk_size_returns_the_size_before(engine: Engine) -> None:
    assert engine.set_bulk_size(7) == 0
    assert engine.set_bulk_size(0) == 7


@pytest.mark.parametrize("size", [-1, 1.5, "3"])
def test_bad_bulk_size_is_refused(engine: Engine, size: Any) -> None:
    with pytest.raises(ValueError, match="set_bulk_size: expected an integer"):
        engine.set_bulk_size(size)


def test_scope_restores_the_size(engine: Engine) -> None:
    with engine.bulk(4), engine.bulk(8):
        pass
    assert engine.set_bulk_size(0) == 0


def test_bulk_starts_no_earlier_than_its_limit(make_engine: Any) -> None:
    engine, ran = make_engine(), []
    with engine.bulk(3):
        for step in range(2):
            engine.push(lambda step=step: ran.append(step), (), (Var(),), LANE)
        run_from_another_thread(engine)
        assert ran == []
        engine.push(lambda: ran.append(2), (), (Var(),), LANE)
        run_from_another_thread(engine)
        assert ran == [0, 1, 2]


def test_end_of_the_scope_flushes(make_engine: Any) -> None:
    engine, done = make_engine(), threading.Event()
    with engine.bulk(100):
        engine.push(done.set, (), (Var(),), LANE)
    assert done.wait(LONG_S)


def test_push_to_another_lane_flushes(make_engine: Any) -> None:
    engine, done = make_engine(), threading.Event()
    with engine.bulk(100):
        engine.push(done.set, (), (Var(),), LANE)
        engine.push(lambda: None, (), (Var(),), OTHER)
        assert done.wait(LONG_S)


def test_wait_for_anything_flushes(threaded: Engine) -> None:
    done = threading.Event()
    with threaded.bulk(100):
        threaded.push(done.set, (), (Var(),), LANE)
        threaded.wait(Var())
        assert done.wait(LONG_S)


def test_wait_of_another_thread_sees_and_flushes_an_open_bulk(threaded: Engine) -> None:
    var, seen = Var(), []
    cell = [0]

    def look() -> None:
        threaded.wait(var)
        seen.append(cell[0])

    with threaded.bulk(100):
        threaded.push(lambda: cell.__setitem__(0, 1), (), (var,), LANE)
        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        thread.join(LONG_S)
        assert seen == [1]


def test_operator_of_another_thread_behind_an_open_bulk_runs(threaded: Engine) -> None:
    var, done = Var(), threading.Event()
    with threaded.bulk(100):
        threaded.push(lambda: None, (), (var,), LANE)
        threading.Thread(
            target=lambda: threaded.push(done.set, (var,), (), LANE), daemon=True
        ).start()
        assert done.wait(LONG_S)


def test_two_bulks_on_crossed_variables_do_not_block_each_other(threaded: Engine) -> None:
    x, y, meet = Var(), Var(), threading.Barrier(2, timeout=LONG_S)
    order: list[str] = []

    def body(first: Var, second: Var, name: str) -> None:
        with threaded.bulk(100):
            threaded.push(lambda: order.append(name), (), (first,), LANE)
            meet.wait()
            threaded.push(lambda: order.append(name), (), (second,), LANE)
            meet.wait()

    threads = [
        threading.Thread(target=body, args=args, daemon=True)
        for args in ((x, y, "left"), (y, x, "right"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    threaded.wait_all()
    assert sorted(order) == ["left", "left", "right", "right"]


def test_failure_in_a_bulk_stays_with_what_depends_on_it(threaded: Engine) -> None:
    bad, good, ran = Var(), Var(), []
    with threaded.bulk(10):
        threaded.push(lambda: 1 // 0 and None, (), (bad,), LANE, name="div")
        threaded.push(lambda: ran.append("skipped"), (bad,), (Var(),), LANE)
        threaded.push(lambda: ran.append("ran"), (), (good,), LANE)
    threaded.wait(good)
    assert ran == ["ran"]
    with pytest.raises(RuntimeError, match=r"^div"):
        threaded.wait(bad)


def test_bulk_size_is_of_one_thread(threaded: Engine) -> None:
    sizes: list[int] = []
    with threaded.bulk(9):
        thread = threading.Thread(target=lambda: sizes.append(threaded.set_bulk_size(0)))
        thread.start()
        thread.join(LONG_S)
    assert sizes == [0]
