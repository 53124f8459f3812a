"""What no call can use is refused by the calls, as in MXNet, and not by the constructor."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from gluonish import ndarray as nd
from gluonish import symbol as sym
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.nn import AvgPool2D, Conv2D, Dense, Dropout, HybridSequential
from gluonish.image import ForceResizeAug

MAKE: dict[str, Callable[[], Any]] = {
    "Dense": lambda: Dense(0),
    "Dropout": lambda: Dropout(1.5),
    "Conv2D": lambda: Conv2D(-1, 1),
    "AvgPool2D": lambda: AvgPool2D(2, strides=(2,)),
}


@pytest.mark.parametrize("name", MAKE)
def test_the_call_refuses_in_every_way(name: str) -> None:
    x = nd.ones((1, 1, 4, 4))
    for hybridized in (False, True):
        net, layer = HybridSequential(), MAKE[name]()
        net.add(layer)
        net.initialize()
        net.hybridize(hybridized)
        for _ in range(2):
            with pytest.raises(ArgumentError, match=f"{name}.*: expected"):
                net(x)
    with pytest.raises(ArgumentError, match=f"{name}.*: expected"):
        layer(sym.var("x"))
    with pytest.raises(ArgumentError, match=f"{name}.*: expected"):
        layer.infer_shape(x)
    copied = pickle.loads(pickle.dumps(MAKE[name]()))
    with pytest.raises(ArgumentError, match=f"{name}.*: expected"):
        copied(x)
    assert name in repr(layer)


def test_an_augmenter_refuses_at_the_call() -> None:
    change = ForceResizeAug((0, 0))
    with pytest.raises(ArgumentError, match="ForceResizeAug: expected a size of at least 1 pixel"):
        change(nd.ones((4, 4, 3)))


def test_empty_extents_are_the_defaults() -> None:
    x = nd.ones((1, 1, 6, 6))
    layer = Conv2D(2, 3, strides=(), padding=(), dilation=())
    layer.initialize()
    assert layer(x).shape == (1, 2, 4, 4)
    assert AvgPool2D(2, strides=(), padding=())(x).shape == (1, 1, 5, 5)


def test_what_is_of_another_kind_is_refused_when_given() -> None:
    with pytest.raises(ArgumentTypeError, match="Dense: expected units to be an int"):
        Dense("a")  # type: ignore[arg-type]
