"""The memory pool of a GPU: `gluonish_engine.MemoryPool` instead of CuPy's.

The queue of a block is the stream that was current when it was allocated. CuPy has one allocator
for the process; ours uses the pool of the current device, and CuPy's for devices that no
`GPUDevice` opened. If the program has set another allocator for CuPy, that one stays, and the
variables ``MXNET_GPU_MEM_*`` have no effect.

PinnedDevice: ``cpu_pinned()``, page-locked host memory that a GPU copies from by DMA.

Uploads from it are asynchronous and need no staging buffer.

Recycler: returns memory of uploaded arrays to the pool, so that uploads never wait.

Batches are uploaded on a separate stream while ``compute`` processes the previous ones. Their
memory belongs to that stream. When an array is destroyed, ``compute`` may still read it, so its
block is set aside; the next upload records an event on ``compute``, and the block is free for
uploads once the event is reached. A program that runs far ahead of its GPU would accumulate
batches, so if more than four groups of blocks are set aside, it waits for the oldest.

Invariants: a destructor only appends to ``_returned``, at any point of its thread. The rest may run
concurrently, as releasing a block runs destructors of the program, which may create arrays: each
block, and each group, is removed by one thread.
"""

import contextlib
import gc
import math
from collections import deque
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import (
    MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE,
    MXNET_GPU_MEM_POOL_PAGE_SIZE,
    MXNET_GPU_MEM_POOL_RESERVE,
    MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF,
    MXNET_GPU_MEM_POOL_TYPE,
)
from gluonish.core.context import Context
from gluonish.core.device import DEVICE_CLASSES, CPUDevice
from gluonish.core.spec import Shape
from gluonish.kernels.cupy.health import Health, Mark
from gluonish.kernels.cupy.stream import DeviceStream
from gluonish_engine import Block, MemoryPool, linear_sizes, power_of_two_sizes

_MAX_WAITING = 4


class Recycler:
    """Returns the memory of a device's uploaded arrays to the pool once kernels no longer use it.

    Args:
        compute: The stream whose kernels may still use the arrays.
        ahead: The upload stream, which reuses the memory.
    """

    __slots__ = ("_ahead", "_compute", "_returned", "_waiting")

    def __init__(self, compute: DeviceStream, ahead: DeviceStream) -> None:
        self._compute = compute
        self._ahead = ahead
        self._returned: deque[Any] = deque()
        self._waiting: deque[tuple[Mark, list[Any]]] = deque()

    def add(self, owner: Any) -> None:
        """Hold the owner of a block; destroying the owner returns the block to the pool."""
        self._returned.append(owner)

    def recycle(self) -> None:
        """Release blocks that are no longer in use; called before each upload.

        Raises:
            DeviceError: The device is lost.
        """
        self._release(_MAX_WAITING)
        self._ahead.release()

    def clear(self) -> None:
        """Wait for the kernels that use the blocks added so far, and release all of these.

        Raises:
            DeviceError: The device is lost.
        """
        self._release(0)

    def _release(self, most: int) -> None:
        """Release finished groups of blocks; wait for the oldest while over ``most`` remain."""
        returned: list[Any] = []
        with contextlib.suppress(IndexError):
            while True:
                returned.append(self._returned.popleft())
        if returned:
            self._waiting.append((self._compute.record(), returned))
        for group in tuple(self._waiting):
            if len(self._waiting) > most:
                self._compute.synchronize_event(group[0])
            elif not self._compute.event_done(group[0]):
                break
            with contextlib.suppress(ValueError):  # a destructor has already removed it
                self._waiting.remove(group)


Pool = MemoryPool[Any]

_OUT_OF_MEMORY = 2  # cudaErrorMemoryAllocation, for which CuPy has no name in Python


class _Driver:
    """Allocates memory of one device from CUDA, for the pool."""

    __slots__ = ("_cuda", "_device", "_health")

    def __init__(self, cupy: ModuleType, device: Any, health: Health) -> None:
        self._cuda = cupy.cuda
        self._device = device
        self._health = health

    def allocate(self, nbytes: int) -> Any:
        """Allocate device memory; return it as CuPy's Memory object.

        Raises:
            MemoryError: The device has too little memory.
            DeviceError: The device is lost.
        """
        runtime = self._cuda.runtime
        try:
            with self._device:
                return self._cuda.Memory(nbytes)
        except runtime.CUDARuntimeError as error:
            short = error.status == _OUT_OF_MEMORY
            explained = self._health.explained(error)
            if explained is not error:
                raise explained from error
            if not short:
                raise
            raise MemoryError(f"no {nbytes} bytes on the device") from error

    def free_and_total(self) -> tuple[int, int]:
        """Return the device's free and total memory in bytes."""
        with self._device:
            free, total = self._cuda.runtime.memGetInfo()
        return int(free), int(total)


class _BlockOwner:
    """Owns the block of an array, and frees it when the array's last view is destroyed.

    Attributes:
        block: The block.
        free: The pool's `MemoryPool.free`.
    """

    __slots__ = ("block", "free")

    # No `__init__`, as each array of a program makes one.
    block: Block[Any]
    free: Callable[[Block[Any]], None]

    def __del__(self) -> None:
        self.free(self.block)


class _UploadOwner:
    """Owns a block of the upload stream, and passes it to the recycler when destroyed."""

    __slots__ = ("_owner", "_recycler")

    def __init__(self, owner: _BlockOwner, recycler: Recycler) -> None:
        self._owner = owner
        self._recycler = recycler

    def __del__(self) -> None:
        self._recycler.add(self._owner)


class _Opened(NamedTuple):
    """What the allocator needs for an opened device.

    Attributes:
        free_memory: Function that waits for pending work, and releases memory.
        uploads: CUDA's handle of the upload stream.
        recycler: Receives the upload stream's blocks when their arrays are destroyed.
    """

    pool: Pool
    free_memory: Callable[[], None]
    uploads: int
    recycler: Recycler


class Allocator:
    """The allocator that CuPy uses in this process; ``opened`` maps device numbers to pools."""

    def __init__(self, cupy: ModuleType) -> None:
        self.opened: dict[int, _Opened] = {}
        self._cuda = cupy.cuda
        self._default = cupy.get_default_memory_pool()

    def __call__(self, nbytes: int) -> Any:
        """Return a MemoryPointer to at least ``nbytes`` on the current device."""
        cuda = self._cuda
        number = cuda.runtime.getDevice()
        opened = self.opened.get(number)
        if opened is None or not nbytes:
            return self._default.malloc(nbytes)
        return self.allocate(number, nbytes, cuda.get_current_stream().ptr)

    def allocate(self, number: int, nbytes: int, stream: int) -> Any:
        """Return a MemoryPointer to at least ``nbytes`` of an opened device.

        Args:
            number: Number of the device.
            nbytes: Size in bytes, more than 0.
            stream: CUDA's handle of the stream that will use the memory.

        Raises:
            MemoryError: There is too little memory.
        """
        cuda, opened = self._cuda, self.opened[number]
        try:
            block = opened.pool.allocate(nbytes, stream)
        except MemoryError:
            block = self._allocate_again(opened, nbytes, stream)
        owner: Any = _BlockOwner()
        owner.block, owner.free = block, opened.pool.free
        if stream == opened.uploads:
            owner = _UploadOwner(owner, opened.recycler)
        memory = cuda.UnownedMemory(block.raw.ptr, block.nbytes, owner, number)
        return cuda.MemoryPointer(memory, 0)

    def _allocate_again(self, opened: _Opened, nbytes: int, stream: int) -> Block[Any]:
        """Collect garbage, free memory, and allocate a block.

        Raises:
            MemoryError: There is still too little memory, as CuPy's OutOfMemoryError.
        """
        gc.collect()
        opened.free_memory()
        try:
            return opened.pool.allocate(nbytes, stream)
        except MemoryError as error:
            reserved = opened.pool.statistics().reserved
            raise self._cuda.memory.OutOfMemoryError(nbytes, reserved) from error


def make_pool(cupy: ModuleType, device: Any, health: Health) -> Pool:
    """Return a new memory pool of a device, configured by environment variables."""
    return MemoryPool(
        _Driver(cupy, device, health), _sizes(), MXNET_GPU_MEM_POOL_RESERVE.value / 100
    )


def open_pool(
    cupy: ModuleType,
    device: Any,
    pool: Pool,
    free_memory: Callable[[], None],
    uploads: int,
    recycler: Recycler,
) -> Allocator | None:
    """Make CuPy allocate from a device's pool, unless the program has set an allocator.

    Args:
        free_memory: Function to call when memory is short.
        uploads: Handle of the stream whose blocks go to the recycler.

    Returns:
        The allocator that CuPy uses now; None if it is the program's.
    """
    current = cupy.cuda.get_allocator()
    if current == cupy.get_default_memory_pool().malloc:
        current = Allocator(cupy)
        cupy.cuda.set_allocator(current)
    if not isinstance(current, Allocator):
        return None
    current.opened[device.id] = _Opened(pool, free_memory, uploads, recycler)
    return current


def _sizes() -> Any:
    """Return how the pool rounds sizes, by environment variables; None for no pooling."""
    kind, page = MXNET_GPU_MEM_POOL_TYPE.value, MXNET_GPU_MEM_POOL_PAGE_SIZE.value
    if kind == "Naive":
        return linear_sizes(page, MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE.value)
    if kind == "Round":
        return power_of_two_sizes(page, MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF.value)
    return None


_HOST_MEMORY = 1  # cudaMemoryTypeHost: registered with the driver


class PinnedDevice(CPUDevice):
    """The device of NumPy arrays in page-locked memory, from CuPy's pool; needs a GPU."""

    __slots__ = ("_cuda",)

    def __init__(self, context: Context, cupy: ModuleType) -> None:
        super().__init__(context)
        self._cuda = cupy.cuda

    def empty(self, shape: Shape, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """Return an uninitialized array in page-locked memory.

        Raises:
            MemoryError: The driver cannot lock that much memory.
        """
        dtype = np.dtype(dtype)
        count = math.prod(shape)
        if not count:
            return np.empty(shape, dtype)
        try:
            memory = self._cuda.alloc_pinned_memory(count * dtype.itemsize)
        except self._cuda.runtime.CUDARuntimeError as error:
            raise MemoryError(f"no {count * dtype.itemsize} bytes to pin ({error})") from error
        return np.frombuffer(memory, np.uint8, count * dtype.itemsize).view(dtype).reshape(shape)


def is_pinned(cupy: ModuleType, array: np.ndarray[Any, Any]) -> bool:
    """Whether a host array is in page-locked memory, whichever allocator it is from."""
    found = cupy.cuda.runtime.pointerGetAttributes(array.ctypes.data)
    return bool(found.type == _HOST_MEMORY)


DEVICE_CLASSES.append(PinnedDevice)
