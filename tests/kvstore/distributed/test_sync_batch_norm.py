"""SyncBatchNorm over ranks: what one process with BatchNorm and the whole batch computes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.kvstore.distributed.jobs import run_job

pytestmark = pytest.mark.dist

TRAIN = """
import json
import sys
import numpy as np
import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.gluon.contrib.nn import SyncBatchNorm
from gluonish.gluon import nn
layer, devices, hybrid, by_name, folder = json.loads(sys.argv[1])
contexts = [mx.cpu(i) for i in range(devices)]
probe = mx.kv.create("dist_sync") if not by_name else None

def norm(**options):
    if layer == "BatchNorm":
        return nn.BatchNorm(**options)
    return SyncBatchNorm(num_devices=devices, **options)

mx.random.seed(3)
net = nn.HybridSequential(prefix="net_")
with net.name_scope():
    net.add(nn.Conv2D(6, 3, padding=1, use_bias=False, in_channels=2), norm(in_channels=6),
            nn.Activation("relu"), nn.MaxPool2D(2), nn.Dense(7, in_units=24),
            norm(scale=False, momentum=0.7, in_channels=7), nn.Dense(4, in_units=7))
net.initialize(mx.init.Xavier(), ctx=contexts)
if hybrid:
    net.hybridize(static_alloc=True)
# A store that is named is made in the first step, after the first statistics.
store = "dist_sync" if by_name else probe
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9},
                        kvstore=store)
loss = gluon.loss.SoftmaxCrossEntropyLoss()
random = np.random.default_rng(0)
for step in range(4):
    data, label = random.normal(1, 2, (12, 2, 5, 5)), random.integers(0, 4, 12)
    if step == 0:
        from gluonish.kvstore.distributed import channel
        rank, size = channel().world.rank, channel().world.size
    bounds = {1: [0, 12], 2: [0, 4, 12]}[size]  # ranks have batches of different sizes
    mine = slice(*bounds[rank : rank + 2])
    parts = [gluon.utils.split_and_load(nd.array(x[mine]), contexts) for x in (data, label)]
    with autograd.record():
        losses = [loss(net(x), y) for x, y in zip(*parts)]
    autograd.backward(losses)
    trainer.step(12)
values = {name: p.data(contexts[-1]).asnumpy().tolist() for name, p in net.collect_params().items()}
values["prediction"] = net(nd.array(data)).asnumpy().tolist()
with open(f"{folder}/{rank}.json", "w") as file:
    json.dump(values, file)
"""


def trained(ranks: int, folder: Path, *settings: Any) -> dict[str, Any]:
    job = run_job(ranks, TRAIN, json.dumps([*settings, str(folder)]))
    assert (job.status, job.errors) == (0, "")
    mine, *others = (json.loads((folder / f"{rank}.json").read_text()) for rank in range(ranks))
    assert all(other == mine for other in others), "the same bits, running statistics included"
    found: dict[str, Any] = mine
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return trained(1, tmp_path_factory.mktemp("one"), "BatchNorm", 1, False, False)


@pytest.mark.parametrize(
    ("devices", "hybrid", "by_name"),
    [(1, False, False), (1, True, True), (2, False, True), (2, True, False)],
)
def test_ranks_normalize_together(
    devices: int, hybrid: bool, by_name: bool, expected: dict[str, Any], tmp_path: Path
) -> None:
    found = trained(2, tmp_path, "SyncBatchNorm", devices, hybrid, by_name)
    for (name, value), other in zip(expected.items(), found.values(), strict=True):
        np.testing.assert_allclose(other, value, 1e-4, 1e-5, err_msg=name)


OPERATOR = """
import numpy as np
import gluonish as mx
from gluonish import autograd, nd
kind, failing = __import__("sys").argv[1:]
store = mx.kv.create(kind)
rank, size = store.rank, store.num_workers
random = np.random.default_rng(0)
data, heads = random.normal(3, 2, (2, 6, 3, 4)).astype("f")

def run(operator, rows, **attrs):
    given = [nd.array(data[rows]), *(nd.array(np.ones(3) * i) for i in (1, 2, 3, 4))]
    for x in given[:3]:
        x.attach_grad()
    with autograd.record():
        y = operator(*given, fix_gamma=False, **attrs)
    if failing == "goes alone" and rank == 1:
        return
    y.backward(nd.array(heads[rows]))
    return [y, given[0].grad, *(x.grad for x in given[1:3]), *given[3:]]

mine = slice(rank * 2, 6 if rank == size - 1 else rank * 2 + 2)
found = run(nd.contrib.SyncBatchNorm, mine, ndev=1, key="k")
if found is not None:
    y, dx, dgamma, dbeta, mean, variance = [x.asnumpy() for x in found]
    rows = mine if kind == "dist_async" else slice(None)
    want = [x.asnumpy() for x in run(nd.BatchNorm, rows)]
    inside = slice(None) if kind == "dist_async" else mine
    sums = [dgamma, dbeta] if kind == "dist_async" else [
        sum(store.gather(x)) for x in (dgamma, dbeta)]
    for got, expected in zip([y, dx, *sums, mean, variance],
                             [want[0][inside], want[1][inside], *want[2:]]):
        np.testing.assert_allclose(got, expected, 1e-4, 2e-5)
    print("good")
"""


@pytest.mark.parametrize("store", ["dist_sync", "dist_async"])
def test_outputs_and_gradients_are_those_of_the_whole_batch(store: str) -> None:
    job = run_job(2, OPERATOR, store, "")
    assert (job.status, job.errors, job.lines) == (0, "", ["good", "good"])


def test_it_runs_on_the_naive_engine() -> None:
    job = run_job(2, OPERATOR, "dist_sync", "", MXNET_ENGINE_TYPE="NaiveEngine")
    assert (job.status, job.errors, job.lines) == (0, "", ["good", "good"])


def test_a_rank_that_goes_back_alone_is_told() -> None:
    job = run_job(2, OPERATOR, "dist_sync", "goes alone", GLUONISH_DISTRIBUTED_TIMEOUT="2")
    assert job.status != 0
    assert "_contrib_SyncBatchNorm (backward) (key 'k', variance), 1 arrays on rank 0" in job.errors
    assert "the end of the program on rank 1" in job.errors
