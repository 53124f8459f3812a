import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import gluonish as mx
from gluonish.engine import use_engine
from gluonish.graph.executable import Executable
from gluonish.kernels import openmp, teams
from gluonish.kernels.compiler import compile_kernel
from gluonish.ops.kernel import address

_MARK = """
def body(begin, end, words):
    out = i64(words[0])
    out[0] = 1
"""


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has a team yet."""
    monkeypatch.setattr(teams._State, "owner", 0)
    monkeypatch.setattr(teams._State, "ended", False)
    monkeypatch.setattr(teams._State, "worker_runs", 0)
    monkeypatch.setattr(teams._State, "small_calls", 0)
    openmp.enable_teams()


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The threads whose teams were ended."""
    threads: list[int] = []
    monkeypatch.setattr(openmp.Team, "release", lambda self: threads.append(threading.get_ident()))
    return threads


def test_workers_take_over_if_a_small_network_often_has_to_wait(released: list[int]) -> None:
    assert teams.may_run_here()
    for _ in range(17):
        assert teams.may_run_here()
        in_thread(run_small)
    assert len(released) == 16
    assert not teams.may_run_here()


def run_small() -> None:
    teams.run_and_leave(lambda: None)


def in_thread(function: Callable[[], object]) -> object:
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join(timeout=30)
    return results[0]


def test_one_thread_only_has_a_team() -> None:
    assert teams.may_run_here()
    assert in_thread(teams.may_run_here) is False
    assert teams.may_run_here()


def test_workers_take_over(released: list[int]) -> None:
    assert teams.may_run_here()
    teams.hand_over()
    assert released == [threading.get_ident()]
    assert not teams.may_run_here()
    teams.hand_over()
    assert len(released) == 1


def test_work_that_is_not_small_goes_to_workers(released: list[int]) -> None:
    assert teams.claim(small=True)
    assert not teams.claim(small=False)
    assert released == [threading.get_ident()]
    assert not teams.claim(small=True)


@pytest.mark.parametrize("claim", [teams.may_run_here, teams.hand_over])
def test_the_owner_ends_its_team_itself(claim: Callable[[], object], released: list[int]) -> None:
    assert teams.may_run_here()
    in_thread(teams.hand_over)
    assert threading.get_ident() not in released
    assert not claim()
    assert released[1:] == [threading.get_ident()]


def test_a_caller_runs_alone_while_workers_have_teams(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = compile_kernel(
        "def body(begin, end, words):\n    out = i64(words[0])\n    out[0] = 1\n"
    )
    out = np.zeros(1, np.int64)
    words = np.array([address(out)], np.int64)
    monkeypatch.setattr(openmp.team(), "threads", lambda: 2)
    used: list[int] = []
    launch = kernel._launch
    monkeypatch.setattr(kernel, "_launch", lambda *call: used.append(call[3]) or launch(*call))

    def run() -> None:
        for _ in range(10):  # the first runs are timed, in one thread
            kernel(1 << 20, words, 1)

    run()
    assert used[-1] == 2
    assert not teams.claim(small=False)
    used.clear()
    run()
    assert set(used) == {1}
    in_thread(run)
    assert used[-1] == 2
    openmp.enable_teams()
    run()
    assert used[-1] == 2


def test_who_pushes_from_inside_a_worker_claims_nothing() -> None:
    with use_engine("ThreadedEnginePerDevice") as engine:
        found: list[bool] = [engine.uses_workers()]
        x = mx.nd.ones((2,))
        engine.push(lambda: found.append(engine.uses_workers()), (), (x._var,), x._device.lane)
        x.wait_to_read()
    with use_engine("NaiveEngine") as engine:
        found.append(engine.uses_workers())
    assert found == [True, False, False]


def test_a_thread_that_may_not_keep_a_team_ends_it(released: list[int]) -> None:
    assert teams.may_run_here()
    run_small()
    assert not released
    in_thread(run_small)
    assert len(released) == 1
    teams.hand_over()
    in_thread(run_small)  # a worker's, from now on
    assert len(released) == 2


class Workers:
    """Stands for the engine, which ends the teams of its workers if they are idle."""

    def __init__(self) -> None:
        self.idle = True
        self.ended = 0

    def __call__(self, end: Callable[[], None]) -> bool:
        self.ended += self.idle
        return self.idle


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Workers:
    made = Workers()
    monkeypatch.setattr(teams, "end_idle_teams", made)
    return made


def claims(pieces: int) -> list[bool]:
    return [teams.claim(small=True) for _ in range(pieces)]


def test_callers_have_the_team_again_after_small_work_only(workers: Workers) -> None:
    assert not teams.claim(small=False)
    assert claims(teams._SMALL_IN_A_ROW) == [False] * (teams._SMALL_IN_A_ROW - 1) + [True]
    assert workers.ended == 1
    assert claims(3) == [True] * 3


def test_workers_that_are_busy_keep_the_team(workers: Workers) -> None:
    assert not teams.claim(small=False)
    workers.idle = False
    assert not any(claims(2 * teams._SMALL_IN_A_ROW))
    workers.idle = True
    assert claims(teams._SMALL_IN_A_ROW)[-1]


def test_large_work_now_and_then_leaves_the_team_to_workers(workers: Workers) -> None:
    for _ in range(3):
        assert not teams.claim(small=False)
        assert not any(claims(teams._SMALL_IN_A_ROW - 1))
    assert workers.ended == 0


def test_work_that_another_thread_came_to_run_ends_its_team(released: list[int]) -> None:
    assert teams.claim(small=True)
    made: list[int] = []
    in_thread(lambda: teams.run_and_leave(lambda: made.append(3)))
    assert (made, len(released)) == ([3], 1)
    teams.run_and_leave(lambda: made.append(4))
    assert (made, len(released)) == ([3, 4], 1)


@pytest.fixture
def runners(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The threads that ran executables, on the threaded engine."""
    threads: list[int] = []
    run = Executable._run_all

    def noting(self: Executable, *args: object) -> None:
        threads.append(threading.get_ident())
        run(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Executable, "_run_all", noting)
    return threads


def test_a_small_network_runs_in_its_caller_until_a_large_one_comes(runners: list[int]) -> None:
    if type(mx.engine.current_engine()).__name__ == "NaiveEngine":
        pytest.skip("the naive engine has no workers")
    nets = []
    for units in (256, 4096):
        net = mx.gluon.nn.Dense(units, in_units=1024)
        net.initialize()
        net.hybridize(static_alloc=True, static_shape=True)
        nets.append(net)
    small, large = nets
    x = mx.nd.array(np.ones((64, 1024)))
    mx.nd.waitall()
    caller = threading.get_ident()
    small(x).wait_to_read()
    assert runners == [caller]
    large(x).wait_to_read()
    small(x).wait_to_read()
    assert caller not in runners[1:]


@pytest.fixture
def fresh() -> Iterator[None]:
    """An engine of one thread a lane: those of tests before may have left others."""
    with use_engine("ThreadedEnginePerDevice"):
        yield


def test_small_networks_run_in_their_caller_again_long_after_a_large_one(
    runners: list[int], fresh: None
) -> None:
    net = mx.gluon.nn.Dense(256, in_units=1024)
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.array(np.ones((64, 1024)))
    large = mx.nd.ones((2048, 1024))
    mx.nd.dot(large, large, transpose_b=True).wait_to_read()
    assert teams._State.ended
    for _ in range(3 * teams._SMALL_IN_A_ROW):
        net(x)
        mx.nd.waitall()
    caller = threading.get_ident()
    assert runners[0] != caller
    assert set(runners[-16:]) == {caller}


def pushed_behind(work: Callable[[], None]) -> float:
    """Call a small network on what a worker makes by some work; return seconds of the call."""
    net = mx.gluon.nn.Dense(256, in_units=1024)
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    made = mx.nd.array(np.ones((64, 1024)))
    net(made).wait_to_read()
    mx.nd.waitall()
    started = threading.Event()

    def run() -> None:
        started.set()
        work()

    mx.engine.current_engine().push(run, [], [made._var], made._device.lane)
    started.wait(10)
    before = time.perf_counter()
    net(made)
    return time.perf_counter() - before


def test_small_work_waits_a_moment_for_what_a_worker_makes(
    runners: list[int], fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the wait all that follows would go to the worker, and nothing come back."""
    monkeypatch.setattr("gluonish.engine._BRIEF_S", 10.0)
    pushed_behind(lambda: time.sleep(0.02))
    assert runners == [threading.get_ident()] * 2


def test_small_work_follows_long_work_to_the_worker(runners: list[int], fresh: None) -> None:
    """The long work may be an operator of the program's, which waits for its main thread."""
    go = threading.Event()
    assert pushed_behind(lambda: go.wait(20) and None) < 10
    go.set()
    mx.nd.waitall()
    assert runners[-1] != threading.get_ident()
