"""Networks whose parts lie on several devices: by ``ctx_group``, and Gluon blocks by hand."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.core.errors import ArgumentError
from gluonish.gluon import nn
from gluonish.gluon.utils import split_and_load
from gluonish.module import Module
from tests.module.networks import DATA, LABEL, assert_same, batch, bound, mlp, numpy_of, weights


def grouped() -> mx.sym.Symbol:
    with mx.AttrScope(ctx_group="first"):
        x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=6, name="fc1")
        x = mx.sym.Activation(x, act_type="tanh", name="act")
    with mx.AttrScope(ctx_group="second"):
        x = mx.sym.FullyConnected(x, num_hidden=3, name="fc2")
        return mx.sym.SoftmaxOutput(x, name="softmax")


def trained(module: Module) -> dict[str, Any]:
    module.init_optimizer(optimizer_params={"learning_rate": 0.1, "momentum": 0.9})
    for seed in range(3):
        module.forward_backward(batch(seed=seed))
        module.update()
    return numpy_of(module.get_params()[0])


FIRST, SECOND = mx.cpu(1), mx.cpu(2)


@pytest.mark.parametrize(
    ("count", "groups", "places"),
    [
        (1, {"first": FIRST, "second": SECOND}, [[FIRST], [SECOND]]),
        (2, {"first": FIRST, "second": [SECOND]}, [[FIRST] * 2, [SECOND] * 2]),
        (
            2,
            {"first": [FIRST, mx.cpu(3)], "second": SECOND},
            [[FIRST, mx.cpu(3)], [SECOND, SECOND]],
        ),
        (
            2,
            [{"first": FIRST}, {"first": SECOND, "second": mx.cpu(3)}],
            [[FIRST, SECOND], [mx.cpu(0), mx.cpu(3)]],
        ),
    ],
    ids=["one", "shared", "listed", "dicts"],
)
def test_groups_lie_where_they_are_put_and_train_as_one(
    count: int, groups: Any, places: Any
) -> None:
    contexts = [mx.cpu(0), mx.cpu(4)][:count]
    module = bound(grouped(), context=contexts, group2ctxs=groups)
    arrays = module._exec_group.param_arrays
    assert [[x.context for x in arrays[i]] for i in (0, 2)] == places
    assert_same(trained(module), trained(bound(mlp())), 1e-5)
    assert [[x.context for x in arrays[i]] for i in (0, 2)] == places


@pytest.mark.parametrize("groups", [{"first": [FIRST] * 3}, [{"first": FIRST}]])
def test_there_is_a_device_for_each_context(groups: Any) -> None:
    module = Module(grouped(), context=[mx.cpu(0), mx.cpu(1)], group2ctxs=groups)
    with pytest.raises(ArgumentError, match="for each of 2 contexts"):
        module.bind(DATA, LABEL)


class Halves(gluon.Block):
    """Two layers on two devices."""

    def __init__(self, places: tuple[Any, Any]) -> None:
        super().__init__()
        self.places = places
        self.first = nn.Dense(6, activation="tanh", in_units=5)
        self.second = nn.Dense(3, in_units=6)
        for layer, name, place in zip(
            (self.first, self.second), ("fc1", "fc2"), places, strict=True
        ):
            layer.initialize(ctx=place)
            for kind in ("weight", "bias"):
                getattr(layer, kind).set_data(weights()[f"{name}_{kind}"])

    def forward(self, x: Any) -> Any:
        hidden = self.first(x.as_in_context(self.places[0]))
        return self.second(hidden.as_in_context(self.places[1]))


def steps(places: tuple[Any, Any], *, hybridize: bool = False) -> list[Any]:
    """Train with a Trainer for each half; return all weights."""
    net = Halves(places)
    if hybridize:
        net.first.hybridize()
        net.second.hybridize()
    layers = (net.first, net.second)
    trainers = [
        gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 0.1}) for layer in layers
    ]
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    for seed in range(3):
        data = batch(seed=seed)
        with autograd.record():
            value = loss(net(data.data[0]), data.label[0].as_in_context(places[1]))
        value.backward()
        assert net.first.weight.grad().context == places[0]
        for trainer in trainers:
            trainer.step(8)
    return [p.data().asnumpy() for layer in layers for p in (layer.weight, layer.bias)]


@pytest.mark.parametrize("hybridize", [False, True])
def test_gradients_flow_between_devices(hybridize: bool) -> None:
    wanted = steps((mx.cpu(0), mx.cpu(0)))
    found = steps((mx.cpu(0), mx.cpu(1)), hybridize=hybridize)
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-6)
    module = bound()
    module.init_optimizer(optimizer_params={"learning_rate": 0.1})
    for seed in range(3):
        module.forward_backward(batch(seed=seed))
        module.update()
    symbolic = numpy_of(module.get_params()[0])
    for x, name in zip(found, ("fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"), strict=True):
        np.testing.assert_allclose(x, symbolic[name], atol=1e-5)


def test_uneven_slices_train_as_the_whole_batch() -> None:
    """`split_and_load(even_split=False)`: 8 rows as 3, 3 and 2."""
    contexts = [mx.cpu(i) for i in range(3)]
    grads = []
    for places in ([mx.cpu(0)], contexts):
        net = nn.Dense(3, in_units=5)
        net.initialize(mx.init.One(), ctx=places)
        data = batch(8)
        parts = split_and_load(data.data[0], places, even_split=False)
        labels = split_and_load(data.label[0], places, even_split=False)
        assert [part.context for part in parts] == places
        with autograd.record():
            losses = [
                gluon.loss.SoftmaxCrossEntropyLoss()(net(x), y)
                for x, y in zip(parts, labels, strict=True)
            ]
        autograd.backward(losses)
        grads.append(sum(g.asnumpy() for g in net.weight.list_grad()))
    assert [part.shape[0] for part in parts] == [3, 3, 2]
    np.testing.assert_allclose(grads[0], grads[1], atol=1e-5)
