"""What the first call of a hybridized network takes, by phases: forward, backward and an Adam step.

    python -m benchmarks.cpu first_call [--networks lstm,resnet,encoder,branches,resnet50,bert]
                                    [--cold] [--peers mxnet --mxnet-python mxnet/bin/python]

Networks: two LSTM cells of 64 units, unrolled 48 steps, and a dense layer (batch 16); ResNet-18 v1
of CIFAR's shapes (batch 4); an encoder of 4 transformer layers of 128 units (8 x 32 tokens); 5,000
branches of a product and a rectifier, added (512 x 4). ResNet-50 (4 images) and BERT-base (4 x 128
words) with their loss and SGD with momentum, from ``hybridize``. All float32. Each is a process of
its own, after a small network that starts the library. Prints seconds of:

  trace    from the call to a graph, deferred shapes included
  passes   gradient, rewrites, fusion
  plan     kernels, memory and steps of the executables
  compile  kernels that were not on disk, in any thread; ``--cold``: in an empty ``MXNET_HOME``
  rest     the run itself, the backward pass and the step
  second   a second call, all in all
"""

import argparse
import functools
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

NETWORKS = ("lstm", "resnet", "encoder", "branches", "resnet50", "bert")
PHASES = ("trace", "passes", "plan", "compile")
STEPS, UNITS, HEADS = 48, 128, 4
BATCH = 4  # of the large networks


def build(mx: Any, name: str) -> tuple[Any, list[Any]]:
    """Return a network and its inputs, in one of the two packages."""
    shapes: dict[str, list[tuple[int, ...]]] = {
        "lstm": [(16, STEPS, 32)],
        "resnet": [(4, 3, 32, 32)],
    }
    shapes |= {"encoder": [(8, 32, UNITS)], "branches": [(512, 4)]}
    inputs = [mx.nd.random.uniform(shape=shape) for shape in shapes[name]]
    if name == "resnet":
        vision = import_module(f"{mx.__name__}.gluon.model_zoo.vision")
        return vision.get_resnet(1, 18, classes=10, thumbnail=True), inputs

    class Unrolled(mx.gluon.HybridBlock):  # type: ignore[misc]  # of either package
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.cells = mx.gluon.rnn.HybridSequentialRNNCell()
                for _ in range(2):
                    self.cells.add(mx.gluon.rnn.LSTMCell(64))
                self.dense = mx.gluon.nn.Dense(32, flatten=False)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            outputs, _ = self.cells.unroll(STEPS, x, layout="NTC", merge_outputs=True)
            return self.dense(outputs)

    class Layer(mx.gluon.HybridBlock):  # type: ignore[misc]  # of either package
        def __init__(self) -> None:
            super().__init__()
            nn = mx.gluon.nn
            with self.name_scope():
                self.parts = [nn.Dense(UNITS, flatten=False) for _ in range(4)]
                self.wide, self.back = [nn.Dense(n, flatten=False) for n in (4 * UNITS, UNITS)]
                self.norms = [nn.LayerNorm() for _ in range(2)]
            for child in (*self.parts, *self.norms):
                self.register_child(child)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            q, k, v = [self._heads(part(x)) for part in self.parts[:3]]
            weights = F.softmax(F.batch_dot(q, k, transpose_b=True) / (UNITS / HEADS) ** 0.5)
            seen = F.batch_dot(weights, v).reshape((-4, -1, HEADS, 0, 0))
            seen = F.reshape(F.transpose(seen, (0, 2, 1, 3)), (0, 0, -1))
            x = self.norms[0](x + self.parts[3](seen))
            return self.norms[1](x + self.back(F.LeakyReLU(self.wide(x), act_type="gelu")))

        def _heads(self, x: Any) -> Any:
            x = x.reshape((0, 0, HEADS, -1)).transpose((0, 2, 1, 3))
            return x.reshape((-3, 0, 0))

    class Branches(mx.gluon.HybridBlock):  # type: ignore[misc]  # of either package
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.add_n(*[F.relu(x * (1.0 + i)) for i in range(5000)])

    if name == "encoder":
        net = mx.gluon.nn.HybridSequential()
        for _ in range(4):
            net.add(Layer())
        return net, inputs
    return (Unrolled() if name == "lstm" else Branches()), inputs


def step(mx: Any, net: Any, trainer: Any, inputs: Sequence[Any]) -> float:
    """Run forward, backward and the step; return the seconds."""
    start = time.perf_counter()
    with mx.autograd.record():
        loss = (net(*inputs) ** 2).mean()
    loss.backward()
    if trainer is not None:
        trainer.step(1)
    loss.wait_to_read()
    mx.nd.waitall()
    return time.perf_counter() - start


def measure(mx: Any, name: str) -> tuple[float, float]:
    """Return the seconds of the first and the second call."""
    net, inputs = build(mx, name)
    net.initialize()
    net.hybridize()
    for x in inputs:
        x.attach_grad()
    parameters = net.collect_params()
    trainer = mx.gluon.Trainer(parameters, "adam") if list(parameters.keys()) else None
    mx.nd.waitall()
    return step(mx, net, trainer, inputs), step(mx, net, trainer, inputs)


def measure_large(mx: Any, name: str) -> tuple[float, float]:
    """Return the seconds of the first training step of a large network, and of the second."""
    from benchmarks.cpu.mixed_precision import data, gluon_network

    net = gluon_network(mx, name)
    net.initialize(mx.init.Xavier() if name == "resnet50" else mx.init.Normal(0.02))
    inputs, labels = map(mx.nd.array, data(name, BATCH))
    loss_function = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    mx.nd.waitall()
    start = time.perf_counter()
    for block in (net, loss_function):
        block.hybridize(static_alloc=True)
    rule = {"learning_rate": 0.01, "momentum": 0.9}
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", rule)
    ends = [start]
    for _ in range(2):
        with mx.autograd.record():
            loss = loss_function(net(inputs), labels)
        loss.backward()
        trainer.step(BATCH)
        mx.nd.waitall()
        ends.append(time.perf_counter())
    return ends[1] - ends[0], ends[2] - ends[1]


def timed(spent: Counter[str], phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that notes how long it takes."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            spent[phase] += time.perf_counter() - start  # type: ignore[assignment]  # seconds

    return run


def watch() -> Counter[str]:
    """Have gluonish's phases note their seconds; return where."""
    from gluonish.gluon.block import hybrid_graph
    from gluonish.graph import cached_graph, pass_plans
    from gluonish.kernels.compiler import compile as compiler

    spent: Counter[str] = Counter()
    for owner, attribute, phase in (
        (hybrid_graph.HybridGraph, "__init__", "trace"),
        (cached_graph, "plan_passes", "passes"),
        (pass_plans, "plan_execution", "plan"),
        (compiler, "_new_kernel", "compile"),
    ):
        setattr(owner, attribute, timed(spent, phase, getattr(owner, attribute)))
    return spent


def one(package: str, name: str) -> None:
    """Measure one network and print a line."""
    mx = import_module(package)
    spent = watch() if package == "gluonish" else Counter[str]()
    small = mx.gluon.nn.Dense(4, in_units=4)
    small.initialize()
    step(mx, small, None, [mx.nd.ones((2, 4))])
    spent.clear()
    first, second = (measure_large if name in ("resnet50", "bert") else measure)(mx, name)
    spent["passes"] -= spent["plan"]
    texts = [f"{phase} {spent[phase]:.3f}" for phase in PHASES if package == "gluonish"]
    rest = first - sum(spent[phase] for phase in PHASES)
    texts += [f"rest {rest:.3f}"] if texts else []
    print(f"{name:9} {package:9} first {first:.3f} s", *texts, f"second {second:.3f}", sep="  ")


def main() -> None:
    """Measure all, or with ``--one`` one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--cold", action="store_true", help="with no kernel on disk")
    parser.add_argument("--peers", default="", help="mxnet, or nothing")
    parser.add_argument("--mxnet-python", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--one", nargs=2, metavar=("PACKAGE", "NETWORK"))
    arguments = parser.parse_args()
    if arguments.one:
        one(*arguments.one)
        return
    peers = [("gluonish", sys.executable)]
    if arguments.peers == "mxnet":
        if arguments.mxnet_python is None:
            parser.error("--mxnet-python: expected an interpreter for the peer, got none")
        peers.append(("mxnet", arguments.mxnet_python))
    root = Path(__file__).resolve().parents[2]
    for name in arguments.networks.split(","):
        for package, python in peers:
            with tempfile.TemporaryDirectory() as empty:
                environment = {**os.environ, **({"MXNET_HOME": empty} if arguments.cold else {})}
                if package == "mxnet":
                    environment.pop("PYTHONPATH", None)
                subprocess.run(
                    [python, "-m", "benchmarks.cpu.first_call", "--one", package, name],
                    check=True,
                    cwd=root,
                    env=environment,
                )


if __name__ == "__main__":
    main()
