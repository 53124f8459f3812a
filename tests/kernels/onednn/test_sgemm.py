from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels.onednn import sgemm
from gluonish.ops.kernel import RefusedError

FLOAT32 = np.dtype(np.float32)


def matrix(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("transposed", [False, True])
def test_product_is_numpys(transposed: bool) -> None:
    a, b = matrix(70, 90), matrix(90, 110)
    lhs = np.ascontiguousarray(a.T) if transposed else a
    out = np.full((70, 110), np.nan, np.float32)
    sgemm.dot(np, out, lhs, b, transpose_a=transposed, transpose_b=False)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-4)


def test_rows_may_lie_apart() -> None:
    a, b, out = matrix(20, 60)[:, 10:40], matrix(30, 50)[:, :25], matrix(20, 80)
    before = out.copy()
    sgemm.dot(np, out[:, 5:30], a, b, transpose_a=False, transpose_b=False)
    before[:, 5:30] = a @ b
    np.testing.assert_allclose(out, before, rtol=1e-5, atol=1e-5)


def test_rows_with_gaps_are_refused() -> None:
    a, b = matrix(20, 60)[:, ::2], matrix(30, 25)
    with pytest.raises(RefusedError, match="expected matrices of contiguous rows"):
        sgemm.dot(np, matrix(20, 25), a, b, transpose_a=False, transpose_b=False)


@pytest.mark.parametrize(
    ("shapes", "flips", "taken"),
    [
        (((1024, 512), (512, 512)), {}, True),
        (((512, 1024), (512, 512)), {"transpose_a": True}, True),
        (((1024, 512), (512, 512)), {"transpose_b": True}, False),
        (((64, 64), (64, 64)), {}, False),
        (((8, 9000), (9000, 9000)), {}, False),
        (((2, 512, 512), (512, 512)), {}, False),
    ],
    ids=str,
)
def test_large_products_of_a_plain_right_operand_are_taken(
    shapes: Any, flips: dict[str, bool], taken: bool
) -> None:
    attrs: Any = {"transpose_a": False, "transpose_b": False, **flips}
    lhs, rhs = (Spec(shape, FLOAT32) for shape in shapes)
    assert sgemm.supports_dot(lhs, rhs, **attrs) is taken


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_products_of_rows_or_columns_may_be_added(add: bool, left: bool, right: bool) -> None:
    random = np.random.default_rng(0)
    for m, n, k in ((5, 7, 3), (1, 7, 5), (5, 1, 4), (4, 6, 1)):
        a, b = (
            random.standard_normal(shape[::-1] if flip else shape).astype(np.float32)
            for shape, flip in (((m, k), left), ((k, n), right))
        )
        a, b = a.T if left else a, b.T if right else b
        out = np.ones((m, n), np.float32)
        sgemm.product(out, a, b, add=add)
        want = a.astype(np.float64) @ b + add
        np.testing.assert_allclose(out, want, rtol=0, atol=1e-5)
