"""Networks that MXNet's users published, loaded from their files: MXNet's outputs, real images."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ParameterError
from gluonish.gluon import SymbolBlock

FOLDER = Path(__file__).parents[1] / "golden" / "pretrained"
OUTPUTS = np.load(FOLDER / "outputs.npz")
MEAN = np.array([0.4914, 0.4822, 0.4465], np.float32).reshape(3, 1, 1)
STD = np.array([0.2023, 0.1994, 0.2010], np.float32).reshape(3, 1, 1)
NEWER_VERSION = "ignore:symbol. expected a version up to 10901"


def digits() -> Any:
    return nd.array(OUTPUTS["digits"].astype(np.float32) / 255)


def lenet(inputs: list[str]) -> SymbolBlock:
    return SymbolBlock.imports(
        FOLDER / "mnist-lenet-0-symbol.json", inputs, FOLDER / "mnist-lenet-0-0010.params"
    )


@pytest.mark.filterwarnings(NEWER_VERSION)
@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", ["cifar_resnet20_v1", "cifar_resnet20_v2"])
def test_cifar_networks_of_gluoncv_give_what_they_gave_in_mxnet(name: str, hybridize: bool) -> None:
    net = SymbolBlock.imports(
        FOLDER / f"{name}-symbol.json", ["data"], FOLDER / f"{name}-0000.params"
    )
    if hybridize:
        net.hybridize(static_alloc=True)
    images = (OUTPUTS["cifar"].astype(np.float32) / 255 - MEAN) / STD
    found = net(nd.array(images)).asnumpy()
    np.testing.assert_allclose(found, OUTPUTS[name], rtol=1e-4, atol=1e-4)
    right = found.argmax(1) == OUTPUTS["cifar_labels"]
    assert right.mean() > 0.85  # of ten classes: the labels belong to the images


@pytest.mark.parametrize("hybridize", [False, True])
def test_the_lenet_of_2015_gives_what_it_gave_in_mxnet(hybridize: bool) -> None:
    net = lenet(["data", "softmax_label"])
    if hybridize:
        net.hybridize(static_alloc=True)
    found = net(digits(), nd.zeros((64,))).asnumpy()
    np.testing.assert_allclose(found, OUTPUTS["mnist_lenet"], rtol=1e-4, atol=1e-6)
    assert (found.argmax(1) == OUTPUTS["digits_labels"]).mean() > 0.95


def test_the_lenet_of_2015_is_a_checkpoint_to_bind() -> None:
    symbol, arguments, states = mx.model.load_checkpoint(str(FOLDER / "mnist-lenet-0"), 10)
    bound = symbol.simple_bind(mx.cpu(), data=(64, 1, 28, 28), grad_req="null")
    bound.copy_params_from(arguments, states)
    bound.forward(is_train=False, data=digits())
    found = bound.outputs[0].asnumpy()
    np.testing.assert_allclose(found, OUTPUTS["mnist_lenet"], rtol=1e-4, atol=1e-6)


def test_a_label_that_is_not_in_the_file_may_be_an_input() -> None:
    with pytest.raises(ParameterError, match=r"'softmax_label'.*or name it in input_names"):
        lenet(["data"])
