"""Operators whose shapes follow from values, on the double: in the order of their device's work."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import OperatorError
from tests.kernels.cupy.machine import Machine

VALUES = np.array([3, 0, 1, 1, 0, 7], np.int64)
CALLS = {
    "nonzero": (lambda x: mx.np.nonzero(x)[0], np.nonzero(VALUES)[0]),
    "unique": (mx.np.unique, np.unique(VALUES)),
    "bincount": (mx.np.bincount, np.bincount(VALUES)),
    "delete": (lambda x: mx.np.delete(x, slice(1, 3)), np.delete(VALUES, slice(1, 3))),
    "boolean_mask": (
        lambda x: nd.contrib.boolean_mask(x.as_nd_ndarray(), x.as_nd_ndarray()),
        VALUES[VALUES != 0],
    ),
}


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("name", sorted(CALLS))
def test_operator_measures_on_its_own_device(gpus: Any, name: str, number: int) -> None:
    function, expected = CALLS[name]
    x = mx.np.array(VALUES, ctx=mx.gpu(number), dtype="int64")
    got = function(x)
    assert got.context == mx.gpu(number)
    np.testing.assert_array_equal(got.asnumpy(), expected)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_operator_measures_behind_the_writers_of_its_input(gpus: Any, name: str) -> None:
    function, expected = CALLS[name]
    x = mx.np.zeros(VALUES.shape, ctx=mx.gpu(1), dtype="int64")
    x += mx.np.array(VALUES, ctx=mx.gpu(1), dtype="int64")
    got = function(x)
    x += 1  # comes behind
    np.testing.assert_array_equal(got.asnumpy(), expected)


def test_what_it_finds_wrong_is_its_own_error(gpus: Any, machine: Machine) -> None:
    x = mx.np.array([-1, 2], ctx=mx.gpu(1), dtype="int64")
    with pytest.raises(OperatorError, match=r"bincount.*expected numbers in \[0"):
        mx.np.bincount(x)
    np.testing.assert_array_equal((nd.ones((2,), ctx=mx.gpu(1)) + 1).asnumpy(), [2, 2])
