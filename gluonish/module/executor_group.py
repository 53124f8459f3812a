"""DataParallelExecutorGroup: one executor per device, each with its slice of every batch.

A batch is split along the axis ``"N"`` of its arrays' layouts, and copied into the arrays that the
executors read. All operations are pushed to the engine, so the devices run in parallel.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.io.data_iter import DataBatch
from gluonish.metric import EvalMetric
from gluonish.module.bound_executors import BoundExecutors
from gluonish.module.descriptions import expect
from gluonish.module.device_arrays import load, merged, on_host, part_of
from gluonish.module.monitor import Monitor
from gluonish.ndarray import NDArray

__all__ = ["DataParallelExecutorGroup"]


class DataParallelExecutorGroup(BoundExecutors):
    """Executors of one network on several devices, each of which computes a slice of the batch.

    Args:
        symbol: The network.
        contexts: The devices.
        workload: Relative load of each device; the batch is split in proportion.
        data_shapes: Descriptions of the data of a complete batch.
        label_shapes: Descriptions of the labels of a complete batch; None for none.
        param_names: Names of the arguments that are weights.
        for_training: Whether to allocate gradients.
        inputs_need_grad: Whether to compute gradients of the data, too.
        shared_group: Group with which this one shares weights and the memory of inputs.
        logger: Logger for messages.
        fixed_param_names: Names of weights without gradients.
        grad_req: ``"write"``, ``"add"`` or ``"null"``: one for all, a list in the order of the
            arguments, or a dict by name.
        state_names: Names of the arguments that are states, which batches do not set.
        group2ctxs: Dict from ``ctx_group`` to a device, or to a list with one for each of
            ``contexts``; or a list of such dicts.

    Attributes:
        execs: The executors.
        slices: Slice of the batch that each executor computes.
        batch_size: Number of samples in a batch.
        data_arrays: For each input a list with, for each device, the slice and the array.
        label_arrays: The same for labels; empty for a label that the network does not read.
        param_arrays: For each weight a list of its arrays, one for each device.
        grad_arrays: The same for the weights' gradients; None for weights without one.
        aux_arrays: The same for auxiliary states.
        state_arrays: The same for states.
        input_grad_arrays: The same for the gradients of the data, if ``inputs_need_grad``.
        shared_data_arrays: For each device a dict with its inputs' memory, by name.

    Raises:
        ArgumentError: Arguments contradict each other; see the message.
    """

    def set_params(
        self,
        arg_params: Mapping[str, NDArray],
        aux_params: Mapping[str, NDArray],
        allow_extra: bool = False,
    ) -> None:
        """Copy weights and auxiliary states to all devices.

        Args:
            arg_params: Weights by name.
            aux_params: Auxiliary states by name.
            allow_extra: Whether to ignore names that the network does not have.

        Raises:
            ArgumentError: The network does not have a name, or a shape differs.
        """
        for executor in self.execs:
            executor.copy_params_from(arg_params, aux_params, allow_extra_params=allow_extra)

    def get_params(self, arg_params: dict[str, NDArray], aux_params: dict[str, NDArray]) -> None:
        """Store weights and auxiliary states in dicts: means over the devices, on the CPU.

        Args:
            arg_params: Dict to store the weights in, by name.
            aux_params: Dict to store the auxiliary states in, by name.
        """
        names = [name for name in self.arg_names if name in self.param_names]
        for name, arrays in zip(names, self.param_arrays, strict=True):
            arg_params[name] = on_host(arrays)
        for name, arrays in zip(self.aux_names, self.aux_arrays, strict=True):
            aux_params[name] = on_host(arrays)

    def forward(
        self, data_batch: DataBatch | Sequence[DataBatch], is_train: bool | None = None
    ) -> None:
        """Copy a batch to the devices, and compute the outputs.

        Args:
            data_batch: The batch; or a list with one for each device.
            is_train: Whether to run in training mode; None for ``for_training``.

        Raises:
            ArgumentError: The batch lacks arrays that the network reads.
        """
        load(data_batch, "data", self.data_names, self.data_arrays, self.data_layouts)
        is_train = self.for_training if is_train is None else is_train
        if self.label_arrays:
            load(
                *(data_batch, "label", self.label_names, self.label_arrays, self.label_layouts),
                # Prediction needs no labels; their arrays are unchanged.
                optional=True,
            )
        for executor in self.execs:
            executor.forward(is_train=is_train)

    def backward(self, out_grads: NDArray | Sequence[NDArray] | None = None) -> None:
        """Compute the gradients.

        Args:
            out_grads: Gradients of the outputs of a complete batch; None if the outputs are losses.

        Raises:
            ModuleStateError: The group is not bound for training.
        """
        expect(
            self.for_training,
            "backward",
            "a module that is bound for training",
            "bind it with for_training=True",
        )
        heads = [out_grads] if isinstance(out_grads, NDArray) else out_grads
        for executor, part in zip(self.execs, self.slices, strict=True):
            if heads is None:
                executor.backward()
                continue
            executor.backward(
                [
                    part_of(head, part, axis)
                    for head, axis in zip(heads, self.output_layouts, strict=True)
                ]
            )

    def get_output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Return a list of pairs (name, shape) of the outputs of a complete batch."""
        found = []
        for i, (name, axis) in enumerate(zip(self.output_names, self.output_layouts, strict=True)):
            shapes = [executor.outputs[i].shape for executor in self.execs]
            shape = list(shapes[0])
            if axis >= 0 and shape:
                shape[axis] = sum(one[axis] for one in shapes)
            found.append((name, tuple(shape)))
        return found

    def get_outputs(
        self, merge_multi_context: bool = True, begin: int = 0, end: int | None = None
    ) -> list[Any]:
        """Return the outputs of the last forward pass.

        Args:
            merge_multi_context: Whether to concatenate the devices' slices of each output; if not,
                each output is a list with one array for each device.
            begin: Index of the first output to return.
            end: Index after the last output to return; None for all.
        """
        chosen = range(self.num_outputs)[begin:end]
        outputs = [[executor.outputs[i] for executor in self.execs] for i in chosen]
        if not merge_multi_context:
            return outputs
        return [
            merged(arrays, self.output_layouts[i])
            for i, arrays in zip(chosen, outputs, strict=True)
        ]

    def get_states(self, merge_multi_context: bool = True) -> list[list[NDArray]]:
        """Return the arrays of each state on all devices.

        Args:
            merge_multi_context: Must be False.

        Raises:
            ArgumentError: ``merge_multi_context`` is True.
        """
        if merge_multi_context:
            raise ArgumentError(
                "get_states: expected merge_multi_context=False, got True; states are not merged"
            )
        return self.state_arrays

    def set_states(
        self, states: Sequence[Sequence[NDArray]] | None = None, value: float | None = None
    ) -> None:
        """Set the states.

        Args:
            states: For each state a list with one array for each device, as `get_states` returns.
            value: Number to fill all states with, instead of ``states``.

        Raises:
            ArgumentError: Both are passed, or neither.
        """
        if (states is None) == (value is None):
            raise ArgumentError(
                f"set_states: expected either states or value, got {states!r:.40} and {value}"
            )
        if states is None:
            for arrays in self.state_arrays:
                for array in arrays:
                    array[:] = value
            return
        for arrays, values in zip(self.state_arrays, states, strict=True):
            for array, state in zip(arrays, values, strict=True):
                state.copyto(array)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the gradients of the data of the last backward pass.

        Args:
            merge_multi_context: See `get_outputs`.

        Raises:
            ModuleStateError: The group was created without ``inputs_need_grad``.
        """
        expect(
            self.inputs_need_grad,
            "get_input_grads",
            "a module whose inputs have gradients",
            "bind it with inputs_need_grad=True",
        )
        if not merge_multi_context:
            return self.input_grad_arrays
        pairs = zip(self.input_grad_arrays, self.data_layouts, strict=True)
        return [merged(arrays, axis) for arrays, axis in pairs]

    def update_metric(
        self, eval_metric: EvalMetric, labels: Sequence[Any], pre_sliced: bool = False
    ) -> None:
        """Update a metric with the outputs of the last forward pass.

        Args:
            eval_metric: The EvalMetric.
            labels: Labels of the complete batch, a list of arrays.
            pre_sliced: Whether ``labels`` is instead a list with the labels for each device.
        """
        for i, (executor, part) in enumerate(zip(self.execs, self.slices, strict=True)):
            if pre_sliced:
                own = labels[i]
            else:
                axes = self.label_layouts or [0] * len(labels or ())
                own = [part_of(x, part, axis) for x, axis in zip(labels or (), axes, strict=False)]
            names = self.label_names or [f"label{k}" for k in range(len(own))]
            eval_metric.update_dict(
                dict(zip(names, own, strict=False)),
                dict(zip(self.output_names, executor.outputs, strict=True)),
            )

    def install_monitor(self, mon: Monitor) -> None:
        """Install a `Monitor` on all executors.

        Args:
            mon: The monitor.
        """
        for executor in self.execs:
            mon.install(executor)
        self._largest, self._cache = (self.batch_size, self.execs), {}
