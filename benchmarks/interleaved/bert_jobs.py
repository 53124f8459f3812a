"""Jobs that train the encoder of BERT-base with equal weights: gluonish's and PyTorch's.

A step is forward of sequences of 128 words, softmax cross entropy of two classes, backward, and SGD
with momentum, in float32. Both packages compute attention by their own operator.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.cpu.mixed_precision import HEADS, LAYERS, UNITS, WORDS, data, torch_network

_RATE, _MOMENTUM = 0.01, 0.9


def _matrices(shapes: Iterable[tuple[int, ...]]) -> list[Any]:
    """Return weights that depend on their shapes, and on their order among those of one shape.

    The packages list the weights of a layer in different orders.
    """
    numbers: dict[tuple[int, ...], np.random.Generator] = {}
    found = []
    for shape in shapes:
        drawn = numbers.setdefault(shape, np.random.default_rng(shape))
        found.append(drawn.standard_normal(shape, np.float32) * np.float32(0.02))
    return found


def _network(mx: Any) -> Any:
    """Return the network of gluonish's layers."""
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Embedding(WORDS, UNITS), nn.LayerNorm(in_channels=UNITS))
    for _ in range(LAYERS):
        net.add(nn.TransformerEncoderLayer(UNITS, 4 * UNITS, HEADS, dropout=0.0, activation="gelu"))
    first = nn.HybridLambda(
        lambda F, x: F.reshape(F.slice_axis(x, axis=1, begin=0, end=1), (0, -1))
    )
    net.add(first, nn.Dense(2, in_units=UNITS))
    return net


class _Training(ABC):
    """What the jobs of both packages do."""

    versions: dict[str, str]
    losses: list[float]

    @abstractmethod
    def step(self) -> float:
        """Take a step; return the loss."""

    def start(self) -> None:
        """Take three steps."""
        self.losses = [self.step() for _ in range(3)]

    def run(self, count: int) -> None:
        """Take ``count`` steps."""
        for _ in range(count):
            self.step()

    def check(self) -> Any:
        """Return the losses of the first three steps."""
        return np.array(self.losses)


class Gluonish(_Training):
    """Training steps of gluonish.

    Args:
        threads: Compute threads; the environment of the process says how many.
        batch_size: Sequences in a step.
        package: The package, which is imported before memory is counted.
    """

    def __init__(self, threads: int, batch_size: int, package: str) -> None:
        import gluonish as mx

        del threads, package
        self._mx = mx
        self.versions = {"gluonish": mx.__version__}
        self._net = _network(mx)
        self._net.initialize(mx.init.Zero())
        parameters = self._net.collect_params()
        matrices = [p for p in parameters.values() if len(p.shape) > 1]
        for parameter, values in zip(matrices, _matrices(p.shape for p in matrices), strict=True):
            parameter.set_data(mx.nd.array(values))
        self._loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
        self._data, self._labels = map(mx.nd.array, data("bert", batch_size))
        rule = {"learning_rate": _RATE, "momentum": _MOMENTUM}
        self._trainer = mx.gluon.Trainer(parameters, "sgd", rule)

    def start(self) -> None:
        """Hybridize, and take three steps."""
        self._net.hybridize(static_alloc=True)
        self._loss.hybridize(static_alloc=True)
        super().start()

    def step(self) -> float:
        """Take a step; return the loss."""
        with self._mx.autograd.record():
            loss = self._loss(self._net(self._data), self._labels)
        loss.backward()
        self._trainer.step(self._labels.size)
        self._mx.nd.waitall()
        return float(loss.mean().asscalar())


class Torch(_Training):
    """Training steps of PyTorch.

    Args:
        threads: Compute threads.
        batch_size: Sequences in a step.
        package: The package, which is imported before memory is counted.
        compiled: Use `torch.compile` on the network.
    """

    def __init__(self, threads: int, batch_size: int, package: str, compiled: bool = False) -> None:
        import torch  # type: ignore[import-not-found]

        del package
        torch.set_num_threads(threads)
        self._torch = torch
        self.versions = {"torch": torch.__version__}
        net = torch_network(torch, "bert")
        parameters = [*net.parameters()]
        matrices = [p for p in parameters if p.ndim > 1]
        with torch.no_grad():
            for name, parameter in net.named_parameters():
                if name.endswith("bias"):
                    parameter.zero_()
            for parameter, values in zip(
                matrices, _matrices(tuple(p.shape) for p in matrices), strict=True
            ):
                parameter.copy_(torch.from_numpy(values))
        self._run = torch.compile(net) if compiled else net
        self._data, self._labels = map(torch.from_numpy, data("bert", batch_size))
        self._optimizer = torch.optim.SGD(parameters, lr=_RATE, momentum=_MOMENTUM, fused=True)

    def step(self) -> float:
        """Take a step; return the loss."""
        self._optimizer.zero_grad()
        loss = self._torch.nn.functional.cross_entropy(self._run(self._data), self._labels)
        loss.backward()
        self._optimizer.step()
        return float(loss.item())
