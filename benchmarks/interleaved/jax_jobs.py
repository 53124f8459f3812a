"""Jobs of JAX, jitted."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.interleaved.graph import Network, Step, read_network, window
from benchmarks.interleaved.weights import batch, labels, parameter

_LEARNING_RATE = 0.001
_MOMENTUM = 0.9


def _convolution(step: Step, data: Any, weight: Any, bias: Any = None) -> Any:
    shape = window(step.attrs)
    result = lax.conv_general_dilated(
        data,
        weight,
        shape.stride,
        [(pad, pad) for pad in shape.pad],
        rhs_dilation=shape.dilate,
        dimension_numbers=("NHWC", "OIHW", "NHWC"),
        feature_group_count=step.attrs.get("num_group", 1),
    )
    return result if bias is None else result + bias


def _dense(step: Step, data: Any, weight: Any, bias: Any = None) -> Any:
    result = _flatten(step, data) @ weight.T
    return result if bias is None else result + bias


def _flatten(step: Step, data: Any) -> Any:
    if data.ndim == 4:
        data = data.transpose(0, 3, 1, 2)
    return data.reshape(data.shape[0], -1)


def _activation(step: Step, data: Any) -> Any:
    functions = {"relu": jax.nn.relu, "tanh": jnp.tanh, "sigmoid": jax.nn.sigmoid}
    return functions[step.attrs["act_type"]](data)


def _pooling(step: Step, data: Any) -> Any:
    if step.attrs.get("pool_type", "max") != "max" or step.attrs.get("global_pool", False):
        raise ValueError(f"{step.name}: expected max pooling by windows, got {step.attrs}")
    shape = window(step.attrs)
    pads = [(0, 0), *((pad, pad) for pad in shape.pad), (0, 0)]
    kernel, stride = (1, *shape.kernel, 1), (1, *shape.stride, 1)
    return lax.reduce_window(data, -jnp.inf, lax.max, kernel, stride, pads)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Convolution": _convolution,
    "FullyConnected": _dense,
    "Activation": _activation,
    "Pooling": _pooling,
    "Flatten": _flatten,
    "flatten": _flatten,
}


def _forward(network: Network, parameters: dict[str, Any], data: Any) -> Any:
    """The network's output; data and what is between are channels-last."""
    values = {"data": data, **parameters}
    for step in network.steps:
        inputs = [values[name] for name in step.inputs]
        values[step.name] = _FUNCTIONS[step.op](step, *inputs)
    return values[network.steps[-1].name]


class Training:
    """Training steps, each one jitted function: forward, cross entropy, backward, momentum.

    For chains of convolutions, max poolings and dense layers.

    Args:
        threads: Compute threads; XLA takes the CPUs that the process may use.
        network: Path of the network's description.
        batch_size: Images in a step.
    """

    def __init__(self, threads: int, network: str, batch_size: int) -> None:
        self.versions = {"jax": jax.__version__}
        self.network = read_network(network)
        self.parameters = {
            name: jnp.asarray(parameter(name, shape))
            for name, shape in self.network.parameters.items()
        }
        self.momenta = {name: jnp.zeros_like(value) for name, value in self.parameters.items()}
        data = batch(batch_size, self.network.shape)
        self.data = jnp.asarray(data.transpose(0, 2, 3, 1) if data.ndim == 4 else data)
        self.labels = jnp.asarray(labels(batch_size, self.network.classes))
        self.step = jax.jit(self._step, donate_argnums=(0, 1))
        self.first_loss: Any = None

    def _step(self, parameters: Any, momenta: Any, data: Any, target: Any) -> Any:
        def loss_of(parameters: Any) -> Any:
            scores = jax.nn.log_softmax(_forward(self.network, parameters, data))
            return -jnp.take_along_axis(scores, target[:, None], 1).mean()

        loss, gradients = jax.value_and_grad(loss_of)(parameters)
        momenta = {key: _MOMENTUM * momenta[key] + gradients[key] for key in parameters}
        parameters = {key: parameters[key] - _LEARNING_RATE * momenta[key] for key in parameters}
        return parameters, momenta, loss

    def _take(self) -> Any:
        self.parameters, self.momenta, loss = self.step(
            self.parameters, self.momenta, self.data, self.labels
        )
        return loss

    def start(self) -> None:
        """Compile and take the first step."""
        self.first_loss = float(self._take())

    def run(self, count: int) -> None:
        """Take ``count`` steps and wait for the last one."""
        loss = None
        for _ in range(count):
            loss = self._take()
        jax.block_until_ready((loss, self.parameters))

    def check(self) -> Any:
        """The mean loss of the first three steps."""
        return [self.first_loss, float(self._take()), float(self._take())]


class DenseCall:
    """Calls of one jitted product with bias, 16 by 16, each with its result as a NumPy array.

    Args:
        threads: Compute threads; XLA takes the CPUs that the process may use.
    """

    def __init__(self, threads: int) -> None:
        self.versions = {"jax": jax.__version__}
        self.weight = jnp.asarray(parameter("weight", (16, 16)))
        self.bias = jnp.asarray(parameter("bias", (16,)))
        self.data = jnp.asarray(batch(1, (16,)))
        self.net = jax.jit(lambda data, weight, bias: data @ weight.T + bias)

    def start(self) -> None:
        """Compile and get the first result."""
        self.check()

    def run(self, count: int) -> None:
        """Call ``count`` times."""
        net, data, weight, bias = self.net, self.data, self.weight, self.bias
        for _ in range(count):
            np.asarray(net(data, weight, bias))

    def check(self) -> Any:
        """The output."""
        return np.asarray(self.net(self.data, self.weight, self.bias))
