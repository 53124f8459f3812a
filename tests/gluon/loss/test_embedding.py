import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.gluon.loss import CosineEmbeddingLoss, SDMLLoss
from gluonish.symbol import var


def test_zero_vectors_have_cosine_zero() -> None:
    zeros = nd.zeros((2, 3))
    result = CosineEmbeddingLoss()(zeros, zeros, nd.array([1, -1]))
    assert result.asnumpy().tolist() == [[1], [0]]


def test_smoothed_metric_learning_needs_arrays() -> None:
    with pytest.raises(NotSupportedError, match="do not hybridize"):
        SDMLLoss()(var("a"), var("b"))


def test_vectors_that_are_not_in_pairs_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"shape \(N, D\), got \(1, 3\) and \(2, 3\)"):
        SDMLLoss()(nd.ones((1, 3)), nd.ones((2, 3)))
