"""Updater: an optimizer together with the states of the weights that it updates."""

from collections.abc import Iterator
from typing import Any

from gluonish.core.context import Context
from gluonish.ndarray import NDArray
from gluonish.optimizer.optimizer import Index, Optimizer, State
from gluonish.optimizer.states import (
    describe_optimizer,
    pack_state,
    revive_optimizer,
    unpack_state,
)
from gluonish.optimizer.states_file import dump_states, load_states

__all__ = ["Updater", "get_updater"]


class Updater:
    """Updates weights on one device, or in a kvstore, and keeps their states.

    Args:
        optimizer: The optimizer.

    Attributes:
        optimizer: The optimizer; `set_states` replaces it if the states came with one.
        states: From index to the optimizer's state.
        states_synced: From index to whether the state lies on its weight's device already.
        aggregate_updates: Whether the optimizer takes lists of weights.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[Index, State] = {}
        self.states_synced: dict[Index, bool] = {}
        self.aggregate_updates = optimizer.aggregate_num > 0

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        """Update one weight in place, or lists of them that lie on one device.

        Args:
            index: Number or name, or a list.
            grad: Gradient, or a list.
            weight: Weight, or a list.
        """
        if not isinstance(index, list | tuple):
            index, grad, weight = [index], [grad], [weight]
        if not index:
            return
        self.optimizer._set_current_context(weight[0].context.device_id)
        for i, w in zip(index, weight, strict=True):
            self._prepare_state(i, w)
        if not self.aggregate_updates:
            for i, w, g in zip(index, weight, grad, strict=True):
                self.optimizer.update_multi_precision(i, w, g, self.states[i])
            return
        for group in self._groups(list(zip(index, weight, grad, strict=True))):
            indices, weights, grads = (list(part) for part in zip(*group, strict=True))
            states = [self.states[i] for i in indices]
            self.optimizer.update_multi_precision(indices, weights, grads, states)

    def _prepare_state(self, index: Index, weight: NDArray) -> None:
        if index not in self.states:
            self.states[index] = self.optimizer.create_state_multi_precision(index, weight)
        elif not self.states_synced[index]:
            self.states[index] = self.sync_state_context(self.states[index], weight.context)
        self.states_synced[index] = True

    def _groups(
        self, items: list[tuple[Index, NDArray, NDArray]]
    ) -> Iterator[list[tuple[Index, NDArray, NDArray]]]:
        """Split into groups of one dtype and at most ``aggregate_num`` weights, in order."""
        by_dtype: dict[Any, list[tuple[Index, NDArray, NDArray]]] = {}
        for item in items:
            by_dtype.setdefault(item[1].dtype, []).append(item)
        size = max(1, self.optimizer.aggregate_num)
        for same in by_dtype.values():
            for start in range(0, len(same), size):
                yield same[start : start + size]

    def sync_state_context(self, state: State, context: Context) -> State:
        """Return a state whose arrays lie on a device: the same arrays where they do already."""
        if isinstance(state, NDArray):
            return state.as_in_context(context)
        if isinstance(state, tuple | list):
            return type(state)(self.sync_state_context(part, context) for part in state)
        return state

    def set_states(self, states: bytes, name: str = "states") -> None:
        """Take what `get_states` returned, here or in MXNet 1.9.

        Args:
            states: The bytes.
            name: What error messages call them, such as the file they come from.

        Raises:
            FileFormatError: The bytes are no states, or are hostile; nothing has changed then.
            NotSupportedError: They hold sparse arrays or an optimizer that is not here.
        """
        content = load_states(states, name)
        unpacked = {index: unpack_state(state) for index, state in content.states.items()}
        if content.optimizer is not None:
            self.optimizer = revive_optimizer(content.optimizer, self.optimizer)
            self.aggregate_updates = self.optimizer.aggregate_num > 0
        self.states = unpacked
        self.states_synced = dict.fromkeys(unpacked, False)

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """Return the states as the bytes of a file that MXNet 1.9 reads too.

        Args:
            dump_optimizer: Whether the optimizer's settings and counts come with them.

        Raises:
            ArgumentTypeError: The optimizer holds something that no states file can.
        """
        packed = {index: pack_state(state) for index, state in self.states.items()}
        return dump_states(packed, describe_optimizer(self.optimizer) if dump_optimizer else None)


def get_updater(optimizer: Optimizer) -> Updater:
    """Return a new `Updater` of an optimizer."""
    return Updater(optimizer)
