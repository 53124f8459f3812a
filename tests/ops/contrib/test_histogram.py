"""nd.histogram: numbers of bins, edges, and ranges that are found."""

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError


def test_range_is_found_in_the_data() -> None:
    data = np.array([1, 2, 3, 4, 9], dtype=np.float32)
    counts, edges = mx.nd.histogram(mx.nd.array(data), bins=4)
    wanted, limits = np.histogram(data, bins=4)
    assert counts.asnumpy().tolist() == wanted.tolist()
    np.testing.assert_allclose(edges.asnumpy(), limits)


def test_equal_elements_have_a_range_around_them() -> None:
    counts, edges = mx.nd.histogram(mx.nd.array([2, 2]), bins=4)
    assert counts.asnumpy().tolist() == [0, 0, 2, 0]
    assert edges.asnumpy().tolist() == [1.5, 1.75, 2, 2.25, 2.5]


def test_edges_may_be_given() -> None:
    counts, _ = mx.nd.histogram(mx.nd.array([1, 2, 2.5, 3]), bins=mx.nd.array([1, 2, 3]))
    assert counts.asnumpy().tolist() == [1, 3]


def test_data_without_a_range_is_refused() -> None:
    with pytest.raises(ArgumentError, match="histogram: expected finite elements or a range"):
        mx.nd.histogram(mx.nd.array([1, float("nan")]))
