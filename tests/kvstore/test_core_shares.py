"""CPU devices that train together have teams that together take the cores."""

import gc
import threading
import time
from collections.abc import Iterator

import pytest

from gluonish import sym
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.engine import current_engine, use_engine
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.trainer import Trainer
from gluonish.kernels import openmp
from gluonish.kvstore.core_shares import share_cores
from gluonish.module import Module


class Owner:
    """Who has devices work together."""


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
    owners = [Owner() for _ in range(3)]
    share_cores([cpu(0), cpu(1)], owners[0])
    assert [team_of(0), team_of(1)] == [2, 2]
    share_cores([cpu(0), cpu(1), cpu(2)], owners[1])
    assert [team_of(number) for number in range(3)] == [1, 1, 1]
    share_cores([cpu(1)], owners[2])
    assert [team_of(0), team_of(1)] == [1, 4]


def teams_become(expected: list[int]) -> bool:
    """Whether the teams of the first devices get these sizes soon."""
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        if [team_of(number) for number in range(len(expected))] == expected:
            return True
        time.sleep(0.002)
    return False


@needs_openmp
def test_teams_are_whole_again_when_their_owner_ends() -> None:
    first, last = Owner(), Owner()
    share_cores([cpu(0), cpu(1)], first)
    share_cores([cpu(1), cpu(2)], last)
    del first
    assert teams_become([4, 2, 2])
    del last
    assert teams_become([4, 4, 4])


@needs_openmp
def test_an_owner_may_outlive_the_engine() -> None:
    owner, usual = Owner(), [team_of(0), team_of(1)]
    with use_engine("ThreadedEnginePerDevice"):
        share_cores([cpu(0), cpu(1)], owner)
    del owner
    time.sleep(0.05)  # a thread that failed would be a warning, and that an error
    assert teams_become(usual)


@needs_openmp
def test_one_device_keeps_its_team() -> None:
    usual = team_of(3)
    share_cores([cpu(3)], Owner())
    assert team_of(3) == usual


@needs_openmp
def test_a_trainer_shares_the_cores_between_its_devices() -> None:
    parameter = Parameter("weight", shape=(2,))
    parameter.initialize(ctx=[cpu(0), cpu(1)])
    trainer = Trainer([parameter], "sgd")
    assert [team_of(0), team_of(1)] == [2, 2]
    assert openmp.team().threads() == 4
    del trainer, parameter
    gc.collect()
    assert teams_become([4, 4])


@needs_openmp
def test_a_module_shares_the_cores_between_its_devices() -> None:
    symbol = sym.SoftmaxOutput(sym.FullyConnected(sym.var("data"), num_hidden=2), name="softmax")
    module = Module(symbol, context=[cpu(0), cpu(1)])
    module.bind([("data", (4, 3))], [("softmax_label", (4,))])
    module.init_params()
    module.init_optimizer()
    assert [team_of(0), team_of(1)] == [2, 2]


def test_without_workers_the_caller_keeps_its_team() -> None:
    with use_engine("NaiveEngine"):
        share_cores([cpu(0), cpu(1)], Owner())
    assert openmp.team().threads() in (1, 4)
