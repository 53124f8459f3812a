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
    """Return a metric to monitor.

    Args:
        owner: Class that monitors it.
        monitor: The metric.

    Raises:
        ArgumentError: It is something else, or a composite one.
    """
    if not isinstance(monitor, EvalMetric) or isinstance(monitor, CompositeEvalMetric):
        raise ArgumentError(
            f"{owner}: expected monitor to be one metric, got {monitor!r}; take it from "
            "estimator.train_metrics or estimator.val_metrics"
        )
    return monitor


def comparison(owner: str, monitor: EvalMetric, mode: str) -> Comparison:
    """Return the comparison that says whether a value is better than another.

    Args:
        owner: Class that monitors the metric.
        monitor: The metric.
        mode: ``"min"``, ``"max"`` or ``"auto"``. The last is ``"max"`` with a warning, as in MXNet
            1.9; any other acts as it, with one more warning.
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
    """Return the value that every other is better than."""
    return math.inf if better is np.less else -math.inf
