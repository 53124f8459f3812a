"""Types that layers speak of: what `hybrid_forward` computes with, and extents."""

from collections.abc import Iterable, Sequence
from typing import SupportsIndex

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol

# Values when a layer runs, symbols while it is traced.
Tensor = NDArray | Symbol
Extents = int | Sequence[int]


def as_extents(value: Extents, rank: int, what: str, default: int | None = None) -> tuple[int, ...]:
    """Return one number for each spatial axis; a single number is repeated, and () the default.

    Raises:
        ArgumentError: There are more or fewer.
        ArgumentTypeError: It is neither a number nor a sequence.
    """
    if isinstance(value, int):
        return (value,) * rank
    if not isinstance(value, Iterable):
        raise ArgumentTypeError(f"{what}: expected an int or {rank} of them, got {value!r}")
    extents = tuple(value)
    if not extents and default is not None:
        return (default,) * rank
    if len(extents) != rank:
        raise ArgumentError(f"{what}: expected an int or {rank} of them, got {value!r}")
    return extents


def check_ints(layer: str, **numbers: object) -> None:
    """Raise an error for an argument of a layer that is not an int.

    Raises:
        ArgumentTypeError: naming the first.
    """
    for name, number in numbers.items():
        if not isinstance(number, SupportsIndex):
            raise ArgumentTypeError(f"{layer}: expected {name} to be an int, got {number!r}")


def check_factors(owner: str, /, **given: object) -> None:
    """Refuse arguments that are neither numbers nor arrays of them.

    Args:
        owner: Whose arguments they are, for the message.
        **given: The arguments by name.

    Raises:
        ArgumentTypeError: One is neither.
    """
    check_numbers(owner, **{k: x for k, x in given.items() if not isinstance(x, Tensor)})


def check_layout(layout: str, allowed: Sequence[str], layer: str) -> None:
    """Refuse a layout that a layer does not have.

    Raises:
        ArgumentError: naming those that it has.
    """
    if layout not in allowed:
        raise ArgumentError(f"{layer}: expected layout {' or '.join(allowed)}, got {layout!r}")
