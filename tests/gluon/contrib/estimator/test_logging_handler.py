"""LoggingHandler: arguments, and lines that the golden runs do not show."""

from typing import Any

import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError
from gluonish.gluon.contrib import estimator as module
from gluonish.gluon.contrib.estimator import BatchProcessor, LoggingHandler
from tests.golden.estimator_runs import loader, make


@pytest.mark.parametrize("interval", ["batch", 0, -1, 1.5, None])
def test_wrong_interval_is_refused(interval: Any) -> None:
    with pytest.raises(ArgumentError, match="expected log_interval 'epoch' or an integer of at l"):
        LoggingHandler(interval)


@pytest.mark.parametrize("metrics", [3, ["acc"]])
def test_wrong_metrics_are_refused(metrics: Any) -> None:
    with pytest.raises(ArgumentError, match="LoggingHandler: expected"):
        LoggingHandler(metrics=metrics)


def test_handler_without_metrics_announces_epochs_and_shows_times() -> None:
    # MXNet 1.9.1 announces a validation.
    estimator, lines = make(mx, module)
    estimator.fit(loader(mx, 8), epochs=1, event_handlers=[LoggingHandler(1)])
    assert lines == [
        "Training begin: using optimizer SGD with current learning rate 0.1000 ",
        "Train for 1 epochs.",
        "[Epoch 0] Begin, current learning rate: 0.1000",
        "[Epoch 0][Batch 0][Samples 4] time/interval: <time>",
        "[Epoch 0][Batch 1][Samples 8] time/interval: <time>",
        "[Epoch 0] Finished in <time>",
        "Train finished <time> with 1 epochs.",
    ]


def test_batches_of_another_kind_are_logged() -> None:
    class Named(mx.gluon.data.DataLoader):
        def __iter__(self) -> Any:
            for x, y in super().__iter__():
                yield {"data": x, "label": y}

    class Processor(BatchProcessor):
        def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> Any:
            pair = [train_batch["data"], train_batch["label"]]
            return super().fit_batch(estimator, pair, batch_axis)

    estimator, lines = make(mx, module, batch_processor=Processor())
    data = loader(mx, 4)
    estimator.fit(Named(data._dataset, 4), epochs=1, event_handlers=[LoggingHandler(1)])
    assert "[Epoch 0][Batch 0][Samples 0] time/interval: <time>" in lines


def test_handler_starts_anew_with_each_training() -> None:
    estimator, lines = make(mx, module)
    handler = LoggingHandler(1)
    for _ in range(2):
        estimator.fit(loader(mx, 4), epochs=1, event_handlers=[handler])
    assert sum("[Epoch 0][Batch 0][Samples 4]" in line for line in lines) == 2
