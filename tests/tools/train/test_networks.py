"""Networks by the names of the command line."""

import pytest

from gluonish.core.errors import ArgumentError
from gluonish.ndarray import zeros
from gluonish.tools.train.networks import (
    INITIALIZERS,
    make_initializer,
    make_network,
    zoo_name,
)


@pytest.mark.parametrize(
    ("name", "num_layers", "height", "expected"),
    [
        ("resnet20", None, 32, "cifar_resnet20_v1"),
        ("resnet110", None, 32, "cifar_resnet110_v1"),
        ("resnet50", None, 224, "resnet50_v1"),
        ("resnet18", None, 32, "resnet18_v1"),
        ("cifar_resnet56_v2", None, 32, "cifar_resnet56_v2"),
        ("resnet", None, 32, "cifar_resnet110_v2"),
        ("resnet", 20, 32, "cifar_resnet20_v2"),
        ("resnet-v1", 20, 28, "cifar_resnet20_v1"),
        ("resnet", 18, 32, "resnet18_v2"),
        ("resnet", None, 224, "resnet50_v2"),
        ("resnet-v1", 101, 224, "resnet101_v1"),
        ("vgg", None, 224, "vgg16"),
        ("vgg", 19, 224, "vgg19"),
        ("densenet", 169, 224, "densenet169"),
        ("inception-bn", None, 224, "inception_bn"),
        ("mobilenet", None, 224, "mobilenet1.0"),
    ],
)
def test_name_is_found(name: str, num_layers: int | None, height: int, expected: str) -> None:
    assert zoo_name(name, num_layers, height) == expected


def test_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ArgumentError, match=r"--network resnet50_v3: expected .*resnet50_v1"):
        zoo_name("resnet50_v3", None, 224)


def test_unknown_depth_is_refused() -> None:
    with pytest.raises(ArgumentError, match="--network resnet --num-layers 21: expected one of"):
        zoo_name("resnet", 21, 32)


@pytest.mark.parametrize("name", ["mlp", "lenet", "resnet20", "alexnet"])
def test_depth_beside_a_name_that_has_one_is_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match=f"--num-layers: expected .*got --network {name}"):
        make_network(name, 20, (3, 32, 32), 10)


@pytest.mark.parametrize(
    ("name", "shape"),
    [("mlp", (1, 8, 8)), ("lenet", (1, 28, 28)), ("lenet", (3, 16, 16)), ("resnet20", (1, 8, 8))],
)
def test_network_takes_the_images(name: str, shape: tuple[int, ...]) -> None:
    net = make_network(name, None, shape, 7)
    net.initialize()
    assert net(zeros((2, *shape))).shape == (2, 7)


def test_lenet_refuses_small_images() -> None:
    with pytest.raises(ArgumentError, match="16x16 pixels or more, got 8x8"):
        make_network("lenet", None, (1, 8, 8), 10)


@pytest.mark.parametrize("name", INITIALIZERS)
def test_every_initializer_fills_a_network(name: str) -> None:
    net = make_network("mlp", None, (1, 8, 8), 10)
    net.initialize(make_initializer(name))
    assert net(zeros((1, 1, 8, 8))).shape == (1, 10)
