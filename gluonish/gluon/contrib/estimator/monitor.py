"""The metric that decides on schedules, early stopping and the best checkpoint."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError, nearest
from gluonish.gluon.contrib.estimator.step_handlers import check_monitor
from gluonish.metric import (
    MAE,
    MSE,
    RMSE,
    CrossEntropy,
    EvalMetric,
    NegativeLogLikelihood,
    Perplexity,
)
from gluonish.metric import Loss as LossMetric

_ERRORS = (LossMetric, MAE, MSE, RMSE, CrossEntropy, NegativeLogLikelihood, Perplexity)


def monitored(monitor: Any, metrics: Sequence[EvalMetric]) -> EvalMetric:
    """Return the metric that ``monitor`` of `Estimator.fit` names.

    Args:
        monitor: A metric; or its name, with or without its first word, such as ``"training"``;
            None or ``"loss"`` for the first loss, or without a loss the first metric.
        metrics: The metrics that it may be; the first that fits is returned.

    Raises:
        ArgumentError: None of the metrics is it, or it is a composite.
    """
    if isinstance(monitor, EvalMetric):
        if not any(monitor is metric for metric in metrics):
            raise _unknown(monitor, metrics)
        return check_monitor("Estimator.fit", monitor)
    losses = [metric for metric in metrics if isinstance(metric, LossMetric)]
    if monitor is None:
        return check_monitor("Estimator.fit", [*losses, *metrics][0])
    found = [metric for metric in metrics if metric.name == monitor]
    found += [metric for metric in metrics if metric.name.partition(" ")[2] == monitor]
    found += losses if monitor == "loss" else []
    if not isinstance(monitor, str) or not found:
        raise _unknown(monitor, metrics)
    return check_monitor("Estimator.fit", found[0])


def _unknown(found: Any, metrics: Sequence[EvalMetric]) -> ArgumentError:
    names = [metric.name for metric in metrics]
    first = found.partition(" ")[0] if isinstance(found, str) else ""
    if found == "loss":
        advice = "; add mx.metric.Loss() to the metrics of the Estimator"
    elif first in ("validation", "average") and not any(x.startswith(first) for x in names):
        needed = "val_data" if first == "validation" else "average and val_data"
        advice = f"; its metrics of the {first} need {needed}"
    else:
        advice = nearest(found, [*names, *(x.partition(" ")[2] for x in names)])
    return ArgumentError(
        "Estimator.fit: expected monitor to be a metric of the Estimator, "
        f"{', '.join(map(repr, names))}, got {found!r}{advice}"
    )


def mode_of(metric: EvalMetric, mode: str | None) -> str:
    """Return ``"min"`` if lower values of a metric are better, else ``"max"``.

    Args:
        metric: The metric.
        mode: The answer, if the user gave it; None for ``"min"`` with losses and errors.
    """
    return mode or ("min" if isinstance(metric, _ERRORS) else "max")
