"""Composite metrics, and metrics of a user's function."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.core.registry import get_create_func
from gluonish.metric.base import EvalMetric, alias, check_label_shapes, register, to_host
from gluonish.ndarray import NDArray

Feval = Callable[[Any, Any], Any]


@register
class CustomMetric(EvalMetric):
    """A metric computed by a function, averaged over batches.

    Args:
        feval: Function called as ``feval(label, pred)`` with NumPy arrays; returns the value of the
            batch, or a pair (sum, count).
        name: Name of the metric, as `get` returns it; None for the function's name.
        allow_extra_outputs: Whether to ignore predictions beyond the number of labels; if not, they
            raise an error.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
    """

    def __init__(
        self,
        feval: Feval,
        name: str | None = None,
        allow_extra_outputs: bool = False,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        metric_name = _function_name(feval) if name is None else name
        super().__init__(metric_name, output_names, label_names, has_global_stats=True)
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels: Any, preds: Any) -> None:
        """Call the function on each label and prediction of a batch.

        Args:
            labels: A list of label arrays, or one NDArray.
            preds: A list of prediction arrays, or one NDArray.

        Raises:
            ArgumentError: The numbers of labels and predictions differ.
        """
        labels = [labels] if isinstance(labels, NDArray) else labels
        preds = [preds] if isinstance(preds, NDArray) else preds
        if not self._allow_extra_outputs:
            check_label_shapes(labels, preds)
        for label, pred in zip(labels, preds, strict=False):
            result = self._feval(to_host(label), to_host(pred))
            total, count = result if isinstance(result, tuple) else (result, 1)
            self._add(float(total), count)

    def get_config(self) -> dict[str, Any]:
        """Raise an error: a function has no configuration.

        Raises:
            NotSupportedError: Always.
        """
        raise NotSupportedError(
            f"CustomMetric: expected a metric created by name, got the function {self.name!r}, "
            "which cannot be serialized"
        )


def _function_name(feval: Feval) -> str:
    name = str(getattr(feval, "__name__", type(feval).__name__))
    return f"custom({name})" if "<" in name else name


def np(
    numpy_feval: Feval, name: str | None = None, allow_extra_outputs: bool = False
) -> EvalMetric:
    """Create a `CustomMetric` from a function of NumPy arrays.

    Args:
        numpy_feval: Function called as ``numpy_feval(label, pred)``; returns the value of the
            batch, or a pair (sum, count).
        name: Name of the metric, as `get` returns it; None for the function's name.
        allow_extra_outputs: Whether to ignore predictions beyond the number of labels; if not, they
            raise an error.
    """
    return CustomMetric(numpy_feval, name, allow_extra_outputs)


_create = get_create_func(EvalMetric, "metric")


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
        composite = CompositeEvalMetric()
        for child in metric:
            composite.add(create(child, *args, **kwargs))
        return composite
    if callable(metric) and not isinstance(metric, type | EvalMetric):
        return CustomMetric(metric, *args, **kwargs)
    return _create(metric, *args, **kwargs)


@register
@alias("composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics that are updated together; `get` returns lists of names and values.

    Args:
        metrics: List of metrics, or of anything that `create` accepts; None for an empty list.
        name: Name of the composite, which `get` does not return.
        output_names: Names of the predictions for `update_dict`; None for all.
        label_names: Names of the labels for `update_dict`; None for all.

    Example:
        >>> import gluonish as mx
        >>> metric = mx.metric.CompositeEvalMetric(["mae", "mse"])
        >>> metric.update(mx.nd.array([1, 2]), mx.nd.array([1, 4]))
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
        self.metrics: list[EvalMetric] = [create(metric) for metric in metrics or ()]
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def add(self, metric: Any) -> None:
        """Append a metric.

        Args:
            metric: A metric, or anything that `create` accepts.
        """
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """Return one of the metrics.

        Args:
            index: Index of the metric, from 0.

        Raises:
            ArgumentError: The index is out of range.
        """
        if not -len(self.metrics) <= index < len(self.metrics):
            raise ArgumentError(
                f"CompositeEvalMetric: expected an index below {len(self.metrics)}, got {index}"
            )
        return self.metrics[index]

    def update_dict(  # pyright: ignore[reportIncompatibleMethodOverride]  # MXNet's names
        self, labels: Mapping[str, Any], preds: Mapping[str, Any]
    ) -> None:
        """Add one batch of arrays by name to every metric.

        Args:
            labels: Labels by name.
            preds: Predictions by name.
        """
        if self.label_names is not None:
            labels = {name: labels[name] for name in labels if name in self.label_names}
        if self.output_names is not None:
            preds = {name: preds[name] for name in preds if name in self.output_names}
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to every metric.

        Args:
            labels: A list of label arrays, or one NDArray.
            preds: A list of prediction arrays, or one NDArray.
        """
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self) -> None:
        """Reset every metric."""
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        """Reset the local sums of every metric."""
        for metric in self.metrics:
            metric.reset_local()

    def _all_sums(self) -> Any:
        return [metric._all_sums() for metric in self.metrics]

    def _set_sums(self, sums_by_rank: Sequence[Any]) -> None:
        for metric, *sums in zip(self.metrics, *sums_by_rank, strict=True):
            metric._set_sums(sums)

    def get(self) -> tuple[list[str], list[float]]:
        """Return the lists of names and of values of all metrics."""
        return _columns([pair for metric in self.metrics for pair in metric.get_name_value()])

    def get_global(self) -> tuple[list[str], list[float]]:
        """Return names and values like `get`, since the last `reset`."""
        return _columns(
            [pair for metric in self.metrics for pair in metric.get_global_name_value()]
        )

    def get_config(self) -> dict[str, Any]:
        """Return the configuration, including the configurations of all metrics."""
        return {
            **super().get_config(),
            "metrics": [metric.get_config() for metric in self.metrics],
        }


def _columns(pairs: Sequence[tuple[str, float]]) -> tuple[list[str], list[float]]:
    return [name for name, _ in pairs], [value for _, value in pairs]
