"""Triangular solves beyond the block that is solved row by row."""

import numpy as np
import pytest

from tests.checking.values import run_operator


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("rightside", [False, True])
def test_large_systems_are_solved(lower: bool, transpose: bool, rightside: bool) -> None:
    random = np.random.default_rng(6)
    a = random.standard_normal((2, 70, 70)) / 9 + 3 * np.eye(70)
    b = random.standard_normal((2, 3, 70) if rightside else (2, 70, 3))
    x = run_operator(
        "_linalg_trsm", a, b, lower=lower, transpose=transpose, rightside=rightside, alpha=2.0
    )
    half = np.tril(a) if lower else np.triu(a)
    if transpose:
        half = half.swapaxes(-1, -2)
    np.testing.assert_allclose(x @ half if rightside else half @ x, 2 * b, atol=1e-10)


def test_the_other_triangle_is_not_read() -> None:
    a = np.array([[2.0, np.nan], [1.0, 4.0]])
    b = np.ones((2, 1))
    x = run_operator("_linalg_trsm", a, b)
    np.testing.assert_allclose(x, [[0.5], [0.125]])
