"""`mx.executor_manager`: training on several devices, superseded by `Module`."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError
from gluonish.core.object_repr import default_repr
from gluonish.io import DataBatch
from gluonish.metric import EvalMetric
from gluonish.module.device_arrays import split_by_load
from gluonish.module.executor_group import DataParallelExecutorGroup as _Group
from gluonish.module.monitor import Monitor
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol
from gluonish.symbol.executor import Executor

__all__ = ["DataParallelExecutorGroup", "DataParallelExecutorManager"]


def _split_input_slice(batch_size: int, work_load_list: Sequence[float]) -> list[slice]:
    """Return the slice of a batch for each device; see `split_by_load`."""
    return split_by_load(batch_size, work_load_list)


def _check_arguments(symbol: Symbol) -> None:
    """Check that the names of arguments and of auxiliary states are unique.

    Raises:
        ArgumentError: A name is duplicated.
    """
    for kind, names in (
        ("argument", symbol.list_arguments()),
        ("auxiliary param", symbol.list_auxiliary_states()),
    ):
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ArgumentError(
                f'Find duplicated {kind} name "{min(twice)}", please make the weight name '
                f"non-duplicated(using name arguments), {kind}s are {names}"
            )


class DataParallelExecutorGroup:
    """Executors of a network, one for each device, which compute slices of a batch.

    Args:
        sym: The network.
        arg_names: Names of its arguments.
        param_names: Names of the arguments that are weights.
        ctx: The devices.
        slices: Slice of the batch for each device.
        train_data: Iterator whose descriptions have the shapes of a batch.
        shared_group: Another group, which shares its weights.

    Raises:
        ArgumentError: Two arguments have the same name.
    """

    __repr__ = default_repr

    def __init__(
        self,
        sym: Symbol,
        arg_names: Sequence[str],
        param_names: Sequence[str],
        ctx: Sequence[Context],
        slices: Sequence[slice],
        train_data: Any,
        shared_group: "DataParallelExecutorGroup | None" = None,
    ) -> None:
        _check_arguments(sym)
        self._group: _Group = _Group(
            sym,
            ctx,
            [batch_slice.stop - batch_slice.start for batch_slice in slices],
            train_data.provide_data,
            train_data.provide_label,
            param_names,
            True,
            False,
            None if shared_group is None else shared_group._group,
        )
        self._batch: DataBatch | None = None
        self.slices = list(slices)

    @property
    def train_execs(self) -> list[Executor]:
        """The executors, one for each device."""
        return self._group.execs

    @property
    def data_names(self) -> list[str]:
        """Names of the data inputs."""
        return self._group.data_names

    @property
    def label_names(self) -> list[str]:
        """Names of the labels."""
        return self._group.label_names

    @property
    def param_arrays(self) -> list[list[NDArray]]:
        """For each weight a list of its arrays, one for each device."""
        return self._group.param_arrays

    @property
    def grad_arrays(self) -> list[list[NDArray]]:
        """For each weight a list of its gradients, one for each device."""
        return self._group.grad_arrays

    @property
    def aux_arrays(self) -> list[list[NDArray]]:
        """For each auxiliary state a list of its arrays, one for each device."""
        return self._group.aux_arrays

    def load_data_batch(self, data_batch: DataBatch) -> None:
        """Set the batch for the next `forward`.

        Args:
            data_batch: The `DataBatch`.
        """
        self._batch = data_batch

    def forward(self, is_train: bool = False) -> None:
        """Compute the outputs of the batch.

        Args:
            is_train: Whether to run in training mode.

        Raises:
            ArgumentError: No batch was set by `load_data_batch`.
        """
        if self._batch is None:
            raise ArgumentError("forward: expected a batch from load_data_batch, got none")
        self._group.forward(self._batch, is_train)

    def backward(self) -> None:
        """Compute the gradients of the weights."""
        self._group.backward()

    def update_metric(
        self, metric: EvalMetric, labels: Sequence[Any], pre_sliced: bool = False
    ) -> None:
        """Update a metric with the outputs and labels.

        Args:
            metric: The EvalMetric.
            labels: Labels of the batch; with ``pre_sliced`` a list of them for each device.
            pre_sliced: Whether the labels are already split for the devices.
        """
        self._group.update_metric(metric, labels, pre_sliced)


class DataParallelExecutorManager:
    """Executors of a network on several devices, with another group for each bucket.

    Args:
        symbol: The network.
        ctx: The devices.
        train_data: Iterator whose descriptions have the shapes of a batch.
        arg_names: Names of the network's arguments; None for the network's own.
        param_names: Names of the arguments that are weights; None for all except data and labels.
        aux_names: Names of the auxiliary states; None for the network's own.
        work_load_list: Relative load of each device; None for equal loads.
        logger: Logger for messages.
        sym_gen: Function that returns the network of a bucket key.

    Raises:
        ArgumentError: The number of loads differs from the number of devices.
    """

    __repr__ = default_repr

    def __init__(
        self,
        symbol: Symbol,
        ctx: Sequence[Context],
        train_data: Any,
        arg_names: Sequence[str] | None = None,
        param_names: Sequence[str] | None = None,
        aux_names: Sequence[str] | None = None,
        work_load_list: Sequence[float] | None = None,
        logger: Any = None,
        sym_gen: Callable[[Any], Symbol] | None = None,
    ) -> None:
        loads = [1] * len(ctx) if work_load_list is None else work_load_list
        if not isinstance(loads, list | tuple) or len(loads) != len(ctx):
            raise ArgumentError(
                f"Invalid settings for work load: expected a load for each of {len(ctx)} devices, "
                f"got {loads}"
            )
        (logger or logging).info("Start training with %s", list(ctx))
        inputs = {desc[0] for desc in (*train_data.provide_data, *train_data.provide_label)}
        self.symbol = symbol
        self.sym_gen = sym_gen
        self.ctx = list(ctx)
        self.arg_names = list(symbol.list_arguments() if arg_names is None else arg_names)
        if param_names is None:
            param_names = [name for name in self.arg_names if name not in inputs]
        self.param_names = list(param_names)
        self.aux_names = list(symbol.list_auxiliary_states() if aux_names is None else aux_names)
        self.slices = _split_input_slice(train_data.batch_size, loads)
        self.execgrp = self._bind(symbol, train_data, None)
        self.curr_execgrp = self.execgrp
        self._groups = {getattr(train_data, "default_bucket_key", None): self.execgrp}

    def _bind(
        self, symbol: Symbol, described: Any, shared: DataParallelExecutorGroup | None
    ) -> DataParallelExecutorGroup:
        names = self.arg_names if shared is None else symbol.list_arguments()
        return DataParallelExecutorGroup(
            symbol, names, self.param_names, self.ctx, self.slices, described, shared
        )

    @property
    def param_arrays(self) -> list[list[NDArray]]:
        """For each weight a list of its arrays, one for each device."""
        return self.execgrp.param_arrays

    @property
    def grad_arrays(self) -> list[list[NDArray]]:
        """For each weight a list of its gradients, one for each device."""
        return self.execgrp.grad_arrays

    @property
    def aux_arrays(self) -> list[list[NDArray]]:
        """For each auxiliary state a list of its arrays, one for each device."""
        return self.execgrp.aux_arrays

    def install_monitor(self, monitor: Monitor) -> None:
        """Install a `Monitor` on all executors.

        Args:
            monitor: The monitor.

        Raises:
            ArgumentError: There are buckets, whose executors do not exist yet.
        """
        if self.sym_gen is not None:
            raise ArgumentError("install_monitor: Monitoring is not implemented for bucketing")
        for executor in self.execgrp.train_execs:
            monitor.install(executor)

    def set_params(
        self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray]
    ) -> None:
        """Copy weights and auxiliary states to all devices.

        Args:
            arg_params: Weights by name.
            aux_params: Auxiliary states by name.
        """
        for executor in self.execgrp.train_execs:
            executor.copy_params_from(dict(arg_params), dict(aux_params))

    def copy_to(self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray]) -> None:
        """Copy the means of weights and auxiliary states over the devices to arrays.

        Args:
            arg_params: Arrays for the weights, by name.
            aux_params: Arrays for the auxiliary states, by name.
        """
        found: tuple[dict[str, NDArray], dict[str, NDArray]] = ({}, {})
        self.execgrp._group.get_params(*found)
        for targets, values in zip((arg_params, aux_params), found, strict=True):
            for name, value in values.items():
                targets[name][:] = value.astype(targets[name].dtype)

    def load_data_batch(self, data_batch: DataBatch) -> None:
        """Set the batch for the next `forward`, and make its bucket the current one.

        Args:
            data_batch: The `DataBatch`.
        """
        if self.sym_gen is not None:
            key = data_batch.bucket_key
            if key not in self._groups:
                self._groups[key] = self._bind(self.sym_gen(key), data_batch, self.execgrp)
            self.curr_execgrp = self._groups[key]
        self.curr_execgrp.load_data_batch(data_batch)

    def forward(self, is_train: bool = False) -> None:
        """Compute the outputs of the batch.

        Args:
            is_train: Whether to run in training mode.
        """
        self.curr_execgrp.forward(is_train=is_train)

    def backward(self) -> None:
        """Compute the gradients of the weights."""
        self.curr_execgrp.backward()

    def update_metric(
        self, metric: EvalMetric, labels: Sequence[Any], pre_sliced: bool = False
    ) -> None:
        """Update a metric with the outputs and labels.

        Args:
            metric: The EvalMetric.
            labels: Labels of the batch.
            pre_sliced: Whether the labels are already split for the devices.
        """
        self.curr_execgrp.update_metric(metric, labels, pre_sliced)
