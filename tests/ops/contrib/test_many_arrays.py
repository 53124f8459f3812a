"""Operators on many arrays at once."""

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError


def test_arrays_are_reset_in_place() -> None:
    arrays = [mx.nd.ones((2,)), mx.nd.ones((2, 3), dtype="int32")]
    assert mx.nd.reset_arrays(*arrays, num_arrays=2) == []
    assert not any(x.asnumpy().any() for x in arrays)


def test_sums_of_squares_are_float32() -> None:
    sums = mx.nd.multi_sum_sq(mx.nd.full((2,), 300, dtype="float16"), num_arrays=1)
    assert sums.dtype == np.float32
    assert sums.asscalar() == 180000


def test_integers_have_no_sum_of_squares() -> None:
    with pytest.raises(OperatorError, match="multi_sum_sq: expected floating arrays"):
        mx.nd.multi_sum_sq(mx.nd.ones((2,), dtype="int32"), num_arrays=1)
