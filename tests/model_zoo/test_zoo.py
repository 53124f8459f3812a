"""Every network of the zoo: MXNet's logits and gradients, and hybridized equal to imperative."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.model_zoo.registry import model_names
from gluonish.ndarray import array
from tests.golden.zoo_values import KEPT, freeze, images, input_shape, simplify, training_shape
from tests.model_zoo.networks import (
    EXACT,
    SWITCHED,
    TRAINED,
    check_close,
    distance,
    filled,
    trained,
)

# MXNet's zoo has no networks for small images; vision/test_cifar_resnet.py has their tests.
NAMES = [name for name in model_names("mxnet") if not name.startswith("cifar_")]
GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "zoo.npz")
# Of each family some are enough for every day; gradients are taken at a smaller size than logits.
SLOW = ("densenet161", "densenet169", "densenet201", "vgg13", "vgg16")
SLOW_LOGITS = (*SLOW, "densenet121", "inceptionv3")
SLOW_GRADIENTS = (*SLOW, "101", "152", "resnet34", "squeezenet1.0", "vgg19")


def marked(slow: tuple[str, ...]) -> list[Any]:
    """All names, with those marked that have one of the given parts."""
    return [
        pytest.param(name, marks=pytest.mark.slow) if any(part in name for part in slow) else name
        for name in NAMES
    ]


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
