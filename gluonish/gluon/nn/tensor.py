"""Types and argument checks of layers."""

from collections.abc import Iterable, Sequence
from typing import SupportsFloat, SupportsIndex

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol

Tensor = NDArray | Symbol  # input of a layer: values when it runs, Symbols while it is traced
Extents = int | Sequence[int]
_MOST_AXES = 8
_PADDINGS = {
    "same": "; (kernel_size - 1) // 2 keeps the size of the data, with an odd kernel and strides 1",
    "valid": "; 0 pads nothing",
}


def as_extents(value: Extents, rank: int, what: str, default: int | None = None) -> tuple[int, ...]:
    """Return one number for each spatial axis; a single number is repeated, () means the default.

    Raises:
        ArgumentError: The sequence has the wrong length.
        ArgumentTypeError: ``value`` is neither a number nor a sequence.
    """
    if isinstance(value, int):
        return (value,) * rank
    if isinstance(value, str):
        advice = _PADDINGS.get(value, "")
        raise ArgumentError(f"{what}: expected an int or {rank} ints, got {value!r}{advice}")
    if not isinstance(value, Iterable):
        raise ArgumentTypeError(f"{what}: expected an int or {rank} ints, got {value!r}")
    extents = tuple(value)
    if not extents and default is not None:
        return (default,) * rank
    if len(extents) != rank:
        raise ArgumentError(f"{what}: expected an int or {rank} ints, got {value!r}")
    return extents


def check_ints(layer: str, **numbers: object) -> None:
    """Raise an error if arguments of a layer are not ints.

    Raises:
        ArgumentTypeError: An argument is not an int.
    """
    for name, number in numbers.items():
        if not isinstance(number, SupportsIndex):
            raise ArgumentTypeError(f"{layer}: expected {name} to be an int, got {number!r}")


def check_factors(layer: str, /, **factors: object) -> None:
    """Raise an error if arguments of a layer are neither numbers nor arrays.

    Raises:
        ArgumentTypeError: An argument is neither a number nor an array.
    """
    check_numbers(layer, **{k: x for k, x in factors.items() if not isinstance(x, Tensor)})


def check_layout(layout: str, allowed: Sequence[str], layer: str) -> None:
    """Raise an error if a layer does not support a layout.

    Raises:
        ArgumentError: ``layout`` is not in ``allowed``.
    """
    if layout not in allowed:
        raise ArgumentError(f"{layer}: expected layout {' or '.join(allowed)}, got {layout!r}")


def check_axis(layer: str, axis: object) -> None:
    """Raise an error for an axis that no array has, such as a number of channels.

    Raises:
        ArgumentError: ``axis`` is beyond the largest number of axes.
    """
    if isinstance(axis, int) and not -_MOST_AXES <= axis < _MOST_AXES:
        raise ArgumentError(
            f"{layer}: expected axis to be the axis of the channels, such as 1 or -1, got {axis}; "
            f"their number is inferred, or passed by name: in_channels={axis}"
        )


def check_rate(layer: str, name: str, rate: object) -> None:
    """Raise an error if a probability of dropout is not in [0, 1).

    Raises:
        ArgumentError: The probability is out of range.
        ArgumentTypeError: It is not a number.
    """
    if not isinstance(rate, SupportsFloat):
        raise ArgumentTypeError(f"{layer}: expected {name} to be a number, got {rate!r}")
    if not 0 <= float(rate) < 1:
        raise ArgumentError(f"{layer}: expected {name} in [0, 1), got {rate}")


def check_positive(layer: str, **numbers: object) -> None:
    """Raise an error if arguments of a layer are not ints of at least 1.

    Raises:
        ArgumentError: A number is below 1.
        ArgumentTypeError: An argument is not an int.
    """
    check_ints(layer, **numbers)
    for name, number in numbers.items():
        if int(number) < 1:  # type: ignore[call-overload]  # `check_ints` has seen to it
            raise ArgumentError(f"{layer}: expected {name} of 1 or more, got {number}")
