"""What LAPACK cannot do is one error of the operator at the wait; attributes fail at the call."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError, public_name
from gluonish.ndarray import NDArray
from gluonish.ops.registry import apply, find_operator

SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
ROTATION = [[0.0, 1.0], [-1.0, 0.0]]
FAILING: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "_linalg_inverse": ([SINGULAR], {}),
    "_linalg_potrf": ([[[1.0, 5.0], [2.0, -4.0]]], {}),
    "_npi_cholesky": ([[[1.0, 5.0], [2.0, -4.0]]], {}),
    "_linalg_potri": ([[[0.0, 0.0], [1.0, 1.0]]], {}),
    "_npi_eig": ([ROTATION], {}),
    "_npi_eigvals": ([ROTATION], {}),
    "_npi_solve": ([SINGULAR, [1.0, 2.0]], {}),
    "_npi_tensorsolve": ([SINGULAR, [1.0, 2.0]], {}),
    "_npi_tensorinv": ([SINGULAR], {"ind": 1}),
}


def _apply(name: str, arrays: list[Any], attrs: dict[str, Any]) -> list[NDArray]:
    op = find_operator(name)
    made = apply(op, [mx.nd.array(x) for x in arrays], op.schema.parse(name, attrs))
    return made if isinstance(made, list) else [made]


def _wait(arrays: list[NDArray]) -> None:
    for y in arrays:
        y.wait_to_read()


@pytest.mark.parametrize("name", sorted(FAILING))
def test_what_cannot_be_computed_is_an_error_at_the_wait(name: str) -> None:
    arrays, attrs = FAILING[name]
    with pytest.raises(OperatorError, match=public_name(name)):
        _wait(_apply(name, arrays, attrs))


def test_one_singular_matrix_of_a_stack_is_refused() -> None:
    stack = mx.nd.array([[[2.0, 0.0], [0.0, 2.0]], SINGULAR])
    with pytest.raises(OperatorError, match="expected invertible matrices"):
        mx.nd.linalg.inverse(stack).wait_to_read()


@pytest.mark.parametrize("name", ["_linalg_syevd", "_npi_svd", "_npi_eig", "_linalg_gelqf"])
def test_nan_gives_nan_or_an_error_of_the_operator(name: str) -> None:
    try:
        results = [y.asnumpy() for y in _apply(name, [[[np.nan, 1.0], [1.0, 2.0]]], {})]
    except OperatorError as error:
        assert public_name(name) in str(error)  # noqa: PT017 (either is right)
    else:
        assert any(np.isnan(y).any() for y in results)


@pytest.mark.parametrize("name", ["_linalg_makediag", "_linalg_maketrian"])
@pytest.mark.parametrize("offset", [-(2**40), 2**20])
def test_offset_that_would_take_all_memory_is_refused(name: str, offset: int) -> None:
    with pytest.raises(OperatorError, match=f"{name}: expected offset"):
        _apply(name, [[1.0, 2.0, 3.0]], {"offset": offset})


def test_logarithm_of_a_singular_determinant_passes_no_gradient_on() -> None:
    a = mx.nd.array([SINGULAR, [[2.0, 1.0], [1.0, 3.0]]])
    a.attach_grad()
    with mx.autograd.record():
        y = mx.nd.linalg.slogdet(a)[1]
    y.backward()
    assert a.grad is not None
    wanted = [[[0, 0], [0, 0]], [[0.6, -0.2], [-0.2, 0.4]]]
    np.testing.assert_allclose(a.grad.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


def test_zero_on_the_diagonal_gives_infinities_in_trsm() -> None:
    y = mx.nd.linalg.trsm(mx.nd.array([[0.0, 9.0], [1.0, 3.0]]), mx.nd.array([[1.0], [2.0]]))
    np.testing.assert_array_equal(y.asnumpy(), [[np.inf], [-np.inf]])


@pytest.mark.parametrize("name", ["_linalg_det", "_npi_slogdet", "_linalg_inverse", "_npi_einsum"])
def test_infinity_passes_without_a_warning(name: str) -> None:
    count = 2 if name == "_npi_einsum" else 1
    attrs = {"subscripts": "ij,jk", "num_args": count} if count > 1 else {}
    _wait(_apply(name, [[[np.inf, np.nan], [1.0, -np.inf]]] * count, attrs))
