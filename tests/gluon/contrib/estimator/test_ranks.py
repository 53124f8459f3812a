"""Estimator.fit in several processes whose data differs in length."""

import json
from typing import Any

import numpy as np
import pytest

from tests.kvstore.distributed.jobs import run_job

pytestmark = pytest.mark.dist

PROGRAM = """
import json
import logging
import sys
import warnings
import numpy as np
import gluonish as mx
from gluonish.gluon.contrib.estimator import Estimator
from gluonish.gluon.data import ArrayDataset, DataLoader

kind, accumulate, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
store = mx.kv.create("dist_sync")
counts = [11, 7] if kind != "equal" else [8, 8]
first = sum(counts[: store.rank])
x = np.random.RandomState(0).randn(18, 3).astype("float32")[first : first + counts[store.rank]]
y = np.random.RandomState(1).randn(18, 1).astype("float32")[first : first + counts[store.rank]]
net = mx.gluon.nn.Dense(1, in_units=3, use_bias=False, flatten=False)
net.initialize(mx.init.One())
options = {"learning_rate": 0.1, "rescale_grad": 1 / store.num_workers}
trainer = mx.gluon.Trainer(net.collect_params(), "sgd", options, kvstore=store)
def samples():
    yield from zip(x, y)
dataset = samples if kind == "stream" else ArrayDataset(x, y)
loader = DataLoader(dataset, 4)
estimator = Estimator(
    net, mx.gluon.loss.L2Loss(), mx.metric.Loss(), trainer=trainer, context=mx.cpu()
)
estimator.logger.setLevel(logging.ERROR)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    options = {} if folder == "-" else {"checkpoints": folder, "resume": True}
    estimator.fit(loader, epochs=2, accumulate=accumulate, **options)
texts = [str(x.message) for x in said if "as many batches" in str(x.message)]
print(json.dumps([net.weight.data().asnumpy().tolist(), store.rank, len(texts)]))
"""

X = np.random.RandomState(0).randn(18, 3).astype("float32").astype("float64")
Y = np.random.RandomState(1).randn(18, 1).astype("float32").astype("float64")


def descent(groups: list[list[int]]) -> np.ndarray[Any, Any]:
    w = np.ones((1, 3))
    for rows in groups:
        x, y = X[rows], Y[rows]
        w = w - 0.1 * ((x @ w.T - y) * x).mean(axis=0, keepdims=True)
    return w


@pytest.mark.parametrize("kind", ["arrays", "stream"])
@pytest.mark.parametrize("accumulate", [1, 3])
def test_an_epoch_ends_with_the_shortest_data_and_updates_are_means_of_all(
    kind: str, accumulate: int
) -> None:
    job = run_job(2, PROGRAM, kind, str(accumulate), "-")
    assert (job.status, job.errors) == (0, "")
    found = [json.loads(line) for line in job.lines]
    assert sorted(rank for _, rank, _ in found) == [0, 1]
    # Rank 0 has batches of 4, 4 and 3 samples, rank 1 of 4 and 3: two steps, with 8 and 7 samples.
    steps = [[*range(4), *range(11, 15)], [*range(4, 8), *range(15, 18)]]
    groups = steps if accumulate == 1 else [steps[0] + steps[1]]
    for weight, rank, warned in found:
        np.testing.assert_allclose(weight, descent(groups * 2), rtol=1e-5)
        assert warned == (2 if rank == 0 else 0)  # a batch of rank 0 is not used, in two epochs


def test_a_checkpoint_of_another_number_of_ranks_is_refused(tmp_path: str) -> None:
    folder = str(tmp_path)
    assert run_job(2, PROGRAM, "equal", "1", folder).status == 0
    job = run_job(1, PROGRAM.replace("epochs=2", "epochs=3"), "equal", "1", folder)
    assert job.status
    assert "expected as many processes as the checkpoint in" in job.errors
    assert "2, got 1" in job.errors
