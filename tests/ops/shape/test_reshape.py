"""Facts of MXNet 1.9.1, found by running it."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.shape_codes import resolve_shape
from tests.checking.values import ArrayValue, run_operator


@pytest.mark.parametrize(
    ("source", "codes", "reverse", "expected"),
    [
        ((2, 3, 4), (4, 0, 2), False, (4, 3, 2)),
        ((2, 3, 4), (-1, 0), True, (6, 4)),
        ((10, 5, 4), (-1, 0), True, (50, 4)),
        ((2, 3, 4), (-4, 1, 2, -2), False, (1, 2, 3, 4)),
        ((2, 3, 4), (2, -4, -1, 3, -2), False, (2, 1, 3, 4)),
        ((2, 3, 4), (-3, 4), False, (6, 4)),
        ((2, 3, 4), (0, -3), False, (2, 12)),
        ((2, 3, 4), (-3, -2), False, (6, 4)),
        ((2, 3, 4), (-2, 1, 1), False, (2, 3, 4, 1, 1)),
        ((8, 3, 3, 4), (-4, 2, -1, 0, 0, 0), False, (2, 4, 3, 3, 4)),
        ((2, 0, 4), (0, -1), False, (2, 0)),
    ],
)
def test_codes_stand_for_shapes(
    source: tuple[int, ...], codes: tuple[int, ...], reverse: bool, expected: tuple[int, ...]
) -> None:
    assert resolve_shape(source, codes, reverse) == expected


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ((-1, -1), "at most one -1"),
        ((5, 5), "the 24 elements of"),
        ((-4, 5, -1, -2), "cannot split 2"),
        ((0, 0, 0, 0), "more axes than data has"),
        ((-4, 2), "two extents after it"),
        ((-5,), "no code -5"),
    ],
)
def test_shape_that_does_not_fit_is_refused(codes: tuple[int, ...], message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        resolve_shape((2, 3, 4), codes)


def shape_of(name: str, *shapes: tuple[int, ...], **attrs: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = run_operator(
        name, *[np.ones(s, np.float32) for s in shapes], **attrs
    ).shape
    return shape


def test_older_target_shape_infers_zeros() -> None:
    assert shape_of("Reshape", (2, 3, 4), target_shape=(2, 0)) == (2, 12)
    assert shape_of("Reshape", (2, 3, 4), target_shape=(0, 12), keep_highest=True) == (2, 12)


def test_reshape_like_takes_a_range_of_axes() -> None:
    ends = {"lhs_begin": 0, "lhs_end": 1, "rhs_begin": 0, "rhs_end": 2}
    assert shape_of("reshape_like", (30, 7), (15, 2, 4), **ends) == (15, 2, 7)
    ends = {"lhs_begin": 0, "lhs_end": -1, "rhs_begin": 0, "rhs_end": -1}
    assert shape_of("reshape_like", (30, 7), (15, 2, 4), **ends) == (15, 2, 7)


def test_flatten_of_a_vector_is_a_column() -> None:
    assert shape_of("Flatten", (2,)) == (2, 1)


def test_expand_dims_counts_from_the_end_of_the_result() -> None:
    assert shape_of("expand_dims", (2, 3), axis=-1) == (2, 3, 1)
    assert shape_of("expand_dims", (2, 3), axis=-3) == (1, 2, 3)
    with pytest.raises(OperatorError, match=r"axis in \[-3, 3\)"):
        shape_of("expand_dims", (2, 3), axis=3)


def test_squeeze_keeps_one_axis() -> None:
    assert shape_of("squeeze", (1, 1, 1)) == (1,)
    assert shape_of("squeeze", (1, 3, 1)) == (3,)
    assert shape_of("squeeze", (1, 3, 1), axis=-1) == (1, 3)


def test_squeeze_of_a_longer_axis_is_refused() -> None:
    with pytest.raises(OperatorError, match="axes of size 1"):
        shape_of("squeeze", (1, 3, 1), axis=1)


def test_function_takes_zero_as_an_extent() -> None:
    x = ArrayValue(np.zeros((0, 6), np.float32))
    assert reshape(x, (3, 0, 2)).shape == (3, 0, 2)


def test_function_returns_a_value_of_that_shape_itself() -> None:
    x = ArrayValue(np.zeros((2, 3), np.float32))
    assert reshape(x, (2, 3)) is x
