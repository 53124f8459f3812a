"""Sharded updates: the weights of unsharded ones, with states that take a share of the memory."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kvstore.distributed.jobs import run_job
from tests.kvstore.distributed.test_sync_store import OPTIMIZERS

pytestmark = pytest.mark.dist

TRAIN = """
import hashlib
import json
import sys
import numpy as np
import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.kvstore.distributed import channel

class Net(gluon.HybridBlock):
    def __init__(self, sparse):
        super().__init__()
        self.embedding = gluon.nn.Embedding(9, 8, sparse_grad=sparse)
        self.first = gluon.nn.Dense(256, activation="tanh", in_units=6 + 24)
        self.second = gluon.nn.Dense(256, activation="tanh", in_units=256)
        self.out = gluon.nn.Dense(256, in_units=256)
        self.bias = gluon.nn.Dense(3, in_units=256)

    def forward(self, x, words):
        x = nd.concat(x, self.embedding(words).reshape((0, -1)), dim=1)
        return self.bias(self.out(self.second(self.first(x))))

def states_size(state):
    if isinstance(state, (tuple, list)):
        return sum(map(states_size, state))
    return 0 if state is None else state.size

def digest(arrays):
    return hashlib.sha256(b"".join(x.tobytes() for x in arrays)).hexdigest()

class Run:
    def __init__(self, optimizer, options, shard, sparse=False, devices=1, dtype="float32"):
        mx.random.seed(3)
        self.net = Net(sparse)
        self.contexts = [mx.cpu(i) for i in range(devices)]
        self.net.cast(dtype)
        self.net.initialize(mx.init.Xavier(), ctx=self.contexts)
        self.net.hybridize()
        self.dtype, self.step = dtype, 0
        self.trainer = gluon.Trainer(
            list(self.net.collect_params().values()), optimizer, dict(options),
            kvstore="dist_sync", shard_optimizer_states=shard,
        )
        self.random = np.random.default_rng(0)

    def train(self, steps=3):
        loss = gluon.loss.SoftmaxCrossEntropyLoss()
        world = channel().world
        share = 12 // world.size
        mine = slice(world.rank * share, (world.rank + 1) * share)
        for _ in range(steps):
            x, words, y = (
                self.random.standard_normal((12, 6)), self.random.integers(0, 9, (12, 3)),
                self.random.integers(0, 3, 12),
            )
            parts = [
                gluon.utils.split_and_load(nd.array(v[mine], dtype=d), self.contexts)
                for v, d in ((x, self.dtype), (words, "float32"), (y, "float32"))
            ]
            with autograd.record():
                losses = [loss(self.net(x, words), y) for x, words, y in zip(*parts)]
            autograd.backward(losses)
            self.trainer.step(12)
        return self

    def weights(self):
        every = [[p.data(c).asnumpy() for p in self.trainer._params] for c in self.contexts]
        assert all(digest(one) == digest(every[0]) for one in every)
        return every[0]

    def states(self):
        return states_size(list(self.trainer._updaters[0].states.values()))
"""

ALL = (
    TRAIN
    + """
found = {}
for name, options in json.loads(sys.argv[1]).items():
    whole, sharded = (Run(name, options, shard).train() for shard in (False, True))
    pairs = zip(whole.weights(), sharded.weights())
    found[name] = {
        "off": max(float(np.abs(a.astype(float) - b).max()) for a, b in pairs),
        "weights": digest(sharded.weights()),
        "states": [whole.states(), sharded.states()],
    }
print(json.dumps(found))
"""
)

# Optimizers without sharded states: by their own account, or as they have none.
UNSHARDED = {"sgld": "draws noise", "lbsgd": "gathers gradients"}
# They need whole weights; kernels that sum up norms go another way for few arrays.
ROUNDED = {"lamb", "lans", "lars", "groupadagrad"}


@pytest.mark.parametrize("ranks", [2, 3])
def test_all_optimizers_give_the_weights_of_unsharded_updates(ranks: int) -> None:
    momentum = {"momentum": 0.9}  # or there are no states
    settings = OPTIMIZERS | {x: OPTIMIZERS[x] | momentum for x in ("lars", "lbsgd")}
    job = run_job(ranks, ALL, json.dumps(settings), timeout=120)
    assert (job.status, job.errors) == (0, "")
    found: list[dict[str, Any]] = list(map(json.loads, job.lines))
    for name in OPTIMIZERS:
        every = [x[name] for x in found]
        assert len({x["weights"] for x in every}) == 1, f"{name}: the same bits on all ranks"
        assert max(x["off"] for x in every) <= (1e-6 if name in ROUNDED else 0), name
        whole = every[0]["states"][0]
        if name in UNSHARDED:
            assert all(x["states"] == [whole, whole] for x in every)
        else:
            assert sum(x["states"][1] for x in every) == whole, f"{name}: nothing twice"
            largest = max(x["states"][1] for x in every)
            limit = 0.53 if name in ROUNDED else 1 / ranks + 0.01
            if name == "adafactor":  # arrays are shared out by their sizes, not by those of states
                limit = 0.6
            assert largest <= limit * whole, f"{name}: a share of the memory"


KINDS = (
    TRAIN
    + """
for options in (
    {"sparse": True}, {"devices": 2}, {"dtype": "float16"}, {"dtype": "float16", "devices": 2},
):
    setup = {"learning_rate": 0.01, "multi_precision": "dtype" in options, "wd": 1e-3}
    whole, sharded = (Run("adam", setup, shard, **options).train() for shard in (False, True))
    assert digest(whole.weights()) == digest(sharded.weights()), options
    assert sharded.states() < 0.6 * whole.states(), options
    print(digest(sharded.weights()))
run = Run("sgd", {"momentum": 0.9}, True).train(1)
weights = digest(run.weights())
run.trainer.step(12, ignore_stale_grad=True)
assert weights == digest(run.weights()), "no gradient was new"
try:
    gluon.Trainer(
        run.net.collect_params(), "sgd", kvstore="dist_sync", update_on_kvstore=True,
        shard_optimizer_states=True,
    ).step(1)
except ValueError as error:
    assert "only sums with shard_optimizer_states" in str(error)
    print("refused")
"""
)


def test_sparse_gradients_devices_and_halves() -> None:
    job = run_job(2, KINDS, timeout=90)
    assert (job.status, job.errors) == (0, "")
    assert len(job.lines) == 2 * 5
    assert len(set(job.lines)) <= 5


FILES = (
    TRAIN
    + """
ranks, load, save, shard = channel().world.size, *sys.argv[1:3], sys.argv[3] == "sharded"
run = Run(sys.argv[4], {"learning_rate": 0.01}, shard)
if load != "-":
    run.train(2)  # other states, which the file replaces
    run.net.load_parameters(load + ".params")
    run.trainer.load_states(load + ".states")
    run.random = np.random.default_rng(1)
run.train()
if channel().world.rank == 0:
    run.net.save_parameters(save + ".params")
run.trainer.save_states(save + ".states")
"""
)


@pytest.mark.parametrize("optimizer", ["adam", "lamb", "nadam"])
def test_a_file_is_that_of_unsharded_updates_and_serves_any_number_of_ranks(
    optimizer: str, tmp_path: Path
) -> None:
    import gluonish as mx
    from gluonish.optimizer.states import load_states

    def run(ranks: int, load: str, save: str, kind: str) -> None:
        names = [str(tmp_path / x) if x != "-" else x for x in (load, save)]
        job = run_job(ranks, FILES, *names, kind, optimizer, timeout=90)
        assert (job.status, job.errors) == (0, "")

    def arrays(name: str) -> dict[str, Any]:
        content = load_states((tmp_path / f"{name}.states").read_bytes())
        chunks = {
            f"{i} {k}": part.values
            for i, state in content.states.items()
            for k, part in enumerate(state)
        }
        weights = mx.nd.load(str(tmp_path / f"{name}.params"))
        assert content.optimizer is not None
        return {**chunks, **{k: v.asnumpy() for k, v in weights.items()}}

    def same(first: str, second: str) -> None:
        a, b = arrays(first), arrays(second)
        assert a.keys() == b.keys()
        for key in a:
            assert a[key].shape == b[key].shape
            assert abs(a[key] - b[key]).max() <= 1e-5, key

    run(2, "-", "sharded", "sharded")
    run(2, "-", "whole", "whole")
    same("sharded", "whole")
    run(3, "sharded", "on three", "sharded")
    run(1, "sharded", "on one", "whole")
    run(2, "whole", "on two", "sharded")
    same("on three", "on one")
    same("on two", "on one")
