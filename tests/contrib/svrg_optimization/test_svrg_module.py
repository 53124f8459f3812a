"""SVRGModule against the algorithm in float64, and its first epochs against MXNet 1.9.1."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib.svrg_optimization.svrg_module import SVRGModule
from gluonish.contrib.svrg_optimization.svrg_optimizer import _SVRGOptimizer

X = np.arange(24, dtype="float64").reshape(8, 3) / 10
Y = X.sum(1, keepdims=True) * 0.5 + 1


def batches() -> mx.io.NDArrayIter:
    return mx.io.NDArrayIter(X.astype("float32"), Y.astype("float32"), 2, label_name="lin_label")


def network() -> mx.sym.Symbol:
    line = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc")
    return mx.sym.LinearRegressionOutput(line, mx.sym.Variable("lin_label"), name="lin")


def module(context: Any = None, update_freq: Any = 2) -> SVRGModule:
    return SVRGModule(
        network(),
        data_names=["data"],
        label_names=["lin_label"],
        context=mx.cpu() if context is None else context,
        update_freq=update_freq,
    )


def mean_gradient(w: Any, x: Any, y: Any) -> Any:
    """Of the weight and the bias, over a batch of two: the sum over its rows, halved."""
    error = x @ w[:3] + w[3] - y[:, 0]
    return np.append(error @ x, error.sum()) / 2


def by_hand(epochs: int, rate: float) -> Any:
    """SVRG in float64: full gradients in every other epoch."""
    w = np.array([0.1, 0.1, 0.1, 0])
    kept, full = w, np.zeros(4)
    parts = [(X[i : i + 2], Y[i : i + 2]) for i in range(0, 8, 2)]
    for epoch in range(epochs):
        if epoch % 2 == 0:
            kept, full = w, np.mean([mean_gradient(w, x, y) for x, y in parts], axis=0)
        for x, y in parts:
            w = w - rate * (mean_gradient(w, x, y) - mean_gradient(kept, x, y) + full)
    return w


def weights(trained: SVRGModule) -> Any:
    found = trained.get_params()[0]
    return np.append(found["fc_weight"].asnumpy().ravel(), found["fc_bias"].asnumpy())


@pytest.mark.parametrize("devices", [1, 2])
def test_training_is_variance_reduced(devices: int) -> None:
    trained = module([mx.cpu(i) for i in range(devices)])
    trained.fit(
        batches(),
        eval_metric="mse",
        initializer=mx.init.Constant(0.1),
        optimizer_params=(("learning_rate", 0.05),),
        num_epoch=5,
    )
    np.testing.assert_allclose(weights(trained), by_hand(5, 0.05), rtol=1e-4)


def test_full_gradients_and_first_epochs_are_those_of_mxnet() -> None:
    trained, data = module(), batches()
    trained.bind(data.provide_data, data.provide_label)
    trained.init_params(mx.init.Constant(0.1))
    trained.init_optimizer(
        kvstore=None, optimizer_params=(("learning_rate", 0.05), ("momentum", 0.5))
    )
    trained.update_full_grads(data)
    (full,) = trained._param_dict
    np.testing.assert_allclose(full["fc_weight"].asnumpy(), [[-6.132, -6.608, -7.084]], rtol=1e-5)
    np.testing.assert_allclose(full["fc_bias"].asnumpy(), [-4.76], rtol=1e-5)
    expected = [
        [0.4494246, 0.4848537, 0.5202829, 0.3542926],
        [0.3949270, 0.4364323, 0.4779378, 0.4150548],
    ]
    for found in expected:
        data.reset()
        for batch in data:
            trained.forward_backward(batch)
            trained.update()
        np.testing.assert_allclose(weights(trained), found, rtol=1e-5)


@pytest.mark.parametrize(
    ("update_freq", "error"),
    [(None, TypeError), ("a", TypeError), (2.5, TypeError), (0, ValueError)],
)
def test_frequency_is_a_positive_int(update_freq: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="update_freq in SVRGModule must be"):
        module(update_freq=update_freq)


def test_optimizer_assigns_what_is_called_full() -> None:
    names = {0: "a", 1: "a_full"}
    optimizer = _SVRGOptimizer("sgd", learning_rate=0.1, param_idx2name=names)
    weight = mx.nd.ones(2)
    optimizer.update(0, weight, mx.nd.ones(2), optimizer.create_state(0, weight))
    np.testing.assert_allclose(weight.asnumpy(), [0.9, 0.9], rtol=1e-6)
    optimizer.update(1, weight, mx.nd.array([7, 8]), optimizer.create_state(1, weight))
    np.testing.assert_array_equal(weight.asnumpy(), [7, 8])
    with pytest.raises(TypeError, match="zz"):
        _SVRGOptimizer("sgd", zz=3)
