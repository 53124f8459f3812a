"""LoggingHandler, and the progress bar of an epoch on standard error.

Without a terminal there is no bar, and tqdm is not imported.
"""

import logging
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.progress import progress_bar, shows_progress
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
from gluonish.metric import EvalMetric

_VALUES_S = 0.5  # least time between two values of metrics behind a bar, in seconds


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Logs times and metrics to ``estimator.logger``, at level INFO.

    An Estimator has one by default for its training metrics, and another during evaluation.

    Args:
        log_interval: ``"epoch"`` to log at the ends of epochs only; or the number of batches
            between additional messages.
        metrics: A metric or a list of metrics of the Estimator, whose values are logged.
        priority: Handlers of lower priority are called first.

    Raises:
        ArgumentError: ``log_interval`` is neither ``"epoch"`` nor an integer of at least 1, or
            ``metrics`` are not metrics.
    """

    counters = ("batch_index", "current_epoch", "processed_samples")

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
        """Log the optimizer, its learning rate, and the number of epochs or batches."""
        self._train_start = self._epoch_start = time.perf_counter()
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
        """Log the total time, the number of epochs, and the metrics."""
        seconds = time.perf_counter() - self._train_start
        line = f"Train finished using total {seconds:.0f}s with {self.current_epoch} epochs. "
        estimator.logger.info((line + self._values()).rstrip())

    def epoch_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Log the start of an epoch with the learning rate, or of an evaluation."""
        self._epoch_start = time.perf_counter()
        if self._validates():
            estimator.logger.info("Validation Begin")
        else:
            estimator.logger.info(
                f"[Epoch {self.current_epoch}] Begin, current learning rate: "
                f"{estimator.trainer.learning_rate:.4f}"
            )

    def epoch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Log the time of the epoch, and the metrics."""
        seconds = time.perf_counter() - self._epoch_start
        values = f", {self._values()}" if self.metrics else ""
        estimator.logger.info(f"[Epoch {self.current_epoch}] Finished in {seconds:.3f}s{values}")
        self.batch_index = 0
        self.current_epoch += 1

    def batch_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Start timing a batch."""
        self._batch_start = time.perf_counter()

    def batch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Count the batch and its samples; log time and metrics every ``log_interval`` batches."""
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
        """Whether there are metrics, and all are validation metrics."""
        return bool(self.metrics) and all(
            metric.name.startswith("validation") for metric in self.metrics
        )

    def _values(self) -> str:
        pairs = [pair for metric in self.metrics for pair in metric.get_name_value()]
        return ", ".join(f"{name}: {value:.4f}" for name, value in pairs)


def _samples(batch: Any, batch_axis: int) -> int:
    """Return the number of samples in a batch's first array; 0 if unknown."""
    first = batch[0] if isinstance(batch, list | tuple) and batch else batch
    shape: tuple[int, ...] = getattr(first, "shape", ())
    return shape[batch_axis] if batch_axis < len(shape) else 0


@contextmanager
def with_progress(
    batches: Any,
    label: str,
    total: int | None,
    shown: bool | None,
    metrics: Sequence[EvalMetric] = (),
) -> Iterator[Iterable[Any]]:
    """Yield an iterable over batches that updates a progress bar, if bars are shown.

    Args:
        batches: The batches.
        label: Text before the bar.
        total: Largest number of batches, or None.
        shown: Whether to show a bar; None for one on a terminal.
        metrics: Metrics whose values stand behind the bar.
    """
    if shown is False or (shown is None and not shows_progress()):
        yield batches
        return
    length = len(batches) if hasattr(batches, "__len__") else None
    known = [count for count in (length, total) if count is not None]
    options = {"desc": label, "total": min(known, default=None), "unit": "batch", "leave": False}
    if shown:
        options["disable"] = False
    with progress_bar(batches, **options) as bar:
        yield _with_values(bar, metrics)


def _with_values(bar: Any, metrics: Sequence[EvalMetric]) -> Iterator[Any]:
    """Iterate over a bar, and write values of metrics behind it from time to time."""
    drawn_s = time.perf_counter()
    for batch in bar:
        yield batch
        now_s = time.perf_counter()
        if now_s - drawn_s >= _VALUES_S:
            drawn_s = now_s
            values = [value for metric in metrics for value in current_values(metric)]
            bar.set_postfix_str(", ".join(values), refresh=False)


def current_values(metric: EvalMetric) -> list[str]:
    """Return names and values of a metric as texts, without a change of its sums.

    Sums on devices are added up later in the same order as without this call, so that a metric has
    the same bits with and without a bar. Metrics that keep samples have no text.
    """
    if type(metric)._all_sums is not EvalMetric._all_sums:
        return []
    seen = object.__new__(type(metric))
    vars(seen).update(vars(metric))
    return [
        f"{name.partition(' ')[2] or name} {value:.4g}" for name, value in seen.get_name_value()
    ]


class LineHandler(logging.StreamHandler[Any]):
    """Logging handler that writes lines above the progress bars, if any are shown."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a log record."""
        if "tqdm" not in sys.modules:
            super().emit(record)
            return
        from tqdm import tqdm

        with tqdm.external_write_mode(file=self.stream):
            super().emit(record)
