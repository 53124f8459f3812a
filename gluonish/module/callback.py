"""Callbacks of training loops, which log speed, progress and metrics, and save checkpoints.

They use the root logger, as in MXNet: ``logging.basicConfig`` shows the messages.

BatchEndParam: the argument of callbacks at the end of a batch.
"""

import logging
import math
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from gluonish.core.errors import ArgumentError
from gluonish.core.object_repr import default_repr
from gluonish.module.checkpoint import save_checkpoint
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol


class BatchEndParams(NamedTuple):
    """The argument of callbacks at the end of a batch, a named tuple.

    Attributes:
        epoch: Number of the epoch, from 0.
        nbatch: Number of the batch in the epoch.
        eval_metric: Metric of the training data, or None.
        locals: Local variables of the training loop.
    """

    epoch: int
    nbatch: int
    eval_metric: Any
    locals: Any


BatchEndParam = BatchEndParams


def call_back(callbacks: Any, *args: Any) -> None:
    """Call one callback, or each callback of a list.

    Args:
        callbacks: A function, a list of functions, or None for none.
        *args: Arguments of the calls.
    """
    if callbacks is None:
        return
    for callback in callbacks if isinstance(callbacks, list | tuple) else [callbacks]:
        callback(*args)


Arrays = Mapping[str, NDArray]


class _SavesCheckpoints(Protocol):
    def save_checkpoint(
        self, prefix: str, epoch: int, save_optimizer_states: bool = False, /
    ) -> object: ...


def _check_positive(what: str, name: str, value: float) -> None:
    if not value > 0:
        raise ArgumentError(f"{what}: expected a positive {name}, got {value}")


def module_checkpoint(
    mod: _SavesCheckpoints, prefix: str, period: int = 1, save_optimizer_states: bool = False
) -> Callable[..., None]:
    """Return an epoch-end callback that saves a checkpoint of a module.

    Args:
        mod: The module, whose `save_checkpoint` is called.
        prefix: Prefix of the files' paths.
        period: Number of epochs between two checkpoints; values below 1 mean 1.
        save_optimizer_states: Whether to save the optimizer's states, too.
    """
    every = int(max(1, period))

    def callback(iter_no: int, sym: object = None, arg: object = None, aux: object = None) -> None:
        if (iter_no + 1) % every == 0:
            mod.save_checkpoint(prefix, iter_no + 1, save_optimizer_states)

    return callback


def do_checkpoint(prefix: str, period: int = 1) -> Callable[[int, Symbol, Arrays, Arrays], None]:
    """Return an epoch-end callback that saves a checkpoint.

    Args:
        prefix: Files are ``prefix-symbol.json`` and, after the first epoch, ``prefix-0001.params``.
        period: Number of epochs between two checkpoints; values below 1 mean 1.
    """
    every = int(max(1, period))

    def callback(iter_no: int, sym: Symbol, arg: Arrays, aux: Arrays) -> None:
        if (iter_no + 1) % every == 0:
            save_checkpoint(prefix, iter_no + 1, sym, arg, aux)

    return callback


def log_train_metric(period: int, auto_reset: bool = False) -> Callable[[BatchEndParams], None]:
    """Return a batch-end callback that logs the training metric.

    Args:
        period: Number of batches between two log lines.
        auto_reset: Whether to reset the metric's local statistics after logging.

    Raises:
        ArgumentError: ``period`` is not positive.
    """
    _check_positive("log_train_metric", "period", period)

    def callback(param: BatchEndParams) -> None:
        if param.nbatch % period != 0 or param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, value)
        if auto_reset:
            param.eval_metric.reset_local()

    return callback


class Speedometer:
    """Batch-end callback that logs the speed in samples per second, and the metrics.

    Timing starts at the first call in each epoch.

    Args:
        batch_size: Number of samples in a batch.
        frequent: Number of batches between two log lines.
        auto_reset: Whether to reset the metrics' local statistics after logging.

    Attributes:
        init: Whether timing has started.
        tic: Start of the current interval, in seconds since 1970.
        last_count: Number of the last batch.

    Raises:
        ArgumentError: ``frequent`` is not positive.
    """

    __repr__ = default_repr

    def __init__(self, batch_size: int, frequent: int = 50, auto_reset: bool = True) -> None:
        _check_positive("Speedometer", "frequent", frequent)
        self.batch_size = batch_size
        self.frequent = frequent
        self.init = False
        self.tic: float = 0
        self.last_count = 0
        self.auto_reset = auto_reset

    def __call__(self, param: BatchEndParams) -> None:
        """Log speed and metrics if this batch completes an interval.

        Args:
            param: A `BatchEndParam` with epoch, number of the batch and metric.
        """
        count = param.nbatch
        if self.last_count > count:
            self.init = False  # a new epoch
        self.last_count = count
        if not self.init:
            self.init = True
            self.tic = time.time()
        elif count % self.frequent == 0:
            self._log(param, self._speed(time.time() - self.tic))
            self.tic = time.time()

    def _speed(self, elapsed_s: float) -> float:
        # The clock may have a coarse resolution, or be set back.
        return self.frequent * self.batch_size / elapsed_s if elapsed_s else math.inf

    def _log(self, param: BatchEndParams, speed: float) -> None:
        epoch, count = param.epoch, param.nbatch
        if param.eval_metric is None:
            logging.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", epoch, count, speed)
            return
        pairs = param.eval_metric.get_name_value()
        start = 0
        if self.auto_reset:
            param.eval_metric.reset_local()
            start = count - self.frequent
        logging.info(
            "Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec" + "\t%s=%f" * len(pairs),
            *(epoch, start, count, speed),
            *(item for pair in pairs for item in pair),
        )


class ProgressBar:
    """Batch-end callback that logs a progress bar.

    Args:
        total: Number of batches.
        length: Width of the bar in characters.

    Raises:
        ArgumentError: ``total`` is not positive.
    """

    __repr__ = default_repr

    def __init__(self, total: int, length: int = 80) -> None:
        _check_positive("ProgressBar", "total", total)
        self.bar_len = length
        self.total = total

    def __call__(self, param: BatchEndParams) -> None:
        """Log the progress bar.

        Args:
            param: A `BatchEndParam`, whose ``nbatch`` is the number of finished batches.
        """
        done = param.nbatch / float(self.total)
        filled = round(self.bar_len * done)
        bar = "=" * filled + "-" * (self.bar_len - filled)
        logging.info("[%s] %s%%\r", bar, math.ceil(100.0 * done))


class LogValidationMetricsCallback:
    """Evaluation-end callback that logs the metrics."""

    __repr__ = default_repr

    def __call__(self, param: BatchEndParams) -> None:
        """Log each metric on a line.

        Args:
            param: A `BatchEndParam` with epoch and metric.
        """
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)
