"""SAM over 200 steps, see tests/golden/optimizers_of_torch/make_wrappers.py."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import Trainer, nn
from gluonish.gluon.loss import L2Loss
from gluonish.gluon.trainer import StaleGradientError
from gluonish.gluon.utils import SAM

GOLDEN = np.load(Path(__file__).parents[2] / "golden/optimizers_of_torch/wrappers.npz")
SAVED = [0, 1, 4, 5, 6, 19, 99, 199]
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "sam": ("sgd", {"momentum": 0.9, "wd": 0.01}, {}),
    "sam_wide": ("radam", {}, {"rho": 0.5}),
    "asam": ("sgd", {"momentum": 0.9}, {"rho": 0.5, "adaptive": True}),
    "asam_eta": ("radam", {"wd": 0.1}, {"rho": 1.0, "adaptive": True, "eta": 0.2}),
}
TOLERANCES = {"float64": 1e-10, "float32": 1e-4, "float16": 0.05}


def batches() -> tuple[list[Any], list[tuple[Any, Any]]]:
    """Return weights and biases of a network of two layers, and the batch of each step."""
    draw = np.random.RandomState(9)
    weights = [draw.randn(*s).astype("float32") for s in ((6, 4), (6,), (3, 6), (3,))]
    pairs = [(draw.randn(8, 4), draw.randn(8, 3)) for _ in range(200)]
    return weights, [(x.astype("float32"), y.astype("float32")) for x, y in pairs]


def network(dtype: str, contexts: list[mx.Context] | None = None) -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(nn.Dense(6, activation="tanh", in_units=4), nn.Dense(3, in_units=6))
    net.initialize(ctx=contexts)
    net.cast(dtype)
    for param, values in zip(net.collect_params().values(), batches()[0], strict=True):
        param.set_data(mx.nd.array(values, dtype=dtype))
    return net


def train(name: str, dtype: str, hybrid: bool, scaled: bool = False) -> list[list[Any]]:
    """Return the weights after the saved steps, one list for each weight."""
    optimizer, kwargs, options = CASES[name]
    net = network(dtype)
    if hybrid:
        net.hybridize()
    params = list(net.collect_params().values())
    decays = {"multi_precision": dtype == "float16", "learning_rate": 0.01}
    trainer = Trainer(net.collect_params(), optimizer, {**decays, **kwargs})
    trainer.optimizer.set_wd_mult({})
    for param in params:  # biases decay, too
        param.wd_mult = 1.0
    if scaled:
        mx.amp.init_trainer(trainer)
    sam, loss = SAM(net.collect_params(), **options), L2Loss()

    def backward(x: Any, y: Any) -> None:
        with autograd.record():
            value = loss(net(mx.nd.array(x, dtype=dtype)), mx.nd.array(y, dtype=dtype))
            if scaled:
                with mx.amp.scale_loss(value, trainer) as larger:
                    value = larger
        value.backward()

    found: list[list[Any]] = [[] for _ in params]
    for step, batch in enumerate(batches()[1]):
        backward(*batch)
        with sam.perturbed():
            backward(*batch)
        trainer.step(8)
        if step in SAVED:
            for values, param in zip(found, params, strict=True):
                values.append(param.data().asnumpy().astype("float64"))
    return found


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("hybrid", [False, True])
def test_weights_are_those_of_the_paper(name: str, dtype: str, hybrid: bool) -> None:
    limit = TOLERANCES[dtype]
    for i, values in enumerate(train(name, dtype, hybrid)):
        np.testing.assert_allclose(values, GOLDEN[f"{name}-{i}"], rtol=limit, atol=limit)


@pytest.mark.parametrize("name", ["sam", "asam"])
def test_a_loss_scale_changes_nothing(name: str) -> None:
    for i, values in enumerate(train(name, "float32", True, scaled=True)):
        np.testing.assert_allclose(values, GOLDEN[f"{name}-{i}"], rtol=1e-4, atol=1e-4)


def backward(net: Any, x: Any) -> None:
    with autograd.record():
        value = (net(x) ** 2).sum()
    value.backward()


def test_weights_are_as_before_bit_for_bit_after_an_error_too() -> None:
    net, x = network("float32"), mx.nd.ones((2, 4))
    before = [p.data().asnumpy() for p in net.collect_params().values()]
    backward(net, x)
    moved: list[Any] = []

    def fail() -> None:
        with SAM(net.collect_params()).perturbed():
            moved.extend(p.data().asnumpy() for p in net.collect_params().values())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    total = sum(float(((a - b) ** 2).sum()) for a, b in zip(before, moved, strict=True))
    np.testing.assert_allclose(np.sqrt(total), 0.05, rtol=1e-4)
    for param, old in zip(net.collect_params().values(), before, strict=True):
        np.testing.assert_array_equal(param.data().asnumpy(), old)


def test_running_statistics_are_those_of_the_first_pass() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(3, in_units=4), nn.BatchNorm(in_channels=3))
    net.initialize(mx.init.Normal(1))
    x = mx.nd.array(np.random.RandomState(0).randn(6, 4))
    backward(net, x)
    running = net[1].running_mean.data().asnumpy()
    assert np.abs(running).max() > 0
    with SAM(net.collect_params()).perturbed():
        backward(net, x)
        assert np.abs(net[1].running_mean.data().asnumpy() - running).max() > 1e-3
    np.testing.assert_array_equal(net[1].running_mean.data().asnumpy(), running)


def test_each_device_is_perturbed_by_its_own_gradients() -> None:
    contexts = [mx.cpu(0), mx.cpu(1)]
    shards = [np.random.RandomState(i).randn(5, 4) for i in range(2)]
    net = network("float64", contexts)
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    sam = SAM(net.collect_params(), rho=0.3)

    def pass_back() -> None:
        with autograd.record():
            inputs = [
                mx.nd.array(x, ctx=c, dtype="float64")
                for x, c in zip(shards, contexts, strict=True)
            ]
            losses = [(net(x) ** 2).sum() for x in inputs]
        autograd.backward(losses)

    pass_back()
    with sam.perturbed():
        pass_back()
    trainer.step(10)
    expected = 0
    for x in shards:  # each alone
        alone = network("float64")
        backward(alone, mx.nd.array(x, dtype="float64"))
        with SAM(alone.collect_params(), rho=0.3).perturbed():
            backward(alone, mx.nd.array(x, dtype="float64"))
        expected = expected + alone[0].weight.grad().asnumpy()
    for context in contexts:
        found = net[0].weight.data(context).asnumpy()
        np.testing.assert_allclose(found, batches()[0][0] - 0.01 * expected, rtol=1e-12)


def test_gradients_that_overflow_or_vanish_move_nothing() -> None:
    net, x = network("float32"), mx.nd.ones((2, 4))
    for value in (np.inf, np.nan, 0.0):
        backward(net, x)
        for param in net.collect_params().values():
            param.grad()[:] = value
        with SAM(net.collect_params()).perturbed():
            for param, old in zip(net.collect_params().values(), batches()[0], strict=True):
                np.testing.assert_array_equal(param.data().asnumpy(), old)


def test_rows_of_an_embedding_are_perturbed() -> None:
    net = nn.Embedding(5, 2, sparse_grad=True)
    net.initialize(mx.init.One())
    backward(net, mx.nd.array([1, 3]))
    with SAM(net.collect_params(), rho=1.0).perturbed():
        moved = net.weight.data().asnumpy()
    np.testing.assert_allclose(moved, [[1, 1], [1.5, 1.5], [1, 1], [1.5, 1.5], [1, 1]], rtol=1e-6)


def test_a_step_needs_the_second_backward_pass() -> None:
    net = network("float32")
    trainer, sam = Trainer(net.collect_params(), "sgd"), SAM(net.collect_params())
    with pytest.raises(StaleGradientError, match="call backward"), sam.perturbed():
        pass
    backward(net, mx.nd.ones((2, 4)))
    with sam.perturbed():
        pass
    with pytest.raises(StaleGradientError, match="call backward before step"):
        trainer.step(2)


def test_gradients_that_add_up_are_refused() -> None:
    net = network("float32")
    Trainer(net.collect_params(), "sgd", accumulate=2)
    backward(net, mx.nd.ones((2, 4)))
    with pytest.raises(ArgumentError, match=r"got grad_req 'add' of .*accumulate=1"):
        SAM(net.collect_params()).perturbed().__enter__()


def test_wrong_arguments_are_refused() -> None:
    params = network("float32").collect_params()
    for rho in (0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ArgumentError, match="expected a finite rho above 0, got"):
            SAM(params, rho=rho)
    with pytest.raises(ArgumentError, match="eta of 0 or more, got -1"):
        SAM(params, eta=-1.0)
    with pytest.raises(ArgumentTypeError, match="expected rho to be a number"):
        SAM(params, rho="0.1")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="a list or dict of Parameters"):
        SAM(3)  # type: ignore[arg-type]
    assert repr(SAM(params, rho=0.1)).startswith("SAM(")


def test_a_step_within_the_scope_is_refused_as_its_end_would_undo_it() -> None:
    net = nn.Dense(1, in_units=2)
    net.initialize()
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    sam, x = SAM(net.collect_params()), mx.nd.ones((4, 2))

    def backward() -> None:
        with autograd.record():
            value = net(x).sum()
        value.backward()

    backward()
    before = net.weight.data().asnumpy()
    message = r"a change, .*; call Trainer\.step after the scope"
    with pytest.raises(ArgumentError, match=message), sam.perturbed():  # noqa: PT012  # a scope
        backward()
        trainer.step(4)
    np.testing.assert_array_equal(net.weight.data().asnumpy(), before)
