"""Block.freeze: parameters that a Trainer leaves as they are."""

import re
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError
from gluonish.gluon import nn


class Net(mx.gluon.HybridBlock):
    """Two layers."""

    def __init__(self) -> None:
        super().__init__(prefix="net_")
        self.features = nn.Dense(3, in_units=2, prefix="net_features_")
        self.output = nn.Dense(1, in_units=3, prefix="net_output_")

    def forward(self, x: Any) -> Any:
        return self.output(self.features(x))


def step(net: Net, trainer: mx.gluon.Trainer) -> list[bool]:
    """Train for a step; return for each parameter whether it has changed."""
    params = list(net.collect_params().values())
    before = [param.data().asnumpy() for param in params]
    with mx.autograd.record():
        loss = net(mx.nd.ones((4, 2))).sum()
    loss.backward()
    trainer.step(4)
    pairs = zip(params, before, strict=True)
    return [not np.array_equal(param.data().asnumpy(), old) for param, old in pairs]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("select", ["features", "net_features.*", "features.*"])
def test_frozen_parameters_stay_as_they_are_until_they_are_trained_again(
    select: str, hybridize: bool
) -> None:
    net = Net()
    net.initialize(mx.init.One())
    if hybridize:
        net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
    assert step(net, trainer) == [True] * 4
    assert net.freeze(select) == ["net_features_weight", "net_features_bias"]
    assert net.freeze(select) == []
    assert step(net, trainer) == [False, False, True, True]
    assert net.unfreeze() == ["net_features_weight", "net_features_bias"]
    assert step(net, trainer) == [True] * 4


def test_the_way_that_gradients_are_stored_comes_back_and_statistics_stay_without() -> None:
    net = nn.BatchNorm(in_channels=2)
    net.gamma.grad_req = "add"
    assert len(net.freeze()) == 2
    assert len(net.unfreeze()) == 2
    assert [p.grad_req for p in (net.gamma, net.beta, net.running_mean)] == ["add", "write", "null"]


def test_what_the_program_itself_froze_stays_frozen() -> None:
    net = nn.Dense(2, in_units=2)
    net.weight.grad_req = "null"
    net.freeze()
    assert len(net.unfreeze()) == 1
    assert net.weight.grad_req == "null"


def test_a_pattern_that_matches_nothing_is_refused() -> None:
    message = re.escape("got 'backbone'; the paths are weight, bias")
    with pytest.raises(ArgumentError, match=rf"Dense\.freeze: expected select .*{message}"):
        nn.Dense(2, in_units=2).freeze("backbone")


def test_a_wrong_regular_expression_is_refused_in_words() -> None:
    with pytest.raises(ArgumentError, match=r"select to be a regular expression, got '\['"):
        nn.Dense(2, in_units=2).freeze("[")
