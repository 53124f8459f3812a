"""Eager calls of RNN on devices whose kernel has a reserve in a private format."""

from collections.abc import Sequence
from typing import Any

from gluonish.ndarray import recording
from gluonish.ndarray.eager import invoke
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import RECORDING
from gluonish.ops.recurrent.reserved_rnn import RESERVED_RNN, private_reserve
from gluonish.ops.registry import Attrs


def divert(inputs: Sequence[NDArray], attrs: Attrs, out: Any) -> Any:
    """Run RNN as _reserved_rnn if the device has a kernel for it; overrides the eager call.

    Args:
        inputs: RNN's arrays, on one device.
        attrs: RNN's attributes.
        out: Array, or list of arrays, to store the results in; None to allocate them.

    Returns:
        The visible outputs; NotImplemented to run RNN itself.
    """
    device = inputs[0]._device
    if device.is_host:
        return NotImplemented
    size = private_reserve(device, [x._spec for x in inputs], attrs)
    if size is None:
        return NotImplemented
    saves = recording.mode.get() & RECORDING and any(x._edge is not None for x in inputs)
    return invoke(RESERVED_RNN, inputs, {**attrs, "reserve": size if saves else 0}, out)
