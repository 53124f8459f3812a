"""RuleOptimizer: an optimizer defined by a rule, which updates many weights in one operation."""

from collections.abc import Sequence
from operator import attrgetter, mul
from typing import Any, ClassVar

from gluonish.core.config import MXNET_OPTIMIZER_AGGREGATION_SIZE
from gluonish.core.errors import OperatorError
from gluonish.core.program import Program
from gluonish.ndarray import NDArray
from gluonish.ops.updates.rules import Rule
from gluonish.optimizer.base import Index, Optimizer, State, clip_limit, is_half
from gluonish.optimizer.row_update import RowUpdate
from gluonish.optimizer.weight_update import BoundUpdate, Column, WeightUpdate, each

# A subclass that overrides one of these, but not the rule, must be called for each weight.
_HOOKS = {
    "fused_step",
    "step",
    "_get_lr",
    "_get_lrs",
    "_get_wd",
    "_get_wds",
    "_update_count",
    "update",
    "update_multi_precision",
}
_lr_mult_of, _wd_mult_of = attrgetter("lr_mult"), attrgetter("wd_mult")


class RuleOptimizer(Optimizer):
    """Base class of optimizers that apply a rule of `gluonish.ops.updates.rules` to weights.

    A subclass defines `_rule`, and overrides `_scalars` and `_columns` as needed. All weights of
    one call and dtype are updated in one operation, or in groups of
    ``MXNET_OPTIMIZER_AGGREGATION_SIZE`` weights if it is set, which does not change results.

    Args:
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    Attributes:
        group_limit: Maximum number of weights in one operation; None for no limit.
        supports_apply: Whether `apply` can be used. If False, an `Updater` calls
            ``update_multi_precision`` for each weight, because a user's class overrides updates.
        in_order: Whether a weight's update depends on the updates before it.
        calls_update: Whether ``update_multi_precision`` calls an overridden ``update``.
    """

    supports_apply: ClassVar[bool] = True
    calls_update: ClassVar[bool] = True
    in_order: ClassVar[bool] = False

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.group_limit = kwargs.get("aggregate_num") or _group_limit()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in cls.__mro__:  # a mixin may define the hooks, too
            defined = set(vars(base))
            if "supports_apply" in defined or base is Optimizer:
                cls.supports_apply = vars(base).get("supports_apply", cls.supports_apply)
                return
            if defined & (_HOOKS | {"_rule"}):
                cls.supports_apply = "_rule" in defined
                return

    def _rule(self) -> Rule:
        """Return the rule for the current settings."""
        raise self._undefined("_rule")

    @property
    def sharding(self) -> str:
        """See `Optimizer`; ``"elements"`` unless the rule needs norms or updates are overridden."""
        return "elements" if self.supports_apply and not self._rule().uses_norms else "arrays"

    def _scalars(self) -> dict[str, float]:
        """Return the rule's current scalars, without rescale_grad and clip_gradient."""
        return {}

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        """Return the rule's rates for the weights of ``indices``.

        Learning rates and weight decays include multipliers; update counts begin with 1.
        """
        return lrs, wds

    def step(
        self,
        indices: Sequence[Any],
        weights: Sequence[Any],
        grads: Sequence[Any],
        states: Sequence[Any],
    ) -> None:
        """Update several weights of one dtype and their states in place; see `Optimizer.step`."""
        self._update(list(indices), weights, grads, states, mixed=False)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update one weight, or lists of weights of one dtype."""
        if self.defines_step:
            self._run_step(index, weight, grad, state)
            return
        self._update(index, weight, grad, state, mixed=False)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update one weight, or lists of weights of one dtype, through float32 copies if any."""
        if (self.calls_update or self.defines_step) and not self.supports_apply:
            super().update_multi_precision(index, weight, grad, state)
            return
        first = weight[0] if isinstance(weight, list | tuple) else weight
        mixed = self.multi_precision and is_half(first)
        self._update(index, weight, grad, state, mixed=mixed)

    def _update(self, index: Any, weight: Any, grad: Any, state: Any, *, mixed: bool) -> None:
        if not isinstance(index, list | tuple):
            index, weight, grad, state = [index], [weight], [grad], [state]
        if len(set(index)) < len(index) or (len(index) > 1 and any(map(is_sparse, grad, weight))):
            for item in zip(index, weight, grad, state, strict=True):
                self._update(*item, mixed=mixed)
            return
        self.apply(self.bind(weight, grad, state, mixed=mixed), index)

    def bind(
        self,
        weights: Sequence[NDArray],
        grads: Sequence[NDArray],
        states: Sequence[State],
        *,
        mixed: bool,
    ) -> BoundUpdate:
        """Bind the update of weights of one dtype to their arrays, for repeated use in `apply`.

        Args:
            weights: The weights; a single one if it or its gradient is sparse.
            grads: Their gradients.
            states: Their states from `create_state_multi_precision`.
            mixed: Whether the states contain float32 weights.

        Raises:
            OperatorError: A state does not belong to this optimizer, or shapes or dtypes mismatch.
        """
        groups = [
            (weight, grad, *self.arrays_of(state, mixed=mixed))
            for weight, grad, state in zip(weights, grads, states, strict=True)
        ]
        if is_sparse(grads[0], weights[0]):
            lazy = self._is_lazy() and self._supports_lazy(weights[0], mixed)
            return RowUpdate(self._rule(), groups[0], mixed, lazy=lazy)
        return WeightUpdate(self._rule(), groups, mixed)

    def _is_lazy(self) -> bool:
        """Whether a row-sparse gradient updates only its rows."""
        return bool(getattr(self, "lazy_update", False))

    def _supports_lazy(self, weight: NDArray, mixed: bool) -> bool:
        """Whether lazy updates apply to this weight, as in MXNet."""
        return True

    def arrays_of(self, state: State, *, mixed: bool) -> tuple[NDArray, ...]:
        """Return the arrays of a state in the rule's order, a float32 weight last.

        A rule without states accepts any state: after momentum was set to 0, its arrays remain.

        Args:
            state: A state from `create_state_multi_precision` or a file.
            mixed: Whether the state contains a float32 weight.

        Raises:
            OperatorError: The state does not belong to this optimizer.
        """
        names = self._rule().states
        if mixed and not (isinstance(state, tuple | list) and len(state) == 2):
            raise OperatorError(
                f"{type(self).__name__}: expected a pair of float32 weight and state, "
                f"got {_describe_state(state)}"
            )
        arrays = self._arrays(state, mixed)
        fits = not names or len(arrays) == len(names) + mixed
        if not fits or not all(isinstance(array, NDArray) for array in arrays):
            raise OperatorError(
                f"{type(self).__name__}: expected a state of {len(names)} arrays "
                f"({', '.join(names)}), got {_describe_state(state)}"
            )
        return arrays

    def _arrays(self, state: State, mixed: bool) -> tuple[NDArray, ...]:
        """Return the arrays of a state in the rule's order, the float32 weight last."""
        if not mixed:
            return state_arrays(state)
        master, inner = state
        return (*state_arrays(inner), master)

    def apply(self, update: BoundUpdate, indices: Sequence[Index]) -> None:
        """Run one step of an update from `bind` with the current rates."""
        columns = self.advance(update, indices)
        scalars = self._scalars()
        scalars["rescale_grad"] = self.rescale_grad
        scalars["clip_gradient"] = clip_limit(self)
        if self._steps is not None and self._steps.active:
            self._steps.note(columns)
        self._push(update, columns, scalars)

    def advance(self, update: BoundUpdate, indices: Sequence[Index]) -> tuple[Column, ...]:
        """Count an update from `bind`, and return its rates."""
        if self.supports_apply:
            counts, lrs = self._advance(indices)
            lrs, wds = self._multiplied(update, indices, lrs)
        else:
            counts, lrs, wds = self._query_rates(indices)
        return self._columns(indices, lrs, wds, counts)

    def _push(
        self,
        update: BoundUpdate,
        columns: tuple[Column, ...],
        scalars: dict[str, float],
    ) -> None:
        if self._steps is not None and self._steps.active:
            self._steps.push(update, columns, scalars)
        else:
            update.push(columns, scalars)

    def _multiplied(
        self, update: BoundUpdate, indices: Sequence[Index], lrs: Column
    ) -> tuple[Column, Column]:
        """Return learning rates and weight decays, with the weights' multipliers applied.

        The objects of the last step are reused if nothing has changed.
        """
        owners = list(map(self.param_dict.get, indices))
        if None in owners:
            lr_mults = [self._multiplier(i, self.lr_mult, "lr_mult") for i in indices]
            wd_mults = [self._multiplier(i, self.wd_mult, "wd_mult") for i in indices]
        else:
            lr_mults, wd_mults = list(map(_lr_mult_of, owners)), list(map(_wd_mult_of, owners))
        version = (lrs, self.wd, lr_mults, wd_mults)
        rates = update.rates
        if rates is None or rates.version != version:
            lr_column = each(mul, lrs, _scalar_or_list(lr_mults))
            wd_column = each(mul, self.wd, _scalar_or_list(wd_mults))
            rates = update.rates = Program((), version, (lr_column, wd_column))
        return rates.work

    def _query_rates(self, indices: Sequence[Index]) -> tuple[list[int], list[float], list[float]]:
        """Return counts, learning rates and weight decays from overridden methods."""
        lrs, wds = [], []
        for i in indices:
            self._update_count(i)
            lrs.append(self._get_lr(i))
            wds.append(self._get_wd(i))
        return [self._index_update_count[i] for i in indices], lrs, wds

    def _advance(self, indices: Sequence[Index]) -> tuple[Column, Column]:
        """Count an update of each index.

        Returns:
            The counts, and the learning rates without multipliers: the rates that the scheduler
            returns when indices are counted one by one.
        """
        if self._steps is not None:
            self._steps.settle()
        own = vars(self)  # without the calls of `Settled`
        current, begin = own["_index_update_count"], self.begin_num_update
        counts = [current.get(i, begin) + 1 for i in indices]
        current.update(zip(indices, counts, strict=True))
        first, newest, last = counts[0], max(counts), own["num_update"]
        if self.lr_scheduler is None or newest <= max(first, last):
            own["num_update"] = max(newest, last)
            return _scalar_or_list(counts), self.learning_rate
        rates = []
        for count in counts:
            self.num_update = max(count, self.num_update)
            rates.append(self.learning_rate)
        return _scalar_or_list(counts), rates

    def __getstate__(self) -> dict[str, Any]:
        """Return the base class's state without ``group_limit``, which the environment sets."""
        state = super().__getstate__()
        state.pop("group_limit", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.group_limit = _group_limit()


def _describe_state(state: State) -> str:
    """Describe a state for an error message."""
    if isinstance(state, tuple | list):
        return f"({', '.join(map(_describe_state, state))})"
    return f"an array {state.shape}" if isinstance(state, NDArray) else repr(state)


def _group_limit() -> int | None:
    size = MXNET_OPTIMIZER_AGGREGATION_SIZE
    return None if size.source == "default" else size.value


def is_sparse(grad: NDArray, weight: NDArray) -> bool:
    """Whether a gradient or its weight is not dense."""
    return grad.stype != "default" or weight.stype != "default"


def state_arrays(state: State) -> tuple[NDArray, ...]:
    """Return the arrays of a state: None, an array, or a tuple of both."""
    if state is None:
        return ()
    if isinstance(state, tuple | list):
        return tuple(x for x in state if x is not None)
    return (state,)


def _scalar_or_list(values: Sequence[float]) -> Column:
    """Return a list, or a single number if all are equal."""
    return values[0] if values.count(values[0]) == len(values) else values
