import math

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import metric
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.metric import Accuracy, EvalMetric, check_label_shapes


class Counting(EvalMetric):
    """As a user's program defines one: it keeps no global sums."""

    def __init__(self, step: int = 1) -> None:
        super().__init__("counting", step=step)
        self.step = step

    def update(self, labels: object, preds: object) -> None:
        self.sum_metric += self.step
        self.num_inst += 1


def test_value_is_nan_before_any_batch() -> None:
    name, value = Accuracy().get()
    assert name == "accuracy"
    assert math.isnan(value)
    assert math.isnan(Accuracy().get_global()[1])


def test_local_and_global_sums() -> None:
    measured = Accuracy()
    measured.update([nd.array([0, 1])], [nd.array([0, 1])])
    measured.reset_local()
    assert math.isnan(measured.get()[1])
    measured.update([nd.array([0, 1])], [nd.array([1, 1])])
    assert measured.get_name_value() == [("accuracy", 0.5)]
    assert measured.get_global_name_value() == [("accuracy", 0.75)]
    measured.reset()
    assert math.isnan(measured.get_global()[1])


def test_metric_without_global_sums_gives_its_local_value() -> None:
    measured = Counting(3)
    measured.update(None, None)
    assert measured.get() == measured.get_global() == ("counting", 3.0)
    assert measured.get_config() == {
        "step": 3,
        "metric": "Counting",
        "name": "counting",
        "output_names": None,
        "label_names": None,
    }
    assert str(measured) == "EvalMetric: {'counting': 3.0}"


def test_registered_metric_is_created_by_name() -> None:
    metric.alias("count_me")(metric.register(Counting))
    assert metric.create("counting", step=2).step == 2  # type: ignore[attr-defined]
    assert isinstance(metric.create("count_me"), Counting)


def test_base_without_update_is_refused() -> None:
    with pytest.raises(NotSupportedError, match="update"):
        EvalMetric("q").update(1, 2)


def test_update_dict_takes_the_named_arrays() -> None:
    measured = Accuracy(output_names=["o1"], label_names=["l1"])
    labels = {"l2": nd.array([5]), "l1": nd.array([0, 1])}
    preds = {"o1": nd.array([0, 1]), "o2": nd.array([3])}
    measured.update_dict(labels, preds)
    assert measured.get() == ("accuracy", 1.0)
    with pytest.raises(ArgumentError, match=r"'l1', got \['l2'\]"):
        measured.update_dict({"l2": labels["l2"]}, preds)


def test_update_dict_without_names_takes_all() -> None:
    measured = Accuracy()
    measured.update_dict({"a": nd.array([0, 1])}, {"b": nd.array([0, 0])})
    assert measured.get() == ("accuracy", 0.5)


def test_label_shapes_are_compared() -> None:
    with pytest.raises(ArgumentError, match="as many predictions as labels 1, got 2"):
        check_label_shapes([1], [1, 2])
    with pytest.raises(ArgumentError, match=r"labels' shape \(2,\), got \(1, 2\)"):
        check_label_shapes(nd.zeros((2,)), nd.zeros((1, 2)), shape=True)
    labels, preds = check_label_shapes(nd.zeros((2,)), nd.ones((2,)), wrap=True)
    assert isinstance(labels, list)
    assert len(preds) == 1
    assert check_label_shapes([1], [2]) == ([1], [2])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("acc", "Accuracy"),
        ("ce", "CrossEntropy"),
        ("nll_loss", "NegativeLogLikelihood"),
        ("pearsonr", "PearsonCorrelation"),
        ("composite", "CompositeEvalMetric"),
        ("mse", "MSE"),
        ("torch", "Torch"),
        ("caffe", "Caffe"),
    ],
)
def test_create_knows_mxnets_names(name: str, kind: str) -> None:
    assert type(metric.create(name)).__name__ == kind


@pytest.mark.parametrize("named", [3, None, Accuracy])
def test_create_refuses_other_types(named: object) -> None:
    with pytest.raises(ArgumentTypeError, match="expected a name"):
        metric.create(named)


def test_create_hands_arguments_on() -> None:
    assert metric.create("top_k_accuracy", top_k=4).name == "top_k_accuracy_4"
    assert metric.create('["accuracy", {"axis": 2}]').axis == 2  # type: ignore[attr-defined]
    measured = Accuracy()
    assert metric.create(measured) is measured


def test_sums_are_exact_over_many_batches() -> None:
    measured = metric.Loss()
    value = np.float32(16777216.0)
    for _ in range(3):
        measured.update(None, [nd.array([value])])
        measured.update(None, [nd.array([1.0])])
    assert measured.sum_metric == 3 * 16777216 + 3
