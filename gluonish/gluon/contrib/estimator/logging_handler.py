"""LoggingHandler: what is logged of a training, and how far it has come.

The bar stands on the last line of standard error and goes when the epoch ends. Where standard
error is no terminal nothing is shown, and tqdm is not imported.
"""

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.contrib.estimator.events import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    Run,
    TrainBegin,
    TrainEnd,
)
from gluonish.gluon.contrib.estimator.utils import Metrics, check_metrics


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Logs times and metrics to ``estimator.logger``, at level INFO.

    An Estimator has one by default for its training metrics, and another one during evaluation.

    Args:
        log_interval: ``"epoch"`` to log at the ends of epochs only; or the number of batches from
            one additional line to the next.
        metrics: A metric or a list of metrics of the Estimator, whose values are logged.
        priority: Handlers of lower priority are called first.

    Raises:
        ArgumentError: ``log_interval`` is neither ``"epoch"`` nor an integer of at least 1, or
            ``metrics`` are not metrics.
    """

    def __init__(
        self,
        log_interval: str | int = "epoch",
        metrics: Metrics = None,
        priority: float = float("inf"),
    ) -> None:
        if log_interval != "epoch" and not (isinstance(log_interval, int) and log_interval >= 1):
            raise ArgumentError(
                "LoggingHandler: expected log_interval 'epoch' or an integer of at least 1, got "
                f"{log_interval!r}"
            )
        self.metrics = check_metrics("LoggingHandler", metrics)
        self.batch_index = 0
        self.current_epoch = 0
        self.processed_samples = 0
        self.priority = priority
        self.log_interval = log_interval
        self.log_interval_time: float = 0
        self._train_start = self._epoch_start = self._batch_start = 0.0

    def train_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Log the optimizer, its learning rate, and how many epochs or batches will be trained.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: Not used.
        """
        self._train_start = time.perf_counter()
        self.batch_index = 0
        self.current_epoch = 0
        self.processed_samples = 0
        self.log_interval_time = 0
        trainer = estimator.trainer
        estimator.logger.info(
            f"Training begin: using optimizer {type(trainer.optimizer).__name__} with current "
            f"learning rate {trainer.learning_rate:.4f} "
        )
        if estimator.max_epoch:
            estimator.logger.info(f"Train for {estimator.max_epoch} epochs.")
        else:
            estimator.logger.info(f"Train for {estimator.max_batch} batches.")

    def train_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Log the total time, the number of epochs, and the metrics.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: Not used.
        """
        seconds = time.perf_counter() - self._train_start
        line = f"Train finished using total {seconds:.0f}s with {self.current_epoch} epochs. "
        estimator.logger.info((line + self._values()).rstrip())

    def epoch_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Log the start of an epoch with the learning rate, or of an evaluation.

        Args:
            estimator: The Estimator that trains or evaluates.
            *args: Not used.
            **kwargs: Not used.
        """
        self._epoch_start = time.perf_counter()
        if self._validates():
            estimator.logger.info("Validation Begin")
        else:
            estimator.logger.info(
                f"[Epoch {self.current_epoch}] Begin, current learning rate: "
                f"{estimator.trainer.learning_rate:.4f}"
            )

    def epoch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Log the time of the epoch, and the metrics.

        Args:
            estimator: The Estimator that trains or evaluates.
            *args: Not used.
            **kwargs: Not used.
        """
        seconds = time.perf_counter() - self._epoch_start
        values = f", {self._values()}" if self.metrics else ""
        estimator.logger.info(f"[Epoch {self.current_epoch}] Finished in {seconds:.3f}s{values}")
        self.batch_index = 0
        self.current_epoch += 1

    def batch_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Start timing a batch.

        Args:
            estimator: The Estimator that trains or evaluates.
            *args: Not used.
            **kwargs: Not used.
        """
        self._batch_start = time.perf_counter()

    def batch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Count the batch and its samples; log time and metrics every ``log_interval`` batches.

        Args:
            estimator: The Estimator that trains or evaluates.
            *args: Not used.
            **kwargs: ``batch``, as the DataLoader returned it.
        """
        if not isinstance(self.log_interval, int):
            return
        self.log_interval_time += time.perf_counter() - self._batch_start
        self.processed_samples += _samples(kwargs["batch"], estimator.batch_axis)
        if self.batch_index % self.log_interval == 0:
            line = (
                f"[Epoch {self.current_epoch}][Batch {self.batch_index}]"
                f"[Samples {self.processed_samples}] time/interval: "
                f"{self.log_interval_time:.3f}s {self._values()}"
            )
            self.log_interval_time = 0
            estimator.logger.info(line.rstrip())
        self.batch_index += 1

    def _validates(self) -> bool:
        """Return whether all metrics, of which there are some, are those of an evaluation."""
        return bool(self.metrics) and all(
            metric.name.startswith("validation") for metric in self.metrics
        )

    def _values(self) -> str:
        pairs = [pair for metric in self.metrics for pair in metric.get_name_value()]
        return ", ".join(f"{name}: {value:.4f}" for name, value in pairs)


def _samples(batch: Any, batch_axis: int) -> int:
    """Return how many samples the first array of a batch has; 0 if it is no list of arrays."""
    first = batch[0] if isinstance(batch, list | tuple) and batch else batch
    shape: tuple[int, ...] = getattr(first, "shape", ())
    return shape[batch_axis] if batch_axis < len(shape) else 0


@contextmanager
def watched(batches: Any, label: str, total: int | None, shown: bool) -> Iterator[Iterable[Any]]:
    """Return an iterable over batches that updates a progress bar; without a terminal, no bar.

    Args:
        batches: A DataLoader.
        label: Text in front of the bar.
        total: Maximum number of batches; None for all.
        shown: Whether to show a bar at all.
    """
    if not shown or sys.stderr is None or not sys.stderr.isatty():
        yield batches
        return
    from tqdm import tqdm

    length = len(batches) if hasattr(batches, "__len__") else None
    known = [count for count in (length, total) if count is not None]
    with tqdm(
        batches, desc=label, total=min(known, default=None), unit="batch", leave=False
    ) as bar:
        yield bar


class LineHandler(logging.StreamHandler[Any]):
    """Logging handler that writes lines above the progress bars, if any are shown."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a log record.

        Args:
            record: The record.
        """
        if "tqdm" not in sys.modules:
            super().emit(record)
            return
        from tqdm import tqdm

        with tqdm.external_write_mode(file=self.stream):
            super().emit(record)
