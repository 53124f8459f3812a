import pytest

from gluonish import nd
from gluonish.core.errors import ArgumentError
from gluonish.mxnet_names.unlisted.confusion import BinaryClassificationMetrics

SCORES = nd.array([[0.1, 0.9], [0.2, 0.8], [0.7, 0.3], [0.4, 0.6], [0.3, 0.7]])


def test_counts_and_what_follows_from_them() -> None:
    counts = BinaryClassificationMetrics()
    assert (counts.fscore, counts.matthewscc(), counts.total_examples) == (0, 0, 0)
    counts.update_binary_stats(nd.array([0, 1, 1, 1, 1]), SCORES)
    found = (counts.true_positives, counts.false_negatives, counts.false_positives)
    assert (*found, counts.true_negatives) == (3, 1, 1, 0)
    assert counts.precision == counts.recall == counts.fscore == 0.75
    assert counts.matthewscc() == pytest.approx(-0.25)  # (3 * 0 - 1 * 1) / sqrt(4 * 4 * 1 * 1)
    counts.reset_stats()
    assert (counts.total_examples, counts.global_total_examples) == (0, 5)
    assert counts.global_fscore == counts.global_precision == counts.global_recall == 0.75
    assert counts.matthewscc(use_global=True) == pytest.approx(-0.25)
    counts.reset()
    assert counts.global_total_examples == 0


def test_three_classes_are_refused() -> None:
    with pytest.raises(ArgumentError, match="binary classification"):
        BinaryClassificationMetrics().update_binary_stats(nd.array([0, 1, 2, 0, 0]), SCORES)
