"""Stores of several processes: the weights are one process's, and the same bits in each."""

import pytest

from tests.distributed.jobs import run_job

pytestmark = pytest.mark.dist

VALUES = """
import numpy as np
import gluonish as mx
from gluonish import nd
store = mx.kv.create("dist_sync")
rank, size = store.rank, store.num_workers
store.init("a", nd.ones((3, 4)) * (rank + 5))
out = nd.zeros((3, 4))
store.pull("a", out)
assert (out.asnumpy() == 5).all(), "the value of rank 0 counts"
store.push("a", [nd.ones((3, 4)) * (rank + 1), nd.ones((3, 4))])
store.pull("a", out)
assert (out.asnumpy() == size * (size + 1) / 2 + size).all()
for dtype in ("float16", "float64", "int32", "uint8", "bfloat16"):
    store.init(dtype, nd.zeros((5,), dtype=dtype))
    got = nd.zeros((5,), dtype=dtype)
    store.pushpull(dtype, nd.ones((5,), dtype=dtype) * (rank + 1), out=got)
    assert (got.astype("float32").asnumpy() == size * (size + 1) / 2).all(), dtype
large = nd.array(np.arange(300_000, dtype=np.float32).reshape(300, 1000))
store.init("large", large)
store.pushpull("large", large, out=large)
assert (large.asnumpy().reshape(-1) == np.arange(300_000) * size).all()
rows = nd.sparse.row_sparse_array((nd.ones((2, 2)), [rank, 3]), shape=(5, 2))
store.init("rows", nd.zeros((5, 2)).tostype("row_sparse"))
store.push("rows", rows)
wanted = nd.sparse.zeros("row_sparse", (5, 2))
store.row_sparse_pull("rows", out=wanted, row_ids=nd.arange(5))
expected = np.zeros((5, 2))
for r in range(size):
    expected[[r, 3]] += 1
np.testing.assert_array_equal(wanted.asnumpy(), expected)
store.barrier()
print(rank, size, store.type)
"""


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_values_are_those_of_all_processes(ranks: int) -> None:
    job = run_job(ranks, VALUES)
    assert (job.status, job.errors) == (0, "")
    assert job.lines == [f"{rank} {ranks} dist_sync" for rank in range(ranks)]


TRAIN = """
import hashlib
import json
import sys
import numpy as np
import gluonish as mx
from gluonish import autograd, gluon, nd
optimizer, options, in_store, hybrid, devices = json.loads(sys.argv[1])
contexts = [mx.cpu(i) for i in range(devices)]
mx.random.seed(3)
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(16, activation="tanh"), gluon.nn.Dense(4))
net.initialize(mx.init.Xavier(), ctx=contexts)
if hybrid:
    net.hybridize()
store = mx.kv.create("dist_device_sync" if devices > 1 else "dist_sync")
trainer = gluon.Trainer(
    net.collect_params(), optimizer, options, kvstore=store, update_on_kvstore=in_store
)
loss = gluon.loss.SoftmaxCrossEntropyLoss()
random = np.random.default_rng(0)
share = 12 // store.num_workers
for _ in range(8):
    data, label = random.standard_normal((12, 6)).astype("f"), random.integers(0, 4, 12)
    mine = slice(store.rank * share, (store.rank + 1) * share)
    parts = [
        gluon.utils.split_and_load(nd.array(x[mine]), contexts) for x in (data, label)
    ]
    with autograd.record():
        losses = [loss(net(x), y) for x, y in zip(*parts)]
    autograd.backward(losses)
    trainer.step(12)
values = [p.data(contexts[-1]).asnumpy() for p in net.collect_params().values()]
flat = np.concatenate([value.ravel() for value in values])
print(hashlib.sha256(flat.tobytes()).hexdigest(), json.dumps(flat.astype(float).tolist()))
"""


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [
        ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}),
        ("adam", {"learning_rate": 0.01}),
        ("lamb", {"learning_rate": 0.01}),
        ("rmsprop", {"learning_rate": 0.01, "centered": True}),
    ],
)
@pytest.mark.parametrize(("in_store", "hybrid"), [(True, True), (False, False)])
def test_ranks_train_as_one_process_does(
    optimizer: str, options: dict[str, float], in_store: bool, hybrid: bool
) -> None:
    import json

    import numpy as np

    found = {}
    for ranks, devices in ((1, 1), (2, 1), (3, 2)):
        words = json.dumps([optimizer, options, in_store, hybrid, devices])
        job = run_job(ranks, TRAIN, words)
        assert (job.status, job.errors) == (0, "")
        digests = {line.split(" ", 1)[0] for line in job.lines}
        assert len(digests) == 1, "all ranks have the same bits"
        found[ranks] = np.array(json.loads(job.lines[0].split(" ", 1)[1]))
    for ranks in (2, 3):
        np.testing.assert_allclose(found[ranks], found[1], rtol=1e-5, atol=1e-5)


COMPRESSED = """
import numpy as np
import gluonish as mx
from gluonish import nd
from gluonish.distributed import channel
store = mx.kv.create("dist_sync")
rank, size = store.rank, store.num_workers
store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
random = np.random.default_rng(rank)
store.init("a", nd.zeros((64, 100)))
out, sent, given = nd.zeros((64, 100)), np.zeros((64, 100)), np.zeros((64, 100))
store.barrier()
before = channel().sent_nbytes
for _ in range(30):
    mine = random.standard_normal((64, 100)).astype("f") * 0.2
    given += sum(channel().gather(mine, "the same"))
    store.push("a", nd.array(mine))
    store.pull("a", out)
    values = out.asnumpy()
    assert set(np.unique(np.abs(values))) <= {0.5 * i for i in range(size + 1)}
    sent += values
assert channel().sent_nbytes - before == 30 * 64 * 100 * 4 / 16, "a sixteenth"
# What is not sent yet is in the residuals, below a threshold and one gradient a rank.
assert np.abs(sent - given).max() < size * (0.5 + 1.0)
print("good")
"""


def test_two_bits_an_element_are_sent_and_nothing_is_lost() -> None:
    job = run_job(2, COMPRESSED)
    assert (job.status, job.errors, job.lines) == (0, "", ["good", "good"])
