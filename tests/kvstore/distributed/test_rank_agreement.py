"""Ranks that use different layers in a step: what is new on any of them is summed by all."""

import json

import pytest

from tests.kvstore.distributed.jobs import run_job

pytestmark = pytest.mark.dist

HEADS = """
import json, sys
import numpy as np
import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.kvstore.distributed import channel
cases, transport = json.loads(sys.argv[1]), sys.argv[2]
if transport == "messages":  # as between hosts
    channel.__globals__["host_memory"] = lambda world: None
COUNT, STEPS, LR = 3, 14, 0.5
rank = mx.kv.create("dist_sync").rank
size = mx.kv.create("dist_sync").num_workers
random = np.random.default_rng(7)
# Which rank uses which layer in which step: seldom all, sometimes none.
used = random.random((STEPS, size, COUNT)) < random.choice([0, 0.4, 0.8, 1], (STEPS, size, 1))
used[3], used[4], used[5, 0], used[6, 0], used[6, 1:] = False, True, False, True, False

def gradients(step, r):
    return [(r + 1.0) * used[step, r, i] for i in range(COUNT)]

def train(case):
    contexts = [mx.cpu(i) for i in range(case.get("devices", 1))]
    nets = [
        gluon.nn.Embedding(4, 2, sparse_grad=case.get("sparse", False), prefix=f"head{i}_")
        for i in range(COUNT)
    ]
    params = {}
    for net in nets:
        net.initialize(mx.init.One(), ctx=contexts)
        net.hybridize(case.get("hybrid", False))
        net.weight.grad_req = case.get("req", "write")
        params.update(net.collect_params())
    trainer = gluon.Trainer(
        params, case.get("optimizer", "sgd"), {"learning_rate": LR},
        kvstore=case.get("store", "dist_sync"), update_on_kvstore=case.get("in_store"),
        compression_params=case.get("compression"),
        shard_optimizer_states=case.get("shard", False),
    )
    if case.get("amp"):
        mx.contrib.amp.init_trainer(trainer)
    words = nd.array([1, 2])
    for step in range(STEPS):
        with autograd.record():
            # The first device alone uses layers, so that the others have old gradients, too.
            losses = [
                nets[i](words.as_in_context(contexts[0])).sum() * float(g)
                for i, g in enumerate(gradients(step, rank)) if g
            ]
            if case.get("amp") and losses:
                with mx.contrib.amp.scale_loss(losses, trainer) as losses:
                    pass
        autograd.backward(losses) if losses else None
        if case.get("apart"):
            trainer.allreduce_grads()
            trainer.update(1, ignore_stale_grad=True)
        else:
            trainer.step(1, ignore_stale_grad=True)
        for net in nets if case.get("req") == "add" else ():
            net.weight.zero_grad()
    found = [net.weight.data(c).asnumpy() for c in contexts for net in nets]
    return found

def expected(case):
    weights, rest = np.ones(COUNT), np.zeros((size, COUNT))
    limit = (case.get("compression") or {}).get("threshold")
    for step in range(STEPS):
        sent = np.array([gradients(step, r) for r in range(size)])
        fresh = used[step].any(axis=0)
        if limit:
            rest[:, fresh] += sent[:, fresh]
            sent = np.where(rest >= limit, limit, 0) * fresh
            rest -= sent
        weights -= LR * sent.sum(axis=0)
    return weights

for case in cases:
    found = train(case)
    for i, values in enumerate(found):
        wanted = np.ones((4, 2))
        wanted[1:3] = expected(case)[i % COUNT]
        np.testing.assert_allclose(values, wanted, rtol=1e-6, err_msg=f"{case} {i}")
print("good")
"""
CASES = [
    {},
    {"in_store": True},
    {"hybrid": True},
    {"apart": True},
    {"store": "dist_device_sync", "devices": 2},
    {"store": "dist_sync_device", "devices": 2, "in_store": True},
    {"sparse": True},
    {"sparse": True, "in_store": True},
    {"req": "add"},
    {"req": "add", "in_store": True},
    {"compression": {"type": "2bit", "threshold": 1.0}},
    {"compression": {"type": "2bit", "threshold": 1.0}, "in_store": True},
    {"shard": True},
    {"amp": True},
    {"amp": True, "in_store": True},
]


@pytest.mark.parametrize(("ranks", "transport"), [(2, "host memory"), (3, "messages")])
def test_a_gradient_that_is_new_on_any_rank_is_summed_on_all(ranks: int, transport: str) -> None:
    job = run_job(ranks, HEADS, json.dumps(CASES), transport)
    assert (job.status, job.errors, job.lines) == (0, "", ["good"] * ranks)


OTHERS = """
import sys
import numpy as np
import gluonish as mx
from gluonish import autograd, gluon, nd
kinds = sys.argv[1:]
rank = mx.kv.create("dist_sync").rank
x = nd.ones((1, 3))

def layers(count=2, in_units=3):
    options = {"use_bias": False, "in_units": in_units}
    made = [gluon.nn.Dense(2, prefix=f"d{i}_", **options) for i in range(count)]
    for net in made:
        net.initialize(mx.init.One())
    return made

def backward(nets):
    with autograd.record():
        loss = sum(net(x).sum() for net in nets)
    loss.backward()

def trainer(nets, **options):
    params = [net.weight for net in nets]
    return gluon.Trainer(params, "sgd", {"learning_rate": 0.5}, kvstore="dist_sync", **options)

if "stale" in kinds:
    first, second = layers()
    one = trainer([first, second])
    backward([first, second])
    one.step(1)
    backward([first] if rank else [first, second])
    one.step(1)
    nd.waitall()
if "stale after the sum" in kinds:
    first, second = layers()
    one = trainer([first, second])
    backward([first] if rank else [first, second])
    one.allreduce_grads()
    one.update(1)
    backward([first, second])
    one.step(1)
    nd.waitall()
if "stale on all" in kinds:
    first, second = layers()
    one = trainer([first, second])
    for _ in range(2):  # another one on each rank, and all go on together
        backward([[first, second][rank]])
        try:
            one.step(1)
        except UserWarning as error:
            assert f"Parameter d{1 - rank}_weight" in str(error), error
        backward([first, second])
        one.step(1)
    assert (first.weight.data() == 1 - 2 * 2 * 0.5).asnumpy().all()
if kinds[0].startswith("frozen"):
    nets = layers(3)
    if rank == 1:
        nets[2].weight.grad_req = "null"
    one = trainer(nets, update_on_kvstore=kinds == ["frozen in the store"])
    backward(nets[:1] if kinds == ["frozen and not used"] else nets)
    one.step(1, ignore_stale_grad=True)
    nd.waitall()
if "other parameters" in kinds:
    for nets in (layers()[:: 1 - 2 * rank], layers(2 + rank), layers(2, 3 + rank)):
        try:
            trainer(nets).step(1, ignore_stale_grad=True)
        except mx.MXNetError as error:
            print(error)
if "names" in kinds:  # rank 1 has made more networks than rank 0
    net = [gluon.nn.Dense(2, use_bias=False, in_units=3) for _ in range(rank + 1)][-1]
    net.initialize(mx.init.One())
    one = trainer([net])
    backward([net])
    one.step(1)
    assert (net.weight.data() == 0).asnumpy().all()
if "shapes to come" in kinds:  # each rank learns that of the layer that it uses
    nets = layers(2, 0)
    one = trainer(nets)
    for _ in range(3):
        backward([nets[rank]])
        one.step(1, ignore_stale_grad=True)
    for net in nets:
        np.testing.assert_array_equal(net.weight.data().asnumpy(), np.full((2, 3), -0.5))
if "overflow" in kinds:
    for in_store in (False, True):
        nets = layers()
        one = trainer(nets, update_on_kvstore=in_store)
        mx.contrib.amp.init_trainer(one)
        scaler = one._amp_loss_scaler
        for step, factor in enumerate((1, np.inf, 1)):
            with autograd.record():
                loss = nets[rank](x).sum() * (factor if rank else 1)
                with mx.contrib.amp.scale_loss(loss, one) as scaled:
                    autograd.backward(scaled)
            one.step(1, ignore_stale_grad=True)
        assert scaler._next_loss_scale == 2.0**15, scaler._next_loss_scale
        for net in nets:
            np.testing.assert_array_equal(net.weight.data().asnumpy(), np.zeros((2, 3)))
        for factor in (np.inf, 1):  # of the second layer, which then is new on rank 0 alone
            with autograd.record():
                loss = nets[0](x).sum()
                if rank == 0 or factor != 1:
                    loss = loss + nets[1](x).sum() * (factor if rank else 1)
                with mx.contrib.amp.scale_loss(loss, one) as scaled:
                    autograd.backward(scaled)
            one.step(1, ignore_stale_grad=True)
        np.testing.assert_array_equal(nets[1].weight.data().asnumpy(), np.full((2, 3), -0.5))
        np.testing.assert_array_equal(nets[0].weight.data().asnumpy(), np.full((2, 3), -1))
if "async" in kinds:
    nets = layers()
    store = mx.kv.create("dist_async")
    one = gluon.Trainer([n.weight for n in nets], "sgd", {"learning_rate": 0.5}, kvstore=store)
    for _ in range(2):
        backward([nets[rank]])
        one.step(1, ignore_stale_grad=True)
    store.barrier()
    one.step(1, ignore_stale_grad=True)  # nothing is new, but the weights of others are
    for net in nets:
        np.testing.assert_array_equal(net.weight.data().asnumpy(), np.zeros((2, 3)))
if "shape of a push" in kinds:
    store = mx.kv.create("dist_sync")
    store.set_labels({0: f"Parameter w{rank}"})
    store.init(0, nd.ones(3))
    store._stored[0] = nd.ones(3 + rank)
    store.push(0, nd.ones(3 + rank))
    nd.waitall()
print("good")
"""


FROZEN = "got none of Parameter d2_weight, or grad_req 'null', on rank 1; set the same grad_req"
ORDER = "got Parameter d0_weight on rank 0, and Parameter d1_weight on rank 1, as number 0"
COUNT = "expected the same parameters on all ranks, got 2 on rank 0, and 3 on rank 1"
SHAPE = "Parameter d0_weight of shape (2, 3) on rank 0, and (2, 4) on rank 1"


def test_ranks_train_together() -> None:
    kinds = ["stale on all", "names", "shapes to come", "overflow", "async", "other parameters"]
    job = run_job(2, OTHERS, *kinds)
    assert (job.status, job.errors) == (0, "")
    assert len(job.lines) == 2 * 4
    for words in ("good", ORDER, COUNT, SHAPE):
        assert sum(words in line for line in job.lines) == 2, words


REFUSED = {
    "stale": ["no new gradient of Parameter d1_weight", "ignore_stale_grad=True"],
    "stale after the sum": ["no new gradient of Parameter d1_weight", "ignore_stale_grad=True"],
    "frozen": [FROZEN],
    "frozen in the store": [FROZEN],
    "frozen and not used": [FROZEN],
    "shape of a push": ["Parameter w0 float32(3,) on rank 0, and Parameter w1 float32(4,) on"],
}
SLOW = ["stale after the sum", "frozen in the store", "frozen and not used"]


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[pytest.mark.slow] if k in SLOW else []) for k in REFUSED]
)
def test_what_ranks_cannot_do_together_is_said_by_name(kind: str) -> None:
    job = run_job(2, OTHERS, kind, timeout=30)
    assert job.status != 0
    assert "good" not in job.lines
    for words in REFUSED[kind]:
        assert words in job.errors
