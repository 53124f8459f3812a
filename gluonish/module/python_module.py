"""PythonModule and PythonLossModule: modules whose computation is Python code.

ComputedModule: base class of modules that delegate computation to another object.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.initializer import Initializer, Uniform
from gluonish.io.data_iter import DataDesc
from gluonish.metric import EvalMetric
from gluonish.module.base_module import BaseModule
from gluonish.module.descriptions import Requests, check_described, described, expect
from gluonish.module.interface import RATE, ModuleInterface, OptimizerParams, Params
from gluonish.module.monitor import Monitor
from gluonish.ndarray import NDArray, array

__all__ = ["PythonLossModule", "PythonModule"]


class PythonModule(BaseModule):
    """Base class of modules written in Python, without weights.

    A subclass defines ``_compute_output_shapes``, which returns pairs (name, shape) of the outputs,
    `forward`, `get_outputs` and, if it passes gradients on, `backward` and `get_input_grads`.

    Args:
        data_names: Names of the data inputs.
        label_names: Names of the labels; None for none.
        output_names: Names of the outputs.
        logger: Logger for messages.
    """

    def __init__(
        self,
        data_names: Sequence[str],
        label_names: Sequence[str] | None,
        output_names: Sequence[str],
        logger: Any = logging,
    ) -> None:
        super().__init__(logger=logger)
        self._data_names = list(data_names)
        self._label_names = list(label_names or ())
        self._output_names = list(output_names)
        self._data_shapes: Any = None
        self._label_shapes: Any = None
        self._output_shapes: Any = None

    @property
    def data_names(self) -> list[str]:
        """Names of the data inputs."""
        return self._data_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self) -> Any:
        """Descriptions of the data of a batch; None before `bind`."""
        return self._data_shapes

    @property
    def label_shapes(self) -> Any:
        """Descriptions of the labels of a batch; None before `bind`, or without labels."""
        return self._label_shapes

    @property
    def output_shapes(self) -> Any:
        """Pairs (name, shape) of the outputs of a batch; None before `bind`."""
        return self._output_shapes

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Return two empty dicts: there are no weights or auxiliary states."""
        return {}, {}

    def init_params(
        self,
        initializer: Initializer | None = Uniform(0.01),  # noqa: B008  # holds no state
        arg_params: Params = None,
        aux_params: Params = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Do nothing: there are no weights."""
        self.params_initialized = True

    def set_params(
        self,
        arg_params: Params,
        aux_params: Params,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Do nothing: there are no weights."""
        self.params_initialized = True

    def update(self) -> None:
        """Do nothing: there are no weights."""

    def update_metric(self, eval_metric: EvalMetric, labels: Any, pre_sliced: bool = False) -> None:
        """Update a metric with the outputs; does nothing if the module has no labels.

        Args:
            eval_metric: The EvalMetric.
            labels: Labels of the batch, a list of arrays.
            pre_sliced: Must be False: a Python module has one device.

        Raises:
            ArgumentError: ``pre_sliced`` is True.
        """
        if self._label_shapes is None:
            return
        if pre_sliced:
            raise ArgumentError("update_metric: expected pre_sliced=False, got True")
        eval_metric.update(labels, self.get_outputs())

    def bind(
        self,
        data_shapes: Sequence[Any],
        label_shapes: Sequence[Any] | None = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: ModuleInterface | None = None,
        grad_req: Requests = "write",
    ) -> None:
        """Store the shapes; the arguments are those of `Module.bind`.

        Raises:
            ArgumentError: Names do not match, or ``grad_req`` is not ``"write"``.
        """
        if self._is_rebind_ignored(force_rebind):
            return
        if grad_req != "write":
            raise ArgumentError(
                f"{type(self).__name__}.bind: expected grad_req='write', got {grad_req!r}"
            )
        check_described(self._data_names, described(data_shapes), "data")
        if label_shapes is not None:
            check_described(self._label_names, described(label_shapes), "label")
        self._data_shapes, self._label_shapes = data_shapes, label_shapes
        self._output_shapes = self._compute_output_shapes()
        self.binded, self.for_training = True, for_training
        self.inputs_need_grad = inputs_need_grad

    def _compute_output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Return the name and shape of each output; called when ``_data_shapes`` are set."""
        raise self._undefined("_compute_output_shapes")

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: OptimizerParams = RATE,
        force_init: bool = False,
    ) -> None:
        """Do nothing: there are no weights."""
        self.optimizer_initialized = True

    def install_monitor(self, mon: Monitor) -> None:
        """Do nothing: there is no executor. In MXNet this raises."""


class PythonLossModule(PythonModule):
    """A loss at the end of a chain: the identity, with a gradient computed by a function.

    Args:
        name: The output is named ``name_output``.
        data_names: List with the name of the data.
        label_names: List with the name of the labels.
        logger: Logger for messages.
        grad_func: Function that takes data and labels and returns the data's gradient, an NDArray
            or a NumPy array. If None, a subclass defines ``_backward_impl``, which sets
            ``_scores_grad``.

    Raises:
        ArgumentError: There is more than one name of data or labels.
        ArgumentTypeError: ``grad_func`` is not callable.
    """

    def __init__(
        self,
        name: str = "pyloss",
        data_names: Sequence[str] = ("data",),
        label_names: Sequence[str] = ("softmax_label",),
        logger: Any = logging,
        grad_func: Callable[[NDArray, NDArray], Any] | None = None,
    ) -> None:
        super().__init__(data_names, label_names, [f"{name}_output"], logger=logger)
        if len(data_names) != 1 or len(label_names) != 1:
            raise ArgumentError(
                "PythonLossModule: expected one name of data and one of labels, got "
                f"{list(data_names)} and {list(label_names)}"
            )
        if grad_func is not None and not callable(grad_func):
            raise ArgumentTypeError(
                f"PythonLossModule: expected grad_func to be a function, got {grad_func!r}"
            )
        self._name = name
        self._grad_func = grad_func
        self._scores: Any = None
        self._labels: Any = None
        self._scores_grad: Any = None

    def _compute_output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Return the output's name, with the shape of the data."""
        return [(f"{self._name}_output", self._data_shapes[0][1])]

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Store the data, and when training the labels.

        Args:
            data_batch: The batch.
            is_train: Whether to run in training mode; None for ``for_training``.
        """
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the data of the last forward pass.

        Args:
            merge_multi_context: Has no effect: there is one device.
        """
        return [self._scores] if merge_multi_context else [[self._scores]]

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradient of the data.

        Args:
            out_grads: Must be None: nothing follows a loss.

        Raises:
            ArgumentError: ``out_grads`` is not None.
            ModuleStateError: The module is not bound for training.
        """
        if out_grads is not None:
            raise ArgumentError(
                f"PythonLossModule.backward: expected out_grads=None, because nothing follows a "
                f"loss, got {out_grads!r:.40}"
            )
        expect(
            self.for_training,
            "PythonLossModule.backward",
            "a module that is bound for training",
            "bind it with for_training=True",
        )
        self._backward_impl()

    def _backward_impl(self) -> None:
        """Set ``_scores_grad`` to the gradient of ``_scores``."""
        if self._grad_func is None:
            raise self._undefined("_backward_impl, or a grad_func")
        gradient = self._grad_func(self._scores, self._labels)
        self._scores_grad = gradient if isinstance(gradient, NDArray) else _as_array(gradient)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the gradient of the data.

        Args:
            merge_multi_context: Has no effect: there is one device.
        """
        return [self._scores_grad] if merge_multi_context else [[self._scores_grad]]


def _as_array(values: Any) -> NDArray:
    values = np.asarray(values)
    made: NDArray = array(values, cpu(), values.dtype)
    return made


class ComputedModule(BaseModule):
    """Base class of modules that delegate: `Module` to executors, `BucketingModule` to a bucket.

    A subclass defines `_computer`, which returns the object to delegate to.
    """

    def _computer(self, what: str) -> Any:
        """Return the object to delegate to; ``what`` is the calling method, for errors."""
        raise self._undefined("_computer")

    def _ready_computer(self, what: str) -> Any:
        self._expect_weights(what)
        return self._computer(what)

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Descriptions of the data of a batch."""
        found: list[DataDesc] = self._computer("data_shapes").data_shapes
        return found

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels of a batch; None without labels."""
        found: list[DataDesc] | None = self._computer("label_shapes").label_shapes
        return found

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradients.

        Args:
            out_grads: Gradients of the outputs, an array or a list; None if the outputs are losses.

        Raises:
            ModuleStateError: The module has no weights, or is not bound for training.
        """
        self._ready_computer("backward").backward(out_grads)

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the outputs of the last forward pass; the next one overwrites them.

        Args:
            merge_multi_context: Whether to concatenate the devices' slices of each output; if not,
                each output is a list with one array for each device.
        """
        found: list[Any] = self._ready_computer("get_outputs").get_outputs(merge_multi_context)
        return found

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the gradients of the inputs; the next backward pass overwrites them.

        Args:
            merge_multi_context: See `get_outputs`.

        Raises:
            ModuleStateError: The module is not bound with ``inputs_need_grad``.
        """
        computer = self._ready_computer("get_input_grads")
        found: list[Any] = computer.get_input_grads(merge_multi_context)
        return found

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the arrays of each state on all devices, not copies.

        Args:
            merge_multi_context: Must be False.
        """
        found: list[Any] = self._ready_computer("get_states").get_states(merge_multi_context)
        return found

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Set the states.

        Args:
            states: For each state a list with one array for each device, as `get_states` returns.
            value: Number to fill all states with, instead of ``states``.
        """
        self._ready_computer("set_states").set_states(states, value)

    def update_metric(self, eval_metric: EvalMetric, labels: Any, pre_sliced: bool = False) -> None:
        """Update a metric with the outputs of the last forward pass.

        Args:
            eval_metric: The EvalMetric.
            labels: Labels of the batch, a list of arrays.
            pre_sliced: Whether ``labels`` is instead a list with the labels for each device.
        """
        self._computer("update_metric").update_metric(eval_metric, labels, pre_sliced)
