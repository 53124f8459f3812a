"""The choice of a Trainer's store, and updates through it.

The rules are those of MXNet 1.9.1, in this order:

- Row-sparse weights live in the store, which updates them; contradicting arguments are errors.
- A named store is used with several devices or processes, or with ``update_on_kvstore=True``; a
  KVStore object is always used.
- Without a store each device updates its weights.
- ``update_on_kvstore`` decides if it is not None.
- Processes of a ``dist_sync`` store update their own weights, which needs no copies.
- With row-sparse gradients of dense weights each device updates its weights.
- Otherwise ``MXNET_UPDATE_ON_KVSTORE`` decides, if the store can update.

States of updaters: copies for devices added after training began, and files.
"""

import copy
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from gluonish.core.config import MXNET_UPDATE_ON_KVSTORE
from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError
from gluonish.core.files import atomic_write, open_to_read
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.parameter.paths import described
from gluonish.gluon.trainer.gradients import groups, new_gradients, zero_all_stale
from gluonish.gluon.trainer.trainables import Selection, Trainables
from gluonish.kvstore import KVStore, KVStoreBase, create
from gluonish.kvstore.async_store import AsyncStore
from gluonish.kvstore.create import SYNCHRONOUS
from gluonish.kvstore.distributed import channel
from gluonish.kvstore.distributed.channel import share_statistics
from gluonish.kvstore.sync_store import SyncStore
from gluonish.ndarray import NDArray
from gluonish.ops.support.across_ranks import expect_ranks
from gluonish.optimizer import Optimizer, Updater, get_updater
from gluonish.optimizer.base import State
from gluonish.optimizer.rule_optimizer import RuleOptimizer


class StoreChoice(NamedTuple):
    """The chosen store, whether it updates the weights, and the reason for that as text."""

    store: KVStoreBase | None
    update: bool
    reason: str


def expect_processes(trainer: Any, kvstore: str | KVStoreBase | None) -> None:
    """Share SyncBatchNorm's statistics among all processes before the store is created.

    Args:
        trainer: The Trainer that will create the store.
        kvstore: The Trainer's argument.
    """
    if isinstance(kvstore, str) and kvstore.lower() in SYNCHRONOUS:
        expect_ranks(trainer, lambda: share_statistics(channel()))


def choose_store(
    kvstore: str | KVStoreBase | None,
    update_on_kvstore: bool | None,
    contexts: Sequence[Context],
    params: Sequence[Parameter],
) -> StoreChoice:
    """Choose whether the store updates the weights, and create a named store if one is needed.

    Raises:
        ArgumentError: The arguments contradict each other, or do not fit the weights.
        NotSupportedError: MXNet has this store, but gluonish does not.
    """
    update = update_on_kvstore
    _check_sparse(kvstore, update, params)
    store = None
    if _needs_store(kvstore, update, contexts, params):
        store = create(kvstore) if isinstance(kvstore, str) else kvstore
    capable = store is not None and store.is_capable(KVStoreBase.OPTIMIZER)
    if not capable and (update or _has_sparse_weights(params)):
        raise ArgumentError(
            "Trainer: expected a kvstore that updates weights, as update_on_kvstore=True and "
            "row_sparse weights require, got "
            f"{'none' if store is None else type(store).__name__}; use kvstore='device'"
        )
    if isinstance(store, AsyncStore):
        if update is not None and not update:
            raise ArgumentError(
                "Trainer: expected update_on_kvstore=True or None with a dist_async store, whose "
                "servers update the weights, got False"
            )
        return StoreChoice(store, True, "the servers of dist_async update")
    if update is None and isinstance(store, SyncStore) and not _has_sparse_weights(params):
        return StoreChoice(store, False, "each process updates its own weights")
    return StoreChoice(store, *_choose_update(store is not None, capable, update, params))


def _needs_store(
    kvstore: str | KVStoreBase | None,
    update: bool | None,
    contexts: Sequence[Context],
    params: Sequence[Parameter],
) -> bool:
    """Whether a Trainer with these arguments needs a store."""
    if not isinstance(kvstore, str):
        return kvstore is not None
    spread = len(contexts) > 1 or "dist" in kvstore
    return spread or bool(update) or _has_sparse_weights(params)


def _choose_update(
    has_store: bool, capable: bool, update: bool | None, params: Sequence[Parameter]
) -> tuple[bool, str]:
    """Return whether the store updates the weights, and the reason."""
    if not has_store:
        return False, "one device needs no store, or there is none"
    if _has_sparse_weights(params):
        return True, "the store has the row_sparse weights"
    if update is not None:
        return bool(update), "as requested"
    if not capable:
        return False, "the store cannot"
    if any(param._grad_stype != "default" for param in params):
        return False, "gradients are row_sparse"
    return MXNET_UPDATE_ON_KVSTORE.value, "MXNET_UPDATE_ON_KVSTORE"


def set_up_store(
    store: KVStoreBase, optimizer: Optimizer | None, compression: Mapping[str, Any] | None
) -> int:
    """Set up a store for a trainer, and return the trainer's first key.

    Args:
        store: The store.
        optimizer: The optimizer that runs in the store; None if it only sums gradients.
        compression: Arguments of ``set_gradient_compression``, or None.

    Raises:
        ArgumentError: The store updates weights of another trainer, or cannot compress.
    """
    first_key = store._free_key() if isinstance(store, KVStore) else 0
    if optimizer is not None and first_key:
        raise ArgumentError(
            f"Trainer: expected a {store.type} store that no other Trainer uses, got one with "
            "another Trainer's weights; create one for each, or pass update_on_kvstore=False"
        )
    if compression:
        compress = getattr(store, "set_gradient_compression", None)
        if compress is None:
            raise ArgumentError(
                "Trainer: expected compression_params None with a"
                f" {type(store).__name__}, which has no gradient compression"
            )
        compress(compression)
    if optimizer is not None:
        store.set_optimizer(optimizer)
    return first_key


def weights_per_call(store: KVStoreBase, optimizer: Optimizer) -> int:
    """Return how many weights a store updates in one call."""
    if not isinstance(store, KVStore):
        return 1
    if isinstance(optimizer, RuleOptimizer) and optimizer.supports_apply:
        return optimizer.group_limit or sys.maxsize
    return max(1, optimizer.aggregate_num)


def expected_update(
    kvstore: str | KVStoreBase | None,
    update_on_kvstore: bool | None,
    contexts: Sequence[Context],
    params: Sequence[Parameter],
) -> str:
    """Describe the ``update_on_kvstore`` that `choose_store` would choose, and the reason."""
    named = isinstance(kvstore, str)
    registered = isinstance(kvstore, str) and kvstore.lower() in KVStoreBase.kv_registry
    if registered or not (named or kvstore is None or isinstance(kvstore, KVStore)):
        return f"{update_on_kvstore}: decided in the first step"
    needed = _needs_store(kvstore, update_on_kvstore, contexts, params)
    updates, reason = _choose_update(needed, needed, update_on_kvstore, params)
    return f"{updates}: {reason}"


def _has_sparse_weights(params: Sequence[Parameter]) -> bool:
    return any(param._stype != "default" for param in params)


def _check_sparse(
    kvstore: str | KVStoreBase | None, update: bool | None, params: Sequence[Parameter]
) -> None:
    sparse = next((param for param in params if param._stype != "default"), None)
    if sparse is None:
        return
    if kvstore is None or (update is not None and not update):
        raise ArgumentError(
            "Trainer: expected a kvstore that updates the weights, since it holds the rows of "
            f"{described(sparse)} of stype {sparse._stype}, got kvstore={kvstore!r} with "
            f"update_on_kvstore={update}"
        )


def allreduce_gradients(
    store: KVStoreBase, selection: Selection, remote: Collection[int], first_key: int
) -> None:
    """Replace gradients by their sums over all devices and processes.

    Args:
        store: The store.
        selection: The parameters.
        remote: Positions of parameters whose gradient is new in another process only.
        first_key: The store's key of the trainer's first parameter.
    """
    if isinstance(store, SyncStore):
        zero_all_stale(selection.members, remote)
        keys = [first_key + i for i in selection.indices]
        store.allreduce(keys, [param.list_grad() for _, param in selection.members])
        return
    alone = _allreduce_on_gpus(store, selection, first_key)
    for i, param in alone:
        gradients, new = param.list_grad(), new_gradients(param)
        if new is None:
            store.pushpull(first_key + i, gradients, priority=-i)
        else:
            store.pushpull(first_key + i, new, out=gradients, priority=-i)


def _allreduce_on_gpus(
    store: KVStoreBase, selection: Selection, first_key: int
) -> Sequence[tuple[int, Parameter]]:
    """Sum gradients that a store sums on GPUs in place; return the other parameters."""
    if not isinstance(store, KVStore):
        return selection.members
    together: list[tuple[int, Parameter]] = []
    alone: list[tuple[int, Parameter]] = []
    for member in selection.members:
        (together if store.sums_on_gpus(member[1].list_grad()) else alone).append(member)
    if together:
        zero_all_stale(together, ())
        keys = [first_key + i for i, _ in together]
        store.allreduce(keys, [param.list_grad() for _, param in together])
    return alone


def update_in_store(
    store: KVStoreBase,
    selection: Selection,
    trainables: Trainables,
    optimizer: Optimizer,
    first_key: int,
) -> None:
    """Push gradients to the store and pull new weights, in groups if the store supports them.

    Args:
        store: The store.
        selection: The parameters to update.
        trainables: All parameters with gradients.
        optimizer: The store's optimizer.
        first_key: The store's key of the trainer's first parameter.
    """
    remote = trainables.remote
    for group in groups(selection.members, weights_per_call(store, optimizer)):
        keys = [first_key + i for i, _ in group]
        gradients = [new_gradients(param, i in remote) or param.list_grad() for i, param in group]
        weights = [param._list_arrays() for _, param in group]
        priority = -group[0][0]
        if len(group) == 1:
            store.pushpull(keys[0], gradients[0], out=weights[0], priority=priority)
        else:
            store.pushpull(keys, gradients, out=weights, priority=priority)
    if isinstance(store, AsyncStore):
        _pull_others(store, selection, trainables, first_key)


def _pull_others(
    store: AsyncStore, updated: Selection, trainables: Trainables, first_key: int
) -> None:
    """Pull weights without a new gradient here, which other processes may update."""
    done = set(updated.indices)
    weights = {
        first_key + i: param._list_arrays()
        for i, param in trainables.all().members
        if i not in done and param._stype == "default"
    }
    if weights:
        store.pull([*weights], out=[*weights.values()])


def copy_states(source: Updater, target: Updater) -> None:
    """Copy states between updaters; they move to their weights' device at the next update."""
    target.states = {index: _copied(state) for index, state in source.states.items()}
    target.states_synced = dict.fromkeys(target.states, False)


def _copied(state: State) -> State:
    if isinstance(state, NDArray):
        return state.copy()
    if isinstance(state, tuple | list):
        return type(state)(_copied(x) for x in state)
    return copy.copy(state)


def updaters_for(
    optimizer: Optimizer, contexts: list[Context], former: list[Updater]
) -> list[Updater]:
    """Return an updater for each device: reuse former ones, and copy their states to new ones."""
    reused = former[: len(contexts)]
    for updater in reused:
        updater.states_synced = dict.fromkeys(updater.states, False)
    added = [get_updater(optimizer) for _ in contexts[len(reused) :]]
    for updater in added if reused else []:
        copy_states(reused[0], updater)
    return reused + added


def save_updater(
    updaters: Sequence[Updater], optimizer: Optimizer, fname: str | os.PathLike[str]
) -> None:
    """Write the optimizer and the states of the first updater, if any, to a file."""
    first = updaters[0] if updaters else get_updater(optimizer)
    data = first.get_states(dump_optimizer=True)
    with atomic_write(fname) as file:
        file.write(data)


def load_updaters(
    updaters: Sequence[Updater],
    optimizer: Optimizer,
    fname: str | os.PathLike[str],
    params: Sequence[Parameter],
) -> Optimizer:
    """Load states from a file into all updaters, and return their new common optimizer.

    Args:
        updaters: Updaters, one for each device; may be empty.
        optimizer: Their current optimizer.
        fname: The file.
        params: The parameters; the shapes of initialized ones are checked.

    Raises:
        FileFormatError: The file holds no states, or states of other parameters; nothing was
            changed.
    """
    weights = {
        i: param._list_arrays()[0] for i, param in enumerate(params) if param._arrays is not None
    }
    with open_to_read(fname, "Trainer.load_states") as file:
        data = file.read()
    loaded = list(updaters) or [get_updater(optimizer)]
    for updater in loaded:
        updater.set_states(data, os.fspath(fname), weights)
        updater.optimizer = loaded[0].optimizer
    return loaded[0].optimizer
