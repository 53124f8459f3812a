import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import metric
from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.metric import CustomMetric


def off_by(label: np.ndarray, pred: np.ndarray) -> float:
    assert isinstance(label, np.ndarray)
    return float((pred - label).sum())


def test_function_sees_numpy_arrays() -> None:
    measured = CustomMetric(off_by)
    measured.update(nd.array([1, 2]), nd.array([2, 4]))
    measured.update([nd.array([1])], [nd.array([2])])
    assert measured.get() == ("off_by", 2.0)


def test_function_may_return_sum_and_count() -> None:
    measured = CustomMetric(lambda label, pred: (3.0, 2))
    measured.update([nd.array([1])], [nd.array([1])])
    assert measured.get() == ("custom(<lambda>)", 1.5)


def test_create_and_np_wrap_functions() -> None:
    assert isinstance(metric.create(off_by), CustomMetric)
    assert metric.np(off_by).name == "off_by"
    assert metric.np(off_by, "abc").name == "abc"


def test_extra_outputs_need_leave() -> None:
    labels, preds = [nd.array([1])], [nd.array([1]), nd.array([2])]
    with pytest.raises(ArgumentError, match="labels 1, got 2"):
        CustomMetric(off_by).update(labels, preds)
    measured = CustomMetric(off_by, allow_extra_outputs=True)
    measured.update(labels, preds)
    assert measured.num_inst == 1


def test_function_has_no_configuration() -> None:
    with pytest.raises(NotSupportedError, match="off_by"):
        CustomMetric(off_by).get_config()
