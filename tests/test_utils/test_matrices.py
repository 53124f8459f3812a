import numpy as np
import pytest

import gluonish as mx
from gluonish import test_utils
from gluonish.core.errors import ArgumentError


def test_orthonormal_matrix_has_the_identity_as_its_square() -> None:
    q = test_utils.new_orthonormal_matrix_2d(5)
    np.testing.assert_allclose(q @ q.T, np.eye(5), atol=1e-12)


def test_eigenvalues_are_real_and_bounded() -> None:
    values = np.linalg.eigvals(test_utils.new_matrix_with_real_eigvals_2d(5))
    assert np.abs(np.imag(values)).max() < 1e-6
    assert np.abs(values).max() < 10
    assert test_utils.new_matrix_with_real_eigvals_nd((2, 3, 4, 4)).shape == (2, 3, 4, 4)


def test_symmetric_matrix_is_symmetric() -> None:
    x = test_utils.new_sym_matrix_with_real_eigvals_2d(4)
    np.testing.assert_array_equal(x, x.T)
    stack = test_utils.new_sym_matrix_with_real_eigvals_nd((2, 3, 3))
    np.testing.assert_array_equal(stack, stack.transpose(0, 2, 1))
    assert len({float(m[0, 0]) for m in stack}) == 2


@pytest.mark.parametrize("shape", [(3,), (2, 3, 4)])
def test_matrices_that_are_not_square_are_refused(shape: tuple[int, ...]) -> None:
    for make in (
        test_utils.new_matrix_with_real_eigvals_nd,
        test_utils.new_sym_matrix_with_real_eigvals_nd,
    ):
        with pytest.raises(ArgumentError, match=r"a shape \(..., n, n\)"):
            make(shape)


@pytest.mark.parametrize("axis", [None, 1, -1, (0, 2), (-1, 0), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_np_reduce_is_numpys_reduction(axis: int | tuple[int, ...] | None, keepdims: bool) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    got = test_utils.np_reduce(x, axis, keepdims, np.sum)
    np.testing.assert_array_equal(got, x.sum(axis=axis, keepdims=keepdims))


def test_collapse_undoes_broadcasting() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    want = x.sum(axis=(0, 2)).reshape(3, 1)
    np.testing.assert_array_equal(test_utils.collapse_sum_like(x, (3, 1)), want)
    np.testing.assert_array_equal(
        test_utils.collapse_sum_like(mx.nd.array(x), (3, 1)).asnumpy(), want
    )
    np.testing.assert_array_equal(test_utils.collapse_sum_like(x, x.shape), x)
    assert test_utils.collapse_sum_like(x, ()) == x.sum()
    for shape in ((4, 4), (1, 2, 3, 4)):
        with pytest.raises(ArgumentError, match=r"^collapse_sum_like: expected a shape"):
            test_utils.collapse_sum_like(x, shape)
