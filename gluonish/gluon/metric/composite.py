"""Creation of the metrics of MXNet 2.0 by name, and several in one."""

from collections.abc import Sequence
from typing import Any, TypeVar

import gluonish.metric as metrics
from gluonish.gluon.metric import classes, distances, likelihood
from gluonish.metric import EvalMetric

__all__ = ["CompositeEvalMetric", "create", "register"]

T = TypeVar("T", bound=type[EvalMetric])


class CompositeEvalMetric(metrics.CompositeEvalMetric):
    """Several metrics that are updated together; `get` returns lists of names and values.

    Args:
        metrics: List of metrics, or of anything that `create` accepts; None for an empty list.
        name: Name of the composite, which `get` does not return.
        output_names: Names of the predictions for `update_dict`; None for all.
        label_names: Names of the labels for `update_dict`; None for all.

    Example:
        >>> import gluonish as mx
        >>> metric = mx.gluon.metric.CompositeEvalMetric(["mae", "mse"])
        >>> metric.update(mx.np.array([1, 2]), mx.np.array([1, 4]))
        >>> metric.get()
        (['mae', 'mse'], [1.0, 2.0])
    """

    def __init__(
        self,
        metrics: Sequence[Any] | None = None,
        name: str = "composite",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        created = [create(metric) for metric in metrics or ()]
        super().__init__(created, name, output_names, label_names)

    def add(self, metric: Any) -> None:
        """Append a metric.

        Args:
            metric: A metric, or anything that `create` accepts.
        """
        super().add(create(metric))


# The classes that differ from those of `mx.metric`, by the names that `create` accepts.
_CLASSES: dict[str, type[EvalMetric]] = {
    kind.__name__.lower(): kind
    for kind in (
        *(classes.BinaryAccuracy, classes.F1, classes.Fbeta, classes.MCC),
        *(distances.MAE, distances.MSE, distances.RMSE, distances.MeanCosineSimilarity),
        *(distances.MeanPairwiseDistance, distances.PearsonCorrelation),
        *(likelihood.CrossEntropy, likelihood.Perplexity),
    )
}
_CLASSES |= {"ce": likelihood.CrossEntropy, "pearsonr": distances.PearsonCorrelation}


def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric:
    """Create a metric from its name, a function, or a list of metrics.

    Args:
        metric: One of: a registered name such as ``"acc"``; a function ``feval(label, pred)`` of
            NumPy arrays; a list of these, for a `CompositeEvalMetric`; the JSON of
            `EvalMetric.get_config`; or a metric, which is returned unchanged.
        *args: Positional arguments of the metric's class.
        **kwargs: Keyword arguments of the metric's class.

    Raises:
        ArgumentError: No metric is registered under this name.
        ArgumentTypeError: ``metric`` has a different type.
    """
    if isinstance(metric, list):
        return CompositeEvalMetric([create(each, *args, **kwargs) for each in metric])
    if isinstance(metric, str):
        kind = _CLASSES.get(metric.lower())
        if kind is not None:
            return kind(*args, **kwargs)
    return metrics.create(metric, *args, **kwargs)


def register(klass: T, name: str | None = None) -> T:
    """Register a metric's class, so that `create` finds it under its name in lower case.

    Args:
        klass: Subclass of `EvalMetric`.
        name: Another name for it.
    """
    _CLASSES.pop((name or klass.__name__).lower(), None)
    registered: T = metrics.register(klass) if name is None else metrics.register(klass, name)
    return registered
