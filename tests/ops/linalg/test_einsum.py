"""einsum: subscripts in full, against NumPy, and gradients of what the golden cases leave out."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.ops.linalg.einsum import read_terms
from tests.checking.check_operator import check_operator

SHAPES: dict[str, list[tuple[int, ...]]] = {
    "ii,ij->j": [(3, 3), (3, 2)],
    "iij,ji->i": [(2, 2, 3), (3, 2)],
    "ij,ij->": [(2, 3), (2, 3)],
    "iii->i": [(2, 2, 2)],
    "ij,kk->ij": [(2, 3), (2, 2)],
    "...,i->...i": [(2, 3), (4,)],
    "...ij,j...->i...": [(4, 2, 3), (3, 4)],
    "ij,jk,ki": [(2, 3), (3, 4), (4, 2)],
    "ij,jk->ik": [(2, 1), (3, 2)],
    "ij,ij": [(1, 3), (2, 1)],
}


def test_ellipsis_and_output_are_written_out() -> None:
    terms = read_terms("...ij,jk", ((4, 2, 3), (3, 5)))
    assert terms.subscripts == "Aij,jk->Aik"
    assert terms.extents == {"A": 4, "i": 2, "j": 3, "k": 5}
    assert not terms.stretched


@pytest.mark.parametrize("subscripts", sorted(SHAPES))
def test_equals_numpy_and_gradients_hold(subscripts: str) -> None:
    random = np.random.default_rng(8)
    arrays = [random.standard_normal(shape) for shape in SHAPES[subscripts]]
    expected: Any = np.einsum(subscripts, *arrays)
    check_operator("_npi_einsum", arrays, {"subscripts": subscripts}, expected, half=False)


def test_half_precision_is_summed_in_float32() -> None:
    random = np.random.default_rng(9)
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in ((2, 3), (3, 4))]
    check_operator("_npi_einsum", arrays, {"subscripts": "ij,jk"}, differentiable=False)


def test_too_large_an_output_is_refused() -> None:
    with pytest.raises(OperatorError, match="einsum: expected an output of at most"):
        check_operator("_npi_einsum", [np.ones(2000)] * 4, {"subscripts": "a,b,c,d"})
