"""Training loops in small that call every callback; run by MXNet and by gluonish alike."""

import contextlib
import logging
from collections.abc import Iterator
from typing import Any
from unittest import mock

SETTINGS: tuple[dict[str, Any], ...] = (
    {"frequent": 2},
    {"frequent": 3, "auto_reset": False},
    {"frequent": 1},
)


@contextlib.contextmanager
def logged() -> Iterator[list[str]]:
    """Give the list that lines of the root logger are put into."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(  # type: ignore[method-assign]
        f"{record.levelname} {record.name} {record.getMessage()}"
    )
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    try:
        yield lines
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def metric_of(mx: Any) -> Any:
    """Return two metrics as one."""
    return mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.CrossEntropy()])


def update(mx: Any, metric: Any, number: int) -> None:
    """Show a batch to the metrics, which differs with its number."""
    preds = [[0.9, 0.1], [0.6, 0.4], [0.2 + 0.1 * number, 0.8 - 0.1 * number]]
    metric.update([mx.nd.array([0, 1, 1])], [mx.nd.array(preds)])


def run(mx: Any, callback: Any, param: Any) -> dict[str, list[str]]:
    """Return the lines of each loop.

    Args:
        mx: The package.
        callback: Its module of callbacks.
        param: Its BatchEndParam.
    """
    found: dict[str, list[str]] = {}
    with mock.patch.object(callback, "time") as clock:
        for number, settings in enumerate(SETTINGS):
            now = iter(range(100, 10_000))
            clock.time = lambda now=now: next(now)
            found[f"speed {number}"] = speed(mx, callback, param, settings)
    found["other"] = others(mx, callback, param)
    return found


def speed(mx: Any, callback: Any, param: Any, settings: dict[str, Any]) -> list[str]:
    """Return what a Speedometer logs in two epochs, and without a metric."""
    metric = metric_of(mx)
    meter = callback.Speedometer(10, **settings)
    with logged() as lines:
        for epoch in range(2):
            metric.reset()
            for number in range(7):
                update(mx, metric, number)
                meter(param(epoch, number, metric, None))
                lines.append(f"local {metric.get()[1][0]:.6f} all {metric.get_global()[1][0]:.6f}")
        for number in range(5):
            meter(param(2, number, None, None))
    return lines


def others(mx: Any, callback: Any, param: Any) -> list[str]:
    """Return what the other callbacks log."""
    metric = metric_of(mx)
    with logged() as lines:
        for auto_reset in (False, True):
            log = callback.log_train_metric(2, auto_reset)
            metric.reset()
            for number in range(5):
                update(mx, metric, number)
                log(param(3, number, metric, None))
                lines.append(f"local {metric.get()[1][0]:.6f} all {metric.get_global()[1][0]:.6f}")
            log(param(3, 0, None, None))
        update(mx, metric, 1)
        callback.LogValidationMetricsCallback()(param(4, 7, metric, None))
        callback.LogValidationMetricsCallback()(param(4, 7, None, None))
        for total, length in ((7, 20), (16, 8), (3, 5)):
            bar = callback.ProgressBar(total, length)
            for number in range(total + 2):
                bar(param(0, number, None, None))
    return lines
