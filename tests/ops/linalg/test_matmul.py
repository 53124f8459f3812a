"""Facts of MXNet 1.9.1, found by running it."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.ops.linalg.matmul import matmul
from tests.checking.check_operator import check_operator
from tests.checking.values import ArrayValue, run_operator

RANDOM = np.random.default_rng(3)


def normal(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("lhs", "rhs", "flags", "subscripts"),
    [
        ((2, 3), (3, 4, 2), (False, False), "ab,bcd->acd"),
        ((2, 3, 4), (4,), (False, False), "abc,c->ab"),
        ((2, 3, 4), (2, 5), (True, False), "abc,ad->bcd"),
        ((2, 3, 4), (5, 3, 4), (False, True), "abc,dec->abde"),
        ((2, 3, 4), (5, 4, 2), (True, True), "abc,dea->bcde"),
        ((3,), (3, 2), (False, False), "a,ab->b"),
    ],
)
def test_dot_sums_over_one_axis_of_each(
    lhs: tuple[int, ...], rhs: tuple[int, ...], flags: tuple[bool, bool], subscripts: str
) -> None:
    attrs = dict(zip(("transpose_a", "transpose_b"), flags, strict=True))
    check_operator(
        "dot", [normal(*lhs), normal(*rhs)], attrs, lambda a, b: np.einsum(subscripts, a, b)
    )


def test_dot_of_vectors_has_one_axis() -> None:
    ones = np.ones(3, np.float32)
    assert run_operator("dot", ones, ones).tolist() == [3]


def test_vectors_cannot_be_transposed() -> None:
    ones = np.ones(3, np.float32)
    with pytest.raises(OperatorError, match="no transpose of vectors"):
        run_operator("dot", ones, ones, transpose_a=True)


def test_integers_are_refused() -> None:
    ones = np.ones((2, 2), np.int32)
    with pytest.raises(OperatorError, match="floating-point"):
        run_operator("dot", ones, ones)


def test_operands_that_do_not_fit_are_refused() -> None:
    with pytest.raises(OperatorError, match="agree in the summed axis"):
        run_operator("dot", normal(2, 3), normal(2, 3))


def test_batches_of_different_size_are_refused() -> None:
    with pytest.raises(OperatorError, match="equal leading axes"):
        run_operator("batch_dot", normal(1, 3, 4), normal(2, 4, 5))
    with pytest.raises(OperatorError, match="at least 3"):
        run_operator("batch_dot", normal(3, 4), normal(4, 5))


@pytest.mark.parametrize("flags", [(True, False), (False, True), (True, True)])
def test_batch_dot_transposes(flags: tuple[bool, bool]) -> None:
    a = normal(2, 4, 3) if flags[0] else normal(2, 3, 4)
    b = normal(2, 5, 4) if flags[1] else normal(2, 4, 5)
    expected = np.matmul(a.swapaxes(1, 2) if flags[0] else a, b.swapaxes(1, 2) if flags[1] else b)
    check_operator(
        "batch_dot", [a, b], {"transpose_a": flags[0], "transpose_b": flags[1]}, expected
    )


@pytest.mark.parametrize("axis", [0, -3])
def test_gemm2_takes_rows_along_another_axis(axis: int) -> None:
    check_operator(
        "linalg_gemm2",
        [normal(3, 2, 4), normal(4, 2, 5)],
        {"axis": axis, "alpha": 2.0},
        lambda a, b: 2 * np.einsum("abc,cbd->abd", a, b),
    )


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_products_of_16_bit_floats_are_summed_in_float32(dtype: Any) -> None:
    ones = np.ones((1, 4096), dtype)
    assert float(run_operator("dot", ones, ones.T)[0, 0]) == 4096


def test_function_transposes_matrices() -> None:
    a, b = normal(4, 3), normal(5, 4)
    result = matmul(ArrayValue(a), ArrayValue(b), transpose_a=True, transpose_b=True)
    np.testing.assert_allclose(result.array, a.T @ b.T, rtol=1e-6)
