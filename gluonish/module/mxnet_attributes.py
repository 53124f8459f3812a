"""Private attributes of MXNet's modules that programs read."""

from typing import Any

from gluonish.io.data_iter import DataDesc
from gluonish.kvstore import KVStoreBase
from gluonish.module.checkpoint import Weights
from gluonish.module.descriptions import Requests
from gluonish.module.executor_group import DataParallelExecutorGroup
from gluonish.module.python_module import ComputedModule
from gluonish.module.weight_updates import WeightUpdates
from gluonish.ndarray import NDArray
from gluonish.optimizer import Optimizer


class ModuleAttributes(ComputedModule):
    """Private attributes of `Module` that MXNet programs read."""

    _weights: Weights
    _exec_group: DataParallelExecutorGroup | None
    _updates: WeightUpdates | None
    _states_file: str | None = None  # loaded by `init_optimizer`
    _grad_req: Requests | None = None  # the argument of `bind`

    @property
    def _arg_params(self) -> dict[str, NDArray] | None:
        """The weights on the CPU by name, as `get_params` last gathered them; None at first."""
        return self._weights.arguments if self.params_initialized else None

    @property
    def _aux_params(self) -> dict[str, NDArray] | None:
        """The auxiliary states on the CPU by name, as `get_params` last gathered them."""
        return self._weights.auxiliary if self.params_initialized else None

    @property
    def _params_dirty(self) -> bool:
        """Whether the devices have newer weights."""
        return self._weights.stale

    @property
    def _optimizer(self) -> Optimizer | None:
        """The optimizer."""
        return None if self._updates is None else self._updates.optimizer

    @property
    def _kvstore(self) -> KVStoreBase | None:
        """The store that adds up gradients, if there is one."""
        return None if self._updates is None else self._updates.store

    @property
    def _update_on_kvstore(self) -> bool | None:
        """Whether the store updates the weights; None before there is an optimizer."""
        return None if self._updates is None else self._updates.in_store

    @property
    def _updater(self) -> Any:
        """The updater of the weights; None if the store updates them."""
        return None if self._updates is None else self._updates._updater

    @property
    def _preload_opt_states(self) -> str | None:
        """The file of optimizer states that `init_optimizer` will load."""
        return self._states_file

    @property
    def _data_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the data; None before the module is bound."""
        return None if self._exec_group is None else self._exec_group.data_shapes

    @property
    def _label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels; None before the module is bound, or without labels."""
        return None if self._exec_group is None else self._exec_group.label_shapes


class BucketingAttributes(ComputedModule):
    """Private attributes of `BucketingModule` that programs read; most are its arguments."""

    _settings: dict[str, Any]

    @property
    def _curr_module(self) -> Any:
        """The current bucket's module."""
        raise NotImplementedError

    @property
    def _context(self) -> Any:
        """The device, or the list of devices."""
        return self._settings["context"]

    @property
    def _work_load_list(self) -> Any:
        """The loads of the devices."""
        return self._settings["work_load_list"]

    @property
    def _fixed_param_names(self) -> list[str]:
        """Names of weights that are not trained."""
        return list(self._settings["fixed_param_names"] or ())

    @property
    def _state_names(self) -> list[str]:
        """Names of arguments that are states."""
        return list(self._settings["state_names"] or ())

    @property
    def _group2ctxs(self) -> Any:
        """Devices of each ``ctx_group``."""
        return self._settings["group2ctxs"]

    @property
    def _compression_params(self) -> Any:
        """The parameters of gradient compression."""
        return self._settings["compression_params"]

    @property
    def _params_dirty(self) -> bool:
        """Whether the devices have newer weights than `get_params` last gathered."""
        module = self._curr_module
        return False if module is None else bool(module._params_dirty)
