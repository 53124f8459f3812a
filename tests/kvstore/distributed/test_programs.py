"""Programs as MXNet's users started them with ``launch.py -n 2 -s 1``, and newer habits."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.kvstore.distributed.jobs import run_job

pytestmark = pytest.mark.dist

MODULE = """
import argparse
import logging
import os
import numpy as np
import gluonish.as_mxnet
import mxnet as mx

parser = argparse.ArgumentParser()
parser.add_argument("--kv-store", default="local")
parser.add_argument("--num-epochs", type=int, default=4)
args = parser.parse_args()
kv = mx.kvstore.create(args.kv_store)
assert os.environ["DMLC_ROLE"] == "worker"
assert int(os.environ["DMLC_NUM_WORKER"]) == kv.num_workers
random = np.random.RandomState(1)
data = random.uniform(-1, 1, (400, 10)).astype("float32")
label = (data.dot(random.uniform(-1, 1, (10, 3)))).argmax(1).astype("float32")
part = slice(kv.rank, None, kv.num_workers)
train = mx.io.NDArrayIter(data[part], label[part], 20, shuffle=False)
net = mx.sym.Variable("data")
net = mx.sym.FullyConnected(net, num_hidden=16, name="fc1")
net = mx.sym.Activation(net, act_type="relu")
net = mx.sym.FullyConnected(net, num_hidden=3, name="fc2")
net = mx.sym.SoftmaxOutput(net, name="softmax")
mx.random.seed(kv.rank)  # the store spreads the values of rank 0
module = mx.mod.Module(net, context=mx.cpu())
module.fit(
    train,
    kvstore=kv,
    optimizer="sgd",
    optimizer_params={"learning_rate": 0.2, "momentum": 0.9, "rescale_grad": 1.0 / 40},
    initializer=mx.init.Xavier(),
    num_epoch=args.num_epochs,
    epoch_end_callback=mx.callback.do_checkpoint("model") if kv.rank == 0 else None,
)
score = dict(module.score(mx.io.NDArrayIter(data, label, 20), "acc"))["accuracy"]
total = sum(float(abs(x).sum().asscalar()) for x in module.get_params()[0].values())
kv.barrier()
print(kv.rank, round(score, 4), total)
"""


@pytest.mark.parametrize("store", ["dist_sync", "dist_device_sync", "dist_async"])
def test_a_module_trains_on_a_cluster(store: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(MODULE)
    words = ["-n", "2", "-s", "1", "--launcher", "local", "--no-prefix"]
    program = ["python", "train.py", "--kv-store", store]
    done = subprocess.run(
        [sys.executable, "-m", "gluonish", "launch", *words, *program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = sorted(line.split() for line in done.stdout.splitlines())
    assert [rank for rank, _, _ in lines] == ["0", "1"]
    least = 0.6 if store == "dist_async" else 0.9  # guesses get 0.33; steps on old weights cost
    assert all(float(score) > least for _, score, _ in lines)
    if store != "dist_async":
        assert lines[0][1:] == lines[1][1:]
    assert (tmp_path / "model-0004.params").exists()


COMPRESSED = """
import sys
import numpy as np
import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.kvstore.distributed import channel
compression = {"type": "2bit", "threshold": 0.5} if sys.argv[1] == "2bit" else None
mx.random.seed(3)
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(32, activation="relu", in_units=10), gluon.nn.Dense(3, in_units=32))
net.initialize(mx.init.Xavier())
net.hybridize()
store = mx.kv.create("dist_sync")
trainer = gluon.Trainer(
    net.collect_params(), "sgd", {"learning_rate": 0.5}, kvstore=store,
    compression_params=compression,
)
random = np.random.default_rng(1)
data = random.uniform(-1, 1, (400, 10))
label = (data @ random.uniform(-1, 1, (10, 3))).argmax(1)
loss = gluon.loss.SoftmaxCrossEntropyLoss()
part = slice(store.rank, None, store.num_workers)
for step in range(200):
    begin = 40 * step % 400
    x, y = (nd.array(values[begin : begin + 40][part]) for values in (data, label))
    with autograd.record():
        value = loss(net(x), y)
    value.backward()
    if step == 0:
        trainer._init_kvstore()
        before = channel().sent_nbytes
    trainer.step(40)
final = float(loss(net(nd.array(data)), nd.array(label)).mean().asscalar())
sent = channel().sent_nbytes - before
if store.rank == 0:
    print(final, sent)
"""


def test_compressed_training_ends_near_the_other_and_sends_a_sixteenth() -> None:
    found = {}
    for kind in ("none", "2bit"):
        job = run_job(2, COMPRESSED, kind)
        assert (job.status, job.errors) == (0, "")
        found[kind] = list(map(float, job.lines[0].split()))
    (loss, sent), (compressed, packed) = found["none"], found["2bit"]
    assert loss < 0.15  # from 1.1
    assert abs(compressed - loss) < 0.02 * 1.1  # of the loss that training began with
    assert packed < sent / 12  # small arrays fill up a word, and first values go as they are


LOADER = """
import json
import sys
import numpy as np
import gluonish as mx
from gluonish import autograd, gluon, nd
store = mx.kv.create("dist_sync")
dataset = gluon.data.ArrayDataset(np.arange(23, dtype="float32"), np.arange(23) % 3)
sampler = gluon.data.SplitSampler(len(dataset), store.num_workers, store.rank, shuffle=True)
loader = gluon.data.DataLoader(dataset, 4, sampler=sampler, num_workers=1, last_batch="rollover")
net = gluon.nn.Dense(3, in_units=1)
net.initialize()
trainer = gluon.Trainer(net.collect_params(), "adam", kvstore=store, update_on_kvstore=False)
loss = gluon.loss.SoftmaxCrossEntropyLoss()
seen, norms = [], []
for x, y in loader:
    with autograd.record():
        value = loss(net(x.reshape((-1, 1))), y)
    value.backward()
    trainer.allreduce_grads()
    grads = [p.grad() for p in net.collect_params().values()]
    norms.append(float(gluon.utils.clip_global_norm(grads, 0.5)))
    trainer.update(8)
    seen += x.asnumpy().tolist()
print(json.dumps([store.rank, seen, norms]))
"""


def test_shares_of_a_loader_with_workers_and_one_norm_for_all() -> None:
    job = run_job(2, LOADER)
    assert (job.status, job.errors) == (0, "")
    (_, first, norms), (_, second, others) = map(json.loads, job.lines)
    assert norms == others
    assert min(norms) > 0
    assert len(first) == len(second) == 12
    assert set(first) | set(second) == set(range(23))


ESTIMATOR = """
import logging
import sys
import numpy as np
import gluonish as mx
from gluonish import gluon, nd
from gluonish.gluon.contrib.estimator import CheckpointHandler, Estimator
epochs, folder = int(sys.argv[1]), sys.argv[2]
logging.disable(logging.WARNING)
store = mx.kv.create("dist_sync")
mx.random.seed(1 + store.rank)
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(8, activation="tanh", in_units=6), gluon.nn.Dense(3, in_units=8))
net.initialize(mx.init.Xavier())
net.hybridize()
options = {"learning_rate": 0.1, "momentum": 0.9, "rescale_grad": 1.0 / store.num_workers}
trainer = gluon.Trainer(net.collect_params(), "sgd", options, kvstore=store)
random = np.random.default_rng(0)
data = random.standard_normal((48, 6)).astype("float32")
dataset = gluon.data.ArrayDataset(data, data.argmax(1) % 3)
sampler = gluon.data.SplitSampler(48, store.num_workers, store.rank)
loader = gluon.data.DataLoader(dataset, 12 // store.num_workers, sampler=sampler)
estimator = Estimator(
    net, gluon.loss.SoftmaxCrossEntropyLoss(), mx.metric.Accuracy(), trainer=trainer
)
handler = CheckpointHandler(folder, "net", resume_from_checkpoint=True, max_checkpoints=2)
estimator.fit(loader, epochs=epochs, event_handlers=[handler])
print(" ".join(f"{v:.5f}" for p in trainer._params for v in p.data().asnumpy().ravel()))
"""


def test_an_estimator_goes_on_with_another_number_of_ranks(tmp_path: Path) -> None:
    ends = []
    for steps in (((2, 4),), ((2, 2), (1, 3), (3, 4))):  # (ranks, epochs in all)
        folder = tmp_path / str(len(steps))
        for ranks, epochs in steps:
            job = run_job(ranks, ESTIMATOR, str(epochs), str(folder))
            assert (job.status, job.errors) == (0, "")
            assert len(set(job.lines)) == 1, "all ranks end alike"
        ends.append(np.array(job.lines[0].split(), dtype=float))
        names = sorted(path.name for path in folder.iterdir())
        kept = [name.partition("batch")[0] for name in names if name.endswith(".states")]
        assert kept[-2:] == ["net-epoch2", "net-epoch3"]
    np.testing.assert_allclose(ends[0], ends[1], atol=2e-5)
