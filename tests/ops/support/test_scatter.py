from typing import Any

import numpy as np
import pytest

from gluonish.ops.support.host import add_at, scatter_accumulator


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        ("float16", "float32"),
        ("float64", "float64"),
        ("int8", "int32"),
        ("uint8", "int32"),
        ("bool", "int32"),
        ("int32", "int32"),
        ("int64", "int64"),
    ],
)
def test_sums_are_formed_where_gpus_add_atomically(dtype: Any, wanted: str) -> None:
    assert scatter_accumulator(np.dtype(dtype)) == wanted


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_repeated_positions_add_up_with_their_sign(dtype: Any) -> None:
    total = np.array([5, 0, 0], dtype)
    add_at(np, total, np.array([0, 2, 0]), np.array([-7, 3, -1], dtype))
    np.testing.assert_array_equal(total, [-3, 0, 3])


def test_strided_sums_are_filled_in_place() -> None:
    total = np.zeros((2, 3), np.int64)
    add_at(np, total.T, np.array([1, 1]), np.array([[1, 2], [3, -9]]))
    np.testing.assert_array_equal(total, [[0, 4, 0], [0, -7, 0]])
