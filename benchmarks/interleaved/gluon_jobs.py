"""Jobs of gluonish and of MXNet, which share their interface: ``package`` says which."""

import importlib
from typing import Any

from benchmarks.interleaved.graph import Network, read_network
from benchmarks.interleaved.networks import build
from benchmarks.interleaved.weights import batch, labels, parameter

_LEARNING_RATE = 0.001
_MOMENTUM = 0.9
_STATIC = {"static_alloc": True, "static_shape": True}


def network_of(mx: Any, network: Network) -> Any:
    """The network with the benchmark's parameters: gluonish's own blocks, or MXNet's of a file."""
    if mx.__name__ == "gluonish":
        net = build(mx, network.name)
    else:
        net = mx.gluon.SymbolBlock(mx.sym.load_json(network.symbol), mx.sym.var("data"))
    parameters = net.collect_params()
    if set(parameters) != set(network.parameters):
        missing = sorted(set(parameters) ^ set(network.parameters))
        raise ValueError(f"{network.name}: expected the parameters of the file, got {missing}")
    for name, shape in network.parameters.items():
        parameters[name].shape = shape
        parameters[name].initialize(mx.init.Zero())
        parameters[name].set_data(mx.nd.array(parameter(name, shape)))
    return net


class _Job:
    def __init__(self, package: str, threads: int) -> None:
        self.mx = importlib.import_module(package)
        self.versions = {package: getattr(self.mx, "__version__", "of this checkout")}


class Inference(_Job):
    """Calls of a hybridized network, each waited for.

    Args:
        package: ``gluonish`` or ``mxnet``.
        threads: Compute threads; set by OMP_NUM_THREADS.
        network: Path of the network's description.
        batch_size: Images in a call.
        dtype: ``float32`` or ``bfloat16``.
        optimize_for: Back-end for ``optimize_for``; empty for none.
    """

    def __init__(
        self,
        package: str,
        threads: int,
        network: str,
        batch_size: int,
        dtype: str,
        optimize_for: str = "",
    ) -> None:
        super().__init__(package, threads)
        described = read_network(network)
        self.optimize_for = optimize_for
        self.net = network_of(self.mx, described)
        self.data = self.mx.nd.array(batch(batch_size, described.shape))
        if dtype != "float32":
            self._cast(dtype)

    def _cast(self, dtype: str) -> None:
        if self.mx.__name__ == "gluonish":
            self.net.cast(dtype)
            self.data = self.data.astype(dtype)
        else:  # MXNet converts through amp, which casts the data inside the graph
            self.net.hybridize()
            self.net(self.data)
            amp = importlib.import_module("mxnet.contrib.amp")
            self.net = amp.convert_hybrid_block(self.net, target_dtype=dtype, ctx=self.mx.cpu())

    def start(self) -> None:
        """Hybridize and get the first result."""
        if self.optimize_for:  # which hybridizes, too
            self.net.optimize_for(self.data, backend=self.optimize_for, **_STATIC)
        else:
            self.net.hybridize(**_STATIC)
        self.run(1)

    def run(self, count: int) -> None:
        """Call the network ``count`` times."""
        for _ in range(count):
            self.net(self.data).wait_to_read()

    def check(self) -> Any:
        """The output."""
        return self.net(self.data).astype("float32").asnumpy()


class Training(_Job):
    """Training steps: forward, cross entropy, backward, SGD with momentum.

    Args:
        package: ``gluonish`` or ``mxnet``.
        threads: Compute threads; set by OMP_NUM_THREADS.
        network: Path of the network's description.
        batch_size: Images in a step.
    """

    def __init__(self, package: str, threads: int, network: str, batch_size: int) -> None:
        super().__init__(package, threads)
        mx, described = self.mx, read_network(network)
        self.batch_size = batch_size
        self.net = network_of(mx, described)
        self.data = mx.nd.array(batch(batch_size, described.shape))
        self.labels = mx.nd.array(labels(batch_size, described.classes))
        self.loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
        settings = {"learning_rate": _LEARNING_RATE, "momentum": _MOMENTUM}
        self.trainer = mx.gluon.Trainer(self.net.collect_params(), "sgd", settings)
        self.first_loss: Any = None
        # Losses tell nothing where elements are dropped at random.
        self.prediction: Any = None
        if described.has_dropout:
            self.prediction = self.net(self.data[:1]).asnumpy()

    def start(self) -> None:
        """Hybridize and take the first step."""
        self.net.hybridize(**_STATIC)
        self.loss.hybridize(**_STATIC)
        self.first_loss = self._step().asnumpy().mean()
        self.mx.nd.waitall()

    def _step(self) -> Any:
        with self.mx.autograd.record():
            loss = self.loss(self.net(self.data), self.labels)
        loss.backward()
        self.trainer.step(self.batch_size)
        return loss

    def run(self, count: int) -> None:
        """Take ``count`` steps and wait for the last one."""
        for _ in range(count):
            self._step()
        self.mx.nd.waitall()

    def check(self) -> Any:
        """The mean loss of the first three steps, or a prediction before them."""
        if self.prediction is not None:
            return self.prediction
        return [self.first_loss, *(self._step().asnumpy().mean() for _ in range(2))]


class DenseCall(_Job):
    """Calls of one hybridized Dense(16) on 16 features, each with its result as a NumPy array.

    Args:
        package: ``gluonish`` or ``mxnet``.
        threads: Compute threads; set by OMP_NUM_THREADS.
    """

    def __init__(self, package: str, threads: int) -> None:
        super().__init__(package, threads)
        mx = self.mx
        self.net = mx.gluon.nn.Dense(16, in_units=16)
        self.net.initialize()
        self.net.weight.set_data(mx.nd.array(parameter("weight", (16, 16))))
        self.net.bias.set_data(mx.nd.array(parameter("bias", (16,))))
        self.data = mx.nd.array(batch(1, (16,)))

    def start(self) -> None:
        """Hybridize and get the first result."""
        self.net.hybridize(**_STATIC)
        self.check()

    def run(self, count: int) -> None:
        """Call ``count`` times."""
        net, data = self.net, self.data
        for _ in range(count):
            net(data).asnumpy()

    def check(self) -> Any:
        """The output."""
        return self.net(self.data).asnumpy()
