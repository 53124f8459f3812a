"""Weights: what a Module gives to its users, and shares with the modules bound to it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError
from gluonish.initializer import InitDesc, Initializer
from gluonish.ndarray import NDArray, zeros

__all__ = ["Weights", "first_values"]


class MissingWeightError(ArgumentError, RuntimeError):
    """One of the given weights is missing; MXNet raises a RuntimeError."""


class Weights:
    """Weights and auxiliary states on the CPU, by name.

    Attributes:
        arguments: The weights.
        auxiliary: The auxiliary states.
        stale: Whether the devices have newer values.
    """

    def __init__(
        self,
        arguments: Mapping[str, NDArray] | None = None,
        auxiliary: Mapping[str, NDArray] | None = None,
    ) -> None:
        self.arguments = dict(arguments or {})
        self.auxiliary = dict(auxiliary or {})
        self.stale = False


def first_values(
    arrays: Mapping[str, Sequence[NDArray]],
    given: Mapping[str, NDArray] | None,
    initializer: Initializer | Callable[..., Any] | None,
    attributes: Mapping[str, dict[str, Any]],
    *,
    allow_missing: bool,
) -> dict[str, NDArray]:
    """Return initial values: the given ones, and for the others what an initializer returns.

    Random numbers are drawn in the order of sorted names, as in MXNet.

    Args:
        arrays: The arrays on the devices, by name.
        given: Given values by name; None initializes all.
        initializer: Called with an `InitDesc` and an array; None keeps the current values.
        attributes: Attributes of the network's variables.
        allow_missing: Whether ``given`` may lack some weights.

    Raises:
        ArgumentError: A weight is missing, or a shape differs.
    """
    found = {}
    for name in sorted(arrays):
        on_device = arrays[name][0]
        value = None if given is None else given.get(name)
        if value is not None:
            if value.shape != on_device.shape:
                raise ArgumentError(
                    f"init_params: expected {name} of shape {on_device.shape}, got {value.shape}"
                )
            found[name] = value.detach().astype(on_device.dtype).as_in_context(cpu())
            continue
        if given is not None and not allow_missing:
            raise MissingWeightError(
                f"init_params: expected {name} among the weights, got {sorted(given)}; pass "
                "allow_missing=True to initialize it"
            )
        if initializer is None:
            if given is None:
                raise ArgumentError(f"init_params: expected an initializer for {name}, got None")
            found[name] = on_device.detach().copyto(cpu())
            continue
        found[name] = zeros(on_device.shape, cpu(), on_device.dtype)
        initializer(InitDesc(name, attributes.get(name)), found[name])
    return {name: found[name].tostype(row[0].stype) for name, row in arrays.items()}
