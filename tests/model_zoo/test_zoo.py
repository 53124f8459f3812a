"""Every network of the zoo: logits of MXNet, and hybridized equal to imperative."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish.hybrid_block import HybridBlock
from gluonish.model_zoo.registry import get_model, model_names
from gluonish.ndarray import array, zeros
from tests.golden.zoo_values import INPUT_SHAPE, KEPT, images, values

LOGITS = np.load(Path(__file__).parents[1] / "golden" / "resnet_logits.npz")
SMALL = (2, 3, 32, 32)
# Gradients through a hundred layers and more take seconds.
WITH_GRADIENTS = [
    pytest.param(name, marks=pytest.mark.slow) if "101" in name or "152" in name else name
    for name in model_names()
]


def filled(name: str, shape: tuple[int, ...], trained: bool = False) -> HybridBlock:
    """A network with the weights that follow from the parameters' paths."""
    net = get_model(name)
    net.infer_shape(zeros(shape))
    for path, parameter in net._collect_params_with_prefix().items():
        assert parameter.shape is not None
        if not trained:
            parameter.grad_req = "null"
        parameter.initialize(init="zeros")
        parameter.set_data(array(values(path, parameter.shape)))
    return net


def check_close(found: Any, expected: Any, what: str) -> None:
    """Compare within 1e-5 of the largest expected number."""
    scale = np.abs(expected).max()
    assert np.isfinite(scale), what
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * scale, err_msg=what)


def gradients(net: HybridBlock, train: bool) -> dict[str, Any]:
    """Output, gradients and moved statistics of one call, by name."""
    x = array(images(SMALL))
    x.attach_grad()
    with autograd.record(train_mode=train):
        y = net(x)
    autograd.backward([y], [array(images(y.shape))], train_mode=train)
    found = {"output": y.asnumpy(), "input": x.grad.asnumpy()}
    for path, parameter in net._collect_params_with_prefix().items():
        trained = parameter.grad_req != "null"
        found[path] = (parameter.grad() if trained else parameter.data()).asnumpy()
    return found


def test_every_network_has_golden_logits() -> None:
    assert set(model_names()) == set(LOGITS)


@pytest.mark.parametrize("name", model_names())
def test_logits_are_those_of_mxnet(name: str) -> None:
    net, x = filled(name, INPUT_SHAPE), array(images())
    imperative = net(x).asnumpy()
    assert imperative.shape == (1, 1000)
    check_close(imperative[:, :KEPT], LOGITS[name], "imperative")
    for static_alloc in (False, True):
        net.hybridize(static_alloc=static_alloc)
        for _ in range(2):
            check_close(net(x).asnumpy(), imperative, f"hybridized, static_alloc={static_alloc}")


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("name", WITH_GRADIENTS)
def test_hybridized_gradients_equal_imperative(name: str, train: bool) -> None:
    one, two = filled(name, SMALL, trained=True), filled(name, SMALL, trained=True)
    two.hybridize(static_alloc=True)
    expected, found = gradients(one, train), gradients(two, train)
    assert found.keys() == expected.keys()
    for path, value in expected.items():
        check_close(found[path], value, path)
