"""Training programs whose sums are of many blocks, for tests that equal runs give equal bits."""

from collections.abc import Callable
from typing import Any

import numpy as np

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.gluon import nn, rnn
from tests.kernels.cupy.graph_programs import GPU, STATIC, Attention

_STEPS = 5  # the first runs as it is, the second is captured, the last are replays
_WORDS, _CLASSES = 50, 300


def _convolutional() -> gluon.HybridBlock:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D())
    net.add(nn.Conv2D(16, 3), nn.BatchNorm(), nn.GlobalAvgPool2D(), nn.Dense(_CLASSES))
    return net


def _attention() -> gluon.HybridBlock:
    net = nn.HybridSequential()
    net.add(nn.Embedding(_WORDS, 8), Attention(), nn.Dense(_CLASSES, flatten=False))
    net.add(nn.HybridLambda(lambda F, x: F.reshape(x, shape=(-1, _CLASSES))))
    return net


def _recurrent() -> gluon.HybridBlock:
    net = nn.HybridSequential()
    net.add(nn.Embedding(_WORDS, 8), rnn.LSTM(12, layout="NTC", dropout=0.1, num_layers=2))
    net.add(nn.Dense(_CLASSES, flatten=False))
    net.add(nn.HybridLambda(lambda F, x: F.reshape(x, shape=(-1, _CLASSES))))
    return net


# Networks, shapes of their data, and optimizers. Data of two axes are words.
KINDS: dict[str, tuple[Callable[[], gluon.HybridBlock], tuple[int, ...], str]] = {
    "convolutional": (_convolutional, (4, 3, 48, 48), "sgd"),
    "attention": (_attention, (24, 64), "lamb"),
    "recurrent": (_recurrent, (24, 16), "adam"),
}


def trained(kind: str, dtype: str) -> list[bytes]:
    """Return the bits of the losses of some steps, and of all parameters after the last."""
    make, shape, optimizer = KINDS[kind]
    random = np.random.default_rng(9)
    mx.random.seed(9)
    net = make()
    net.initialize(mx.init.Xavier(), ctx=GPU)
    net.cast(dtype)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    net.hybridize(**STATIC)
    loss_of.hybridize(**STATIC)
    settings = {"learning_rate": 0.01, "multi_precision": dtype != "float32"}
    trainer = gluon.Trainer(net.collect_params(), optimizer, settings)
    found: list[Any] = []
    for _ in range(_STEPS):
        if len(shape) == 2:
            x, rows = nd.array(random.integers(0, _WORDS, shape), ctx=GPU), shape[0] * shape[1]
        else:
            x, rows = nd.array(random.standard_normal(shape), ctx=GPU, dtype=dtype), shape[0]
        y = nd.array(random.integers(0, _CLASSES, rows), ctx=GPU)
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(rows)
        found.append(loss)
    found += [p.data(GPU) for p in net.collect_params().values()]
    return [x.asnumpy().tobytes() for x in found]
