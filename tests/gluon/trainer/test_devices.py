"""One, two and three devices train alike, for every optimizer, dense and sparse gradients."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gluonish.autograd import backward, record
from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError
from gluonish.gluon.nn import Dense, Embedding, HybridSequential
from gluonish.gluon.trainer import Trainer
from gluonish.ndarray import NDArray, array
from gluonish.optimizer import Optimizer

# SGLD draws random numbers, other ones on each device; Muon refuses biases.
LEFT_OUT = {"sgld", "muon"}
# It adds gradients instead of taking them off, so that differences grow with every step.
GROWING = {"test": 20}
WITHOUT_DECAY = {"groupadagrad"}
STEPS, BATCH, ROWS = 4, 12, 9


def names() -> list[str]:
    return sorted(name for name in Optimizer.opt_registry if name not in LEFT_OUT)


@pytest.fixture(autouse=True)
def without_notices() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def network(contexts: list[Context], sparse: bool) -> HybridSequential:
    net = HybridSequential(prefix="net_")
    with net.name_scope():
        if sparse:
            net.add(Embedding(ROWS, 4, sparse_grad=True))
        net.add(Dense(5, activation="tanh", in_units=4, flatten=False))
        net.add(Dense(2, in_units=5, flatten=False))
    net.initialize(ctx=contexts)
    rng = np.random.default_rng(5)
    for _, param in sorted(net.collect_params().items()):
        param.set_data(array(rng.uniform(-0.5, 0.5, param.shape)))
    return net


def batches(sparse: bool) -> list[np.ndarray]:
    rng = np.random.default_rng(6)
    if sparse:
        return [rng.integers(0, ROWS - step % 2, BATCH).astype("float32") for step in range(STEPS)]
    return [rng.uniform(-1, 1, (BATCH, 4)).astype("float32") for _ in range(STEPS)]


def train(
    optimizer: str, contexts: list[Context], sparse: bool, **kwargs: Any
) -> dict[str, np.ndarray]:
    net = network(contexts, sparse)
    params = net.collect_params()
    decay = 0.0 if optimizer in WITHOUT_DECAY else 0.01
    trainer = Trainer(params, optimizer, {"learning_rate": 0.05, "wd": decay}, **kwargs)
    for batch in batches(sparse):
        losses: list[NDArray] = []
        with record():
            for context, part in zip(contexts, np.split(batch, len(contexts)), strict=True):
                out = net(array(part, ctx=context))
                losses.append(((out - 0.3) ** 2).sum())
        backward(losses)
        trainer.step(BATCH * GROWING.get(optimizer, 1))
    for param in params.values():
        first, *others = [x.asnumpy() for x in param.list_data()]
        for other in others:
            np.testing.assert_array_equal(first, other, err_msg=param.name)
    return {name: param.data(contexts[0]).asnumpy() for name, param in params.items()}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("optimizer", names())
def test_devices_train_as_one_does(optimizer: str, sparse: bool) -> None:
    alone = train(optimizer, [cpu(0)], sparse)
    start = {
        name: param.data().asnumpy()
        for name, param in network([cpu(0)], sparse).collect_params().items()
    }
    assert any((alone[name] != start[name]).any() for name in start)
    for count in (2, 3):
        for update in (True, False):
            contexts = [cpu(i) for i in range(count)]
            together = train(optimizer, contexts, sparse, update_on_kvstore=update)
            for name, expected in alone.items():
                np.testing.assert_allclose(
                    together[name],
                    expected,
                    rtol=2e-5,
                    atol=2e-6,
                    err_msg=f"{name}, {count} devices, update_on_kvstore={update}",
                )


@pytest.mark.parametrize("kvstore", ["local", "device", "teststore"])
def test_every_store_trains_as_one_device_does(kvstore: str) -> None:
    alone = train("adam", [cpu(0)], sparse=True)
    together = train("adam", [cpu(0), cpu(1)], sparse=True, kvstore=kvstore)
    for name, expected in alone.items():
        np.testing.assert_allclose(together[name], expected, rtol=2e-5, atol=2e-6)


def train_moving(optimizer: str, places: list[list[int]], **kwargs: Any) -> dict[str, np.ndarray]:
    """Train one step on each of these lists of devices in turn."""
    net = network([cpu(i) for i in places[0]], sparse=False)
    params = net.collect_params()
    trainer = Trainer(params, optimizer, {"learning_rate": 0.05}, **kwargs)
    for batch, numbers in zip(batches(sparse=False), places, strict=True):
        contexts = [cpu(i) for i in numbers]
        params.reset_ctx(contexts)
        losses = []
        with record():
            for context, part in zip(contexts, np.split(batch, len(contexts)), strict=True):
                losses.append((net(array(part, ctx=context)) ** 2).sum())
        backward(losses)
        trainer.step(BATCH)
        assert trainer._contexts == contexts
    return {name: param.list_data()[0].asnumpy() for name, param in params.items()}


@pytest.mark.parametrize("update", [None, False])
@pytest.mark.parametrize("optimizer", ["adam", "nag", "ftml"])
@pytest.mark.parametrize(
    "places",
    [
        [[0], [0, 1], [0, 1], [0]],
        [[0, 1], [0, 1], [1, 2], [1, 2]],
        [[0, 1], [2], [2, 0, 1], [1]],
        [[3], [1], [0], [2]],
    ],
    ids=lambda places: "-".join("".join(map(str, numbers)) for numbers in places),
)
def test_devices_may_change_between_steps(
    places: list[list[int]], optimizer: str, update: bool | None
) -> None:
    still = train_moving(optimizer, [[0]] * STEPS)
    moved = train_moving(optimizer, places, update_on_kvstore=update)
    for name, expected in still.items():
        np.testing.assert_allclose(moved[name], expected, rtol=2e-5, atol=2e-6, err_msg=name)


def test_devices_that_differ_between_parameters_are_refused_at_the_step() -> None:
    params = network([cpu(0)], sparse=False).collect_params()
    trainer = Trainer(params, "sgd")
    next(iter(params.values())).reset_ctx([cpu(0), cpu(1)])
    with pytest.raises(ArgumentError, match=r"all Parameters on .* got .*; .*reset_ctx"):
        trainer.step(1)
