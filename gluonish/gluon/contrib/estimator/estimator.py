"""Estimator: trains and evaluates a network, and calls event handlers."""

import copy
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError
from gluonish.core.object_repr import arguments_repr
from gluonish.core.program_lines import warn_at_line
from gluonish.gluon.block import Block
from gluonish.gluon.contrib.estimator.arguments import (
    Handlers,
    check_block,
    check_context,
    check_duration,
    check_handlers,
    check_loader,
    check_loss,
    check_processor,
)
from gluonish.gluon.contrib.estimator.batch_processor import BatchProcessor
from gluonish.gluon.contrib.estimator.event_handler import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    EventHandler,
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    StoppingHandler,
    TrainBegin,
    TrainEnd,
    ValidationHandler,
)
from gluonish.gluon.contrib.estimator.first_batch import first_batch_problems, listed
from gluonish.gluon.contrib.estimator.logging_handler import LineHandler, with_progress
from gluonish.gluon.contrib.estimator.utils import (
    FirstRankFilter,
    Metrics,
    check_handler_metrics,
    check_metrics,
    gather_metrics,
    join_ranks,
    suggest_metric_for_loss,
)
from gluonish.gluon.data import DataLoader
from gluonish.gluon.loss import Loss
from gluonish.gluon.trainer import Trainer
from gluonish.initializer import Initializer
from gluonish.metric import EvalMetric
from gluonish.metric import Loss as LossMetric

__all__ = ["Estimator"]

T = TypeVar("T", bound=EventHandler)


class Estimator:
    """Trains and evaluates a network, calling event handlers at every stage.

    `fit` adds missing default handlers: StoppingHandler, GradientUpdateHandler, MetricHandler,
    LoggingHandler, and with validation data ValidationHandler. Messages are written to ``logger``;
    its level controls them. If standard error is a terminal, a progress bar of the epoch is shown,
    unless the level is above INFO.

    Processes that train together, through a ``dist_sync`` store, run the same number of steps. At
    the ends of epochs and of evaluations by ValidationHandler, metrics are aggregated over all
    processes, so that handlers decide consistently; the first process writes messages and
    checkpoints. Elsewhere, such as in an `evaluate` of one process, a metric is local: see
    `EvalMetric.over_ranks`.

    Args:
        net: The network; initialized here if it is not initialized.
        loss: The loss function to minimize.
        train_metrics: A metric or a list of metrics, renamed to ``training ...``. None for the
            loss, and Accuracy for a SoftmaxCrossEntropyLoss.
        val_metrics: The same for evaluation, renamed to ``validation ...``. None for copies of
            ``train_metrics``.
        initializer: Initializer of uninitialized parameters; None for their own.
        trainer: Trainer of ``net``. None for SGD with a learning rate of 0.001, and a warning.
        context: The device, or a list of devices over which each batch is split. None for
            ``gpu(0)``, or the CPU if there is no GPU.
        val_net: The network to evaluate, which may share parameters with ``net``; None for ``net``.
        val_loss: The loss of evaluation; None for ``loss``.
        batch_processor: Object that processes each batch; None for a `BatchProcessor`.
        device: ``context`` under the name it has in MXNet 2.0.

    Attributes:
        logger: The Estimator's ``logging.Logger``, which writes to standard output.
        max_epoch, max_batch, batch_axis: The arguments of the last `fit`.

    Raises:
        ArgumentError: An argument is invalid.
        ArgumentTypeError: ``net`` or ``val_net`` is not a Block.
        DeviceError: A GPU in ``context`` does not exist.

    Example::

        net = mx.gluon.nn.Dense(10)
        loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
        trainer = mx.gluon.Trainer(net.collect_params(), "adam")
        estimator = Estimator(net, loss, trainer=trainer)
        estimator.fit(train_loader, val_loader, epochs=5)
    """

    logger: logging.Logger = None  # type: ignore[assignment]  # MXNet's class has it too
    _is_first_batch = False  # True until `fit` has processed a batch
    _fits = False  # True while `fit` runs, which all processes call together

    def __init__(
        self,
        net: Block,
        loss: Loss,
        train_metrics: Metrics = None,
        val_metrics: Metrics = None,
        initializer: Initializer | str | None = None,
        trainer: Trainer | None = None,
        context: Context | Sequence[Context] | None = None,
        val_net: Block | None = None,
        val_loss: Loss | None = None,
        batch_processor: BatchProcessor | None = None,
        device: Context | Sequence[Context] | None = None,
    ) -> None:
        self.net = check_block("net", net)
        self.loss = check_loss("loss", loss)
        self._train_metrics = check_metrics("Estimator: train_metrics", train_metrics)
        self._val_metrics = check_metrics("Estimator: val_metrics", val_metrics)
        self._complete_metrics()
        self.val_loss = self.loss if val_loss is None else check_loss("val_loss", val_loss)
        self.val_net = self.net if val_net is None else check_block("val_net", val_net)
        self.logger = logging.Logger("Estimator", logging.INFO)
        self.logger.addHandler(LineHandler(sys.stdout))
        self.context = check_context(context if device is None else device)
        self._initialize(initializer)
        self.trainer = self._check_trainer(trainer)
        self.logger.handlers[0].addFilter(FirstRankFilter(self.trainer))
        self.batch_processor = check_processor(batch_processor)
        self.max_epoch: int | None = None
        self.max_batch: int | None = None
        self.batch_axis = 0

    def __repr__(self) -> str:
        usual = {"val_net": self.val_net is self.net, "val_loss": self.val_loss is self.loss}
        return arguments_repr(
            self, leave_out=("context", *(name for name, same in usual.items() if same))
        )

    def _complete_metrics(self) -> None:
        if not self._train_metrics:
            suggested = suggest_metric_for_loss(self.loss)
            self._train_metrics = [] if suggested is None else [suggested]
            # Without the Block's number, so that names are the same in every run of a program.
            self._train_metrics.append(LossMetric(self.loss.name.rstrip("0123456789")))
        for metric in self._train_metrics:
            metric.name = f"training {metric.name}"
        if self._val_metrics:
            for metric in self._val_metrics:
                metric.name = f"validation {metric.name}"
            return
        self._val_metrics = copy.deepcopy(self._train_metrics)
        for metric in self._val_metrics:
            metric.reset()
            metric.name = metric.name.replace("training", "validation")

    def _initialize(self, initializer: Initializer | str | None) -> None:
        parameters = self.net.collect_params().values()
        if any(parameter._waiting_contexts() is None for parameter in parameters):
            if initializer is None:
                self.net.initialize(ctx=self.context)
            else:
                self.net.initialize(init=initializer, ctx=self.context)
        elif initializer is not None:
            warnings.warn(
                "Network already fully initialized, skipping initialization. Estimator: expected "
                f"initializer None, got {initializer!r}; use net.initialize(force_reinit=True)",
                UserWarning,
                stacklevel=3,
            )

    def _check_trainer(self, trainer: Any) -> Trainer:
        if trainer is None:
            warnings.warn(
                "No trainer specified, default SGD optimizer with learning rate 0.001 is used.",
                UserWarning,
                stacklevel=3,
            )
            return Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.001})
        if not isinstance(trainer, Trainer):
            raise ArgumentError(f"Estimator: expected trainer to be a Trainer, got {trainer!r}")
        return trainer

    @property
    def train_metrics(self) -> list[EvalMetric]:
        """List of the training metrics."""
        return self._train_metrics

    @property
    def val_metrics(self) -> list[EvalMetric]:
        """List of the evaluation metrics."""
        return self._val_metrics

    def evaluate(
        self, val_data: DataLoader, batch_axis: int = 0, event_handlers: Handlers = None
    ) -> None:
        """Evaluate ``val_net``: compute ``val_metrics``.

        Args:
            val_data: DataLoader of the batches.
            batch_axis: Axis of the samples.
            event_handlers: Handlers called at the beginning and end of the evaluation, as for an
                epoch, and of each batch; MetricHandler and LoggingHandler are added if missing.

        Raises:
            ArgumentError: ``val_data`` is not a DataLoader, or a handler refers to metrics other
                than ``val_metrics``.
        """
        check_loader("evaluate", "val_data", val_data)
        self.batch_axis = batch_axis
        handlers = check_handlers("evaluate", event_handlers)
        _add_missing(handlers, MetricHandler, lambda: MetricHandler(self._val_metrics))
        _add_missing(handlers, LoggingHandler, lambda: LoggingHandler(metrics=self._val_metrics))
        handlers = _in_order(handlers, self._val_metrics)
        for handler in _of_kind(handlers, EpochBegin):
            handler.epoch_begin(self)
        with with_progress(val_data, "validation", None, self._shows_progress()) as batches:
            for batch in batches:
                self._run_batch(batch, handlers, self.batch_processor.evaluate_batch)
        if self._fits:
            gather_metrics(self.trainer, self._val_metrics)
        for last in _of_kind(handlers, EpochEnd):
            last.epoch_end(self)

    def fit(
        self,
        train_data: DataLoader,
        val_data: DataLoader | None = None,
        epochs: int | None = None,
        event_handlers: Handlers = None,
        batches: int | None = None,
        batch_axis: int = 0,
    ) -> None:
        """Train ``net`` for a number of epochs or of batches.

        A handler ends the epoch if its ``batch_end`` returns True, and the training if its
        ``epoch_end`` does; the other handlers of the event are still called.

        Args:
            train_data: DataLoader of the training batches.
            val_data: DataLoader for evaluation after each epoch; None for no evaluation.
            epochs: Number of epochs, or None.
            event_handlers: A handler or a list of handlers; missing default handlers are added.
            batches: Number of batches, over any number of epochs, or None.
            batch_axis: Axis of the samples.

        Raises:
            ArgumentError: Both or neither of ``epochs`` and ``batches`` are set, data is not a
                DataLoader or has no batches, or a handler refers to metrics that are not the
                Estimator's.
        """
        check_loader("fit", "train_data", train_data)
        self.max_epoch, self.max_batch = check_duration(epochs, batches)
        self.batch_axis = batch_axis
        handlers = self._prepare_default_handlers(val_data, event_handlers)
        join_ranks(self.trainer)
        for handler in _of_kind(handlers, TrainBegin):
            handler.train_begin(self)
        self._fits = self._is_first_batch = True
        try:
            epoch = 0
            while not self._run_epoch(train_data, handlers, epoch):
                epoch += 1
        finally:
            self._fits = self._is_first_batch = False
        for last in _of_kind(handlers, TrainEnd):
            last.train_end(self)

    def _prepare_default_handlers(
        self, val_data: DataLoader | None, event_handlers: Handlers
    ) -> list[EventHandler]:
        """Add the default handlers; return all in calling order.

        MXNet's name, like `_categorize_handlers`: subclasses call both.
        """
        handlers = check_handlers("fit", event_handlers)
        _add_missing(handlers, StoppingHandler, StoppingHandler)
        _add_missing(handlers, GradientUpdateHandler, GradientUpdateHandler)
        _add_missing(handlers, MetricHandler, lambda: MetricHandler(self._train_metrics))
        if val_data is not None:
            check_loader("fit", "val_data", val_data)
            _add_missing(
                handlers, ValidationHandler, lambda: ValidationHandler(val_data, self.evaluate)
            )
        _add_missing(handlers, LoggingHandler, lambda: LoggingHandler(metrics=self._train_metrics))
        return _in_order(handlers, [*self._train_metrics, *self._val_metrics])

    def _categorize_handlers(
        self, event_handlers: Iterable[EventHandler]
    ) -> tuple[
        list[TrainBegin],
        list[EpochBegin],
        list[BatchBegin],
        list[BatchEnd],
        list[EpochEnd],
        list[TrainEnd],
    ]:
        """Group the handlers by event; a handler of several events is in several lists."""
        handlers = list(event_handlers)
        return (
            _of_kind(handlers, TrainBegin),
            _of_kind(handlers, EpochBegin),
            _of_kind(handlers, BatchBegin),
            _of_kind(handlers, BatchEnd),
            _of_kind(handlers, EpochEnd),
            _of_kind(handlers, TrainEnd),
        )

    def _run_epoch(self, data: DataLoader, handlers: Sequence[EventHandler], epoch: int) -> bool:
        """Train for one epoch or until a handler stops it; return whether it was the last."""
        for handler in _of_kind(handlers, EpochBegin):
            handler.epoch_begin(self)
        label = f"epoch {epoch}" if self.max_epoch is None else f"epoch {epoch}/{self.max_epoch}"
        ran = False
        with with_progress(data, label, self.max_batch, self._shows_progress()) as batches:
            for batch in batches:
                ran = True
                if self._run_batch(batch, handlers, self.batch_processor.fit_batch):
                    break
        if not ran:
            raise ArgumentError("Estimator.fit: expected train_data with batches, got none")
        gather_metrics(self.trainer, self._train_metrics)
        stops = [handler.epoch_end(self) for handler in _of_kind(handlers, EpochEnd)]
        return any(stops)

    def _run_batch(
        self, batch: Any, handlers: Iterable[EventHandler], process: Callable[..., Any]
    ) -> bool:
        """Process a batch between its events; return whether a handler ends the epoch."""
        for handler in _of_kind(handlers, BatchBegin):
            handler.batch_begin(self, batch=batch)
        data, label, pred, loss = process(self, batch, self.batch_axis)
        if self._is_first_batch:
            self._is_first_batch = False
            arrays = listed(data), listed(label), listed(pred), listed(loss)
            for problem in first_batch_problems(*arrays, self.loss):
                warn_at_line(problem)
        stops = [
            handler.batch_end(self, batch=batch, pred=pred, label=label, loss=loss)
            for handler in _of_kind(handlers, BatchEnd)
        ]
        return any(stops)

    def _shows_progress(self) -> bool:
        return self.logger.isEnabledFor(logging.INFO)


def _of_kind(handlers: Iterable[EventHandler], kind: type[T]) -> list[T]:
    return [handler for handler in handlers if isinstance(handler, kind)]


def _in_order(handlers: Sequence[EventHandler], known: Sequence[EvalMetric]) -> list[EventHandler]:
    """Check the metrics of handlers, and sort the handlers by priority."""
    for handler in handlers:
        check_handler_metrics(handler, known)
    return sorted(handlers, key=lambda handler: getattr(handler, "priority", 0))


def _add_missing(
    handlers: list[EventHandler], kind: type[EventHandler], make: Callable[[], EventHandler]
) -> None:
    if not any(isinstance(handler, kind) for handler in handlers):
        handlers.append(make())
