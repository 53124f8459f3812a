"""A user's function as a metric: CustomMetric and `np`."""

from collections.abc import Callable, Sequence
from typing import Any

from gluonish.core.errors import NotSupportedError
from gluonish.metric.base import EvalMetric, check_label_shapes, register, to_host
from gluonish.ndarray import NDArray

__all__ = ["CustomMetric", "np"]

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
        own = _called(feval) if name is None else name
        super().__init__(own, output_names, label_names, has_global_stats=True)
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
        """Refuse: a function cannot be written as JSON.

        Raises:
            NotSupportedError: Always.
        """
        raise NotSupportedError(
            f"CustomMetric: expected a metric made by name, got the function {self.name!r}, "
            "which cannot be written as a configuration"
        )


def _called(feval: Feval) -> str:
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
