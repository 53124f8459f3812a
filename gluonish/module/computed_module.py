"""ComputedModule: base class of modules that delegate computation to another object."""

from typing import Any

from gluonish.io.data_iter import DataDesc
from gluonish.metric import EvalMetric
from gluonish.module.base_module import BaseModule


class ComputedModule(BaseModule):
    """Base of modules that delegate: `Module` to its executors, `BucketingModule` to a bucket.

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
