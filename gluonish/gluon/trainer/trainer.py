"""Trainer: applies an optimizer to a set of Parameters, on one device or several.

With several devices, a kvstore sums the gradients. Then either the store updates its copy of the
weights and broadcasts it (``update_on_kvstore``), or each device updates its own weights. Stores
and states index parameters by their position in the trainer's list.

The arrays of a Parameter may change between steps: `reset_ctx`, `set_data`, `cast`, a step of
another Trainer. `_prepare` checks this before every step with a single comparison.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gluonish.autograd import pause
from gluonish.core.call_errors import explained
from gluonish.core.errors import ArgumentError
from gluonish.core.habit_tables import TRAINER
from gluonish.core.habits import add_habits
from gluonish.core.training_step import count_steps_of
from gluonish.gluon.parameter import Parameter, ParameterDict
from gluonish.gluon.parameter.arrays import ParameterArrays
from gluonish.gluon.trainer.gradients import (
    DeviceSteps,
    LossScaler,
    only_updated,
    stale_error,
    zero_all_stale,
)
from gluonish.gluon.trainer.rank_agreement import RankAgreement, rank_agreement
from gluonish.gluon.trainer.sharded_update import ShardedUpdate, sharded_update
from gluonish.gluon.trainer.step_checks import checked_step
from gluonish.gluon.trainer.step_options import (
    clip_factor,
    refuse_independent_clipping,
    step_groups,
    update_outside_store,
)
from gluonish.gluon.trainer.store_choice import (
    allreduce_gradients,
    choose_store,
    copy_states,
    expect_processes,
    expected_update,
    load_updaters,
    save_updater,
    set_up_store,
    update_in_store,
    updaters_for,
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
from gluonish.ndarray import recording
from gluonish.optimizer import Optimizer, Updater, get_updater


class Trainer:
    """Applies an optimizer to a set of Parameters, once after each backward pass.

    Args:
        params: The Parameters to train: the ParameterDict of `Block.collect_params`, a dict, or a
            list. Dicts are sorted by name.
        optimizer: Name of an optimizer, such as ``"sgd"``, or an Optimizer.
        optimizer_params: Keyword arguments for a named optimizer, such as ``{"learning_rate":
            0.1}``; None with an Optimizer.
        kvstore: Name of a store that combines the gradients of several devices, a KVStore, or None.
            A named store is created only for several devices or processes.
        compression_params: As for `KVStore.set_gradient_compression`; no effect without a store.
        update_on_kvstore: Whether the store updates the weights, instead of each device its own.
            None: the value of ``MXNET_UPDATE_ON_KVSTORE`` if the store can update, and False for
            row-sparse gradients. The `repr` of the Trainer shows the choice and its reason.
        shard_optimizer_states: Whether each process of a ``dist_sync`` store updates only a shard
            of the weights, and stores only the shard's states (ZeRO). The resulting weights are
            the same, but gradients are not summed in full. All processes must call `save_states`
            together. No effect in a single process.
        accumulate: Number of calls of `step` whose gradients are added before the weights are
            updated; the others only count their samples. Gradients get ``grad_req="add"`` and are
            zeroed after each update. A last incomplete group waits for the next calls.
        clip_global_norm: Largest joint 2-norm of the gradients of an update, after their division
            by the samples and by a loss scale. Larger ones are scaled down as part of the update;
            the arrays of the gradients do not change. None for no limit.

    Raises:
        ArgumentError: The optimizer is unknown, ``optimizer_params`` come with an Optimizer, the
            list has a parameter twice, or parameters are on different devices.
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

    # Set by `contrib.amp.init_trainer`; decides whether a step is skipped.
    _amp_loss_scaler: LossScaler | None = None
    _amp_original_scale: float
    # Returns the mean of the samples over the processes, if their numbers may differ.
    _mean_samples: Callable[[float], float] | None = None
    _is_checking = False  # whether a step runs between checks of values
    # The factor of gradients, and whether the loss scaler divides them on the device besides.
    _scaling: tuple[float, bool]

    @explained
    def __init__(
        self,
        params: ParameterDict | Mapping[str, Parameter] | Sequence[Parameter],
        optimizer: str | Optimizer,
        optimizer_params: Mapping[str, Any] | None = None,
        kvstore: str | KVStoreBase | None = "device",
        compression_params: Mapping[str, Any] | None = None,
        update_on_kvstore: bool | None = None,
        shard_optimizer_states: bool = False,
        accumulate: int = 1,
        clip_global_norm: float | None = None,
    ) -> None:
        self._params = parameter_list(params)
        check_store_arguments(kvstore, compression_params, update_on_kvstore)
        expect_processes(self, kvstore)
        self._groups = step_groups(accumulate)
        self._max_norm = clip_global_norm
        update_on_kvstore = update_outside_store(
            update_on_kvstore, shard_optimizer_states, accumulate, clip_global_norm
        )
        self._trainables = Trainables(self._params)
        self._positions = {id(param): i for i, param in enumerate(self._params)}
        in_order = params.values() if isinstance(params, ParameterDict | Mapping) else params
        self._layers = [self._positions[id(param)] for param in in_order]
        self._version = Parameter.version
        self._contexts = common_contexts(self._params)
        count_steps_of(self)
        refuse_independent_clipping(clip_global_norm, kvstore, len(self._contexts))
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
        self._ranks: RankAgreement | None = None
        self._kv_initialized = False
        self._kvstore: KVStoreBase | None = None
        self._suspended_store: KVStoreBase | None = None  # until the next step
        self._update_on_kvstore: bool | None = None
        self._update_reason = ""
        # Trainers that share a store use disjoint ranges of keys.
        self._first_key = 0
        self._params_to_init = list(self._params)
        self._in_store: set[int] = set()  # keys
        for param in self._params:
            param._set_trainer(self)
            if accumulate > 1 and param.grad_req == "write":
                param.grad_req = "add"

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
        """Create or set up the store once, in the first step, as settings may change until then."""
        store, update, self._update_reason = choose_store(
            **self._kvstore_params, contexts=self._contexts, params=self._params
        )
        if store is not None:
            optimizer = self._optimizer if update else None
            self._first_key = set_up_store(store, optimizer, self._compression_params)
        if isinstance(store, KVStore):
            store.set_layers([self._first_key + i for i in self._layers])
        self._ranks = rank_agreement(store, self._first_key, self._params)
        if self._shards:
            self._sharded = sharded_update(store, update, self._first_key)
        self._kvstore, self._update_on_kvstore = store, None if store is None else update
        self._kv_initialized = True

    def _init_params(self) -> None:
        """Broadcast the values of initialized parameters through the store."""
        store, deferred = self._kvstore, []
        if self._ranks is not None:
            self._ranks.agree_on_parameters(self._params_to_init)
        for param in self._params_to_init:
            if param._deferred_init is not None:
                deferred.append(param)
            elif store is not None:
                arrays = param._list_arrays()
                key = self._first_key + self._positions[id(param)]
                if key in self._in_store and isinstance(store, KVStore):
                    store._overwrite(key, arrays[0])
                else:
                    store.broadcast(key, arrays[0], arrays)
                    self._in_store.add(key)
        self._params_to_init = deferred

    def _prepare(self) -> None:
        if self._suspended_store is not None:
            self._kvstore, self._suspended_store = self._suspended_store, None
            self._kv_initialized = self._update_on_kvstore = True
        if self._version != Parameter.version:
            self._refresh()
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            self._init_params()

    def _refresh(self) -> None:
        """Adapt to replaced arrays and changed devices of the parameters."""
        version = Parameter.version
        if self._update_on_kvstore:
            for param in self._trainables.changed():
                if param._stype == "default":  # the store holds all rows of sparse parameters
                    self._queue_for_store(param)
        contexts = common_contexts(self._params)
        if contexts != self._contexts:
            self._change_contexts(contexts)
        self._version = version

    def _change_contexts(self, contexts: list[Any]) -> None:
        """Move the optimizer states to the new devices of the parameters."""
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
        with pause():  # a pull is not recorded, though the array may be
            self._kvstore.row_sparse_pull(key, out=out, priority=-index, row_ids=row_ids)

    def _parameter_was_set(self, parameter: Parameter, reallocated: bool = False) -> None:
        """Record that the user set a parameter's values, in new memory if ``reallocated``.

        As in MXNet, a trainer whose store is out of date has no ``_kvstore`` until the next step.
        """
        for updater in self._updaters if reallocated else ():
            updater.unbind()
        self._queue_for_store(parameter)
        if self._update_on_kvstore:
            self._suspended_store, self._kvstore = self._kvstore, None
            self._kv_initialized, self._update_on_kvstore = False, None

    def _queue_for_store(self, parameter: Parameter) -> None:
        """Write a parameter's values to the store before the next update."""
        in_store = self._update_on_kvstore or self._suspended_store is not None
        if in_store and not any(p is parameter for p in self._params_to_init):
            self._params_to_init.append(parameter)

    @property
    def _distributed(self) -> bool | None:
        """Whether the store spans several processes; None before the store exists."""
        if not self._kv_initialized:
            return None
        return "dist" in getattr(self._kvstore, "type", "")

    @property
    def _param2idx(self) -> dict[str, int]:
        """Each parameter's position by its name."""
        return {param._full_name: i for i, param in enumerate(self._params)}

    @property
    def _scale(self) -> float:
        """The factor of gradients; on a GPU, reading it after a scaled loss waits."""
        scale, on_device = self._scaling
        return scale / self._divisor if on_device else scale

    @_scale.setter
    def _scale(self, scale: float) -> None:
        self._scaling = (scale, False)

    @property
    def _divisor(self) -> float:
        """The scale of the last loss that was multiplied on the device."""
        divisor: float = getattr(self._amp_loss_scaler, "divisor", 1.0)
        return divisor

    @property
    def steps_done(self) -> int:
        """Number of updates of the weights so far."""
        return int(self._optimizer.num_update)

    @property
    def learning_rate(self) -> float:
        """The current learning rate."""
        return self._optimizer.learning_rate

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer in use; `load_states` replaces it."""
        return self._optimizer

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate of the following steps.

        Args:
            lr: The learning rate.

        Raises:
            ArgumentError: The optimizer has a learning rate scheduler.
        """
        self._optimizer.set_learning_rate(lr)

    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Update all parameters once, with their gradients divided by ``batch_size``.

        Args:
            batch_size: Number of samples on all devices, also as an array of one element.
            ignore_stale_grad: Whether to skip parameters without a new gradient; if False, they
                raise an error.

        Raises:
            StaleGradientError: Backward has not written a parameter's gradient since the last step.
            ArgumentError: ``batch_size`` is not above 0.
        """
        if recording.checks.get() is not None and not self._is_checking:
            self._with_checks(partial(self.step, batch_size, ignore_stale_grad))
            return
        samples = check_batch_size("step", batch_size)
        if self._groups is not None:
            samples = self._groups.samples(samples)
            if not samples:  # a later call completes the group
                return
        self._step(samples, ignore_stale_grad)

    def _finish_group(self) -> bool:
        """Update the weights with an incomplete group of calls; return whether there was one."""
        samples = 0.0 if self._groups is None else self._groups.rest()
        if samples:
            self._step(samples, True)
        return bool(samples)

    def _step(self, samples: float, ignore_stale_grad: bool) -> None:
        if self._mean_samples is not None:
            samples = self._mean_samples(samples)
        self._check_and_rescale_grad(self._scaling[0] / samples)
        self._prepare()
        if self._kvstore is not None:
            updated = self._updated(ignore_stale_grad)  # before gradients are summed
            if self._ranks is not None:
                updated, self._scale = self._ranks.agreed(self._trainables, updated, self._scale)
                self._check_and_rescale_grad(self._scale / samples)
            if self._update_on_kvstore:
                self._update_in_store(self._kvstore, updated)
                return
            if not updated.members:
                return  # stale gradients are already summed
        # A loss scaler needs all sums.
        sharded = self._sharded if self._amp_loss_scaler is None else None
        remote = self._trainables.remote
        if sharded is None or not sharded.reduce_gradients(
            self._reduced(), remote, self._optimizer
        ):
            self._allreduce_grads()
        self._update(ignore_stale_grad)

    def allreduce_grads(self) -> None:
        """Sum gradients over all devices in place; they may be modified before `update`.

        Raises:
            ArgumentError: The store updates the weights (``update_on_kvstore``).
        """
        self._prepare()
        refuse_update_in_store("allreduce_grads", self._update_on_kvstore)
        if self._ranks is not None:
            updated, _ = self._trainables.updated()
            _, self._scale = self._ranks.agreed(self._trainables, updated, self._scale)
        self._allreduce_grads()

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Update all parameters with the gradients summed by `allreduce_grads`.

        Args:
            batch_size: Number of samples on all devices, also as an array of one element.
            ignore_stale_grad: Whether to skip parameters without a new gradient; if False, they
                raise an error.

        Raises:
            StaleGradientError: Backward has not written a parameter's gradient since the last step.
            ArgumentError: The store updates the weights, or ``batch_size`` is not above 0.
        """
        if recording.checks.get() is not None and not self._is_checking:
            self._with_checks(partial(self.update, batch_size, ignore_stale_grad))
            return
        samples = check_batch_size("update", batch_size)
        if self._groups is not None:
            self._groups.refuse_parts("update")
        self._prepare()
        refuse_update_in_store("update", self._update_on_kvstore)
        self._check_and_rescale_grad(self._scaling[0] / samples)
        self._update(ignore_stale_grad)

    def _with_checks(self, step: Callable[[], None]) -> None:
        """Run a step or an update between checks of values."""
        checks = recording.checks.get()
        assert checks is not None
        self._is_checking = True
        try:
            checked_step(self, self._params, checks, step)
        finally:
            self._is_checking = False

    def _check_and_rescale_grad(self, scale: float) -> None:
        """Set the factor of the gradients in the next update."""
        self._optimizer.rescale_grad = scale

    def _updated(self, ignore_stale_grad: bool) -> Selection:
        """Return the parameters to update; all are checked first, so that no step is partial."""
        selection, stale = self._trainables.updated()
        if stale and not ignore_stale_grad:
            if self._ranks is not None:
                self._ranks.report_stale(stale[0])
            raise stale_error(stale, self._params)
        return selection

    def _skips(self, selection: Selection) -> bool:
        """Whether a loss scaler found an overflow. If so, mark the gradients as used."""
        scaler, ranks = self._amp_loss_scaler, self._ranks
        if scaler is None:
            return False
        if self._scaling[1]:  # the step is not on the device, though the scale was
            self._optimizer.rescale_grad /= self._divisor
            self._scale = self._scale
        # Stale gradients of some devices are not summed yet, and may overflow.
        if self._update_on_kvstore or self._kvstore is None:
            zero_all_stale(selection.members, self._trainables.remote)
        any_of = (ranks.any_of,) if ranks is not None and self._update_on_kvstore else ()
        overflows = scaler.has_overflow([param for _, param in selection.members], *any_of)
        if overflows:
            self._trainables.mark_used(selection)
        return overflows

    def _allreduce_grads(self) -> None:
        """Sum gradients through the store, if there is one; subclasses may override this."""
        if self._kvstore is not None:
            allreduce_gradients(
                self._kvstore, self._reduced(), self._trainables.remote, self._first_key
            )

    def _reduced(self) -> Selection:
        """Return the parameters with a new gradient, or all parameters if none has one."""
        updated, _ = self._trainables.updated()
        return updated if updated.members else self._trainables.all()

    def _update_in_store(self, store: KVStoreBase, selection: Selection) -> None:
        """Push gradients to the store and pull new weights."""
        if self._skips(selection):
            return
        for _, param in selection.members:
            if param._trainer is not self:  # another trainer has updated it since
                self._queue_for_store(param)
                param._set_trainer(self)
        if self._params_to_init:
            self._init_params()
        update_in_store(store, selection, self._trainables, self._optimizer, self._first_key)
        self._trainables.mark_used(selection)

    def _update(self, ignore_stale_grad: bool = False) -> None:
        """Update the weights on each device with its gradients."""
        selection = self._updated(ignore_stale_grad)
        steps = None
        if self._amp_loss_scaler is not None:
            steps = self._begin_on_device(self._amp_loss_scaler, selection)
            if steps is None and self._skips(selection):
                if self._groups is not None:
                    self._groups.end(selection.members)
                return
        if self._max_norm is not None and selection.members:
            scale = self._optimizer.rescale_grad
            self._optimizer.rescale_grad *= clip_factor(selection, scale, self._max_norm)
        try:
            self._apply(selection)
        finally:
            if steps is not None:
                steps.end()
        self._trainables.mark_used(selection)
        if self._groups is not None:
            self._groups.end(selection.members)

    def _begin_on_device(self, scaler: LossScaler, selection: Selection) -> DeviceSteps | None:
        """Begin a step that the device skips if it overflows; None if the host has to."""
        if len(self._updaters) != 1 or self._sharded is not None or self._ranks is not None:
            return None
        if self._max_norm is not None:  # the norm is that of unscaled gradients
            return None
        begin = getattr(scaler, "begin_on_device", None)  # a program's own scaler lacks it
        if begin is None or not selection.members:
            return None
        steps: DeviceSteps | None = begin(self._updaters[0], selection, self._scaling[1])
        return steps

    def _apply(self, selection: Selection) -> None:
        """Apply the optimizer to a selection on each device."""
        if self._sharded is not None:
            self._sharded.update(selection, self._updaters[0])
        else:
            independent = self._kvstore is None and len(self._updaters) > 1
            columns = zip(selection.gradients, selection.weights, strict=True)
            for updater, (gradients, weights) in zip(self._updaters, columns, strict=False):
                step = (selection.indices, gradients, weights)
                updater(*(only_updated(*step) if independent else step))

    def save_states(self, fname: str | os.PathLike[str]) -> None:
        """Save the optimizer and its states, such as momentum, to a file that MXNet 1.9 can read.

        The file is written atomically. It has the states of the first device, which equal those of
        the others, and the update counts of each device. Sharded states are gathered: all processes
        must call this together, and any number of processes can load the file.

        Raises:
            ParameterError: The store holds the states, and a parameter's shape is not known yet.
        """
        self._prepare()
        if self._update_on_kvstore and self._kvstore is not None:
            for param in self._params_to_init:
                param._list_arrays()
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)
            return
        save_updater(self._gathered_updaters(), self._optimizer, fname)

    def _gathered_updaters(self) -> list[Updater]:
        """Return updaters with all states; processes with sharded states call this together."""
        if self._sharded is None:
            return self._updaters
        return [self._sharded.gather_states(self._updaters[0], self._params)]

    def load_states(self, fname: str | os.PathLike[str]) -> None:
        """Load a file written by `save_states` here or in MXNet 1.9, and replace the optimizer.

        Args:
            fname: Path of the file.

        Raises:
            FileFormatError: The file holds no states of these parameters; nothing was changed.
        """
        self._prepare()
        if self._update_on_kvstore and self._kvstore is not None:
            self._kvstore.load_optimizer_states(fname)
            updater = getattr(self._kvstore, "_updater", None)
            self._optimizer = getattr(updater, "optimizer", self._optimizer)
        else:
            self._optimizer = load_updaters(self._updaters, self._optimizer, fname, self._params)
            if self._sharded is not None:
                self._sharded.select_shard(self._updaters, self._params)
        self._optimizer.param_dict = dict(enumerate(self._params))


add_habits(Trainer, TRAINER)
