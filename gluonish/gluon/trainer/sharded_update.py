"""ShardedUpdate: each process updates a share of the weights, and has the states of that only.

A step adds up gradients so that each process gets the sums of its share (reduce-scatter), updates
these weights, and gets the other shares' new weights (all-gather): about as much is sent as for
whole sums, and optimizer states take 1 / N of the memory. An optimizer that works element by
element has a share of each large weight; one that needs norms of weights has whole weights, spread
evenly. What few bytes a small weight's states take is spread as whole weights, too.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.spec import Spec
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.trainer.gradients import clear_all_old
from gluonish.gluon.trainer.trainables import Selection
from gluonish.kvstore import KVStoreBase
from gluonish.kvstore.distributed.messages import shares
from gluonish.kvstore.distributed.pieces import Edges
from gluonish.kvstore.sync_store import SyncStore
from gluonish.ndarray import NDArray, array
from gluonish.optimizer import Optimizer, Updater, get_updater
from gluonish.optimizer.base import State
from gluonish.optimizer.rule_optimizer import RuleOptimizer

_CUT_SIZE = 1 << 10  # elements of each share from which on a weight is cut


class _Views(NamedTuple):
    """Shares of the arrays of a selection."""

    selection: Selection
    raw: list[Any]  # what the arrays were when the views were made
    gradients: tuple[NDArray, ...]
    weights: tuple[NDArray, ...]


def sharded_update(
    store: KVStoreBase | None, update_on_kvstore: bool, first_key: int
) -> "ShardedUpdate | None":
    """Return what shards updates; None where no processes train together.

    Args:
        store: The Trainer's store.
        update_on_kvstore: Whether it updates the weights.
        first_key: The store's key of the Trainer's first parameter.

    Raises:
        ArgumentError: The store updates the weights.
    """
    if store is not None and update_on_kvstore:
        raise ArgumentError(
            "Trainer: expected a store that only adds up with shard_optimizer_states, got a "
            f"{store.type} store that updates the weights; use kvstore='dist_sync', without "
            "update_on_kvstore, and no row_sparse weights"
        )
    return ShardedUpdate(store, first_key) if isinstance(store, SyncStore) else None


class ShardedUpdate:
    """What a Trainer does in a step where updates are sharded.

    Args:
        store: The store whose processes share.
        first_key: The store's key of the trainer's first parameter.
    """

    def __init__(self, store: SyncStore, first_key: int) -> None:
        self._store = store
        self._first_key = first_key
        self._edges: dict[int, Edges] = {}  # by position; none: every process has all
        self._loads = [0] * store.num_workers
        self._views: _Views | None = None

    def add_up(
        self, selection: Selection, elsewhere: Collection[int], optimizer: Optimizer
    ) -> bool:
        """Add gradients up as far as this process needs them.

        Args:
            selection: The parameters to update.
            elsewhere: Positions of those whose gradient is new in another process only.
            optimizer: What they are updated by.

        Returns:
            Whether that was possible; else whole sums are needed.
        """
        if not selection.members:
            return True
        store, first = self._store, [xs[0] for xs in selection.gradients]
        if len(first) > 1 or store.compresses or store.adds_on_gpus(first):
            return False
        clear_all_old(selection.members, elsewhere)
        self._divide(selection, optimizer)
        gradients = dict(zip(selection.indices, selection.gradients[0], strict=True))
        whole = [i for i in gradients if not self._edges[i]]
        self._store.add_up(self._keys(whole), [[gradients[i]] for i in whole])
        cut = [i for i in gradients if self._edges[i]]
        edges = [self._edges[i] for i in cut]
        self._store.reduce_scatter(self._keys(cut), [gradients[i] for i in cut], edges)
        return True

    def _keys(self, indices: Sequence[int]) -> list[int]:
        return [self._first_key + i for i in indices]

    def update(self, selection: Selection, updater: Updater) -> None:
        """Update this process's share, and take the other shares' new weights.

        Args:
            selection: The parameters; the gradients are added up.
            updater: Has the states of this process's share.
        """
        if not selection.members:
            return
        optimizer = updater.optimizer
        self._divide(selection, optimizer)
        views = self._shares_of(selection)
        if isinstance(optimizer, RuleOptimizer) and optimizer.takes_all:
            updater(selection.indices, views.gradients, views.weights)
        else:
            self._update_owned(updater, selection, views)
        weights = dict(zip(selection.indices, selection.weights[0], strict=True))
        cut = [i for i in weights if self._edges[i]]
        edges = [self._edges[i] for i in cut]
        self._store.all_gather(self._keys(cut), [weights[i] for i in cut], edges)
        for others in selection.weights[1:]:
            for source, target in zip(selection.weights[0], others, strict=True):
                source.copyto(target)

    @staticmethod
    def _update_owned(updater: Updater, selection: Selection, views: _Views) -> None:
        """Call an optimizer that might not expect arrays without elements."""
        optimizer = updater.optimizer
        optimizer._set_current_context(views.weights[0].context.device_id)
        items = list(zip(selection.indices, views.gradients, views.weights, strict=True))
        owned = [item for item in items if item[2].size]
        if owned:
            updater(*(list(part) for part in zip(*owned, strict=True)))
        optimizer._update_count([i for i, _, weight in items if not weight.size])

    def _divide(self, selection: Selection, optimizer: Optimizer) -> None:
        """Decide who has what of parameters that are new here; the same in all processes."""
        for (i, param), weight in zip(selection.members, selection.weights[0], strict=True):
            edges = self._edges.get(i)
            if edges is None or (edges and edges[-1] != weight.size):
                self._edges[i] = self._division(param, weight, optimizer.sharding)

    def _division(self, param: Parameter, weight: NDArray, kind: str) -> Edges:
        count = len(self._loads)
        if kind == "none" or param._grad_stype != "default" or param._stype != "default":
            return ()
        if kind == "elements" and weight.size >= count * _CUT_SIZE:
            edges = shares(weight.size, count)
            self._loads = [
                x + b - a for x, (a, b) in zip(self._loads, pairwise(edges), strict=True)
            ]
            return edges
        owner = min(range(count), key=self._loads.__getitem__)
        self._loads[owner] += weight.size
        return [0] * (owner + 1) + [weight.size] * (count - owner)

    def _shares_of(self, selection: Selection) -> _Views:
        """Return this process's shares, the same objects as long as nothing has moved."""
        weights, gradients = selection.weights[0], selection.gradients[0]
        arrays = [*weights, *gradients]
        views = self._views
        if (
            views is None
            or views.selection is not selection
            or not all(map(is_, (x._data for x in arrays if x.stype == "default"), views.raw))
        ):
            parts = [
                [self._share(i, x) for i, x in zip(selection.indices, xs, strict=True)]
                for xs in (gradients, weights)
            ]
            raw = [x._data for x in arrays if x.stype == "default"]
            views = self._views = _Views(selection, raw, tuple(parts[0]), tuple(parts[1]))
        return views

    def _share(self, index: int, x: NDArray) -> NDArray:
        """Return this process's share of an array, in the same memory; perhaps without elements."""
        edges = self._edges[index]
        if not edges:
            return x
        first, last = edges[self._store.rank : self._store.rank + 2]
        if last - first == x.size:
            return x
        raw = x._make_contiguous()
        rows = x.ndim and first == last  # an optimizer may look at the number of axes
        part = raw[:0] if rows else raw.reshape(-1)[first:last]
        return NDArray(part, Spec(part.shape, x._spec.dtype), x._device, x._var)

    def whole_states(self, updater: Updater, params: Sequence[Parameter]) -> Updater:
        """Return an updater with the states of all weights; all processes call this together.

        Args:
            updater: Has the states of this process's share.
            params: All of the trainer's parameters.
        """
        found = get_updater(updater.optimizer)
        indices = sorted({i for seen in self._store.gather([*updater.states]) for i in seen})
        for i in indices:
            edges = self._edges.get(i)
            if not edges:
                found.states[i] = updater.states[i]
                continue
            owners = [rank for rank, (a, b) in enumerate(pairwise(edges)) if b > a]
            mine = _on_host(updater.states[i]) if self._store.rank in owners else None
            parts = self._store.gather(mine)
            found.states[i] = _joined([parts[rank] for rank in owners], params[i].shape)
        found.states_synced = dict.fromkeys(found.states, False)
        return found

    def take_share(self, updaters: Sequence[Updater], params: Sequence[Parameter]) -> None:
        """Keep only this process's share of states that a file gave.

        Args:
            updaters: Each has the states of all weights; only the first one updates any.
            params: All of the trainer's parameters.
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
                updater.states[i] = _cut(updater.states[i], first, last)


def _on_host(state: State) -> Any:
    if isinstance(state, tuple | list):
        return tuple(map(_on_host, state))
    return state.asnumpy() if isinstance(state, NDArray) else state


def _joined(parts: Sequence[Any], shape: tuple[int, ...]) -> State:
    """Return the state of a whole weight from those of its shares, in their order."""
    first = parts[0]
    if isinstance(first, tuple):
        return tuple(_joined(inner, shape) for inner in zip(*parts, strict=True))
    if not isinstance(first, np.ndarray):
        return first
    whole = np.concatenate(parts).reshape(shape) if len(parts) > 1 else first
    return array(whole, dtype=whole.dtype)


def _cut(state: State, first: int, last: int) -> State:
    if isinstance(state, tuple | list):
        return type(state)(_cut(part, first, last) for part in state)
    return state.reshape(-1)[first:last].copy() if isinstance(state, NDArray) else state
