"""LRScheduler: what all schedulers share, the warm-up.

The attributes bear MXNet's names and hold what MXNet's hold, because trainer states save them.
"""

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.number_check import check_numbers

__all__ = ["LRScheduler"]


class LRScheduler:
    """Base class of schedulers: a function from the number of updates to the learning rate.

    A subclass overrides `__call__`, and returns `get_warmup_lr` while
    ``num_update < warmup_steps``.

    Args:
        base_lr: Learning rate after the warm-up.
        warmup_steps: Number of updates in the warm-up; 0 for no warm-up.
        warmup_begin_lr: Learning rate at the first update of the warm-up.
        warmup_mode: ``"linear"`` rises linearly to ``base_lr``; ``"constant"`` stays at
            ``warmup_begin_lr``.

    Raises:
        ArgumentError: ``warmup_steps`` is negative, ``warmup_begin_lr`` is above ``base_lr``, or
            the mode is unknown.
        ArgumentTypeError: ``warmup_steps`` is not an int, or a rate is no number.
    """

    def __init__(
        self,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        name = type(self).__name__
        if not isinstance(warmup_steps, int):
            raise ArgumentTypeError(f"{name}: expected an int warmup_steps, got {warmup_steps!r}")
        if warmup_steps < 0:
            raise ArgumentError(f"{name}: expected warmup_steps of 0 or more, got {warmup_steps}")
        check_numbers(name, base_lr=base_lr, warmup_begin_lr=warmup_begin_lr)
        if warmup_begin_lr > base_lr:
            raise ArgumentError(
                f"{name}: expected warmup_begin_lr up to base_lr {base_lr}, got {warmup_begin_lr}"
            )
        if not isinstance(warmup_mode, str) or warmup_mode not in ("linear", "constant"):
            raise ArgumentError(
                f"{name}: expected warmup_mode 'linear' or 'constant', got {warmup_mode!r}"
            )
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_final_lr = base_lr
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update: int) -> float:
        """Return the learning rate during the warm-up.

        Args:
            num_update: Number of updates so far, below ``warmup_steps``.
        """
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = self.warmup_final_lr - self.warmup_begin_lr
        return self.warmup_begin_lr + rise * num_update / self.warmup_steps

    def __call__(self, num_update: int) -> float:
        """Return the learning rate.

        Args:
            num_update: Number of updates so far: the largest over all weights.
        """
        raise NotSupportedError(
            f"{type(self).__name__}: expected a subclass that defines __call__, got none; "
            "use FactorScheduler or another scheduler"
        )
