"""Schedules of the learning rate: steps, polynomial, linear, cosine, inverse root; with warm-up.

The attributes have MXNet's names and values, because trainer states save them.
"""

import logging
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import cos, pi, sqrt
from typing import Any

from gluonish.core.call_errors import explained
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.number_check import check_numbers
from gluonish.core.object_repr import arguments_repr

# The attributes that schedulers change.
_CHANGING = ("base_lr", "count", "cur_step_ind", "best", "num_bad_epochs", "cooldown_counter")


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
        ArgumentTypeError: ``warmup_steps`` is not an int, or a rate is not a number.
    """

    @explained
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

    def __repr__(self) -> str:
        return arguments_repr(self, leave_out=() if self.warmup_steps else ("warmup_mode",))

    def get_warmup_lr(self, num_update: int) -> float:
        """Return the learning rate during the warm-up.

        Args:
            num_update: Number of updates so far, below ``warmup_steps``.
        """
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = self.warmup_final_lr - self.warmup_begin_lr
        return self.warmup_begin_lr + rise * num_update / self.warmup_steps

    def state_dict(self) -> dict[str, Any]:
        """Return what changes during training, as numbers that JSON can hold.

        A subclass with other changing attributes overrides this and `load_state_dict`.
        """
        found = {name: vars(self)[name] for name in _CHANGING if name in vars(self)}
        parts = [x for x in vars(self).get("schedulers", ()) if isinstance(x, LRScheduler)]
        return {**found, "schedulers": [part.state_dict() for part in parts]} if parts else found

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from the state of a scheduler that was created in the same way.

        Args:
            state: The result of `state_dict`.
        """
        own = dict(state)
        parts = [x for x in vars(self).get("schedulers", ()) if isinstance(x, LRScheduler)]
        for part, its in zip(parts, own.pop("schedulers", ()), strict=True):
            part.load_state_dict(its)
        vars(self).update(own)

    def __call__(self, num_update: int) -> float:
        """Return the learning rate.

        Args:
            num_update: Number of updates so far, the maximum over all weights.
        """
        raise NotSupportedError(
            f"{type(self).__name__}: expected a subclass that defines __call__, got none; "
            "use FactorScheduler or another scheduler"
        )


class _DecayScheduler(LRScheduler):
    """Base class of schedulers that decay from ``base_lr`` to ``final_lr`` along a curve."""

    @explained
    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
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
        """Return the remaining fraction of the decay: 1 at progress 0, 0 at progress 1."""
        raise NotImplementedError

    def __call__(self, num_update: int) -> float:
        """Return the learning rate, constant after ``max_update``."""
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

    @explained
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


class LinearScheduler(_DecayScheduler):
    """Linear decay: lower the learning rate by equal steps.

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
        J. Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers for Language
        Understanding, 2019.

    Example:
        >>> import gluonish as mx
        >>> schedule = mx.lr_scheduler.LinearScheduler(100, base_lr=1.0, warmup_steps=20)
        >>> [schedule(10), schedule(20), schedule(60), schedule(100)]
        [0.5, 1.0, 0.5, 0.0]
    """

    def _remaining(self, progress: float) -> float:
        return 1 - progress


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

    def _remaining(self, progress: float) -> float:
        return (1 + cos(pi * progress)) / 2


class InverseRootScheduler(LRScheduler):
    """Inverse square root decay: ``base_lr * sqrt(warmup_steps / num_update)`` after the warm-up.

    The rate halves whenever the number of updates is four times as high.

    Args:
        base_lr: Learning rate at the end of the warm-up.
        warmup_steps: As in `LRScheduler`; 0 decays from the first update on.
        warmup_begin_lr: As in `LRScheduler`.
        warmup_mode: As in `LRScheduler`.
        final_lr: Lower limit of the learning rate.

    Raises:
        ArgumentError: ``final_lr`` is above ``base_lr``.

    References:
        A. Vaswani et al., "Attention Is All You Need", 2017.

    Example:
        >>> import gluonish as mx
        >>> schedule = mx.lr_scheduler.InverseRootScheduler(1.0, warmup_steps=100)
        >>> [schedule(50), schedule(100), schedule(400)]
        [0.5, 1.0, 0.5]
    """

    @explained
    def __init__(
        self,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
        final_lr: float = 0,
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        check_numbers("InverseRootScheduler", final_lr=final_lr)
        if final_lr > base_lr:
            raise ArgumentError(
                f"InverseRootScheduler: expected final_lr up to base_lr {base_lr}, got {final_lr}"
            )
        self.final_lr = final_lr

    def __call__(self, num_update: int) -> float:
        """Return the learning rate.

        Args:
            num_update: Number of updates so far, the maximum over all weights.
        """
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        start = max(1, self.warmup_steps)
        return max(self.final_lr, self.base_lr * sqrt(start / max(start, num_update)))


_logger = logging.getLogger(__name__)


class FactorScheduler(LRScheduler):
    """Multiply the learning rate by ``factor`` every ``step`` updates.

    Args:
        step: Number of updates between two changes, 1 or more.
        factor: Factor of each change, at most 1.
        stop_factor_lr: Lower limit of the learning rate.
        base_lr: Learning rate to start from.
        warmup_steps: As in `LRScheduler`.
        warmup_begin_lr: As in `LRScheduler`.
        warmup_mode: As in `LRScheduler`.

    Raises:
        ArgumentError: ``step`` is below 1, or ``factor`` above 1.

    Example:
        >>> import gluonish as mx
        >>> schedule = mx.lr_scheduler.FactorScheduler(step=100, factor=0.5, base_lr=1.0)
        >>> [schedule(100), schedule(101), schedule(201)]
        [1.0, 0.5, 0.25]
    """

    @explained
    def __init__(
        self,
        step: int,
        factor: float = 1,
        stop_factor_lr: float = 1e-8,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        check_numbers("FactorScheduler", step=step, stop_factor_lr=stop_factor_lr)
        if step < 1:
            raise ArgumentError(f"FactorScheduler: expected step of 1 or more, got {step}")
        _check_factor("FactorScheduler", factor)
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def __call__(self, num_update: int) -> float:
        """Return the learning rate, which never increases, even if ``num_update`` decreases.

        Args:
            num_update: Number of updates so far, the maximum over all weights.
        """
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while num_update > self.count + self.step:
            self.count += self.step
            self.base_lr = max(self.base_lr * self.factor, self.stop_factor_lr)
            _logger.info("Update[%d]: learning rate is now %.5e", num_update, self.base_lr)
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """Multiply the learning rate by ``factor`` at specified numbers of updates.

    Args:
        step: Increasing list of numbers of updates, each 1 or more; the rate changes after each.
        factor: Factor applied at each change, at most 1.
        base_lr: Learning rate to start from.
        warmup_steps: As in `LRScheduler`.
        warmup_begin_lr: As in `LRScheduler`.
        warmup_mode: As in `LRScheduler`.

    Raises:
        ArgumentError: ``step`` is empty or does not increase, or ``factor`` is above 1.
        ArgumentTypeError: ``step`` is not a list.
    """

    @explained
    def __init__(
        self,
        step: Sequence[int],
        factor: float = 1,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(step, list):
            raise ArgumentTypeError(f"MultiFactorScheduler: expected a list step, got {step!r}")
        check_numbers("MultiFactorScheduler", **{f"step[{i}]": x for i, x in enumerate(step)})
        if not step or step[0] < 1 or any(b <= a for a, b in pairwise(step)):
            raise ArgumentError(
                f"MultiFactorScheduler: expected increasing steps of 1 or more, got {step}"
            )
        _check_factor("MultiFactorScheduler", factor)
        self.step = step
        self.cur_step_ind = 0
        self.factor = factor
        self.count = 0

    def __call__(self, num_update: int) -> float:
        """Return the learning rate, which never increases, even if ``num_update`` decreases.

        Args:
            num_update: Number of updates so far, the maximum over all weights.
        """
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            self.base_lr *= self.factor
            _logger.info("Update[%d]: learning rate is now %.5e", num_update, self.base_lr)
        return self.base_lr


def _check_factor(name: str, factor: float) -> None:
    """Check that a factor does not increase the learning rate."""
    check_numbers(name, factor=factor)
    if factor > 1.0:
        raise ArgumentError(f"{name}: expected a factor of 1 at most, got {factor}")
