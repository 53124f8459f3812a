"""`gluon.metric` against NumPy and SciPy-like formulas; values were compared with MXNet 2.0.0b1."""

import math
from typing import Any

import numpy
import pytest

from gluonish import gluon, metric
from gluonish import numpy as np
from gluonish.core.errors import ArgumentError, ArgumentTypeError

_DRAW = numpy.random.RandomState(3)
# Batches of different sizes, so that means over batches and over samples differ.
LABELS = [_DRAW.rand(5, 3).astype("float32"), _DRAW.rand(2, 3).astype("float32")]
PREDS = [_DRAW.rand(5, 3).astype("float32"), _DRAW.rand(2, 3).astype("float32")]
CLASSES = [_DRAW.randint(0, 3, 6), _DRAW.randint(0, 3, 4)]
SCORES = [_DRAW.rand(6, 3).astype("float32"), _DRAW.rand(4, 3).astype("float32")]
BINARY = [_DRAW.randint(0, 2, 6), _DRAW.randint(0, 2, 4)]
CHANCES = [_DRAW.rand(6).astype("float32"), _DRAW.rand(4).astype("float32")]


def value(found: Any, labels: list[Any], preds: list[Any]) -> Any:
    for label, pred in zip(labels, preds, strict=True):
        found.update(np.array(label, dtype=label.dtype), np.array(pred, dtype=pred.dtype))
    return found.get()[1]


def joined(arrays: list[Any]) -> Any:
    return numpy.concatenate(arrays).astype("float64")


def test_errors_are_averaged_over_samples() -> None:
    difference = joined(LABELS) - joined(PREDS)
    assert value(gluon.metric.MAE(), LABELS, PREDS) == pytest.approx(numpy.abs(difference).mean())
    square = (difference**2).mean()
    assert value(gluon.metric.MSE(), LABELS, PREDS) == pytest.approx(square)
    assert value(gluon.metric.RMSE(), LABELS, PREDS) == pytest.approx(math.sqrt(square))


def test_metric_of_1_9_averages_over_batches() -> None:
    means = [numpy.abs(a - b).mean() for a, b in zip(LABELS, PREDS, strict=True)]
    assert value(metric.MAE(), LABELS, PREDS) == pytest.approx(numpy.mean(means))


def test_pearson_correlation_of_all_elements() -> None:
    expected = numpy.corrcoef(joined(LABELS).ravel(), joined(PREDS).ravel())[0, 1]
    found = value(gluon.metric.PearsonCorrelation(), LABELS, PREDS)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_mean_pairwise_distance(p: int) -> None:
    norms = numpy.linalg.norm(joined(LABELS) - joined(PREDS), ord=p, axis=1)
    found = value(gluon.metric.MeanPairwiseDistance(p=p), LABELS, PREDS)
    assert found == pytest.approx(norms.mean())


def test_mean_cosine_similarity() -> None:
    a, b = joined(LABELS), joined(PREDS)
    cosines = (a * b).sum(1) / numpy.linalg.norm(a, axis=1) / numpy.linalg.norm(b, axis=1)
    found = value(gluon.metric.MeanCosineSimilarity(), LABELS, PREDS)
    assert found == pytest.approx(cosines.mean())


@pytest.mark.parametrize("ignored", [None, 1])
@pytest.mark.parametrize("from_logits", [False, True])
def test_cross_entropy_and_perplexity(ignored: int | None, from_logits: bool) -> None:
    scores, classes = joined(SCORES), numpy.concatenate(CLASSES)
    if from_logits:
        scores = numpy.exp(scores) / numpy.exp(scores).sum(1, keepdims=True)
    costs = -numpy.log(scores[numpy.arange(10), classes])
    expected = costs[classes != ignored].mean()
    how: dict[str, Any] = {"ignore_label": ignored, "from_logits": from_logits}
    found = value(gluon.metric.CrossEntropy(**how), CLASSES, SCORES)
    assert found == pytest.approx(expected)
    found = value(gluon.metric.Perplexity(**how), CLASSES, SCORES)
    assert found == pytest.approx(math.exp(expected))


def counts(expected: Any, found: Any) -> tuple[float, float, float, float]:
    pairs = ((1, 1), (0, 1), (1, 0), (0, 0))
    return tuple(float(((expected == a) & (found == b)).sum()) for a, b in pairs)  # type: ignore[return-value]  # four


def test_binary_metrics_with_a_threshold() -> None:
    labels, above = numpy.concatenate(BINARY), numpy.concatenate(CHANCES) > 0.3
    right, wrong, missed, negative = counts(labels, above)
    found = value(gluon.metric.F1(threshold=0.3), BINARY, CHANCES)
    assert found == pytest.approx(2 * right / (2 * right + wrong + missed))
    found = value(gluon.metric.Fbeta(beta=2, threshold=0.3), BINARY, CHANCES)
    assert found == pytest.approx(5 * right / (5 * right + 4 * missed + wrong))
    found = value(gluon.metric.BinaryAccuracy(threshold=0.3), BINARY, CHANCES)
    assert found == pytest.approx((right + negative) / 10)


def test_two_columns_predict_by_the_second() -> None:
    columns = [numpy.stack([1 - x, x], 1) for x in CHANCES]
    right, wrong, missed, negative = counts(
        numpy.concatenate(BINARY), numpy.concatenate(CHANCES) > 0.5
    )
    spread = (right + wrong) * (right + missed) * (negative + wrong) * (negative + missed)
    expected = (right * negative - wrong * missed) / math.sqrt(spread or 1)
    assert value(gluon.metric.MCC(), BINARY, columns) == pytest.approx(expected)


@pytest.mark.parametrize("average", ["micro", "macro", "binary"])
def test_f1_of_several_classes(average: str) -> None:
    classes, chosen = numpy.concatenate(CLASSES), joined(SCORES).argmax(1)
    each = numpy.array([counts(classes == k, chosen == k) for k in range(3)])
    if average == "micro":
        each = each.sum(0, keepdims=True)
    scores = 2 * each[:, 0] / numpy.maximum(2 * each[:, 0] + each[:, 1] + each[:, 2], 1)
    found = value(gluon.metric.F1(class_type="multiclass", average=average), CLASSES, SCORES)
    if average == "binary":
        assert found.asnumpy() == pytest.approx(scores)
    else:
        assert found == pytest.approx(scores.mean())


def test_reset_local_keeps_the_global_value() -> None:
    f1 = gluon.metric.F1()
    first = value(f1, BINARY[:1], CHANCES[:1])
    f1.reset_local()
    assert math.isnan(f1.get()[1])
    assert f1.get_global()[1] == pytest.approx(first)


def test_labels_of_a_third_class_are_refused() -> None:
    f1 = gluon.metric.F1()
    f1.update(np.array([0, 2]), np.array([0.1, 0.9]))
    with pytest.raises(ArgumentError, match=r"^F1: expected labels 0 and 1, got 1 others"):
        f1.get()


def test_create_finds_the_classes_of_2_0() -> None:
    assert type(gluon.metric.create("f1")) is gluon.metric.F1
    assert type(gluon.metric.create("binaryaccuracy")) is gluon.metric.BinaryAccuracy
    assert type(gluon.metric.create("acc")) is metric.Accuracy
    assert type(metric.create("f1")) is metric.F1
    names, values = gluon.metric.create(["mae", "pearsonr"]).get()
    assert names == ["mae", "pearsonr"]
    assert all(map(math.isnan, values))


def test_a_user_s_class_takes_precedence() -> None:
    class MeanPairwiseDistance(gluon.metric.EvalMetric):
        def __init__(self) -> None:
            super().__init__("mine")

    kept = dict(gluon.metric.composite._CLASSES)
    try:
        gluon.metric.register(MeanPairwiseDistance)
        assert type(gluon.metric.create("meanpairwisedistance")) is MeanPairwiseDistance
    finally:
        gluon.metric.composite._CLASSES.update(kept)


def test_predict_with_threshold_and_one_hot() -> None:
    scores = np.array([[0.2, 0.7], [0.6, 0.4]])
    above = gluon.metric.predict_with_threshold(scores, np.array([0.5, 0.5]))
    assert above.tolist() == [[False, True], [True, False]]
    with pytest.raises(ArgumentTypeError, match="threshold as a number or an array, got list"):
        gluon.metric.predict_with_threshold(scores, [0.5])
    found = gluon.metric.one_hot(np.array([0, 2]), 3)
    assert found.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert found.dtype == "int32"
