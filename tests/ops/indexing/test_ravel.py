"""Positions and coordinates are each other's inverses."""

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError


def test_positions_come_back() -> None:
    positions = mx.nd.arange(24, dtype="int64")
    coordinates = mx.nd.unravel_index(positions, shape=(2, 3, 4))
    wanted = np.array(np.unravel_index(np.arange(24), (2, 3, 4)))
    np.testing.assert_array_equal(coordinates.asnumpy(), wanted)
    back = mx.nd.ravel_multi_index(coordinates, shape=(2, 3, 4))
    np.testing.assert_array_equal(back.asnumpy(), positions.asnumpy())


def test_first_extent_may_be_unknown() -> None:
    found = mx.nd.unravel_index(mx.nd.array([13]), shape=(-1, 4))
    assert found.asnumpy().ravel().tolist() == [3, 1]


@pytest.mark.parametrize("shape", [(), (3, 0), (3, -2)], ids=str)
def test_shape_without_elements_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(OperatorError, match="_unravel_index: expected shape"):
        mx.nd.unravel_index(mx.nd.array([1]), shape=shape)
