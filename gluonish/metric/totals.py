"""Totals: numbers on a device that engine operations add to, one batch after the other.

``_raw`` is written only by operations that write ``_var``; the first of them clears it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.device import Device
from gluonish.core.dtype import FLOAT64
from gluonish.core.out_of_memory import empty_or_refuse
from gluonish.engine import current_engine
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE, NDArray
from gluonish_engine import Var

_data_of, _var_of = attrgetter("_data"), attrgetter("_var")


class Totals:
    """A vector of float64 numbers on a device, which start at 0.

    Args:
        device: Where.
        count: How many numbers.
    """

    __slots__ = ("_device", "_is_fresh", "_raw", "_var")

    def __init__(self, device: Device, count: int) -> None:
        self._device = device
        self._raw = empty_or_refuse(device, (count,), FLOAT64, "metric")
        self._var = Var()
        self._is_fresh = True

    def push(self, kernel: Callable[..., None], arrays: Sequence[NDArray], name: str) -> None:
        """Have a kernel add to the numbers when the arrays are computed.

        Args:
            kernel: Called with NumPy or CuPy, the numbers, and the raw arrays.
            arrays: What it reads; those on other devices are copied to this one.
            name: Name for errors.
        """
        device = self._device
        here = [
            x if x._device is device else x.detach().as_in_context(device.context) for x in arrays
        ]
        if any(x.stype != "default" for x in here):
            here = [x.detach().tostype("default") for x in here]
        variables = [*map(_var_of, here), self._var]
        current_engine().push(
            partial(_run, kernel, self._is_fresh, device.xp, self._raw, *map(_data_of, here)),
            variables,
            [self._var],
            device.lane,
            0,
            name,
            max([x._spec.size for x in here]) <= LIGHT_INLINE_SIZE,
        )
        self._is_fresh = False

    def fetch(self) -> np.ndarray[Any, Any]:
        """Wait for all that was pushed, and return the numbers.

        Raises:
            OperatorError: A kernel, or what computes an array that it reads, failed.
        """
        current_engine().wait(self._var)
        return self._device.to_host(self._raw)


def _run(
    kernel: Callable[..., None], is_first: bool, xp: ModuleType, totals: Any, *arrays: Any
) -> None:
    if is_first:
        totals.fill(0)
    kernel(xp, totals, *arrays)
