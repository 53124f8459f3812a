"""StoppingHandler and EarlyStoppingHandler: monitors, modes and what they say."""

from typing import Any

import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError
from gluonish.gluon.contrib import estimator as module
from gluonish.gluon.contrib.estimator import EarlyStoppingHandler, StoppingHandler
from tests.golden.estimator_runs import loader, make


def series(values: list[float]) -> Any:
    """Return a metric with the given values, one after the other."""
    metric = mx.metric.Loss(name="fake")
    left = iter(values)
    current = {"value": 0.0}

    def reset() -> None:
        current["value"] = next(left)

    metric.reset = reset  # type: ignore[method-assign]
    metric.get = lambda: ("fake", current["value"])  # type: ignore[method-assign]
    return metric


def stopped(values: list[float], **options: Any) -> tuple[EarlyStoppingHandler, list[str]]:
    """Return a handler after a training that it watched, and the lines."""
    estimator, lines = make(mx, module)
    metric = series(values)
    estimator.train_metrics.append(metric)
    handler = EarlyStoppingHandler(metric, **options)
    estimator.fit(loader(mx, 4), epochs=len(values), event_handlers=[handler])
    return handler, lines


def test_training_ends_and_says_why() -> None:
    handler, lines = stopped([3, 2, 2, 1], mode="min")
    assert handler.stopped_epoch == 2
    assert "[Epoch 2] EarlyStoppingHandler: early stopping due to fake not improving" in lines


def test_end_in_the_first_epoch_is_said_too() -> None:
    # MXNet 1.9.1 says nothing then.
    _, lines = stopped([1, 9], mode="max", baseline=2)
    assert "[Epoch 0] EarlyStoppingHandler: early stopping due to fake not improving" in lines


def test_improving_metric_trains_to_the_end() -> None:
    handler, lines = stopped([1, 2, 3], mode="max")
    assert not handler.stop_training
    assert not [line for line in lines if "EarlyStopping" in line]


def test_handler_can_watch_a_second_training() -> None:
    estimator, _ = make(mx, module)
    metric = series([1, 1, 1, 2, 3])
    estimator.train_metrics.append(metric)
    handler = EarlyStoppingHandler(metric, mode="max")
    estimator.fit(loader(mx, 4), epochs=2, event_handlers=[handler])
    assert handler.stop_training
    estimator.fit(loader(mx, 4), epochs=3, event_handlers=[handler])
    assert not handler.stop_training
    assert handler.best == 3


def test_auto_mode_takes_a_higher_value_as_better_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="assuming that a higher loss is better; pass mode='min'"):
        handler = EarlyStoppingHandler(mx.metric.Loss())
    assert handler.monitor_op(2, 1)


@pytest.mark.parametrize(("mode", "better"), [("min", 0), ("max", 2)])
def test_mode_says_which_value_is_better(mode: str, better: float) -> None:
    handler = EarlyStoppingHandler(mx.metric.Loss(), mode=mode)
    assert handler.monitor_op(better, 1)
    assert not handler.monitor_op(1, 1)


def test_unknown_mode_is_taken_as_auto_with_a_warning() -> None:
    with pytest.warns() as caught:
        EarlyStoppingHandler(mx.metric.Loss(), mode="best")
    assert [w.category for w in caught] == [RuntimeWarning, UserWarning]
    assert "expected mode 'auto', 'min' or 'max', got 'best'" in str(caught[0].message)


def test_metric_without_a_value_warns() -> None:
    with (
        pytest.warns(RuntimeWarning, match="expected a value of fake, got NaN"),
        pytest.warns(UserWarning, match="expected a finite training loss, got nan"),
    ):
        handler, _ = stopped([float("nan"), 1], mode="max")
    assert handler.current_epoch == 2


@pytest.mark.parametrize("monitor", [None, "acc", mx.metric.CompositeEvalMetric(["acc"])])
def test_monitor_that_is_no_single_metric_is_refused(monitor: Any) -> None:
    with pytest.raises(ArgumentError, match="EarlyStoppingHandler: expected monitor to be one"):
        EarlyStoppingHandler(monitor)


def test_fit_replaces_what_a_stopping_handler_was_given() -> None:
    estimator, _ = make(mx, module)
    handler = StoppingHandler(max_epoch=1, max_batch=1)
    estimator.fit(loader(mx), epochs=2, event_handlers=[handler])
    assert (handler.current_epoch, handler.current_batch) == (2, 6)
    assert handler.max_batch is None
