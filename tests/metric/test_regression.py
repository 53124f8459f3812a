import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.metric import MAE, PearsonCorrelation


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"labels \(2,\), got \(3,\)"):
        MAE().update([nd.zeros((2,))], [nd.zeros((3,))])


def test_micro_correlation_is_that_of_all_elements() -> None:
    rng = np.random.default_rng(0)
    labels, preds = rng.normal(size=(3, 4)) + 5, rng.normal(size=(3, 4)) - 7
    measured = PearsonCorrelation(average="micro")
    for label, pred in zip(labels, preds, strict=True):
        measured.update([nd.array(label, dtype="float64")], [nd.array(pred, dtype="float64")])
    expected = np.corrcoef(labels.ravel(), preds.ravel())[0, 1]
    assert measured.get() == ("pearsonr", pytest.approx(expected))
    measured.reset()
    assert np.isnan(measured.get()[1])


def test_correlation_needs_equal_shapes() -> None:
    with pytest.raises(ArgumentError, match=r"shape \(2,\), got \(2, 1\)"):
        PearsonCorrelation().update([nd.zeros((2,))], [nd.zeros((2, 1))])
