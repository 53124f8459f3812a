"""Loss scales: overflow, growth, unscale; and networks that train in mixed precision."""

import json
from pathlib import Path

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib import amp
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import nn
from gluonish.gluon.data.digits import load_digits

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "amp.json").read_text())


def weight_and_trainer(rate: float = 0.5) -> tuple[mx.gluon.Parameter, mx.gluon.Trainer]:
    weight = mx.gluon.Parameter("weight", shape=(2,))
    weight.initialize(mx.init.One())
    trainer = mx.gluon.Trainer([weight], "sgd", {"learning_rate": rate})
    amp.init_trainer(trainer)
    return weight, trainer


def step(weight: mx.gluon.Parameter, trainer: mx.gluon.Trainer, factor: float = 1) -> None:
    with mx.autograd.record():
        loss = (weight.data() * factor).sum()
        with amp.scale_loss(loss, trainer) as scaled:
            scaled.backward()
    trainer.step(1)


def test_scales_and_weights_are_those_of_mxnet_after_overflows() -> None:
    weight, trainer = weight_and_trainer()
    found = []
    for i in range(7):
        step(weight, trainer, float("inf") if i in (2, 4) else 1)
        found.append([trainer._scale, *weight.data().asnumpy().tolist()])
    assert found == GOLDEN["scales"]


def test_the_scale_doubles_after_enough_steps_and_has_an_end() -> None:
    weight, trainer = weight_and_trainer()
    scaler = trainer._amp_loss_scaler
    scaler._scale_seq_len, scaler._max_loss_scale = 2, 2.0**17
    scales = []
    for _ in range(6):
        step(weight, trainer)
        scales.append(scaler.loss_scale)
    assert scales == [2.0**16, 2.0**16, 2.0**17, 2.0**17, 2.0**17, 2.0**17]


def test_unscale_gives_gradients_of_the_loss_itself() -> None:
    weight, trainer = weight_and_trainer()
    with mx.autograd.record(), amp.scale_loss(weight.data().sum(), trainer) as scaled:
        scaled.backward()
    assert (weight.grad().asnumpy() == 2.0**16).all()
    amp.unscale(trainer)
    assert (weight.grad().asnumpy() == 1).all()
    trainer.step(1)
    assert (weight.data().asnumpy() == 0.5).all()


def test_losses_in_a_list_are_scaled_each() -> None:
    _, trainer = weight_and_trainer()
    losses = [mx.nd.ones(1), mx.nd.ones(1) * 2]
    with amp.scale_loss(losses, trainer) as scaled:
        assert [x.asscalar() for x in scaled] == [2.0**16, 2.0**17]


def test_nan_counts_as_overflow_and_null_gradients_do_not() -> None:
    frozen = mx.gluon.Parameter("frozen", shape=(1,), grad_req="null")
    frozen.initialize()
    weight, trainer = weight_and_trainer()
    step(weight, trainer, float("nan"))
    assert (weight.data().asnumpy() == 1).all()
    assert not amp.loss_scaler.LossScaler().has_overflow([frozen])


def test_what_is_no_trainer_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected a gluon Trainer, got an optimizer, SGD"):
        amp.init_trainer(mx.optimizer.SGD())
    with pytest.raises(TypeError, match="unscale: expected a gluon Trainer, got int"):
        amp.unscale(3)
    weight = mx.gluon.Parameter("weight", shape=(2,))
    weight.initialize()
    trainer = mx.gluon.Trainer([weight], "sgd")
    with (
        pytest.raises(ArgumentError, match=r"call amp\.init_trainer"),
        amp.scale_loss(mx.nd.ones(1), trainer),
    ):
        pass


def accuracy(dtype: str | None) -> float:
    images, labels = load_digits(train=True)
    mx.random.seed(5)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D())
    net.add(nn.Dense(32, activation="relu"), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    loss_function = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    if dtype == "float16":
        amp.init_trainer(trainer)
    for epoch in range(2):
        order = np.random.RandomState(epoch).permutation(1400)
        for start in range(0, 1400, 100):
            rows = order[start : start + 100]
            x, y = mx.nd.array(images[rows]), mx.nd.array(labels[rows])
            with mx.autograd.record():
                if dtype is None:
                    loss = loss_function(net(x), y)
                else:
                    with amp.autocast(dtype):
                        loss = loss_function(net(x), y)
                if dtype == "float16":
                    with amp.scale_loss(loss, trainer) as scaled:
                        scaled.backward()
            if dtype != "float16":
                loss.backward()
            trainer.step(100)
    images, labels = load_digits(train=False)
    return float((net(mx.nd.array(images)).asnumpy().argmax(1) == labels).mean())


# The first scales overflow: that is how they are found.
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_digits_are_learned_as_well_as_in_float32(dtype: str) -> None:
    exact = accuracy(None)
    assert exact > 0.85
    assert abs(accuracy(dtype) - exact) < 0.04
