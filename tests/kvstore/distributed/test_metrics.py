"""Numbers that users look at are the same on all ranks: metrics, norms of gradients, Estimators."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.kvstore.distributed.jobs import run_job

pytestmark = pytest.mark.dist

METRICS = """
import json
import numpy as np
import gluonish as mx
from gluonish import nd
store = mx.kv.create("dist_sync")
random = np.random.default_rng(0)
labels, scores = random.integers(0, 2, (6, 5)), random.dirichlet([1, 1], (6, 5))
found = mx.metric.create(["acc", "ce", "mcc", "pcc", lambda label, pred: float(pred[:, 0].sum())])
for i in range(6):
    if i % store.num_workers == store.rank:
        found.update([nd.array(labels[i])], [nd.array(scores[i])])
print(json.dumps(found.over_ranks(store).get()[1]))
"""


def test_a_metric_over_ranks_has_seen_all_batches() -> None:
    found = {}
    for ranks in (1, 2, 3):
        job = run_job(ranks, METRICS)
        assert (job.status, job.errors) == (0, "")
        assert len(set(job.lines)) == 1
        found[ranks] = json.loads(job.lines[0])
    np.testing.assert_allclose(found[2], found[1], 1e-12)
    np.testing.assert_allclose(found[3], found[1], 1e-12)


CLIP = """
import json
import sys
import numpy as np
import gluonish as mx
from gluonish import autograd, gluon, nd
devices = int(sys.argv[1])
contexts = [mx.cpu(i) for i in range(devices)]
store = mx.kv.create("dist_device_sync")
mx.random.seed(3)
net = gluon.nn.Dense(3, in_units=4)
net.initialize(ctx=contexts)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0}, kvstore=store,
                        update_on_kvstore=False)
random = np.random.default_rng(0)
norms = []
for _ in range(3):
    share = 8 // store.num_workers
    data = random.standard_normal((8, 4))[store.rank * share:][:share]
    parts = gluon.utils.split_and_load(nd.array(data), contexts)
    with autograd.record():
        losses = [(net(part) ** 2).sum() for part in parts]
    autograd.backward(losses)
    trainer.allreduce_grads()
    for context in contexts:  # each device has the sums of all, and clips them by itself
        grads = [p.grad(context) for p in net.collect_params().values()]
        norms.append(float(gluon.utils.clip_global_norm(grads, 0.5)))
    trainer.update(1)
norms = norms[::devices]
weights = [p.data(contexts[-1]).asnumpy().ravel().tolist() for p in net.collect_params().values()]
print(json.dumps([norms, sum(weights, [])]))
"""


def test_norms_of_summed_gradients_are_those_of_one_process() -> None:
    found: dict[tuple[int, int], Any] = {}
    for ranks, devices in ((1, 1), (2, 1), (2, 2)):
        job = run_job(ranks, CLIP, str(devices))
        assert (job.status, job.errors) == (0, "")
        assert len(set(job.lines)) == 1, "all ranks have the same bits"
        found[ranks, devices] = json.loads(job.lines[0])
    norms, weights = found.pop((1, 1))
    assert min(norms) > 0.5, "all are clipped"
    for others, values in found.values():
        np.testing.assert_allclose(others, norms, 1e-5)
        np.testing.assert_allclose(values, weights, 1e-5, 1e-6)


ESTIMATOR = """
import sys
import numpy as np
import gluonish as mx
from gluonish import gluon, nd
from gluonish.gluon.contrib.estimator import EarlyStoppingHandler, Estimator
folder = sys.argv[1]
store = mx.kv.create("dist_sync")
rank, size = store.rank, store.num_workers
mx.random.seed(1)
net = gluon.nn.Dense(3, in_units=6)
net.initialize(mx.init.Xavier())
net.hybridize()
options = {"learning_rate": 2.0, "rescale_grad": 1.0 / size}
trainer = gluon.Trainer(net.collect_params(), "sgd", options, kvstore="dist_sync")
random = np.random.default_rng(0)
data = random.standard_normal((72, 6)).astype("float32")
dataset = gluon.data.ArrayDataset(data, data.argmax(1) % 3)

def loader(first, last):
    part = gluon.data.ArrayDataset(*dataset[first:last])
    sampler = gluon.data.SplitSampler(last - first, size, rank)
    return gluon.data.DataLoader(part, 12 // size, sampler=sampler)

loss = gluon.loss.SoftmaxCrossEntropyLoss()
estimator = Estimator(net, loss, mx.metric.Accuracy(), trainer=trainer)
seen = []
class Watch(mx.gluon.contrib.estimator.event_handler.EpochEnd):
    def epoch_end(self, estimator, *args, **kwargs):
        seen.extend(m.get()[1] for m in [*estimator.train_metrics, *estimator.val_metrics])
stop = EarlyStoppingHandler(estimator.val_metrics[0], patience=2, mode="max")
estimator.fit(loader(0, 48), loader(48, 72), epochs=30, event_handlers=[stop, Watch()])
with open(f"{folder}/{rank}.txt", "w") as file:
    print(*seen, file=file)
if rank == 0:
    estimator.evaluate(loader(48, 72))  # alone: nobody waits for the others
"""


def test_an_estimator_tells_and_decides_by_the_numbers_of_all_ranks(tmp_path: Path) -> None:
    values = {}
    for ranks in (1, 2):
        job = run_job(ranks, ESTIMATOR, str(tmp_path))
        assert (job.status, job.errors) == (0, "")
        texts = [(tmp_path / f"{rank}.txt").read_text() for rank in range(ranks)]
        assert len(set(texts)) == 1, "all ranks see the same numbers, and stop together"
        values[ranks] = list(map(float, texts[0].split()))
        begins = [line for line in job.lines if line.startswith("Training begin")]
        assert len(begins) == 1, "the first rank alone writes lines"
    assert 2 < len(values[1]) < 60, "it stopped early"
    np.testing.assert_allclose(values[2], values[1], 1e-6)
