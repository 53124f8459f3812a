import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import GluonishError
from gluonish.gluon import loss
from gluonish.gluon.loss import SigmoidBCELoss, SoftmaxCELoss


def test_short_names_are_the_same_classes() -> None:
    assert loss.SoftmaxCELoss is loss.SoftmaxCrossEntropyLoss
    assert loss.SigmoidBCELoss is loss.SigmoidBinaryCrossEntropyLoss


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_labels_may_have_any_dtype_and_a_last_axis(dtype: str) -> None:
    pred = nd.array([[1, 2, 3], [1, 0, 0]])
    flat = SoftmaxCELoss()(pred, nd.array([0, 2], dtype=dtype)).asnumpy()
    column = SoftmaxCELoss()(pred, nd.array([[0], [2]], dtype=dtype)).asnumpy()
    scores = pred.asnumpy()
    expected = np.log(np.exp(scores).sum(axis=1)) - scores[[0, 1], [0, 2]]
    np.testing.assert_allclose(flat, expected, rtol=1e-6)
    np.testing.assert_array_equal(column, flat)


def test_number_of_labels_must_fit() -> None:
    with pytest.raises(GluonishError, match=r"label .* row of pred \(3, 4\), got \(2,\)"):
        SoftmaxCELoss()(nd.zeros((3, 4)), nd.zeros((2,))).asnumpy()


def test_large_scores_do_not_overflow() -> None:
    scores = nd.array([[1e4, -1e4]])
    assert SoftmaxCELoss()(scores, nd.array([1])).asnumpy().tolist() == [2e4]
    binary = SigmoidBCELoss()(scores, nd.array([[0, 1]]))
    assert binary.asnumpy().tolist() == [1e4]


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_dtype_is_kept(dtype: str) -> None:
    pred = nd.ones((2, 3), dtype=dtype)
    assert SoftmaxCELoss()(pred, nd.array([0, 1])).dtype == np.dtype(dtype).type
