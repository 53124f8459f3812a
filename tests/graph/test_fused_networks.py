"""Whole networks, before and after the passes that fuse primitives."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd, sym
from gluonish.gluon.nn import (
    Activation,
    BatchNorm,
    Conv2D,
    Dense,
    HybridSequential,
    LeakyReLU,
    MaxPool2D,
    Swish,
)
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Graph, lint
from gluonish.graph.passes.fold_batch_norm import fold_batch_norm
from gluonish.graph.passes.fuse_batch_norm_relu import fuse_batch_norm_relu
from gluonish.graph.passes.fuse_primitives import fuse_primitives
from gluonish.graph.pipeline import optimize
from gluonish.model_zoo import vision

_RANDOM = np.random.default_rng(4)


def _traced(net: Any, shape: tuple[int, ...], train: bool) -> tuple[Graph, list[Any]]:
    """Return a network's graph after the general passes, and arrays for its inputs."""
    net.initialize()
    data = nd.array(_RANDOM.standard_normal(shape).astype(np.float32))
    net(data)
    parameters = net.collect_params()
    for name, parameter in parameters.items():
        if name.endswith(("gamma", "running_var")):
            values = _RANDOM.uniform(0.5, 1.5, parameter.shape)
        elif name.endswith(("beta", "running_mean", "bias")):
            values = _RANDOM.standard_normal(parameter.shape) * 0.2
        else:
            continue
        parameter.set_data(nd.array(values.astype(np.float32)))
    symbol = net(sym.var("data"))
    variables = symbol._variables()
    arrays = [data if node.name == "data" else parameters[node.name].data() for node in variables]
    specs = [array._spec for array in arrays]
    return optimize(specialize(variables, symbol._values, specs, train=train)), arrays


def _fused_for_inference(graph: Graph) -> Graph:
    stable = [node for node in graph.inputs if node.name != "data"]
    return lint(fuse_primitives(lint(fold_batch_norm(graph)), constant=stable))


def _names(graph: Graph) -> list[str]:
    return [node.op.name for node in graph.nodes if node.op is not None]


def _plain() -> HybridSequential:
    net = HybridSequential()
    net.add(
        *(Conv2D(8, 3, padding=1), LeakyReLU(0.1), BatchNorm(), Conv2D(8, 3), BatchNorm()),
        *(Swish(), MaxPool2D(), Conv2D(6, 1, use_bias=False), Activation("tanh")),
        *(Dense(20, activation="relu"), Dense(5)),
    )
    return net


NETWORKS: dict[str, tuple[Callable[[], Any], int, set[str]]] = {
    "plain": (_plain, 16, {"BatchNorm", "Pooling"}),
    "resnet18_v1": (partial(vision.resnet18_v1, classes=7), 64, {"Pooling"}),
    "resnet18_v2": (partial(vision.resnet18_v2, classes=7), 64, {"BatchNorm", "Pooling"}),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_inference_gives_what_it_gave(name: str) -> None:
    make, size, _ = NETWORKS[name]
    graph, arrays = _traced(make(), (2, 3, size, size), train=False)
    (want,), (got,) = (
        [y.asnumpy() for y in evaluate(made, arrays)]
        for made in (graph, _fused_for_inference(graph))
    )
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()


@pytest.mark.parametrize("name", NETWORKS)
def test_inference_is_made_of_fused_operators(name: str) -> None:
    make, size, rest = NETWORKS[name]
    graph, _ = _traced(make(), (1, 3, size, size), train=False)
    names = set(_names(_fused_for_inference(graph)))
    allowed = {"_fused_convolution", "_fused_dense", "_fold_batch_norm", "Convolution", "Flatten"}
    # Version 2 normalizes and rectifies before it convolves.
    activations = {"Activation"} if name == "resnet18_v2" else set()
    assert names <= allowed | rest | activations


def test_each_sum_of_a_residual_network_goes_into_a_convolution() -> None:
    graph, _ = _traced(vision.resnet18_v1(classes=7), (1, 3, 32, 32), train=False)
    assert _names(graph).count("BatchNorm") == 20
    made = _fused_for_inference(graph)
    sums = [node.attrs["with_sum"] for node in made.nodes if "with_sum" in node.attrs]
    assert sum(sums) == 8
    assert "BatchNorm" not in _names(made)


def _train(graph: Graph, arrays: list[Any]) -> tuple[Any, list[Any]]:
    """Return the output and the gradients of all inputs that have one."""
    inputs = [x.copy() for x in arrays]
    for x in inputs:
        x.attach_grad()
    with autograd.record():
        (out,) = evaluate(graph, inputs)
        loss = (out * out).sum()
    loss.backward()
    return out.asnumpy(), [x.grad.asnumpy() for x in inputs]


@pytest.mark.parametrize("make", [_plain, partial(vision.resnet18_v2, classes=3, thumbnail=True)])
def test_training_gives_the_outputs_and_gradients_that_it_gave(make: Callable[[], Any]) -> None:
    graph, arrays = _traced(make(), (2, 3, 32, 32), train=True)
    fused = lint(fuse_primitives(lint(fuse_batch_norm_relu(graph)), train=True))
    assert any("_fused" in name for name in _names(fused))
    want, want_gradients = _train(graph, arrays)
    got, gradients = _train(fused, arrays)
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()
    for x, y in zip(gradients, want_gradients, strict=True):
        assert np.abs(x - y).max() <= 1e-4 * max(1e-3, np.abs(y).max())
