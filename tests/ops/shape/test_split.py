import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.errors import OperatorError
from tests.checking.values import run_operator


def test_gradient_of_an_empty_array_is_empty() -> None:
    x = nd.zeros((2, 0))
    x.attach_grad()
    with autograd.record():
        pieces = nd.split(x, num_outputs=2, axis=1)
    pieces[0].backward()
    assert x.grad.shape == (2, 0)


@pytest.mark.parametrize("indices", [(1, 3), (0, 4, 2)])
def test_indices_that_leave_elements_out_are_refused(indices: tuple[int, ...]) -> None:
    with pytest.raises(OperatorError, match="indices that begin at 0, ascend, and are at most 5"):
        run_operator("_split_v2", np.arange(5.0), indices=indices, axis=0)


def test_pieces_that_cannot_be_equal_differ_by_one() -> None:
    symbol = mx.sym.split_v2(mx.sym.var("a"), 3)
    for extent, expected in ((5, [2, 2, 1]), (7, [3, 2, 2]), (2, [1, 1, 0])):
        bound = symbol.bind(mx.cpu(), {"a": nd.arange(extent)}, {"a": nd.zeros(extent)})
        outputs = bound.forward(is_train=True)
        assert [y.size for y in outputs] == expected
        assert [x for y in outputs for x in y.asnumpy()] == list(range(extent))
        bound.backward([nd.full(y.shape, i) for i, y in enumerate(outputs)])
        assert bound.grad_arrays[0].asnumpy().tolist() == np.repeat([0, 1, 2], expected).tolist()


def test_functions_on_arrays_cut_equal_parts_only() -> None:
    for split in (lambda: nd.split_v2(nd.ones(5), 3), lambda: mx.np.split(mx.np.ones(5), 3)):
        with pytest.raises(ValueError, match="does not result in an equal division"):
            split()
    assert [y.shape for y in mx.np.hsplit(mx.np.ones((2, 3)), 2)] == [(2, 2), (2, 1)]
