"""Networks and programs that run with CUDA graphs and without, on the double and on devices."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import MXNET_ENABLE_CUDA_GRAPHS
from gluonish.gluon import nn, rnn

__all__ = ["GPU", "NETS", "STATIC", "Attention", "Chain", "both", "convolutional", "graphs"]
__all__ += ["inference", "made", "recurrent", "same", "training"]

GPU = mx.gpu(0)
STATIC = {"static_alloc": True, "static_shape": True}
Bits = list[Any]


class Attention(nn.HybridBlock):
    """A layer of a transformer: attention with one head, both with Dropout and LayerNorm."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.project = nn.Dense(24, flatten=False)
            self.drop = nn.Dropout(0.2)
            self.norm = nn.LayerNorm()
            self.widen = nn.Dense(16, flatten=False)
            self.narrow = nn.Dense(8, flatten=False)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        query, key, value = F.split(self.project(x), num_outputs=3, axis=-1)
        weights = self.drop(F.softmax(F.batch_dot(query, key, transpose_b=True)))
        x = self.norm(x + self.drop(F.batch_dot(weights, value)))
        return x + self.drop(self.narrow(F.LeakyReLU(self.widen(x), act_type="gelu")))


class Chain(nn.HybridBlock):
    """A product, two operators on elements, and a sum."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.sum(F.exp(F.sin(F.dot(x, x))), axis=1)


def convolutional() -> nn.HybridBlock:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D())
    net.add(nn.Conv2D(4, 3, strides=2), nn.BatchNorm(), nn.GlobalAvgPool2D(), nn.Dense(5))
    net.add(nn.HybridLambda("softmax"))
    return net


def recurrent() -> nn.HybridBlock:
    net = nn.HybridSequential()
    net.add(rnn.LSTM(6, layout="NTC"), nn.Dropout(0.3), nn.Dense(3))
    return net


NETS: dict[str, tuple[Callable[[], nn.HybridBlock], tuple[int, ...]]] = {
    "convolutional": (convolutional, (2, 3, 8, 8)),
    "recurrent": (recurrent, (2, 4, 5)),
    "attention": (Attention, (2, 4, 8)),
}


def graphs() -> Any:
    return mx.nd.zeros((1,), ctx=GPU)._device.graphs


def made(make: Callable[[], nn.HybridBlock]) -> nn.HybridBlock:
    """Return a network on the device, the same one each time."""
    mx.random.seed(7)
    net = make()
    net.initialize(mx.init.Xavier(), ctx=GPU)
    net.hybridize(**STATIC)
    return net


def batches(shape: tuple[int, ...], count: int) -> Iterator[nd.NDArray]:
    """Yield arrays of different values at different addresses."""
    random = np.random.default_rng(3)
    kept = [nd.zeros(shape, ctx=GPU) for _ in range(3)]
    for i in range(count):
        array = kept[i % 3]
        array[:] = nd.array(random.standard_normal(shape), ctx=GPU)
        yield array


def inference(make: Callable[[], nn.HybridBlock], shape: tuple[int, ...], count: int) -> Bits:
    net = made(make)
    return [net(x).asnumpy() for x in batches(shape, count)]


def training(make: Callable[[], nn.HybridBlock], shape: tuple[int, ...], count: int) -> Bits:
    """Return outputs of the steps, and all parameters after the last."""
    net, loss_of = made(make), mx.gluon.loss.L2Loss()
    loss_of.hybridize(**STATIC)
    found = []
    trainer = None
    for x in batches(shape, count):
        with autograd.record():
            y = net(x)
            loss = loss_of(y, nd.ones_like(y))
        loss.backward()
        trainer = trainer or mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
        trainer.step(shape[0])
        found.append(y.asnumpy())
    return found + [p.data(GPU).asnumpy() for p in net.collect_params().values()]


def same(got: Bits, want: Bits) -> None:
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(one.view("u4"), other.view("u4"))


def both(run: Callable[[], Bits]) -> tuple[Bits, Bits, int]:
    """Return what a program finds with graphs and without, and how many were launched."""
    before = graphs().launches
    with MXNET_ENABLE_CUDA_GRAPHS.override(False):
        want = run()
    assert graphs().launches == before
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        got = run()
    return got, want, graphs().launches - before
