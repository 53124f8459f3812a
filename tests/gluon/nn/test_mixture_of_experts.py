"""MixtureOfExperts against Mixtral's block, and what is particular to it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError
from gluonish.gluon import nn

GOLDEN = np.load(Path(__file__).parents[2] / "golden" / "transformer.npz")
RANDOM = np.random.default_rng(9)
UNITS, HIDDEN, EXPERTS = 8, 12, 4
NAMES = {
    "router.weight": "gate.weight",
    "hidden_weight": "experts.gate_up_proj",
    "output_weight": "experts.down_proj",
}


def normal(*shape: int) -> Any:
    return mx.nd.array(RANDOM.standard_normal(shape).astype(np.float32))


def started(hybridize: bool = False, **options: Any) -> Any:
    net = nn.MixtureOfExperts(UNITS, HIDDEN, EXPERTS, **options)
    net.initialize(mx.init.Normal(0.5))
    net.hybridize(hybridize)
    return net


def close(found: Any, wanted: np.ndarray, tolerance: float, name: str = "") -> None:
    scale = max(np.abs(wanted).max(), 0.1)
    found = found.asnumpy().astype(np.float32)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * scale, err_msg=name)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("top_k", [1, 2])
def test_result_gradients_and_loss_are_those_of_mixtral(top_k: int, hybridize: bool) -> None:
    case = f"experts {top_k}"
    net = started(hybridize, top_k=top_k, return_loss=True)
    parameters = net._collect_params_with_prefix()
    for ours, theirs in NAMES.items():
        value = GOLDEN[f"{case}/p/{theirs}"]
        parameters[ours].set_data(mx.nd.array(value.reshape(parameters[ours].shape)))
    x = mx.nd.array(GOLDEN[f"{case}/in/x"])
    x.attach_grad()
    with mx.autograd.record():
        y, loss = net(x)
    y.backward(mx.nd.array(GOLDEN[f"{case}/heads"]))
    close(y, GOLDEN[f"{case}/out"], 2e-5)
    close(loss, GOLDEN[f"{case}/loss"].reshape(1), 2e-5)
    close(x.grad, GOLDEN[f"{case}/g/x"], 1e-4)
    for ours, theirs in NAMES.items():
        wanted = GOLDEN[f"{case}/g/{theirs}"].reshape(parameters[ours].shape)
        close(parameters[ours].grad(), wanted, 1e-4, ours)


def reference(net: Any, x: np.ndarray, top_k: int, normalize: bool) -> np.ndarray:
    """Compute experts with ReLU a token at a time, in float64."""
    values = net._collect_params_with_prefix()
    p = {name: value.data().asnumpy().astype(np.float64) for name, value in values.items()}
    hidden = p["hidden_weight"].reshape(EXPERTS, -1, UNITS)
    output = p["output_weight"].reshape(EXPERTS, UNITS, -1)
    y = np.zeros(x.shape)
    for place in np.ndindex(x.shape[:-1]):
        token = x[place].astype(np.float64)
        scores = np.exp(p["router.weight"] @ token)
        scores /= scores.sum()
        chosen = np.argsort(-scores)[:top_k]
        total = scores[chosen].sum() if normalize else 1
        for e in chosen:
            y[place] += scores[e] / total * (output[e] @ np.maximum(hidden[e] @ token, 0))
    return y


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("top_k", [1, 3, 4])
@pytest.mark.parametrize("shape", [(1, 1), (6,), (2, 3, 4)])
def test_experts_without_gates(
    shape: tuple[int, ...], top_k: int, normalize: bool, hybridize: bool
) -> None:
    options = {"top_k": top_k, "normalize": normalize, "gated": False, "activation": "relu"}
    net = started(hybridize, **options)
    x = normal(*shape, UNITS)
    close(net(x), reference(net, x.asnumpy(), top_k, normalize), 2e-5)


@pytest.mark.parametrize("hybridize", [False, True])
def test_experts_that_no_token_chose_are_not_computed(hybridize: bool) -> None:
    net = started(hybridize, top_k=1)
    router = np.zeros((EXPERTS, UNITS), np.float32)
    router[2] = 1
    net.router.weight.set_data(mx.nd.array(router))
    weights = (net.hidden_weight, net.output_weight)
    for weight in weights:
        value = weight.data().reshape((EXPERTS, -1, weight.shape[1]))
        value[0:2] = np.nan
        value[3] = np.nan
        weight.set_data(value.reshape(weight.shape))
    x = mx.nd.array(RANDOM.uniform(0.5, 1, (3, UNITS)))
    with mx.autograd.record():
        y = net(x)
    y.backward()
    assert np.isfinite(y.asnumpy()).all()
    for weight in weights:
        of_expert = weight.grad().asnumpy().reshape(EXPERTS, -1)
        assert (of_expert[[0, 1, 3]] == 0).all()
        assert (of_expert[2] != 0).any()


@pytest.mark.parametrize("hybridize", [False, True])
def test_loss_is_least_where_experts_are_used_equally(hybridize: bool) -> None:
    net = started(hybridize, top_k=1, return_loss=True)
    identity = np.eye(EXPERTS, UNITS, dtype=np.float32) * 20
    net.router.weight.set_data(mx.nd.array(identity))
    each = np.eye(EXPERTS, UNITS, dtype=np.float32)
    assert net(mx.nd.array(each))[1].asscalar() == pytest.approx(1, rel=1e-5)
    one = mx.nd.array(each[:1].repeat(4, 0))
    assert net(one)[1].asscalar() == pytest.approx(EXPERTS, rel=1e-5)
    trainer = mx.gluon.Trainer(net.collect_params("router"), "sgd", {"learning_rate": 0.1})
    x, losses = normal(40, UNITS), []
    net.router.initialize(mx.init.Normal(2), force_reinit=True)
    for _ in range(30):
        with mx.autograd.record():
            loss = net(x)[1]
        loss.backward()
        trainer.step(1)
        losses.append(loss.asscalar())
    assert min(losses[-5:]) < losses[0]


@pytest.mark.parametrize("hybridize", [False, True])
def test_as_feed_forward_network_of_an_encoder(hybridize: bool) -> None:
    net = nn.TransformerEncoder(
        2,
        *(UNITS, HIDDEN, 2),
        feed_forward=lambda: nn.MixtureOfExperts(UNITS, HIDDEN, EXPERTS, return_loss=True),
    )
    net.initialize()
    net.hybridize(hybridize)
    y, loss = net(normal(2, 5, UNITS))
    assert y.shape == (2, 5, UNITS)
    assert 0 < loss.asscalar() <= 2 * EXPERTS


def test_equal_runs_give_equal_bits() -> None:
    x, results = normal(50, UNITS), []
    net = started(True)
    for _ in range(2):
        with mx.autograd.record():
            y = net(x)
        y.backward()
        gradients = [p.grad().asnumpy() for p in net.collect_params().values()]
        results.append([y.asnumpy(), *gradients])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bits(dtype: str) -> None:
    net, x = started(top_k=EXPERTS), normal(6, UNITS)  # all experts: no choice on the edge
    wanted = net(x).asnumpy()
    net.cast(dtype)
    found = net(x.astype(dtype))
    assert found.dtype == x.astype(dtype).dtype
    close(found.astype("float32"), wanted, 5e-2)


@pytest.mark.parametrize("hybridize", [False, True])
def test_mixed_precision(hybridize: bool) -> None:
    net, x = started(hybridize, top_k=EXPERTS, return_loss=True), normal(6, UNITS)
    wanted, loss = (value.asnumpy() for value in net(x))
    with mx.contrib.amp.autocast("bfloat16"):
        found, again = net(x)
        close(found.astype("float32"), wanted, 5e-2)
        close(again.astype("float32"), loss, 5e-2)


def test_save_and_load(tmp_path: Path) -> None:
    net, x = started(), normal(6, UNITS)
    net.save_parameters(str(tmp_path / "net.params"))
    other = nn.MixtureOfExperts(UNITS, HIDDEN, EXPERTS)
    other.load_parameters(str(tmp_path / "net.params"))
    np.testing.assert_array_equal(other(x).asnumpy(), net(x).asnumpy())


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"top_k": 5}, "expected top_k of at most num_experts 4, got 5"),
    ({"top_k": 0}, "expected top_k of 1 or more, got 0"),
    ({"num_experts": -1}, "expected num_experts of 1 or more, got -1"),
    ({"activation": "relu"}, "expected activation silu, gelu, gelu_tanh, gelu_sigmoid, got 'relu'"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    given = {"units": UNITS, "hidden_units": HIDDEN, "num_experts": EXPERTS, **options}
    with pytest.raises(ArgumentError, match=f"MixtureOfExperts: {message}"):
        nn.MixtureOfExperts(**given)
