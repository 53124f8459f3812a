"""Totals: sums on a device, updated by engine operations.

Only operations that write ``_var`` write to ``_raw``; the first one sets it to 0.
"""

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.device import Device
from gluonish.core.dtype import FLOAT64
from gluonish.core.out_of_memory import empty_or_raise
from gluonish.engine import current_engine
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE, NDArray
from gluonish_engine import Var

_data_of, _var_of = attrgetter("_data"), attrgetter("_var")


class Totals:
    """A vector of ``count`` float64 sums on a device, initially 0."""

    __slots__ = ("_device", "_is_new", "_raw", "_var")

    def __init__(self, device: Device, count: int) -> None:
        self._device = device
        self._raw = empty_or_raise(device, (count,), FLOAT64, "metric")
        self._var = Var()
        self._is_new = True

    def push(self, kernel: Callable[..., None], arrays: Sequence[NDArray], name: str) -> None:
        """Push an operation that adds to the sums once the arrays are computed.

        Args:
            kernel: Called with NumPy or CuPy, the sums, and the raw arrays.
            arrays: Inputs of the kernel; copied to the device if needed.
            name: Name of the metric, for error messages.
        """
        device = self._device
        local_arrays = [
            x if x._device is device else x.detach().as_in_context(device.context) for x in arrays
        ]
        if any(x.stype != "default" for x in local_arrays):
            local_arrays = [x.detach().tostype("default") for x in local_arrays]
        variables = [*map(_var_of, local_arrays), self._var]
        current_engine().push(
            partial(_run, kernel, self._is_new, device.xp, self._raw, *map(_data_of, local_arrays)),
            variables,
            [self._var],
            device.lane,
            0,
            name,
            max([x._spec.size for x in local_arrays]) <= LIGHT_INLINE_SIZE,
        )
        self._is_new = False

    def fetch(self) -> np.ndarray[Any, Any]:
        """Wait for all pushed operations, and return the sums.

        Raises:
            OperatorError: A kernel, or the computation of its inputs, failed.
        """
        current_engine().wait(self._var)
        return self._device.to_host(self._raw)


def _run(
    kernel: Callable[..., None], is_first: bool, xp: ModuleType, totals: Any, *arrays: Any
) -> None:
    if is_first:
        totals.fill(0)
    kernel(xp, totals, *arrays)
