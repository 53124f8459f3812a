"""Functions of `mx.model` for custom training loops: create a store, update weights."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.kvstore import KVStoreBase
from gluonish.module.weight_updates import choose_store
from gluonish.ndarray import NDArray

Columns = Sequence[Sequence[NDArray | None]]


def create_store(
    kvstore: str | KVStoreBase | None, num_device: int, arg_params: Mapping[str, NDArray]
) -> tuple[KVStoreBase | None, bool]:
    """Return the store, or None if none is needed, and whether it updates the weights.

    Args:
        kvstore: Name of a store, a KVStore, or None.
        num_device: Number of devices.
        arg_params: Weights by name.

    Raises:
        ArgumentTypeError: ``kvstore`` has another type.
        ArgumentError: There is no store of this name.
    """
    return choose_store(kvstore, num_device, arg_params)


def initialize_store(
    kvstore: Any,
    param_arrays: Sequence[Sequence[NDArray]],
    arg_params: Mapping[str, NDArray],
    param_names: Sequence[str],
    update_on_kvstore: bool,
) -> None:
    """Initialize the weights in a store; if it updates them, also copy them to all devices.

    Args:
        kvstore: The store.
        param_arrays: For each weight a list of its arrays, one for each device.
        arg_params: Initial weights by name.
        param_names: Names of the weights.
        update_on_kvstore: Whether the store updates the weights.
    """
    for i, (name, arrays) in enumerate(zip(param_names, param_arrays, strict=True)):
        kvstore.init(name, arg_params[name])
        if update_on_kvstore:
            kvstore.pull(name, list(arrays), priority=-i)


def update_in_store(
    param_arrays: Sequence[Sequence[NDArray]],
    grad_arrays: Columns,
    kvstore: Any,
    param_names: Sequence[str],
) -> None:
    """Push gradients to a store that updates the weights, and pull the updated weights.

    Args:
        param_arrays: For each weight a list of its arrays, one for each device.
        grad_arrays: The same for gradients; weights without gradients are skipped.
        kvstore: The store.
        param_names: Names of the weights.
    """
    for i, (name, arrays, gradients) in enumerate(
        zip(param_names, param_arrays, grad_arrays, strict=True)
    ):
        if gradients[0] is not None:
            kvstore.push(name, list(gradients), priority=-i)
            kvstore.pull(name, list(arrays), priority=-i)


def update_by_updater(
    param_arrays: Sequence[Sequence[NDArray]],
    grad_arrays: Columns,
    updater: Any,
    num_device: int,
    kvstore: Any = None,
    param_names: Sequence[str] | None = None,
) -> None:
    """Update the weights on their devices, after a store, if any, has added up the gradients.

    Args:
        param_arrays: For each weight a list of its arrays, one for each device.
        grad_arrays: The same for gradients; weights without gradients are skipped.
        updater: Function that takes an index, a gradient and a weight; see `optimizer.get_updater`.
            The index of weight i on device k is ``i * num_device + k``.
        num_device: Number of devices.
        kvstore: The store, or None.
        param_names: Names of the weights in the store; None for their indices.
    """
    for i, (arrays, gradients) in enumerate(zip(param_arrays, grad_arrays, strict=True)):
        if gradients[0] is None:
            continue
        if kvstore is not None:
            key = i if param_names is None else param_names[i]
            kvstore.push(key, list(gradients), priority=-i)
            kvstore.pull(key, list(gradients), priority=-i)
        for k, (weight, gradient) in enumerate(zip(arrays, gradients, strict=True)):
            updater(i * num_device + k, gradient, weight)
