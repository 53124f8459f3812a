"""Stores work on a stream of their own: the races they would have, and what need not wait."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import (
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD,
    MXNET_KVSTORE_TREE_ARRAY_BOUND,
    MXNET_KVSTORE_USETREE,
    MXNET_UPDATE_ON_KVSTORE,
)
from gluonish.gluon import nn
from gluonish.kernels.cupy import DeviceStream
from gluonish.kvstore import KVStore, device_sums
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.programs import failures, train

pytestmark = pytest.mark.timeout(120)
GPUS = [mx.gpu(0), mx.gpu(1)]


def is_threaded() -> bool:
    return type(mx.engine.current_engine()).__name__ != "NaiveEngine"


def exchange(store: Any, rounds: int = 6, size: int = 64) -> list[list[float]]:
    """Add up gradients, change them, and drop what a store took; return what it had each time."""
    store.init("w", nd.zeros((size,), ctx=GPUS[0]))
    pulled = []
    for i in range(rounds):
        values = [nd.full((size,), i + 1, ctx=ctx) * 2 for ctx in GPUS]
        store.push("w", values)
        values = [value * 0 for value in values]
        outs = [nd.empty((size,), ctx=ctx) for ctx in GPUS]
        store.pull("w", outs)
        pulled.append([float(out[0].asscalar()) for out in outs] if i % 3 == 2 else [])
        more = [out * 2 for out in outs]
        del values, outs, more
        nd.ones((size,), ctx=GPUS[i % 2])
    nd.waitall()
    return pulled


@pytest.fixture(params=["local", "device", "trees", "2bit", "sgd", "function"])
def store(request: pytest.FixtureRequest) -> Any:
    if request.param == "trees":
        with MXNET_KVSTORE_USETREE.override(True), MXNET_KVSTORE_TREE_ARRAY_BOUND.override(10):
            return KVStore("device")
    made = KVStore("local" if request.param == "local" else "device")
    if request.param == "2bit":
        made.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    elif request.param == "sgd":
        made.set_optimizer(mx.optimizer.SGD(learning_rate=1.0))
    elif request.param == "function":
        made._set_updater(lambda key, total, stored: stored.__iadd__(total))
    return made


def test_what_stores_do_has_an_order(gpus: Any, store: Any) -> None:
    got = exchange(store)
    if store._compression is not None:
        expected = [1, 1]
    elif store._updater is None:
        expected = [12, 24]
    else:
        sign = 1 if type(store._updater).__name__ == "function" else -1
        expected = [sign * 4 * 6, sign * 4 * 21]
    assert [got[2], got[5]] == [[x, x] for x in expected]


def test_training_in_a_store_on_two_gpus_gives_what_two_cpus_give(gpus: Any) -> None:
    with MXNET_UPDATE_ON_KVSTORE.override(True):
        got = train(GPUS, steps=2, static_alloc=True)
        want = train([mx.cpu(0), mx.cpu(1)], steps=2)
    for name, value in want.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-4, atol=1e-6)


def stores_in_used_memory() -> None:
    """Copy into a new array that has the memory of one that a kernel still writes."""
    store, value = KVStore("device"), nd.ones((64,), ctx=GPUS[0])
    mx.engine.current_engine().mark(value._device.lane)
    used = nd.ones((64,), ctx=GPUS[0]) * 2
    del used
    store.init("w", value)


def drops_what_is_summed() -> None:
    """Compute in memory of gradients that a sum may still read."""
    store = KVStore("device")
    store.init("w", nd.zeros((64,), ctx=GPUS[0]))
    for _ in range(3):
        store.push("w", [nd.ones((64,), ctx=ctx) for ctx in GPUS])
        for ctx in GPUS:
            nd.zeros((64,), ctx=ctx)


def sums_while_the_last_sum_is_used() -> None:
    """Add up gradients that were there before the update by others, whose sum has gone."""
    store, engine = KVStore("device"), mx.engine.current_engine()
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1.0))
    keys = ["v", "w", "x"]
    store.init(keys, [nd.zeros((64,), ctx=GPUS[0])] * 3)
    gradients = [[nd.ones((64,), ctx=ctx) for ctx in GPUS] for _ in keys]
    for x in gradients[0]:
        engine.mark(x._device.lane)
    for key, values in zip(keys, gradients, strict=True):
        store.push(key, values)
        device: Any = values[0]._device
        sums = device.communication
        sums.synchronize_event(sums.record())
        sums.release()


PROGRAMS = [stores_in_used_memory, drops_what_is_summed, sums_while_the_last_sum_is_used]


@pytest.mark.parametrize("program", PROGRAMS)
def test_memory_is_used_again_only_when_everybody_is_through(gpus: Any, program: Any) -> None:
    program()
    nd.waitall()


def test_double_finds_a_new_array_that_compute_still_uses(
    gpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_threaded():
        pytest.skip("the naive engine synchronizes after each launch")
    push = device_sums.push_async

    def without_order(*given: Any, private: bool = False) -> None:
        push(*given, private=True)

    monkeypatch.setattr(device_sums, "push_async", without_order)
    assert "Race" in failures(stores_in_used_memory)


def test_double_finds_arrays_that_are_not_kept(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_threaded():
        pytest.skip("the naive engine synchronizes after each launch")
    monkeypatch.setattr(DeviceStream, "keep", lambda self, *used: None)
    assert "Race" in failures(drops_what_is_summed)


def test_double_finds_a_sum_that_is_not_lent(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_threaded():
        pytest.skip("the naive engine synchronizes after each launch")
    monkeypatch.setattr("gluonish.kvstore.kvstore.keep_alive", lambda array: None)
    assert "Race" in failures(sums_while_the_last_sum_is_used)


def test_a_sum_does_not_come_behind_later_kernels(gpus: Any, machine: Machine) -> None:
    if not is_threaded():
        pytest.skip("the naive engine synchronizes after each launch")
    gradients = [nd.ones((8,), ctx=ctx) * 3 for ctx in GPUS]
    store, engine = KVStore("device"), mx.engine.current_engine()
    store.init("w", nd.zeros((8,), ctx=GPUS[0]))
    store.push("w", gradients)  # from here on nothing of it is new
    gradients = [x.__imul__(2) for x in gradients]
    devices: list[Any] = [x._device for x in gradients]
    for device in devices:
        engine.mark(device.lane)
    before = {device.compute.raw._name: device.compute.raw._step() for device in devices}
    later = [(x + 1) * 2 for x in gradients]
    store.push("w", gradients)
    summed = devices[0].communication.raw
    for name, step in before.items():
        assert summed._clock[name] < step
    out = nd.zeros((8,), ctx=GPUS[1])
    store.pull("w", out)
    assert out.asnumpy().tolist() == [12.0] * 8
    del later


def test_kernels_do_not_come_behind_a_sum(gpus: Any) -> None:
    if not is_threaded():
        pytest.skip("the naive engine synchronizes after each launch")
    store = KVStore("device")
    store.init("w", nd.zeros((8,), ctx=GPUS[0]))
    store.push("w", [nd.ones((8,), ctx=ctx) for ctx in GPUS])
    device: Any = nd.ones((8,), ctx=GPUS[0])._device
    assert device.communication.raw._name not in device.compute.raw._clock


def test_sum_of_a_last_layer_does_not_come_behind_the_first_ones(gpus: Any) -> None:
    if not is_threaded():
        pytest.skip("the naive engine synchronizes after each launch")
    with MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD.override(1):
        net = nn.HybridSequential()
        net.add(*(nn.Dense(4, in_units=4) for _ in range(4)))
        net.initialize(ctx=GPUS)
        net.hybridize(static_alloc=True, static_shape=True)
        last: Any = net[3]
        store = KVStore("device")
        store.init("w", last.weight.data(GPUS[0]))
        behind = []
        for _ in range(2):  # what is new the first time, is not the second
            with autograd.record():
                outs = [net(nd.ones((2, 4), ctx=ctx)) for ctx in GPUS]
            autograd.backward(outs)
            devices: list[Any] = [out._device for out in outs]
            store.push("w", last.weight.list_grad())
            summed = devices[0].communication.raw
            behind = [
                device.compute.raw._clock[device.compute.raw._name]
                - summed._clock[device.compute.raw._name]
                for device in devices
            ]
        assert min(behind) > 0
