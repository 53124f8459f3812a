"""Trainer: applies an optimizer to a set of Parameters, on one device or several.

With one device the weights are updated in place. With several, a kvstore adds up the gradients;
then either the store updates its own copy of the weights, which all devices receive
(``update_on_kvstore``), or each device updates its weights with the sum. Indices of parameters in
stores and states are positions in the trainer's list.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

from gluonish.autograd import pause
from gluonish.core.config import MXNET_UPDATE_ON_KVSTORE
from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError, ParameterError
from gluonish.core.files import atomic_write, open_to_read
from gluonish.kvstore import KVStore, KVStoreBase, check_name
from gluonish.kvstore import create as create_store
from gluonish.ndarray import NDArray, zeros
from gluonish.optimizer import Optimizer, get_updater
from gluonish.optimizer import create as create_optimizer
from gluonish.optimizer.rule_optimizer import RuleOptimizer
from gluonish.parameter import Parameter, ParameterDict
from gluonish.trainables import Selection, Trainables

__all__ = ["StaleGradientError", "Trainer"]


class StaleGradientError(ParameterError, UserWarning):
    """A step found a gradient that is older than the last step; MXNet raises a UserWarning."""


class Trainer:
    """Updates Parameters by an optimizer after each backward pass.

    Args:
        params: ParameterDict or dict, taken in the order of sorted names, or list of Parameters;
            one that stands there twice is updated once.
        optimizer: Name of an optimizer, or an Optimizer.
        optimizer_params: Keyword arguments for the optimizer named; None for an Optimizer.
        kvstore: Name of a store, a store, or None. A store named is made only where there are
            several devices to combine.
        compression_params: What the store's ``set_gradient_compression`` takes.
        update_on_kvstore: Whether the store updates the weights. None: as
            ``MXNET_UPDATE_ON_KVSTORE`` says, if the store can.

    Raises:
        ArgumentError: The optimizer is unknown, ``optimizer_params`` come with an Optimizer, or
            parameters are on different devices.
        ArgumentTypeError: ``params`` is neither list nor dict of Parameters.
        ParameterError: A parameter was not initialized.
    """

    def __init__(
        self,
        params: ParameterDict | Mapping[str, Parameter] | Sequence[Parameter],
        optimizer: str | Optimizer,
        optimizer_params: Mapping[str, Any] | None = None,
        kvstore: str | KVStoreBase | None = "device",
        compression_params: Mapping[str, Any] | None = None,
        update_on_kvstore: bool | None = None,
    ) -> None:
        self._params = _parameter_list(params)
        self._trainables = Trainables(self._params)
        self._positions = {id(param): i for i, param in enumerate(self._params)}
        self._contexts = _common_contexts(self._params)
        self._compression_params = compression_params
        self._optimizer = self._make_optimizer(optimizer, optimizer_params)
        self._updaters = [get_updater(self._optimizer) for _ in self._contexts]
        self._scale = self._optimizer.rescale_grad
        if isinstance(kvstore, str):
            check_name(kvstore)
        self._kvstore_params = {"kvstore": kvstore, "update_on_kvstore": update_on_kvstore}
        self._kv_initialized = False
        self._kvstore: KVStoreBase | None = None
        self._update_on_kvstore: bool | None = None
        self._params_to_init = list(self._params)
        self._in_store: set[int] = set()
        for param in self._params:
            param._set_trainer(self)

    def _make_optimizer(
        self, optimizer: str | Optimizer, optimizer_params: Mapping[str, Any] | None
    ) -> Optimizer:
        param_dict = dict(enumerate(self._params))
        if not isinstance(optimizer, Optimizer):
            return create_optimizer(optimizer, param_dict=param_dict, **(optimizer_params or {}))
        if optimizer_params:
            raise ArgumentError(
                "Trainer: expected optimizer_params None with an Optimizer, got"
                f" {dict(optimizer_params)}; give them to the optimizer itself"
            )
        optimizer.param_dict = param_dict
        return optimizer

    # -- stores ----------------------------------------------------------------------------------

    def _init_kvstore(self) -> None:
        """Make or take the store, once; as late as the first step, so that settings may change."""
        store = self._choose_store()
        update = self._kvstore_params["update_on_kvstore"]
        capable = store is not None and store.is_capable(KVStoreBase.OPTIMIZER)
        if update and not capable:
            raise ArgumentError(
                "Trainer: expected update_on_kvstore=False or None, got True with"
                f" {'no kvstore' if store is None else type(store).__name__}, which cannot update"
            )
        if self._has_sparse_weights():
            if not capable or update is False:
                raise ArgumentError(
                    "Trainer: expected a kvstore that updates the weights for Parameters of stype "
                    f"row_sparse, got kvstore={self._kvstore_params['kvstore']!r} with "
                    f"update_on_kvstore={update}"
                )
            update = True
        if update is None:
            update = capable and MXNET_UPDATE_ON_KVSTORE.value
        if store is not None and self._compression_params:
            compress = getattr(store, "set_gradient_compression", None)
            if compress is None:
                raise ArgumentError(
                    "Trainer: expected compression_params None with a"
                    f" {type(store).__name__}, which has no gradient compression"
                )
            compress(self._compression_params)
        if store is not None and update:
            store.set_optimizer(self._optimizer)
        self._kvstore, self._update_on_kvstore = store, bool(update)
        self._kv_initialized = True

    def _choose_store(self) -> KVStoreBase | None:
        wanted = self._kvstore_params["kvstore"]
        if not isinstance(wanted, str):
            if wanted is not None and not isinstance(wanted, KVStoreBase):
                raise ArgumentTypeError(
                    f"Trainer: expected a kvstore or its name, got {type(wanted).__name__}"
                )
            return wanted
        several = len(self._contexts) > 1 or "dist" in wanted or self._has_sparse_weights()
        return (
            create_store(wanted) if several or self._kvstore_params["update_on_kvstore"] else None
        )

    def _init_params(self) -> None:
        """Give the store the values of parameters that are initialized by now."""
        waiting = []
        for param in self._params_to_init:
            if param._deferred_init is not None:
                waiting.append(param)
            elif self._kvstore is not None:
                self._store_value(self._kvstore, self._positions[id(param)], param)
        self._params_to_init = waiting

    def _store_value(self, store: KVStoreBase, index: int, param: Parameter) -> None:
        arrays = param._held()
        if index in self._in_store and isinstance(store, KVStore):
            store._overwrite(index, arrays[0])
            return
        store.broadcast(index, arrays[0], arrays)
        self._in_store.add(index)

    def _prepare(self) -> None:
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            self._init_params()

    def _has_sparse_weights(self) -> bool:
        return any(param._stype != "default" for param in self._params)

    def _row_sparse_pull(self, parameter: Parameter, out: Any, row_ids: Any) -> None:
        """Copy some rows of a row-sparse parameter from the store into arrays."""
        self._prepare()
        index = self._positions[id(parameter)]
        if not isinstance(self._kvstore, KVStore):
            raise ArgumentError(
                "row_sparse_data: expected a Trainer with a kvstore that has row_sparse_pull, got "
                f"{type(self._kvstore).__name__}"
            )
        with pause():  # a pull is no part of the graph, though the array may be
            self._kvstore.row_sparse_pull(index, out=out, priority=-index, row_ids=row_ids)

    def _parameter_was_set(self, parameter: Parameter) -> None:
        """Take note that values were put into a parameter by hand, and not by an update."""
        if self._update_on_kvstore and parameter not in self._params_to_init:
            self._params_to_init.append(parameter)

    # -- facts -----------------------------------------------------------------------------------

    @property
    def learning_rate(self) -> float:
        """The optimizer's learning rate now."""
        return self._optimizer.learning_rate

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer; `load_states` replaces it."""
        return self._optimizer

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate of the next steps.

        Raises:
            ArgumentError: A scheduler sets it.
        """
        self._optimizer.set_learning_rate(lr)

    # -- steps -----------------------------------------------------------------------------------

    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Update all parameters by their gradients, which are divided by ``batch_size``.

        Args:
            batch_size: Number of samples over all devices.
            ignore_stale_grad: Skip parameters without a new gradient instead of refusing the step.

        Raises:
            StaleGradientError: The last backward pass left out a parameter.
            ArgumentError: ``batch_size`` is not above 0.
        """
        self._set_rescale("step", batch_size)
        self._prepare()
        fresh = self._fresh(ignore_stale_grad)
        if self._kvstore is not None and self._update_on_kvstore:
            self._update_in_store(self._kvstore, fresh)
            return
        if self._kvstore is not None:
            self._allreduce(self._kvstore, fresh)
        self._update(fresh)

    def allreduce_grads(self) -> None:
        """Add up gradients over devices, into the gradients themselves; `update` comes after.

        Raises:
            ArgumentError: The store updates the weights.
        """
        self._prepare()
        self._refuse_update_on_kvstore("allreduce_grads")
        if self._kvstore is not None:
            self._allreduce(self._kvstore, self._trainables.all())

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Update all parameters by gradients that `allreduce_grads` has added up.

        Args:
            batch_size: Number of samples over all devices.
            ignore_stale_grad: Skip parameters without a new gradient instead of refusing.

        Raises:
            StaleGradientError: The last backward pass left out a parameter.
            ArgumentError: The store updates the weights, or ``batch_size`` is not above 0.
        """
        self._set_rescale("update", batch_size)
        self._prepare()
        self._refuse_update_on_kvstore("update")
        self._update(self._fresh(ignore_stale_grad))

    def _set_rescale(self, what: str, batch_size: float) -> None:
        if not isinstance(batch_size, Real):
            raise ArgumentTypeError(
                f"Trainer.{what}: expected batch_size to be a number, got {batch_size!r}"
            )
        if not batch_size > 0:
            raise ArgumentError(f"Trainer.{what}: expected batch_size above 0, got {batch_size}")
        self._optimizer.rescale_grad = self._scale / batch_size

    def _refuse_update_on_kvstore(self, what: str) -> None:
        if self._update_on_kvstore:
            raise ArgumentError(
                f"{what}: expected a trainer that updates outside the kvstore, got one with "
                "update_on_kvstore; pass update_on_kvstore=False to Trainer"
            )

    def _fresh(self, ignore_stale_grad: bool) -> Selection:
        """Return the parameters to update, after a look at all, so that no step is done by half."""
        selection, stale = self._trainables.fresh()
        if stale and not ignore_stale_grad:
            name = next(p.name for p in self._params if any(x is stale[0] for x in p._held()))
            raise StaleGradientError(
                f"Trainer: expected a new gradient of Parameter {name} on {stale[0].context}, "
                "got the one of the last step; does the loss depend on the parameter? If it "
                "need not, call step with ignore_stale_grad=True"
            )
        return selection

    def _allreduce(self, store: KVStoreBase, selection: Selection) -> None:
        for i, param in selection.members:
            gradients = param.list_grad()
            new = _new_gradients(param)
            if new is None:
                store.pushpull(i, gradients, priority=-i)
            else:
                store.pushpull(i, new, out=gradients, priority=-i)

    def _update_in_store(self, store: KVStoreBase, selection: Selection) -> None:
        """Hand gradients to the store and take new weights, several at once where it can."""
        for group in _groups(selection.members, self._store_group(store)):
            keys = [i for i, _ in group]
            gradients = [_new_gradients(param) or param.list_grad() for _, param in group]
            weights = [param._held() for _, param in group]
            if len(group) == 1:
                store.pushpull(keys[0], gradients[0], out=weights[0], priority=-keys[0])
            else:
                store.pushpull(keys, gradients, out=weights, priority=-keys[0])
        selection.mark_used()

    def _store_group(self, store: KVStoreBase) -> int:
        """How many weights a store updates in one call."""
        optimizer = self._optimizer
        if not isinstance(store, KVStore):
            return 1
        if isinstance(optimizer, RuleOptimizer) and optimizer.takes_all:
            return optimizer.group_limit or max(1, len(self._params))
        return max(1, optimizer.aggregate_num)

    def _update(self, selection: Selection) -> None:
        for updater, gradients, weights in zip(
            self._updaters, selection.gradients, selection.weights, strict=False
        ):
            updater(selection.indices, gradients, weights)
        selection.mark_used()

    # -- states ----------------------------------------------------------------------------------

    def save_states(self, fname: str | os.PathLike[str]) -> None:
        """Write the optimizer and its states, such as momentum, to a file that MXNet 1.9 reads too.

        The file is written as a whole or not at all.

        Raises:
            ParameterError: A parameter waits for its shape, and the store holds the states.
        """
        self._prepare()
        if self._update_on_kvstore and self._kvstore is not None:
            for param in self._params_to_init:
                param._held()
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)
            return
        data = self._updaters[0].get_states(dump_optimizer=True)
        with atomic_write(fname) as file:
            file.write(data)

    def load_states(self, fname: str | os.PathLike[str]) -> None:
        """Read what `save_states` wrote, here or in MXNet 1.9; the optimizer is replaced.

        Raises:
            FileFormatError: The file holds no states; nothing has changed then.
        """
        self._prepare()
        if self._update_on_kvstore and self._kvstore is not None:
            self._kvstore.load_optimizer_states(fname)
            updater = getattr(self._kvstore, "_updater", None)
            self._optimizer = getattr(updater, "optimizer", self._optimizer)
        else:
            with open_to_read(fname, "Trainer.load_states") as file:
                data = file.read()
            for updater in self._updaters:
                updater.set_states(data, os.fspath(fname))
                updater.optimizer = self._updaters[0].optimizer
            self._optimizer = self._updaters[0].optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))


def _parameter_list(params: Any) -> list[Parameter]:
    if isinstance(params, ParameterDict | Mapping):
        params = [params[name] for name in sorted(params.keys())]
    if not isinstance(params, list | tuple):
        raise ArgumentTypeError(
            f"Trainer: expected a list or dict of Parameters, got {type(params).__name__}"
        )
    for param in params:
        if not isinstance(param, Parameter):
            raise ArgumentTypeError(f"Trainer: expected Parameters, got {type(param).__name__}")
    return list({id(param): param for param in params}.values())


def _common_contexts(params: Sequence[Parameter]) -> list[Context]:
    contexts: list[Context] | None = None
    for param in params:
        own = param.list_ctx()
        if contexts is not None and own != contexts:
            raise ArgumentError(
                f"Trainer: expected all Parameters on {contexts}, got {param.name} on {own}; "
                "initialize them with one ctx"
            )
        contexts = own
    return contexts or []


def _new_gradients(param: Parameter) -> list[NDArray] | None:
    """Return gradients with zeros for devices whose gradient is not new; None if all are."""
    fresh = [data._fresh_grad for data in param._held()]
    if all(fresh) or not any(fresh):
        return None
    return [
        gradient
        if is_fresh
        else zeros(gradient.shape, gradient.context, gradient.dtype, gradient.stype)
        for gradient, is_fresh in zip(param.list_grad(), fresh, strict=True)
    ]


def _groups(
    items: Sequence[tuple[int, Parameter]], size: int
) -> Iterator[Sequence[tuple[int, Parameter]]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
