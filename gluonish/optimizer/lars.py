"""LARS: gradient descent with layer-wise step sizes from the norms of weight and gradient."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_OPTIMIZER_AGGREGATION_SIZE
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import check_numbers
from gluonish.ops.updates.layerwise import LARS as RULE
from gluonish.ops.updates.layerwise import LARS_MOMENTUM, lars_ratio
from gluonish.optimizer.arguments import given, ordered2
from gluonish.optimizer.base import Index, register
from gluonish.optimizer.counts import PerDevice
from gluonish.optimizer.row_update import RowUpdate
from gluonish.optimizer.settled import Settled
from gluonish.optimizer.sgd import MomentumOptimizer
from gluonish.optimizer.weight_update import BoundUpdate, Column, each

__all__ = ["LARS"]

_UNSCALED = ("gamma", "beta", "bias")


@register
class LARS(MomentumOptimizer):
    """LARS: layer-wise adaptive rate scaling, for large batches.

    `SGD` with the learning rate of each weight multiplied by
    ``eta * norm(weight) / (norm(rescale_grad * grad) + wd * norm(weight) + eps)``, or by 1 if a
    norm is 0 or the weight's name ends in gamma, beta or bias.

    With ``momentum_correction`` a weight's momentum is multiplied by the ratio of the current
    learning rate to that of its last update, before it decays. MXNet 1.9 corrects only the first
    ``MXNET_OPTIMIZER_AGGREGATION_SIZE`` weights of a step; gluonish corrects all.

    The state is the momentum, or None; with ``multi_precision`` a 16-bit weight has a pair of the
    float32 momentum and the float32 weight.

    Args:
        momentum: Fraction of the previous step that is added to the new one; 0 for none.
        lazy_update: Whether a row-sparse gradient updates only the rows it contains; None for
            True, by the rules of MXNet 2.0 for False.
        eta: Trust coefficient, which scales the learning rate of each layer.
        eps: Small constant added to the denominator to avoid division by zero; None for 0, by the
            rules of MXNet 2.0 for 1e-8.
        momentum_correction: Whether to rescale momentum when the learning rate changes; None for
            True, by the rules of MXNet 2.0 for False.
        epsilon: ``eps`` under the name it has in MXNet 2.0.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    Attributes:
        last_lr: The previous learning rate, without multipliers; None before any update.
        cur_lr: The current learning rate.

    References:
        Y. You, I. Gitman, B. Ginsburg, "Large Batch Training of Convolutional Networks", 2017.
    """

    with_momentum = LARS_MOMENTUM
    without_momentum = RULE

    _default_rate2 = 0.1

    @ordered2("learning_rate", "momentum", "eta", "epsilon", "lazy_update", "use_fused_step")
    def __init__(
        self,
        momentum: float = 0.0,
        lazy_update: bool | None = None,
        eta: float = 0.001,
        eps: float | None = None,
        momentum_correction: bool | None = None,
        epsilon: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(momentum=momentum, **kwargs)
        added: float = given(eps, 0, 1e-8) if epsilon is None else epsilon
        check_numbers(type(self).__name__, eta=eta, eps=added)
        self.momentum_correction: bool = given(momentum_correction, True, False)
        self.lazy_update: bool = given(lazy_update, True, False)
        if not follows_mxnet2():
            self.aggregate_num = self.group_limit or MXNET_OPTIMIZER_AGGREGATION_SIZE.value
        self.eta = eta
        self.eps = added
        self.skip = 0
        self.last_lr = None
        self.cur_lr = None
        self._momenta: Column = momentum
        self._start_devices({}, None)

    step_state = (*MomentumOptimizer.step_state, "_momenta", "_own_lrs", "cur_lr", "last_lr")
    cur_lr = Settled[float | None]()
    last_lr = Settled[float | None]()

    def _start_devices(self, lrs: Mapping[Index, float | None], other: float | None) -> None:
        """Initialize each device with the learning rates of the last updates.

        Args:
            lrs: Rates of single weights.
            other: Rate of all other weights; None for weights that were never updated.
        """
        self._all_own_lrs = PerDevice(dict(lrs), dict)
        self._own_lrs, self._other_lr = self._all_own_lrs.on(0), other

    def _set_current_context(self, device_id: int) -> None:
        """Switch to the counts and last learning rates of another device."""
        super()._set_current_context(device_id)
        self._own_lrs = self._all_own_lrs.on(device_id)

    def _progress(self) -> dict[str, Any]:
        """Return the base class's progress, with the learning rates of the last updates."""
        found = super()._progress()
        for i, device in self._furthest().items():
            lrs = self._all_own_lrs.on(device)
            if i in lrs:
                found["weights"][i]["lr"] = lrs[i]
        return found | {"last_lr": self.last_lr, "cur_lr": self.cur_lr}

    def _resume(self, progress: Mapping[str, Any]) -> None:
        super()._resume(progress)
        self.last_lr = progress.get("last_lr", self.last_lr)
        self.cur_lr = progress.get("cur_lr", self.cur_lr)
        weights = progress["weights"].items()
        lrs = {i: facts["lr"] for i, facts in weights if "lr" in facts}
        self._start_devices(lrs, self._other_lr)

    def set_wd_mult(self, args_wd_mult: Mapping[Any, float]) -> None:
        """Set multipliers of the weight decay, by index or name.

        The default is 0 for all names that do not end in ``_weight``, including ``_gamma``; by the
        rules of MXNet 2.0 it is 1 for all.

        Args:
            args_wd_mult: Dict from index or name to factor.
        """
        super().set_wd_mult({} if not follows_mxnet2() else args_wd_mult)
        if follows_mxnet2():
            return
        self.wd_mult |= {name: 0.0 for name in self.idx2name.values() if name.endswith("_gamma")}
        self.wd_mult.update(self._symbol_multipliers("__wd_mult__"))
        self.wd_mult.update(args_wd_mult)

    def _scalars(self) -> dict[str, float]:
        return {"epsilon": self.eps}

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        etas: Column = self.eta
        if self.idx2name:
            names = [str(self.idx2name.get(i, i)) for i in indices]
            etas = [-1.0 if name.endswith(_UNSCALED) else self.eta for name in names]
        return (lrs, wds, etas, self._momenta) if self.momentum != 0.0 else (lrs, wds, etas)

    def _advance(self, indices: Sequence[Index]) -> tuple[Column, Column]:
        counts, lrs = super()._advance(indices)
        self._correct_momenta(indices, lrs)
        return counts, lrs

    def _query_rates(self, indices: Sequence[Index]) -> tuple[list[int], list[float], list[float]]:
        found = super()._query_rates(indices)
        self._correct_momenta(indices, self.learning_rate)
        return found

    def _correct_momenta(self, indices: Sequence[Index], lrs: Column) -> None:
        """Compute the momentum of each weight for its new learning rate, and store the rates."""
        stored = self._own_lrs
        current = list(lrs) if isinstance(lrs, Sequence) else [lrs] * len(indices)
        last = [stored.get(i, self._other_lr) for i in indices]
        stored.update(zip(indices, current, strict=True))
        self.last_lr = current[-1] if self.cur_lr is None else self.cur_lr
        self.cur_lr = current[-1]
        self._momenta = self.momentum
        if self.momentum_correction and last != current:
            self._momenta = [
                self.momentum * (lr / old if old else 1.0)
                for lr, old in zip(current, last, strict=True)
            ]

    def _push(
        self,
        update: BoundUpdate,
        columns: tuple[Column, ...],
        scalars: dict[str, float],
    ) -> None:
        if isinstance(update, RowUpdate):
            # The norms are of the full arrays, not of the updated rows.
            lrs, wds, etas, *momenta = columns
            norms = update.norms(self.rescale_grad)

            def scaled(lr: float, wd: float, eta: float) -> float:
                return lr * float(lars_ratio(np, *norms, eta, wd, self.eps))

            columns = (each(scaled, lrs, wds, etas), wds, -1.0, *momenta)
        super()._push(update, columns, scalars)

    def __getstate__(self) -> dict[str, Any]:
        """Return the base class's state, with the learning rates that differ from the last one.

        Rates differ if some weights had no gradient in the last step. MXNet's files lack them.
        """
        state = super().__getstate__()
        for name in ("_all_own_lrs", "_momenta", "_other_lr", "_own_lrs"):
            state.pop(name, None)
        lrs = {i: lr for i, lr in self._own_lrs.items() if lr != self.cur_lr}
        return state | {"_own_lrs": lrs} if lrs else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._momenta = self.momentum
        self._start_devices(state.get("_own_lrs", {}), self.cur_lr)
