"""Steps of training as `mx.model` has them for loops of a program's own, over stores."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.kvstore import KVStoreBase
from gluonish.module.weight_updates import choose_store
from gluonish.ndarray import NDArray

__all__ = ["create_store", "initialize_store", "update_by_updater", "update_in_store"]

Columns = Sequence[Sequence[NDArray | None]]


def create_store(
    kvstore: str | KVStoreBase | None, num_device: int, arg_params: Mapping[str, NDArray]
) -> tuple[KVStoreBase | None, bool]:
    """Return a store, None where nothing is to be combined; and whether it updates the weights.

    Args:
        kvstore: Name of a store, a store, or None.
        num_device: How many devices there are.
        arg_params: The weights by name.

    Raises:
        ArgumentTypeError: ``kvstore`` is something else.
        ArgumentError: There is no such store.
    """
    return choose_store(kvstore, num_device, arg_params)


def initialize_store(
    kvstore: Any,
    param_arrays: Sequence[Sequence[NDArray]],
    arg_params: Mapping[str, NDArray],
    param_names: Sequence[str],
    update_on_kvstore: bool,
) -> None:
    """Give a store the first value of each weight, and with its updates all devices the store's.

    Args:
        kvstore: The store.
        param_arrays: For each weight, its array on each device.
        arg_params: The first values by name.
        param_names: The weights' names.
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
    """Push gradients to a store that updates the weights, and pull these.

    Args:
        param_arrays: For each weight, its array on each device.
        grad_arrays: For each weight, its gradient on each device; weights without are left out.
        kvstore: The store.
        param_names: The weights' names.
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
    """Update weights on their devices, by gradients that a store has added up if there is one.

    Args:
        param_arrays: For each weight, its array on each device.
        grad_arrays: For each weight, its gradient on each device; weights without are left out.
        updater: Called with a number, a gradient and a weight; see `optimizer.get_updater`. The
            number of weight i on device k is ``i * num_device + k``.
        num_device: How many devices there are.
        kvstore: The store, or None.
        param_names: The weights' names in the store; None for their numbers.
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
