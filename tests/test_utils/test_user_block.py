"""A user's test file: a Gluon block with a layer of its own, and an optimizer of its own."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.test_utils import (
    assert_almost_equal,
    check_gluon_hybridize_consistency,
    check_numeric_gradient,
    compare_optimizer,
    environment,
    same,
    same_array,
)


class Gate(mx.gluon.HybridBlock):
    """A dense layer times its own sigmoid."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.dense = mx.gluon.nn.Dense(units, in_units=3)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # Gluon's name
        y = self.dense(x)
        return y * F.sigmoid(y)


def gate(x: Any, weight: Any) -> Any:
    y = x @ weight.T
    return y / (1 + np.exp(-y))


def test_block_is_the_formula() -> None:
    net = Gate(2)
    net.initialize(mx.init.Normal(1))
    x = mx.nd.array(np.arange(6).reshape(2, 3) / 3)
    weight = net.dense.weight.data().asnumpy()
    assert_almost_equal(net(x), gate(x.asnumpy(), weight), names=("gate", "formula"))
    with pytest.raises(AssertionError, match=r"Location of maximum error: .*gate="):
        assert_almost_equal(net(x) * 1.01, gate(x.asnumpy(), weight), names=("gate", "formula"))


def test_block_hybridizes() -> None:
    check_gluon_hybridize_consistency(lambda: Gate(2), [mx.nd.ones((2, 3))])


def test_gradients_of_the_graph() -> None:
    net = Gate(2)
    out = net(mx.sym.var("x"))
    shapes, _, _ = out.infer_shape(x=(2, 3))
    generator = np.random.default_rng(0)
    location = {
        name: generator.normal(size=shape)
        for name, shape in zip(out.list_arguments(), shapes, strict=True)
    }
    check_numeric_gradient(out, location, dtype=np.float64)


def test_parameters_are_shared_and_saved(tmp_path: Any) -> None:
    net, twin = Gate(2), Gate(2)
    net.initialize()
    twin.initialize()
    assert same_array(net.dense.weight.data(), net.dense.weight.data())
    assert not same(net.dense.weight.data(), twin.dense.weight.data())
    net.save_parameters(str(tmp_path / "gate.params"))
    twin.load_parameters(str(tmp_path / "gate.params"))
    assert same(net.dense.weight.data(), twin.dense.weight.data())
    assert not same_array(net.dense.weight.data(), twin.dense.weight.data())


class PlainSGD(mx.optimizer.Optimizer):
    """w - lr * g, by array arithmetic."""

    def create_state(self, index: Any, weight: Any) -> None:
        return None

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        weight[:] = weight - self.learning_rate * grad


def test_own_optimizer_is_sgd() -> None:
    compare_optimizer(
        PlainSGD(learning_rate=0.1), mx.optimizer.SGD(learning_rate=0.1), (3, 4), "float32"
    )
    with pytest.raises(AssertionError):
        compare_optimizer(
            PlainSGD(learning_rate=0.1), mx.optimizer.SGD(learning_rate=0.3), (3, 4), "float32"
        )


def test_results_hold_without_fused_kernels() -> None:
    net = Gate(2)
    net.initialize()
    x = mx.nd.ones((2, 3))
    net.hybridize()
    fused = net(x)
    with environment("MXNET_USE_FUSION", "0"):
        net.hybridize()
        assert_almost_equal(net(x), fused)
