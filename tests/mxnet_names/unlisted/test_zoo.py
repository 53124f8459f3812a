"""Shapes and kinds of parameters are those that MXNet 1.9.1's functions of the zoo make."""

from collections.abc import Callable
from typing import Any

import pytest

from gluonish import nd
from gluonish.gluon.nn import HybridSequential
from gluonish.mxnet_names.unlisted import zoo

Made = list[tuple[str, tuple[int, ...]]]


def _convs() -> HybridSequential:
    network = HybridSequential()
    zoo.append_conv(network, 4, 3, 2, 1, relu6=True)
    zoo.append_conv(network, 4, active=False)
    zoo.append_separable(network, 4, 8, 2)
    return network


def _norm(channels: int) -> Made:
    return [(name, (channels,)) for name in ("gamma", "beta", "running_mean", "running_var")]


@pytest.mark.parametrize(
    ("make", "given", "expected", "shape"),
    [
        pytest.param(
            lambda: zoo.fire(2, 3, 4),
            (1, 5, 6, 6),
            [
                ("weight", (2, 5, 1, 1)),
                ("bias", (2,)),
                ("weight", (3, 2, 1, 1)),
                ("bias", (3,)),
                ("weight", (4, 2, 3, 3)),
                ("bias", (4,)),
            ],
            (1, 7, 6, 6),
            id="fire",
        ),
        pytest.param(
            lambda: zoo.inception_branch("avg", (4, 1, None, None), (5, 3, None, 1)),
            (1, 2, 8, 8),
            [("weight", (4, 2, 1, 1)), *_norm(4), ("weight", (5, 4, 3, 3)), *_norm(5)],
            (1, 5, 8, 8),
            id="branch",
        ),
        pytest.param(lambda: zoo.inception_branch("max"), (1, 2, 8, 8), [], (1, 2, 3, 3), id="max"),
        pytest.param(
            _convs,
            (1, 2, 9, 9),
            [
                ("weight", (4, 2, 3, 3)),
                *_norm(4),
                ("weight", (4, 4, 1, 1)),
                *_norm(4),
                ("weight", (4, 1, 3, 3)),
                *_norm(4),
                ("weight", (8, 4, 1, 1)),
                *_norm(8),
            ],
            (1, 8, 3, 3),
            id="convs",
        ),
        pytest.param(
            lambda: zoo.dense_block(1, 4, 3, 0.1, 2),
            (1, 6, 5, 5),
            [*_norm(6), ("weight", (12, 6, 1, 1)), *_norm(12), ("weight", (3, 12, 3, 3))],
            (1, 9, 5, 5),
            id="dense",
        ),
    ],
)
def test_parts_are_those_of_the_zoo(
    make: Callable[[], Any], given: tuple[int, ...], expected: Made, shape: tuple[int, ...]
) -> None:
    block = make()
    block.initialize()
    assert block(nd.ones(given)).shape == shape
    endings = ("running_mean", "running_var", "weight", "bias", "gamma", "beta")
    found = [
        (next(ending for ending in endings if name.endswith(ending)), parameter.shape)
        for name, parameter in block.collect_params().items()
    ]
    assert found == expected
