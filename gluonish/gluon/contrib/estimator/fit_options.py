"""The keyword arguments of `Estimator.fit`: their checks, and their scope during a call."""

import math
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError, nearest
from gluonish.core.files import AnyPath, path_text
from gluonish.core.number_check import as_float, as_int, check_numbers
from gluonish.gluon.contrib.estimator.average_handler import AverageHandler
from gluonish.gluon.contrib.estimator.events import EventHandler
from gluonish.gluon.contrib.estimator.monitor import mode_of, monitored
from gluonish.gluon.contrib.estimator.schedule_handler import Schedule, ScheduleHandler
from gluonish.gluon.contrib.estimator.step_handlers import EarlyStoppingHandler
from gluonish.gluon.mixed_precision.training import autocast, init_trainer
from gluonish.gluon.trainer.sharpness import SAM
from gluonish.gluon.trainer.step_options import StepOptions
from gluonish.gluon.trainer.weight_average import WeightAverage
from gluonish.metric import EvalMetric

_PRECISIONS = ("float32", "bfloat16", "float16")
_STOPPING = ("patience", "min_delta", "baseline", "monitor", "mode")


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """The keyword-only arguments of `Estimator.fit`, which documents them; checked when made."""

    precision: str | None = None
    accumulate: int = 1
    clip_grad_norm: float | None = None
    clip_grad_value: float | None = None
    schedule: Schedule | None = None
    schedule_interval: str = "update"
    average: WeightAverage | float | None = None
    average_start: int = 0
    sam: SAM | float | None = None
    monitor: EvalMetric | str | None = None
    monitor_mode: str | None = None
    early_stopping: int | Mapping[str, Any] | EarlyStoppingHandler | None = None
    checkpoints: AnyPath | None = None
    checkpoint_interval: int | None = None
    max_checkpoints: int = 1
    resume: bool = False
    progress: bool | None = None

    def __post_init__(self) -> None:
        _one_of("precision", self.precision, (None, *_PRECISIONS))
        _one_of("schedule_interval", self.schedule_interval, ("update", "epoch"))
        _one_of("monitor_mode", self.monitor_mode, (None, "min", "max"))
        for name in ("resume", "progress"):
            _one_of(name, getattr(self, name), (None, True, False))
        for name, low in (("accumulate", 1), ("average_start", 0), ("max_checkpoints", 1)):
            number = as_int("Estimator.fit", name, getattr(self, name), low)
            object.__setattr__(self, name, number)  # of a NumPy integer, or 2.0
        for name in ("clip_grad_norm", "clip_grad_value"):
            value = getattr(self, name)
            if value is not None:
                check_numbers("Estimator.fit", **{name: value})
                if not value > 0:
                    raise ArgumentError(f"Estimator.fit: expected {name} above 0, got {value}")
        if self.schedule is not None:
            _check_schedule(self.schedule)
        elif self.schedule_interval != "update":
            raise ArgumentError(
                "Estimator.fit: expected schedule_interval with a schedule, got no schedule"
            )
        _check_average(self.average)
        if self.average_start and self.average is None:
            raise ArgumentError(
                f"Estimator.fit: expected average_start with an average, got {self.average_start} "
                "and no average"
            )
        _check_sam(self.sam, self.accumulate)
        _check_stopping(self.early_stopping)
        self._check_checkpoints()

    def _check_checkpoints(self) -> None:
        if self.checkpoint_interval is not None:
            number = as_int("Estimator.fit", "checkpoint_interval", self.checkpoint_interval, 1)
            object.__setattr__(self, "checkpoint_interval", number)
        if self.checkpoints is not None:
            if not path_text(self.checkpoints, "Estimator.fit: checkpoints"):
                raise ArgumentError(
                    "Estimator.fit: expected checkpoints to be the path of a folder, got ''; '.' "
                    "is the current one"
                )
        elif self.resume or self.checkpoint_interval is not None:
            name = "resume" if self.resume else "checkpoint_interval"
            raise ArgumentError(
                f"Estimator.fit: expected {name} with checkpoints, got no folder; pass, for "
                "example, checkpoints='run'"
            )

    @property
    def needs_monitor(self) -> bool:
        """Whether an option looks at a metric."""
        return self.early_stopping is not None or self.checkpoints is not None


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if not any(value is x or (isinstance(value, str) and value == x) for x in allowed):
        names = ", ".join(repr(x) for x in allowed)
        raise ArgumentError(f"Estimator.fit: expected {name} to be one of {names}, got {value!r}")


def _check_schedule(schedule: Any) -> None:
    if not callable(schedule):
        raise ArgumentTypeError(
            "Estimator.fit: expected schedule to be an LRScheduler or a function of the number "
            f"of updates, got {schedule!r}"
        )
    if isinstance(schedule, type):
        raise ArgumentTypeError(
            "Estimator.fit: expected schedule to be an object or a function, got the class "
            f"{schedule.__name__}; call it with its arguments"
        )


def _check_average(average: Any) -> None:
    if average is None or isinstance(average, WeightAverage):
        return
    check_numbers("Estimator.fit", average=average)
    if isinstance(average, bool) or not 0 <= average < 1:
        advice = "; for the mean of the epochs pass gluon.utils.WeightAverage(net, decay=None)"
        raise ArgumentError(
            f"Estimator.fit: expected average to be a decay in [0, 1) or a WeightAverage, got "
            f"{average}{advice if average == 1 else ''}"
        )


def _check_sam(sam: Any, accumulate: int) -> None:
    if sam is None:
        return
    if not isinstance(sam, SAM):
        check_numbers("Estimator.fit", sam=sam)
        if isinstance(sam, bool) or not 0 < sam < math.inf:
            raise ArgumentError(
                "Estimator.fit: expected sam to be a finite radius above 0 or a gluon.utils.SAM, "
                f"got {sam}"
            )
    if accumulate > 1:
        raise ArgumentError(
            "Estimator.fit: expected accumulate=1 with sam, which perturbs the weights by the "
            f"gradients of one batch, got {accumulate}; use larger batches"
        )


def _sam_of(sam: SAM | float, estimator: Any) -> SAM:
    """Return the perturbation of the weights that an estimator trains.

    Raises:
        ArgumentError: The Trainer accumulates gradients, or has no Parameter of ``sam``.
    """
    trainer = estimator.trainer
    if trainer._groups is not None:
        raise ArgumentError(
            "Estimator.fit: expected a Trainer with accumulate=1 for sam, got one that accumulates"
        )
    if not isinstance(sam, SAM):
        return SAM(estimator.net.collect_params(), float(sam))
    if not set(map(id, sam._params)) & set(map(id, trainer._params)):
        raise ArgumentError(
            "Estimator.fit: expected sam with Parameters that the Trainer updates, got a "
            "gluon.utils.SAM of others"
        )
    return sam


def _check_stopping(stopping: Any) -> None:
    if stopping is None or isinstance(stopping, EarlyStoppingHandler):
        return
    if isinstance(stopping, Mapping):
        unknown = sorted(set(stopping) - set(_STOPPING), key=str)
        if unknown:
            raise ArgumentError(
                f"Estimator.fit: expected early_stopping with {', '.join(_STOPPING)}, got "
                f"{unknown[0]!r}{nearest(unknown[0], _STOPPING)}"
            )
        for name in ("min_delta", "baseline"):
            value = stopping.get(name, 0)
            if value is not None or name == "min_delta":
                as_float("Estimator.fit", f"early_stopping[{name!r}]", value)
        _one_of("early_stopping['mode']", stopping.get("mode"), (None, "min", "max"))
        as_int("Estimator.fit", "early_stopping['patience']", stopping.get("patience", 1), 1)
        return
    as_int("Estimator.fit", "early_stopping", stopping, 1)


class FitScope(ExitStack):
    """A call of `Estimator.fit` with options; the Trainer has its own again at the end.

    Args:
        estimator: The Estimator.
        options: The options.
        val_data: DataLoader for evaluation, or None.

    Attributes:
        options: The argument.
        handlers: Handlers that the options add.
        monitor: The metric that decides, or None if nothing looks at it.
        average: Handler of the average of weights, or None.
        schedule: Handler of the schedule, or None.

    Raises:
        ArgumentError: The Trainer or the metrics exclude an option, or no parameter is trained.
    """

    def __init__(self, estimator: Any, options: FitOptions, val_data: Any) -> None:
        super().__init__()
        self.options = options
        self._estimator = estimator
        trainer = estimator.trainer
        if trainer._params and all(x.grad_req == "null" for x in trainer._params):
            raise ArgumentError(
                "Estimator.fit: expected parameters to train, got a Trainer whose parameters are "
                "all frozen; call net.unfreeze(), for some of them with a pattern"
            )
        self._steps = StepOptions(
            trainer, options.accumulate, options.clip_grad_norm, options.clip_grad_value
        )
        self._sam = None if options.sam is None else _sam_of(options.sam, estimator)
        average_metrics = estimator._set_average(options.average, val_data)
        metrics = [*average_metrics, *(estimator.val_metrics if val_data is not None else ())]
        metrics += estimator.train_metrics
        self._metrics: list[EvalMetric] = metrics
        self.monitor = monitored(options.monitor, metrics) if metrics else None
        self.average: AverageHandler | None = None
        if estimator.average is not None:
            self.average = AverageHandler(
                estimator.average,
                options.average_start,
                None if val_data is None else lambda: estimator._evaluate_average(val_data),
                average_metrics,
            )
        self.schedule: ScheduleHandler | None = None
        if options.schedule is not None:
            interval = options.schedule_interval
            self.schedule = ScheduleHandler(options.schedule, interval, self.monitor)
        stopping = self._stopping(options.early_stopping)
        found = (self.average, self.schedule, stopping)
        self.handlers: list[EventHandler] = [x for x in found if x is not None]

    def _stopping(self, stopping: Any) -> EarlyStoppingHandler | None:
        if stopping is None or isinstance(stopping, EarlyStoppingHandler):
            return stopping
        given = dict(stopping) if isinstance(stopping, Mapping) else {"patience": stopping}
        name = given.pop("monitor", None)
        monitor = self.monitor if name is None else monitored(name, self._metrics)
        assert monitor is not None
        mode = mode_of(monitor, given.pop("mode", None) or self.options.monitor_mode)
        return EarlyStoppingHandler(monitor, mode=mode, **{"patience": 1, **given})

    def fit_batch(self, estimator: Any, batch: Any, batch_axis: int) -> Any:
        """Compute outputs, losses and gradients of a batch, with SAM those at perturbed weights.

        The outputs and losses are those at the weights themselves.
        """
        process = estimator.batch_processor.fit_batch
        results = process(estimator, batch, batch_axis)
        if self._sam is not None:
            with self._sam.perturbed():
                process(estimator, batch, batch_axis)
        return results

    @property
    def mode(self) -> str:
        """``"min"`` or ``"max"``: which values of the monitored metric are better."""
        assert self.monitor is not None
        return mode_of(self.monitor, self.options.monitor_mode)

    def attach(self) -> None:
        """Set options of the optimizer, which was replaced by that of a file."""
        optimizer = self._estimator.trainer.optimizer
        if self.options.clip_grad_value is not None:
            optimizer.clip_gradient = self.options.clip_grad_value
        if self.schedule is not None:
            self.schedule.attach(self._estimator.trainer)

    def detached(self) -> ExitStack:
        """Return a scope in which the optimizer is without the schedule."""
        optimizer, stack = self._estimator.trainer.optimizer, ExitStack()
        if self.schedule is not None:
            stack.callback(setattr, optimizer, "lr_scheduler", optimizer.lr_scheduler)
            optimizer.lr_scheduler = None
        return stack

    def casts(self) -> autocast | ExitStack:
        """Return a scope in which networks compute in the precision of the options."""
        precision = self.options.precision
        if precision is None:
            return ExitStack()
        return autocast("bfloat16" if precision == "float32" else precision, precision != "float32")

    def __enter__(self) -> "FitScope":
        trainer = self._estimator.trainer
        super().__enter__()
        with ExitStack() as stack:
            stack.enter_context(self._steps)
            if self.options.precision == "float16":
                stack.enter_context(self._scaled_losses())
            if self.schedule is not None:
                stack.enter_context(self.schedule.applied(trainer))
            self.push(stack.pop_all())
        return self

    def _scaled_losses(self) -> ExitStack:
        """Return a scope in which the Trainer has a loss scale, the one of earlier calls."""
        trainer, stack = self._estimator.trainer, ExitStack()
        if trainer._amp_loss_scaler is not None:
            return stack
        init_trainer(trainer)
        scaler: Any = self._estimator._loss_scaler or trainer._amp_loss_scaler
        trainer._amp_loss_scaler = self._estimator._loss_scaler = scaler

        def restore() -> None:
            trainer._scale = trainer._amp_original_scale
            trainer._amp_loss_scaler = None

        stack.callback(restore)
        return stack
