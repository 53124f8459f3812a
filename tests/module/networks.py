"""Small networks, modules of them, and batches, for the tests of modules."""

from typing import Any

import numpy as np

import gluonish as mx
from gluonish.io import DataBatch
from gluonish.module import Module

ROWS, INPUTS, CLASSES = 8, 5, 3
TWO = [mx.cpu(0), mx.cpu(1)]
SGD = {"learning_rate": 0.1, "momentum": 0.9}
DATA, LABEL = [("data", (ROWS, INPUTS))], [("softmax_label", (ROWS,))]


def mlp(hidden: int = 6) -> mx.sym.Symbol:
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=hidden, name="fc1")
    x = mx.sym.Activation(x, act_type="tanh", name="act")
    x = mx.sym.FullyConnected(x, num_hidden=CLASSES, name="fc2")
    return mx.sym.SoftmaxOutput(x, name="softmax")


def values(shape: tuple[int, ...], seed: int) -> mx.nd.NDArray:
    return mx.nd.array(np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32))


def batch(rows: int = ROWS, seed: int = 0, inputs: int = INPUTS, **settings: Any) -> DataBatch:
    labels = np.random.default_rng(seed).integers(0, CLASSES, rows)
    return DataBatch([values((rows, inputs), seed)], [mx.nd.array(labels)], **settings)


def weights(symbol: mx.sym.Symbol | None = None) -> dict[str, mx.nd.NDArray]:
    symbol = mlp() if symbol is None else symbol
    shapes, _, _ = symbol.infer_shape(data=(ROWS, INPUTS))
    return {
        name: values(shape, seed)
        for seed, (name, shape) in enumerate(zip(symbol.list_arguments(), shapes, strict=True))
        if name not in ("data", "softmax_label")
    }


def bound(symbol: mx.sym.Symbol | None = None, **settings: Any) -> Module:
    """A module, bound and with the same weights each time."""
    binding = {
        name: settings.pop(name)
        for name in ("for_training", "inputs_need_grad", "grad_req", "label_shapes")
        if name in settings
    }
    module = Module(mlp() if symbol is None else symbol, **settings)
    module.bind(DATA, **{"label_shapes": LABEL, **binding})
    module.init_params(None, weights(module.symbol), {})
    return module


def numpy_of(named: dict[str, mx.nd.NDArray]) -> dict[str, Any]:
    return {name: x.asnumpy() for name, x in named.items()}


def assert_same(found: dict[str, Any], wanted: dict[str, Any], tolerance: float = 1e-6) -> None:
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=0, atol=tolerance, err_msg=name)


def trained(module: Module, steps: int = 3, **settings: Any) -> dict[str, Any]:
    """The weights after some steps."""
    module.init_optimizer(optimizer_params=SGD, **settings)
    for seed in range(steps):
        module.forward_backward(batch(seed=seed))
        module.update()
    return numpy_of(module.get_params()[0])
