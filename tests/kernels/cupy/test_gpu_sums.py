"""Trainers on several GPUs whose stores sum by NCCL, in buckets, on the double."""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core.config import GLUONISH_KVSTORE_BUCKET_MB
from gluonish.core.errors import OperatorError
from gluonish.kvstore import nccl_reduce, nccl_team
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.nccl_double import LocalNCCL

pytestmark = pytest.mark.timeout(120)

BUCKET = 4 * 70  # bytes: two or three arrays of the network below
UNITS = (8, 6, 4)
NUMBERS = (0, 1)


@pytest.fixture
def gpus(machine: Machine) -> Iterator[Any]:
    """Two GPUs with the default engine."""
    with gpu_contexts(machine, "ThreadedEnginePerDevice") as cupy:
        yield cupy


@pytest.fixture
def nccl(gpus: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> LocalNCCL:
    """NCCL, where stores look for it, and small buckets."""
    made = LocalNCCL(machine)
    for module in (nccl_reduce, sys.modules["gluonish.kvstore.create"]):
        monkeypatch.setattr(module, "find_nccl", lambda: made)
    flag = GLUONISH_KVSTORE_BUCKET_MB
    monkeypatch.setattr(nccl_reduce, "bucket_nbytes", lambda: BUCKET if flag.value else 0)
    return made


def network(contexts: list[Any], dtype: str = "float32", **changes: Any) -> Any:
    net = gluon.nn.HybridSequential(prefix="net_")
    for units, inputs in zip(UNITS, (5, *UNITS), strict=False):
        net.add(gluon.nn.Dense(units, activation="tanh", in_units=inputs))
    net.cast(dtype)
    net.initialize(ctx=contexts)
    random = np.random.default_rng(1)
    for name, param in net.collect_params().items():
        param.set_data(nd.array(random.uniform(-0.5, 0.5, param.shape), dtype=dtype))
        for part, req in changes.items():
            if part in name:
                param.grad_req = req
    return net


def train(contexts: list[Any], store: str, steps: int = 3, **options: Any) -> list[Any]:
    """Train on halves of the batches; return the weights of each device."""
    dtype, changes = options.pop("dtype", "float32"), options.pop("changes", {})
    optimizer = options.pop("optimizer", ("sgd", {"learning_rate": 0.1, "momentum": 0.9}))
    net = network(contexts, dtype, **changes)
    trainer = gluon.Trainer(net.collect_params(), *optimizer, kvstore=store, **options)
    loss, random = gluon.loss.L2Loss(), np.random.default_rng(2)
    for _ in range(steps):
        data = random.uniform(-1, 1, (8, 5)).astype(np.float32)
        pieces = gluon.utils.split_and_load(data, contexts)
        with autograd.record():
            losses = [loss(net(x.astype(dtype)), x[:, :4].astype(dtype)) for x in pieces]
        autograd.backward(losses)
        trainer.step(8)
    return [
        np.concatenate([p.data(c).astype("float32").asnumpy().ravel() for p in
                        net.collect_params().values()])
        for c in contexts
    ]  # fmt: skip


def two() -> list[Any]:
    return [mx.gpu(i) for i in NUMBERS]


STORES = [("device", True), ("device", False), ("nccl", False), ("local", True), ("local", False)]


@pytest.mark.parametrize(("store", "update"), STORES)
def test_weights_are_those_of_one_device_and_equal_in_equal_runs(
    nccl: LocalNCCL, store: str, update: bool
) -> None:
    first, second = train(two(), store, update_on_kvstore=update)
    np.testing.assert_array_equal(first, second)
    again, _ = train(two(), store, update_on_kvstore=update)
    np.testing.assert_array_equal(first, again)
    (alone,) = train([mx.gpu(0)], store)
    np.testing.assert_allclose(first, alone, rtol=1e-5, atol=1e-6)
    with GLUONISH_KVSTORE_BUCKET_MB.override(0):
        without, _ = train(two(), "device", update_on_kvstore=update)
    np.testing.assert_array_equal(first, without)


@pytest.mark.parametrize("update", [True, False])
def test_a_step_has_a_group_of_calls_for_each_bucket(nccl: LocalNCCL, update: bool) -> None:
    train(two(), "device", steps=1, update_on_kvstore=update)
    names = [sorted({name for name, *_ in group}) for group in nccl.calls]
    sizes = [[size for _, device, size, _ in group if device == 0] for group in nccl.calls]
    from_the_last = [[4, 24, 6], [48, 8], [40]]
    if update:
        assert names == [["reduce"]] * 3 + [["broadcast"]] * 3
        assert sizes == [*from_the_last, [40, 8], [48, 6], [24, 4]]
    else:
        assert names == [["allReduce"]] * 3
        assert sizes == from_the_last


@pytest.mark.parametrize("update", [True, False])
def test_a_bucket_waits_for_its_gradients_and_for_no_others(nccl: LocalNCCL, update: bool) -> None:
    net = network(two())
    net.hybridize(backward_bulk_size=2)
    trainer = gluon.Trainer(net.collect_params(), "sgd", update_on_kvstore=update)
    for _ in range(2):
        nccl.clocks.clear()
        with autograd.record():
            losses = [net(nd.ones((4, 5), ctx=c)).sum() for c in two()]
        autograd.backward(losses)
        trainer.step(4)
    for context in two():
        compute: Any = net[0].weight.data(context)._device
        known = [clock[compute.compute.raw._name] for clock in nccl.clocks[:3]]
        assert known == sorted(known)
        assert known[0] < known[-1], "the first bucket does not wait for the end of the pass"


@pytest.mark.parametrize("update", [True, False])
def test_gradients_of_16_bits(nccl: LocalNCCL, update: bool) -> None:
    settings = ("nag", {"learning_rate": 0.01, "multi_precision": True})
    options: Any = {"optimizer": settings, "update_on_kvstore": update, "dtype": "float16"}
    first, second = train(two(), "device", **options)
    np.testing.assert_array_equal(first, second)
    (alone,) = train([mx.gpu(0)], "device", optimizer=settings, dtype="float16")
    np.testing.assert_allclose(first, alone, rtol=2e-2, atol=2e-3)
    assert nccl.groups


@pytest.mark.parametrize("update", [True, False])
def test_frozen_and_accumulated_gradients(nccl: LocalNCCL, update: bool) -> None:
    changes = {"dense0_weight": "null", "dense1": "add"}
    with_nccl = train(two(), "device", update_on_kvstore=update, changes=changes)
    assert nccl.groups
    with GLUONISH_KVSTORE_BUCKET_MB.override(0):
        without = train(two(), "device", update_on_kvstore=update, changes=changes)
    np.testing.assert_array_equal(with_nccl, without)


@pytest.mark.parametrize("update", [True, False])
def test_compressed_gradients_give_the_same_with_and_without(nccl: LocalNCCL, update: bool) -> None:
    options: Any = {
        "update_on_kvstore": update,
        "compression_params": {"type": "2bit", "threshold": 0.01},
    }
    with_nccl = train(two(), "device", **options)
    with GLUONISH_KVSTORE_BUCKET_MB.override(0):
        without = train(two(), "device", **options)
    np.testing.assert_array_equal(with_nccl, without)


@pytest.mark.parametrize("update", [True, False])
def test_stale_gradient_of_one_device_counts_as_zero(nccl: LocalNCCL, update: bool) -> None:
    found = []
    for megabytes in (25, 0):
        with GLUONISH_KVSTORE_BUCKET_MB.override(megabytes):
            net = network(two())
            trainer = gluon.Trainer(
                net.collect_params(), "sgd", {"learning_rate": 0.1}, update_on_kvstore=update
            )
            for devices in (two(), two()[1:]):
                with autograd.record():
                    losses = [net(nd.ones((2, 5), ctx=c)).sum() for c in devices]
                autograd.backward(losses)
                trainer.step(1, ignore_stale_grad=True)
        found.append([p.data(c).asnumpy() for p in net.collect_params().values() for c in two()])
    for with_nccl, without in zip(*found, strict=True):
        np.testing.assert_array_equal(with_nccl, without)


def test_mixed_dtypes_share_a_bucket_and_sparse_gradients_go_without(nccl: LocalNCCL) -> None:
    store = mx.kv.create("device")
    kinds = {"a": "float32", "b": "float16", "c": "int32", "d": "int8"}
    values = {k: [nd.ones((3,), ctx=c, dtype=t) * 2 for c in two()] for k, t in kinds.items()}
    values["e"] = [nd.ones((3, 2), ctx=c).tostype("row_sparse") for c in two()]
    for key, arrays in values.items():
        store.init(key, arrays[0].tostype("default").zeros_like())
    store.push([*values], [*values.values()])
    outs = {k: [x.tostype("default").zeros_like() for x in xs] for k, xs in values.items()}
    store.pull([*outs], [*outs.values()])
    assert [x.asnumpy().ravel()[0] for xs in outs.values() for x in xs] == [4] * 8 + [2] * 2
    assert [sorted({dtype for *_, dtype in group}) for group in nccl.calls] == [[0, 2, 6, 7]] * 2


def test_updater_of_the_program_may_keep_the_sum(nccl: LocalNCCL) -> None:
    store, kept = mx.kv.create("device"), []
    store.init(["v", "w"], [nd.zeros((3,), ctx=mx.gpu(0))] * 2)
    store._set_updater(lambda key, total, stored: kept.append(total))
    for step in range(4):
        store.push(["v", "w"], [[nd.ones((3,), ctx=c) * step for c in two()]] * 2)
    assert [x.asnumpy()[0] for x in kept] == [2 * step for step in range(4) for _ in "vw"]


def test_failed_weight_leaves_its_copies_unchanged(nccl: LocalNCCL) -> None:
    store = mx.kv.create("device")
    store.init(["v", "w"], [nd.ones((3,), ctx=mx.gpu(0))] * 2)
    out = [[nd.full((3,), 5, ctx=c) for c in two()] for _ in "vw"]

    def fail(*_: Any) -> None:
        raise ValueError("no weight")

    store._stored["v"]._write(fail, name="broken")
    store.pull(["v", "w"], out)
    with pytest.raises(Exception, match="no weight"):
        out[0][1].asnumpy()
    store.init("x", nd.ones((3,), ctx=mx.gpu(0)))


@pytest.mark.parametrize("store", ["device", "nccl"])
def test_nccl_that_cannot_connect_the_devices_is_left_out_unless_asked_for(
    nccl: LocalNCCL, caplog: pytest.LogCaptureFixture, store: str
) -> None:
    def refuse(devices: list[int]) -> Any:
        raise RuntimeError("NCCL_ERROR_SYSTEM_ERROR")

    nccl.NcclCommunicator.initAll = refuse
    if store == "nccl":
        with pytest.raises(OperatorError, match="NCCL_ERROR_SYSTEM_ERROR"):
            train(two(), store)
        return
    first, second = train(two(), store)
    np.testing.assert_array_equal(first, second)
    assert [record.getMessage() for record in caplog.records] == [
        "kvstore: expected NCCL to connect gpu(0), gpu(1), got NCCL_ERROR_SYSTEM_ERROR; "
        "summing with copies"
    ]


def test_without_nccl_stores_copy_between_devices(gpus: Any, machine: Machine) -> None:
    first, second = train(two(), "device", update_on_kvstore=False)
    np.testing.assert_array_equal(first, second)
    assert nccl_team.bucket_nbytes() == 25 << 20
