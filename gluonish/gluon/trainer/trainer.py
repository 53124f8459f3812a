"""Trainer: applies an optimizer to a set of Parameters, on one device or several.

With several, a kvstore adds up the gradients; then either the store updates its own copy of the
weights, which all devices receive (``update_on_kvstore``), or each device updates its own. Indices
of parameters in stores and states are positions in the trainer's list.

Parameters may get other arrays between steps: other devices, values set by hand, another dtype, a
step of another Trainer. `_prepare` looks for that before every step, at the cost of one comparison.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.autograd import pause
from gluonish.core.errors import ArgumentError
from gluonish.gluon.parameter import Parameter, ParameterDict
from gluonish.gluon.parameter.arrays import ParameterArrays
from gluonish.gluon.trainer.gradients import LossScaler, clear_all_old, only_new, stale_error
from gluonish.gluon.trainer.other_ranks import OtherRanks, other_ranks
from gluonish.gluon.trainer.sharded_update import ShardedUpdate, sharded_update
from gluonish.gluon.trainer.state_transfer import (
    copy_states,
    load_updaters,
    save_updater,
    updaters_for,
)
from gluonish.gluon.trainer.store_choice import (
    add_up,
    choose_store,
    expect_processes,
    expected_update,
    take_store,
    update_in_store,
)
from gluonish.gluon.trainer.trainables import (
    Selection,
    Trainables,
    check_batch_size,
    check_store_arguments,
    common_contexts,
    make_optimizer,
    parameter_list,
    refuse_update_in_store,
)
from gluonish.kvstore import KVStore, KVStoreBase
from gluonish.kvstore.core_shares import share_cores
from gluonish.kvstore.sync_store import SyncStore
from gluonish.optimizer import Optimizer, Updater, get_updater


class Trainer:
    """Applies an optimizer to a set of Parameters, once after each backward pass.

    Args:
        params: The Parameters to train: the ParameterDict of `Block.collect_params`, a dict, or a
            list. Dicts are taken in the order of their sorted names.
        optimizer: Name of an optimizer, such as ``"sgd"``, or an Optimizer.
        optimizer_params: Keyword arguments for a named optimizer, such as ``{"learning_rate":
            0.1}``; None with an Optimizer.
        kvstore: Name of a store that combines the gradients of several devices, a KVStore, or None.
            A named store is created only where there are several devices.
        compression_params: As of `KVStore.set_gradient_compression`; without effect if no store is.
        update_on_kvstore: Whether the store updates the weights, instead of each device its own.
            None: as ``MXNET_UPDATE_ON_KVSTORE`` says if the store can, and not for row-sparse
            gradients; `repr` of the Trainer tells the outcome.
        shard_optimizer_states: Whether each process of a ``dist_sync`` store updates a share of the
            weights only, and has the states of that only (known as ZeRO). The weights are the same;
            after a step gradients are no sums. All processes call `save_states` together. Without
            effect in one process.

    Raises:
        ArgumentError: The optimizer is unknown, ``optimizer_params`` are given with an Optimizer,
            the list has a parameter twice, or parameters are on different devices.
        ArgumentTypeError: ``params`` is neither a list nor a dict of Parameters.
        ParameterError: A parameter was not initialized.

    Example:
        >>> import gluonish as mx
        >>> net = mx.gluon.nn.Dense(1)
        >>> net.initialize()
        >>> trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
        >>> x, y = mx.nd.ones((4, 3)), mx.nd.zeros((4, 1))
        >>> with mx.autograd.record():
        ...     loss = mx.gluon.loss.L2Loss()(net(x), y)
        >>> loss.backward()
        >>> trainer.step(batch_size=4)
    """

    # What `contrib.amp.init_trainer` attaches: it decides whether a step is skipped.
    _amp_loss_scaler: LossScaler | None = None
    _amp_original_scale: float

    def __init__(
        self,
        params: ParameterDict | Mapping[str, Parameter] | Sequence[Parameter],
        optimizer: str | Optimizer,
        optimizer_params: Mapping[str, Any] | None = None,
        kvstore: str | KVStoreBase | None = "device",
        compression_params: Mapping[str, Any] | None = None,
        update_on_kvstore: bool | None = None,
        shard_optimizer_states: bool = False,
    ) -> None:
        self._params = parameter_list(params)
        check_store_arguments(kvstore, compression_params, update_on_kvstore)
        expect_processes(self, kvstore)
        self._trainables = Trainables(self._params)
        self._positions = {id(param): i for i, param in enumerate(self._params)}
        given = params.values() if isinstance(params, ParameterDict | Mapping) else params
        self._layers = [self._positions[id(param)] for param in given]
        self._moves = Parameter.moves
        self._contexts = common_contexts(self._params)
        share_cores(self._contexts, self)
        self._compression_params = compression_params
        self._optimizer = make_optimizer(optimizer, optimizer_params, self._params)
        self._updaters = [get_updater(self._optimizer) for _ in self._contexts]
        self._scale = self._optimizer.rescale_grad
        self._kvstore_params: dict[str, Any] = {
            "kvstore": kvstore,
            "update_on_kvstore": update_on_kvstore,
        }
        self._shards = shard_optimizer_states
        self._sharded: ShardedUpdate | None = None
        self._ranks: OtherRanks | None = None
        self._kv_initialized = False
        self._kvstore: KVStoreBase | None = None
        self._set_aside: KVStoreBase | None = None  # until the next step
        self._update_on_kvstore: bool | None = None
        self._update_reason = ""
        # The first key in the store, of a store that has others: each trainer has keys of its own.
        self._first_key = 0
        self._params_to_init = list(self._params)
        self._in_store: set[int] = set()  # keys
        for param in self._params:
            param._set_trainer(self)

    def __repr__(self) -> str:
        store = self._kvstore_params["kvstore"]
        name = store if isinstance(store, str | None) else type(store).__name__
        update = f"{bool(self._update_on_kvstore)}: {self._update_reason}"
        if not self._kv_initialized:
            update = expected_update(
                **self._kvstore_params, contexts=self._contexts, params=self._params
            )
        return (
            f"Trainer({type(self._optimizer).__name__}, {len(self._params)} parameters on "
            f"{self._contexts}, kvstore={name!r}, update_on_kvstore={update})"
        )

    def _init_kvstore(self) -> None:
        """Make or take the store, once; as late as the first step, so that settings may change."""
        store, update, self._update_reason = choose_store(
            **self._kvstore_params, contexts=self._contexts, params=self._params
        )
        if store is not None:
            optimizer = self._optimizer if update else None
            self._first_key = take_store(store, optimizer, self._compression_params)
        if isinstance(store, SyncStore):
            store.set_layers([self._first_key + i for i in self._layers])
        self._ranks = other_ranks(store, self._first_key, self._params)
        if self._shards:
            self._sharded = sharded_update(store, update, self._first_key)
        self._kvstore, self._update_on_kvstore = store, None if store is None else update
        self._kv_initialized = True

    def _init_params(self) -> None:
        """Give the store the values of parameters that are initialized by now."""
        store, waiting = self._kvstore, []
        if self._ranks is not None:
            self._ranks.agree_on_parameters(self._params_to_init)
        for param in self._params_to_init:
            if param._deferred_init is not None:
                waiting.append(param)
            elif store is not None:
                arrays = param._held()
                key = self._first_key + self._positions[id(param)]
                if key in self._in_store and isinstance(store, KVStore):
                    store._overwrite(key, arrays[0])
                else:
                    store.broadcast(key, arrays[0], arrays)
                    self._in_store.add(key)
        self._params_to_init = waiting

    def _prepare(self) -> None:
        if self._set_aside is not None:
            self._kvstore, self._set_aside = self._set_aside, None
            self._kv_initialized = self._update_on_kvstore = True
        if self._moves != Parameter.moves:
            self._follow()
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            self._init_params()

    def _follow(self) -> None:
        """Go on with parameters that may have got other arrays, or are on other devices."""
        moves = Parameter.moves
        if self._update_on_kvstore:
            for param in self._trainables.changed():
                if param._stype == "default":  # the store has all rows of the others
                    self._note_set(param)
        contexts = common_contexts(self._params)
        if contexts != self._contexts:
            self._change_contexts(contexts)
        self._moves = moves

    def _change_contexts(self, contexts: list[Any]) -> None:
        """Train on other devices from now on, with the states so far."""
        self._contexts = contexts
        share_cores(contexts, self)
        self._optimizer._continue_on_any_device()
        if self._kv_initialized and self._kvstore is None:
            self._init_kvstore()
            self._params_to_init = list(self._params)
            inner = getattr(self._kvstore, "_updater", None) if self._update_on_kvstore else None
            if isinstance(inner, Updater) and self._updaters:
                copy_states(self._updaters[0], inner)
        self._updaters = updaters_for(self._optimizer, contexts, self._updaters)

    def _row_sparse_pull(self, parameter: ParameterArrays, out: Any, row_ids: Any) -> None:
        """Copy some rows of a row-sparse parameter from the store into arrays."""
        self._prepare()
        index = self._positions[id(parameter)]
        if not isinstance(self._kvstore, KVStore):
            raise ArgumentError(
                "row_sparse_data: expected a Trainer with a kvstore that has row_sparse_pull, got "
                f"{type(self._kvstore).__name__}"
            )
        key = self._first_key + index
        with pause():  # a pull is no part of the graph, though the array may be
            self._kvstore.row_sparse_pull(key, out=out, priority=-index, row_ids=row_ids)

    def _parameter_was_set(self, parameter: Parameter, moves: bool = False) -> None:
        """Take note that values were put into a parameter by hand; ``moves``: into new memory.

        As in MXNet, a trainer whose store has other values now shows no store until the next step.
        """
        for updater in self._updaters if moves else ():
            updater.unbind()
        self._note_set(parameter)
        if self._update_on_kvstore:
            self._set_aside, self._kvstore = self._kvstore, None
            self._kv_initialized, self._update_on_kvstore = False, None

    def _note_set(self, parameter: Parameter) -> None:
        """Have the store take over a parameter's values before the next update."""
        in_store = self._update_on_kvstore or self._set_aside is not None
        if in_store and not any(p is parameter for p in self._params_to_init):
            self._params_to_init.append(parameter)

    @property
    def _distributed(self) -> bool | None:
        """Whether the store reaches beyond this process; None while there is none yet."""
        if not self._kv_initialized:
            return None
        return "dist" in getattr(self._kvstore, "type", "")

    @property
    def _param2idx(self) -> dict[str, int]:
        """Each parameter's position by its name."""
        return {param.name: i for i, param in enumerate(self._params)}

    @property
    def learning_rate(self) -> float:
        """The current learning rate."""
        return self._optimizer.learning_rate

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer in use; `load_states` replaces it."""
        return self._optimizer

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate for the following steps.

        Args:
            lr: The learning rate.

        Raises:
            ArgumentError: A scheduler determines the learning rate.
        """
        self._optimizer.set_learning_rate(lr)

    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Update all parameters once, with their gradients divided by ``batch_size``.

        Args:
            batch_size: Number of samples on all devices, or an array of it; divides the gradients.
            ignore_stale_grad: Whether parameters without a new gradient are skipped; else an error.

        Raises:
            StaleGradientError: A parameter got no gradient by backward since the last step.
            ArgumentError: ``batch_size`` is not above 0.
        """
        samples = check_batch_size("step", batch_size)
        self._check_and_rescale_grad(self._scale / samples)
        self._prepare()
        if self._kvstore is not None:
            fresh = self._fresh(ignore_stale_grad)  # before anything is added up
            if self._ranks is not None:
                fresh, self._scale = self._ranks.agreed(self._trainables, fresh, self._scale)
                self._check_and_rescale_grad(self._scale / samples)
            if self._update_on_kvstore:
                self._update_in_store(self._kvstore, fresh)
                return
            if not fresh.members:
                return  # old gradients are sums already
        # A loss scaler looks at all sums.
        sharded = self._sharded if self._amp_loss_scaler is None else None
        elsewhere = self._trainables.elsewhere
        if sharded is None or not sharded.add_up(self._reduced(), elsewhere, self._optimizer):
            self._allreduce_grads()
        self._update(ignore_stale_grad)

    def allreduce_grads(self) -> None:
        """Sum gradients over all devices, in place; they may be changed before `update` follows.

        Raises:
            ArgumentError: The store updates the weights (``update_on_kvstore``).
        """
        self._prepare()
        refuse_update_in_store("allreduce_grads", self._update_on_kvstore)
        if self._ranks is not None:
            fresh, _ = self._trainables.fresh()
            _, self._scale = self._ranks.agreed(self._trainables, fresh, self._scale)
        self._allreduce_grads()

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Update all parameters with the gradients that `allreduce_grads` has summed.

        Args:
            batch_size: Number of samples on all devices, or an array of it; divides the gradients.
            ignore_stale_grad: Whether parameters without a new gradient are skipped; else an error.

        Raises:
            StaleGradientError: A parameter got no gradient by backward since the last step.
            ArgumentError: The store updates the weights, or ``batch_size`` is not above 0.
        """
        samples = check_batch_size("update", batch_size)
        self._prepare()
        refuse_update_in_store("update", self._update_on_kvstore)
        self._check_and_rescale_grad(self._scale / samples)
        self._update(ignore_stale_grad)

    def _check_and_rescale_grad(self, scale: float) -> None:
        """Have gradients multiplied by ``scale`` in the next update."""
        self._optimizer.rescale_grad = scale

    def _fresh(self, ignore_stale_grad: bool) -> Selection:
        """Return the parameters to update, after a look at all, so that no step is done by half."""
        selection, stale = self._trainables.fresh()
        if stale and not ignore_stale_grad:
            if self._ranks is not None:
                self._ranks.report_stale(stale[0])
            raise stale_error(stale[0], self._params)
        return selection

    def _skips(self, selection: Selection) -> bool:
        """Whether a loss scaler found gradients that cannot be used; they count as used then."""
        scaler, ranks = self._amp_loss_scaler, self._ranks
        if scaler is None:
            return False
        # Where no store has summed yet, old gradients of devices are left out; they may overflow.
        if self._update_on_kvstore or self._kvstore is None:
            clear_all_old(selection.members, self._trainables.elsewhere)
        any_of = (ranks.any_of,) if ranks is not None and self._update_on_kvstore else ()
        overflows = scaler.has_overflow([param for _, param in selection.members], *any_of)
        if overflows:
            self._trainables.mark_used(selection)
        return overflows

    def _allreduce_grads(self) -> None:
        """Add up gradients by the store, if there is one; subclasses may do it in another way."""
        if self._kvstore is not None:
            add_up(self._kvstore, self._reduced(), self._trainables.elsewhere, self._first_key)

    def _reduced(self) -> Selection:
        """Return the parameters with a new gradient, or all if there is none."""
        fresh, _ = self._trainables.fresh()
        return fresh if fresh.members else self._trainables.all()

    def _update_in_store(self, store: KVStoreBase, selection: Selection) -> None:
        """Hand gradients to the store and take new weights, several at once where it can."""
        if self._skips(selection):
            return
        for _, param in selection.members:
            if param._trainer is not self:  # another has updated it since
                self._note_set(param)
                param._set_trainer(self)
        if self._params_to_init:
            self._init_params()
        update_in_store(store, selection, self._trainables, self._optimizer, self._first_key)
        self._trainables.mark_used(selection)

    def _update(self, ignore_stale_grad: bool = False) -> None:
        """Update the weights on each device by its gradients."""
        selection = self._fresh(ignore_stale_grad)
        if self._skips(selection):
            return
        if self._sharded is not None:
            self._sharded.update(selection, self._updaters[0])
        else:
            apart = self._kvstore is None and len(self._updaters) > 1
            columns = zip(selection.gradients, selection.weights, strict=True)
            for updater, (gradients, weights) in zip(self._updaters, columns, strict=False):
                step = (selection.indices, gradients, weights)
                updater(*(only_new(*step) if apart else step))
        self._trainables.mark_used(selection)

    def save_states(self, fname: str | os.PathLike[str]) -> None:
        """Save the optimizer and its states, such as momentum, to a file that MXNet 1.9 reads, too.

        The file is written atomically. States that are equal on all devices are written once,
        counts of updates for each device. Sharded states are gathered: all processes call this at
        the same time, and any number of processes can load the file.

        Raises:
            ParameterError: The store holds the states, and a parameter's shape is not known yet.
        """
        self._prepare()
        if self._update_on_kvstore and self._kvstore is not None:
            for param in self._params_to_init:
                param._held()
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)
            return
        save_updater(self._whole_updaters(), self._optimizer, fname)

    def _whole_updaters(self) -> list[Updater]:
        """Return updaters with all states; processes that share them call this together."""
        if self._sharded is None:
            return self._updaters
        return [self._sharded.whole_states(self._updaters[0], self._params)]

    def load_states(self, fname: str | os.PathLike[str]) -> None:
        """Load a file that `save_states` wrote, here or in MXNet 1.9; this replaces the optimizer.

        Args:
            fname: Path of the file.

        Raises:
            FileFormatError: The file holds no states of these parameters; nothing has changed then.
        """
        self._prepare()
        if self._update_on_kvstore and self._kvstore is not None:
            self._kvstore.load_optimizer_states(fname)
            updater = getattr(self._kvstore, "_updater", None)
            self._optimizer = getattr(updater, "optimizer", self._optimizer)
        else:
            self._optimizer = load_updaters(self._updaters, self._optimizer, fname, self._params)
            if self._sharded is not None:
                self._sharded.take_share(self._updaters, self._params)
        self._optimizer.param_dict = dict(enumerate(self._params))
