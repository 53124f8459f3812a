import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish import ndarray as nd
from gluonish.core.errors import ArgumentTypeError

FUNCTIONS = {
    nd.add: operator.add,
    nd.subtract: operator.sub,
    nd.multiply: operator.mul,
    nd.divide: operator.truediv,
    nd.true_divide: operator.truediv,
    nd.modulo: operator.mod,
    nd.power: operator.pow,
    nd.maximum: np.maximum,
    nd.minimum: np.minimum,
    nd.equal: operator.eq,
    nd.not_equal: operator.ne,
    nd.greater: operator.gt,
    nd.greater_equal: operator.ge,
    nd.lesser: operator.lt,
    nd.lesser_equal: operator.le,
    nd.logical_and: np.logical_and,
    nd.logical_or: np.logical_or,
    nd.logical_xor: np.logical_xor,
}


@pytest.mark.parametrize(("function", "expected"), FUNCTIONS.items(), ids=lambda f: f.__name__)
def test_either_side_may_be_a_number(
    function: Callable[[Any, Any], Any], expected: Callable[[Any, Any], Any]
) -> None:
    a = np.array([[1, 2, 3]], np.float32)
    b = np.array([[2], [3]], np.float32)
    for lhs, rhs in ((a, b), (a, 2.0), (2.0, b)):
        given = [nd.array(x) if isinstance(x, np.ndarray) else x for x in (lhs, rhs)]
        found = function(*given)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found.asnumpy(), expected(lhs, rhs).astype(np.float32))


@pytest.mark.parametrize(("function", "expected"), FUNCTIONS.items(), ids=lambda f: f.__name__)
def test_two_numbers_give_a_number(
    function: Callable[[Any, Any], Any], expected: Callable[[Any, Any], Any]
) -> None:
    assert function(3, 4) == expected(3, 4)
    assert isinstance(function(3, 4), int | float)


def test_operand_of_another_kind_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected an array or a number, got str"):
        nd.add(nd.ones(2), "1")
    with pytest.raises(ArgumentTypeError, match="expected an array or a number, got list"):
        nd.power([2], nd.ones(2))


def test_split_v2_cuts_into_equal_parts_or_at_positions() -> None:
    x = nd.arange(6).reshape((6, 1))
    assert [part.shape for part in nd.split_v2(x, 3)] == [(2, 1)] * 3
    assert [part.shape for part in nd.split_v2(x, (1, 4))] == [(1, 1), (3, 1), (2, 1)]
    assert nd.split_v2(x, 6, squeeze_axis=True)[5].tolist() == [5]


def test_onehot_encode_fills_its_target() -> None:
    out = nd.zeros((2, 3))
    assert nd.onehot_encode(nd.array([0, 2]), out) is out
    assert out.tolist() == [[1, 0, 0], [0, 0, 1]]


def test_comparisons_of_two_numbers_are_whole_numbers() -> None:
    found = [nd.equal(2, 3), nd.lesser(2, 3), nd.greater_equal(3, 3), nd.logical_xor(1, 2)]
    assert found == [0, 1, 1, 0]
    assert {type(x) for x in found} == {int}
