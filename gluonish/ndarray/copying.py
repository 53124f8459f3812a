"""Copies between arrays and devices, with gradients."""

import math
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from gluonish.core.context import Context, parse_context
from gluonish.core.device import Lane, device_of
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.loading import load
from gluonish.engine import submit
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray, empty_for_copy, empty_like_spec
from gluonish.ndarray.recording import RECORDING, Leaf, Node, timestamp
from gluonish.ops.support.work import LARGE_COPY

_STRIDED_COPY = "gluonish.kernels.generated.strided_copy"


class _CopyNode:
    """The tape node of a copy to another device or dtype; its gradient is copied back."""

    __slots__ = ("context", "dtype", "freed", "made", "output_count", "parents")

    ignores_head_gradient = False
    writes_gradients: ClassVar[bool] = False

    def __init__(self, source: NDArray) -> None:
        self.context = source.context
        self.dtype = source.dtype
        self.parents: Sequence[tuple[Node | Leaf, int] | None] = (source._edge,)
        self.output_count = 1
        self.made = timestamp()
        self.freed: float = math.inf

    def backward(
        self,
        grads: Sequence[NDArray | None],
        targets: Sequence[NDArray | None] = (),
        *,
        last: bool = False,
    ) -> Sequence[NDArray | None]:
        """Return the gradient on the source's device and in its dtype."""
        return [
            None if g is None else as_in_context(g, self.context).astype(self.dtype, copy=False)
            for g in grads
        ]

    def free(self) -> None:
        """Drop the reference to the parent."""
        self.parents = ()
        self.freed = timestamp()


def copy_into(
    source: NDArray,
    target: NDArray,
    priority: int = 0,
    *,
    refreshes: bool = False,
    lane: Lane | None = None,
) -> None:
    """Push a copy to another array of the same shape, of any device and dtype.

    Args:
        source: Source array.
        target: Target array; the values are converted to its dtype.
        priority: Operations of higher priority on the same lane run first.
        refreshes: The target holds an older value of the source, as a weight does of its copy in a
            kvstore: if the source failed, the target is unchanged, as in an update in place.
        lane: The engine's lane; None to choose it by the devices.
    """
    large = source._data.size >= LARGE_COPY and source._device.is_host
    on_team = large and load(_STRIDED_COPY).is_large(source._data)
    if lane is None:
        near = source._device is target._device
        lane = target._device.lane if near else target._device.copy_lane
    submit(
        partial(transfer, source, target),
        [source._var, target._var] if refreshes else [source._var],
        [target._var],
        lane,
        "_copyto",
        small=on_team or source._data.size <= 4096,
        on_team=on_team,
        priority=priority,
    )


def transfer(source: NDArray, target: NDArray) -> None:
    """Copy values synchronously, in the thread that the engine chose."""
    if source._device.is_host and target._device.is_host:
        if target._data.size >= LARGE_COPY:
            load(_STRIDED_COPY).copy(target._data, source._data)
        else:
            target._data[...] = source._data
    elif source._device.is_host == target._device.is_host:
        target._device.from_peer(source._data, target._data)
    elif target._device.is_host:
        raw = target._data
        if raw.flags.c_contiguous and raw.dtype == source._data.dtype:
            source._device.to_host(source._data, raw)
        else:
            raw[...] = source._device.to_host(source._data)
    else:
        target._device.from_host(source._data, target._data, constant=True)


def copyto(source: NDArray, other: NDArray | Context) -> NDArray:
    """Copy into another array, or to a new array on a device.

    Raises:
        ArgumentError: The target's shape differs.
        ArgumentTypeError: ``other`` is neither an array nor a context.
    """
    lane = None
    if isinstance(other, str):
        other = parse_context(other) or source.context
    if isinstance(other, Context):
        device = device_of(other)
        if device is source._device:
            target = empty_like_spec(source._spec, device, type(source))
        else:
            target, lane = empty_for_copy(source._spec, device, type(source))
        target._truth = source._truth
    elif isinstance(other, NDArray):
        target = other
        target._check_writable("copyto")
        if target.shape != source.shape:
            raise ArgumentError(
                f"copyto: expected a target of shape {source.shape}, got {target.shape}"
            )
        if target._data is source._data:
            return target
    else:
        raise ArgumentTypeError(
            f"copyto: expected an NDArray or a Context, got {type(other).__name__}"
        )
    copy_into(source, target, lane=lane)
    if source._edge is not None and recording.mode.get() & RECORDING:
        target._edge = (_CopyNode(source), 0)
    return target


def as_in_context(source: NDArray, context: Context) -> NDArray:
    """Return the array itself if it is on ``context``, else a copy on it."""
    if isinstance(context, str):
        context = parse_context(context) or source.context
    return source if source.context == context else copyto(source, context)


def duplicate(source: NDArray, memo: object = None) -> NDArray:
    """Return a copy outside the recorded graph, for ``copy.copy`` and ``copy.deepcopy``."""
    return copyto(source.detach(), source.context)


def gather_on_cpu(arrays: Sequence[NDArray]) -> list[NDArray] | None:
    """Copy arrays in pinned or shared memory to the CPU of the others; None if that is impossible.

    A `DataLoader` with ``pin_memory`` that feeds a network on a CPU mixes these.
    """
    contexts = {x.context for x in arrays if not x.context.is_host_buffer}
    if len(contexts) != 1:
        return None
    (context,) = contexts
    return None if context.is_gpu else [as_in_context(x, context) for x in arrays]
