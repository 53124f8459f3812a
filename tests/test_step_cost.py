"""What a training step of a small network costs the host: calls of Python."""

import pytest

from gluonish import autograd, gluon
from gluonish import ndarray as nd
from gluonish.engine import use_engine
from gluonish.gluon import nn
from tests.python_calls import python_calls

# A step of three hybridized layers and their loss took 280 calls, and 283 with a loss that is not
# hybridized (363 by three operators); each costs 30 to 80 ns.
LIMIT = 320


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("kind", ["NaiveEngine", "ThreadedEnginePerDevice"])
def test_a_step_of_a_small_network_makes_few_python_calls(kind: str, hybridized: bool) -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(256, activation="relu"), nn.Dense(128, activation="relu"), nn.Dense(10))
    net.initialize()
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    net.hybridize(static_alloc=True, static_shape=True)
    if hybridized:
        loss.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001, "momentum": 0.9})
    data, labels = nd.ones((64, 784)), nd.zeros((64,))

    def step() -> None:
        with autograd.record():
            value = loss(net(data), labels)
        value.backward()
        trainer.step(64)

    with use_engine(kind):
        for _ in range(70):  # the first 64 calls of a loss look at the labels
            step()
        nd.waitall()
        names = python_calls(step)
        nd.waitall()
    assert "Trainer._step" in names
    assert len(names) <= LIMIT, names
