from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gluonish.gluon import nn
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.sequential import Concurrent, HybridConcurrent, Identity
from gluonish.ndarray import array

X = array([[1.0, -2.0], [3.0, -4.0]])


class Twice(HybridBlock):
    def hybrid_forward(self, F: ModuleType, x: Any) -> Any:
        return x * 2


@pytest.mark.parametrize("kind", [Concurrent, HybridConcurrent])
@pytest.mark.parametrize(
    ("axis", "expected"),
    [
        (-1, [[1, -2, 2, -4], [3, -4, 6, -8]]),
        (0, [[1, -2], [3, -4], [2, -4], [6, -8]]),
    ],
)
def test_outputs_are_concatenated_in_order(kind: Any, axis: int, expected: Any) -> None:
    net = kind(axis=axis)
    net.add(Identity(), Twice())
    assert net(X).asnumpy().tolist() == expected


def test_hybridized_equals_imperative() -> None:
    net = HybridConcurrent(axis=1)
    net.add(Identity(), nn.Dense(3, in_units=2), Twice())
    net.initialize()
    expected = net(X).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(X).asnumpy(), expected, rtol=1e-6)


def test_containers_are_lists_of_layers_named_as_in_mxnet() -> None:
    net = HybridConcurrent()
    net.add(Identity(), Identity())
    assert len(net) == 2
    assert net.axis == -1
    assert net.prefix.startswith("hybridconcurrent")
    assert Concurrent().prefix.startswith("concurrent")
    assert Identity().prefix.startswith("identity")
    assert repr(HybridConcurrent(axis=1)) == "HybridConcurrent(\n\n)"


def test_identity_gives_its_input() -> None:
    assert Identity()(X) is X


def test_slice_keeps_the_axis() -> None:
    net = HybridConcurrent(axis=0)
    net.add(Identity(), Twice(), Twice())
    assert net[1:].axis == 0
    assert net[1:](X).asnumpy().tolist() == [[2, -4], [6, -8], [2, -4], [6, -8]]


def test_names_of_version_2_are_the_same_layers() -> None:
    net = nn.HybridConcatenate(axis=1)
    net.add(nn.Identity(), Twice())
    assert net(X).asnumpy().tolist() == [[1, -2, 2, -4], [3, -4, 6, -8]]
    assert issubclass(Concurrent, nn.Concatenate)
    assert net.prefix.startswith("hybridconcatenate")


class Sum(HybridBlock):
    def hybrid_forward(self, F: ModuleType, x: Any, y: Any) -> Any:
        return x + y


@pytest.mark.parametrize("kind", [nn.Concatenate, nn.HybridConcatenate])
def test_every_layer_gets_all_inputs(kind: Any) -> None:
    net = kind(axis=0)
    net.add(Sum(), Sum())
    for hybridize in (False, kind is nn.HybridConcatenate):
        if hybridize:
            net.hybridize()
        assert net(X, X * 2).asnumpy().tolist() == [[3, -6], [9, -12]] * 2
