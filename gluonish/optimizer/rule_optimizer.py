"""RuleOptimizer: an optimizer whose arithmetic is a rule, which updates all its weights at once."""

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

# A subclass that defines one of these, and no rule, wants to be asked weight by weight.
_HOOKS = {
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
    """Base class of optimizers that take a rule of `gluonish.ops.updates.rules` to their weights.

    A subclass defines `_rule`, and `_scalars` and `_columns` where it differs from the base. All
    weights of one call and dtype are updated by one operation, or by one for each
    ``MXNET_OPTIMIZER_AGGREGATION_SIZE`` of them where that is set, which changes no result.

    Args:
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    Attributes:
        group_limit: Largest number of weights in one operation; None for no limit.
        takes_all: Whether `apply` serves; else an `Updater` calls ``update_multi_precision`` for
            each weight, because a class of the user's has its own idea of an update.
        in_order: Whether a weight's update depends on those before it, so that their order counts.
        asks_update: Whether ``update_multi_precision`` calls an ``update`` that a subclass defines.
    """

    takes_all: ClassVar[bool] = True
    asks_update: ClassVar[bool] = True
    in_order: ClassVar[bool] = False

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.group_limit = kwargs.get("aggregate_num") or _group_limit()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in cls.__mro__:  # a class beside this one may have the hooks, too
            own = set(vars(base))
            if "takes_all" in own or base is Optimizer:
                cls.takes_all = vars(base).get("takes_all", cls.takes_all)
                return
            if own & (_HOOKS | {"_rule"}):
                cls.takes_all = "_rule" in own
                return

    def _rule(self) -> Rule:
        """The rule, as the settings are now."""
        raise self._undefined("_rule")

    @property
    def sharding(self) -> str:
        """As of `Optimizer`: by elements, unless the rule needs norms or a subclass updates."""
        return "elements" if self.takes_all and not self._rule().whole else "arrays"

    def _scalars(self) -> dict[str, float]:
        """What the rule's scalars are now, without rescale_grad and clip_gradient."""
        return {}

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        """What the rule's rates are.

        Args:
            indices: The weights.
            lrs: Learning rates, with multipliers.
            wds: Weight decays, with multipliers.
            counts: Numbers of the updates, from 1 on.
        """
        return lrs, wds

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update one weight, or lists of weights of one dtype."""
        self._update(index, weight, grad, state, mixed=False)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update one weight, or lists of weights of one dtype, through float32 copies if made."""
        if self.asks_update and not self.takes_all:
            super().update_multi_precision(index, weight, grad, state)
            return
        first = weight[0] if isinstance(weight, list | tuple) else weight
        mixed = self.multi_precision and is_half(first)
        self._update(index, weight, grad, state, mixed=mixed)

    def _update(self, index: Any, weight: Any, grad: Any, state: Any, *, mixed: bool) -> None:
        if not isinstance(index, list | tuple):
            index, weight, grad, state = [index], [weight], [grad], [state]
        if len(set(index)) < len(index) or (len(index) > 1 and any(map(is_sparse, grad, weight))):
            for one in zip(index, weight, grad, state, strict=True):
                self._update(*one, mixed=mixed)
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
        """Return the update of some weights of one dtype, for `apply`, as often as they stay.

        Args:
            weights: The weights; a single one where it or its gradient is sparse.
            grads: Their gradients.
            states: What `create_state_multi_precision` returned.
            mixed: Whether the states hold float32 weights.

        Raises:
            OperatorError: A state is none of this optimizer, or shapes or dtypes do not fit.
        """
        groups = [
            (weight, grad, *self.arrays_of(state, mixed=mixed))
            for weight, grad, state in zip(weights, grads, states, strict=True)
        ]
        if is_sparse(grads[0], weights[0]):
            lazy = self._moves_rows() and self._takes_rows(weights[0], mixed)
            return RowUpdate(self._rule(), groups[0], mixed, lazy=lazy)
        return WeightUpdate(self._rule(), groups, mixed)

    def _moves_rows(self) -> bool:
        """Whether a row-sparse gradient moves only the rows that it holds."""
        return bool(getattr(self, "lazy_update", False))

    def _takes_rows(self, weight: NDArray, mixed: bool) -> bool:
        """Whether that goes for this weight too, as it does in MXNet."""
        return True

    def arrays_of(self, state: State, *, mixed: bool) -> tuple[NDArray, ...]:
        """Return the arrays of a state in the rule's order, a float32 weight last.

        A rule without states takes any: a momentum that was switched off leaves its arrays.

        Args:
            state: What `create_state_multi_precision` returned, or a file holds.
            mixed: Whether it holds a float32 weight.

        Raises:
            OperatorError: It is none of this optimizer.
        """
        names = self._rule().states
        if mixed and not (isinstance(state, tuple | list) and len(state) == 2):
            raise OperatorError(
                f"{type(self).__name__}: expected a pair of float32 weight and state, "
                f"got {_told(state)}"
            )
        arrays = self._arrays(state, mixed)
        fits = not names or len(arrays) == len(names) + mixed
        if not fits or not all(isinstance(array, NDArray) for array in arrays):
            raise OperatorError(
                f"{type(self).__name__}: expected a state of {len(names)} arrays "
                f"({', '.join(names)}), got {_told(state)}"
            )
        return arrays

    def _arrays(self, state: State, mixed: bool) -> tuple[NDArray, ...]:
        """Return the arrays of a state in the rule's order, the float32 weight last."""
        if not mixed:
            return state_arrays(state)
        master, inner = state
        return (*state_arrays(inner), master)

    def apply(self, update: BoundUpdate, indices: Sequence[Index]) -> None:
        """Do one step of what `bind` returned, under the rates that hold now."""
        if self.takes_all:
            counts, lrs = self._advance(indices)
            lrs, wds = self._multiplied(update, indices, lrs)
        else:
            counts, lrs, wds = self._ask(indices)
        scalars = self._scalars()
        scalars["rescale_grad"] = self.rescale_grad
        scalars["clip_gradient"] = clip_limit(self)
        self._push(update, self._columns(indices, lrs, wds, counts), scalars)

    def _push(
        self,
        update: BoundUpdate,
        columns: tuple[Column, ...],
        scalars: dict[str, float],
    ) -> None:
        update.push(columns, scalars)

    def _multiplied(
        self, update: BoundUpdate, indices: Sequence[Index], lrs: Column
    ) -> tuple[Column, Column]:
        """Return learning rates and weight decays with their multipliers.

        They are the objects of the last step where nothing has changed.
        """
        owners = list(map(self.param_dict.get, indices))
        if None in owners:
            lr_mults = [self._multiplier(i, self.lr_mult, "lr_mult") for i in indices]
            wd_mults = [self._multiplier(i, self.wd_mult, "wd_mult") for i in indices]
        else:
            lr_mults, wd_mults = list(map(_lr_mult_of, owners)), list(map(_wd_mult_of, owners))
        version = (lrs, self.wd, lr_mults, wd_mults)
        rates = update.rates
        if rates is None or not rates.holds((), version):
            lr_column = each(mul, lrs, _one_or_all(lr_mults))
            wd_column = each(mul, self.wd, _one_or_all(wd_mults))
            rates = update.rates = Program((), version, (lr_column, wd_column))
        return rates.work

    def _ask(self, indices: Sequence[Index]) -> tuple[list[int], list[float], list[float]]:
        """Return counts, learning rates and weight decays from methods that a subclass may have."""
        lrs, wds = [], []
        for i in indices:
            self._update_count(i)
            lrs.append(self._get_lr(i))
            wds.append(self._get_wd(i))
        return [self._index_update_count[i] for i in indices], lrs, wds

    def _advance(self, indices: Sequence[Index]) -> tuple[Column, Column]:
        """Count an update of each index.

        Returns:
            The counts, and the learning rates without multipliers: each number as a scheduler gives
            it when indices are counted one after the other.
        """
        known, begin = self._index_update_count, self.begin_num_update
        counts = [known.get(i, begin) + 1 for i in indices]
        known.update(zip(indices, counts, strict=True))
        first, newest = counts[0], max(counts)
        if self.lr_scheduler is None or newest <= max(first, self.num_update):
            self.num_update = max(newest, self.num_update)
            return _one_or_all(counts), self.learning_rate
        rates = []
        for count in counts:
            self.num_update = max(count, self.num_update)
            rates.append(self.learning_rate)
        return _one_or_all(counts), rates

    def __getstate__(self) -> dict[str, Any]:
        """The base's, without what the environment says anew."""
        state = super().__getstate__()
        state.pop("group_limit", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.group_limit = _group_limit()


def _told(state: State) -> str:
    """Return what a state is made of, for an error message."""
    if isinstance(state, tuple | list):
        return f"({', '.join(map(_told, state))})"
    return f"an array {state.shape}" if isinstance(state, NDArray) else repr(state)


def _group_limit() -> int | None:
    size = MXNET_OPTIMIZER_AGGREGATION_SIZE
    return None if size.source == "default" else size.value


def is_sparse(grad: NDArray, weight: NDArray) -> bool:
    """Whether a gradient or its weight is not dense."""
    return grad.stype != "default" or weight.stype != "default"


def state_arrays(state: State) -> tuple[NDArray, ...]:
    """Return the arrays of a state: none, one, or those of a tuple that holds them or None."""
    if state is None:
        return ()
    if isinstance(state, tuple | list):
        return tuple(part for part in state if part is not None)
    return (state,)


def _one_or_all(values: Sequence[float]) -> Column:
    """Return a list, or the number that all of it are."""
    return values[0] if values.count(values[0]) == len(values) else values
