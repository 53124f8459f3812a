"""Ranking, confusion, detection, BLEU and R2, against the libraries that are used for them."""

import copy
import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import metric, nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError

GOLDEN = Path(__file__).parents[1] / "golden" / "training_metrics.json"
CASES = json.loads(GOLDEN.read_text("utf-8"))
NAMES = sorted({case["metric"] for case in CASES})
MINIMAL: dict[str, dict[str, Any]] = {
    name: {"num_classes": 3}
    if name in ("ConfusionMatrix", "MeanIoU", "TopKAccuracyPerClass")
    else {}
    for name in NAMES
}


def made(case: dict[str, Any]) -> Any:
    return getattr(metric, case["metric"])(**case["arguments"])


def arrays(case: dict[str, Any], batch: list[Any], way: str) -> tuple[Any, Any]:
    if case["metric"] == "BLEU":
        return batch[0], batch[1]
    convert = {
        "nd": lambda x: nd.array(x, dtype="float64"),
        "np": lambda x: mx.np.array(x, dtype="float64"),
        "lists": lambda x: np.array(x),
    }[way]
    label, pred = map(convert, batch)
    return ([label], [pred]) if way == "lists" else (label, pred)


def value_of(case: dict[str, Any]) -> Any:
    return np.array(case["value"], float)


@pytest.mark.parametrize("way", ["nd", "np", "lists"])
@pytest.mark.parametrize("name", NAMES)
def test_equals_the_other_library(name: str, way: str) -> None:
    for case in (case for case in CASES if case["metric"] == name):
        measured = made(case)
        for batch in case["batches"]:
            measured.update(*arrays(case, batch, way))
        said = str(case["arguments"])
        for _, found in (measured.get(), measured.get_global()):
            np.testing.assert_allclose(found, value_of(case), 1e-6, 1e-9, err_msg=said)


@pytest.mark.parametrize("name", NAMES)
def test_one_update_equals_several_and_local_is_the_last(name: str) -> None:
    case = next(case for case in CASES if case["metric"] == name)
    first, second = (arrays(case, batch, "lists") for batch in case["batches"])
    whole, parts, last = (made(case) for _ in range(3))
    whole.update(first[0] + second[0], first[1] + second[1])
    parts.update(*first)
    parts.reset_local()
    parts.update(*second)
    last.update(*second)
    for copied in (parts, copy.deepcopy(parts), pickle.loads(pickle.dumps(parts))):
        np.testing.assert_allclose(copied.get()[1], last.get()[1], 1e-12)
        np.testing.assert_allclose(copied.get_global()[1], whole.get()[1], 1e-12)
        assert copied.num_inst == last.num_inst
    parts.reset()
    parts.update(*second)
    np.testing.assert_allclose(parts.get_global()[1], last.get()[1], 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_is_nan_without_a_batch_and_created_from_its_configuration(name: str) -> None:
    for module in (metric, mx.gluon.metric):
        measured = getattr(module, name)(**MINIMAL[name])
        assert np.isnan(measured.get()[1]).all()
        assert np.isnan(measured.get_global()[1]).all()
        other = module.create(json.dumps(measured.get_config()))
        assert type(other) is type(measured)
        assert other.get_config() == measured.get_config()


def test_stored_samples_are_copies() -> None:
    measured, label, pred = metric.AUROC(), nd.array([0, 1]), nd.array([0.2, 0.8])
    measured.update(label, pred)
    pred[:] = 0
    assert measured.get()[1] == 1


def test_many_samples_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gluonish.metric.samples._MAX_STORED", 3)
    measured = metric.AUROC()
    for score in (0.2, 0.8):
        measured.update(nd.array([0, 1]), nd.array([0.5, score]))
    assert all(isinstance(x, np.ndarray) for pair in measured._samples for x in pair)
    assert measured.get() == ("auroc", 0.5)


def test_scores_that_are_all_equal_tell_nothing() -> None:
    measured, precision = metric.AUROC(), metric.AveragePrecision()
    for each in (measured, precision):
        each.update(nd.array([0, 1, 1, 0, 0]), nd.ones((5,)))
    assert measured.get()[1] == 0.5
    assert precision.get()[1] == pytest.approx(2 / 5)


def test_one_class_alone_has_no_curve() -> None:
    measured = metric.AUROC()
    measured.update(nd.array([1, 1]), nd.array([0.5, 0.2]))
    assert math.isnan(measured.get()[1])


def test_constant_labels_have_no_r2() -> None:
    measured = metric.RSquared()
    measured.update(nd.array([2, 2]), nd.array([1, 2]))
    assert math.isnan(measured.get()[1])


def test_ids_are_tokens() -> None:
    measured, words = metric.BLEU(max_n=2), metric.BLEU(max_n=2)
    measured.update([[nd.array([3, 1, 2]), [3, 1]]], [np.array([3, 1, 1])])
    words.update([["c a b", "c a"]], ["c a a"])
    assert measured.get() == words.get()
    words.reset()
    words.update(["c a b"], ["c a b"])
    assert words.get() == ("bleu", 1.0)


def test_an_image_without_boxes() -> None:
    measured = metric.MeanAveragePrecision()
    measured.update(nd.full((1, 2, 5), -1), nd.full((1, 3, 6), -1))
    assert math.isnan(measured.get()[1])
    measured.update(nd.array([[0, 0, 0, 1, 1]]), nd.array([[0, 0.5, 0, 0, 1, 1]]))
    assert measured.get() == ("map", pytest.approx(1.0))


WRONG_ARGUMENTS: list[tuple[str, dict[str, Any], str]] = [
    (
        "AUROC",
        {"average": "mean"},
        "AUROC: expected average 'macro', 'micro', 'weighted' or None, got 'mean'",
    ),
    ("AveragePrecision", {"average": 1}, "AveragePrecision: expected average"),
    ("ConfusionMatrix", {"num_classes": 0}, "num_classes"),
    ("ConfusionMatrix", {"num_classes": 2, "normalize": "rows"}, "normalize .* got 'rows'"),
    ("MeanIoU", {"num_classes": 2, "average": "x"}, "MeanIoU: expected average"),
    ("TopKAccuracyPerClass", {"num_classes": 2, "top_k": 3}, "at most num_classes=2, got 3"),
    ("MeanAveragePrecision", {"iou_thresholds": [0.5, 1.5]}, r"iou_thresholds in \(0, 1\]"),
    ("MeanAveragePrecision", {"iou_thresholds": []}, r"iou_thresholds in \(0, 1\]"),
    ("MeanAveragePrecision", {"max_detections": 0}, "max_detections"),
    ("BLEU", {"max_n": 0}, "max_n"),
    ("BLEU", {"smoothing": "exponential"}, "expected smoothing .* got 'exponential'"),
    ("BLEU", {"smoothing": "floor", "smoothing_value": -1}, "smoothing_value of at least 0"),
]


@pytest.mark.parametrize("case", WRONG_ARGUMENTS, ids=str)
def test_arguments_out_of_range_are_refused(case: tuple[str, dict[str, Any], str]) -> None:
    name, arguments, message = case
    with pytest.raises(ArgumentError, match=message):
        getattr(metric, name)(**arguments)


WRONG_SHAPES: list[tuple[str, tuple[int, ...], tuple[int, ...], str]] = [
    ("AUROC", (4,), (3,), r"expected scores \(4,\) or \(4, classes\) .* got \(3,\)"),
    ("AveragePrecision", (4,), (4, 2, 2), r"got \(4, 2, 2\)"),
    ("ConfusionMatrix", (4,), (4, 2), r"with 3 classes on axis 1, got \(4, 2\)"),
    ("MeanIoU", (1, 2, 2), (1, 3, 2, 1), r"labels' shape \(1, 2, 2\)"),
    ("TopKAccuracyPerClass", (4,), (4, 2), r"expected scores \(4, 3\), got \(4, 2\)"),
    ("MeanAveragePrecision", (1, 2, 5), (1, 2, 5), "of class, score and corners"),
    ("MeanAveragePrecision", (2, 2, 5), (1, 2, 6), "of class, score and corners"),
    ("R2", (3,), (4,), r"labels' shape \(3,\), got \(4,\)"),
]


@pytest.mark.parametrize("case", WRONG_SHAPES, ids=str)
def test_shapes_that_do_not_fit_are_refused(case: tuple[str, Any, Any, str]) -> None:
    name, label, pred, message = case
    measured = getattr(metric, name)(**MINIMAL[name])
    with pytest.raises(ArgumentError, match=message):
        measured.update([nd.zeros(label)], [nd.zeros(pred)])


def test_classes_of_earlier_batches_must_be_the_same() -> None:
    measured = metric.AUROC()
    measured.update(nd.zeros((4,)), nd.zeros((4, 3)))
    with pytest.raises(ArgumentError, match=r"\(N, 3\) as in earlier batches, got \(4, 5\)"):
        measured.update(nd.zeros((4,)), nd.zeros((4, 5)))


def test_values_out_of_range_are_refused_when_read() -> None:
    scores = nd.zeros((2, 3))
    for name in ("ConfusionMatrix", "MeanIoU", "TopKAccuracyPerClass"):
        measured = getattr(metric, name)(num_classes=3)
        measured.update(nd.array([0, 3]), scores)
        with pytest.raises(ArgumentError, match=r"in \[0, 3\), got 1 others"):
            measured.get()
    for name in ("AUROC", "AveragePrecision"):
        measured = getattr(metric, name)()
        measured.update(nd.array([0, -1]), scores)
        with pytest.raises(ArgumentError, match=r"labels in \[0, 3\), got -1"):
            measured.get()
        measured.reset()
        measured.update(nd.array([0, 1]), nd.array([0, math.nan]))
        with pytest.raises(ArgumentError, match="expected scores, got NaN"):
            measured.get()


def test_sentences_that_are_none_are_refused() -> None:
    measured = metric.BLEU()
    with pytest.raises(ArgumentTypeError, match="labels as a list of sentences, got the string"):
        measured.update("a b", ["a b"])
    with pytest.raises(ArgumentTypeError, match="sentence as a string or a sequence of tokens"):
        measured.update([[3]], ["a b"])
    with pytest.raises(ArgumentError, match=r"as labels \(1\), got 2"):
        measured.update([["a"]], ["a", "b"])
    with pytest.raises(ArgumentError, match="one or more references, got none"):
        measured.update([[]], ["a"])


@pytest.mark.parametrize("name", ["AUROC", "AveragePrecision"])
def test_class_indices_and_independent_classes_do_not_mix(name: str) -> None:
    scores = nd.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])
    indices, flags = nd.array([0, 2]), nd.array([[0, 1, 0], [1, 1, 0]])
    for first, second, form in ((indices, flags, "class indices"), (flags, indices, "0 and 1")):
        measured = getattr(metric, name)()
        measured.update(first, scores)
        with pytest.raises(ArgumentError, match=f"expected labels of {form}.* as in earlier"):
            measured.update(second, scores)


def test_detections_without_a_number_are_refused() -> None:
    measured = metric.MeanAveragePrecision()
    boxes = nd.array([[[0, 0, 0, 1, 1]]])
    measured.update(boxes, nd.array([[[0, math.nan, 0, 0, 1, 1]]]))
    with pytest.raises(ArgumentError, match="expected scores and corners, got NaN"):
        measured.get()
