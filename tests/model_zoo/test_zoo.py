"""Every network of the zoo: MXNet's logits and gradients, and hybridized equal to imperative."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.model_zoo.registry import get_model, model_names
from gluonish.ndarray import array, zeros
from tests.golden.zoo_values import (
    KEPT,
    freeze,
    images,
    input_shape,
    simplify,
    training_shape,
    values,
)

# MXNet's zoo has no networks for small images; vision/test_cifar_resnet.py has their tests.
NAMES = [name for name in model_names() if not name.startswith("cifar_")]
GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "zoo.npz")
# Of each family some are enough for every day; gradients are taken at a smaller size than logits.
SLOW = ("densenet161", "densenet169", "densenet201", "vgg13", "vgg16")
SLOW_LOGITS = (*SLOW, "densenet121", "inceptionv3")
SLOW_GRADIENTS = (*SLOW, "101", "152", "resnet34", "squeezenet1.0", "vgg19")
# Among so many units, the round-off of another kernel switches one or the other, and all gradients
# before that unit move; those of the last layer do not.
EXACT, SWITCHED = 2e-5, 0.1
# How far gradients may be off where batches give the statistics: ten times what a change of the
# image in the seventh digit makes, and more.
TRAINED = {
    "resnet18_v1": 1e-3,
    "vgg11_bn": 1e-3,
    "inception_bn": 1e-2,
    "mobilenet0.25": 0.05,
    "densenet121": 0.05,
}


def marked(slow: tuple[str, ...]) -> list[Any]:
    """All names, with those marked that have one of the given parts."""
    return [
        pytest.param(name, marks=pytest.mark.slow) if any(part in name for part in slow) else name
        for name in NAMES
    ]


def filled(
    name: str,
    shape: tuple[int, ...],
    trained: bool = False,
    change: Callable[[Block], None] = lambda layer: None,
) -> HybridBlock:
    """A network with the weights that follow from the parameters' paths."""
    net = get_model(name)
    net.apply(change)
    net.infer_shape(zeros(shape))
    for path, parameter in net._collect_params_with_prefix().items():
        assert parameter.shape is not None
        if not trained:
            parameter.grad_req = "null"
        parameter.initialize(init="zeros")
        parameter.set_data(array(values(name, path, parameter.shape)))
    return net


def check_close(found: Any, expected: Any, what: str, tolerance: float = 1e-5) -> None:
    """Compare within a part of the largest expected number."""
    scale = np.abs(expected).max()
    assert np.isfinite(scale), what
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale, err_msg=what)


def distance(found: list[Any], expected: list[Any]) -> float:
    """Return how far arrays are apart, in the Euclidean norm, as a part of the expected ones."""
    pairs = zip(found, expected, strict=True)
    apart = sum(float(np.square(a - b, dtype=np.float64).sum()) for a, b in pairs)
    return float(np.sqrt(apart / sum(np.square(b, dtype=np.float64).sum() for b in expected)))


def trained(net: HybridBlock, shape: tuple[int, ...]) -> dict[str, Any]:
    """Output, gradients and moved statistics of one call, by name."""
    x = array(images(shape))
    x.attach_grad()
    with autograd.record():
        y = net(x)
    autograd.backward([y], [array(images(y.shape))])
    assert x.grad is not None
    found = {"output": y.asnumpy(), "input": x.grad.asnumpy()}
    for path, parameter in net._collect_params_with_prefix().items():
        moved = parameter.grad_req == "null"
        found[path] = (parameter.data() if moved else parameter.grad()).asnumpy()
    return found


def test_every_network_has_golden_logits_and_gradient() -> None:
    assert {*NAMES, *(f"{name} gradient" for name in NAMES)} == set(GOLDEN)


@pytest.mark.parametrize("name", marked(SLOW_LOGITS))
def test_logits_are_those_of_mxnet(name: str) -> None:
    net, x = filled(name, input_shape(name)), array(images(input_shape(name)))
    imperative = net(x).asnumpy()
    assert imperative.shape == (1, 1000)
    check_close(imperative[:, :KEPT], GOLDEN[name], "imperative")
    for static_alloc in (False, True):
        net.hybridize(static_alloc=static_alloc)
        for _ in range(2):
            check_close(net(x).asnumpy(), imperative, f"hybridized, static_alloc={static_alloc}")


@pytest.mark.parametrize("name", marked(SLOW_GRADIENTS))
def test_gradients_are_those_of_mxnet_and_hybridized(name: str) -> None:
    shape = training_shape(name)
    runs = []
    for hybridize in (False, True):
        net = filled(name, shape, trained=True, change=freeze)
        net.hybridize(hybridize, static_alloc=True)
        runs.append(trained(net, shape))
    expected, found = runs
    first = next(path for path in expected if path.endswith("weight"))
    kept = expected[first].ravel()[:KEPT]
    assert distance([kept], [GOLDEN[f"{name} gradient"]]) < SWITCHED
    assert found.keys() == expected.keys()
    for path, value in expected.items():
        bound = EXACT if path.startswith("output") else SWITCHED
        assert distance([found[path]], [value]) < bound, path


@pytest.mark.parametrize("name", TRAINED)
def test_hybridized_training_equals_imperative(name: str) -> None:
    shape = (4, 3, 64, 64)
    runs = []
    for hybridize in (False, True):
        net = filled(name, shape, trained=True, change=simplify)
        net.hybridize(hybridize, static_alloc=True)
        runs.append(trained(net, shape))
    expected, found = runs
    exact = ["output", *[path for path in expected if "running" in path]]
    for path in exact:
        check_close(found[path], expected[path], path, 1e-3)
    others = [path for path in expected if path not in exact]
    apart = distance([found[path] for path in others], [expected[path] for path in others])
    assert apart < TRAINED[name]
