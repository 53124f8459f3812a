"""How `Estimator.fit` trains for ``gluonish train``: its batches, metrics, steps and messages.

The host runs ahead of the device by a few batches at most, as the queue of pending operations would
otherwise grow without bound.
"""

import sys
from collections import deque
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import gluonish.autograd as autograd
from gluonish.core.context import Context
from gluonish.gluon.contrib.estimator import BatchProcessor, Estimator
from gluonish.gluon.contrib.estimator.event_handler import (
    BatchEnd,
    EpochBegin,
    EpochEnd,
    GradientUpdateHandler,
    MetricHandler,
)
from gluonish.gluon.data.split import split_and_load
from gluonish.metric import EvalMetric, create
from gluonish.metric import Loss as LossMetric
from gluonish.ndarray import NDArray, softmax, waitall
from gluonish.tools.train.batches import Batch
from gluonish.tools.train.progress import Progress

_AHEAD = 3  # number of batches that the host may be ahead of the device

Values = dict[str, float]


class Training(Estimator):
    """An Estimator that prints problems of the training run, as a command does."""

    def warn(self, problem: str) -> None:
        """Print a problem."""
        print(f"warning: {problem}", file=sys.stderr)  # for the user


class Processor(BatchProcessor):
    """Computes scores and losses of a `Batch`.

    Args:
        dtype: Dtype of the images; scores are always converted to float32 for the loss.
    """

    def __init__(self, dtype: str) -> None:
        self._dtype = dtype

    def fit_batch(self, estimator: Any, train_batch: Batch, batch_axis: int = 0) -> Any:
        """Compute scores, losses and gradients; see `BatchProcessor`."""
        data, labels, targets = self._split(train_batch, estimator.context)
        with autograd.record():
            scores = [_scores(estimator.net, x) for x in data]
            losses = [estimator.loss(*pair) for pair in zip(scores, targets, strict=True)]
        self.backward(estimator, losses)
        return data, labels, scores, losses

    def evaluate_batch(self, estimator: Any, val_batch: Batch, batch_axis: int = 0) -> Any:
        """Compute scores and losses; see `BatchProcessor`."""
        data, labels, _ = self._split(val_batch, estimator.context)
        scores = [_scores(estimator.val_net, x) for x in data]
        losses = [estimator.val_loss(*pair) for pair in zip(scores, labels, strict=True)]
        return data, labels, scores, losses

    def _split(
        self, batch: Batch, contexts: Sequence[Context]
    ) -> tuple[list[NDArray], list[NDArray], list[NDArray]]:
        """Return each device's slice of data, labels and targets, without padding.

        Devices without samples are omitted.
        """
        data, label, target = batch.data, batch.label, batch.target
        if batch.padding:
            real = data.shape[0] - batch.padding
            data, label = data[:real], label[:real]
        contexts = contexts[: data.shape[0]]
        parts = split_and_load(data, contexts, even_split=False)
        labels = split_and_load(label, contexts, even_split=False)
        targets = labels
        if target is not None:
            targets = split_and_load(target, contexts, even_split=False)
        return [part.astype(self._dtype, copy=False) for part in parts], labels, targets


def _scores(net: Any, data: NDArray) -> Any:
    return net(data).astype("float32", copy=False)


class StepHandler(GradientUpdateHandler):
    """Updates the weights, with the number of samples of all processes.

    Args:
        processes: Number of processes, whose gradients are added.
    """

    def __init__(self, processes: int) -> None:
        super().__init__()
        self._processes = processes

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Update the weights."""
        estimator.trainer.step(kwargs["batch"].data.shape[0] * self._processes)


def make_metrics(top_k: Sequence[int] = (), losses: Sequence[str] = ()) -> list[EvalMetric]:
    """Return the metrics of a pass over the data.

    Args:
        top_k: Values of k for top-k accuracy.
        losses: ``ce`` or ``nll_loss``, which `ScoresHandler` computes from probabilities.
    """
    of_scores = [create("acc"), *(create("top_k_accuracy", top_k=k) for k in top_k)]
    return [*of_scores, LossMetric(), *(create(name) for name in losses)]


class ScoresHandler(MetricHandler):
    """Updates metrics without waiting for results.

    Args:
        metrics: Metrics of `make_metrics`.
    """

    def __init__(self, metrics: list[EvalMetric]) -> None:
        super().__init__(metrics)
        last = next(i for i, x in enumerate(metrics) if isinstance(x, LossMetric))
        self._of_scores, self._of_probabilities = metrics[:last], metrics[last + 1 :]
        self._loss = metrics[last]

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Update the metrics with the results of a batch."""
        labels, scores = kwargs["label"], kwargs["pred"]
        for metric in self._of_scores:
            metric.update(labels, scores)
        self._loss.update(None, kwargs["loss"])
        if self._of_probabilities:
            probabilities = [softmax(x) for x in scores]
            for metric in self._of_probabilities:
                metric.update(labels, probabilities)

    def lately(self) -> Values:
        """Wait for and return the metrics since the last call."""
        pairs = [pair for metric in self.metrics for pair in metric.get_name_value()]
        for metric in self.metrics:
            metric.reset_local()
        return _named(pairs)

    def values(self) -> Values:
        """Wait for and return the metrics of the pass."""
        return _named([x for metric in self.metrics for x in metric.get_global_name_value()])


def _named(pairs: Sequence[tuple[Any, Any]]) -> Values:
    """Return values by names, without the Estimator's first word."""
    return {name.partition(" ")[2]: value for name, value in pairs}


class AheadHandler(BatchEnd):
    """Waits for an earlier batch if the host is too far ahead."""

    priority = float("inf")

    def __init__(self) -> None:
        self._losses: deque[list[NDArray]] = deque()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Add a batch, and wait for an earlier one if there are too many."""
        self._losses.append(kwargs["loss"])
        if len(self._losses) > _AHEAD:
            for loss in self._losses.popleft():
                loss.wait_to_read()


class ProgressHandler(EpochBegin, BatchEnd, EpochEnd):
    """Shows the progress of each epoch, and measures its speed.

    Args:
        scores: Handler of the metrics to show.
        epochs: Number of epochs.
        batches: Number of batches in an epoch.
        shows: Batches between reports, and their form; see `Progress`.
        processes: Number of processes, which share each batch.

    Attributes:
        epoch: Number of the next epoch, from 0.
        speed: ``seconds`` and ``samples_per_second`` of the last epoch.
    """

    def __init__(
        self,
        scores: ScoresHandler,
        epochs: int,
        batches: int,
        shows: tuple[int, str],
        processes: int = 1,
    ) -> None:
        self.epoch = 0
        self.speed: Values = {}
        self._scores = scores
        self._epochs, self._batches, self._shows = epochs, batches, shows
        self._processes = processes
        self._progress: Progress | None = None
        self._samples = 0
        self._start_s = 0.0

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Show a bar, and start timing."""
        self._progress = Progress(self.epoch, self._epochs, self._batches, *self._shows)
        self._samples = 0
        self._start_s = perf_counter()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Count a batch, and report metrics from time to time."""
        assert self._progress is not None
        count = kwargs["batch"].data.shape[0] * self._processes
        self._samples += count
        if self._progress.batch(count):
            self._progress.report(self._scores.lately())

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Wait for the device, and set the speed."""
        waitall()
        seconds = perf_counter() - self._start_s
        rate = self._samples / max(seconds, 1e-9)
        self.speed = {"seconds": seconds, "samples_per_second": rate}
        self.epoch += 1
        self.close()

    def close(self) -> None:
        """Remove the bar."""
        if self._progress is not None:
            self._progress.close()
            self._progress = None
