"""Keys of a Module's optimizer states: names of weights in a store, integers without one.

Without a store the key of weight i on device d is ``i * devices + d``, as in MXNet. A file saved
with another number of devices, or with a store, has other keys.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gluonish.ndarray import NDArray
from gluonish.optimizer.base import Index, State
from gluonish.optimizer.rule_optimizer import state_arrays

# Shapes of weights by name; None for weights without gradient. Other weights are missing.
Shapes = Mapping[str, tuple[int, ...] | None]


class LoadedStates(dict[Index, State]):
    """Optimizer states from a file, which can be looked up by the file's keys and those in use.

    Args:
        found: States by the file's keys.
        adopted: The same states by the keys in use.
    """

    def __init__(self, found: Mapping[Index, State], adopted: dict[Index, State]) -> None:
        super().__init__(found)
        self.adopted = adopted

    def __missing__(self, key: Index) -> State:
        return self.adopted[key]


def numbers_of(names: Sequence[str], devices: int) -> dict[int, str]:
    """Return the names of weights by the optimizer's indices.

    Args:
        names: Names of the weights.
        devices: Number of devices.
    """
    return {i * devices + device: name for device in range(devices) for i, name in enumerate(names)}


def keyed(
    found: Mapping[Index, Any],
    names: Sequence[str],
    devices: int,
    target: int | None,
    copy: Callable[[Any], Any],
) -> dict[Index, Any]:
    """Convert the keys of values to keys for another number of devices, or to names.

    Additional devices get copies of the first device's values.

    Args:
        found: Values by the keys of a file, names or integers.
        names: Names of all weights.
        devices: Number of devices that the file's integer keys are for.
        target: Number of devices that the new keys are for; None for names, as in a store.
        copy: Copies a value for another device.
    """
    numbers = {name: i for i, name in enumerate(names)}
    by_name: dict[str, dict[int, Any]] = {}
    rekeyed: dict[Index, Any] = {}
    for key, value in found.items():
        if isinstance(key, int) and key // devices < len(names):
            by_name.setdefault(names[key // devices], {})[key % devices] = value
        elif isinstance(key, str) and key in numbers:
            by_name.setdefault(key, {})[0] = value
        else:
            rekeyed[key] = value
    for name, values in by_name.items():
        first = values[min(values)]
        if target is None:
            rekeyed[name] = first
            continue
        for device in range(target):
            own = values.get(device)
            if device not in values:
                own = first if device == 0 else copy(first)
            rekeyed[numbers[name] * target + device] = own
    return rekeyed


def devices_of(
    states: Mapping[Index, State], names: Sequence[str], own: int, shapes: Shapes
) -> int:
    """Infer the number of devices of a file's integer keys, which MXNet's files do not store.

    Args:
        states: The file's states; keys that are names are ignored.
        names: Names of all weights.
        own: The number of devices in use, preferred if others fit no better.
        shapes: Known shapes of weights.
    """
    numbers = [key for key in states if isinstance(key, int)]
    found = [
        (fit, devices == own, -devices)
        for devices in _divisors(len(numbers))
        if (fit := _fit(states, numbers, devices, names, shapes)) is not None
    ]
    return -max(found)[2] if found else own


def _divisors(count: int) -> Iterator[int]:
    return (number for number in range(1, count + 1) if count % number == 0)


def _fit(
    states: Mapping[Index, State],
    numbers: Sequence[int],
    devices: int,
    names: Sequence[str],
    shapes: Shapes,
) -> tuple[int, int] | None:
    """Return how well keys fit a number of devices, larger is better; None if they do not fit."""
    weights = {number // devices for number in numbers}
    if len(numbers) != len(weights) * devices or max(weights) >= len(names):
        return None
    wrong = 0
    for number in numbers:
        shape = shapes.get(names[number // devices])
        arrays = _arrays(states[number])
        wrong += shape is not None and any(array.shape != shape for array in arrays)
    with_states = {names[i] for i in weights}
    trained = sum((name in with_states) == (shape is not None) for name, shape in shapes.items())
    return -wrong, trained


def _arrays(state: State) -> list[NDArray]:
    if isinstance(state, tuple | list):
        return [array for item in state for array in _arrays(item)]
    return [array for array in state_arrays(state) if isinstance(array, NDArray)]


def copied(state: Any) -> Any:
    """Return a deep copy of a state, as devices must not share arrays."""
    if isinstance(state, tuple | list):
        return type(state)(copied(item) for item in state)
    return state.copy() if isinstance(state, NDArray | dict) else state
