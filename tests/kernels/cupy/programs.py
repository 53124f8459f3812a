"""Programs for any device, run on the double of CuPy and on real GPUs."""

from typing import Any

import numpy as np

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.gluon import nn
from tests.kernels.cupy.machine import Race


def indexing(ctx: mx.Context) -> list[Any]:
    """Read and write parts of arrays."""
    x = nd.array(np.arange(24).reshape(2, 3, 4), ctx=ctx)
    view = x[1]
    x[0, 1:, ::2] = 9
    x[:, 0] = nd.array([1, 2, 3, 4], ctx=ctx)
    x[1, [0, 2]] = 5
    view += 1
    return [x, view, x[1, 2, 3], x[:, [2, 0]], x.reshape(6, 4)[3:], nd.concatenate([x, x])]


def mathematics(ctx: mx.Context) -> list[Any]:
    """Chain operators of several kinds."""
    x = nd.array(np.linspace(0.1, 2, 12).reshape(3, 4), ctx=ctx)
    y = nd.dot(x, x.T) + nd.erf(x).sum(axis=1).reshape(3, 1) * 2 - 1
    y /= nd.softmax(y)
    return [y, y.max(axis=0), y.argmax(axis=1), y.astype("int32") % 3, nd.topk(y, k=2), -y > 0]


def network() -> Any:
    """A small network with most kinds of layers."""
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(4, 3, padding=1, activation="relu", in_channels=2),
        nn.BatchNorm(in_channels=4),
        nn.MaxPool2D(),
        nn.Flatten(),
        nn.Dense(5, in_units=16),
        nn.LayerNorm(in_channels=5),
    )
    return net


def train(contexts: list[mx.Context], steps: int = 3, **hybrid: Any) -> dict[str, Any]:
    """Train on batches split over contexts, and return the parameters."""
    random = np.random.default_rng(3)
    net = network()
    net.initialize(mx.init.Constant(0.1), ctx=contexts)
    values = {name: random.normal(0, 0.3, p.shape) for name, p in _named(net).items()}
    for name, parameter in _named(net).items():
        parameter.set_data(nd.array(abs(values[name]) if "var" in name else values[name]))
    if hybrid:
        net.hybridize(**hybrid)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(steps):
        data, label = random.normal(size=(4, 2, 4, 4)), random.integers(0, 5, 4)
        parts = gluon.utils.split_and_load(nd.array(data), contexts)
        labels = gluon.utils.split_and_load(nd.array(label), contexts)
        with autograd.record():
            losses = [loss_of(net(x), y) for x, y in zip(parts, labels, strict=True)]
        autograd.backward(losses)
        trainer.step(4)
    return {name: p.data(contexts[0]).asnumpy() for name, p in _named(net).items()}


def _named(net: Any) -> dict[str, Any]:
    """Parameters under names that do not count blocks."""
    found = {
        f"{i}_{p.name.rsplit('_', 1)[-1]}": p for i, p in enumerate(net.collect_params().values())
    }
    return {name + ("var" if "running_var" in p.name else ""): p for name, p in found.items()}


def uploads_into_used_memory() -> None:
    """Drop an array that a kernel still reads, and copy into memory that may be its."""
    for _ in range(4):
        x = nd.ones((64,), ctx=mx.gpu(0))
        y = x + 1
        del x
        z = nd.ones((64,)).as_in_context(mx.gpu(0))
        del y, z


def computes_in_memory_of_an_upload() -> None:
    """Drop the target of a copy at once, and compute in memory that may be its."""
    host = nd.ones((64,))
    for _ in range(4):
        host.as_in_context(mx.gpu(0))
        nd.zeros((64,), ctx=mx.gpu(0))


def stages_through_pinned_memory() -> None:
    """Make arrays one after another, without waiting."""
    for i in range(4):
        nd.array(np.full(64, i), ctx=mx.gpu(0))


def run_program(steps: Any, places: tuple[mx.Context, ...]) -> list[Any]:
    """Run random steps on six arrays, and return everything that was read."""
    arrays = [nd.full((17,), i, ctx=places[i % 4]) for i in range(6)]
    read: list[Any] = []
    for number, (what, i, j, place) in enumerate(steps):
        a, b, ctx = arrays[i], arrays[j], places[place]
        if what == "new":
            arrays[i] = nd.array(np.arange(17) + number, ctx=ctx)
        elif what == "copy":
            b.copyto(a)
        elif what == "move":
            arrays[i] = b.as_in_context(ctx)
        elif what == "add":
            arrays[i] = a + b.as_in_context(a.context)
        elif what == "scale":
            a *= 0.5
        elif what == "write":
            a[3:9] = b.as_in_context(a.context)[3:9]
        elif what == "drop":
            arrays[i] = nd.ones((17,), ctx=ctx)
        else:
            read.append(a.asnumpy())
    return [*read, *(a.asnumpy() for a in arrays)]


def failures(program: Any) -> str:
    """Run a program to its end; return what failed in it, or nothing."""
    try:
        program()
        nd.waitall()
    except (Race, mx.MXNetError) as error:
        return f"{error} {error.__cause__!r}"
    return ""
