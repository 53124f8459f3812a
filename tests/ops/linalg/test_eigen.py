"""Eigenpairs whose order and signs are LAPACK's: what holds whichever they are."""

import numpy as np
import pytest

from tests.checking.check_operator import check_operator
from tests.checking.values import run_operator


def _matrices(*shape: int) -> np.ndarray:
    x = np.random.default_rng(1).standard_normal(shape) / 4
    return x + np.diag(3.0 * np.arange(shape[-1]))


@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3)], ids=str)
def test_eigenpairs_solve_their_equation(shape: tuple[int, ...]) -> None:
    a = _matrices(*shape)
    values, vectors = run_operator("_npi_eig", a)
    np.testing.assert_allclose(a @ vectors, vectors * values[..., None, :], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=-2), 1)


@pytest.mark.parametrize("name", ["_npi_eig", "_npi_eigvals"])
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3)], ids=str)
def test_gradients_hold(name: str, shape: tuple[int, ...]) -> None:
    check_operator(name, [_matrices(*shape)], half=False)


@pytest.mark.parametrize("name", ["_linalg_syevd", "_npi_eigh"])
def test_largest_element_of_each_eigenvector_is_positive(name: str) -> None:
    x = np.random.default_rng(2).standard_normal((5, 4, 4))
    outputs = run_operator(name, x + x.swapaxes(-1, -2))
    rows = outputs[0] if name == "_linalg_syevd" else outputs[1].swapaxes(-1, -2)
    places = np.abs(rows).argmax(axis=-1)[..., None]
    assert (np.take_along_axis(rows, places, axis=-1) > 0).all()


def test_integers_give_float64() -> None:
    values, vectors = run_operator("_npi_eigh", np.array([[2, 1], [1, 3]], dtype=np.int32))
    assert values.dtype == vectors.dtype == np.float64
