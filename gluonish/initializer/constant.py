"""Initializers that fill with values known beforehand: Zero, One and Constant."""

from typing import Any

import numpy as np

from gluonish.initializer.base import Initializer, alias, register
from gluonish.ndarray import NDArray

__all__ = ["Constant", "One", "Zero"]


@register
@alias("zeros")
class Zero(Initializer):
    """Fill weights with 0."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = 0


@register
@alias("ones")
class One(Initializer):
    """Fill weights with 1."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = 1


@register
class Constant(Initializer):
    """Fill weights with one number, or with the values of an array.

    Args:
        value: A number; or an NDArray, a NumPy array or nested lists that broadcast to the weight.
    """

    def __init__(self, value: Any) -> None:
        super().__init__(value=_plain(value))
        self.value = value

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = np.asarray(self.value) if isinstance(self.value, list | tuple) else self.value


def _plain(value: Any) -> Any:
    """Return numbers and lists of them, as JSON can hold them."""
    if isinstance(value, NDArray | np.ndarray | np.generic):
        return value.tolist()
    return value
