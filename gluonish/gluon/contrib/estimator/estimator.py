"""Estimator: trains and evaluates a network, and calls event handlers."""

import copy
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError
from gluonish.core.files import AnyPath
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
    EarlyStoppingHandler,
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
from gluonish.gluon.contrib.estimator.fit_options import FitOptions, FitScope
from gluonish.gluon.contrib.estimator.logging_handler import LineHandler, with_progress
from gluonish.gluon.contrib.estimator.schedule_handler import Schedule
from gluonish.gluon.contrib.estimator.training_loop import TrainingLoop
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
from gluonish.gluon.mixed_precision.loss_scaler import LossScaler
from gluonish.gluon.trainer import Trainer
from gluonish.gluon.trainer.sharpness import SAM
from gluonish.gluon.trainer.weight_average import WeightAverage
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
        average: The average of the weights in the last `fit`, or None.
        average_metrics: Metrics of evaluations with the average, or an empty list.

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
    _has_warned = False  # whether `fit` has warned of a problem
    _fits = False  # True while `fit` runs, which all processes call together
    _scope: FitScope | None = None  # of the options of the `fit` that runs
    _loss_scaler: LossScaler | None = None  # of the last `fit` in float16

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
        self.average: WeightAverage | None = None
        self.average_metrics: list[EvalMetric] = []

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
        self._evaluate(
            val_data, _in_order(handlers, self._val_metrics), self._val_metrics, "validation"
        )

    def _evaluate(
        self,
        val_data: DataLoader,
        handlers: Sequence[EventHandler],
        metrics: list[EvalMetric],
        label: str,
    ) -> None:
        """Evaluate with handlers in calling order."""
        for handler in _of_kind(handlers, EpochBegin):
            handler.epoch_begin(self)
        with with_progress(val_data, label, None, self._progress(), metrics) as batches:
            for batch in batches:
                self._run_batch(batch, handlers, self.batch_processor.evaluate_batch)
        if self._fits:
            gather_metrics(self.trainer, metrics)
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
        *,
        precision: str | None = None,
        accumulate: int = 1,
        clip_grad_norm: float | None = None,
        clip_grad_value: float | None = None,
        schedule: Schedule | None = None,
        schedule_interval: str = "update",
        average: WeightAverage | float | None = None,
        average_start: int = 0,
        sam: SAM | float | None = None,
        monitor: EvalMetric | str | None = None,
        monitor_mode: str | None = None,
        early_stopping: int | Mapping[str, Any] | EarlyStoppingHandler | None = None,
        checkpoints: AnyPath | None = None,
        checkpoint_interval: int | None = None,
        max_checkpoints: int = 1,
        resume: bool = False,
        progress: bool | None = None,
    ) -> None:
        """Train ``net`` for a number of epochs or of batches.

        A handler ends the epoch if its ``batch_end`` returns True, and the training if its
        ``epoch_end`` does; the other handlers of the event are still called.

        The keyword-only arguments apply to this call; afterwards the Trainer has its own options
        again. If processes of a ``dist_sync`` store have different numbers of batches, the epoch
        ends for all with the first whose data has ended.

        Args:
            train_data: DataLoader of the training batches.
            val_data: DataLoader for evaluation after each epoch; None for no evaluation.
            epochs: Number of epochs, or None.
            event_handlers: A handler or a list of handlers; missing default handlers are added.
            batches: Number of batches, over any number of epochs, or None.
            batch_axis: Axis of the samples.
            precision: ``"float32"``; or ``"bfloat16"`` or ``"float16"`` for networks that compute
                in mixed precision, with float32 parameters, as by `contrib.amp.autocast`; float16
                also gets a dynamic loss scale. None for the program's own setting.
            accumulate: Number of batches whose gradients are added for one update, which divides
                them by the number of their samples. An epoch's last group may be smaller.
            clip_grad_norm: Largest joint 2-norm of the gradients of an update, after their division
                by samples and loss scale; None for no limit.
            clip_grad_value: Largest absolute value of an element of these gradients, or None.
            schedule: Learning rate: an `LRScheduler` with its own ``base_lr``, or a function of the
                number of updates; None for the Trainer's. A `ReduceLROnPlateau` follows
                ``monitor``.
            schedule_interval: ``"update"``; or ``"epoch"`` for a schedule that counts epochs.
            average: Decay of an exponential moving average of the weights in [0, 1), updated with
                them; or a `gluon.utils.WeightAverage`, which without a decay is updated after each
                epoch (SWA). With ``val_data`` the averaged network is evaluated, too, with the
                metrics ``estimator.average_metrics``. ``estimator.average.copy_to(net)`` sets the
                averages as weights in the end.
            average_start: Number of epochs without average at the beginning.
            sam: Radius rho of sharpness-aware minimization, or a `gluon.utils.SAM` of the net's
                parameters, which may be adaptive: the gradients of each update are those at
                weights perturbed by a first pass over the batch. Metrics are those of the first
                pass. Each pass draws its own dropout. Only with ``accumulate=1``.
            monitor: The metric of plateaus, of early stopping and of the best checkpoint: a metric
                of the Estimator, or its name, such as ``"validation accuracy"``, ``"accuracy"`` or
                ``"loss"``. A name without its first word is looked for in ``average_metrics``,
                ``val_metrics`` and ``train_metrics``, in this order. None: the first
                `metric.Loss` among them, and without one the first metric.
            monitor_mode: ``"min"`` or ``"max"``, which values are better; None for ``"min"`` with
                losses and errors, else ``"max"``.
            early_stopping: Number of epochs without improvement of ``monitor`` after which training
                stops; or a dict of the arguments ``patience``, ``min_delta``, ``baseline``,
                ``monitor`` and ``mode`` of an `EarlyStoppingHandler`; or such a handler.
            checkpoints: Folder for checkpoints, which all processes can access; created if missing.
                A checkpoint is written after each epoch, and ``best.params`` whenever ``monitor``
                improves (the averages, if it is one of ``average_metrics``).
            checkpoint_interval: Number of batches between additional checkpoints, or None.
            max_checkpoints: Number of checkpoints to keep besides the best.
            resume: Whether to go on from the newest checkpoint in the folder, if there is one. The
                result has the same bits as that of a run that was never interrupted, if the program
                is the same: see "Reproducible runs" in the documentation. If that training was
                complete, all is loaded, and nothing is trained.
            progress: Whether to show a progress bar with the metrics; None for one if standard
                error is a terminal.

        Raises:
            ArgumentError: Both or neither of ``epochs`` and ``batches`` are set, data is not a
                DataLoader or has no batches, a handler refers to metrics that are not the
                Estimator's, or an option is out of its range or excluded by the Trainer's own.
            ArgumentTypeError: An option is not a number, or ``schedule`` not a function.

        Example::

            steps = epochs * len(train_loader)
            estimator.fit(
                train_loader,
                val_loader,
                epochs=epochs,
                precision="bfloat16",
                clip_grad_norm=1.0,
                schedule=mx.lr_scheduler.CosineScheduler(steps, 0.1, warmup_steps=500),
                average=0.999,
                monitor="accuracy",
                early_stopping=10,
                checkpoints="run",
                resume=True,
            )
        """
        check_loader("fit", "train_data", train_data)
        self.max_epoch, self.max_batch = check_duration(epochs, batches)
        self.batch_axis = batch_axis
        options = FitOptions(
            precision=precision,
            accumulate=accumulate,
            clip_grad_norm=clip_grad_norm,
            clip_grad_value=clip_grad_value,
            schedule=schedule,
            schedule_interval=schedule_interval,
            average=average,
            average_start=average_start,
            sam=sam,
            monitor=monitor,
            monitor_mode=monitor_mode,
            early_stopping=early_stopping,
            checkpoints=checkpoints,
            checkpoint_interval=checkpoint_interval,
            max_checkpoints=max_checkpoints,
            resume=resume,
            progress=progress,
        )
        if average is not None and epochs is not None and options.average_start >= epochs:
            raise ArgumentError(
                f"Estimator.fit: expected average_start below epochs ({epochs}), got "
                f"{average_start}; there would be no average"
            )
        scope = FitScope(self, options, val_data)
        given = [*check_handlers("fit", event_handlers), *scope.handlers]
        handlers = self._prepare_default_handlers(val_data, given)
        join_ranks(self.trainer)
        self._scope = scope
        self._fits = self._is_first_batch = True
        self._has_warned = False
        try:
            with scope:
                TrainingLoop(self, scope, handlers, train_data, val_data).run()
        finally:
            self._fits = self._is_first_batch = False
            self._scope = None

    @property
    def _scales_losses(self) -> bool:
        """Whether losses are multiplied by the Trainer's loss scale."""
        return self._scope is not None and self._scope.options.precision == "float16"

    def _set_average(
        self, average: WeightAverage | float | None, val_data: DataLoader | None
    ) -> list[EvalMetric]:
        """Set the average of the weights and its metrics; return the metrics.

        Raises:
            ArgumentError: The average is one of another network.
        """
        if average is not None and not isinstance(average, WeightAverage):
            average = WeightAverage(self.net, average)
        if average is not None and average.net is not self.net:
            raise ArgumentError(
                "Estimator.fit: expected average of the Estimator's net, got another"
            )
        self.average, self.average_metrics = average, []
        if average is not None and val_data is not None:
            self.average_metrics = copy.deepcopy(self._val_metrics)
            for metric in self.average_metrics:
                metric.reset()
                metric.name = metric.name.replace("validation", "average")
        return self.average_metrics

    def _evaluate_average(self, val_data: DataLoader) -> None:
        """Compute ``average_metrics``; the weights are the averages."""
        handlers: list[EventHandler] = [MetricHandler(self.average_metrics)]
        self._evaluate(val_data, handlers, self.average_metrics, "average")

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
        known = [*self._train_metrics, *self._val_metrics, *self.average_metrics]
        return _in_order(handlers, known)

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

    def _run_batch(
        self, batch: Any, handlers: Iterable[EventHandler], process: Callable[..., Any]
    ) -> bool:
        """Process a batch between its events; return whether a handler ends the epoch."""
        for handler in _of_kind(handlers, BatchBegin):
            handler.batch_begin(self, batch=batch)
        scope = self._scope
        with nullcontext() if scope is None else scope.casts():
            data, label, pred, loss = process(self, batch, self.batch_axis)
        if self._is_first_batch:
            self._is_first_batch = False
            arrays = listed(data), listed(label), listed(pred), listed(loss)
            for problem in first_batch_problems(*arrays, self.loss):
                self._has_warned = True
                self.warn(problem)
        stops = [
            handler.batch_end(self, batch=batch, pred=pred, label=label, loss=loss)
            for handler in _of_kind(handlers, BatchEnd)
        ]
        return any(stops)

    def warn(self, problem: str) -> None:
        """Warn of a problem of the training run; a subclass may do it otherwise.

        Args:
            problem: A sentence.
        """
        warn_at_line(problem)

    def _progress(self) -> bool | None:
        """Whether progress bars are shown; None if standard error is a terminal."""
        wanted = None if self._scope is None else self._scope.options.progress
        return wanted if wanted is not None or self.logger.isEnabledFor(logging.INFO) else False


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
