"""ShardedUpdate: each process updates a shard of the weights, and stores only its states.

A step sums gradients so that each process gets the sums of its shard (reduce-scatter), updates the
shard's weights, and gets the new weights of the other shards (all-gather). It sends about as much
as an all-reduce, and optimizer states take 1 / N of the memory. Elementwise optimizers split each
large weight; small weights, and all weights of optimizers that need norms, are assigned to single
processes, balanced by size.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.spec import Spec
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.trainer.gradients import zero_all_stale
from gluonish.gluon.trainer.trainables import Selection
from gluonish.kvstore import KVStoreBase
from gluonish.kvstore.distributed.host_memory import shard_edges
from gluonish.kvstore.distributed.pieces import Edges
from gluonish.kvstore.sync_store import SyncStore
from gluonish.ndarray import NDArray, array
from gluonish.optimizer import Optimizer, Updater, get_updater
from gluonish.optimizer.base import State
from gluonish.optimizer.rule_optimizer import RuleOptimizer

_LEAST_SHARD_SIZE = 1 << 10  # elements; a weight with smaller shards is not split


class _Views(NamedTuple):
    """The shards of the selected gradients and weights that this process updates."""

    selection: Selection
    raw: list[Any]  # the raw arrays that the shards are views of
    gradients: tuple[NDArray, ...]
    weights: tuple[NDArray, ...]


def sharded_update(
    store: KVStoreBase | None, update_on_kvstore: bool, first_key: int
) -> "ShardedUpdate | None":
    """Return a ShardedUpdate; None without a ``dist_sync`` store.

    Raises:
        ArgumentError: The store updates the weights.
    """
    if store is not None and update_on_kvstore:
        raise ArgumentError(
            "Trainer: expected a store that only sums with shard_optimizer_states, got a "
            f"{store.type} store that updates the weights; use kvstore='dist_sync', without "
            "update_on_kvstore, and no row_sparse weights"
        )
    return ShardedUpdate(store, first_key) if isinstance(store, SyncStore) else None


class ShardedUpdate:
    """Runs the steps of a Trainer whose optimizer states are sharded over the processes.

    Args:
        store: The store that connects the processes.
        first_key: The store's key of the trainer's first parameter.
    """

    def __init__(self, store: SyncStore, first_key: int) -> None:
        self._store = store
        self._first_key = first_key
        self._edges: dict[int, Edges] = {}  # by position; no edges if a weight is not sharded
        self._loads = [0] * store.num_workers
        self._views: _Views | None = None

    def reduce_gradients(
        self, selection: Selection, remote: Collection[int], optimizer: Optimizer
    ) -> bool:
        """Sum the gradients of this process's shards; return False if a full all-reduce is needed.

        Args:
            selection: The parameters to update.
            remote: Positions of parameters whose gradient is new in another process only.
            optimizer: The optimizer.
        """
        if not selection.members:
            return True
        store, first = self._store, [xs[0] for xs in selection.gradients]
        if len(first) > 1 or store.compresses or store.sums_on_gpus(first):
            return False
        zero_all_stale(selection.members, remote)
        self._divide(selection, optimizer)
        gradients = dict(zip(selection.indices, selection.gradients[0], strict=True))
        replicated = [i for i in gradients if not self._edges[i]]
        self._store.allreduce(self._keys(replicated), [[gradients[i]] for i in replicated])
        sharded = [i for i in gradients if self._edges[i]]
        edges = [self._edges[i] for i in sharded]
        self._store.reduce_scatter(self._keys(sharded), [gradients[i] for i in sharded], edges)
        return True

    def _keys(self, indices: Sequence[int]) -> list[int]:
        return [self._first_key + i for i in indices]

    def update(self, selection: Selection, updater: Updater) -> None:
        """Update this process's shard, and gather the new weights of the other shards.

        Args:
            selection: The parameters, with summed gradients.
            updater: Holds the states of this process's shard.
        """
        if not selection.members:
            return
        optimizer = updater.optimizer
        self._divide(selection, optimizer)
        views = self._shards_of(selection)
        if isinstance(optimizer, RuleOptimizer) and optimizer.supports_apply:
            updater(selection.indices, views.gradients, views.weights)
        else:
            self._update_nonempty(updater, selection, views)
        weights = dict(zip(selection.indices, selection.weights[0], strict=True))
        sharded = [i for i in weights if self._edges[i]]
        edges = [self._edges[i] for i in sharded]
        self._store.all_gather(self._keys(sharded), [weights[i] for i in sharded], edges)
        for others in selection.weights[1:]:
            for source, target in zip(selection.weights[0], others, strict=True):
                source.copyto(target)

    @staticmethod
    def _update_nonempty(updater: Updater, selection: Selection, views: _Views) -> None:
        """Update nonempty shards only, for an optimizer that might not support empty arrays."""
        optimizer = updater.optimizer
        optimizer._set_current_context(views.weights[0].context.device_id)
        items = list(zip(selection.indices, views.gradients, views.weights, strict=True))
        nonempty = [item for item in items if item[2].size]
        if nonempty:
            updater(*(list(column) for column in zip(*nonempty, strict=True)))
        optimizer._update_count([i for i, _, weight in items if not weight.size])

    def _divide(self, selection: Selection, optimizer: Optimizer) -> None:
        """Assign shards of new parameters to processes; all processes get the same result."""
        for (i, param), weight in zip(selection.members, selection.weights[0], strict=True):
            edges = self._edges.get(i)
            if edges is None or (edges and edges[-1] != weight.size):
                self._edges[i] = self._division(param, weight, optimizer.sharding)

    def _division(self, param: Parameter, weight: NDArray, kind: str) -> Edges:
        count = len(self._loads)
        if kind == "none" or param._grad_stype != "default" or param._stype != "default":
            return ()
        if kind == "elements" and weight.size >= count * _LEAST_SHARD_SIZE:
            edges = shard_edges(weight.size, count)
            self._loads = [
                x + b - a for x, (a, b) in zip(self._loads, pairwise(edges), strict=True)
            ]
            return edges
        owner = min(range(count), key=self._loads.__getitem__)
        self._loads[owner] += weight.size
        return [0] * (owner + 1) + [weight.size] * (count - owner)

    def _shards_of(self, selection: Selection) -> _Views:
        """Return this process's shards, cached until an array is reallocated."""
        weights, gradients = selection.weights[0], selection.gradients[0]
        arrays = [*weights, *gradients]
        views = self._views
        if (
            views is None
            or views.selection is not selection
            or not all(map(is_, (x._data for x in arrays if x.stype == "default"), views.raw))
        ):
            shards = [
                tuple(self._shard(i, x) for i, x in zip(selection.indices, xs, strict=True))
                for xs in (gradients, weights)
            ]
            raw = [x._data for x in arrays if x.stype == "default"]
            views = self._views = _Views(selection, raw, *shards)
        return views

    def _shard(self, index: int, x: NDArray) -> NDArray:
        """Return this process's shard, possibly empty, as a view of an array."""
        edges = self._edges[index]
        if not edges:
            return x
        first, last = edges[self._store.rank : self._store.rank + 2]
        if last - first == x.size:
            return x
        raw = x._make_contiguous()
        rows = x.ndim and first == last  # an optimizer may depend on the number of axes
        shard = raw[:0] if rows else raw.reshape(-1)[first:last]
        return NDArray(shard, Spec(shard.shape, x._spec.dtype), x._device, x._var)

    def gather_states(self, updater: Updater, params: Sequence[Parameter]) -> Updater:
        """Return an updater with the states of all weights; all processes call this together.

        Args:
            updater: Holds the states of this process's shard.
            params: All parameters of the trainer.
        """
        found = get_updater(updater.optimizer)
        indices = sorted({i for present in self._store.gather([*updater.states]) for i in present})
        for i in indices:
            edges = self._edges.get(i)
            if not edges:
                found.states[i] = updater.states[i]
                continue
            owners = [rank for rank, (a, b) in enumerate(pairwise(edges)) if b > a]
            mine = _to_host(updater.states[i]) if self._store.rank in owners else None
            shards = self._store.gather(mine)
            found.states[i] = _concatenate([shards[rank] for rank in owners], params[i].shape)
        found.states_synced = dict.fromkeys(found.states, False)
        return found

    def select_shard(self, updaters: Sequence[Updater], params: Sequence[Parameter]) -> None:
        """Reduce loaded states to this process's shard.

        Args:
            updaters: Each holds the states of all weights; only the first one is used in updates.
            params: All parameters of the trainer.
        """
        updater, *others = updaters
        for other in others:
            other.states, other.states_synced = {}, {}
        for i, param in enumerate(params):
            if i not in updater.states or param._arrays is None or param.grad_req == "null":
                continue
            self._divide(Selection([(i, param)]), updater.optimizer)
            edges = self._edges[i]
            if not edges:
                continue
            first, last = edges[self._store.rank : self._store.rank + 2]
            if first == last:
                del updater.states[i], updater.states_synced[i]
            elif last - first < edges[-1]:
                updater.states[i] = _slice(updater.states[i], first, last)


def _to_host(state: State) -> Any:
    if isinstance(state, tuple | list):
        return tuple(map(_to_host, state))
    return state.asnumpy() if isinstance(state, NDArray) else state


def _concatenate(shards: Sequence[Any], shape: tuple[int, ...]) -> State:
    """Return the full state of a weight from the states of its shards."""
    first = shards[0]
    if isinstance(first, tuple):
        return tuple(_concatenate(inner, shape) for inner in zip(*shards, strict=True))
    if not isinstance(first, np.ndarray):
        return first
    joined = np.concatenate(shards).reshape(shape) if len(shards) > 1 else first
    return array(joined, dtype=joined.dtype)


def _slice(state: State, first: int, last: int) -> State:
    if isinstance(state, tuple | list):
        return type(state)(_slice(x, first, last) for x in state)
    return state.reshape(-1)[first:last].copy() if isinstance(state, NDArray) else state
