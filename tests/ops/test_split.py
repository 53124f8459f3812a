import numpy as np
import pytest

import gluonish.ops.catalog  # noqa: F401  # registers every operator
from gluonish import autograd, nd
from gluonish.core.errors import OperatorError
from gluonish.testing import run_operator


def test_gradient_of_an_empty_array_is_empty() -> None:
    x = nd.zeros((2, 0))
    x.attach_grad()
    with autograd.record():
        pieces = nd.split(x, num_outputs=2, axis=1)
    pieces[0].backward()
    assert x.grad.shape == (2, 0)


@pytest.mark.parametrize("indices", [(1, 3), (0, 4, 2)])
def test_indices_that_leave_elements_out_are_refused(indices: tuple[int, ...]) -> None:
    with pytest.raises(OperatorError, match="expected ascending indices from 0 within 5"):
        run_operator("_split_v2", np.arange(5.0), indices=indices, axis=0)
