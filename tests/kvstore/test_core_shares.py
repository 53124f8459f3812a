"""CPU devices that train together have teams that together take the cores."""

import threading
from collections.abc import Iterator

import pytest

from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.engine import current_engine, use_engine
from gluonish.kernels.numba import openmp
from gluonish.kvstore.core_shares import share_cores
from gluonish.parameter import Parameter
from gluonish.trainer import Trainer


@pytest.fixture(autouse=True)
def four_threads() -> Iterator[None]:
    """Let this thread's team, whose size is divided, have four threads."""
    usual = openmp.team().threads()
    openmp.team().set_threads(4)
    with use_engine("ThreadedEnginePerDevice"):
        yield
    openmp.team().set_threads(usual)


def team_of(number: int) -> int:
    """Return the size of the team of a device's worker."""
    found: list[int] = []
    done = threading.Event()

    def look() -> None:
        found.append(openmp.team().threads())
        done.set()

    current_engine().push(look, [], [], device_of(cpu(number)).lane)
    assert done.wait(20)
    return found[0]


needs_openmp = pytest.mark.skipif(not openmp.team().parallel, reason="there is no libgomp")


@needs_openmp
def test_devices_share_the_threads_until_they_are_shared_anew() -> None:
    share_cores([cpu(0), cpu(1)])
    assert [team_of(0), team_of(1)] == [2, 2]
    share_cores([cpu(0), cpu(1), cpu(2)])
    assert [team_of(number) for number in range(3)] == [1, 1, 1]
    share_cores([cpu(1)])
    assert [team_of(0), team_of(1)] == [1, 4]


@needs_openmp
def test_one_device_keeps_its_team() -> None:
    usual = team_of(3)
    share_cores([cpu(3)])
    assert team_of(3) == usual


@needs_openmp
def test_a_trainer_shares_the_cores_between_its_devices() -> None:
    parameter = Parameter("weight", shape=(2,))
    parameter.initialize(ctx=[cpu(0), cpu(1)])
    Trainer([parameter], "sgd")
    assert [team_of(0), team_of(1)] == [2, 2]
    assert openmp.team().threads() == 4


def test_without_workers_the_caller_keeps_its_team() -> None:
    with use_engine("NaiveEngine"):
        share_cores([cpu(0), cpu(1)])
    assert openmp.team().threads() in (1, 4)
