"""What a Trainer does with a store in a step: gradients are added up, or weights updated there."""

from collections.abc import Collection

from gluonish.gluon.trainer.gradients import clear_all_old, groups, new_gradients
from gluonish.gluon.trainer.store_choice import weights_a_call
from gluonish.gluon.trainer.trainables import Selection, Trainables
from gluonish.kvstore import KVStoreBase
from gluonish.kvstore.async_store import AsyncStore
from gluonish.kvstore.sync_store import SyncStore
from gluonish.optimizer import Optimizer

__all__ = ["add_up", "update_in_store"]


def add_up(
    store: KVStoreBase, selection: Selection, elsewhere: Collection[int], first_key: int
) -> None:
    """Replace gradients by their sums.

    Args:
        store: The store.
        selection: The parameters.
        elsewhere: Positions of those whose gradient is new in another process only.
        first_key: The store's key of the trainer's first parameter.
    """
    if isinstance(store, SyncStore):
        clear_all_old(selection.members, elsewhere)
        keys = [first_key + i for i in selection.indices]
        store.add_up(keys, [param.list_grad() for _, param in selection.members])
        return
    for i, param in selection.members:
        gradients, new = param.list_grad(), new_gradients(param)
        if new is None:
            store.pushpull(first_key + i, gradients, priority=-i)
        else:
            store.pushpull(first_key + i, new, out=gradients, priority=-i)


def update_in_store(
    store: KVStoreBase,
    selection: Selection,
    trainables: Trainables,
    optimizer: Optimizer,
    first_key: int,
) -> None:
    """Hand gradients to the store and take new weights, several at once where it can.

    Args:
        store: The store.
        selection: The parameters to update.
        trainables: All that have gradients.
        optimizer: What the store updates by.
        first_key: The store's key of the trainer's first parameter.
    """
    elsewhere = trainables.elsewhere
    for group in groups(selection.members, weights_a_call(store, optimizer)):
        keys = [first_key + i for i, _ in group]
        gradients = [
            new_gradients(param, i in elsewhere) or param.list_grad() for i, param in group
        ]
        weights = [param._held() for _, param in group]
        priority = -group[0][0]
        if len(group) == 1:
            store.pushpull(keys[0], gradients[0], out=weights[0], priority=priority)
        else:
            store.pushpull(keys, gradients, out=weights, priority=priority)
    if isinstance(store, AsyncStore):
        _pull_rest(store, selection, trainables, first_key)


def _pull_rest(
    store: AsyncStore, updated: Selection, trainables: Trainables, first_key: int
) -> None:
    """Take weights that other processes may update, though this one has no new gradient."""
    done = set(updated.indices)
    rest = [(i, param) for i, param in trainables.all().members if i not in done]
    weights = {first_key + i: param._held() for i, param in rest if param._stype == "default"}
    if weights:
        store.pull([*weights], out=[*weights.values()])
