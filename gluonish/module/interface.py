"""ModuleInterface: the interface of modules, and the state that their methods check."""

import contextlib
import logging
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.core.object_repr import object_repr
from gluonish.initializer import Initializer, Uniform
from gluonish.io.data_iter import DataDesc
from gluonish.metric import EvalMetric
from gluonish.module.descriptions import Requests, expect
from gluonish.module.monitor import Monitor
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol

Params = Mapping[str, NDArray] | None
OptimizerParams = Mapping[str, Any] | Sequence[tuple[str, Any]]
RATE: OptimizerParams = (("learning_rate", 0.01),)


class ModuleInterface:
    """Interface of modules; methods that a subclass does not define raise NotSupportedError.

    A subclass defines ``data_names``, ``output_names``, ``data_shapes``, ``label_shapes``,
    ``output_shapes``, `get_params`, `init_params`, `bind`, `init_optimizer`, `forward`, `backward`,
    `update`, `get_outputs`, `get_input_grads`, `update_metric` and `install_monitor`, and sets the
    attributes below.

    Args:
        logger: Logger for messages, or the module `logging`.

    Attributes:
        binded: Whether `bind` was called, so that arrays are allocated.
        for_training: Whether gradients are allocated.
        inputs_need_grad: Whether gradients of the inputs are computed, too.
        params_initialized: Whether there are weights.
        optimizer_initialized: Whether there is an optimizer.
    """

    _total_exec_bytes = 0  # as in MXNet

    def __init__(self, logger: Any = logging) -> None:
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol: Symbol | None = None

    def __repr__(self) -> str:
        facts = {}
        for name in ("data_names", "output_names"):
            with contextlib.suppress(Exception):  # a program's module may not define it
                facts[name] = list(getattr(self, name))
        steps = ("binded", "params_initialized", "optimizer_initialized")
        done = {name: True for name in steps if getattr(self, name, False)}
        return object_repr(self, **facts, **done)

    def _expect_bound(self, what: str) -> None:
        expect(self.binded, f"{type(self).__name__}.{what}", "a bound module", "call bind first")

    def _expect_weights(self, what: str) -> None:
        self._expect_bound(what)
        expect(
            self.params_initialized,
            f"{type(self).__name__}.{what}",
            "a module with weights",
            "call init_params or set_params first",
        )

    def _expect_optimizer(self, what: str) -> None:
        self._expect_weights(what)
        expect(
            self.optimizer_initialized,
            f"{type(self).__name__}.{what}",
            "a module with an optimizer",
            "call init_optimizer first",
        )

    def _warn_initialized(self, what: str) -> None:
        warnings.warn(
            f"{type(self).__name__}.{what}: expected force_init=True for a module that has weights "
            "already, got False; the weights are unchanged",
            UserWarning,
            stacklevel=3,
        )

    def _is_rebind_ignored(self, force_rebind: bool) -> bool:
        """Whether to ignore `bind`, as the module is bound already; if so, log a warning."""
        ignored = self.binded and not force_rebind
        if ignored:
            self.logger.warning("Already bound, ignoring bind()")
        return ignored

    def _is_reinit_ignored(self, force_init: bool) -> bool:
        """Whether to ignore `init_optimizer`, as there is an optimizer; if so, log a warning."""
        ignored = self.optimizer_initialized and not force_init
        if ignored:
            self.logger.warning("optimizer already initialized, ignoring...")
        return ignored

    def _undefined(self, name: str) -> NotSupportedError:
        return NotSupportedError(
            f"{type(self).__name__}: expected a subclass that defines {name}, got none"
        )

    @property
    def symbol(self) -> Symbol | None:
        """The network; None for a module without one."""
        return self._symbol

    @property
    def data_names(self) -> Sequence[str]:
        """Names of the data inputs."""
        raise self._undefined("data_names")

    @property
    def output_names(self) -> Sequence[str]:
        """Names of the outputs."""
        raise self._undefined("output_names")

    @property
    def data_shapes(self) -> Sequence[DataDesc]:
        """Descriptions of the data of a batch."""
        raise self._undefined("data_shapes")

    @property
    def label_shapes(self) -> Sequence[DataDesc] | None:
        """Descriptions of the labels of a batch; None without labels."""
        raise self._undefined("label_shapes")

    @property
    def output_shapes(self) -> Sequence[tuple[str, tuple[int, ...]]]:
        """Pairs (name, shape) of the outputs of a batch."""
        raise self._undefined("output_shapes")

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Return the weights and the auxiliary states, two dicts by name."""
        raise self._undefined("get_params")

    def init_params(
        self,
        initializer: Initializer | None = Uniform(0.01),  # noqa: B008  # holds no state
        arg_params: Params = None,
        aux_params: Params = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Initialize weights and auxiliary states; see `Module.init_params`."""
        raise self._undefined("init_params")

    def set_params(
        self,
        arg_params: Params,
        aux_params: Params,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Set weights and auxiliary states, like `init_params` without an initializer."""
        self.init_params(None, arg_params, aux_params, allow_missing, force_init, allow_extra)

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the states; an empty list for a module without states."""
        self._expect_weights("get_states")
        return []

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Set the states.

        Args:
            states: Arrays of the states.
            value: Number to fill all states with, instead of ``states``.

        Raises:
            ArgumentError: The module has no states.
        """
        self._expect_weights("set_states")
        if states or value:
            raise ArgumentError(
                f"{type(self).__name__}.set_states: expected nothing for a module without states, "
                f"got states={states!r:.40}, value={value}"
            )

    def install_monitor(self, mon: Monitor) -> None:
        """Install a `Monitor` on the module's executors.

        Args:
            mon: The monitor.
        """
        raise self._undefined("install_monitor")

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Prepare for the next batch; call it before `forward`.

        Args:
            data_batch: The batch.
            sparse_row_id_fn: Function that returns the rows of row-sparse weights that the batch
                needs; has no effect, because every device has complete weights.
        """

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs of a batch.

        Args:
            data_batch: The `DataBatch`.
            is_train: Whether to run in training mode; None for ``for_training``.
        """
        raise self._undefined("forward")

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradients.

        Args:
            out_grads: Gradients of the outputs; None if the outputs are losses.
        """
        raise self._undefined("backward")

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the outputs of the last forward pass.

        Args:
            merge_multi_context: Whether to concatenate the devices' slices of each output.
        """
        raise self._undefined("get_outputs")

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the gradients of the data of the last backward pass.

        Args:
            merge_multi_context: Whether to concatenate the devices' slices of each gradient.
        """
        raise self._undefined("get_input_grads")

    def update(self) -> None:
        """Update the weights with the gradients."""
        raise self._undefined("update")

    def update_metric(self, eval_metric: EvalMetric, labels: Any, pre_sliced: bool = False) -> None:
        """Update a metric with the outputs of the last forward pass.

        Args:
            eval_metric: The EvalMetric.
            labels: Labels of the batch, a list of arrays.
            pre_sliced: Whether ``labels`` is instead a list with the labels for each device.
        """
        raise self._undefined("update_metric")

    def bind(
        self,
        data_shapes: Sequence[Any],
        label_shapes: Sequence[Any] | None = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: "ModuleInterface | None" = None,
        grad_req: Requests = "write",
    ) -> None:
        """Allocate arrays for batches of some shapes; see `Module.bind`."""
        raise self._undefined("bind")

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: OptimizerParams = RATE,
        force_init: bool = False,
    ) -> None:
        """Create the optimizer; see `Module.init_optimizer`."""
        raise self._undefined("init_optimizer")
