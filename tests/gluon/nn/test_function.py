from typing import Any

import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import nn
from gluonish.ndarray import array


def test_function_of_arrays_is_a_layer() -> None:
    layer = nn.Lambda(lambda x, y: x + y)
    assert layer(array([1]), array([2])).asnumpy().tolist() == [3]
    assert repr(layer) == "Lambda(<lambda>)"


@pytest.mark.parametrize("hybridize", [False, True])
def test_function_of_the_namespace_is_a_hybrid_layer(hybridize: bool) -> None:
    layer = nn.HybridLambda(lambda F, x, y: F.relu(x) + y)
    layer.hybridize(hybridize)
    assert layer(array([-1]), array([2])).asnumpy().tolist() == [2]


@pytest.mark.parametrize("kind", [nn.Lambda, nn.HybridLambda])
def test_unknown_function_is_refused(kind: Any) -> None:
    with pytest.raises(ArgumentError, match="got 'nope'"):
        kind("nope")
    with pytest.raises(ArgumentTypeError, match="got 3"):
        kind(3)
