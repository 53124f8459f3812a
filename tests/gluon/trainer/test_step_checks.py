"""A Trainer's step while values are checked: gradients, updates, gradients that never arrive."""

import warnings
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core.errors import NonFiniteError
from gluonish.gluon import nn
from gluonish.gluon.trainer import StaleGradientError


class Parts(gluon.HybridBlock):
    """A network whose first layer is cut off, and whose last one is not called."""

    def __init__(self, cut: bool) -> None:
        super().__init__(prefix="net_")
        self._cut = cut
        with self.name_scope():
            self.a = nn.Dense(4, in_units=5, prefix="a_")
            self.b = nn.Dense(3, in_units=4, prefix="b_")
            self.c = nn.Dense(2, in_units=2, prefix="c_")

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        y = self.a(x)
        return self.b(F.BlockGrad(y) if self._cut else y)


def step(net: Any, trainer: Any, x: Any | None = None, **options: Any) -> None:
    """Take a training step."""
    with autograd.record():
        loss = (net(nd.ones((2, 5)) if x is None else x) ** 2).sum()
    loss.backward()
    trainer.step(2, **options)


def sgd(params: Any, **options: Any) -> gluon.Trainer:
    return gluon.Trainer(params, "sgd", {"learning_rate": 0.1, **options})


@pytest.mark.parametrize("hybridized", [False, True])
def test_stale_parameters_are_all_named(hybridized: bool) -> None:
    net = Parts(cut=False)
    net.initialize()
    net.hybridize(hybridized)
    trainer = sgd(net.collect_params())
    for scope in (mx.check_values(), mx.check_values(gradients=False)):
        with scope, pytest.raises(StaleGradientError) as caught:
            step(net, trainer)
        message = str(caught.value)
        assert "Parameter net_c_bias (c.bias)" in message
        assert "nor of Parameter net_c_weight (c.weight)" in message
        assert "net_a_" not in message
        assert "net_b_" not in message


def test_without_a_backward_pass_no_list_is_needed() -> None:
    net = Parts(cut=False)
    net.initialize()
    with pytest.raises(StaleGradientError, match="nor of any other parameter; call backward"):
        sgd(net.collect_params()).step(1)


@pytest.mark.parametrize("hybridized", [False, True])
def test_gradients_that_never_arrive_are_named_once(hybridized: bool) -> None:
    net = Parts(cut=True)
    net.initialize()
    net.hybridize(hybridized)
    trainer = sgd(net.collect_params())
    with warnings.catch_warnings(record=True) as caught, mx.check_values():
        warnings.simplefilter("always")
        for _ in range(6):
            step(net, trainer, ignore_stale_grad=True)
    (warning,) = caught
    assert warning.filename == __file__
    message = str(warning.message)
    for name in ("net_a_weight (a.weight)", "net_c_weight (c.weight)", "net_c_bias (c.bias)"):
        assert name in message
    assert "net_b_" not in message
    assert "in 3 steps in a row" in message


def test_a_bias_before_batch_norm_is_no_missing_gradient() -> None:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(3, 1, in_channels=2), nn.BatchNorm(), nn.Dense(2))
    net.initialize()
    net.hybridize()
    net(nd.random.normal(shape=(2, 2, 3, 3)))
    trainer = sgd(net.collect_params())
    with mx.check_values():  # warnings are errors
        for _ in range(4):
            step(net, trainer, nd.random.normal(shape=(2, 2, 3, 3)))


def test_a_bad_gradient_names_the_parameter_and_the_step() -> None:
    net = nn.Dense(3, in_units=5, prefix="d_")
    net.initialize()
    trainer = sgd(net.collect_params())
    step(net, trainer)
    step(net, trainer)
    with autograd.record():
        loss = net(nd.ones((2, 5))).sum()
    loss.backward()
    net.weight.grad()[1, 2] = np.nan
    with mx.check_values(), pytest.raises(NonFiniteError) as caught:
        trainer.step(2)
    assert str(caught.value).startswith(
        "Trainer: expected finite gradients, got NaN in the gradient of Parameter d_weight (1 of "
        "15 values, the first at [1, 2]); training step 3; at test_step_checks.py:"
    )


@pytest.mark.parametrize("update_on_kvstore", [None, True])
def test_an_update_that_overflows_names_the_parameter_and_the_rate(
    update_on_kvstore: bool | None,
) -> None:
    devices = [mx.cpu(0), mx.cpu(1)] if update_on_kvstore else [mx.cpu(0)]
    net = nn.Dense(3, in_units=5, prefix="d_")
    net.initialize(ctx=devices)
    rate = {"learning_rate": 3e38, "rescale_grad": 1e3}
    trainer = gluon.Trainer(net.collect_params(), "sgd", rate, update_on_kvstore=update_on_kvstore)
    with autograd.record():
        losses = [net(nd.ones((2, 5), ctx=device)).sum() for device in devices]
    autograd.backward(losses)
    with mx.check_values(), pytest.raises(NonFiniteError) as caught:
        trainer.step(2)
    message = str(caught.value)
    assert message.startswith("Trainer: expected finite parameters, got -infinity in Parameter d_")
    assert "after the update with learning rate 3e+38" in message
    assert "; training step 1;" in message


def test_the_step_is_in_messages_of_operators() -> None:
    net = nn.Dense(3, in_units=5)
    net.initialize()
    trainer = sgd(net.collect_params())
    for _ in range(2):
        step(net, trainer)
    with mx.check_values():
        step(net, trainer)
        with pytest.raises(NonFiniteError, match="; training step 4; at"):
            net(nd.full((1, 5), np.nan))


def test_steps_that_a_loss_scaler_skips_are_no_errors() -> None:
    net = nn.Dense(3, in_units=5)
    net.initialize()
    trainer = sgd(net.collect_params())
    mx.amp.init_trainer(trainer)
    before = net.weight.data().asnumpy()
    with mx.check_values():
        with autograd.record():
            loss = (net(nd.ones((2, 5)) * 1e18) ** 2).sum()
            with mx.amp.scale_loss(loss, trainer) as scaled:
                autograd.backward(scaled)
        trainer.step(2)
    np.testing.assert_array_equal(net.weight.data().asnumpy(), before)


def test_update_after_allreduce_is_checked() -> None:
    net = nn.Dense(3, in_units=5, prefix="d_")
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", update_on_kvstore=False)
    with autograd.record():
        loss = net(nd.ones((2, 5))).sum()
    loss.backward()
    trainer.allreduce_grads()
    net.bias.grad()[0] = np.inf
    with (
        mx.check_values(),
        pytest.raises(NonFiniteError, match=r"infinity in the gradient of .*bias"),
    ):
        trainer.update(2)
