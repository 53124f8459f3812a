"""GPUDevice: memory, streams and copies of one CUDA device.

Four non-blocking streams: ``compute`` runs kernels, ``upload`` takes copies that end here,
``download`` those that go to the host, ``communication`` what stores do. Every array is allocated
on ``compute``, where a block that was freed may still have work pending. So work on ``compute``
needs no care, and ``upload`` comes behind what ``compute`` was given before each launch and keeps
its arrays until it is through with them. ``MXNET_GPU_WORKER_NSTREAMS`` puts more streams beside
``compute``; these do as ``upload``.

Sums of gradients run while ``compute`` goes on, so ``communication`` only waits for what the engine
knows of: the launches that use the same arrays. It keeps its arrays, too. What it needs for itself
is allocated on it (`GPUDevice.empty_beside`); to write an array that was not used before, whoever
pushes has to come behind ``compute`` (`gluonish.kvstore.transfer.push_beside`).
"""

import os
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_ENABLE_GPU_P2P, MXNET_GPU_WORKER_NSTREAMS
from gluonish.core.context import Context
from gluonish.core.device import DEVICE_CLASSES, Lane
from gluonish.core.errors import DeviceError
from gluonish.core.memory_info import MemoryInfo
from gluonish.core.spec import Shape
from gluonish.kernels.cupy.pool import open_pool
from gluonish.kernels.cupy.stream import DeviceStream
from gluonish_engine import Stream

__all__ = ["GPUDevice"]


class GPUDevice:
    """A CUDA device as a `gluonish.core.device.Device`.

    Args:
        context: ``gpu(i)``.
        cupy: The module; device ``i`` is known to exist.

    Attributes:
        pool: Its memory, as ``MXNET_GPU_MEM_POOL_TYPE`` said when it was made.
    """

    __slots__ = (
        "_pid",
        "_raw",
        "_ways",
        "communication",
        "compute",
        "context",
        "copy_lane",
        "download",
        "lane",
        "pool",
        "priority_lane",
        "streams",
        "upload",
        "xp",
        "xp_name",
    )

    def __init__(self, context: Context, cupy: ModuleType) -> None:
        number = context.device_id
        self.context = context
        self.xp = cupy
        self.xp_name = "cupy"
        self.lane: Lane = ("gpu", number, "compute")
        self.copy_lane: Lane = ("gpu", number, "copy")
        self.priority_lane: Lane = ("gpu", number, "priority")
        self._pid = os.getpid()
        self._ways: set[int] = set()  # GPUs that copies have come from
        self._raw = cupy.cuda.Device(number)
        self.pool = open_pool(cupy, self._raw)
        self.compute = DeviceStream(cupy, self._raw)
        self.compute.beside = tuple(
            DeviceStream(cupy, self._raw, after=self.compute, keeps=True)
            for _ in range(MXNET_GPU_WORKER_NSTREAMS.value - 1)
        )
        self.upload = DeviceStream(cupy, self._raw, after=self.compute)
        self.download = DeviceStream(cupy, self._raw)
        self.communication = DeviceStream(cupy, self._raw, keeps=True)
        self.streams: Mapping[Lane, Stream] = {
            self.lane: self.compute,
            self.copy_lane: self.upload,
            self.priority_lane: self.communication,
        }

    def empty(self, shape: Shape, dtype: np.dtype[Any]) -> Any:
        """Return an array of undefined values in the pool.

        Raises:
            MemoryError: if there is no memory for it.
            DeviceError: in a child of the process that opened the device.
        """
        if os.getpid() != self._pid:
            raise DeviceError(
                f"{self.context}: expected the process that opened the device, got a forked child "
                "of it; start processes with spawn, or open the device in the child only"
            )
        with self._raw, self.compute.raw:
            return self.xp.empty(shape, dtype)

    def empty_beside(self, shape: Shape, dtype: np.dtype[Any]) -> Any:
        """Return an array of undefined values for ``communication`` alone.

        Raises:
            MemoryError: if there is no memory for it.
        """
        with self._raw, self.communication.raw:
            return self.xp.empty(shape, dtype)

    def current(self) -> DeviceStream:
        """Return the stream that a launch runs on; `compute` outside launches."""
        current = self.xp.cuda.get_current_stream().ptr
        for stream in (self.upload, self.communication, *self.compute.beside):
            if current == stream.raw.ptr:
                return stream
        return self.compute

    def from_host(self, source: np.ndarray[Any, Any], out: Any) -> None:
        """Copy ``source`` into ``out``, which is contiguous, converting its dtype.

        The values are taken at once, into page-locked memory; the copy from there runs on the
        current stream.
        """
        if not out.size:
            return
        cuda = self.xp.cuda
        pinned = cuda.alloc_pinned_memory(out.nbytes)
        flat = np.frombuffer(pinned, np.uint8, out.nbytes)
        staged = flat.view(out.dtype).reshape(out.shape)
        np.copyto(staged, source, casting="unsafe")
        stream = self.current()
        with self._raw:
            cuda.runtime.memcpyAsync(
                out.data.ptr,
                staged.ctypes.data,
                out.nbytes,
                cuda.runtime.memcpyHostToDevice,
                stream.raw.ptr,
            )
        stream.keep(pinned, out)

    def from_peer(self, source: Any, out: Any) -> None:
        """Copy an array of any GPU into ``out``; contiguous ones if the devices differ."""
        if not out.size:
            return
        runtime = self.xp.cuda.runtime
        stream = self.current()
        with self._raw, stream.raw:
            near, owner = source, source.device.id
            if owner != self.context.device_id:
                self._open_way(owner)
                same = source.dtype == out.dtype
                near = out if same else self.xp.empty(source.shape, source.dtype)
                runtime.memcpyPeerAsync(
                    *(near.data.ptr, self.context.device_id, source.data.ptr, owner),
                    *(source.nbytes, stream.raw.ptr),
                )
            if near is not out:
                out[...] = near
        if near is not source or stream is not self.compute:
            stream.keep(source, out)

    def _open_way(self, owner: int) -> None:
        """Let copies from a GPU run directly where they can; else the driver goes by the host."""
        if owner in self._ways:
            return
        self._ways.add(owner)
        runtime, number = self.xp.cuda.runtime, self.context.device_id
        if not MXNET_ENABLE_GPU_P2P.value or not runtime.deviceCanAccessPeer(number, owner):
            return
        try:
            runtime.deviceEnablePeerAccess(owner)
        except runtime.CUDARuntimeError as error:
            if "AlreadyEnabled" not in str(error):
                raise

    def to_host(self, source: Any) -> np.ndarray[Any, Any]:
        """Return a copy on the host of an array whose values are there, waiting for that copy.

        Raises:
            DeviceError: if the device reports a failure.
        """
        result = np.empty(source.shape, source.dtype)
        if not result.size:
            return result
        cuda, stream = self.xp.cuda, self.download
        try:
            with self._raw, stream.raw:
                whole = self.xp.ascontiguousarray(source)
                cuda.runtime.memcpyAsync(
                    result.ctypes.data,
                    whole.data.ptr,
                    result.nbytes,
                    cuda.runtime.memcpyDeviceToHost,
                    stream.raw.ptr,
                )
                stream.synchronize_event(stream.record())
        except cuda.runtime.CUDARuntimeError as error:
            raise DeviceError(
                f"{self.context}: expected a copy to the host to succeed, got {error}"
            ) from error
        return result

    def empty_cache(self) -> None:
        """Give free blocks on this device, and free page-locked memory, back to the driver.

        What is under way holds memory, too: it is waited for.
        """
        for stream in (self.compute, self.upload, self.communication, *self.compute.beside):
            stream.synchronize_event(stream.record())
            stream.release()
        self.pool.release()
        with self._raw:
            self.xp.get_default_memory_pool().free_all_blocks()
        self.xp.get_default_pinned_memory_pool().free_all_blocks()

    def memory_info(self) -> MemoryInfo:
        """Return the device's memory, and what the pool has of it."""
        with self._raw:
            free, total = self.xp.cuda.runtime.memGetInfo()
        pool = self.pool.statistics()
        return MemoryInfo(int(free), int(total), pool.used, pool.held, pool.peak_used)


DEVICE_CLASSES.append(GPUDevice)
