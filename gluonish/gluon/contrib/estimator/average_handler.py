"""AverageHandler: updates an average of the weights in `Estimator.fit`, and evaluates it."""

from collections.abc import Callable
from typing import Any

from gluonish.gluon.contrib.estimator.events import BatchEnd, EpochEnd, Run
from gluonish.gluon.trainer.weight_average import WeightAverage
from gluonish.metric import EvalMetric


class AverageHandler(BatchEnd, EpochEnd):
    """Updates a `gluon.utils.WeightAverage`, and evaluates the network with it after each epoch.

    `Estimator.fit` makes one of its argument ``average``.

    Args:
        average: The average. One with a decay (EMA) is updated after each update of the weights, a
            mean of all updates (SWA) after each epoch.
        start: Number of epochs before the first update of the average.
        evaluate: Called in the scope of the averaged weights after each epoch; None for no
            evaluation.
        metrics: The metrics that ``evaluate`` computes, which are logged.
        priority: Handlers of lower priority are called first. By default the handler comes after
            the updates of weights and before other handlers.
    """

    counters = ("current_epoch",)

    def __init__(
        self,
        average: WeightAverage,
        start: int = 0,
        evaluate: Callable[[], object] | None = None,
        metrics: list[EvalMetric] | None = None,
        priority: float = -999,
    ) -> None:
        self.average = average
        self.start = start
        self.current_epoch = 0
        self._evaluate = evaluate
        self._metrics = metrics or []
        self.priority = priority

    def batch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Update an exponential average, if the batch has updated the weights."""
        groups = estimator.trainer._groups
        if groups is None or not groups.is_open:
            self.weights_updated()

    def weights_updated(self) -> None:
        """Update an exponential average."""
        if self.average.decay is not None and self.current_epoch >= self.start:
            self.average.update()

    def epoch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Update a mean of epochs, and evaluate the network with the average."""
        self.current_epoch += 1
        if self.average.decay is None and self.current_epoch > self.start:
            self.average.update()
        if self._evaluate is None or not self.average.num_updates:
            return
        with self.average.applied():
            self._evaluate()
        pairs = [pair for metric in self._metrics for pair in metric.get_name_value()]
        values = ", ".join(f"{name}: {value:.4f}" for name, value in pairs)
        estimator.logger.info(f"[Epoch {self.current_epoch - 1}] Average of weights: {values}")
