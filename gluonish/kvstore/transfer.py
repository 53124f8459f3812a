"""What stores do with arrays: add them up over devices, in one fixed order, and copy results back.

Each is one engine operation with a priority, so that a Trainer's first layers, which the next
forward pass needs first, overtake its last ones.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gluonish.core.context import Context
from gluonish.core.device import device_of
from gluonish.engine import current_engine
from gluonish.ndarray import NDArray
from gluonish.ndarray.copying import copy_into
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE, empty_like_spec
from gluonish.ops.precision import accumulator

__all__ = ["apply_in_place", "new_array", "sum_arrays"]


def new_array(like: NDArray, context: Context) -> NDArray:
    """Return an array of undefined values with another's shape and dtype on a device."""
    return empty_like_spec(like._spec, device_of(context))


def sum_arrays(values: Sequence[NDArray], context: Context, priority: int) -> NDArray:
    """Return the sum of arrays of one shape and dtype as a new array on a device.

    The order is that of the list, whatever the devices' speed, so that runs repeat exactly; 16-bit
    floats are added up in float32.
    """
    out = new_array(values[0], context)
    if len(values) == 1:
        copy_into(values[0], out, priority)
        return out
    near = [_on_same_memory(value, out, priority) for value in values]
    apply_in_place(partial(_sum_into, [x._data for x in near]), out, near, priority)
    return out


def _on_same_memory(value: NDArray, out: NDArray, priority: int) -> NDArray:
    """Return an array that kernels of ``out``'s device can read: on the CPU, that of any CPU."""
    if value._device is out._device or value._device.xp_name == out._device.xp_name == "numpy":
        return value
    copied = new_array(value, out.context)
    copy_into(value, copied, priority)
    return copied


def _sum_into(values: Sequence[Any], out: Any) -> None:
    wide = accumulator(out.dtype)
    total = out if wide == out.dtype else out.astype(wide)
    total[...] = values[0]
    for value in values[1:]:
        total += value
    if total is not out:
        out[...] = total


def apply_in_place(
    function: Callable[[Any], None], out: NDArray, reads: Sequence[NDArray], priority: int
) -> None:
    """Push ``function(raw array of out)`` as one operation that reads other arrays too."""
    current_engine().push(
        partial(function, out._data),
        [x._var for x in reads],
        [out._var],
        out._device.priority_lane,
        priority,
        "kvstore",
        out.size <= LIGHT_INLINE_SIZE,
    )
