"""Splitting a batch over devices."""

import itertools
from collections.abc import Sequence
from typing import Any

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.numpy_mode import is_np_array
from gluonish.ndarray import NDArray, array
from gluonish.numpy.creation import array as numpy_array


def split_data(
    data: NDArray, num_slice: int, batch_axis: int = 0, even_split: bool = True
) -> list[NDArray]:
    """Split a batch into slices along one axis.

    Args:
        data: Array with N samples along ``batch_axis``.
        num_slice: Number of slices.
        batch_axis: Axis of the samples.
        even_split: Whether N must be a multiple of ``num_slice``; if not, the sizes of slices may
            differ by one, and some may be empty.

    Returns:
        The slices, in order.

    Raises:
        ArgumentError: The batch cannot be split evenly and ``even_split`` is set, or ``num_slice``
            is below 1.
    """
    size = data.shape[batch_axis]
    if num_slice < 1:
        raise ArgumentError(f"split_data: expected num_slice of at least 1, got {num_slice}")
    if even_split and size % num_slice:
        raise ArgumentError(
            f"split_data: expected a size divisible by {num_slice} along axis {batch_axis}, got "
            f"shape {data.shape}; change the batch size, or set even_split=False"
        )
    if num_slice == 1:
        return [data]
    # The first size % num_slice slices have one more example.
    step, longer = divmod(size, num_slice)
    bounds = [i * step + min(i, longer) for i in range(num_slice + 1)]
    before = (slice(None),) * (batch_axis % data.ndim)
    parts = ((*before, slice(a, b)) for a, b in itertools.pairwise(bounds))
    # A csr matrix supports slices of rows only.
    return [data[data_slice if before else data_slice[0]] for data_slice in parts]


def split_and_load(
    data: Any, ctx_list: Sequence[Context], batch_axis: int = 0, even_split: bool = True
) -> list[NDArray]:
    """Split a batch into one slice per device, and copy each slice to its device.

    Args:
        data: NDArray, or anything that `nd.array` accepts.
        ctx_list: The devices.
        batch_axis: Axis of the samples.
        even_split: As for `split_data`.

    Returns:
        List of the slices, one on each device.

    Raises:
        ArgumentError: As for `split_data`.
        ArgumentTypeError: ``ctx_list`` is no list of devices.

    Example:
        >>> import gluonish as mx
        >>> devices = [mx.cpu(0), mx.cpu(1)]
        >>> slices = mx.gluon.utils.split_and_load(mx.nd.ones((6, 3)), devices)
        >>> [(x.shape, x.context) for x in slices]
        [((3, 3), cpu(0)), ((3, 3), cpu(1))]
    """
    if not isinstance(ctx_list, Sequence) or not all(isinstance(x, Context) for x in ctx_list):
        raise ArgumentTypeError(
            f"split_and_load: expected ctx_list as a list of devices, got {ctx_list!r:.80}; pass "
            "[mx.gpu(0), mx.gpu(1)]"
        )
    if not isinstance(data, NDArray):
        make = numpy_array if is_np_array() else array
        data = make(data, ctx=ctx_list[0])
    slices = split_data(data, len(ctx_list), batch_axis, even_split)
    return [data_slice.as_in_context(ctx) for data_slice, ctx in zip(slices, ctx_list, strict=True)]
