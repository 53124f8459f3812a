"""What a better value of a monitored metric is."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.metric import CompositeEvalMetric, EvalMetric

__all__ = ["Comparison", "check_monitor", "comparison", "worst"]

Comparison = Callable[[float, float], Any]


def check_monitor(owner: str, monitor: Any) -> EvalMetric:
    """Return the metric to monitor.

    Args:
        owner: Class that monitors it, for error messages.
        monitor: The metric.

    Raises:
        ArgumentError: It is not an EvalMetric, or it is a CompositeEvalMetric.
    """
    if not isinstance(monitor, EvalMetric) or isinstance(monitor, CompositeEvalMetric):
        raise ArgumentError(
            f"{owner}: expected monitor to be one metric, got {monitor!r}; take it from "
            "estimator.train_metrics or estimator.val_metrics"
        )
    return monitor


def comparison(owner: str, monitor: EvalMetric, mode: str) -> Comparison:
    """Return the function that says whether one value of a metric is better than another.

    Args:
        owner: Class that monitors the metric, for messages.
        monitor: The metric.
        mode: ``"min"``, ``"max"`` or ``"auto"``. As in MXNet 1.9, ``"auto"`` means ``"max"``, with
            a warning; any other text means ``"auto"``, with another warning.
    """
    if mode == "min":
        return np.less
    if mode not in ("auto", "max"):
        warnings.warn(
            f"{owner}: expected mode 'auto', 'min' or 'max', got {mode!r}; taken as 'auto'",
            RuntimeWarning,
            stacklevel=3,
        )
    if mode != "max":
        warnings.warn(
            f"{owner}: a higher {monitor.name} is taken as better; give mode='min' if a lower one "
            "is, or mode='max' to silence this",
            UserWarning,
            stacklevel=3,
        )
    return np.greater


def worst(better: Comparison) -> float:
    """Return the value that every other value is better than.

    Args:
        better: A function that `comparison` returned.
    """
    return math.inf if better is np.less else -math.inf
