"""Module: a network bound to devices, with weights and an optimizer."""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.initializer import Initializer, Uniform
from gluonish.io.data_iter import DataDesc
from gluonish.kvstore import KVStoreBase
from gluonish.metric import EvalMetric
from gluonish.module.base_module import RATE, BaseModule, OptimizerParams, Params
from gluonish.module.checkpoint import load_checkpoint, save_checkpoint
from gluonish.module.descriptions import (
    check_described,
    check_names,
    described,
    described_batch,
    expect,
)
from gluonish.module.device_groups import Groups
from gluonish.module.executor_group import DataParallelExecutorGroup
from gluonish.module.requests import Requests
from gluonish.module.weight_updates import (
    WeightUpdates,
    choose_store,
    made_optimizer,
    numbers_of,
)
from gluonish.module.weights import Weights, first_values
from gluonish.monitor import Monitor
from gluonish.ndarray import NDArray
from gluonish.optimizer import Optimizer
from gluonish.symbol import Symbol

__all__ = ["Module"]

Shapes = Sequence[Any]


class Module(BaseModule):
    """A network on one device or several; a batch is cut over them, and their gradients add up.

    Args:
        symbol: The network.
        data_names: Its arguments that are data.
        label_names: Its arguments that are labels; None for none.
        logger: Where to log.
        context: The device, or a list.
        work_load_list: The load of each device: ``[3, 1]`` gives the first three quarters of a
            batch. None: equal parts.
        fixed_param_names: Weights that are not trained.
        state_names: Arguments that are neither data nor weights, which `set_states` sets.
        group2ctxs: Devices of each ``ctx_group``: by its name a device, or a list with one for each
            of ``context``; or a list of such dicts.
        compression_params: As of `KVStore.set_gradient_compression`.

    Raises:
        ArgumentError: The network has no such arguments, or there are not as many loads as devices.
    """

    def __init__(
        self,
        symbol: Symbol,
        data_names: Sequence[str] | None = ("data",),
        label_names: Sequence[str] | None = ("softmax_label",),
        logger: Any = logging,
        context: Context | Sequence[Context] = cpu(0),  # noqa: B008  # a constant
        work_load_list: Sequence[float] | None = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Groups = None,
        compression_params: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(logger=logger)
        self._context = [context] if isinstance(context, Context) else list(context)
        self._work_load_list = list(work_load_list or [1] * len(self._context))
        if len(self._work_load_list) != len(self._context):
            raise ArgumentError(
                f"Module: expected work_load_list with a load for each of {self._context}, got "
                f"{self._work_load_list}"
            )
        # Never None here.
        self._symbol: Symbol = symbol  # pyright: ignore[reportIncompatibleVariableOverride]
        self._data_names = list(data_names or ())
        self._label_names = list(label_names or ())
        self._state_names = list(state_names or ())
        self._fixed_param_names = list(fixed_param_names or ())
        arguments = symbol.list_arguments()
        check_names(arguments, self._data_names, "data_names")
        check_names(arguments, self._label_names, "label_names", strict=False)
        check_names(arguments, self._state_names, "state_names")
        check_names(arguments, self._fixed_param_names, "fixed_param_names")
        inputs = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in arguments if name not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        self._group2ctxs = group2ctxs
        self._compression_params = compression_params
        self._weights = Weights()
        self._exec_group: DataParallelExecutorGroup | None = None
        self._updates: WeightUpdates | None = None
        self._states_file: str | None = None  # read when there is an optimizer

    # -- files -----------------------------------------------------------------------------------

    @staticmethod
    def load(
        prefix: str, epoch: int, load_optimizer_states: bool = False, **kwargs: Any
    ) -> "Module":
        """Return a module of a checkpoint, with its weights; it is not bound yet.

        Args:
            prefix: As it was given to `save_checkpoint`.
            epoch: Likewise.
            load_optimizer_states: Whether the optimizer's states are read, too, once there is one.
            **kwargs: Arguments of `Module`.

        Raises:
            MissingFileError: A file does not exist.
            FileFormatError: It is something else.
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
            remove_amp_cast: Whether casts that mixed precision put in are left out.
        """
        save_checkpoint(prefix, epoch, self._symbol, *self.get_params(), remove_amp_cast)
        if save_optimizer_states:
            filename = _states_file(prefix, epoch)
            self.save_optimizer_states(filename)
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

    # -- facts -----------------------------------------------------------------------------------

    @property
    def data_names(self) -> list[str]:
        """Names of the data."""
        return self._data_names

    @property
    def label_names(self) -> list[str]:
        """Names of the labels."""
        return self._label_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Descriptions of the data of a batch."""
        return self._bound("data_shapes").data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels of a batch; None for none."""
        return self._bound("label_shapes").label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Name and shape of each output of a batch."""
        return self._bound("output_shapes").get_output_shapes()

    def _bound(self, what: str) -> DataParallelExecutorGroup:
        self._expect_bound(what)
        assert self._exec_group is not None
        return self._exec_group

    def _ready(self, what: str) -> DataParallelExecutorGroup:
        self._expect_weights(what)
        return self._bound(what)

    def _trained(self, what: str) -> WeightUpdates:
        self._expect_optimizer(what)
        assert self._updates is not None
        return self._updates

    @property
    def _optimizer(self) -> Optimizer | None:
        """The optimizer, under the name by which programs for MXNet get at it."""
        return None if self._updates is None else self._updates.optimizer

    # -- weights ---------------------------------------------------------------------------------

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Return weights and auxiliary states by name, on the CPU: means over the devices.

        Raises:
            ModuleStateError: There are none.
        """
        group = self._ready("get_params")
        weights = self._weights
        if weights.stale:
            group.get_params(weights.arguments, weights.auxiliary)
            weights.stale = False
        return weights.arguments, weights.auxiliary

    def init_params(
        self,
        initializer: Initializer | None = Uniform(0.01),  # noqa: B008  # holds no state
        arg_params: Params = None,
        aux_params: Params = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Set weights and auxiliary states for the first time.

        Args:
            initializer: Makes those that are not given.
            arg_params: Weights by name; None: ``initializer`` makes all.
            aux_params: Auxiliary states by name; likewise.
            allow_missing: Whether ``initializer`` makes those that are missing among the given.
            force_init: Whether weights that there are already are replaced.
            allow_extra: Of no effect, as in MXNet: names that the network lacks are ignored.

        Raises:
            ModuleStateError: The module is not bound.
            ArgumentError: One is missing, or has another shape.
        """
        if self.params_initialized and not force_init:
            self._kept_weights("init_params")
            return
        group = self._bound("init_params")
        attributes = self._symbol.attr_dict()
        values = [
            first_values(
                dict(zip(names, arrays, strict=True)),
                given,
                initializer,
                attributes,
                allow_missing=allow_missing,
            )
            for names, arrays, given in (
                (self._param_names, group.param_arrays, arg_params),
                (self._aux_names, group.aux_arrays, aux_params),
            )
        ]
        self._take(group, *values)

    def _take(
        self,
        group: DataParallelExecutorGroup,
        arguments: Mapping[str, NDArray],
        auxiliary: Mapping[str, NDArray],
    ) -> None:
        """Go on with other weights: here, on the devices, and in the store that updates them."""
        self.params_initialized = True
        self._weights.arguments.update(arguments)
        self._weights.auxiliary.update(auxiliary)
        group.set_params(arguments, auxiliary)
        if self._updates is not None:
            self._updates.overwrite(arguments)

    def set_params(
        self,
        arg_params: Params,
        aux_params: Params,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Set weights and auxiliary states.

        A store that updates weights goes on from them; that of MXNet from its own.

        Args:
            arg_params: Weights by name.
            aux_params: Auxiliary states by name.
            allow_missing: Whether those that are missing stay as they are.
            force_init: Whether weights that there are already are replaced.
            allow_extra: Whether there may be names that the network lacks.

        Raises:
            ModuleStateError: The module is not bound.
            ArgumentError: A name is missing or unknown, or a shape differs.
        """
        if self.params_initialized and not force_init:
            self._kept_weights("set_params")
            return
        self._expect_bound("set_params")
        arguments, auxiliary = dict(arg_params or {}), dict(aux_params or {})
        unknown = [
            name
            for given, own in ((arguments, self._param_names), (auxiliary, self._aux_names))
            for name in given
            if name not in own
        ]
        if unknown and not allow_extra:
            raise ArgumentError(
                f"set_params: expected names among {self._param_names + self._aux_names}, got "
                f"{unknown[0]!r}; pass allow_extra=True to ignore it"
            )
        if self._weights.stale:
            self.get_params()
        self.init_params(None, arguments, auxiliary, allow_missing, force_init=True)

    # -- binding ---------------------------------------------------------------------------------

    def bind(
        self,
        data_shapes: Shapes,
        label_shapes: Shapes | None = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: BaseModule | None = None,
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
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
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
            optimizer_params: Its arguments. ``rescale_grad`` is 1 / batch size where it is left
                out.
            force_init: Whether an optimizer that there is already is replaced.

        Raises:
            ModuleStateError: The module has no weights.
            ArgumentError: The optimizer or the store is unknown.
            ArgumentTypeError: ``optimizer`` is something else.
        """
        group = self._ready("init_optimizer")
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring...")
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

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradients.

        Args:
            out_grads: Gradients of the outputs: an array, or a list; None for losses.

        Raises:
            ModuleStateError: The module has no weights, or is not bound for training.
        """
        self._ready("backward").backward(out_grads)

    def update(self) -> None:
        """Update the weights by the gradients, added up over the devices.

        Raises:
            ModuleStateError: There is no optimizer.
        """
        updates = self._trained("update")
        group = self._bound("update")
        self._weights.stale = True
        updates.update(self._param_names, group.param_arrays, group.grad_arrays)

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the outputs of the last pass, which the next one overwrites.

        Args:
            merge_multi_context: Whether the devices' parts are put together; else there is a list
                of them for each output.
        """
        return self._ready("get_outputs").get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the gradients of the data of the last pass, which the next one overwrites.

        Args:
            merge_multi_context: As of `get_outputs`.

        Raises:
            ModuleStateError: The module is not bound with ``inputs_need_grad``.
        """
        return self._ready("get_input_grads").get_input_grads(merge_multi_context)

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """Return for each state its array on each device; they are the states themselves.

        Args:
            merge_multi_context: False: they are not put together.
        """
        return self._ready("get_states").get_states(merge_multi_context)

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Set the states.

        Args:
            states: For each state an array for each device, as `get_states` returns.
            value: A number for all, in place of ``states``.
        """
        self._ready("set_states").set_states(states, value)

    def update_metric(self, eval_metric: EvalMetric, labels: Any, pre_sliced: bool = False) -> None:
        """Show the outputs of the last pass to a metric, device by device.

        Args:
            eval_metric: The metric.
            labels: Labels of the batch.
            pre_sliced: Whether ``labels`` has a list of labels for each device instead.
        """
        self._bound("update_metric").update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Monitor) -> None:
        """Have a monitor watch the executors."""
        self._bound("install_monitor").install_monitor(mon)

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Get ready for a batch that comes next: nothing is to be done, for weights are dense."""
        self._expect_bound("prepare")


def _states_file(prefix: str, epoch: int) -> str:
    return f"{prefix}-{epoch:04d}.states"


def _shared(module: BaseModule) -> Module:
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
