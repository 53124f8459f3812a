"""BoundExecutors: one executor per device, bound to its slice of every batch, and their arrays.

Executors of earlier shapes are cached, and all share the memory of the largest batch.
"""

import sys
from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, GluonishError
from gluonish.core.object_repr import brief, object_repr
from gluonish.io.data_iter import DataDesc
from gluonish.module.descriptions import Requests, described, requests_of
from gluonish.module.device_arrays import Groups, groups_of, split_by_load
from gluonish.ndarray import NDArray
from gluonish.symbol.binding import simple_bind
from gluonish.symbol.executor import Executor
from gluonish.symbol.symbol import Symbol

_MAX_CACHED = 16  # shapes whose executors are cached; the oldest is dropped first


class BoundExecutors:
    """The executors of one network on several devices, and the arrays they read and write.

    Arguments and attributes are those of `DataParallelExecutorGroup`, which runs them.
    """

    _total_exec_bytes = 0  # as in MXNet

    def __init__(
        self,
        symbol: Symbol,
        contexts: Sequence[Context],
        workload: Sequence[float],
        data_shapes: Sequence[Any],
        label_shapes: Sequence[Any] | None,
        param_names: Sequence[str],
        for_training: bool,
        inputs_need_grad: bool,
        shared_group: "BoundExecutors | None" = None,
        logger: Any = None,
        fixed_param_names: Sequence[str] | None = None,
        grad_req: Requests = "write",
        state_names: Sequence[str] | None = None,
        group2ctxs: Groups = None,
    ) -> None:
        self.symbol = symbol
        self.contexts = list(contexts)
        self.workload = list(workload)
        self.logger = logger
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self.param_names = list(param_names)
        self.fixed_param_names = list(fixed_param_names or ())
        self.state_names = list(state_names or ())
        self.arg_names = symbol.list_arguments()
        self.aux_names = symbol.list_auxiliary_states()
        self.output_names = symbol.list_outputs()
        self.num_outputs = len(self.output_names)
        self.output_layouts = [_batch_axis_of(output) for output in symbol]
        self.group2ctxs = groups_of(group2ctxs, len(self.contexts))
        self.grad_req = requests_of(
            grad_req,
            self.arg_names,
            params=[name for name in self.param_names if name not in self.fixed_param_names],
            data=[desc.name for desc in described(data_shapes)] if inputs_need_grad else [],
            for_training=for_training,
        )
        self.shared_data_arrays: list[dict[str, NDArray]] = [{} for _ in self.contexts]
        if shared_group is not None:
            self.shared_data_arrays = shared_group.shared_data_arrays
        self.execs: list[Executor] = []
        self.batch_size = 0
        self.slices: list[slice] = []
        # The size of the largest batch so far and its executors, from which others are reshaped.
        self._largest: tuple[int, list[Executor]] = (0, [])
        self._cache: dict[Any, list[Executor]] = {}
        self.bind_exec(data_shapes, label_shapes, shared_group)
        if shared_group is not None:
            self._adopt(shared_group)

    def __repr__(self) -> str:
        return object_repr(self, brief(self.symbol), contexts=self.contexts)

    def _adopt(self, other: "BoundExecutors") -> None:
        """Use another group's equal lists of arrays, because updates compare lists by identity."""
        for field in ("param_arrays", "grad_arrays"):
            own, shared = ([x for row in getattr(of, field) for x in row] for of in (self, other))
            if len(own) == len(shared) and all(map(is_, own, shared)):
                setattr(self, field, getattr(other, field))

    def decide_slices(self, data_shapes: Sequence[DataDesc]) -> list[int]:
        """Split the batch over the devices, and return the batch axis of each array.

        Args:
            data_shapes: Descriptions of the arrays of a complete batch.

        Raises:
            ArgumentError: Arrays have different numbers of samples, or too few for the devices.
        """
        axes = [DataDesc.get_batch_axis(desc.layout) for desc in data_shapes]
        extents = {
            desc.name: desc.shape[axis]
            for desc, axis in zip(data_shapes, axes, strict=True)
            if axis >= 0
        }
        for name, extent in extents.items():
            if self.batch_size not in (0, extent):
                raise ArgumentError(
                    f"Module.bind: expected {self.batch_size} examples in each array, got {extent} "
                    f"in {name}"
                )
            self.batch_size = extent
            self.slices = split_by_load(extent, self.workload)
        return axes

    def bind_exec(
        self,
        data_shapes: Sequence[Any],
        label_shapes: Sequence[Any] | None,
        shared_group: "BoundExecutors | None" = None,
        reshape: bool = False,
    ) -> None:
        """Create executors for batches of the described shapes.

        Args:
            data_shapes: Descriptions of the data of a complete batch.
            label_shapes: Descriptions of the labels of a complete batch.
            shared_group: As for the constructor.
            reshape: Whether to reshape the existing executors, in the same memory.

        Raises:
            ArgumentError: The inferred shapes of weights differ from the weights' actual shapes.
        """
        data, label = described(data_shapes), described(label_shapes)
        # If no array has a batch axis, each device gets all data.
        self.batch_size, self.slices = 0, [slice(0, sys.maxsize)] * len(self.contexts)
        self.data_layouts = self.decide_slices(data)
        self.label_layouts = self.decide_slices(label) if label else []
        if reshape:
            self.execs = self._reshaped([*data, *label])
        else:
            shared = [None] * len(self.contexts) if shared_group is None else shared_group.execs
            self.execs = [self._bound(i, [*data, *label], shared[i]) for i in range(len(shared))]
            self._largest, self._cache = (self.batch_size, self.execs), {}
        self.data_shapes = data
        self.label_shapes = label or None
        self.data_names = [desc.name for desc in data]
        self.label_names = [desc.name for desc in label]
        self._collect()

    def _shapes(self, device: int, descs: Sequence[DataDesc]) -> dict[str, tuple[int, ...]]:
        """Return the shape of each input's slice on a device."""
        shapes = {}
        for desc in descs:
            shape = list(desc.shape)
            axis = DataDesc.get_batch_axis(desc.layout)
            if axis >= 0:
                rows = self.slices[device]
                shape[axis] = rows.stop - rows.start
            if desc.name in self.arg_names:
                shapes[desc.name] = tuple(shape)
        return shapes

    def _bound(self, device: int, descs: Sequence[DataDesc], shared: Executor | None) -> Executor:
        shapes: dict[str, Any] = self._shapes(device, descs)
        dtypes = {desc.name: desc.dtype for desc in descs if desc.name in self.arg_names}
        made = simple_bind(
            self.symbol,
            self.contexts[device],
            grad_req=self.grad_req,
            type_dict=dtypes,
            group2ctx=self.group2ctxs[device],
            shared_arg_names=self.param_names,
            shared_exec=shared,
            shared_buffer=self.shared_data_arrays[device],
            **shapes,
        )
        for name in self.param_names:  # shared through the executors
            self.shared_data_arrays[device].pop(name, None)
        if shared is not None:
            _check_shared(self.param_names, made.arg_dict, shared.arg_dict)
        return made

    def _reshaped(self, descs: Sequence[DataDesc]) -> list[Executor]:
        shapes = [self._shapes(i, descs) for i in range(len(self.contexts))]
        key = tuple(tuple(sorted(named.items())) for named in shapes)
        cached = self._cache.get(key)
        if cached is not None:
            return cached
        size, largest = self._largest
        made = [
            executor.reshape(allow_up_sizing=True, **self._with_inferred(named))
            for executor, named in zip(largest, shapes, strict=True)
        ]
        if self.batch_size > size:
            self._largest, self._cache = (self.batch_size, made), {}
        self._cache[key] = made
        if len(self._cache) > _MAX_CACHED:
            self._cache.pop(next(iter(tuple(self._cache))), None)
        return made

    def _with_inferred(self, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
        """Add inferred shapes of missing labels and states."""
        found, _, _ = self.symbol.infer_shape(**shapes)
        if found is None:
            return shapes
        named = dict(zip(self.arg_names, found, strict=True))
        return {name: shape for name, shape in named.items() if name not in self.param_names}

    def _collect(self) -> None:
        """Store the arrays of all executors in the attributes of the group."""
        arguments = [executor.arg_dict for executor in self.execs]
        gradients = [executor.grad_dict for executor in self.execs]
        states = [executor.aux_dict for executor in self.execs]

        def inputs(names: Sequence[str]) -> list[list[tuple[slice, NDArray]]]:
            return [
                [
                    (rows, named[name])
                    for rows, named in zip(self.slices, arguments, strict=True)
                    if name in named
                ]
                for name in names
            ]

        self.data_arrays = inputs(self.data_names)
        self.label_arrays = inputs(self.label_names)
        own = [name for name in self.arg_names if name in self.param_names]
        self.param_arrays = [[named[name] for named in arguments] for name in own]
        self.grad_arrays = [[named[name] for named in gradients] for name in own]
        self.aux_arrays = [[named[name] for named in states] for name in self.aux_names]
        self.state_arrays = [[named[name] for named in arguments] for name in self.state_names]
        self.input_grad_arrays: list[list[Any]] = []
        if self.inputs_need_grad:
            self.input_grad_arrays = [
                [named.get(name) for named in gradients] for name in self.data_names
            ]

    def reshape(self, data_shapes: Sequence[Any], label_shapes: Sequence[Any] | None) -> None:
        """Change the shapes of the batches; weights and gradients keep their memory.

        Args:
            data_shapes: Descriptions of the data of a complete batch.
            label_shapes: Descriptions of the labels of a complete batch.

        Raises:
            ArgumentError: Shapes of weights would change; in this case the group is unchanged.
        """
        data, label = described(data_shapes), described(label_shapes) or None
        if data == self.data_shapes and label == self.label_shapes:
            return
        before = self.batch_size, self.slices, self.data_layouts, self.label_layouts
        try:
            self.bind_exec(data, label, reshape=True)
        except GluonishError:
            self.batch_size, self.slices, self.data_layouts, self.label_layouts = before
            raise


def _batch_axis_of(output: Symbol) -> int:
    return DataDesc.get_batch_axis(output.attr("__layout__"))


def _check_shared(
    names: Sequence[str], own: Mapping[str, NDArray], shared: Mapping[str, NDArray]
) -> None:
    for name in names:
        if name in own and name in shared and own[name] is not shared[name]:
            raise ArgumentError(
                f"bind: expected {name} of shape {shared[name].shape}, that of the shared module, "
                f"got {own[name].shape}"
            )
