"""WeightUpdates: a Module's optimizer with its states, in a kvstore or on the devices."""

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gluonish.core.config import MXNET_UPDATE_ON_KVSTORE
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.files import atomic_write, open_to_read
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.gluon.trainer.store_choice import weights_per_call
from gluonish.kvstore import KVStore, KVStoreBase, create
from gluonish.module.state_keys import LoadedStates, Shapes, copied, devices_of, keyed
from gluonish.ndarray import NDArray
from gluonish.optimizer import Optimizer, Updater, get_updater
from gluonish.optimizer import create as create_optimizer
from gluonish.optimizer.states import load_states, pack_setting, unpack_setting
from gluonish.symbol import Symbol

# Larger weights are not updated in a store on the CPU, which would take longer.
_LARGE = 16 << 20

Columns = Sequence[Sequence[Any]]


class _Member(NamedTuple):
    """A weight that has a gradient, with the arrays of both on each device."""

    number: int
    name: str
    weights: list[NDArray]
    gradients: list[NDArray]


class WeightUpdates:
    """Updates the weights of a module, and of modules that share its weights.

    Args:
        names: Names of the weights, which are their keys in the store.
        devices: Number of devices.
        optimizer: The optimizer.
        store: Store that adds up the gradients of several devices; None for none.
        in_store: Whether the store updates the weights.
        compression: Parameters of `KVStore.set_gradient_compression`; empty for none.

    Attributes:
        optimizer: The optimizer.
        store: The store, or None.
        in_store: Whether the store updates the weights.

    Raises:
        ArgumentError: The store does not support gradient compression.
    """

    def __init__(
        self,
        names: Sequence[str],
        devices: int,
        optimizer: Optimizer,
        store: KVStoreBase | None,
        in_store: bool,
        compression: Mapping[str, Any] | None,
    ) -> None:
        self._numbers = {name: i for i, name in enumerate(names)}
        self._devices = devices
        self.optimizer = optimizer
        self.store = store
        self.in_store = in_store
        self._updater = None if in_store else get_updater(optimizer)
        # The arrays of the last update, and the calls prepared for them.
        self._arrays: tuple[Columns, Columns] | None = None
        self._members: list[_Member] = []
        self._calls: list[tuple[Any, Any, Any]] = []
        if store is None:
            return
        if compression:
            compress = getattr(store, "set_gradient_compression", None)
            if compress is None:
                raise ArgumentError(
                    "Module: expected compression_params=None with a "
                    f"{type(store).__name__}, which has no gradient compression"
                )
            compress(compression)
        if in_store:
            store.set_optimizer(optimizer)

    def begin(self, arrays: Columns, weights: Mapping[str, NDArray]) -> None:
        """Initialize the weights in the store, and copy the store's weights to all devices.

        Args:
            arrays: For each weight a list of its arrays, one for each device.
            weights: Initial weights by name.
        """
        if self.store is not None:
            for i, (name, on_devices) in enumerate(zip(self._numbers, arrays, strict=True)):
                self.store.broadcast(name, weights[name], list(on_devices), priority=-i)

    def overwrite(self, weights: Mapping[str, NDArray]) -> None:
        """Replace the weights in a store that updates them.

        Args:
            weights: New weights by name.
        """
        if self.in_store and isinstance(self.store, KVStore):
            for name, value in weights.items():
                self.store._overwrite(name, value)

    def check(self, names: Sequence[str]) -> None:
        """Check that this object updates all weights of a module.

        Args:
            names: Names of the module's weights.

        Raises:
            ArgumentError: A weight is unknown.
        """
        unknown = [name for name in names if name not in self._numbers]
        if unknown:
            raise ArgumentError(
                f"borrow_optimizer: expected weights among {list(self._numbers)}, got {unknown[0]}"
            )

    def update(self, names: Sequence[str], arrays: Columns, gradients: Columns) -> None:
        """Update the weights on all devices.

        Args:
            names: Names of the weights to update: all or some of the constructor's ``names``.
            arrays: For each weight a list of its arrays, one for each device.
            gradients: The same for gradients; None for weights without a gradient.
        """
        self._adopt_loaded()
        last = self._arrays
        if last is None or last[0] is not arrays or last[1] is not gradients:
            self._arrays = (arrays, gradients)
            self._members = [
                _Member(self._numbers[name], name, list(weights), list(slopes))
                for name, weights, slopes in zip(names, arrays, gradients, strict=True)
                if slopes[0] is not None
            ]
            self._calls = [self._call(device) for device in range(self._devices)]
        if not self._members:
            return
        if self.in_store:
            self._update_in_store()
        else:
            self._update_on_devices()

    def _call(self, device: int) -> tuple[Any, Any, Any]:
        """Return the arguments of an updater: indices, gradients and weights of a device.

        An updater reuses its prepared call if it is called with the same tuples.
        """
        return (
            tuple(member.number * self._devices + device for member in self._members),
            tuple(member.gradients[device] for member in self._members),
            tuple(member.weights[device] for member in self._members),
        )

    def _update_in_store(self) -> None:
        """Push gradients to the store and pull new weights, several per call if possible."""
        assert self.store is not None
        size = weights_per_call(self.store, self.optimizer)
        for start in range(0, len(self._members), size):
            group = self._members[start : start + size]
            priority = -group[0].number
            if len(group) == 1:
                name, weights, gradients = group[0].name, group[0].weights, group[0].gradients
                self.store.pushpull(name, gradients, out=weights, priority=priority)
                continue
            self.store.pushpull(
                [member.name for member in group],
                [member.gradients for member in group],
                out=[member.weights for member in group],
                priority=priority,
            )

    def _update_on_devices(self) -> None:
        """Add up gradients in the store, if there is one, and update each device's weights.

        The optimizer's index of a weight is ``i * devices + device``, as in MXNet.
        """
        assert self._updater is not None
        if self.store is not None:
            for member in self._members:
                self.store.pushpull(member.name, member.gradients, priority=-member.number)
        for call in self._calls:
            self._updater(*call)

    def save_states(self, fname: str | os.PathLike[str]) -> None:
        """Save the optimizer's states to a file, atomically.

        Args:
            fname: Path of the file.
        """
        self._adopt_loaded()
        updater = self._owned_updater()
        progress = updater.optimizer._progress() | {
            "devices": 1 if self.in_store else self._devices
        }
        data = updater._dump(None, None if follows_mxnet() else pack_setting(progress))
        with atomic_write(fname) as file:
            file.write(data)

    def load_states(self, fname: str | os.PathLike[str], shapes: Shapes | None = None) -> None:
        """Load what `save_states` saved, with or without a store, on any number of devices.

        A store saves states by name, otherwise the keys are indices of weights and devices; both
        are accepted. MXNet accepts only the keys it would save itself, and otherwise silently
        starts with new states, or with states of other weights. Until the next update the updater's
        states can be looked up by the file's keys, as in MXNet, and by the keys in use.

        Under the name ``mxnet`` the optimizer's update count is unchanged, as in MXNet, whose
        programs shorten their schedules; otherwise it continues from the file's count.

        Args:
            fname: Path of the file.
            shapes: Known shapes of weights; None for weights without gradient.

        Raises:
            MissingFileError: The file does not exist.
            FileFormatError: The file does not contain optimizer states.
        """
        updater = self._owned_updater()
        with open_to_read(fname, "load_optimizer_states") as file:
            content = load_states(file.read(), os.fspath(fname))
        updater._restore(content, os.fspath(fname))
        names, progress = list(self._numbers), content.progress or {}
        devices = progress.get("devices") or devices_of(
            updater.states, names, self._devices, shapes or {}
        )
        updater.states = LoadedStates(updater.states, self._keyed(updater.states, devices))
        if progress and not follows_mxnet():
            weights = self._keyed(unpack_setting(progress["weights"]), devices)
            updater.optimizer._resume(progress | {"weights": weights})
            _catch_up(updater.optimizer)

    def _adopt_loaded(self) -> None:
        """Convert the keys of loaded states to keys for these devices, or for the store."""
        updater = self._updater if self._updater is not None else self._in_store_updater()
        if isinstance(updater, Updater) and isinstance(updater.states, LoadedStates):
            updater.states = updater.states.adopted
            updater.states_synced = dict.fromkeys(updater.states, False)

    def _keyed(self, found: Mapping[Any, Any], devices: int) -> dict[Any, Any]:
        """Convert keys of weights to keys for these devices, or for the store."""
        target = None if self.in_store else self._devices
        return keyed(found, list(self._numbers), devices, target, copied)

    def _in_store_updater(self) -> Any:
        return getattr(self.store, "_updater", None)

    def _owned_updater(self) -> Updater:
        updater = self._in_store_updater() if self.in_store else self._updater
        if not isinstance(updater, Updater):
            raise ArgumentError(
                "Module: expected a store with readable optimizer states, got "
                f"{type(self.store).__name__}"
            )
        return updater


def _catch_up(optimizer: Optimizer) -> None:
    """Advance a new scheduler to its last rate if the update count is past the scheduler's end."""
    last = getattr(optimizer.lr_scheduler, "max_update", None)
    if isinstance(last, int) and callable(optimizer.lr_scheduler) and optimizer.num_update >= last:
        optimizer.lr_scheduler(last)


def made_optimizer(
    optimizer: str | Optimizer,
    arguments: Mapping[str, Any],
    scale: float,
    numbers: dict[int, str],
    symbol: Symbol,
) -> Optimizer:
    """Create an optimizer by its name; an Optimizer is returned as it is.

    Args:
        optimizer: The name, or the Optimizer.
        arguments: Arguments of the optimizer, if it is a name.
        scale: Default of ``rescale_grad``, 1 / batch size.
        numbers: Names of weights by index.
        symbol: The network.

    Raises:
        ArgumentError: There is no optimizer of this name.
        ArgumentTypeError: ``optimizer`` has another type.
    """
    if isinstance(optimizer, str):
        settings = {"rescale_grad": scale, **arguments}
        return create_optimizer(optimizer, sym=symbol, param_idx2name=numbers, **settings)
    if not isinstance(optimizer, Optimizer):
        raise ArgumentTypeError(
            f"init_optimizer: expected an Optimizer or a name, got {optimizer!r}"
        )
    if optimizer.rescale_grad != scale:
        warnings.warn(
            f"init_optimizer: expected an Optimizer with rescale_grad={scale}, which is 1 / "
            f"batch size, got {optimizer.rescale_grad}; is this intended?",
            UserWarning,
            stacklevel=3,
        )
    if not optimizer.idx2name:
        optimizer.idx2name = dict(numbers)
    return optimizer


def choose_store(
    kvstore: str | KVStoreBase | None, devices: int, weights: Mapping[str, NDArray]
) -> tuple[KVStoreBase | None, bool]:
    """Return the store, or None if none is needed, and whether it updates the weights.

    Args:
        kvstore: Name of a store, a KVStore, or None.
        devices: Number of devices.
        weights: Weights by name.

    Raises:
        ArgumentTypeError: ``kvstore`` has another type.
        ArgumentError: A store is needed, and there is none of this name.
    """
    if kvstore is None:
        return None, False
    store: KVStoreBase | None = None
    if isinstance(kvstore, str):
        if devices > 1 or "dist" in kvstore:
            store = create(kvstore)
    elif isinstance(kvstore, KVStoreBase):
        store = kvstore
    else:
        raise ArgumentTypeError(
            f"init_optimizer: expected kvstore to be a KVStore, a name or None, got {kvstore!r}"
        )
    if store is None or not store.is_capable(KVStoreBase.OPTIMIZER):
        return store, False
    large = kvstore == "local" and any(x.size > _LARGE for x in weights.values())
    return store, MXNET_UPDATE_ON_KVSTORE.value and not large
