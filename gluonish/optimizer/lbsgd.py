"""LBSGD: gradient descent with gradients accumulated over several steps, and a warm-up."""

from collections.abc import Mapping
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.ops.updates.rules import SGD as PLAIN
from gluonish.ops.updates.rules import SGD_MOMENTUM, Rule
from gluonish.optimizer.base import Index, State, clip_limit, register, zeros_like
from gluonish.optimizer.counts import PerDevice
from gluonish.optimizer.rule_optimizer import RuleOptimizer


@register
class LBSGD(RuleOptimizer):
    """`SGD` for large batches, accumulated from ``batch_scale`` gradients.

    A weight is updated at every ``batch_scale``-th of its gradients, by their mean. The learning
    rate is multiplied by a factor that rises from 1 to ``batch_scale`` over the first
    ``warmup_epochs * updates_per_epoch`` gradients, in proportion to their fraction s
    (``"linear"``), to ``s * s`` (``"power2"``) or to ``sqrt(s)`` (``"sqrt"``), or in one jump at
    the end (any other name). ``"lars"`` uses the factor
    ``norm(weight) / sqrt(norm(grad) ** 2 + wd * norm(weight) ** 2)``, clipped to [0.01, 100].

    The state is None or the momentum. MXNet 1.9 loses all but the last of a Trainer's first
    gradients, because its sum aliases the gradient array; gluonish sums all.

    Args:
        momentum: Fraction of the previous step that is added to the new one; 0 for none.
        multi_precision: Whether 16-bit weights are updated through float32 copies.
        warmup_strategy: How the factor rises: ``"linear"``, ``"power2"``, ``"sqrt"`` or ``"lars"``.
        warmup_epochs: Epochs of the warm-up.
        batch_scale: Number of gradients accumulated for one step, 1 or more.
        updates_per_epoch: Number of gradients in an epoch.
        begin_epoch: The epoch to start counting gradients from.
        num_epochs: Stored in the attribute and in states files; no effect, as in MXNet.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    Attributes:
        cumgrads: Dict from index to a dict of ``cum_grad``, the accumulated sum or 0, and
            ``num_cums``, the number of gradients so far.

    Raises:
        ArgumentError: ``batch_scale`` is below 1.
    """

    supports_apply: ClassVar[bool] = False

    def __init__(
        self,
        momentum: float = 0.0,
        multi_precision: bool = False,
        warmup_strategy: str = "linear",
        warmup_epochs: int = 5,
        batch_scale: int = 1,
        updates_per_epoch: int = 32,
        begin_epoch: int = 0,
        num_epochs: int = 60,
        **kwargs: Any,
    ) -> None:
        super().__init__(multi_precision=multi_precision, **kwargs)
        check_numbers(
            type(self).__name__,
            momentum=momentum,
            warmup_epochs=warmup_epochs,
            batch_scale=batch_scale,
            updates_per_epoch=updates_per_epoch,
            begin_epoch=begin_epoch,
        )
        if batch_scale < 1:
            raise ArgumentError(f"LBSGD: expected batch_scale of 1 or more, got {batch_scale}")
        self.momentum = momentum
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs
        # Further attributes of MXNet's files.
        self.lbmult = 1
        self.adaptive = False
        self.admult = 1
        self._start_devices({})

    def _start_devices(self, cumgrads: Mapping[Index, Mapping[str, Any]]) -> None:
        """Initialize each device with accumulated gradients."""
        self._all_cumgrads = PerDevice(_copied(cumgrads), _copied)
        self.cumgrads = self._all_cumgrads.on(0)

    def _set_current_context(self, device_id: int) -> None:
        """Switch to the counts and accumulated gradients of another device."""
        super()._set_current_context(device_id)
        self.cumgrads = self._all_cumgrads.on(device_id)

    def _progress(self) -> dict[str, Any]:
        """Return the base class's progress, with the accumulated gradients."""
        found = super()._progress()
        for i, device in self._furthest().items():
            found["weights"][i] |= self._all_cumgrads.on(device).get(i, {})
        return found

    def _resume(self, progress: Mapping[str, Any]) -> None:
        super()._resume(progress)
        keys = ("cum_grad", "num_cums")
        self._start_devices(
            {
                i: {key: facts[key] for key in keys}
                for i, facts in progress["weights"].items()
                if all(key in facts for key in keys)
            }
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the base class's state, with one device's accumulated gradients: all are equal."""
        state = super().__getstate__()
        state.pop("_all_cumgrads", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._start_devices(self.cumgrads)

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for the momentum; None without momentum.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return zeros_like(weight) if self.momentum != 0.0 else None

    @property
    def sharding(self) -> str:
        """``"none"``: gradients are accumulated in the optimizer."""
        return "none"

    def _rule(self) -> Rule:
        return SGD_MOMENTUM if self.momentum != 0.0 else PLAIN

    def _is_lazy(self) -> bool:
        return True

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Accumulate a gradient, and update the weight at every ``batch_scale``-th one.

        Args:
            index: Index or name of the weight.
            weight: The weight.
            grad: Its gradient.
            state: Its state from `create_state`.
        """
        if isinstance(index, list | tuple):
            for item in zip(index, weight, grad, state, strict=True):
                self.update(*item)
            return
        lr, wd = self._get_lr_before(index), self._get_wd(index)
        self._update_count(index)
        mean = self._accumulate(index, grad)
        if mean is None:
            return
        if self.warmup_strategy == "lars":
            lr *= _trust(weight, mean, wd)
        else:
            lr *= self._warmup(self.cumgrads[index]["num_cums"])
        scalars = {
            "momentum": self.momentum,
            "rescale_grad": self.rescale_grad,
            "clip_gradient": clip_limit(self),
        }
        self.bind([weight], [mean], [state], mixed=False).push((lr, wd), scalars)

    def _get_lr_before(self, index: Index) -> float:
        """Return the learning rate before an update, by the update count of the current device."""
        if len(self._all_index_update_counts) == 1:
            return self._get_lr(index)
        newest = self.num_update
        self.num_update = max(self._index_update_count.values(), default=self.begin_num_update)
        lr = self._get_lr(index)
        self.num_update = newest
        return lr

    def _accumulate(self, index: Index, grad: NDArray) -> NDArray | None:
        """Add a gradient, and return the mean of ``batch_scale`` gradients when complete."""
        entry = self.cumgrads.setdefault(index, {"cum_grad": 0, "num_cums": self.init_updates})
        total = entry["cum_grad"]
        if isinstance(total, NDArray):
            total = total.as_in_context(grad.context) + grad
        else:
            total = grad if self.batch_scale == 1 else grad.copy()
        entry["num_cums"] += 1
        complete = entry["num_cums"] % self.batch_scale == 0
        entry["cum_grad"] = 0 if complete else total
        if not complete:
            return None
        mean: NDArray = total / self.batch_scale if self.batch_scale > 1 else total
        return mean

    def _warmup(self, count: int) -> float:
        """Return the factor of the learning rate after ``count`` gradients."""
        last = self.warmup_epochs * self.updates_per_epoch
        if count >= last:
            return float(self.batch_scale)
        s = count / last
        rise = {"linear": s, "power2": s * s, "sqrt": sqrt(s)}
        return 1.0 + (self.batch_scale - 1) * rise.get(self.warmup_strategy, 0.0)


def _trust(weight: NDArray, grad: NDArray, wd: float) -> float:
    weight_square, grad_square = _square(weight), _square(grad)
    ratio = sqrt(weight_square / (grad_square + wd * weight_square + 1e-18))
    return min(max(ratio, 0.01), 100.0)


def _copied(cumgrads: Mapping[Index, Mapping[str, Any]]) -> dict[Index, dict[str, Any]]:
    """Copy the outer dict and the entries; the sums are shared, as they are never mutated."""
    return {index: dict(entry) for index, entry in cumgrads.items()}


def _square(array: NDArray) -> float:
    values = array.asnumpy().astype(np.float64).ravel()
    return float(values @ values)
