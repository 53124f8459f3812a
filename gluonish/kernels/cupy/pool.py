"""A GPU's memory pool: `gluonish_engine.MemoryPool` in CuPy's place.

The queue of a block is the stream that was current when it was taken. CuPy asks one allocator for
the whole process; ours goes to the pool of the current device, and to CuPy's own for devices that
no `GPUDevice` opened. A program that gave CuPy another allocator before keeps that one, and the
variables ``MXNET_GPU_MEM_*`` then govern nothing.
"""

from types import ModuleType
from typing import Any

from gluonish.core.config import (
    MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE,
    MXNET_GPU_MEM_POOL_PAGE_SIZE,
    MXNET_GPU_MEM_POOL_RESERVE,
    MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF,
    MXNET_GPU_MEM_POOL_TYPE,
)
from gluonish_engine import Block, MemoryPool, linear_sizes, power_of_two_sizes

__all__ = ["Pool", "make_pool", "open_pool"]

Pool = MemoryPool[Any]
_NO_MEMORY = 2  # cudaErrorMemoryAllocation, which CuPy does not name


class _Driver:
    """Memory of one device, from CUDA.

    Args:
        cupy: The module.
        device: CuPy's Device.
    """

    __slots__ = ("_cuda", "_device")

    def __init__(self, cupy: ModuleType, device: Any) -> None:
        self._cuda = cupy.cuda
        self._device = device

    def allocate(self, nbytes: int) -> Any:
        """Return CuPy's Memory.

        Raises:
            MemoryError: if the device has no more.
        """
        runtime = self._cuda.runtime
        try:
            with self._device:
                return self._cuda.Memory(nbytes)
        except runtime.CUDARuntimeError as error:
            if error.status != _NO_MEMORY:
                raise
            raise MemoryError(f"no {nbytes} bytes on the device") from error

    def free_and_total(self) -> tuple[int, int]:
        """Return free and total bytes."""
        with self._device:
            free, total = self._cuda.runtime.memGetInfo()
        return int(free), int(total)


class _Lease:
    """Owns a block for an array; gives it back when the last view of that goes."""

    __slots__ = ("_block", "_pool")

    def __init__(self, pool: Pool, block: Block[Any]) -> None:
        self._pool = pool
        self._block = block

    def __del__(self) -> None:
        self._pool.give(self._block)


class _Allocator:
    """What CuPy calls for every array of the process.

    Args:
        cupy: The module.

    Attributes:
        pools: By the device's number.
    """

    def __init__(self, cupy: ModuleType) -> None:
        self.pools: dict[int, Pool] = {}
        self._cuda = cupy.cuda
        self._own = cupy.get_default_memory_pool()

    def __call__(self, nbytes: int) -> Any:
        """Return a MemoryPointer to ``nbytes`` or more on the current device."""
        cuda = self._cuda
        number = cuda.runtime.getDevice()
        pool = self.pools.get(number)
        if pool is None or not nbytes:
            return self._own.malloc(nbytes)
        try:
            block = pool.take(nbytes, cuda.get_current_stream().ptr)
        except MemoryError as error:
            raise cuda.memory.OutOfMemoryError(nbytes, pool.statistics().reserved) from error
        memory = cuda.UnownedMemory(block.raw.ptr, block.nbytes, _Lease(pool, block), number)
        return cuda.MemoryPointer(memory, 0)


def make_pool(cupy: ModuleType, device: Any) -> Pool:
    """Return a new pool of a device's memory, as the environment says now."""
    return MemoryPool(_Driver(cupy, device), _sizes(), MXNET_GPU_MEM_POOL_RESERVE.value / 100)


def open_pool(cupy: ModuleType, device: Any) -> Pool:
    """Return a new pool from which CuPy allocates on a device."""
    pool = make_pool(cupy, device)
    current = cupy.cuda.get_allocator()
    if current == cupy.get_default_memory_pool().malloc:
        current = _Allocator(cupy)
        cupy.cuda.set_allocator(current)
    if isinstance(current, _Allocator):
        current.pools[device.id] = pool
    return pool


def _sizes() -> Any:
    """Return the strategy that the environment names; None for no pool."""
    kind, page = MXNET_GPU_MEM_POOL_TYPE.value, MXNET_GPU_MEM_POOL_PAGE_SIZE.value
    if kind == "Naive":
        return linear_sizes(page, MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE.value)
    if kind == "Round":
        return power_of_two_sizes(page, MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF.value)
    return None
