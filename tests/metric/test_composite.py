import math

import pytest

import gluonish.ndarray as nd
from gluonish import metric
from gluonish.core.errors import ArgumentError
from gluonish.metric import MSE, Accuracy, CompositeEvalMetric


def test_all_metrics_see_each_batch() -> None:
    measured = CompositeEvalMetric(["acc", MSE()])
    measured.add("mae")
    measured.update([nd.array([0, 1])], [nd.array([0, 2])])
    assert measured.get() == (["accuracy", "mse", "mae"], [0.5, 0.5, 0.5])
    assert measured.get_global() == measured.get()
    assert measured.get_name_value() == [("accuracy", 0.5), ("mse", 0.5), ("mae", 0.5)]
    measured.reset_local()
    assert all(math.isnan(value) for value in measured.get()[1])
    assert measured.get_global()[1] == [0.5, 0.5, 0.5]
    measured.reset()
    assert all(math.isnan(value) for value in measured.get_global()[1])


def test_list_makes_a_composite() -> None:
    measured = metric.create(["acc", Accuracy(name="second")])
    assert isinstance(measured, CompositeEvalMetric)
    assert [child.name for child in measured.metrics] == ["accuracy", "second"]
    assert str(measured) == "EvalMetric: {'accuracy': nan, 'second': nan}"


def test_empty_composite_has_no_values() -> None:
    assert CompositeEvalMetric().get() == ([], [])


def test_configuration_holds_those_of_the_metrics() -> None:
    config = CompositeEvalMetric(["acc"]).get_config()
    assert config["metrics"] == [Accuracy().get_config()]
    again = metric.create(config)
    assert again.get_config() == config


def test_metric_by_index() -> None:
    measured = CompositeEvalMetric(["acc"])
    assert measured.get_metric(0) is measured.metrics[0]
    with pytest.raises(ArgumentError, match="index below 1, got 7"):
        measured.get_metric(7)


def test_update_dict_gives_each_metric_its_arrays() -> None:
    measured = CompositeEvalMetric(
        [
            Accuracy(output_names=["o1"], label_names=["l1"]),
            MSE(output_names=["o2"], label_names=["l2"]),
        ]
    )
    measured.update_dict(
        {"l1": nd.array([0, 1]), "l2": nd.array([5])}, {"o1": nd.array([0, 1]), "o2": nd.array([3])}
    )
    assert measured.get() == (["accuracy", "mse"], [1.0, 4.0])


def test_names_of_the_composite_filter_first() -> None:
    measured = CompositeEvalMetric([Accuracy()], label_names=["l1"], output_names=["o1"])
    measured.update_dict(
        {"l1": nd.array([0, 1]), "l2": nd.array([5])}, {"o1": nd.array([0, 1]), "o2": nd.array([3])}
    )
    assert measured.get() == (["accuracy"], [1.0])
