"""StochasticBlock, StochasticSequential, and a variational autoencoder as a user writes it."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
import gluonish.numpy as mnp
from gluonish import autograd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, OutOfBoundsError
from gluonish.gluon import Trainer, nn
from gluonish.gluon import probability as mgp


class Shift(mgp.StochasticBlock):
    @mgp.StochasticBlock.collectLoss
    def forward(self, x: Any, *rest: Any) -> Any:
        self.add_loss(x - 1)
        self.add_loss(x + 1)
        return (x + 100, *rest) if rest else x + 100


@pytest.mark.parametrize("hybrid", [False, True])
def test_losses_are_those_of_the_last_call(hybrid: bool) -> None:
    block = Shift()
    assert block.losses == []
    if hybrid:
        block.hybridize()
    for first in (1.0, 5.0):
        x = mnp.array([first, 2.0])
        assert block(x).tolist() == [first + 100, 102]
        assert [loss.tolist() for loss in block.losses] == [[first - 1, 1], [first + 1, 3]]
    y, z = block(x, x)
    assert (y.shape, z.tolist()) == ((2,), [5, 2])


class Outer(mgp.StochasticBlock):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Shift()

    @mgp.StochasticBlock.collectLoss
    def forward(self, x: Any) -> Any:
        y = self.inner(x)
        self.add_loss(self.inner.losses[0] * 2)
        return y


@pytest.mark.parametrize("hybrid", [False, True])
def test_inner_losses_are_the_outer_ones_to_add(hybrid: bool) -> None:
    block = Outer()
    if hybrid:
        block.hybridize()
    for _ in range(2):
        block(mnp.array([1.0, 2.0]))
        assert [loss.tolist() for loss in block.losses] == [[0, 2]]


def test_forward_must_be_decorated() -> None:
    class Plain(mgp.StochasticBlock):
        def forward(self, x: Any) -> Any:
            return x

    with pytest.raises(ArgumentError, match="Plain: expected forward to be decorated by"):
        Plain()(mnp.ones(2))


def test_error_in_forward_leaves_no_losses() -> None:
    class Failing(mgp.StochasticBlock):
        @mgp.StochasticBlock.collectLoss
        def forward(self, x: Any) -> Any:
            self.add_loss(x)
            if x.shape[0] > 2:
                raise KeyError("too long")
            return x

    block = Failing()
    with pytest.raises(KeyError):
        block(mnp.ones(3))
    block(mnp.ones(2))
    assert len(block.losses) == 1


@pytest.mark.parametrize("hybrid", [False, True])
def test_sequential_lists_losses_by_block(hybrid: bool) -> None:
    net = mgp.StochasticSequential()
    net.add(Shift(), nn.Dense(2), Shift())
    net.initialize(mx.init.One())
    if hybrid:
        net.hybridize()
    for _ in range(2):
        y = net(mnp.ones((1, 2)))
        assert y.tolist() == [[302, 302]]
        assert [[loss.tolist() for loss in losses] for losses in net.losses] == [
            [[[0, 0]], [[2, 2]]],
            [[[201, 201]], [[203, 203]]],
        ]
    assert len(net) == 3
    assert isinstance(net[1], nn.Dense)
    assert isinstance(net[:2], mgp.StochasticSequential)
    assert len(net[:2]) == 2
    assert "(0): Shift(" in repr(net)
    with pytest.raises(OutOfBoundsError, match="StochasticSequential: expected an index below 3"):
        net[3]
    with pytest.raises(ArgumentTypeError, match="HybridBlock"):
        net.add(3)  # type: ignore[arg-type]  # the error


def test_sequential_passes_several_outputs_on() -> None:
    net = mgp.StochasticSequential()
    net.add(Shift(), Shift())
    y, z = net(mnp.ones(2), mnp.zeros(2))
    assert (y.tolist(), z.tolist()) == ([201, 201], [0, 0])


class VAE(mgp.StochasticBlock):
    """A variational autoencoder with a normal code and Bernoulli pixels."""

    def __init__(self, latent: int = 2, hidden: int = 16, pixels: int = 8) -> None:
        super().__init__()
        self.encoder = nn.HybridSequential()
        self.encoder.add(nn.Dense(hidden, activation="tanh"), nn.Dense(2 * latent))
        self.decoder = nn.HybridSequential()
        self.decoder.add(nn.Dense(hidden, activation="tanh"), nn.Dense(pixels))

    @mgp.StochasticBlock.collectLoss
    def forward(self, x: Any) -> Any:
        loc, log_scale = mnp.split(self.encoder(x), 2, axis=1)
        posterior = mgp.Normal(loc, mnp.exp(log_scale))
        prior = mgp.Normal(mnp.zeros_like(loc), mnp.ones_like(loc))
        logit = self.decoder(posterior.sample())
        self.add_loss(mgp.kl_divergence(posterior, prior).sum(axis=-1))
        self.add_loss(-mgp.Bernoulli(logit=logit).log_prob(x).sum(axis=-1))
        return logit


@pytest.mark.parametrize("hybrid", [False, True])
def test_variational_autoencoder_trains(hybrid: bool) -> None:
    mx.random.seed(0)
    net = VAE()
    net.initialize(mx.init.Xavier())
    if hybrid:
        net.hybridize()
    trainer = Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
    rows = np.random.default_rng(0).random((64, 1)) > 0.5
    data = mnp.array((rows * np.ones((64, 8))).astype(np.float32))
    losses = []
    for _ in range(150):
        with autograd.record():
            net(data)
            loss = sum(part.mean() for part in net.losses)
        loss.backward()
        trainer.step(1)
        losses.append(float(loss))
    # Independent pixels have 8 log 2 = 5.5 nats; one bit, the code of a row, has 0.7.
    assert losses[0] > 5
    assert losses[-1] < 1.5
