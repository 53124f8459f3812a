"""Module: a network bound to devices, with weights and an optimizer."""

import logging
import os
from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.files import written_together
from gluonish.kvstore import KVStoreBase
from gluonish.kvstore.core_shares import share_cores
from gluonish.module.checkpoint import load_checkpoint, save_checkpoint
from gluonish.module.descriptions import (
    check_described,
    described,
    described_batch,
    expect,
)
from gluonish.module.executor_group import DataParallelExecutorGroup
from gluonish.module.interface import RATE, ModuleInterface, OptimizerParams
from gluonish.module.monitor import Monitor
from gluonish.module.requests import Requests
from gluonish.module.symbol_module import SymbolModule
from gluonish.module.weight_updates import (
    WeightUpdates,
    choose_store,
    made_optimizer,
    numbers_of,
)
from gluonish.module.weights import Weights
from gluonish.optimizer import Optimizer

__all__ = ["Module"]

Shapes = Sequence[Any]


class Module(SymbolModule):
    """A network on one device or several; a batch is cut over them, and their gradients add up.

    Args:
        symbol: The network.
        data_names: Its arguments that are data.
        label_names: Its arguments that are labels; None for none.
        logger: Logger for messages.
        context: Device, or list of devices.
        work_load_list: The load of each device: ``[3, 1]`` gives the first three quarters of a
            batch. None: equal parts.
        fixed_param_names: Names of weights that are not trained.
        state_names: Arguments that are neither data nor weights, which `set_states` sets.
        group2ctxs: Devices of each ``ctx_group``: by its name a device, or a list with one for each
            of ``context``; or a list of such dicts.
        compression_params: As of `KVStore.set_gradient_compression`; of no effect on one device,
            where nothing is sent.

    Raises:
        ArgumentError: The network has no such arguments, or there are not as many loads as devices.
    """

    # -- files -----------------------------------------------------------------------------------

    @staticmethod
    def load(
        prefix: str, epoch: int, load_optimizer_states: bool = False, **kwargs: Any
    ) -> "Module":
        """Return a module of a checkpoint, with its weights; it is not bound yet.

        Args:
            prefix: The prefix passed to `save_checkpoint`.
            epoch: The epoch passed to `save_checkpoint`.
            load_optimizer_states: Whether the optimizer's states are read, too, once there is one.
            **kwargs: Arguments of `Module`.

        Raises:
            MissingFileError: A file does not exist.
            FileFormatError: A file is damaged or of another kind.
        """
        symbol, arguments, auxiliary = load_checkpoint(prefix, epoch)
        made = Module(symbol=symbol, **kwargs)
        made._weights = Weights(arguments, auxiliary)
        made.params_initialized = True
        if load_optimizer_states:
            made._states_file = _states_file(prefix, epoch)
        return made

    def save_checkpoint(
        self,
        prefix: str,
        epoch: int,
        save_optimizer_states: bool = False,
        remove_amp_cast: bool = True,
    ) -> None:
        """Write the network, its weights, and the optimizer's states where asked for.

        Args:
            prefix: Files are ``prefix-symbol.json``, ``prefix-0003.params`` and
                ``prefix-0003.states`` for epoch 3.
            epoch: Number of the epoch.
            save_optimizer_states: Whether to write the last.
            remove_amp_cast: Whether to leave out casts that mixed precision has inserted.
        """
        filename = _states_file(prefix, epoch)
        parts = (f"{prefix}-symbol.json", f"{prefix}-{epoch:04d}.params", filename)
        with written_together(*parts):
            save_checkpoint(prefix, epoch, self._symbol, *self.get_params(), remove_amp_cast)
            if save_optimizer_states:
                self.save_optimizer_states(filename)
        if save_optimizer_states:
            logging.info('Saved optimizer state to "%s"', filename)

    def save_optimizer_states(self, fname: str | os.PathLike[str]) -> None:
        """Write the optimizer's states to a file, as a whole or not at all."""
        self._trained("save_optimizer_states").save_states(fname)

    def load_optimizer_states(self, fname: str | os.PathLike[str]) -> None:
        """Read what `save_optimizer_states` wrote, by a module on other devices too.

        Raises:
            MissingFileError: There is no such file.
            FileFormatError: It holds no states.
        """
        self._trained("load_optimizer_states").load_states(fname)

    def _trained(self, what: str) -> WeightUpdates:
        self._expect_optimizer(what)
        assert self._updates is not None
        return self._updates

    # -- binding ---------------------------------------------------------------------------------

    def bind(
        self,
        data_shapes: Shapes,
        label_shapes: Shapes | None = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: ModuleInterface | None = None,
        grad_req: Requests = "write",
    ) -> None:
        """Make arrays for batches of some shapes, on all devices.

        Args:
            data_shapes: For each of ``data_names`` a `DataDesc` or a pair (name, shape).
            label_shapes: The same for ``label_names``; None for none.
            for_training: Whether there are gradients.
            inputs_need_grad: Whether data get gradients too.
            force_rebind: Whether to bind a module that is bound; its weights stay.
            shared_module: A module whose weights, with their gradients, are this one's too.
            grad_req: ``"write"``, ``"add"`` or ``"null"``: for all, in order of the network's
                arguments, or by name.

        Raises:
            ArgumentError: Names or shapes do not match.
            ModuleStateError: ``shared_module`` has no weights.
        """
        if self._keeps_binding(force_rebind):
            return
        if inputs_need_grad and not for_training:
            raise ArgumentError(
                "bind: expected inputs_need_grad=False where for_training=False, got True"
            )
        data, label = described(data_shapes), described(label_shapes)
        check_described(self._data_names, data, "data")
        if label or for_training:
            check_described(self._label_names, label, "label", strict=False)
        if self.params_initialized and self.binded:
            self.get_params()
        shared = None if shared_module is None else _shared(shared_module)
        self._exec_group = DataParallelExecutorGroup(
            *(self._symbol, self._context, self._work_load_list, data, label, self._param_names),
            *(for_training, inputs_need_grad),
            None if shared is None else shared._exec_group,
            logger=self.logger,
            fixed_param_names=self._fixed_param_names,
            grad_req=grad_req,
            state_names=self._state_names,
            group2ctxs=self._group2ctxs,
        )
        self.binded, self.for_training = True, for_training
        self.inputs_need_grad = inputs_need_grad
        if shared is not None:
            self._weights = shared._weights
            self.params_initialized = True
            if shared.optimizer_initialized:
                self.borrow_optimizer(shared)
        elif self.params_initialized:
            self._exec_group.set_params(
                self._weights.arguments, self._weights.auxiliary, allow_extra=True
            )

    def reshape(self, data_shapes: Shapes, label_shapes: Shapes | None = None) -> None:
        """Go on with batches of other shapes; weights and gradients stay where they are.

        `forward` does so by itself.

        Args:
            data_shapes: As of `bind`.
            label_shapes: As of `bind`.

        Raises:
            ArgumentError: Names do not match, or weights would get other shapes.
        """
        group = self._bound("reshape")
        data, label = described(data_shapes), described(label_shapes)
        check_described(self._data_names, data, "data")
        group.reshape(data, label)

    # -- optimizer -------------------------------------------------------------------------------

    def init_optimizer(
        self,
        kvstore: str | KVStoreBase | None = "local",
        optimizer: str | Optimizer = "sgd",
        optimizer_params: OptimizerParams = RATE,
        force_init: bool = False,
    ) -> None:
        """Make the optimizer, and the store that combines gradients where there are devices.

        Args:
            kvstore: Name of a store, a store, or None: then devices train on their own.
            optimizer: Name of an optimizer, or an Optimizer.
            optimizer_params: Arguments of the named one; an Optimizer has its own.
                ``rescale_grad`` is 1 / batch size where it is left out.
            force_init: Whether an optimizer that there is already is replaced.

        Raises:
            ModuleStateError: The module has no weights.
            ArgumentError: The optimizer or the store is unknown.
            ArgumentTypeError: ``optimizer`` is something else.
        """
        group = self._ready("init_optimizer")
        if self._keeps_optimizer(force_init):
            return
        weights, _ = self.get_params()
        store, in_store = choose_store(kvstore, len(self._context), weights)
        scale = 1.0 / (group.batch_size or 1)
        if store is not None and "dist" in store.type and "_sync" in store.type:
            scale /= store.num_workers
        numbers = numbers_of(self._param_names, 1 if in_store else len(self._context))
        made = made_optimizer(optimizer, dict(optimizer_params), scale, numbers, self._symbol)
        self._updates = WeightUpdates(
            *(self._param_names, len(self._context), made, store, in_store),
            self._compression_params,
        )
        share_cores(self._context, self._updates)
        self._updates.begin(group.param_arrays, weights)
        self.optimizer_initialized = True
        if self._states_file is not None:
            self.load_optimizer_states(self._states_file)
            self._states_file = None

    def borrow_optimizer(self, shared_module: "Module") -> None:
        """Update with the optimizer, the states and the store of another module.

        Raises:
            ModuleStateError: It has none.
            ArgumentError: It lacks a weight.
        """
        updates = shared_module._trained("borrow_optimizer")
        updates.check(self._param_names)
        self._updates = updates
        self.optimizer_initialized = True

    # -- steps -----------------------------------------------------------------------------------

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs of a batch; one of other shapes than the last is welcome.

        Args:
            data_batch: The batch; or a list with a batch for each device.
            is_train: Whether operators behave as in training; None for whether the module is bound
                for it.

        Raises:
            ModuleStateError: The module has no weights.
            ArgumentError: The batch has not the arrays that the network reads.
        """
        group = self._ready("forward")
        if not isinstance(data_batch, list):
            data, label = described_batch(data_batch, group.data_shapes, group.label_shapes or [])
            before = [desc.shape for desc in group.data_shapes]
            if len(data) == len(before) and [desc.shape for desc in data] != before:
                self.reshape(data, label)
        group.forward(data_batch, is_train)
        if self._aux_names and (self.for_training if is_train is None else is_train):
            self._weights.stale = True  # moving averages

    def update(self) -> None:
        """Update the weights by the gradients, added up over the devices.

        Raises:
            ModuleStateError: There is no optimizer.
        """
        updates = self._trained("update")
        group = self._bound("update")
        self._weights.stale = True
        updates.update(self._param_names, group.param_arrays, group.grad_arrays)

    def install_monitor(self, mon: Monitor) -> None:
        """Have a monitor watch the executors."""
        self._bound("install_monitor").install_monitor(mon)

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Get ready for a batch that comes next: nothing is to be done, for weights are dense."""
        self._expect_bound("prepare")


def _states_file(prefix: str, epoch: int) -> str:
    return f"{prefix}-{epoch:04d}.states"


def _shared(module: ModuleInterface) -> Module:
    if not isinstance(module, Module):
        raise ArgumentTypeError(
            f"bind: expected shared_module to be a Module, got {type(module).__name__}"
        )
    expect(
        module.binded and module.params_initialized,
        "bind",
        "a shared_module with weights",
        "bind and initialize it first",
    )
    return module
