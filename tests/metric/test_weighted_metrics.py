"""Weights of samples, averages and thresholds, as in scikit-learn and torchmetrics."""

import copy
import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import metric, nd
from gluonish.core.errors import ArgumentError

GOLDEN = Path(__file__).parents[1] / "golden" / "weighted_metrics.json.gz"
CASES = json.loads(gzip.decompress(GOLDEN.read_bytes()))
NAMES = sorted({case["metric"] for case in CASES})


def made(case: dict[str, Any]) -> Any:
    return getattr(metric, case["metric"])(**case["arguments"])


def cases(name: str) -> list[dict[str, Any]]:
    return [case for case in CASES if case["metric"] == name]


@pytest.mark.parametrize("name", NAMES)
def test_equals_the_other_library_in_batches_and_any_class_of_arrays(name: str) -> None:
    converters: list[Any] = [
        lambda x: nd.array(x, dtype="float64"),
        lambda x: mx.np.array(x, dtype="float64"),
        lambda x: [np.array(x)],
    ]
    for number, case in enumerate(cases(name)):
        convert, measured = converters[number % 3], made(case)
        for rows in (slice(0, 13), slice(13, None)):
            columns = [case["labels"][rows], case["preds"][rows]]
            if case["weights"] is not None:
                columns.append(case["weights"][rows])
            measured.update(*map(convert, columns))
        for found in (measured, copy.deepcopy(measured), pickle.loads(pickle.dumps(measured))):
            np.testing.assert_allclose(
                found.get()[1], case["value"], 1e-6, 1e-9, err_msg=str(case["arguments"])
            )


@pytest.mark.parametrize("name", NAMES)
def test_whole_weights_count_samples_again(name: str) -> None:
    case = next(c for c in cases(name) if c["weights"] and max(c["weights"]) == 2)
    weighted, again = made(case), made(case)
    columns = [np.array(case[key]) for key in ("labels", "preds", "weights")]
    weighted.update(*([x] for x in columns))
    again.update(*([np.repeat(x, columns[2], axis=0)] for x in columns[:2]))
    np.testing.assert_allclose(weighted.get()[1], again.get()[1], 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_batches_without_weights_have_weights_of_one(name: str) -> None:
    case = cases(name)[0]
    first, second = made(case), made(case)
    labels, preds = np.array(case["labels"]), np.array(case["preds"])
    first.update([labels[:9]], [preds[:9]])
    first.update([labels[9:]], [preds[9:]], [np.full(31, 3.0)])
    second.update([labels], [preds], [np.where(np.arange(40) < 9, 1, 3)])
    np.testing.assert_allclose(first.get()[1], second.get()[1], 1e-12)


def test_a_matrix_of_fractions_is_not_rounded() -> None:
    matrix = metric.ConfusionMatrix(2)
    labels = nd.array([0, 1])
    matrix.update(labels, labels, nd.array([2, 3]))
    assert matrix.get()[1].dtype == np.int64
    matrix.update(labels, labels, nd.array([0.5, 0.25]))
    assert matrix.get()[1].tolist() == [[2.5, 0], [0, 3.25]]


def test_pixels_have_weights() -> None:
    scores, labels = nd.array(np.eye(3)[[[0, 1], [2, 2]]]), nd.array([[0, 1], [1, 2]])
    iou = metric.MeanIoU(3, average=None, axis=2)
    iou.update(labels, scores, nd.array([[1, 2], [2, 0.5]]))
    np.testing.assert_allclose(iou.get()[1], [1, 0.5, 0.2])


def test_all_weights_of_zero_give_nan() -> None:
    for name in ("AUROC", "AveragePrecision"):
        measured = getattr(metric, name)()
        measured.update(nd.array([0, 1]), nd.array([0.1, 0.9]), nd.zeros(2))
        assert np.isnan(measured.get()[1])


def test_wrong_weights_and_thresholds_are_refused() -> None:
    labels, preds = nd.array([0, 1]), nd.array([0.1, 0.9])
    for name in ("AUROC", "AveragePrecision"):
        measured = getattr(metric, name)()
        with pytest.raises(
            ArgumentError, match=rf"{name}: expected a weight for each.*\[\(2,\)\].*\[\(3,\)\]"
        ):
            measured.update(labels, preds, nd.ones(3))
        with pytest.raises(ArgumentError, match="put one array of weights for each array of labe"):
            measured.update(labels, preds, [1, 1])
        for weight in (-1, float("inf"), float("nan")):
            measured.reset()
            measured.update(labels, preds, nd.array([1, weight]))
            message = f"expected finite weights of 0 or more, got {weight}"
            with pytest.raises(ArgumentError, match=message):
                measured.get()
        for wrong in (1, [0.5], [0.1, float("nan")], "x", 10**9):
            with pytest.raises(ArgumentError, match="expected thresholds None, a number of 2"):
                getattr(metric, name)(thresholds=wrong)
    with pytest.raises(ArgumentError, match="expected a weight for each sample of labels"):
        metric.ConfusionMatrix(2).update([labels, labels], [preds, preds], [nd.ones(2)])
    with pytest.raises(ArgumentError, match=r"weights of the labels' shape \(2, 2\), got \(2,\)"):
        metric.MeanIoU(2).update(nd.zeros((2, 2)), nd.zeros((2, 2)), nd.ones(2))
