"""A schedule that follows a metric."""

import logging
from math import inf

from gluonish.core.call_errors import explained
from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import as_float, as_int, check_numbers
from gluonish.lr_scheduler.scheduler import LRScheduler

_logger = logging.getLogger(__name__)


class ReduceLROnPlateau(LRScheduler):
    """Multiply the learning rate by ``factor`` when a metric has stopped improving.

    Call `step` with the metric, usually once an epoch. The rules are those of PyTorch's class.

    Args:
        mode: ``"min"`` if the metric should fall, ``"max"`` if it should rise.
        factor: Factor of each reduction, below 1.
        patience: Number of calls without improvement that are tolerated; the next one reduces.
        threshold: Smallest change that counts as an improvement.
        threshold_mode: ``"rel"``: relative to the best value; ``"abs"``: an absolute change.
        cooldown: Number of calls after a reduction in which nothing is counted.
        min_lr: Lower limit of the learning rate.
        epsilon: A reduction of this size or less is left out.
        base_lr: Learning rate to start from.
        warmup_steps: As in `LRScheduler`.
        warmup_begin_lr: As in `LRScheduler`.
        warmup_mode: As in `LRScheduler`.

    Attributes:
        best: Best metric so far.
        num_bad_epochs: Number of calls without improvement since then, or since a reduction.
        cooldown_counter: Number of calls left in which nothing is counted.

    Raises:
        ArgumentError: A mode is unknown, ``factor`` is not below 1, or a count is negative.
        ArgumentTypeError: An argument is not a number.

    Example:
        >>> import gluonish as mx
        >>> schedule = mx.lr_scheduler.ReduceLROnPlateau(factor=0.5, patience=1, base_lr=1.0)
        >>> for loss in (0.9, 0.8, 0.8, 0.8):
        ...     schedule.step(loss)
        >>> schedule(100)
        0.5
    """

    @explained
    def __init__(
        self,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        name = "ReduceLROnPlateau"
        check_numbers(name, factor=factor, threshold=threshold, min_lr=min_lr, epsilon=epsilon)
        if not factor < 1:
            raise ArgumentError(f"{name}: expected a factor below 1, got {factor}")
        if mode not in ("min", "max"):
            raise ArgumentError(f"{name}: expected mode 'min' or 'max', got {mode!r}")
        if threshold_mode not in ("rel", "abs"):
            raise ArgumentError(
                f"{name}: expected threshold_mode 'rel' or 'abs', got {threshold_mode!r}"
            )
        self.mode = mode
        self.factor = factor
        self.patience = as_int(name, "patience", patience, 0)
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = as_int(name, "cooldown", cooldown, 0)
        self.min_lr = min_lr
        self.epsilon = epsilon
        self.best = inf if mode == "min" else -inf
        self.num_bad_epochs = 0
        self.cooldown_counter = 0

    def step(self, metric: float) -> None:
        """Take account of a new value of the metric.

        Args:
            metric: The value, a number or an array of one element; NaN is no improvement.

        Raises:
            ArgumentTypeError: The metric is not a number.
        """
        value = as_float("ReduceLROnPlateau.step", "metric", metric)
        if self._improves(value):
            self.best = value
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            reduced = max(self.base_lr * self.factor, self.min_lr)
            if self.base_lr - reduced > self.epsilon:
                self.base_lr = reduced
                _logger.info("Metric %g: learning rate is now %.5e", value, reduced)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0

    def _improves(self, value: float) -> bool:
        """Whether a value is better than the best by more than the threshold."""
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            limit = self.best * (1 + sign * self.threshold)
        else:
            limit = self.best + sign * self.threshold
        return sign * value > sign * limit

    def __call__(self, num_update: int) -> float:
        """Return the learning rate.

        Args:
            num_update: Number of updates so far, which matters in the warm-up only.
        """
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        return self.base_lr
