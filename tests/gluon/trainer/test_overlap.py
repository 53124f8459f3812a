"""Sums of a store run while the backward pass still computes the gradients of earlier layers."""

import threading
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import numpy as np
import pytest

from gluonish.autograd import backward, record
from gluonish.core.context import cpu
from gluonish.engine import use_engine
from gluonish.gluon.nn import Dense, HybridSequential
from gluonish.gluon.trainer import Trainer
from gluonish.graph import execution_plan
from gluonish.kernels import teams
from gluonish.ndarray import NDArray, array
from gluonish.profiler.events import Job
from gluonish.tools.env_checks.threads import engine_trace

CONTEXTS = [cpu(0), cpu(1)]
WAIT_S = 20.0
UNITS = 260  # weights of more than 65,536 elements: smaller ones are summed together
Task = Callable[[], Any]


@pytest.fixture(autouse=True)
def work_for_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers run the small network, as they do large ones."""
    monkeypatch.setattr(execution_plan, "is_light", lambda nodes: False)
    monkeypatch.setattr(teams, "claim", lambda **_: False)


def in_turn(*tasks: Task) -> None:
    for task in tasks:
        task()


class Step:
    """Training steps of a hybridized network on two devices, cut into small segments."""

    def __init__(self, update_on_kvstore: bool) -> None:
        self.net = HybridSequential(prefix="net_")
        for _ in range(6):
            self.net.add(Dense(UNITS, activation="tanh", in_units=UNITS))
        self.net.initialize(ctx=CONTEXTS)
        self.net.hybridize(forward_bulk_size=2, backward_bulk_size=2)
        rng = np.random.default_rng(2)
        for param in self.net.collect_params().values():
            param.set_data(array(rng.uniform(-0.1, 0.1, param.shape)))
        self.data = [array(rng.uniform(-1, 1, (4, UNITS)), ctx=context) for context in CONTEXTS]
        self.trainer = Trainer(
            self.net.collect_params(),
            "sgd",
            {"learning_rate": 0.1, "momentum": 0.9},
            update_on_kvstore=update_on_kvstore,
        )

    def __call__(self) -> None:
        with record():
            losses: list[NDArray] = [(self.net(x) ** 2).sum() for x in self.data]
        backward(losses)
        self.trainer.step(8)

    def weights(self) -> list[np.ndarray]:
        return [param.data(CONTEXTS[1]).asnumpy() for param in self.net.collect_params().values()]


def traced(step: Step) -> list[Job]:
    step()
    with engine_trace() as ran:
        step()
    return ran


def backward_segments(ran: list[Job]) -> list[Job]:
    return [
        x
        for x in ran
        if x.name.endswith("_backward") and x.lane[1] == 0  # type: ignore[index]
    ]


@pytest.mark.parametrize("update_on_kvstore", [True, False])
def test_a_sum_runs_before_the_last_segment_of_the_backward_pass(update_on_kvstore: bool) -> None:
    with use_engine("ThreadedEnginePerDevice") as engine:
        step = Step(update_on_kvstore)
        count = len(backward_segments(traced(step)))
        assert count >= 6
        summed = threading.Event()
        in_time: list[bool] = []
        pushed: list[str] = []

        def hook(fn: Task, lane: Hashable, name: str) -> Task:
            """Let the last segment wait for a sum: where all sums wait for it, it waits in vain."""
            if name == "kvstore":
                return partial(in_turn, fn, summed.set)
            if name.endswith("_backward") and lane == ("cpu", 0, "compute"):
                pushed.append(name)
                if len(pushed) == count:
                    return partial(in_turn, lambda: in_time.append(summed.wait(WAIT_S)), fn)
            return fn

        with engine_trace() as ran:
            tracing = engine.on_push
            assert tracing is not None
            engine.on_push = lambda fn, lane, name: tracing(hook(fn, lane, name), lane, name)
            step()
            engine.wait_all()
            engine.on_push = tracing
        last = backward_segments(ran)[-1]
        sums = [x for x in ran if x.name == "kvstore"]
    assert in_time == [True]
    assert any(x.start_ns < last.stop_ns for x in sums)


@pytest.mark.parametrize("update_on_kvstore", [True, False])
def test_overlap_changes_no_weight(update_on_kvstore: bool) -> None:
    results: dict[str, Any] = {}
    for kind in ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"):
        with use_engine(kind):
            step = Step(update_on_kvstore)
            for _ in range(5):
                step()
            results[kind] = step.weights()
    for found in results.values():
        for x, expected in zip(found, results["NaiveEngine"], strict=True):
            np.testing.assert_array_equal(x, expected)
