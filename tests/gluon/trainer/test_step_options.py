"""Trainer's accumulate and clip_global_norm: updates of one large batch, and of clipped sums."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.contrib import amp
from gluonish.core.errors import ArgumentError
from gluonish.gluon import nn

X = np.random.default_rng(0).standard_normal((12, 5)).astype(np.float32)
CPUS = [mx.cpu(0), mx.cpu(1)]


def network(ctx: Any = None, dtype: str = "float32") -> Any:
    mx.random.seed(1)
    net = nn.HybridSequential()
    net.add(nn.Dense(7, in_units=5, activation="tanh"), nn.Dense(3, in_units=7))
    net.initialize(mx.init.Xavier(), ctx=ctx)
    net.cast(dtype)
    return net


def backward(net: Any, x: Any, ctx: Any = None) -> None:
    with autograd.record():
        loss = (net(nd.array(x, ctx=ctx, dtype=net[0].weight.dtype)) ** 2).sum()
    loss.backward()


def values(net: Any) -> list[Any]:
    return [p.list_data()[0].asnumpy() for p in net.collect_params().values()]


def trainer(net: Any, **options: Any) -> gluon.Trainer:
    params = {"learning_rate": 0.05, "wd": 0.01}
    return gluon.Trainer(net.collect_params(), "adamw", params, **options)


def hold(a: Any, b: Any) -> None:
    for x, y in zip(values(a), values(b), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("clip", [None, 0.01])
def test_small_batches_give_the_updates_of_large_ones(hybrid: bool, clip: float | None) -> None:
    small, large = network(), network()
    if hybrid:
        small.hybridize(static_alloc=True)
    ours, other = (
        trainer(small, accumulate=3, clip_global_norm=clip),
        trainer(large, clip_global_norm=clip),
    )
    for _ in range(2):
        for i in range(3):
            before = values(small)
            backward(small, X[4 * i : 4 * i + 4])
            ours.step(4)
            same = all((a == b).all() for a, b in zip(before, values(small), strict=True))
            assert same == (i < 2)
        backward(large, X)
        other.step(12)
        hold(small, large)
    assert not small[0].weight.grad().asnumpy().any()


def test_several_devices() -> None:
    small, large = network(CPUS), network()
    ours, other = (
        trainer(small, accumulate=2, clip_global_norm=0.01),
        trainer(large, clip_global_norm=0.01),
    )
    for i in range(2):
        for k, ctx in enumerate(CPUS):
            start = 6 * i + 3 * k
            backward(small, X[start : start + 3], ctx)
        ours.step(6)
    backward(large, X)
    other.step(12)
    hold(small, large)


@pytest.mark.parametrize("limit", [0.001, 0.1, 1e6])
def test_clipped_updates_are_those_of_clipped_gradients(limit: float) -> None:
    nets = [network(), network()]
    for net in nets:
        backward(net, X)
    ours = gluon.Trainer(
        nets[0].collect_params(), "sgd", {"learning_rate": 1.0}, clip_global_norm=limit
    )
    gradients = [p.grad().asnumpy() for p in nets[0].collect_params().values()]
    before = values(nets[0])
    ours.step(12)
    norm = np.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in gradients)) / 12
    factor = min(1.0, limit / norm) / 12
    for a, b, g in zip(values(nets[0]), before, gradients, strict=True):
        np.testing.assert_allclose(a, b - factor * g, rtol=1e-5, atol=1e-6)
    for p, g in zip(nets[0].collect_params().values(), gradients, strict=True):
        np.testing.assert_array_equal(p.grad().asnumpy(), g)


def test_loss_scale_is_divided_first() -> None:
    """The update does not depend on the scale, 65,536 at first."""
    found = []
    for scaled_loss in (False, True):
        net = network()
        made = trainer(net, clip_global_norm=0.01)
        if scaled_loss:
            amp.init_trainer(made)
        with autograd.record():
            loss = (net(nd.array(X)) ** 2).sum()
            if not scaled_loss:
                loss.backward()
            else:
                with amp.scale_loss(loss, made) as scaled:
                    autograd.backward(scaled)
        made.step(12)
        found.append(values(net))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@pytest.mark.filterwarnings("ignore:AdamW. updating 16-bit weights:UserWarning")
def test_bfloat16_weights_have_float32_masters() -> None:
    """Transformers in bfloat16: small updates are not lost, as without masters."""
    nets = [network(dtype="bfloat16"), network(dtype="bfloat16")]
    for net, masters in zip(nets, (True, False), strict=True):
        made = gluon.Trainer(
            net.collect_params(),
            "adamw",
            {"learning_rate": 1e-5, "multi_precision": masters},
            clip_global_norm=1.0,
        )
        start = values(net)
        for _ in range(300):
            backward(net, X)
            made.step(12)
        moved = [np.abs(a - b).max() for a, b in zip(values(net)[::2], start[::2], strict=True)]
        assert (min(moved) > 1e-3) == masters


@pytest.mark.parametrize("options", [{"clip_global_norm": 0.01}, {"accumulate": 2}])
def test_row_sparse_gradients(options: Any) -> None:
    found = []
    for sparse in (False, True):
        mx.random.seed(1)
        net = nn.HybridSequential()
        net.add(nn.Embedding(10, 3, sparse_grad=sparse), nn.Dense(2, in_units=6))
        net.initialize(mx.init.Xavier())
        made = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0}, **options)
        for words in ([[1, 2]], [[2, 7]]):
            with autograd.record():
                loss = (net(nd.array(words)) ** 2).sum()
            loss.backward()
            made.step(1)
        found.append(values(net))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_an_infinite_norm_warns() -> None:
    net = network()
    made = trainer(net, clip_global_norm=1.0)
    backward(net, X)
    net[0].weight.grad()[:] = np.inf
    with pytest.warns(UserWarning, match="gradients of a finite norm, got inf"):
        made.step(1)


def test_refusals() -> None:
    net = network()
    for wrong in (0, 1.5):
        with pytest.raises(ArgumentError, match=rf"accumulate of 1 or more, got {wrong}"):
            trainer(net, accumulate=wrong)
    for limit in (0, -1.0, "1"):
        with pytest.raises(ArgumentError, match=r"clip_global_norm above 0, got"):
            trainer(net, clip_global_norm=limit)
    with pytest.raises(ArgumentError, match=r"update_on_kvstore of False or None.* got True"):
        trainer(net, accumulate=2, update_on_kvstore=True)
    with pytest.raises(ArgumentError, match=r"clip_global_norm without shard_optimizer_states"):
        trainer(net, clip_global_norm=1.0, shard_optimizer_states=True)
    with pytest.raises(ArgumentError, match=r"expected a kvstore, .* of 2 devices, .* got None"):
        trainer(network(CPUS), clip_global_norm=1.0, kvstore=None)
    made = trainer(net, accumulate=2)
    with pytest.raises(ArgumentError, match=r"Trainer\.update: expected accumulate=1, got 2"):
        made.update(1)
