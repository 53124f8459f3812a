"""Types that layers speak of: what `hybrid_forward` computes with, and extents."""

from collections.abc import Sequence

from gluonish.core.errors import ArgumentError
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol

__all__ = ["Extents", "Tensor", "as_extents", "check_layout"]

# Values when a layer runs, symbols while it is traced.
Tensor = NDArray | Symbol
Extents = int | Sequence[int]


def as_extents(value: Extents, rank: int, what: str) -> tuple[int, ...]:
    """Return one number for each spatial axis; a single number counts for all.

    Raises:
        ArgumentError: if there are more or fewer.
    """
    extents = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(extents) != rank:
        raise ArgumentError(f"{what}: expected a number or {rank} of them, got {value}")
    return extents


def check_layout(layout: str, allowed: Sequence[str], layer: str) -> None:
    """Refuse a layout that a layer does not have.

    Raises:
        ArgumentError: naming those that it has.
    """
    if layout not in allowed:
        raise ArgumentError(f"{layer}: expected layout {' or '.join(allowed)}, got {layout!r}")
