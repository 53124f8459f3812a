"""Streams of unequal parts on several ranks: equal numbers of steps, or the end with the reason."""

import time
from pathlib import Path

import numpy as np
import pytest

from gluonish.gluon.data import ShardWriter
from tests.kvstore.distributed.jobs import run_job

pytestmark = pytest.mark.dist

TRAINING = """
import sys
import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.gluon.data import DataLoader, IterableDataset, ShardDataset
kind, pattern = sys.argv[1:]
store = mx.kv.create("dist_sync")
rank = store.rank
class Short(IterableDataset):
    def __iter__(self):
        return ((nd.ones(2), 1.0) for _ in range(12 - 8 * rank))
dataset = Short()
if kind == "shards":
    dataset = ShardDataset(pattern, ("npy", "cls"), shuffle=True, samples_per_epoch=12,
                           num_parts=store.num_workers, part_index=rank)
loader = DataLoader(dataset, batch_size=4, num_workers=2, thread_pool=True)
net = gluon.nn.Dense(1, in_units=2)
net.initialize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore=store)
steps = 0
for epoch in range(2):
    for x, y in loader:
        with autograd.record():
            loss = net(nd.cast(nd.array(x), "float32")).sum()
        loss.backward()
        trainer.step(4)
        steps += 1
nd.waitall()
print(rank, steps)
"""


def test_ranks_whose_shards_end_early_run_as_many_steps(tmp_path: Path) -> None:
    # The first rank has 2 samples and 10, the second one 3 and 1.
    for shard, size in enumerate((2, 3, 10, 1)):
        with ShardWriter(tmp_path / f"{shard}-%d.tar") as writer:
            for i in range(size):
                writer.write({"__key__": str(i), "npy": np.ones(2), "cls": i})
    job = run_job(2, TRAINING, "shards", f"{tmp_path}/*.tar", timeout=60)
    assert (job.status, job.errors) == (0, "")
    first, second = (line.split() for line in job.lines)
    assert first == ["0", "8"]
    assert second == ["1", "8"]


def test_a_stream_that_ends_early_on_one_rank_ends_the_job() -> None:
    start = time.perf_counter()
    job = run_job(2, TRAINING, "short", "", timeout=30, GLUONISH_DISTRIBUTED_TIMEOUT="3")
    assert job.status != 0
    assert time.perf_counter() - start < 25
    assert "each rank must run the same number of steps" in job.errors
