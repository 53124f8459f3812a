"""Module: a network bound to devices, with weights and an optimizer."""

import logging
import os
from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.files import written_together
from gluonish.kvstore import KVStoreBase
from gluonish.kvstore.core_shares import share_cores
from gluonish.module.checkpoint import Weights, load_checkpoint, save_checkpoint
from gluonish.module.descriptions import (
    Requests,
    check_described,
    described,
    described_batch,
    expect,
)
from gluonish.module.executor_group import DataParallelExecutorGroup
from gluonish.module.interface import RATE, ModuleInterface, OptimizerParams
from gluonish.module.monitor import Monitor
from gluonish.module.state_keys import numbers_of
from gluonish.module.symbol_module import SymbolModule
from gluonish.module.weight_updates import (
    WeightUpdates,
    choose_store,
    made_optimizer,
)
from gluonish.optimizer import Optimizer

__all__ = ["Module"]

Shapes = Sequence[Any]


class Module(SymbolModule):
    """Trains and runs a Symbol on one or several devices, with data parallelism.

    A batch is split over the devices, and their gradients are added up.

    Args:
        symbol: The network.
        data_names: Names of the network's arguments that are data.
        label_names: Names of the network's arguments that are labels; None for none.
        logger: Logger for messages.
        context: Device, or list of devices.
        work_load_list: Relative load of each device: ``[3, 1]`` gives the first three quarters of a
            batch. None for equal slices.
        fixed_param_names: Names of weights that are not trained.
        state_names: Names of arguments that are neither data nor weights, which `set_states` sets.
        group2ctxs: Dict from ``ctx_group`` to a device, or to a list with one for each of
            ``context``; or a list of such dicts.
        compression_params: See `KVStore.set_gradient_compression`; has no effect on one device,
            where no gradients are sent.

    Raises:
        ArgumentError: The network does not have one of the names, or ``work_load_list`` and
            ``context`` differ in length.

    Example:
        >>> import gluonish as mx
        >>> data = mx.io.NDArrayIter(mx.nd.ones((8, 5)), mx.nd.zeros(8), batch_size=4)
        >>> scores = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3)
        >>> module = mx.mod.Module(mx.sym.SoftmaxOutput(scores, name="softmax"))
        >>> module.fit(data, num_epoch=2, optimizer_params={"learning_rate": 0.1})
        >>> module.predict(data).shape
        (8, 3)
    """

    @staticmethod
    def load(
        prefix: str, epoch: int, load_optimizer_states: bool = False, **kwargs: Any
    ) -> "Module":
        """Load a checkpoint into a new module, which is not bound yet.

        Args:
            prefix: The prefix passed to `save_checkpoint`.
            epoch: The epoch passed to `save_checkpoint`.
            load_optimizer_states: Whether `init_optimizer` will load the optimizer's states, too.
            **kwargs: Other arguments of `Module`.

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
        """Save the network, its weights and, on request, the optimizer's states.

        Args:
            prefix: Files are ``prefix-symbol.json``, ``prefix-0003.params`` and
                ``prefix-0003.states`` for epoch 3.
            epoch: Number of the epoch.
            save_optimizer_states: Whether to save the optimizer's states.
            remove_amp_cast: Whether to leave out casts that mixed precision inserted.
        """
        filename = _states_file(prefix, epoch)
        names = (f"{prefix}-symbol.json", f"{prefix}-{epoch:04d}.params", filename)
        with written_together(*names):
            save_checkpoint(prefix, epoch, self._symbol, *self.get_params(), remove_amp_cast)
            if save_optimizer_states:
                self.save_optimizer_states(filename)
        if save_optimizer_states:
            logging.info('Saved optimizer state to "%s"', filename)

    def save_optimizer_states(self, fname: str | os.PathLike[str]) -> None:
        """Save the optimizer's states to a file, atomically.

        Args:
            fname: Path of the file.
        """
        self._trained("save_optimizer_states").save_states(fname)

    def load_optimizer_states(self, fname: str | os.PathLike[str]) -> None:
        """Load the states that `save_optimizer_states` saved, on any number of devices.

        Args:
            fname: Path of the file.

        Raises:
            MissingFileError: The file does not exist.
            FileFormatError: The file does not contain optimizer states.
        """
        updates, group = self._trained("load_optimizer_states"), self._exec_group
        shapes = {}
        if group is not None:
            shapes = {
                name: None if gradients[0] is None else gradients[0].shape
                for name, gradients in zip(self._param_names, group.grad_arrays, strict=True)
            }
        updates.load_states(fname, shapes)

    def _trained(self, what: str) -> WeightUpdates:
        self._expect_optimizer(what)
        assert self._updates is not None
        return self._updates

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
        """Allocate arrays for batches of some shapes, on all devices.

        Args:
            data_shapes: A `DataDesc` or pair (name, shape) for each of ``data_names``.
            label_shapes: The same for ``label_names``; None for none.
            for_training: Whether to allocate gradients.
            inputs_need_grad: Whether to compute gradients of the data, too.
            force_rebind: Whether to bind a bound module again; it keeps its weights.
            shared_module: A module with which this one shares weights and their gradients.
            grad_req: ``"write"``, ``"add"`` or ``"null"``: one for all, a list in the order of the
                network's arguments, or a dict by name.

        Raises:
            ArgumentError: Names or shapes do not match.
            ModuleStateError: ``shared_module`` has no weights.
        """
        if self._is_rebind_ignored(force_rebind):
            return
        if inputs_need_grad and not for_training:
            raise ArgumentError(
                "bind: expected inputs_need_grad=False with for_training=False, got True"
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
        self.inputs_need_grad, self._grad_req = inputs_need_grad, grad_req
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
        """Change the shapes of the batches; weights and gradients keep their memory.

        `forward` calls it when the shapes of a batch change.

        Args:
            data_shapes: As for `bind`.
            label_shapes: As for `bind`.

        Raises:
            ArgumentError: Names do not match, or shapes of weights would change.
        """
        group = self._bound("reshape")
        data, label = described(data_shapes), described(label_shapes)
        check_described(self._data_names, data, "data")
        group.reshape(data, label)

    def init_optimizer(
        self,
        kvstore: str | KVStoreBase | None = "local",
        optimizer: str | Optimizer = "sgd",
        optimizer_params: OptimizerParams = RATE,
        force_init: bool = False,
    ) -> None:
        """Create the optimizer, and for several devices the store that adds up gradients.

        Args:
            kvstore: Name of a store, or a KVStore; None updates each device with its own gradients.
            optimizer: Name of an optimizer, or an Optimizer.
            optimizer_params: Arguments of the optimizer, if it is a name. The default of
                ``rescale_grad`` is 1 / batch size.
            force_init: Whether to replace an existing optimizer.

        Raises:
            ModuleStateError: The module has no weights.
            ArgumentError: The name of the optimizer or of the store is unknown.
            ArgumentTypeError: ``optimizer`` or ``kvstore`` is neither a name nor such an object.
        """
        group = self._ready("init_optimizer")
        if self._is_reinit_ignored(force_init):
            return
        weights, _ = self.get_params()
        store, in_store = choose_store(kvstore, len(self._context), weights)
        scale = 1.0 / (group.batch_size or 1)
        if store is not None and "dist" in store.type and "_sync" in store.type:
            scale /= store.num_workers
        numbers = numbers_of(self._param_names, 1 if in_store else len(self._context))
        made = made_optimizer(optimizer, _settings(optimizer_params), scale, numbers, self._symbol)
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
        """Share the optimizer, its states and the store of another module.

        Args:
            shared_module: The other module.

        Raises:
            ModuleStateError: The other module has no optimizer.
            ArgumentError: The other module lacks one of this module's weights.
        """
        updates = shared_module._trained("borrow_optimizer")
        updates.check(self._param_names)
        self._updates = updates
        self.optimizer_initialized = True

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs of a batch; its shapes may differ from those of the last batch.

        Args:
            data_batch: The batch; or a list with one for each device.
            is_train: Whether to run in training mode; None for ``for_training``.

        Raises:
            ModuleStateError: The module has no weights.
            ArgumentError: The batch lacks arrays that the network reads.
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
        """Update the weights with the gradients, added up over the devices.

        Raises:
            ModuleStateError: There is no optimizer.
        """
        updates = self._trained("update")
        group = self._bound("update")
        self._weights.stale = True
        updates.update(self._param_names, group.param_arrays, group.grad_arrays)

    def install_monitor(self, mon: Monitor) -> None:
        """Install a `Monitor` on the executors.

        Args:
            mon: The monitor.
        """
        self._bound("install_monitor").install_monitor(mon)

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Prepare for the next batch; does nothing, because every device has complete weights."""
        self._expect_bound("prepare")


def _settings(params: Any) -> dict[str, Any]:
    """Return arguments of an optimizer, a dict or pairs, as a dict."""
    try:
        return dict(params)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"init_optimizer: expected optimizer_params as a dict or pairs, got {params!r:.80}"
        ) from None


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
