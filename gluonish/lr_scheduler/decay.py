"""Schedulers that lower the learning rate smoothly until a last update."""

from math import cos, pi

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import check_numbers
from gluonish.lr_scheduler.scheduler import LRScheduler

__all__ = ["CosineScheduler", "PolyScheduler"]


class _DecayScheduler(LRScheduler):
    """From ``base_lr`` after the warm-up down to ``final_lr``, along a subclass's curve."""

    def __init__(
        self,
        max_update: int,
        base_lr: float,
        final_lr: float,
        warmup_steps: int,
        warmup_begin_lr: float,
        warmup_mode: str,
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        name = type(self).__name__
        check_numbers(name, final_lr=final_lr)
        if not isinstance(max_update, int):
            raise ArgumentTypeError(f"{name}: expected an int max_update, got {max_update!r}")
        if max_update < 1:
            raise ArgumentError(f"{name}: expected max_update of 1 or more, got {max_update}")
        self.base_lr_orig = base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps = max_update - warmup_steps

    def _remaining(self, progress: float) -> float:
        """Return how much of ``base_lr - final_lr`` is left, from 1 at progress 0 to 0 at 1."""
        raise NotImplementedError

    def __call__(self, num_update: int) -> float:
        """Return the learning rate; after ``max_update`` it stays as it was last."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update <= self.max_update:
            done = num_update - self.warmup_steps
            progress = done / self.max_steps if self.max_steps else 1.0
            span = self.base_lr_orig - self.final_lr
            self.base_lr = self.final_lr + span * self._remaining(progress)
        return self.base_lr


class PolyScheduler(_DecayScheduler):
    """Polynomial decay: lower the learning rate as ``(1 - progress) ** pwr``.

    Args:
        max_update: Number of updates after which ``final_lr`` is reached.
        base_lr: Learning rate after the warm-up.
        pwr: Exponent of the polynomial.
        final_lr: Learning rate at the end.
        warmup_steps: As in `LRScheduler`.
        warmup_begin_lr: As in `LRScheduler`.
        warmup_mode: As in `LRScheduler`.

    Raises:
        ArgumentError: ``max_update`` is below 1.
        ArgumentTypeError: ``max_update`` is not an int.
    """

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        pwr: float = 2,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        check_numbers("PolyScheduler", pwr=pwr)
        self.power = pwr

    def _remaining(self, progress: float) -> float:
        remaining: float = (1 - progress) ** self.power
        return remaining


class CosineScheduler(_DecayScheduler):
    """Cosine decay: lower the learning rate along half a period of a cosine.

    Args:
        max_update: Number of updates after which ``final_lr`` is reached.
        base_lr: Learning rate after the warm-up.
        final_lr: Learning rate at the end.
        warmup_steps: As in `LRScheduler`.
        warmup_begin_lr: As in `LRScheduler`.
        warmup_mode: As in `LRScheduler`.

    Raises:
        ArgumentError: ``max_update`` is below 1.
        ArgumentTypeError: ``max_update`` is not an int.

    References:
        I. Loshchilov, F. Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017;
        here without restarts.
    """

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def _remaining(self, progress: float) -> float:
        return (1 + cos(pi * progress)) / 2
