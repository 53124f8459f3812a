import json
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, profiler
from gluonish.core.config import MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN, MXNET_USE_FUSION
from gluonish.engine import current_engine, use_engine
from gluonish.gluon import nn
from gluonish.gluon.trainer import Trainer
from gluonish.profiler.state import recording
from gluonish_engine import Var
from tests.profiler.trace_check import (
    checked_trace,
    process_names,
    row_names,
    start_ns,
    stop_ns,
)

ENGINES = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")
DEVICES = [mx.cpu(0), mx.cpu(1)]


def train(steps: int = 2) -> list[np.ndarray]:
    """Train a small network on two devices, and return its weights."""
    mx.random.seed(7)
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(8, activation="relu", in_units=5), nn.Dense(3, in_units=8))
    net.initialize(mx.init.Xavier(), ctx=DEVICES)
    net.hybridize()
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore="device")
    data = [mx.nd.array(np.arange(20).reshape(4, 5) / 20, ctx=ctx) for ctx in DEVICES]
    for _ in range(steps):
        with autograd.record():
            losses = [(net(x) ** 2).sum() for x in data]
        autograd.backward(losses)
        trainer.step(8)
    return [param.data(DEVICES[1]).asnumpy() for param in net.collect_params().values()]


def named(events: list[dict[str, Any]], category: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        if event["cat"] == category:
            found.setdefault(event["name"], []).append(event)
    return found


@pytest.mark.parametrize("kind", ENGINES)
def test_training_on_two_devices_is_there_operator_by_operator(kind: str, running: Path) -> None:
    with use_engine(kind):
        train()
        mx.nd.waitall()
        profiler.dump()
    events = checked_trace(running)
    processes = process_names(running)
    assert {"python", "cpu/0", "cpu/1"} <= set(processes.values())
    segments, operators = named(events, "segment"), named(events, "operator")
    for name in ("net", "net_backward"):
        places = [processes[event["pid"]] for event in segments[name]]
        assert sorted(places) == ["cpu/0", "cpu/0", "cpu/1", "cpu/1"]
    assert {"sum", "sum_backward", "kvstore", "_copyto"} <= operators.keys()
    (update,) = [name for name in operators if name.startswith("multi_sgd")]
    assert len(operators[update]) >= 2
    # The first layer has another name where oneDNN computes it with what follows.
    dense = [e for e in operators["FullyConnected"] if e["args"]["node"].startswith("net_dense1")]
    assert len(dense) == 4
    assert dense[0]["args"]["shapes"] == {"in": [[4, 8], [3, 8], [3]], "out": [[4, 3]]}
    assert dense[0]["args"]["dtypes"]["in"] == ["float32"] * 3
    assert dense[0]["args"]["bytes"] == {"in": 4 * (32 + 24 + 3), "out": 48}


@pytest.mark.parametrize("kind", ENGINES)
def test_results_are_those_without_the_profiler(kind: str) -> None:
    with use_engine(kind):
        plain = train(3)
        with recording():
            profiled = train(3)
        again = train(3)
    for weights in (profiled, again):
        for x, y in zip(plain, weights, strict=True):
            np.testing.assert_array_equal(x, y)


def test_operators_of_a_segment_lie_inside_it_and_follow_each_other(running: Path) -> None:
    train(1)
    mx.nd.waitall()
    profiler.dump()
    events = checked_trace(running)
    for segment in (e for e in events if e["cat"] == "segment"):
        inside = [
            e
            for e in events
            if e["cat"] == "operator" and e["args"]["call"] == segment["args"]["call"]
        ]
        assert len(inside) == segment["args"]["steps"] > 0
        assert all(e["tid"] == segment["tid"] for e in inside)
        assert start_ns(segment) <= start_ns(inside[0])
        assert stop_ns(inside[-1]) <= stop_ns(segment)
        for before, after in pairwise(inside):
            assert stop_ns(before) <= start_ns(after)


@pytest.mark.parametrize(("limit", "sizes"), [(1, [1] * 6), (4, [4, 2]), (15, [6])])
def test_limits_of_bulk_segments_are_seen(limit: int, sizes: list[int]) -> None:
    net = nn.HybridSequential()
    net.add(*(nn.Activation(kind) for kind in ("relu", "tanh", "sigmoid") * 2))
    x = mx.nd.ones((4, 4))
    with (
        MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN.override(limit),
        MXNET_USE_FUSION.override(False),
        recording() as recorder,
    ):
        net.hybridize()
        with autograd.record():
            net(x).wait_to_read()
        segments = [job.steps for job in recorder.jobs() if job.steps is not None]
    assert [len(steps) for steps in segments] == sizes


def test_lanes_that_work_at_the_same_time_overlap_in_the_trace(running: Path) -> None:
    both = threading.Barrier(2)
    with use_engine("ThreadedEnginePerDevice") as engine:
        for number in range(2):
            lane = ("cpu", number, "compute")
            engine.push(lambda: both.wait(60), (), (Var(),), lane, name=f"meet{number}")
        engine.wait_all()
        profiler.dump()
    operators = named(checked_trace(running), "operator")
    first, second = operators["meet0"][0], operators["meet1"][0]
    assert max(start_ns(first), start_ns(second)) < min(stop_ns(first), stop_ns(second))
    names = row_names(running)
    assert names["cpu/0", first["tid"]] == names["cpu/1", second["tid"]] == "compute worker 1"


def test_each_thread_of_a_lane_has_a_row(running: Path) -> None:
    lanes = [("cpu", 0, kind) for kind in ("compute", "copy", "priority")]
    with use_engine("ThreadedEnginePerDevice") as engine:
        for lane in lanes * 3:
            engine.push(lambda: None, (), (Var(),), lane, name=lane[2])
            engine.wait_all()
        engine.push(lambda: None, (), (), lanes[0], name="here", inline=True)
        engine.wait_all()
        profiler.dump()
    events = checked_trace(running)
    names = row_names(running)
    for kind in ("compute", "copy"):
        rows = {names["cpu/0", e["tid"]] for e in named(events, "operator")[kind]}
        assert rows == {f"{kind} worker 1"}
    (here,) = named(events, "operator")["here"]
    assert names["cpu/0", here["tid"]] == "compute inline in MainThread"
    pushes = {names["python", e["tid"]] for e in events if e["cat"] == "push"}
    assert pushes == {"MainThread"}


def test_failure_is_told_and_raised_as_ever(running: Path) -> None:
    def fail() -> None:
        raise ValueError("bad numbers")

    with use_engine("ThreadedEnginePerDevice") as engine:
        var, skipped = Var(), Var()
        engine.push(fail, (), (var,), ("cpu", 0, "compute"), name="broken")
        engine.push(lambda: None, (var,), (skipped,), ("cpu", 0, "compute"), name="skipped")
        with pytest.raises(mx.MXNetError, match="broken: failed with ValueError: bad numbers"):
            engine.wait(skipped)
        profiler.dump()
    operators = named(checked_trace(running), "operator")
    assert operators["broken"][0]["args"]["error"] == "ValueError: bad numbers"
    assert "skipped" not in operators  # it never ran


def test_operators_pushed_by_several_threads_have_their_pusher(running: Path) -> None:
    def work() -> None:
        (mx.nd.ones((3, 3)) + 1).asnumpy()

    threads = [threading.Thread(target=work, name=f"worker-{i}") for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    profiler.dump()
    events = checked_trace(running)
    names = row_names(running)
    pushers = [names["python", e["tid"]] for e in events if e["cat"] == "push"]
    assert {"worker-0", "worker-1", "worker-2"} == set(pushers)


def test_memory_is_a_counter_of_the_device(running: Path) -> None:
    x = mx.nd.zeros((256, 4))
    x.wait_to_read()
    del x
    mx.nd.waitall()
    profiler.dump()
    events = checked_trace(running)
    processes = process_names(running)
    values = [e["args"]["bytes"] for e in events if e["cat"] == "Device Storage"]
    assert {processes[e["pid"]] for e in events if e["ph"] == "C"} == {"cpu/0"}
    assert max(values) >= 4096
    assert values[-1] == max(values) - 4096


def test_trace_is_json_while_it_grows(running: Path) -> None:
    for _ in range(3):
        (mx.nd.ones((2, 2)) + 1).asnumpy()
        profiler.dump(finished=False)
        checked_trace(running)
    profiler.dump()
    whole = len(checked_trace(running))
    profiler.set_state("stop")
    profiler.dump()
    assert whole > 0
    assert checked_trace(running) == []


def test_metadata_tell_where_time_begins(running: Path) -> None:
    current_engine().wait_all()
    profiler.dump()
    other = json.loads(running.read_text())["otherData"]
    assert other["program"] == "gluonish"
    assert other["dropped"] == 0
    assert other["start_s"] > 1.6e9
