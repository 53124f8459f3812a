"""`mx.misc`: learning rate schedules, superseded by `mx.lr_scheduler`."""

from gluonish.core.errors import ArgumentError

__all__ = ["FactorScheduler", "LearningRateScheduler"]


class LearningRateScheduler:
    """Base class of MXNet's oldest schedules; ``base_lr`` is the initial learning rate."""

    def __init__(self) -> None:
        self.base_lr = 0.01

    def __call__(self, iteration: int) -> float:
        """Return the learning rate for an iteration.

        Args:
            iteration: Number of the iteration.
        """
        raise NotImplementedError("must override this")


class FactorScheduler(LearningRateScheduler):
    """Multiplies the learning rate by a factor every ``step`` iterations.

    Args:
        step: Number of iterations, at least 1.
        factor: The factor, below 1.

    Raises:
        ArgumentError: ``step`` or ``factor`` is out of range.
    """

    def __init__(self, step: int, factor: float = 0.1) -> None:
        super().__init__()
        if step < 1:
            raise ArgumentError(f"FactorScheduler: expected step of 1 or more, got {step}")
        if factor >= 1:
            raise ArgumentError(f"FactorScheduler: expected a factor below 1, got {factor}")
        self.step = step
        self.factor = factor
        self.old_lr = self.base_lr
        self.init = False

    def __call__(self, iteration: int) -> float:
        """Return the learning rate for an iteration.

        Args:
            iteration: Number of the iteration.
        """
        self.init = True
        self.old_lr = self.base_lr * self.factor ** (iteration // self.step)
        return self.old_lr
