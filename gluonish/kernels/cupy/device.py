"""GPUDevice: memory, streams and copies of one CUDA device.

Five non-blocking streams: ``compute`` runs kernels, ``ahead`` fills new arrays from the host,
``upload`` runs other copies to the device, ``download`` copies to the host, and ``communication``
runs the work of stores. Arrays are allocated on ``compute``, where a freed block may still have
pending work, so work on ``compute`` needs no synchronization. ``upload`` waits for earlier work of
``compute`` before each launch, and holds its arrays until the launch has finished.
``MXNET_GPU_WORKER_NSTREAMS`` adds streams alongside ``compute``, which work like ``upload``.

Large arrays that are created to be filled by a copy (`GPUDevice.empty_prefetch`) use memory of
``ahead``, whose blocks are not shared and which waits for no kernel: batches arrive while
``compute`` processes the previous ones (`gluonish.kernels.cupy.pool`).

Sums of gradients run concurrently with ``compute``, so ``communication`` only waits for launches
that use the same arrays, as the engine orders them. It also holds its arrays, and temporaries are
allocated on it (`GPUDevice.empty_priority`). To write an array that was not used before, the caller
must order the write after ``compute`` (`gluonish.kvstore.device_sums.push_async`).
"""

import math
import os
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_ENABLE_GPU_P2P, MXNET_GPU_WORKER_NSTREAMS
from gluonish.core.context import Context, gpu
from gluonish.core.cpu_memory import MemoryInfo
from gluonish.core.device import DEVICE_CLASSES, Lane, Platform, device_of
from gluonish.core.errors import DeviceError
from gluonish.core.spec import Shape
from gluonish.kernels.cupy.copies import copy
from gluonish.kernels.cupy.graphs import Graphs
from gluonish.kernels.cupy.health import Health
from gluonish.kernels.cupy.launch_records import LaunchTable
from gluonish.kernels.cupy.pool import Recycler, make_pool, open_pool
from gluonish.kernels.cupy.scratch import Scratch
from gluonish.kernels.cupy.staging import LARGE, Staging
from gluonish.kernels.cupy.stream import HIGH_PRIORITY, DeviceStream
from gluonish_engine import Stream


class GPUDevice:
    """A CUDA device as a `gluonish.core.device.Device`.

    Args:
        cupy: The CuPy module; device ``i`` of ``gpu(i)`` must exist.

    Attributes:
        graphs: The CUDA graphs captured from its launches.
        health: Whether the device still works.
        staging: Copies between the host and the device.
        launches: The launch records; None if its work has several streams, or the program an
            allocator.
        pool: The memory pool, of the kind that ``MXNET_GPU_MEM_POOL_TYPE`` had at creation.
    """

    __slots__ = (
        "_allocator",
        "_by_pointer",
        "_peers",
        "_pid",
        "_raw",
        "_recycler",
        "ahead",
        "communication",
        "compute",
        "context",
        "copy_lane",
        "download",
        "graphs",
        "health",
        "is_host",
        "lane",
        "launches",
        "platform",
        "pool",
        "prefetch_lane",
        "priority_lane",
        "staging",
        "stream_count",
        "streams",
        "upload",
        "xp",
    )

    def __init__(self, context: Context, cupy: ModuleType) -> None:
        number = context.device_id
        self.context = context
        self.xp = cupy
        self.platform: Platform = "gpu"
        self.is_host = False
        self.lane: Lane = ("gpu", number, "compute")
        self.copy_lane: Lane = ("gpu", number, "copy")
        self.prefetch_lane: Lane = ("gpu", number, "ahead")
        self.priority_lane: Lane = ("gpu", number, "priority")
        self._pid = os.getpid()
        self._peers: set[int] = set()  # GPUs that arrays were copied from
        self._raw = cupy.cuda.Device(number)
        self.health = Health(context, cupy)
        self.pool = make_pool(cupy, self._raw, self.health)
        self.compute = DeviceStream(cupy, self._raw, self.health)
        self.compute.siblings = tuple(
            DeviceStream(cupy, self._raw, self.health, after=self.compute, keeps=True)
            for _ in range(MXNET_GPU_WORKER_NSTREAMS.value - 1)
        )
        self.ahead = DeviceStream(cupy, self._raw, self.health)
        self.upload = DeviceStream(cupy, self._raw, self.health, after=self.compute)
        self.download = DeviceStream(cupy, self._raw, self.health)
        self.communication = DeviceStream(
            cupy, self._raw, self.health, keeps=True, priority=HIGH_PRIORITY
        )
        self.stream_count = 1 + len(self.compute.siblings)
        others = (self.ahead, self.upload, self.communication, *self.compute.siblings)
        self._by_pointer = {stream.raw.ptr: stream for stream in others}
        self._recycler = Recycler(self.compute, self.ahead)
        self.staging = Staging(cupy, self._raw)
        scratch = Scratch(cupy, self._raw, self.pool, self.compute.raw.ptr)
        self.graphs = Graphs(cupy, self._raw, self.compute, scratch)
        self._allocator = open_pool(
            cupy, self._raw, self.pool, self._free_memory, self.ahead.raw.ptr, self._recycler
        )
        self.launches: LaunchTable | None = None
        if self.stream_count == 1 and self._allocator is not None:
            self.launches = LaunchTable(
                *(cupy, self._raw, self.compute, self._allocator), pooled=self.pool.caches
            )
        self.streams: Mapping[Lane, Stream] = {
            self.lane: self.compute,
            self.prefetch_lane: self.ahead,
            self.copy_lane: self.upload,
            self.priority_lane: self.communication,
        }

    def empty(self, shape: Shape, dtype: np.dtype[Any]) -> Any:
        """Return an uninitialized array, allocated from the pool.

        Raises:
            MemoryError: There is not enough memory.
            DeviceError: The process was forked from the process that opened the device.
        """
        if os.getpid() != self._pid:
            raise DeviceError(
                f"{self.context}: expected the process that opened the device, got a forked child "
                "of it; start processes with spawn, or open the device in the child only"
            )
        xp, nbytes = self.xp, math.prod(shape) * dtype.itemsize
        # Another allocator is the program's, or that of a capture.
        pool = self._allocator
        if nbytes and pool is not None and xp.cuda.get_allocator() is pool:
            memory = pool.allocate(self.context.device_id, nbytes, self.compute.raw.ptr)
            return xp.ndarray(shape, dtype, memory)
        with self._raw, self.compute.raw:
            return xp.empty(shape, dtype)

    def empty_prefetch(self, shape: Shape, dtype: np.dtype[Any]) -> Any:
        """Return an array that ``prefetch_lane`` can fill without waiting; None if it is small.

        Raises:
            MemoryError: There is not enough memory.
            DeviceError: The process was forked after the device was opened, or the device is lost.
        """
        if math.prod(shape) * dtype.itemsize < LARGE or os.getpid() != self._pid:
            return None
        self._recycler.recycle()
        with self._raw, self.ahead.raw:
            return self.xp.empty(shape, dtype)

    def empty_priority(self, shape: Shape, dtype: np.dtype[Any]) -> Any:
        """Return an uninitialized array for ``communication`` only.

        Raises:
            MemoryError: There is not enough memory.
        """
        with self._raw, self.communication.raw:
            return self.xp.empty(shape, dtype)

    def current_stream(self) -> DeviceStream:
        """Return the stream of the current launch; `compute` outside launches."""
        return self._by_pointer.get(self.xp.cuda.get_current_stream().ptr, self.compute)

    def note(self, name: str) -> None:
        """Record the name of the next operator on the current stream, for messages."""
        stream = self._by_pointer.get(self.xp.cuda.get_current_stream().ptr, self.compute)
        stream.note(name)  # inlined `current_stream`, as graphs note each operator

    def from_host(self, source: np.ndarray[Any, Any], out: Any, *, constant: bool = False) -> None:
        """Copy ``source`` into ``out``, which must be contiguous, converting its dtype.

        The copy runs on the current stream, from page-locked memory: that of the source if it is
        constant, else memory to which the source is copied before this returns.

        Args:
            source: Values on the host.
            constant: Whether ``source`` does not change until the current launch has finished.
        """
        if not out.size:
            return
        stream = self.current_stream()
        ahead = stream is self.ahead
        with self._raw:
            held = self.staging.upload(source, out, stream, constant=constant, ring=ahead)
        if held or not ahead:
            stream.keep(held if ahead else (held, out))

    def from_peer(self, source: Any, out: Any) -> None:
        """Copy an array of any GPU into ``out``; both must be contiguous if the devices differ."""
        if not out.size:
            return
        runtime = self.xp.cuda.runtime
        stream = self.current_stream()
        with self._raw, stream.raw:
            near, owner = source, source.device.id
            if owner != self.context.device_id:
                self._enable_peer(owner)
                same = source.dtype == out.dtype
                near = out if same else self.xp.empty(source.shape, source.dtype)
                runtime.memcpyPeerAsync(
                    *(near.data.ptr, self.context.device_id, source.data.ptr, owner),
                    *(source.nbytes, stream.raw.ptr),
                )
            if near is not out:
                copy(self.xp, out, near)
        if near is not source or stream is not self.compute:
            stream.keep(source, out)

    def _enable_peer(self, owner: int) -> None:
        """Enable direct copies from a GPU if possible; else the driver copies through the host."""
        if owner in self._peers:
            return
        self._peers.add(owner)
        runtime, number = self.xp.cuda.runtime, self.context.device_id
        if not MXNET_ENABLE_GPU_P2P.value or not runtime.deviceCanAccessPeer(number, owner):
            return
        try:
            runtime.deviceEnablePeerAccess(owner)
        except runtime.CUDARuntimeError as error:
            if "AlreadyEnabled" not in str(error):
                raise

    def to_host(self, source: Any, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """Copy an array, whose values are already computed, to the host, and wait for the copy.

        Args:
            out: Contiguous host array of the same dtype and shape; None to allocate one.

        Raises:
            DeviceError: The device reports a failure.
        """
        self.health.check()
        result = np.empty(source.shape, source.dtype) if out is None else out
        if not result.size:
            return result
        cuda, stream = self.xp.cuda, self.download
        try:
            with self._raw, stream.raw:
                contiguous = self.xp.ascontiguousarray(source)
                self.staging.download(contiguous, result, stream)
        except cuda.runtime.CUDARuntimeError as error:
            explained = self.health.explained(error)
            if explained is not error:
                raise explained from error
            raise DeviceError(
                f"{self.context}: expected a copy to the host to succeed, got {error}"
            ) from error
        return result

    def to_dlpack(self, raw: Any, /, **options: Any) -> Any:
        """Return a DLPack capsule over an array, with CuPy's options."""
        with self._raw, self.compute.raw:
            return raw.__dlpack__(**options)

    def empty_cache(self) -> None:
        """Release free blocks of this device, and free page-locked memory, to the driver.

        Waits for pending work first, since it holds memory, too.
        """
        self._release_held()
        self.pool.release()
        with self._raw:
            self.xp.get_default_memory_pool().free_all_blocks()
        self.xp.get_default_pinned_memory_pool().free_all_blocks()

    def _free_memory(self) -> None:
        """Drop what can be made again, and memory held for pending work."""
        self.graphs.drop()
        self._release_held()

    def _release_held(self) -> None:
        """Wait for pending work, and release the memory held for it."""
        if self.launches is not None:
            self.launches.drop()
        self.graphs.release_retired()
        streams = (self.compute, self.ahead, self.upload, self.communication)
        for stream in (*streams, *self.compute.siblings):
            stream.synchronize_event(stream.record())
            stream.release()
        self._recycler.clear()
        self.staging.clear()

    def memory_info(self) -> MemoryInfo:
        """Return the device's memory, and how much of it the pool uses.

        Raises:
            DeviceError: The device is lost.
        """
        self.health.check()
        with self._raw:
            free, total = self.xp.cuda.runtime.memGetInfo()
        pool = self.pool.statistics()
        return MemoryInfo(int(free), int(total), pool.used, pool.held, pool.peak_used)


def health_of(number: int) -> Health:
    """Return the health of ``gpu(number)``, opening the device on first use."""
    device = device_of(gpu(number))
    assert isinstance(device, GPUDevice)
    return device.health


DEVICE_CLASSES.append(GPUDevice)
