"""A GPU's memory pool: `gluonish_engine.MemoryPool` in CuPy's place.

The queue of a block is the stream that was current when it was taken. CuPy asks one allocator for
the whole process; ours goes to the pool of the current device, and to CuPy's own for devices that
no `GPUDevice` opened. A program that gave CuPy another allocator before keeps that one, and the
variables ``MXNET_GPU_MEM_*`` then govern nothing.
"""

import gc
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.config import (
    MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE,
    MXNET_GPU_MEM_POOL_PAGE_SIZE,
    MXNET_GPU_MEM_POOL_RESERVE,
    MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF,
    MXNET_GPU_MEM_POOL_TYPE,
)
from gluonish.kernels.cupy.health import Health
from gluonish.kernels.cupy.recycling import Recycler
from gluonish_engine import Block, MemoryPool, linear_sizes, power_of_two_sizes

Pool = MemoryPool[Any]

_OUT_OF_MEMORY = 2  # cudaErrorMemoryAllocation, for which CuPy has no name in Python


class _Driver:
    """Memory of one device, from CUDA.

    Args:
        cupy: The module.
        device: CuPy's Device.
        health: Told what goes wrong.
    """

    __slots__ = ("_cuda", "_device", "_health")

    def __init__(self, cupy: ModuleType, device: Any, health: Health) -> None:
        self._cuda = cupy.cuda
        self._device = device
        self._health = health

    def allocate(self, nbytes: int) -> Any:
        """Return CuPy's Memory.

        Raises:
            MemoryError: if the device has no more.
            DeviceError: if it is lost.
        """
        runtime = self._cuda.runtime
        try:
            with self._device:
                return self._cuda.Memory(nbytes)
        except runtime.CUDARuntimeError as error:
            short = error.status == _OUT_OF_MEMORY
            told = self._health.explained(error)
            if told is not error:
                raise told from error
            if not short:
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


class _Uploaded:
    """Owns a block of the stream of uploads; hands it to the recycler in the end."""

    __slots__ = ("_lease", "_recycler")

    def __init__(self, lease: _Lease, recycler: Recycler) -> None:
        self._lease = lease
        self._recycler = recycler

    def __del__(self) -> None:
        self._recycler.give(self._lease)


class _Opened(NamedTuple):
    """What the allocator knows of a device.

    Attributes:
        pool: Its memory.
        relieve: Gives back what nobody needs, after waiting for what is under way.
        uploads: The stream of uploads, as CUDA knows it.
        recycler: Gets the blocks of that stream.
    """

    pool: Pool
    relieve: Callable[[], None]
    uploads: int
    recycler: Recycler


class _Allocator:
    """What CuPy calls for every array of the process.

    Args:
        cupy: The module.

    Attributes:
        opened: What there is of each device, by its number.
    """

    def __init__(self, cupy: ModuleType) -> None:
        self.opened: dict[int, _Opened] = {}
        self._cuda = cupy.cuda
        self._own = cupy.get_default_memory_pool()

    def __call__(self, nbytes: int) -> Any:
        """Return a MemoryPointer to ``nbytes`` or more on the current device."""
        cuda = self._cuda
        number = cuda.runtime.getDevice()
        here = self.opened.get(number)
        if here is None or not nbytes:
            return self._own.malloc(nbytes)
        stream = cuda.get_current_stream().ptr
        try:
            block = self._take(here, nbytes, stream)
        except MemoryError as error:
            reserved = here.pool.statistics().reserved
            raise cuda.memory.OutOfMemoryError(nbytes, reserved) from error
        owner: Any = _Lease(here.pool, block)
        if stream == here.uploads:
            owner = _Uploaded(owner, here.recycler)
        memory = cuda.UnownedMemory(block.raw.ptr, block.nbytes, owner, number)
        return cuda.MemoryPointer(memory, 0)

    def _take(self, here: _Opened, nbytes: int, stream: int) -> Block[Any]:
        """Return a block, if need be after garbage and what other streams keep went back.

        Raises:
            MemoryError: if there is none all the same.
        """
        try:
            return here.pool.take(nbytes, stream)
        except MemoryError:
            gc.collect()
            here.relieve()
        return here.pool.take(nbytes, stream)


class _Piece:
    """Memory of graphs, counted while it lives.

    Args:
        raw: CuPy's Memory.
        nbytes: Its size.
        living: Sizes of all such pieces.
    """

    __slots__ = ("_living", "ptr", "raw")

    def __init__(self, raw: Any, nbytes: int, living: dict[int, int]) -> None:
        self.raw = raw
        self.ptr = raw.ptr
        self._living = living
        living[id(self)] = nbytes

    def __del__(self) -> None:
        self._living.pop(id(self), None)


class Temporaries:
    """Memory for what kernels allocate while they are captured as CUDA graphs; for nothing else.

    Who captures holds what it got as long as its graph lives.

    Args:
        cupy: The module.
        device: CuPy's Device.

    Attributes:
        peak: The most bytes that there ever were at once.
    """

    __slots__ = ("_cuda", "_driver", "_living", "_number", "_own", "_pool", "peak")

    def __init__(self, cupy: ModuleType, device: Any, health: Health) -> None:
        self._cuda = cupy.cuda
        self._own = cupy.get_default_memory_pool()
        self._number = device.id
        self._driver = _Driver(cupy, device, health)
        self._living: dict[int, int] = {}
        self._pool: Pool = MemoryPool(self, _sizes())
        self.peak = 0

    def allocate(self, nbytes: int) -> _Piece:
        """Return new memory, as the source of the pool.

        Raises:
            MemoryError: if the device has no more.
        """
        made = _Piece(self._driver.allocate(nbytes), nbytes, self._living)
        self.peak = max(self.peak, self.nbytes)
        return made

    def free_and_total(self) -> tuple[int, int]:
        """Return the device's free and total bytes."""
        return self._driver.free_and_total()

    def take(self, held: dict[int, Any], nbytes: int) -> Any:
        """Return a MemoryPointer, as an allocator of CuPy's does.

        Args:
            held: Gets what the memory must be held by, by a key.
            nbytes: How many.

        Raises:
            MemoryError: if there is none.
        """
        if not nbytes:
            return self._own.malloc(0)
        block = self._pool.take(nbytes)
        piece = block.raw
        held[id(piece)] = piece
        lease = _Lease(self._pool, block)
        memory = self._cuda.UnownedMemory(piece.ptr, block.nbytes, lease, self._number)
        return self._cuda.MemoryPointer(memory, 0)

    def release(self) -> None:
        """Give back to the driver what no graph holds."""
        self._pool.release()

    @property
    def nbytes(self) -> int:
        """Bytes that there are now."""
        return sum(tuple(self._living.values()))


def make_pool(cupy: ModuleType, device: Any, health: Health) -> Pool:
    """Return a new pool of a device's memory, as the environment says now."""
    return MemoryPool(
        _Driver(cupy, device, health), _sizes(), MXNET_GPU_MEM_POOL_RESERVE.value / 100
    )


def open_pool(
    cupy: ModuleType,
    device: Any,
    pool: Pool,
    relieve: Callable[[], None],
    uploads: int,
    recycler: Recycler,
) -> None:
    """Have CuPy allocate from a pool on a device, unless the program gave it an allocator.

    Args:
        device: CuPy's Device.
        pool: The device's memory.
        relieve: Called where memory runs out: gives back what nobody needs.
        uploads: The stream whose blocks go to the recycler.
        recycler: See `Recycler`.
    """
    current = cupy.cuda.get_allocator()
    if current == cupy.get_default_memory_pool().malloc:
        current = _Allocator(cupy)
        cupy.cuda.set_allocator(current)
    if isinstance(current, _Allocator):
        current.opened[device.id] = _Opened(pool, relieve, uploads, recycler)


def _sizes() -> Any:
    """Return the strategy that the environment names; None for no pool."""
    kind, page = MXNET_GPU_MEM_POOL_TYPE.value, MXNET_GPU_MEM_POOL_PAGE_SIZE.value
    if kind == "Naive":
        return linear_sizes(page, MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE.value)
    if kind == "Round":
        return power_of_two_sizes(page, MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF.value)
    return None
