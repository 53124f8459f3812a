import threading
from collections.abc import Callable

import numpy as np
import pytest

import gluonish as mx
from gluonish.graph.executable import Executable
from gluonish.kernels import teams
from gluonish.kernels.numba import openmp


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has a team yet."""
    monkeypatch.setattr(teams._State, "owner", 0)
    monkeypatch.setattr(teams._State, "ended", False)
    monkeypatch.setattr(teams._State, "moves", 0)


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
        in_thread(teams.leave)
    assert len(released) == 16
    assert not teams.may_run_here()


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


def test_workers_take_over_for_good(released: list[int]) -> None:
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


def test_the_owner_ends_its_team_itself(released: list[int]) -> None:
    assert teams.may_run_here()
    in_thread(teams.hand_over)
    assert not released
    assert not teams.may_run_here()
    assert released == [threading.get_ident()]


def test_an_owner_that_only_hands_over_ends_its_team(released: list[int]) -> None:
    assert teams.may_run_here()
    in_thread(teams.hand_over)
    teams.hand_over()
    assert released == [threading.get_ident()]


def test_a_thread_that_may_not_keep_a_team_ends_it(released: list[int]) -> None:
    assert teams.may_run_here()
    teams.leave()
    assert not released
    in_thread(teams.leave)
    assert len(released) == 1
    teams.hand_over()
    in_thread(teams.leave)  # a worker's, from now on
    assert len(released) == 2


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
