"""How transformers are trained: decay by a rule, float32 masters, two devices, two processes."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.gluon import nn
from gluonish.test_utils.ranks import run_on_ranks
from tests.onnx.exporting.subjects import LAYERS, RECURRENT, build

RULE = ".*(bias|gamma|beta)$"
CPUS = [mx.cpu(0), mx.cpu(1)]
# Other layers of `nn` have no parameters of these kinds, or are made of those here.
UNDECAYED = {"gamma", "beta", "bias"}
DECAYED = {"weight", "alpha"}  # of PReLU, which is neither norm nor bias


def _trained(block: Any) -> dict[str, Any]:
    return {n: p for n, p in block.collect_params().items() if p.grad_req != "null"}


@pytest.mark.parametrize("name", [*LAYERS, *RECURRENT])
def test_one_pattern_finds_the_norms_and_biases_of_all_layers(name: str) -> None:
    """What is added to features, or multiplies each of them, does not decay; matrices do."""
    make, arrays = {**LAYERS, **RECURRENT}[name]
    block, _ = build(make, arrays)
    block.collect_params(RULE).setattr("wd_mult", 0)
    for parameter, value in _trained(block).items():
        kind = parameter.rpartition("_")[2]
        assert kind in UNDECAYED | DECAYED
        assert (value.wd_mult == 0) == (kind in UNDECAYED), parameter
        if kind != "alpha":
            assert (len(value.shape) == 1) == (kind in UNDECAYED), parameter


@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_encoders_decay_by_the_rule(norm: str) -> None:
    net = nn.TransformerEncoder(1, 8, 12, 2, norm=norm, dropout=0)
    net.initialize(mx.init.One())
    for parameter in net.collect_params(RULE).values():
        parameter.set_data(nd.ones(parameter.shape))
        parameter.wd_mult = 0
    made = gluon.Trainer(net.collect_params(), "adamw", {"learning_rate": 0.1, "wd": 0.5})
    with autograd.record():
        loss = (net(nd.ones((2, 3, 8))) * 0).sum()
    loss.backward()
    made.step(1)
    for name, parameter in net.collect_params().items():
        values = parameter.data().asnumpy()
        assert (values == 1).all() == name.endswith(("gamma", "beta", "bias")), name
        assert not name.endswith("weight") or values.max() < 1


def _encoder(dtype: str = "float32", ctx: Any = None) -> Any:
    mx.random.seed(3)
    net = nn.TransformerEncoder(2, 8, 12, 2, dropout=0, norm_first=True)
    net.initialize(mx.init.Normal(0.3), ctx=ctx)
    net.cast(dtype)
    return net


def _batch(step: int, count: int = 4) -> tuple[Any, Any]:
    random = np.random.default_rng(step)
    x = random.standard_normal((count, 5, 8)).astype(np.float32)
    return x, random.integers(1, 6, count)


def _backward(net: Any, x: Any, lengths: Any, ctx: Any = None, dtype: str = "float32") -> None:
    data, counts = nd.array(x, ctx=ctx, dtype=dtype), nd.array(lengths, ctx=ctx)
    with autograd.record():
        made = net(data, valid_length=counts)
        loss = (made * nd.array(x[..., ::-1].copy(), ctx=ctx, dtype=dtype)).sum()
    loss.backward()


def _adamw_by_hand(master: Any, state: list[Any], g: Any, t: int, rate: float, decay: float) -> Any:
    state[0] = 0.9 * state[0] + 0.1 * g
    state[1] = 0.999 * state[1] + 0.001 * g * g
    step = rate * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    return master - step * (state[0] / (np.sqrt(state[1]) + 1e-6) + decay * master)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("hybridized", [False, True])
def test_float32_masters_clipping_and_accumulation_together(dtype: str, hybridized: bool) -> None:
    """Against AdamW by hand in float64, on the gradients that backward gives."""
    net = _encoder(dtype)
    if hybridized:
        net.hybridize(static_alloc=True)
    net.collect_params(RULE).setattr("wd_mult", 0)
    options = {"learning_rate": 1e-3, "wd": 0.1, "multi_precision": True}
    trainer = gluon.Trainer(
        net.collect_params(), "adamw", options, accumulate=2, clip_global_norm=0.5
    )
    parameters = list(_trained(net).values())
    masters = [p.data().asnumpy().astype(np.float64) for p in parameters]
    states: list[list[Any]] = [[0.0, 0.0] for _ in parameters]
    for t in range(1, 6):
        for part in range(2):
            _backward(net, *_batch(2 * t + part), dtype=dtype)
            if part == 0:
                trainer.step(4)
        sums = [p.grad().asnumpy().astype(np.float64) for p in parameters]
        trainer.step(4)
        norm = np.sqrt(sum((g * g).sum() for g in sums)) / 8
        assert norm > 0.5  # clips
        factor = 0.5 / norm / 8
        for i, p in enumerate(parameters):
            decay = 0.1 * p.wd_mult
            masters[i] = _adamw_by_hand(masters[i], states[i], sums[i] * factor, t, 1e-3, decay)
            rounding = 2.0**-8 if dtype == "bfloat16" else 2.0**-11
            np.testing.assert_allclose(
                p.data().asnumpy().astype(np.float64), masters[i], rtol=rounding, atol=1e-6
            )


@pytest.mark.parametrize("hybridized", [False, True])
def test_two_devices_train_as_one(hybridized: bool) -> None:
    one, two = _encoder(), _encoder(ctx=CPUS)
    trainers = []
    for net in (one, two):
        if hybridized:
            net.hybridize(static_alloc=True)
        options = {"learning_rate": 1e-2, "wd": 0.1}
        trainers.append(gluon.Trainer(net.collect_params(), "adamw", options, clip_global_norm=0.5))
    for step in range(4):
        x, lengths = _batch(step)
        _backward(one, x, lengths)
        for rows, ctx in zip((slice(0, 2), slice(2, 4)), CPUS, strict=True):
            _backward(two, x[rows], lengths[rows], ctx)
        for trainer in trainers:
            trainer.step(4)
    pairs = zip(one.collect_params().values(), two.collect_params().values(), strict=True)
    for a, b in pairs:
        first, second = (b.data(ctx).asnumpy() for ctx in CPUS)
        np.testing.assert_array_equal(first, second)
        np.testing.assert_allclose(a.data().asnumpy(), first, rtol=1e-4, atol=1e-5)


def weights_of_rank() -> list[Any]:
    """Train on this process's share of each batch; return the weights."""
    store: Any = mx.kv.create("dist_sync")
    net = _encoder()
    net.hybridize()
    options = {"learning_rate": 1e-2, "wd": 0.1}
    trainer = gluon.Trainer(
        net.collect_params(), "adamw", options, kvstore=store, clip_global_norm=0.5
    )
    share = 4 // store.num_workers
    rows = slice(store.rank * share, (store.rank + 1) * share)
    for step in range(4):
        x, lengths = _batch(step)
        _backward(net, x[rows], lengths[rows])
        trainer.step(4)
    return [p.data().asnumpy() for p in net.collect_params().values()]


@pytest.mark.dist
def test_two_processes_train_as_one() -> None:
    (one,) = run_on_ranks(weights_of_rank, 1)
    first, second = run_on_ranks(weights_of_rank, 2)
    for a, b, c in zip(one, first, second, strict=True):
        np.testing.assert_array_equal(b, c)
        np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-5)
