"""Schedules in cycles: one cycle, cosines with warm restarts; and exponential decay."""

from collections.abc import Callable
from itertools import pairwise
from math import cos, pi

from gluonish.core.call_errors import explained
from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import as_int, check_numbers
from gluonish.lr_scheduler.scheduler import LRScheduler


def _cosine(start: float, end: float, progress: float) -> float:
    return end + (start - end) / 2 * (1 + cos(pi * progress))


def _linear(start: float, end: float, progress: float) -> float:
    return start + (end - start) * progress


_CURVES: dict[str, Callable[[float, float, float], float]] = {"cos": _cosine, "linear": _linear}


class OneCycleScheduler(LRScheduler):
    """One-cycle policy: rise from a small learning rate to ``base_lr``, then fall to almost 0.

    The rates are those of PyTorch's ``OneCycleLR`` after ``num_update`` of its steps: from
    ``base_lr / div_factor`` to ``base_lr`` until update ``pct_start * max_update - 1``, then to
    ``base_lr / div_factor / final_div_factor`` at update ``max_update - 1``, and constant from
    there. With ``three_phase`` the fall to the initial rate takes as long as the rise, and the
    last phase goes from there to the final rate. The momentum stays as it is.

    Args:
        max_update: Number of updates of the cycle.
        base_lr: Highest learning rate, PyTorch's ``max_lr``.
        pct_start: Fraction of the cycle in which the rate rises, in [0, 1].
        anneal_strategy: ``"cos"`` or ``"linear"``, the curve of each phase.
        div_factor: ``base_lr`` divided by the initial rate, above 0.
        final_div_factor: Initial rate divided by the final rate, above 0.
        three_phase: Whether there is a third phase, as in the paper.

    Raises:
        ArgumentError: ``max_update`` is below 1, ``pct_start`` not in [0, 1] (with
            ``three_phase`` not in [0, 0.5]), a divisor is not above 0, or the strategy is unknown.
        ArgumentTypeError: An argument is not a number.

    References:
        L. N. Smith, N. Topin, "Super-Convergence: Very Fast Training of Neural Networks Using
        Large Learning Rates", 2018.

    Example:
        >>> import gluonish as mx
        >>> schedule = mx.lr_scheduler.OneCycleScheduler(101, base_lr=1.0, anneal_strategy="linear")
        >>> [round(schedule(n), 3) for n in (0, 29, 65, 100)]
        [0.04, 0.99, 0.495, 0.0]
    """

    @explained
    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
    ) -> None:
        super().__init__(base_lr)
        name = "OneCycleScheduler"
        self.max_update = as_int(name, "max_update", max_update, 1)
        check_numbers(
            name, pct_start=pct_start, div_factor=div_factor, final_div_factor=final_div_factor
        )
        most = 0.5 if three_phase else 1.0
        if not 0 <= pct_start <= most:
            raise ArgumentError(f"{name}: expected pct_start in [0, {most:g}], got {pct_start}")
        for key, value in (("div_factor", div_factor), ("final_div_factor", final_div_factor)):
            if not value > 0:
                raise ArgumentError(f"{name}: expected {key} above 0, got {value}")
        if not isinstance(anneal_strategy, str) or anneal_strategy not in _CURVES:
            raise ArgumentError(
                f"{name}: expected anneal_strategy 'cos' or 'linear', got {anneal_strategy!r}"
            )
        self.pct_start = pct_start
        self.anneal_strategy = anneal_strategy
        self.div_factor = div_factor
        self.final_div_factor = final_div_factor
        self.three_phase = three_phase

    def __call__(self, num_update: int) -> float:
        """Return the learning rate.

        Args:
            num_update: Number of updates so far, the maximum over all weights.
        """
        initial = self.base_lr / self.div_factor
        final = initial / self.final_div_factor
        rise = self.pct_start * self.max_update
        last = self.max_update - 1.0
        if self.three_phase:
            corners = [(0.0, initial), (rise - 1, self.base_lr), (2 * rise - 2, initial)]
        else:
            corners = [(0.0, initial), (rise - 1, self.base_lr)]
        corners.append((last, final))
        for (start, begin), (end, target) in pairwise(corners):
            if num_update <= end and end > start:
                progress = (num_update - start) / (end - start)
                return _CURVES[self.anneal_strategy](begin, target, progress)
        return final


class CosineRestartScheduler(LRScheduler):
    """Cosine decay with warm restarts: each cycle decays from ``base_lr`` to ``final_lr``.

    The rates after the warm-up are those of PyTorch's ``CosineAnnealingWarmRestarts``.

    Args:
        cycle_length: Number of updates in the first cycle, the paper's T_0.
        base_lr: Learning rate at the begin of each cycle.
        final_lr: Learning rate that each cycle decays to.
        cycle_mult: Length of a cycle divided by that of the one before, the paper's T_mult.
        warmup_steps: As in `LRScheduler`; the first cycle begins after the warm-up.
        warmup_begin_lr: As in `LRScheduler`.
        warmup_mode: As in `LRScheduler`.

    Raises:
        ArgumentError: ``cycle_length`` or ``cycle_mult`` is below 1.
        ArgumentTypeError: One of them is not an int.

    References:
        I. Loshchilov, F. Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017.

    Example:
        >>> import gluonish as mx
        >>> schedule = mx.lr_scheduler.CosineRestartScheduler(10, base_lr=1.0, cycle_mult=2)
        >>> [round(schedule(n), 3) for n in (0, 5, 10, 20, 30)]
        [1.0, 0.5, 1.0, 0.5, 1.0]
    """

    @explained
    def __init__(
        self,
        cycle_length: int,
        base_lr: float = 0.01,
        final_lr: float = 0,
        cycle_mult: int = 1,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        name = "CosineRestartScheduler"
        check_numbers(name, final_lr=final_lr)
        self.cycle_length = as_int(name, "cycle_length", cycle_length, 1)
        self.cycle_mult = as_int(name, "cycle_mult", cycle_mult, 1)
        self.final_lr = final_lr

    def __call__(self, num_update: int) -> float:
        """Return the learning rate.

        Args:
            num_update: Number of updates so far, the maximum over all weights.
        """
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        done, length = num_update - self.warmup_steps, self.cycle_length
        if self.cycle_mult == 1:
            done %= length
        while done >= length:
            done -= length
            length *= self.cycle_mult
        return _cosine(self.base_lr, self.final_lr, done / length)


class ExponentialScheduler(LRScheduler):
    """Exponential decay: ``base_lr * gamma ** num_update``, counted from the end of the warm-up.

    Args:
        gamma: Factor of each update, above 0; ``gamma ** (1 / n)`` decays by gamma in n updates.
        base_lr: Learning rate after the warm-up.
        final_lr: Lower limit of the learning rate.
        warmup_steps: As in `LRScheduler`.
        warmup_begin_lr: As in `LRScheduler`.
        warmup_mode: As in `LRScheduler`.

    Raises:
        ArgumentError: ``gamma`` is not above 0.

    Example:
        >>> import gluonish as mx
        >>> schedule = mx.lr_scheduler.ExponentialScheduler(0.5, base_lr=1.0)
        >>> [schedule(0), schedule(1), schedule(3)]
        [1.0, 0.5, 0.125]
    """

    @explained
    def __init__(
        self,
        gamma: float,
        base_lr: float = 0.01,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        check_numbers("ExponentialScheduler", gamma=gamma, final_lr=final_lr)
        if not gamma > 0:
            raise ArgumentError(f"ExponentialScheduler: expected gamma above 0, got {gamma}")
        self.gamma = gamma
        self.final_lr = final_lr

    def __call__(self, num_update: int) -> float:
        """Return the learning rate.

        Args:
            num_update: Number of updates so far, the maximum over all weights.
        """
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        rate: float = self.base_lr * self.gamma ** (num_update - self.warmup_steps)
        return max(self.final_lr, rate)
