import pytest

from gluonish.core.errors import ArgumentError
from gluonish.core.loading import load
from gluonish.model_zoo.model_store import WEIGHT_HASHES
from gluonish.model_zoo.registry import (
    _LATER,
    _makers,
    get_model,
    model_names,
    register_model,
)
from gluonish.model_zoo.vision import ResNetV1


def test_name_counts_in_any_case() -> None:
    assert isinstance(get_model("ResNet18_v1", classes=2), ResNetV1)


def test_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ArgumentError, match=r"got 'resnet18v1' \(nearest: 'resnet18_v1'"):
        get_model("resnet18v1")


def test_name_is_taken_once() -> None:
    with pytest.raises(ArgumentError, match="'resnet18_v1', which is registered already"):
        register_model("resnet18_v1")(ResNetV1)


def test_networks_of_mxnet_are_those_with_weights_inception_bn_and_those_for_cifar() -> None:
    small = {f"cifar_resnet{n}_v{version}" for n in (20, 32, 44, 56, 110) for version in (1, 2)}
    assert set(model_names("mxnet")) == {*WEIGHT_HASHES, "inception_bn", *small}


def test_networks_of_modules_that_are_loaded_later_are_the_ones_that_these_register() -> None:
    for module in sorted(_LATER):
        load(f"gluonish.model_zoo.vision.{module}")
    assert _makers.keys() == set(model_names())
