"""SequentialModule: a chain of modules, each of which reads the outputs of the previous one."""

import copy
import logging
from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.initializer import Initializer, Uniform
from gluonish.io.data_iter import DataDesc
from gluonish.metric import EvalMetric
from gluonish.module.base_module import BaseModule
from gluonish.module.descriptions import Requests
from gluonish.module.interface import RATE, ModuleInterface, OptimizerParams, Params
from gluonish.module.monitor import Monitor
from gluonish.ndarray import NDArray

__all__ = ["SequentialModule"]


class SequentialModule(BaseModule):
    """A chain of modules; each reads the outputs of the previous one.

    Args:
        logger: Logger for messages.

    Attributes:
        META_TAKE_LABELS: Name of the option of `add` for a module that reads the batch's labels.
        META_AUTO_WIRING: Name of the option of `add` for a module whose data are matched to the
            previous outputs by position rather than by name.
    """

    META_TAKE_LABELS = "take_labels"
    META_AUTO_WIRING = "auto_wiring"

    def __init__(self, logger: Any = logging) -> None:
        super().__init__(logger=logger)
        self._modules: list[BaseModule] = []
        self._metas: list[dict[str, Any]] = []
        self._label_shapes: Sequence[Any] | None = None

    def add(self, module: BaseModule, **kwargs: Any) -> "SequentialModule":
        """Append a module; the chain must be bound again afterwards.

        Args:
            module: The module.
            **kwargs: ``take_labels=True`` and ``auto_wiring=True``; see the class's attributes.

        Returns:
            The chain itself, so that calls can be chained.

        Raises:
            ArgumentTypeError: ``module`` is not a module, or an option is unknown.
        """
        if not isinstance(module, BaseModule):
            raise ArgumentTypeError(f"add: expected a module, got {type(module).__name__}")
        options = (self.META_TAKE_LABELS, self.META_AUTO_WIRING)
        unknown = [name for name in kwargs if name not in options]
        if unknown:
            raise ArgumentTypeError(f"add: expected options among {options}, got {unknown[0]!r}")
        self._modules.append(module)
        self._metas.append(kwargs)
        self.binded = self.params_initialized = self.optimizer_initialized = False
        return self

    @property
    def data_names(self) -> Sequence[str]:
        """Names of the first module's data inputs."""
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self) -> Sequence[str]:
        """Names of the last module's outputs."""
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self) -> Sequence[DataDesc]:
        """Descriptions of the first module's data."""
        self._expect_bound("data_shapes")
        return self._modules[0].data_shapes

    @property
    def label_shapes(self) -> Sequence[Any] | None:
        """Descriptions of the labels passed to `bind`; None if no module reads them."""
        self._expect_bound("label_shapes")
        return self._label_shapes

    @property
    def output_shapes(self) -> Sequence[tuple[str, tuple[int, ...]]]:
        """Pairs (name, shape) of the last module's outputs."""
        self._expect_bound("output_shapes")
        return self._modules[-1].output_shapes

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Return the weights and the auxiliary states of all modules, two dicts by name."""
        self._expect_weights("get_params")
        arguments: dict[str, NDArray] = {}
        auxiliary: dict[str, NDArray] = {}
        for module in self._modules:
            own = module.get_params()
            arguments.update(own[0])
            auxiliary.update(own[1])
        return arguments, auxiliary

    def init_params(
        self,
        initializer: Initializer | None = Uniform(0.01),  # noqa: B008  # holds no state
        arg_params: Params = None,
        aux_params: Params = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Initialize weights and auxiliary states of all modules; see `Module.init_params`.

        Raises:
            ArgumentError: Two modules have weights of the same name.
        """
        if self.params_initialized and not force_init:
            self._warn_initialized("init_params")
            return
        self._expect_bound("init_params")
        owners: dict[str, int] = {}
        for i, module in enumerate(self._modules):
            module.init_params(
                initializer, arg_params, aux_params, allow_missing, force_init, allow_extra
            )
            for name in (name for named in module.get_params() for name in named):
                if name in owners:
                    raise ArgumentError(
                        f"init_params: expected distinct names in all modules, got {name!r} in "
                        f"modules {owners[name]} and {i}"
                    )
                owners[name] = i
        self.params_initialized = True

    def set_params(
        self,
        arg_params: Params,
        aux_params: Params,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Set weights and auxiliary states of all modules; see `Module.set_params`.

        Names that no module has are always ignored, as in MXNet.
        """
        self._expect_bound("set_params")
        for module in self._modules:
            module.set_params(arg_params, aux_params, allow_missing, force_init, allow_extra=True)
        self.params_initialized = True

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
        """Bind all modules, each to the output shapes of the previous one; see `Module.bind`.

        Raises:
            ArgumentError: There are no modules, ``shared_module`` is passed, or names do not match.
        """
        if self._is_rebind_ignored(force_rebind):
            return
        if inputs_need_grad and not for_training:
            raise ArgumentError(
                "bind: expected inputs_need_grad=False with for_training=False, got True"
            )
        if shared_module is not None:
            raise ArgumentError("SequentialModule.bind: expected shared_module=None, got one")
        if not self._modules:
            raise ArgumentError("SequentialModule.bind: expected modules, got none; call add first")
        labelled = any(meta.get(self.META_TAKE_LABELS) for meta in self._metas)
        shapes: Sequence[Any] = data_shapes
        for i, (module, meta) in enumerate(zip(self._modules, self._metas, strict=True)):
            if meta.get(self.META_AUTO_WIRING):
                shapes = _renamed(module.data_names, shapes)
            module.bind(
                shapes,
                label_shapes if meta.get(self.META_TAKE_LABELS) else None,
                for_training,
                # All modules but the first pass gradients to the previous one.
                inputs_need_grad or (for_training and i > 0),
                force_rebind,
                grad_req=grad_req,
            )
            shapes = module.output_shapes
        self._label_shapes = label_shapes if labelled else None
        self.binded, self.for_training = True, for_training
        self.inputs_need_grad = inputs_need_grad

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: OptimizerParams = RATE,
        force_init: bool = False,
    ) -> None:
        """Create an optimizer for each module; see `Module.init_optimizer`."""
        self._expect_weights("init_optimizer")
        if self._is_reinit_ignored(force_init):
            return
        for module in self._modules:
            module.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        self.optimizer_initialized = True

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs of all modules, one after another; see `Module.forward`."""
        self._expect_weights("forward")
        batch = copy.copy(data_batch)  # only its lists are replaced
        for i, module in enumerate(self._modules):
            if i:
                before = self._modules[i - 1]
                batch.data = before.get_outputs()
                names = [name for name, _ in before.output_shapes]
                if self._metas[i].get(self.META_AUTO_WIRING):
                    names = list(module.data_names)
                pairs = zip(names, batch.data, strict=True)
                batch.provide_data = [DataDesc(name, x.shape, x.dtype) for name, x in pairs]
            module.forward(batch, is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradients of all modules, from the last to the first.

        Args:
            out_grads: Gradients of the last module's outputs; None if they are losses.
        """
        self._expect_weights("backward")
        for i in reversed(range(len(self._modules))):
            self._modules[i].backward(out_grads)
            if i:
                out_grads = self._modules[i].get_input_grads()

    def update(self) -> None:
        """Update the weights of all modules."""
        self._expect_optimizer("update")
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the outputs of the last module; see `Module.get_outputs`."""
        self._expect_weights("get_outputs")
        return self._modules[-1].get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the gradients of the first module's data; see `Module.get_input_grads`."""
        self._expect_weights("get_input_grads")
        return self._modules[0].get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric: EvalMetric, labels: Any, pre_sliced: bool = False) -> None:
        """Update a metric with the outputs of each module that reads labels.

        Args:
            eval_metric: The EvalMetric.
            labels: Labels of the batch, a list of arrays.
            pre_sliced: See `Module.update_metric`.
        """
        self._expect_weights("update_metric")
        for module, meta in zip(self._modules, self._metas, strict=True):
            if meta.get(self.META_TAKE_LABELS):
                module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Monitor) -> None:
        """Install a `Monitor` on the executors of all modules.

        Args:
            mon: The monitor.
        """
        self._expect_bound("install_monitor")
        for module in self._modules:
            module.install_monitor(mon)


def _renamed(names: Sequence[str], shapes: Sequence[Any]) -> list[DataDesc]:
    """Return descriptions with a module's data names."""
    if len(names) != len(shapes):
        raise ArgumentError(
            f"bind: expected {len(names)} outputs for {list(names)}, got {len(shapes)}"
        )
    return [
        DataDesc(name, desc[1], *((desc.dtype, desc.layout) if isinstance(desc, DataDesc) else ()))
        for name, desc in zip(names, shapes, strict=True)
    ]
