"""Constraints: what they accept, and the errors they raise."""

from typing import Any

import numpy as np
import pytest

import gluonish.numpy as mnp
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import HybridBlock
from gluonish.gluon.probability import constraint as c

NAN = float("nan")
ROWS = [
    (c.Real(), [0, -1.5], [NAN]),
    (c.Boolean(), [0, 1], [0.5, -1, 2, NAN]),
    (c.Interval(0, 1), [0, 0.5, 1], [-0.5, 1.5, NAN]),
    (c.OpenInterval(0, 1), [0.5], [0, 1, NAN]),
    (c.HalfOpenInterval(0, 1), [0, 0.5], [1, -0.5]),
    (c.UnitInterval(), [0, 1], [1.5]),
    (c.IntegerInterval(0, 3), [0, 3], [0.5, 4, -1]),
    (c.IntegerOpenInterval(0, 3), [1, 2], [0, 3, 1.5]),
    (c.IntegerHalfOpenInterval(0, 3), [0, 2], [3, 1.5]),
    (c.GreaterThan(2), [2.5], [2, NAN]),
    (c.GreaterThanEq(2), [2], [1.5]),
    (c.IntegerGreaterThan(2), [3], [2, 2.5]),
    (c.IntegerGreaterThanEq(2), [2], [1, 2.5]),
    (c.LessThan(2), [1.9], [2]),
    (c.LessThanEq(2), [2], [2.5]),
    (c.IntegerLessThan(2), [1], [2, 1.5]),
    (c.IntegerLessThanEq(2), [2], [3, 1.5]),
    (c.Positive(), [0.1], [0, -1]),
    (c.NonNegative(), [0], [-1]),
    (c.PositiveInteger(), [1], [0, 0.5]),
    (c.NonNegativeInteger(), [0], [-1, 0.5]),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: type(row[0]).__name__)
def test_numbers_and_arrays_are_checked(row: tuple[Any, list[float], list[float]]) -> None:
    constraint, inside, outside = row
    array = mnp.array(inside)
    assert constraint.check(array) is array
    for value in inside:
        assert constraint.check(value) == value
    for value in outside:
        message = f"^{type(constraint).__name__}: expected value .*, got {float(value)}$"
        with pytest.raises(ArgumentError, match=message):
            constraint.check(mnp.array([inside[0], value]))
        with pytest.raises(ArgumentError, match=f"^{type(constraint).__name__}: expected value"):
            constraint.check(value)


@pytest.mark.parametrize(
    ("constraint", "inside", "outside"),
    [
        (c.Simplex(), [[0.5, 0.5], [1, 0]], [[0.5, 0.5], [0.5, 0.6]]),
        (c.Simplex(), [0.5, 0.5], [1.5, -0.5]),
        (c.LowerTriangular(), [[1, 0], [1, -1]], [[1, 1], [0, 1]]),
        (c.LowerCholesky(), [[1, 0], [1, 1]], [[1, 0], [1, -1]]),
        (c.PositiveDefinite(), [[2, 1], [1, 2]], [[1, 2], [2, 1]]),
        (c.PositiveDefinite(), [[2, 1], [1, 2]], [[2, 1], [0, 2]]),
    ],
)
def test_vectors_and_matrices_are_checked(constraint: Any, inside: Any, outside: Any) -> None:
    array = mnp.array(inside)
    assert constraint.check(array) is array
    with pytest.raises(ArgumentError, match=type(constraint).__name__):
        constraint.check(mnp.array(outside))


def test_parts_have_constraints_of_their_own() -> None:
    parts = c.Cat([c.Positive(), c.Real()], axis=-1, lengths=[2, 1])
    assert parts.check(mnp.array([1.0, 2.0, -1.0])).tolist() == [1, 2, -1]
    with pytest.raises(ArgumentError, match=r"Positive: expected value > 0, got -2\.0"):
        parts.check(mnp.array([1.0, -2.0, -1.0]))
    with pytest.raises(ArgumentError, match=r"Cat: expected axis -1 of extent 3, got shape \(2,\)"):
        parts.check(mnp.array([1.0, 2.0]))
    with pytest.raises(ArgumentError, match="Cat: expected a length for each of 1 constraints"):
        c.Cat([c.Real()], lengths=[1, 2])
    with pytest.raises(ArgumentTypeError, match="Cat: expected constraint_seq of constraints"):
        c.Cat([1])  # type: ignore[list-item]  # the error


def test_slices_have_constraints_of_their_own() -> None:
    rows = c.Stack([c.Positive(), c.Real()], axis=0)
    assert rows.check(mnp.array([[1.0, 2.0], [-1.0, 0.0]])).tolist() == [[1, 2], [-1, 0]]
    with pytest.raises(ArgumentError, match=r"Positive: expected value > 0, got -2\.0"):
        rows.check(mnp.array([[1.0, -2.0], [-1.0, 0.0]]))
    with pytest.raises(ArgumentError, match="Stack: expected axis 0 of extent 2, got shape"):
        rows.check(mnp.ones((3, 2)))


def test_dependent_constraints_are_known() -> None:
    assert c.is_dependent(c.dependent_property(lambda self: None))
    assert not c.is_dependent(c.Real())


def test_check_in_a_graph_fails_with_the_graph() -> None:
    class Root(HybridBlock):
        def forward(self, x: Any) -> Any:
            return mnp.sqrt(c.NonNegative().check(x))

    block = Root()
    block.hybridize()
    np.testing.assert_array_equal(block(mnp.array([4.0])).asnumpy(), [2])
    with pytest.raises(ValueError, match="NonNegative: expected value >= 0"):
        block(mnp.array([-4.0])).wait_to_read()
