from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluonish.kernels.onednn import RefusedError
from gluonish.ops.kernel import Array
from tests.kernels.onednn.products import matmul

Close = Callable[[Array, Array], None]


def _random(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _swap(array: Array, swap: bool) -> Array:
    return array.swapaxes(-1, -2) if swap else array


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)
def test_product(
    batch: tuple[int, ...], transpose_a: bool, transpose_b: bool, dtype: Any, close: Close
) -> None:
    a = _random((*batch, 7, 5) if transpose_a else (*batch, 5, 7), dtype, 1)
    b = _random((*batch, 9, 7) if transpose_b else (*batch, 7, 9), dtype, 2)
    out = np.full((*batch, 5, 9), np.nan, dtype)
    matmul(out, a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    left, right = _swap(a, transpose_a), _swap(b, transpose_b)
    close(out, left.astype(np.float64) @ right.astype(np.float64))


@given(
    sizes=st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40)),
    transposes=st.tuples(st.booleans(), st.booleans()),
)
def test_any_sizes(sizes: tuple[int, int, int], transposes: tuple[bool, bool]) -> None:
    rows, inner, columns = sizes
    a = _random((rows, inner), np.float32, 1)
    b = _random((inner, columns), np.float32, 2)
    out = np.full((rows, columns), np.nan, np.float32)
    # A transposed view of a transposed copy: the same product by way of other strides.
    left = np.ascontiguousarray(a.T).T if transposes[0] else a
    right = np.ascontiguousarray(b.T).T if transposes[1] else b
    matmul(out, left, right)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


def test_a_batch_of_one_is_broadcast(close: Close) -> None:
    a, b = _random((4, 3, 5), np.float32, 1), _random((1, 5, 6), np.float32, 2)
    out = np.full((4, 3, 6), np.nan, np.float32)
    matmul(out, a, b)
    close(out, a.astype(np.float64) @ b)


def test_rows_with_gaps(close: Close) -> None:
    a, b = _random((6, 9), np.float32, 1)[::2, :4], _random((8, 7), np.float32, 2)[4:, 1:6]
    wide = np.zeros((3, 8), np.float32)
    out = wide[:, :5]
    matmul(out, a, b)
    close(out, a.astype(np.float64) @ b)
    assert not wide[:, 5:].any()


@pytest.mark.parametrize(
    ("out", "a"),
    [
        (np.ones((4, 8), np.float32)[:, ::2], np.ones((4, 4), np.float32)),
        (np.ones((4, 4), np.float32).T, np.ones((4, 4), np.float32)),
        (np.ones((4, 4), np.float32), np.ones((8, 8), np.float32)[::2, ::2]),
        (np.ones((4, 4), np.float32), np.ones((0, 4), np.float32)),
        (np.ones((4, 4), np.float32), np.ones((1, 4, 4), np.float32)),
    ],
    ids=["gaps in out", "columns first in out", "gaps both ways", "empty", "ranks"],
)
def test_other_layouts_are_refused(out: Array, a: Array) -> None:
    with pytest.raises(RefusedError, match="batch_dot: "):
        matmul(out, a, np.ones((4,) * max(a.ndim, 2), np.float32))


def test_inner_sizes_that_differ_are_refused_with_the_reason() -> None:
    a, b = np.ones((2, 3), np.float32), np.ones((4, 5), np.float32)
    with pytest.raises(RefusedError, match=r"matmul.*'invalid_arguments'"):
        matmul(np.empty((2, 5), np.float32), a, b)
