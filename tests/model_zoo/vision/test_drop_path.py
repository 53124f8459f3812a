"""Stochastic depth of residual networks and vision transformers."""

from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish.core.errors import ArgumentError
from gluonish.gluon.nn.residual import DropPath
from gluonish.model_zoo import vision
from gluonish.ndarray import array

SMALL_VIT = {"image_size": 16, "patch_size": 8, "num_layers": 3}
NETWORKS: list[tuple[str, dict[str, Any]]] = [
    ("resnet18_v1", {}),
    ("resnet18_v2", {}),
    ("cifar_resnet20_v1", {}),
    ("cifar_resnet20_v2", {}),
    ("deit_tiny_patch16_224", SMALL_VIT),
]


def rates(net: Any) -> list[float]:
    found: list[float] = []
    net.apply(lambda block: found.append(block._rate) if isinstance(block, DropPath) else None)
    return found


@pytest.mark.parametrize(("name", "options"), NETWORKS, ids=[name for name, _ in NETWORKS])
def test_the_network_is_the_same_in_inference(name: str, options: dict[str, Any]) -> None:
    plain = vision.get_model(name, classes=4, **options)
    dropped = vision.get_model(name, classes=4, drop_path=0.4, **options)
    x = array(np.random.default_rng(1).normal(size=(3, 3, 16, 16)))
    for net in (plain, dropped):
        net.initialize()
        net(x)
    params = plain._collect_params_with_prefix()
    others = dropped._collect_params_with_prefix()
    assert list(others) == list(params)
    for key, param in params.items():
        others[key].set_data(param.data())
    np.testing.assert_allclose(dropped(x).asnumpy(), plain(x).asnumpy(), rtol=1e-5, atol=1e-6)
    found = rates(dropped)
    np.testing.assert_allclose(found, np.linspace(0, 0.4, len(found)))
    assert not rates(plain)


def test_a_dropped_unit_leaves_the_shortcut() -> None:
    net: Any = vision.get_model("resnet18_v1", classes=4, drop_path=0.5)
    net.initialize()
    unit = net.features[4][1]
    unit.drop_path = DropPath(0.999999)
    x = array(np.random.default_rng(1).uniform(size=(8, 64, 4, 4)))
    with autograd.train_mode():
        np.testing.assert_allclose(unit(x).asnumpy(), x.asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_rates_out_of_range_are_refused(rate: float) -> None:
    for name in ("resnet18_v1", "vit_tiny_patch16_224"):
        with pytest.raises(ArgumentError, match="drop_path"):
            vision.get_model(name, drop_path=rate)
