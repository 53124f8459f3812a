"""What MXNet 1.9.1 accepts or shares, though no documentation promises it."""

import numpy as np
import pytest

import gluonish as mx


def test_reshape_of_numpy_goes_its_own_way() -> None:
    # NumPy passes `order`; MXNet's TypeError has it convert the array.
    with pytest.raises(TypeError, match="got NumPy's order"):
        mx.nd.ones(2).reshape((2, 1), order="C")
    found = np.reshape(mx.nd.array([1, 2]), (2, 1))
    assert type(found) is np.ndarray
    assert found.tolist() == [[1], [2]]
