"""Jobs of PyTorch: eager, channels-last, or compiled."""

import contextlib
import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn

from benchmarks.interleaved.graph import Network, Step, read_network, window
from benchmarks.interleaved.weights import batch, is_statistic, labels, parameter

_LEARNING_RATE = 0.001
_MOMENTUM = 0.9


def _convolution(graph: fx.Graph, step: Step, inputs: list[Any], training: bool) -> Any:
    shape = window(step.attrs)
    bias = inputs[2] if len(inputs) > 2 else None
    arguments = (shape.stride, shape.pad, shape.dilate, step.attrs.get("num_group", 1))
    return graph.call_function(F.conv2d, (inputs[0], inputs[1], bias, *arguments))


def _dense(graph: fx.Graph, step: Step, inputs: list[Any], training: bool) -> Any:
    data, weight, *bias = inputs
    if step.attrs.get("flatten", True):
        data = graph.call_function(torch.flatten, (data, 1))
    return graph.call_function(F.linear, (data, weight, bias[0] if bias else None))


def _batch_norm(graph: fx.Graph, step: Step, inputs: list[Any], training: bool) -> Any:
    data, gamma, beta, mean, variance = inputs
    if step.attrs.get("fix_gamma", True):
        gamma = graph.call_function(torch.ones_like, (gamma,))
    rest = (training, 1 - step.attrs.get("momentum", 0.9), step.attrs.get("eps", 1e-3))
    return graph.call_function(F.batch_norm, (data, mean, variance, gamma, beta, *rest))


def _activation(graph: fx.Graph, step: Step, inputs: list[Any], training: bool) -> Any:
    kind = step.attrs["act_type"]
    if kind == "relu":
        return graph.call_function(F.relu, (inputs[0],), {"inplace": step.attrs["in_place"]})
    functions = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "softrelu": F.softplus}
    return graph.call_function(functions[kind], (inputs[0],))


def _clip(graph: fx.Graph, step: Step, inputs: list[Any], training: bool) -> Any:
    limits = (float(step.attrs["a_min"]), float(step.attrs["a_max"]))
    in_place = {"inplace": step.attrs["in_place"]}
    return graph.call_function(F.hardtanh, (inputs[0], *limits), in_place)


def _pooling(graph: fx.Graph, step: Step, inputs: list[Any], training: bool) -> Any:
    attrs, maximum = step.attrs, step.attrs.get("pool_type", "max") == "max"
    if attrs.get("global_pool", False):
        function = F.adaptive_max_pool2d if maximum else F.adaptive_avg_pool2d
        return graph.call_function(function, (inputs[0], 1))
    shape = window(attrs)
    options: dict[str, Any] = {"ceil_mode": attrs.get("pooling_convention", "valid") == "full"}
    if not maximum:
        options["count_include_pad"] = attrs.get("count_include_pad", True) is not False
    function = F.max_pool2d if maximum else F.avg_pool2d
    return graph.call_function(
        function, (inputs[0], shape.kernel, shape.stride, shape.pad), options
    )


def _concat(graph: fx.Graph, step: Step, inputs: list[Any], training: bool) -> Any:
    return graph.call_function(torch.cat, (inputs, step.attrs.get("dim", 1)))


def _add(graph: fx.Graph, step: Step, inputs: list[Any], training: bool) -> Any:
    return graph.call_function(operator.add, tuple(inputs))


def _flatten(graph: fx.Graph, step: Step, inputs: list[Any], training: bool) -> Any:
    return graph.call_function(torch.flatten, (inputs[0], 1))


def _dropout(graph: fx.Graph, step: Step, inputs: list[Any], training: bool) -> Any:
    if not training:
        return inputs[0]
    return graph.call_function(F.dropout, (inputs[0], step.attrs.get("p", 0.5), True))


_BUILDERS: dict[str, Callable[[fx.Graph, Step, list[Any], bool], Any]] = {
    "Convolution": _convolution,
    "FullyConnected": _dense,
    "BatchNorm": _batch_norm,
    "Activation": _activation,
    "clip": _clip,
    "Pooling": _pooling,
    "Concat": _concat,
    "elemwise_add": _add,
    "broadcast_add": _add,
    "_plus": _add,
    "Flatten": _flatten,
    "flatten": _flatten,
    "Dropout": _dropout,
}


def parameters_of(network: Network) -> nn.Module:
    """A module that holds the network's parameters, and computes nothing."""
    holder = nn.Module()
    for name, shape in network.parameters.items():
        tensor = torch.from_numpy(parameter(name, shape))
        if is_statistic(name):
            holder.register_buffer(name, tensor)
        else:
            holder.register_parameter(name, nn.Parameter(tensor))
    return holder


def module_of(holder: nn.Module, network: Network, training: bool) -> fx.GraphModule:
    """The network as straight-line code over `torch.nn.functional`, on the holder's parameters."""
    graph = fx.Graph()
    values: dict[str, Any] = {"data": graph.placeholder("data")}
    alone = {step.name for step in network.steps if step.uses == 1}
    for step in network.steps:
        for name in step.inputs:
            if name not in values:
                values[name] = graph.get_attr(name)
        # As torchvision's networks do, to save memory.
        step.attrs["in_place"] = step.inputs[0] in alone
        inputs = [values[name] for name in step.inputs]
        values[step.name] = _BUILDERS[step.op](graph, step, inputs, training)
    graph.output(values[network.steps[-1].name])
    return fx.GraphModule(holder, graph)


class _Job:
    def __init__(self, threads: int) -> None:
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        self.versions = {"torch": torch.__version__}


class Inference(_Job):
    """Calls of a network under `torch.inference_mode`, or compiled and frozen.

    Args:
        threads: Compute threads.
        network: Path of the network's description.
        batch_size: Images in a call.
        dtype: ``float32`` or ``bfloat16``.
        channels_last: Keep images and filters channels-last.
        compiled: Use `torch.compile`, with parameters taken for constants.
    """

    def __init__(
        self,
        threads: int,
        network: str,
        batch_size: int,
        dtype: str,
        channels_last: bool = False,
        compiled: bool = False,
    ) -> None:
        super().__init__(threads)
        described = read_network(network)
        net = module_of(parameters_of(described), described, training=False)
        net = net.eval().requires_grad_(False)
        data = torch.from_numpy(batch(batch_size, described.shape))
        if dtype == "bfloat16":
            net, data = net.bfloat16(), data.bfloat16()
        if channels_last and data.ndim == 4:
            net = net.to(memory_format=torch.channels_last)
            data = data.to(memory_format=torch.channels_last)
        self.net: Any = net
        self.data = data
        self.compiled = compiled

    def start(self) -> None:
        """Compile where asked for, and get the first result."""
        if self.compiled:
            torch._inductor.config.freezing = True  # folds batch norm, packs weights
            self.net = torch.compile(self.net, dynamic=False)
        self.run(1)

    def _scope(self) -> contextlib.AbstractContextManager[Any]:
        # Freezing works under no_grad only.
        scope: contextlib.AbstractContextManager[Any]
        scope = torch.no_grad() if self.compiled else torch.inference_mode()
        return scope

    def run(self, count: int) -> None:
        """Call the network ``count`` times."""
        with self._scope():
            for _ in range(count):
                self.net(self.data)

    def check(self) -> Any:
        """The output."""
        with self._scope():
            return self.net(self.data).float().numpy()


class Training(_Job):
    """Training steps: forward, cross entropy, backward, fused SGD with momentum.

    Args:
        threads: Compute threads.
        network: Path of the network's description.
        batch_size: Images in a step.
        channels_last: Keep images and filters channels-last.
        compiled: Use `torch.compile` on the network and the loss.
    """

    def __init__(
        self,
        threads: int,
        network: str,
        batch_size: int,
        channels_last: bool = False,
        compiled: bool = False,
    ) -> None:
        super().__init__(threads)
        described = read_network(network)
        holder = parameters_of(described)
        data = torch.from_numpy(batch(batch_size, described.shape))
        self.prediction: Any = None
        if described.has_dropout:  # at random: losses tell nothing
            with torch.no_grad():
                self.prediction = module_of(holder, described, training=False)(data[:1]).numpy()
        net = module_of(holder, described, training=True)
        if channels_last and data.ndim == 4:
            net = net.to(memory_format=torch.channels_last)
            data = data.to(memory_format=torch.channels_last)
        self.net, self.data = net, data
        self.labels = torch.from_numpy(labels(batch_size, described.classes))
        self.optimizer = torch.optim.SGD(
            net.parameters(), lr=_LEARNING_RATE, momentum=_MOMENTUM, fused=True
        )
        self.compiled = compiled
        self.loss: Any = self._loss
        self.first_loss = 0.0

    def _loss(self, data: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.net(data), target)

    def start(self) -> None:
        """Compile where asked for, and take the first step."""
        if self.compiled:
            self.loss = torch.compile(self._loss, dynamic=False)
        self.first_loss = self._step().item()

    def _step(self) -> torch.Tensor:
        self.optimizer.zero_grad(set_to_none=True)
        loss: torch.Tensor = self.loss(self.data, self.labels)
        loss.backward()
        self.optimizer.step()
        return loss

    def run(self, count: int) -> None:
        """Take ``count`` steps."""
        for _ in range(count):
            self._step()

    def check(self) -> Any:
        """The mean loss of the first three steps, or a prediction before them."""
        if self.prediction is not None:
            return self.prediction
        return [self.first_loss, self._step().item(), self._step().item()]


class DenseCall(_Job):
    """Calls of one Linear(16, 16), each with its result as a NumPy array.

    Args:
        threads: Compute threads.
    """

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.net = nn.Linear(16, 16).requires_grad_(False)
        self.net.weight.copy_(torch.from_numpy(parameter("weight", (16, 16))))
        self.net.bias.copy_(torch.from_numpy(parameter("bias", (16,))))
        self.data = torch.from_numpy(batch(1, (16,)))

    def start(self) -> None:
        """Get the first result."""
        self.check()

    def run(self, count: int) -> None:
        """Call ``count`` times."""
        net, data = self.net, self.data
        with torch.inference_mode():
            for _ in range(count):
                net(data).numpy()

    def check(self) -> Any:
        """The output."""
        with torch.inference_mode():
            return self.net(self.data).numpy()
