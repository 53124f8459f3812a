"""SymbolModule: a network with its names and weights."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError
from gluonish.initializer import Initializer, Uniform
from gluonish.module.checkpoint import Weights, first_values
from gluonish.module.descriptions import check_names
from gluonish.module.device_arrays import Groups
from gluonish.module.executor_group import DataParallelExecutorGroup
from gluonish.module.interface import Params
from gluonish.module.mxnet_attributes import ModuleAttributes
from gluonish.module.weight_updates import WeightUpdates
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol


class SymbolModule(ModuleAttributes):
    """Base class of `Module` that manages the network and its weights; takes the same arguments."""

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

    @property
    def data_names(self) -> list[str]:
        """Names of the data inputs."""
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
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Pairs (name, shape) of the outputs of a batch."""
        return self._bound("output_shapes").get_output_shapes()

    def _bound(self, what: str) -> DataParallelExecutorGroup:
        self._expect_bound(what)
        assert self._exec_group is not None
        return self._exec_group

    def _ready(self, what: str) -> DataParallelExecutorGroup:
        self._expect_weights(what)
        return self._bound(what)

    def _computer(self, what: str) -> DataParallelExecutorGroup:
        return self._bound(what)

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Return weights and auxiliary states by name, on the CPU: means over the devices.

        Raises:
            ModuleStateError: There are no weights.
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
        """Initialize weights and auxiliary states.

        Args:
            initializer: Initializer of values that are not supplied.
            arg_params: Weights by name; None initializes all.
            aux_params: Auxiliary states by name; None initializes all.
            allow_missing: Whether to initialize weights that are missing in ``arg_params`` or
                ``aux_params``; otherwise they are an error.
            force_init: Whether to replace existing weights.
            allow_extra: Has no effect, as in MXNet: names that the network does not have are
                ignored.

        Raises:
            ModuleStateError: The module is not bound.
            ArgumentError: A weight is missing, or a shape differs.
        """
        if self.params_initialized and not force_init:
            self._warn_initialized("init_params")
            return
        group = self._bound("init_params")
        attributes = self._symbol.attr_dict()
        values = [
            first_values(
                dict(zip(names, arrays, strict=True)),
                supplied,
                initializer,
                attributes,
                allow_missing=allow_missing,
            )
            for names, arrays, supplied in (
                (self._param_names, group.param_arrays, arg_params),
                (self._aux_names, group.aux_arrays, aux_params),
            )
        ]
        self._replace_weights(group, *values)

    def _replace_weights(
        self,
        group: DataParallelExecutorGroup,
        arguments: Mapping[str, NDArray],
        auxiliary: Mapping[str, NDArray],
    ) -> None:
        """Replace the weights on the CPU, on the devices, and in a store that updates them."""
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

        A store that updates the weights gets the new values, too; in MXNet it keeps the old ones.

        Args:
            arg_params: Weights by name.
            aux_params: Auxiliary states by name.
            allow_missing: Whether weights that are missing keep their values.
            force_init: Whether to replace existing weights.
            allow_extra: With ``allow_missing``, whether to ignore names that the network does not
                have; without ``allow_missing`` they are always ignored, as in MXNet.

        Raises:
            ModuleStateError: The module is not bound.
            ArgumentError: A name is missing or unknown, or a shape differs.
        """
        if self.params_initialized and not force_init:
            self._warn_initialized("set_params")
            return
        self._expect_bound("set_params")
        arguments, auxiliary = dict(arg_params or {}), dict(aux_params or {})
        unknown = [
            name
            for values, names in ((arguments, self._param_names), (auxiliary, self._aux_names))
            for name in values
            if name not in names
        ]
        if unknown and allow_missing and not allow_extra:
            raise ArgumentError(
                f"set_params: expected names among {self._param_names + self._aux_names}, got "
                f"{unknown[0]!r}; pass allow_extra=True to ignore it"
            )
        if self._weights.stale:
            self.get_params()
        self.init_params(None, arguments, auxiliary, allow_missing, force_init=True)
