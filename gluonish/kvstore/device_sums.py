"""Sums of arrays over devices in a fixed order, and copies between devices, for stores.

Sums and copies are engine operations with a priority, on lanes that run in parallel with compute: a
sum runs as soon as its gradients are computed, concurrently with the backward pass; and a Trainer's
first layers, which the next forward pass needs first, overtake its last layers.

On a GPU the lane is a stream that waits only for launches that use the same arrays. So arrays that
only stores use are allocated for this stream; see `gluonish.kernels.cupy.GPUDevice`.

small_exchange: `KVStore.pushpull` of many small arrays as two engine operations.

A Trainer passes the same gradients and weights to the store in every step. For small arrays the
look-ups and pushes take longer than the sums, so all sums are one engine operation, and all copies
another. The store caches the exchange as the `Program` of its last call.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_KVSTORE_BIGARRAY_BOUND, MXNET_KVSTORE_REDUCTION_NTHREADS
from gluonish.core.context import Context
from gluonish.core.device import Device, device_of
from gluonish.core.out_of_memory import allocate
from gluonish.core.spec import Spec
from gluonish.engine import current_engine
from gluonish.ndarray import NDArray
from gluonish.ndarray.copying import transfer
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE, empty_like_spec
from gluonish.ops.support.precision import accumulator
from gluonish.optimizer import Updater
from gluonish_engine import Var


class SumSplit(NamedTuple):
    """Settings for splitting a sum on the CPU over threads.

    Attributes:
        bound: Number of elements above which arrays are split.
        chunks: Number of chunks, which are summed in parallel.
    """

    bound: int
    chunks: int

    @classmethod
    def from_environment(cls) -> "SumSplit":
        """Return the settings from the environment variables."""
        return cls(MXNET_KVSTORE_BIGARRAY_BOUND.value, MXNET_KVSTORE_REDUCTION_NTHREADS.value)


NO_SPLIT = SumSplit(0, 1)


def new_array(like: NDArray, context: Context) -> NDArray:
    """Return an uninitialized array with the shape and dtype of ``like`` on a device."""
    return empty_like_spec(like._spec, device_of(context))


def private_array(like: NDArray, context: Context) -> NDArray:
    """Return an uninitialized array that only operations of a store may use; see `new_array`.

    Raises:
        OutOfMemoryError: There is not enough memory.
    """
    device, spec = device_of(context), like._spec
    return NDArray(private_memory(spec, device), spec, device, Var())


def private_memory(spec: Spec, device: Device) -> Any:
    """Return a raw array that only operations of a store may use.

    Raises:
        OutOfMemoryError: There is not enough memory.
    """
    make = partial(device.empty_priority, *spec)
    return allocate(make, "kvstore", [spec], device.context)


def keep_alive(arrays: Sequence[NDArray]) -> None:
    """Keep private arrays alive until all pushed operators that read them have run."""
    by_device: dict[Any, list[NDArray]] = {}
    for array in arrays:
        by_device.setdefault(array._device, []).append(array)
    for device, members in by_device.items():
        if device.streams:
            keep = partial(device.compute.keep, *[x._data for x in members])
            reads = [x._var for x in members]
            current_engine().push(keep, reads, [], device.lane, 0, "kvstore_lend")


def after_compute(arrays: Sequence[NDArray]) -> list[Var]:
    """Return variables to read before a stream of stores writes arrays that no stream has used.

    Their memory may still be in use by compute.
    """
    engine, found = current_engine(), []
    for device in {x._device for x in arrays if x._device.streams and x._var.stream is None}:
        found.append(Var())
        engine.push(_no_op, [], found[-1:], device.lane, 0, "kvstore_new")
    return found


def push_async(
    function: Callable[[], None],
    reads: Sequence[Var],
    written: Var,
    device: Device,
    priority: int,
    name: str,
    inline: bool = False,
    *,
    private: bool = False,
) -> None:
    """Push an operation to a device's copy lane, which runs in parallel with its compute.

    Args:
        function: The operation.
        reads: Variables of the arrays that the operation reads.
        written: Variable of the array that it writes, on the device.
        device: The device.
        priority: Operations of higher priority run first.
        name: Name for errors and traces.
        inline: As in `gluonish_engine.Engine.push`.
        private: Whether ``written`` is a `private_array`.
    """
    engine = current_engine()
    if device.streams and written.stream is None and not private:
        # The memory of an array that no stream has used may still be in use by compute.
        after_compute = Var()
        engine.push(_no_op, [], [after_compute], device.lane, 0, "kvstore_new")
        reads = [*reads, after_compute]
    engine.push(function, reads, [written], device.priority_lane, priority, name, inline)


def _no_op() -> None:
    """Do nothing; pushed only to order other operations."""


def send(
    source: NDArray,
    target: NDArray,
    priority: int = 0,
    *,
    refreshes: bool = False,
    private: bool = False,
) -> None:
    """Copy dense values across devices and dtypes, in parallel with the devices' compute.

    Args:
        source: Array to copy from.
        target: Array to copy to.
        priority: Operations of higher priority run first.
        refreshes: As in `gluonish.ndarray.copying.copy_into`.
        private: Whether ``target`` is a `private_array`.
    """
    device = target._device
    reads = [source._var, target._var] if refreshes else [source._var]
    copy = partial(_send, source, target)
    if device.streams:
        push_async(copy, reads, target._var, device, priority, "_copyto", private=private)
        return
    small = source.size <= LIGHT_INLINE_SIZE
    current_engine().push(copy, reads, [target._var], device.copy_lane, priority, "_copyto", small)


def _send(source: NDArray, target: NDArray) -> None:
    if source._device.is_host and target._device.is_host:
        np.copyto(target._data, source._data, casting="unsafe")  # one thread; others compute
    else:
        transfer(source, target)


def sum_arrays(
    values: Sequence[NDArray],
    context: Context,
    priority: int,
    split: SumSplit = NO_SPLIT,
    *,
    private: bool = False,
) -> NDArray:
    """Return the sum of arrays of one shape and dtype as a new array on a device.

    Arrays are summed in the order of the list, independent of the devices' speed and of the split,
    so that results are reproducible; 16-bit floats are summed in float32.

    Args:
        values: The arrays.
        context: Device of the sum.
        priority: Operations of higher priority run first.
        split: How a sum on the CPU is split.
        private: Whether the sum is a `private_array`; call `keep_alive` if operators read it.
    """
    out = private_array(values[0], context) if private else new_array(values[0], context)
    if len(values) == 1:
        send(values[0], out, priority, private=private)
        return out
    local = [_on_same_memory(value, out, priority) for value in values]
    contiguous = all(x._data.flags.c_contiguous for x in local)
    if out.size > split.bound and split.chunks > 1 and contiguous and out._device.is_host:
        _sum_in_chunks(local, out, priority, split.chunks)
    else:
        add = partial(sum_into, [x._data for x in local])
        apply_in_place(add, out, local, priority, private=private)
    return out


def _on_same_memory(value: NDArray, out: NDArray, priority: int) -> NDArray:
    """Return a value, or a copy that kernels on the device of ``out`` read; CPUs share memory."""
    if value._device is out._device or (value._device.is_host and out._device.is_host):
        return value
    copied = private_array(value, out.context)
    send(value, copied, priority, private=True)
    return copied


def _sum_in_chunks(values: Sequence[NDArray], out: NDArray, priority: int, chunks: int) -> None:
    """Push the sum as one operation per chunk, and a last operation that waits for all of them."""
    engine, lane = current_engine(), out._device.priority_lane
    reads = [x._var for x in values]
    flat = [x._data.reshape(-1) for x in values]
    target = out._data.reshape(-1)
    limits = [out.size * i // chunks for i in range(chunks + 1)]
    done = []
    for low, high in pairwise(limits):
        done.append(Var())
        task = partial(sum_into, [x[low:high] for x in flat], target[low:high])
        engine.push(task, reads, [done[-1]], lane, priority, "kvstore")
    engine.push(_join, done, [out._var], lane, priority, "kvstore_join", True)


def _join() -> None:
    """Do nothing; pushed after all chunks, so that the engine marks the array as written."""


def sum_into(values: Sequence[Any], out: Any) -> None:
    """Sum raw arrays in the order of the list; ``out`` may be the first array, but no other."""
    wide = accumulator(out.dtype)
    total = out if wide == out.dtype else values[0].astype(wide)
    if total is out and values[0] is not out:
        total[...] = values[0]
    for value in values[1:]:
        total += value
    if total is not out:
        out[...] = total


def apply_in_place(
    function: Callable[[Any], None],
    out: NDArray,
    reads: Sequence[NDArray],
    priority: int,
    *,
    private: bool = False,
) -> None:
    """Push ``function(raw array of out)`` as one operation that also reads other arrays.

    Args:
        function: Modifies the raw array.
        out: The array to modify.
        reads: Other arrays that the function reads.
        priority: Operations of higher priority run first.
        private: Whether ``out`` is a `private_array`.
    """
    push_async(
        partial(function, out._data),
        [x._var for x in reads],
        out._var,
        out._device,
        priority,
        "kvstore",
        out.size <= LIGHT_INLINE_SIZE,
        private=private,
    )


SmallExchange = Callable[[Updater, int], None]

_raw, _var = attrgetter("_data"), attrgetter("_var")


def are_small(arrays: Iterable[NDArray]) -> bool:
    """Whether arrays are dense, small, and on CPUs."""
    return all(
        x.stype == "default" and x._device.is_host and x.size <= LIGHT_INLINE_SIZE for x in arrays
    )


def small_exchange(
    keys: Sequence[Any],
    values: Sequence[Sequence[NDArray]],
    outs: Sequence[Sequence[NDArray]],
    stored: Sequence[NDArray],
    context: Context,
) -> SmallExchange:
    """Return a function (updater, priority) that sums gradients, and updates and copies weights.

    Args:
        keys: Unique keys of the stored weights.
        values: For each key the gradients to sum.
        outs: For each key the arrays that receive the new weight.
        stored: The stored weights; all arrays are dense, small, and on CPUs.
        context: Device of the sums.
    """
    counts, out_counts = list(map(len, values)), list(map(len, outs))
    gradients, targets = list(chain.from_iterable(values)), list(chain.from_iterable(outs))
    # Tuples, as the updater caches bound updates of identical tuples only.
    names, weights = tuple(keys), tuple(stored)
    sums = tuple([new_array(weight, context) for weight in weights])
    device = sums[0]._device
    received = list(map(_var, targets))
    inline = sum(array.size for array in gradients) <= LIGHT_INLINE_SIZE

    def exchange(updater: Updater, priority: int) -> None:
        engine = current_engine()
        add = partial(_sum_all, list(map(_raw, gradients)), counts, list(map(_raw, sums)))
        reads, writes = list(map(_var, gradients)), list(map(_var, sums))
        engine.push(add, reads, writes, device.priority_lane, priority, "kvstore", inline)
        updater(names, sums, weights)
        spread = partial(_copy_all, list(map(_raw, weights)), out_counts, list(map(_raw, targets)))
        # It reads its targets, too, so that they are unchanged if the update failed.
        reads = [*map(_var, weights), *received]
        engine.push(spread, reads, received, device.copy_lane, priority, "_copyto", inline)

    return exchange


def _sum_all(values: Sequence[Any], counts: Sequence[int], sums: Sequence[Any]) -> None:
    first = 0
    for count, out in zip(counts, sums, strict=True):
        sum_into(values[first : first + count], out)
        first += count


def _copy_all(stored: Sequence[Any], counts: Sequence[int], outs: Sequence[Any]) -> None:
    first = 0
    for weight, count in zip(stored, counts, strict=True):
        for out in outs[first : first + count]:
            np.copyto(out, weight, casting="unsafe")
        first += count
