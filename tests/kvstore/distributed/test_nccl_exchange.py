"""Sums over the GPUs of several processes: on the doubles of CuPy and of NCCL."""

import pytest

from tests.kvstore.distributed.jobs import run_job

pytestmark = pytest.mark.dist

START = """
import hashlib
import sys
import numpy as np
from mpi4py import MPI
import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.kvstore.distributed import channel, observers
from gluonish.kvstore.nccl_exchange import NCCLExchange
from gluonish.kvstore.sync_store import SyncStore
from tests.kernels.cupy.install import gpu_contexts, importable_cupyx
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.nccl_double import make_nccl
rank, size = channel().world.rank, channel().world.size
told = []
observers.observers.append(told.append)

def digest(arrays):
    return hashlib.sha256(b"".join(x.tobytes() for x in arrays)).hexdigest()

def train(store, contexts, **options):
    mx.random.seed(1)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(16, activation="tanh", in_units=6), gluon.nn.Dense(4, in_units=16))
    net.initialize(mx.init.Xavier(), ctx=contexts)
    net.hybridize()
    trainer = gluon.Trainer(
        net.collect_params(), "adam", {"learning_rate": 0.05}, kvstore=store, **options
    )
    loss, random = gluon.loss.SoftmaxCrossEntropyLoss(), np.random.default_rng(0)
    share = slice(rank * 12 // size, (rank + 1) * 12 // size)
    for _ in range(3):
        batch = random.standard_normal((12, 6)), random.integers(0, 4, 12)
        parts = [gluon.utils.split_and_load(nd.array(x[share]), contexts) for x in batch]
        with autograd.record():
            losses = [loss(net(x), y) for x, y in zip(*parts)]
        autograd.backward(losses)
        trainer.step(12)
    values = [[p.data(c).asnumpy() for p in net.collect_params().values()] for c in contexts]
    assert all(digest(one) == digest(values[0]) for one in values)
    return values[0]
"""

TRAIN = (
    START
    + """
with importable_cupyx(), gpu_contexts(Machine(devices=2), sys.argv[1]):
    nccl, groups = make_nccl(MPI.COMM_WORLD.Dup())
    expected = train(SyncStore("dist_sync", channel()), [mx.cpu()])
    for devices in ([mx.gpu(0)], [mx.gpu(1), mx.gpu(0)]):
        for options in ({}, {"update_on_kvstore": True}, {"shard_optimizer_states": True}):
            store = SyncStore("dist_device_sync", channel(), NCCLExchange(nccl, channel()))
            groups.clear()
            got = train(store, devices, **options)
            for a, b in zip(got, expected):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
            assert groups == [4] * 3, "all four weights in one group, three times"
            print(len(devices), *options, digest(got))
    nd.waitall()
"""
)


@pytest.mark.parametrize("engine", ["NaiveEngine", "ThreadedEnginePerDevice"])
def test_gpus_of_all_ranks_add_up_through_one_communicator(engine: str) -> None:
    job = run_job(2, TRAIN, engine)
    assert (job.status, job.errors) == (0, "")
    assert len(job.lines) == 2 * 6
    assert len(set(job.lines)) == 6, "the same bits on both ranks"


REFUSED = (
    START
    + """
kind = sys.argv[1]
with importable_cupyx(), gpu_contexts(Machine(devices=2), "ThreadedEnginePerDevice") as cupy:
    nccl, groups = make_nccl(MPI.COMM_WORLD.Dup())
    if kind == "one has none" and rank == 1:
        nccl = None
    if kind == "they share a GPU":
        cupy.cuda.runtime.deviceGetPCIBusId = lambda number: "0000:01:00.0"
    store = SyncStore("dist_device_sync", channel(), NCCLExchange(nccl, channel()))
    context = mx.cpu() if kind == "one is on the CPU" and rank == 1 else mx.gpu(0)
    store.init("a", nd.zeros((3,), ctx=context))
    x = nd.ones((3,), ctx=context) * (rank + 1)
    store.pushpull("a", x, out=x)
    assert x.asnumpy().tolist() == [3, 3, 3]
    assert not groups
    nd.waitall()
"""
)


@pytest.mark.parametrize("kind", ["one has none", "they share a GPU", "one is on the CPU"])
def test_where_gpus_cannot_main_memory_serves(kind: str) -> None:
    job = run_job(2, REFUSED, kind)
    assert (job.status, job.errors) == (0, "")


DIFFERENT = (
    START
    + """
with importable_cupyx(), gpu_contexts(Machine(devices=2), "ThreadedEnginePerDevice"):
    nccl, groups = make_nccl(MPI.COMM_WORLD.Dup())
    store = SyncStore("dist_device_sync", channel(), NCCLExchange(nccl, channel()))
    store.init(["a", "b"], [nd.zeros((3,), ctx=mx.gpu(0))] * 2)
    store.push("a", nd.ones((3,), ctx=mx.gpu(0)))
    store.push("ab"[rank], nd.ones((3,), ctx=mx.gpu(0)))
    nd.waitall()
"""
)


def test_ranks_that_differ_are_told_before_anything_is_launched() -> None:
    job = run_job(2, DIFFERENT)
    assert job.status == 1
    assert "expected the same call on all ranks, got push of 'a', 1 arrays on rank 0" in job.errors
