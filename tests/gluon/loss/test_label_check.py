"""Labels out of range in losses: a warning once, and an error while values are checked."""

import warnings
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import gluon, nd
from gluonish.engine import use_engine

SCORES = np.zeros((3, 3), dtype=np.float32)
WRONG = {
    "3 classes from 1": (np.array([1, 2, 3]), "got 3 at [2] (1 of 3", "subtract 1"),
    "padding": (np.array([0, 255, 255], dtype=np.uint8), "got 255 at [1]", "ignore_label=255"),
    "negative": (np.array([0, -1, 2], dtype=np.int32), "got -1 at [1]", "ignore_label=-1"),
    "floats": (np.array([0.0, 7.0, 9.0], np.float32), "got 7.0 at [1] (2 of 3", "has 3 outputs"),
    "nan": (np.array([0.0, np.nan, 1.0], np.float32), "got nan at [1]", "has 3 outputs"),
}


def found(loss: Any, *arrays: Any) -> list[str]:
    """Return the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loss(*[nd.array(x, dtype=x.dtype) for x in arrays]).wait_to_read()
    ours = [warning for warning in caught if warning.category is UserWarning]
    assert all(warning.filename == __file__ for warning in ours)
    return [str(warning.message) for warning in ours]


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("case", WRONG)
def test_labels_out_of_range_are_named_once(case: str, hybridized: bool) -> None:
    label, value, hint = WRONG[case]
    loss = gluon.loss.SoftmaxCELoss(prefix="loss_")
    loss.hybridize(hybridized)
    (message,) = found(loss, SCORES, label)
    assert message.startswith(f"SoftmaxCrossEntropyLoss loss: expected labels from 0 to 2, {value}")
    assert hint in message
    assert "MXNET_CHECK_VALUES=1" in message
    assert found(loss, SCORES, label) == []


@pytest.mark.parametrize("engine", ["NaiveEngine", "ThreadedEnginePerDevice"])
@pytest.mark.parametrize("hybridized", [False, True])
def test_they_are_errors_while_values_are_checked(hybridized: bool, engine: str) -> None:
    with use_engine(engine):
        loss = gluon.loss.SoftmaxCELoss(prefix="loss_")
        loss.hybridize(hybridized)
        scores, label = nd.array(SCORES), nd.array([0, 1, 5])
        for _ in range(2):
            with mx.check_values(), pytest.raises(IndexError) as caught:
                loss(scores, label)
            assert str(caught.value).startswith(
                "SoftmaxCrossEntropyLoss loss: expected labels from 0 to 2, got 5.0 at [2] (1 of 3 "
                "are out of range); "
            )
            assert "; at test_label_check.py:" in str(caught.value)


def test_good_labels_weights_and_probabilities_say_nothing() -> None:
    good = np.array([0, 1, 2], np.float32)
    assert found(gluon.loss.SoftmaxCELoss(), SCORES, good) == []
    weights = np.array([[1], [1], [0]], np.float32)
    masked = np.array([0, 1, -1], np.float32)
    assert found(gluon.loss.SoftmaxCELoss(), SCORES, masked, weights) == []
    assert found(gluon.loss.SoftmaxCELoss(sparse_label=False), SCORES, SCORES + 5) == []
    with mx.check_values():
        assert found(gluon.loss.SoftmaxCELoss(), SCORES, masked, weights) == []


def test_labels_of_a_subclass_may_mean_anything() -> None:
    class Masked(gluon.loss.SoftmaxCELoss):
        def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
            return super().hybrid_forward(F, pred, F.relu(label), sample_weight)

    assert found(Masked(), SCORES, np.array([0, 1, -1], np.float32)) == []


def test_other_axes() -> None:
    loss = gluon.loss.SoftmaxCELoss(axis=1)
    assert found(loss, np.zeros((2, 3, 4), np.float32), np.full((2, 4), 2, np.float32)) == []
    (message,) = found(loss, np.zeros((2, 3, 4), np.float32), np.full((2, 4), 3, np.float32))
    assert "expected labels from 0 to 2, got 3.0 at [0, 0]" in message


def test_later_calls_are_looked_at_every_16th_time() -> None:
    loss = gluon.loss.SoftmaxCELoss()
    good, bad = np.array([0, 1, 2], np.float32), np.array([0, 1, 3], np.float32)
    for _ in range(64):
        assert found(loss, SCORES, good) == []
    assert sum(len(found(loss, SCORES, bad)) for _ in range(16)) == 1


def test_a_label_that_is_computed_is_not_waited_for() -> None:
    loss = gluon.loss.SoftmaxCELoss()
    label = nd.array([0, 1, 3])
    label._var.active = -1  # as while a worker writes it
    try:
        assert loss._label_check.check(loss, nd.array(SCORES), label, -1) is None
    finally:
        label._var.active = 0
