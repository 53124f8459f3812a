"""What a small call costs: times in microseconds, medians of turns, and Python calls.

    python benchmarks/small_calls.py [--rounds 15] [--only NAME]

tiny: Conv2D(8)-BatchNorm-relu-Dense(10) on (1, 3, 8, 8), hybridized by default and with
static_alloc, in turns; inference, and with a backward pass. add: ``x + x`` of 4 numbers inside
`record`. chain: 10,000 of them, and their backward pass, for each. relu: forward and backward of
one. step: `Trainer.step`. symbol: a bound Symbol. Python calls are those of the calling thread.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.gluon import nn

Timed = dict[str, Callable[[], Any]]


def tiny(**options: Any) -> tuple[Any, Any]:
    """Return the network, hybridized with some options, and its input."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.Dense(10))
    net.initialize()
    net.hybridize(**options)
    return net, nd.random.uniform(shape=(1, 3, 8, 8))


def tiny_network() -> Timed:
    """Return calls of the tiny network."""
    made: Timed = {}
    for name, options in (("default", {}), ("static", {"static_alloc": True})):
        net, x = tiny(**options)

        def infer(net: Any = net, x: Any = x) -> None:
            net(x).wait_to_read()

        def train(net: Any = net, x: Any = x) -> None:
            with autograd.record():
                y = net(x)
            y.backward()
            net[0].weight.grad().wait_to_read()

        made[f"tiny {name} inference"] = infer
        made[f"tiny {name} backward"] = train
    return made


def eager() -> Timed:
    """Return imperative calls."""
    x = nd.ones((4,))
    x.attach_grad()

    def add() -> None:
        with autograd.record():
            for _ in range(100):
                x + x

    def chain() -> None:
        with autograd.record():
            y = x
            for _ in range(10_000):
                y = y + x
        y.backward()
        x.grad.wait_to_read()

    def relu() -> None:
        with autograd.record():
            y = nd.relu(x)
        y.backward()

    return {"add /100": add, "chain /10000": chain, "relu": relu}


def trainers() -> Timed:
    """Return steps of trainers."""
    made: Timed = {}
    for count, shape, devices in ((2, (4,), 2), (200, (1000,), 1)):
        ctx = [mx.cpu(i) for i in range(devices)]
        params = gluon.ParameterDict()
        for i in range(count):
            params.get(f"w{i}", shape=shape, init="ones")
        params.initialize(ctx=ctx)
        trainer = gluon.Trainer(params, "sgd", {"learning_rate": 0.1}, kvstore="device")
        with autograd.record():
            heads = [sum(p.data(c).sum() for p in params.values()) for c in ctx]
        autograd.backward(heads)

        leaves = [y._link[0] for p in params.values() for y in p.list_data()]
        last = params.get(f"w{count - 1}").list_data()[-1]

        def step(trainer: Any = trainer, leaves: Any = leaves, last: Any = last) -> None:
            for leaf in leaves:  # as a backward pass leaves them
                leaf.fresh = True
            trainer.step(1)
            last.wait_to_read()

        made[f"step {count} weights, {devices} devices"] = step
    return made


def symbols() -> Timed:
    """Return binding and running of a small Symbol."""
    x, w = mx.sym.var("x"), mx.sym.var("w")
    loss = mx.sym.sum(mx.sym.relu(mx.sym.FullyConnected(x, w, num_hidden=4, no_bias=True)))
    arrays = {"x": nd.ones((2, 3)), "w": nd.ones((4, 3))}

    def bind() -> None:
        grads = {name: nd.zeros(a.shape) for name, a in arrays.items()}
        executor = loss.bind(mx.cpu(), arrays, args_grad=grads)
        executor.forward(is_train=True)
        executor.backward(nd.ones((1,)))
        grads["w"].wait_to_read()

    return {"symbol bind and run": bind}


def python_calls(call: Callable[[], Any]) -> int:
    """Return how many Python functions a call enters."""
    count = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    for _ in range(3):
        call()
    nd.waitall()
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    calls: Timed = {}
    for make in (tiny_network, eager, trainers, symbols):
        calls |= {name: call for name, call in make().items() if given.only in name}
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(given.rounds):
        for name, call in calls.items():
            parts = 1 if "chain" in name else 20
            call()
            start = time.perf_counter()
            for _ in range(parts):
                call()
            inner = int(name.partition("/")[2] or 1)
            samples[name].append((time.perf_counter() - start) / parts / inner * 1e6)
    for name, call in calls.items():
        found = samples[name]
        print(
            f"{name:32} median {statistics.median(found):9.1f} us, least {min(found):9.1f} us, "
            f"{python_calls(call) if 'chain' not in name else 0:6} Python calls"
        )


if __name__ == "__main__":
    main()
