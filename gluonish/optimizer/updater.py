"""Updater: an optimizer with the states of the weights that it updates."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from gluonish.core.context import Context
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.object_repr import default_repr
from gluonish.core.program import Program
from gluonish.ndarray import NDArray
from gluonish.optimizer.base import Index, Optimizer, State, is_half
from gluonish.optimizer.rule_optimizer import RuleOptimizer, is_sparse
from gluonish.optimizer.states import (
    ForeignObject,
    TrainerStates,
    check_states,
    describe_optimizer,
    dump_states,
    load_states,
    pack_state,
    revive_optimizer,
    unpack_state,
)
from gluonish.optimizer.weight_update import BoundUpdate, WeightUpdate

__all__ = ["Updater", "get_updater"]


# Index, weight and gradient.
_Item = tuple[Index, NDArray, NDArray]
Updates = Sequence[tuple[BoundUpdate, Sequence[Index]]]


def _is_sparse(item: _Item) -> bool:
    return is_sparse(item[2], item[1])


def _settings(optimizer: RuleOptimizer) -> tuple[Any, ...]:
    """Return the settings that bound updates depend on."""
    rule, rows = optimizer._rule(), optimizer._is_lazy()
    return rule, rows, optimizer.multi_precision, optimizer.group_limit


class Updater:
    """Applies an optimizer to the weights of one device or kvstore, and stores their states.

    Args:
        optimizer: The optimizer.

    Attributes:
        optimizer: The optimizer; `set_states` replaces it if the states contain one.
        states: Dict from index to the weight's state.
        states_synced: Dict from index to whether the state is on its weight's device.
        aggregate_updates: Whether the optimizer accepts lists of weights.
    """

    __repr__ = default_repr

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[Index, State] = {}
        self.states_synced: dict[Index, bool] = {}
        self.aggregate_updates = optimizer.aggregate_num > 0
        self._program: Program[Updates] | None = None  # of the last call with tuples

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        """Update one weight in place, or a list of weights on one device.

        Args:
            index: Index or name of the weight, or a list.
            grad: Its gradient, or a list.
            weight: The weight, or a list.
        """
        if not isinstance(index, list | tuple):
            index, grad, weight = [index], [grad], [weight]
        if not index:
            return
        optimizer = self.optimizer
        optimizer._set_current_context(weight[0].context.device_id)
        if isinstance(optimizer, RuleOptimizer) and optimizer.supports_apply:
            for update, indices in self._updates(optimizer, index, grad, weight):
                optimizer.apply(update, indices)
            return
        for i, w in zip(index, weight, strict=True):
            self._prepare_state(i, w)
        if not self.aggregate_updates and not follows_mxnet2():
            for i, w, g in zip(index, weight, grad, strict=True):
                optimizer.update_multi_precision(i, w, g, self.states[i])
            return
        items = list(zip(index, weight, grad, strict=True))
        for group in self._groups(items, max(1, optimizer.aggregate_num)):
            indices, weights, grads = (list(column) for column in zip(*group, strict=True))
            states = [self.states[i] for i in indices]
            optimizer.update_multi_precision(indices, weights, grads, states)

    def _updates(self, optimizer: RuleOptimizer, index: Any, grad: Any, weight: Any) -> Updates:
        """Return bound updates of all weights, cached from the last call if still valid.

        Only tuples are cached, as lists may be mutated between calls.
        """
        program, states = self._program, self.states.get
        version = _settings(optimizer)
        if program is not None and program.holds(
            (index, grad, weight, *map(states, index)), version
        ):
            return program.work
        updates = self._bind(optimizer, list(zip(index, weight, grad, strict=True)))
        self._program = None
        if isinstance(index, tuple) and isinstance(grad, tuple) and isinstance(weight, tuple):
            operands = (index, grad, weight, *map(states, index))
            self._program = Program(operands, version, updates)
        return updates

    def gated_updates(self, index: Any, grad: Any, weight: Any) -> Updates | None:
        """Return the updates of a call if the device can skip them; else None.

        An optimizer of a user's class may have progress that is not known here.
        """
        optimizer = self.optimizer
        if not isinstance(optimizer, RuleOptimizer) or not optimizer.supports_apply:
            return None
        if not type(optimizer).__module__.startswith("gluonish.optimizer."):
            return None
        updates = self._updates(optimizer, index, grad, weight)
        gated = all(isinstance(x, WeightUpdate) and x.is_gated for x, _ in updates)
        return updates if gated and updates else None

    def _bind(self, optimizer: RuleOptimizer, items: list[_Item]) -> Updates:
        for i, weight, _ in items:
            self._prepare_state(i, weight)
        # A repeated index is updated repeatedly, in order.
        limit = len(items) if len({item[0] for item in items}) == len(items) else 1
        limit = min(limit, optimizer.group_limit or limit)
        updates = []
        for group in self._split(items, limit, in_order=optimizer.in_order):
            indices, weights, grads = zip(*group, strict=True)
            states = [self.states[i] for i in indices]
            mixed = optimizer.multi_precision and is_half(weights[0])
            updates.append((optimizer.bind(weights, grads, states, mixed=mixed), indices))
        return updates

    def unbind(self) -> None:
        """Drop the bound updates, which reference the memory of arrays."""
        self._program = None

    def _prepare_state(self, index: Index, weight: NDArray) -> None:
        if index not in self.states:
            self.states[index] = self.optimizer.create_state_multi_precision(index, weight)
        elif not self.states_synced[index]:
            self.states[index] = self.sync_state_context(self.states[index], weight.context)
        self.states_synced[index] = True

    def _split(self, items: list[_Item], limit: int, *, in_order: bool) -> Iterator[list[_Item]]:
        """Split into groups for single operations: dense weights of one dtype, or a sparse weight.

        Groups have at most ``limit`` weights. Unless ``in_order``, dense weights come first.
        """
        if in_order:
            for (_, sparse), run in groupby(items, lambda item: (item[1].dtype, _is_sparse(item))):
                yield from self._groups(list(run), 1 if sparse else limit)
            return
        yield from self._groups([item for item in items if not _is_sparse(item)], limit)
        yield from ([item] for item in items if _is_sparse(item))

    @staticmethod
    def _groups(items: list[_Item], size: int) -> Iterator[list[_Item]]:
        """Split into groups of one dtype and at most ``size`` weights, in order."""
        by_dtype: dict[Any, list[_Item]] = {}
        for item in items:
            by_dtype.setdefault(item[1].dtype, []).append(item)
        for same in by_dtype.values():
            for start in range(0, len(same), size):
                yield same[start : start + size]

    def sync_state_context(self, state: State, context: Context) -> State:
        """Return a state with its arrays on a device; arrays already there are not copied."""
        if isinstance(state, NDArray):
            return state.as_in_context(context)
        if isinstance(state, tuple | list):
            return type(state)(self.sync_state_context(x, context) for x in state)
        return state

    def set_states(
        self, states: bytes, name: str = "states", weights: Mapping[Any, NDArray] | None = None
    ) -> None:
        """Restore states from bytes that `get_states` of gluonish or MXNet 1.9 returned.

        Args:
            states: The bytes.
            name: Name of the states in error messages, such as the file name.
            weights: Dict from index to weight; states must match their shapes.

        Raises:
            FileFormatError: The bytes are malformed or unsafe, or the states do not match the
                optimizer; nothing was changed.
            NotSupportedError: The bytes contain an optimizer that gluonish lacks.
        """
        self._restore(load_states(states, name), name, weights)

    def _restore(
        self, content: TrainerStates, name: str, weights: Mapping[Any, NDArray] | None = None
    ) -> None:
        """Restore the content of a file; see `set_states`."""
        unpacked = {index: unpack_state(state) for index, state in content.states.items()}
        optimizer = self.optimizer
        if content.optimizer is not None:
            optimizer = revive_optimizer(content.optimizer, optimizer)
        check_states(optimizer, unpacked, weights or {}, name)
        if content.optimizer is not None:
            self.optimizer = optimizer
            self.aggregate_updates = optimizer.aggregate_num > 0
        self.states = unpacked
        self.states_synced = dict.fromkeys(unpacked, False)

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """Return the states as bytes, in the format of MXNet 1.9.

        Args:
            dump_optimizer: Whether to include the optimizer's settings and update counts.

        Raises:
            ArgumentTypeError: The format does not support an attribute of the optimizer.
        """
        return self._dump(describe_optimizer(self.optimizer) if dump_optimizer else None, None)

    def _dump(self, optimizer: ForeignObject | None, progress: Mapping[str, Any] | None) -> bytes:
        """Return the states as bytes, with an optimizer or with update counts."""
        packed = {index: pack_state(state) for index, state in self.states.items()}
        return dump_states(packed, optimizer, progress)


def get_updater(optimizer: Optimizer) -> Updater:
    """Create an `Updater`.

    Args:
        optimizer: The optimizer to apply.
    """
    return Updater(optimizer)
