"""Lanes run at the same time: compute and copies of two devices, and the sums between them."""

import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pytest

from gluonish import cpu, kvstore
from gluonish import ndarray as nd
from gluonish.engine import use_engine
from gluonish_engine import Engine, Var

pytestmark = pytest.mark.timeout(60)

LONG_S = 30
LANES = [("cpu", device, kind) for device in (0, 1) for kind in ("compute", "copy", "priority")]


class Trace:
    """When the operators of each lane ran."""

    def __init__(self, engine: Engine) -> None:
        self.spans: list[tuple[Hashable, str, float, float]] = []
        engine.on_push = self._watch

    def _watch(self, fn: Callable[[], None], lane: Hashable, name: str) -> Callable[[], None]:
        def run() -> None:
            start = time.perf_counter()
            fn()
            self.spans.append((lane, name, start, time.perf_counter()))

        return run

    def overlapping(self) -> set[frozenset[Any]]:
        """Return the pairs of lanes that ran operators at the same moment."""
        return {
            frozenset((one[0], other[0]))
            for one in self.spans
            for other in self.spans
            if one[0] != other[0] and one[2] < other[3] and other[2] < one[3]
        }


def test_all_lanes_of_two_devices_run_at_the_same_time(make_engine: Any) -> None:
    engine = make_engine("ThreadedEnginePerDevice")
    trace = Trace(engine)
    meet = threading.Barrier(len(LANES), timeout=LONG_S)
    for lane in LANES:
        engine.push(lambda: meet.wait() and None, (), (Var(),), lane)
    engine.wait_all()
    assert trace.overlapping() == {
        frozenset((one, other)) for one in LANES for other in LANES if one != other
    }


def test_a_copy_and_a_sum_run_while_both_devices_compute(make_engine: Any) -> None:
    engine = make_engine("ThreadedEnginePerDevice")
    trace, gradients = Trace(engine), [Var(), Var()]
    copied, summed, go = Var(), Var(), threading.Event()
    meet = threading.Barrier(3, timeout=LONG_S)

    def later_layers() -> None:
        meet.wait()
        assert go.wait(LONG_S)

    for device, gradient in enumerate(gradients):
        lane = ("cpu", device, "compute")
        engine.push(lambda: None, (), (gradient,), lane, name="last layer")
        engine.push(later_layers, (), (Var(),), lane, name="later layers")
    meet.wait()
    engine.push(lambda: None, gradients[1:], (copied,), ("cpu", 0, "copy"), name="copy")
    engine.push(lambda: None, (gradients[0], copied), (summed,), ("cpu", 0, "priority"), name="sum")
    engine.wait(summed)
    go.set()
    engine.wait_all()
    pairs = trace.overlapping()
    for device in (0, 1):
        for kind in ("copy", "priority"):
            assert frozenset((("cpu", 0, kind), ("cpu", device, "compute"))) in pairs


def test_one_thread_for_all_lanes_overlaps_nothing(make_engine: Any) -> None:
    engine = make_engine("NaiveEngine")
    trace = Trace(engine)
    for lane in LANES:
        engine.push(lambda: time.sleep(0.001), (), (Var(),), lane)
    engine.wait_all()
    assert len(trace.spans) == len(LANES)
    assert trace.overlapping() == set()


def test_a_store_sums_while_a_device_computes() -> None:
    with use_engine("ThreadedEnginePerDevice") as engine:
        store: Any = kvstore.create("device")
        store.init("weight", nd.zeros((300, 300)))
        parts = [nd.ones((300, 300), ctx=cpu(device)) for device in (0, 1)]
        out, go = nd.zeros((300, 300)), threading.Event()
        nd.waitall()
        trace = Trace(engine)

        def long() -> None:
            assert go.wait(LONG_S)

        engine.push(long, (), (Var(),), ("cpu", 1, "compute"), name="long")
        store.push("weight", parts)
        store.pull("weight", out)
        np.testing.assert_array_equal(out.asnumpy(), np.full((300, 300), 2))
        go.set()
        engine.wait_all()
        busy = ("cpu", 1, "compute")
        others = {lane for pair in trace.overlapping() if busy in pair for lane in pair} - {busy}
        assert others
