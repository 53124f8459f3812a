"""Copies between ordinary host memory and a GPU, through page-locked chunks.

A GPU copies by DMA from and to page-locked memory only. While the DMA of one chunk runs, several
threads copy others between ordinary memory and page-locked chunks (`run_steps`). The chunks of a
device form a ring of at most ``GLUONISH_STAGING_MB``, and a copy waits for the oldest if all are in
use. So only streams whose copies wait for no kernel use it; the others hold blocks of CuPy's pool
of page-locked memory until the copy has ended. Small uploads take one such block. If the driver
pins no memory, it copies from pageable memory, slower.

Invariant: a chunk belongs to the ring, together with the last copy that uses it, or to one thread.
There is no lock, which a forked child might find taken: a `deque` appends and pops atomically.
"""

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import GLUONISH_STAGING_MB
from gluonish.kernels.cupy.copy_threads import run_steps
from gluonish.kernels.cupy.health import Mark
from gluonish.kernels.cupy.pool import is_pinned
from gluonish.kernels.cupy.stream import DeviceStream

CHUNK_NBYTES = 2 << 20
LARGE = 1 << 16  # bytes from which a copy uses chunks; below, they cost more than the copy
_AHEAD = 6  # chunks of a download that the GPU fills before they are read
_MB = 1 << 20

Host = np.ndarray[Any, Any]


class _Chunk(NamedTuple):
    """Page-locked memory, and the end of the last copy that uses it."""

    memory: Host
    stream: DeviceStream
    mark: Mark


class Staging:
    """The page-locked chunks of a device, and copies through them.

    Args:
        cupy: The CuPy module.
        device: CuPy's Device.
    """

    __slots__ = ("_cupy", "_device", "_free", "_made")

    def __init__(self, cupy: ModuleType, device: Any) -> None:
        self._cupy = cupy
        self._device = device
        self._free: deque[_Chunk] = deque()
        self._made: deque[None] = deque()  # an element for each chunk

    def upload(
        self, source: Host, out: Any, stream: DeviceStream, *, constant: bool, ring: bool
    ) -> tuple[Host, ...]:
        """Copy an array to a contiguous one of the device, and convert its dtype.

        Args:
            constant: Whether the source does not change until the stream has finished; otherwise it
                may change when this returns.
            ring: Whether to use chunks of the ring.

        Returns:
            Memory to hold until the stream has finished.
        """
        if constant and self._is_direct(source, out):
            self._start(out.data.ptr, source.ctypes.data, out.nbytes, stream, upload=True)
            return (source,)
        limit, dtype = _limit(out.nbytes), out.dtype
        if source.shape != out.shape:
            source = np.broadcast_to(source, out.shape)
        pieces: deque[tuple[Host, int]] = deque()
        address = out.data.ptr
        for piece in _pieces(source, (CHUNK_NBYTES if limit else out.nbytes) // dtype.itemsize):
            pieces.append((piece, address))
            address += piece.size * dtype.itemsize
        held: list[Host] = []

        def step() -> None:
            piece, address = pieces.popleft()
            chunk = self._take(limit) if ring else None
            try:
                staged = self._staged(piece, dtype, chunk)
                if chunk is None:
                    held.append(staged)
                self._start(address, staged.ctypes.data, staged.nbytes, stream, upload=True)
            finally:
                if chunk is not None:
                    self._free.append(_Chunk(chunk, stream, stream.record()))

        self._run(step, len(pieces), held, stream)
        return tuple(held)

    def _run(
        self, step: Callable[[], None], count: int, held: list[Host], stream: DeviceStream
    ) -> None:
        """Run the steps of an upload; after an error, hold memory that the stream may still use."""
        if count == 1:
            step()
            return
        try:
            run_steps(partial(self._on_device, step), count)
        except BaseException:
            stream.keep(*held)
            raise

    def _on_device(self, step: Callable[[], None]) -> None:
        with self._device:
            step()

    def download(self, source: Any, out: Host, stream: DeviceStream) -> None:
        """Copy a contiguous array of the device to one of the host, and wait for the copy."""
        limit, address = _limit(out.nbytes), source.data.ptr
        if not limit or self._is_direct(out, source):
            self._start(out.ctypes.data, address, out.nbytes, stream, upload=False)
            stream.synchronize_event(stream.record())
            return
        target = out.reshape(-1).view(np.uint8)
        offsets = deque(range(0, target.size, CHUNK_NBYTES))
        count = len(offsets)
        started: deque[tuple[Host, _Chunk]] = deque()

        def start() -> None:
            try:
                offset = offsets.popleft()
            except IndexError:
                return
            piece = target[offset : offset + CHUNK_NBYTES]
            chunk = self._take(limit)
            place = piece if chunk is None else chunk
            self._start(place.ctypes.data, address + offset, piece.size, stream, upload=False)
            started.append((piece, _Chunk(place, stream, stream.record())))

        def step() -> None:
            start()  # so that there is one, as each step takes one
            piece, chunk = started.popleft()
            stream.synchronize_event(chunk.mark)
            if chunk.memory is not piece:
                np.copyto(piece, chunk.memory[: piece.size])
                self._free.appendleft(chunk)

        try:
            for _ in range(_AHEAD):
                start()
            run_steps(partial(self._on_device, step), count)
        finally:
            self._free.extend(chunk for piece, chunk in started if chunk.memory is not piece)

    @property
    def held(self) -> int:
        """Bytes of the chunks that no thread uses."""
        return sum(chunk.memory.nbytes for chunk in self._free)

    def clear(self) -> None:
        """Drop all chunks, when all work of the device has ended."""
        self._free.clear()
        self._made.clear()

    def _start(
        self, target: int, source: int, nbytes: int, stream: DeviceStream, *, upload: bool
    ) -> None:
        runtime = self._cupy.cuda.runtime
        kind = runtime.memcpyHostToDevice if upload else runtime.memcpyDeviceToHost
        runtime.memcpyAsync(target, source, nbytes, kind, stream.raw.ptr)

    def _is_direct(self, host: Host, near: Any) -> bool:
        """Whether the GPU can copy between two arrays by itself."""
        return (
            near.nbytes >= LARGE
            and host.dtype == near.dtype
            and host.shape == near.shape
            and host.flags.c_contiguous
            and is_pinned(self._cupy, host)
        )

    def _take(self, limit: int) -> Host | None:
        """Return a chunk that no copy uses; None if others have them all, or none can be made.

        Raises:
            DeviceError: The device is lost.
        """
        try:
            oldest = self._free.popleft()
        except IndexError:
            return self._new_chunk(limit)
        if not oldest.stream.event_done(oldest.mark):
            made = self._new_chunk(limit)
            if made is not None:
                self._free.appendleft(oldest)
                return made
            oldest.stream.synchronize_event(oldest.mark)
        return oldest.memory

    def _new_chunk(self, limit: int) -> Host | None:
        """Return a new chunk; None if there are enough, or the driver pins no more memory."""
        self._made.append(None)
        fits = len(self._made) * CHUNK_NBYTES <= limit
        made = self._block(CHUNK_NBYTES) if fits else None
        if made is None:
            self._made.pop()
        return made

    def _staged(self, source: Host, dtype: np.dtype[Any], chunk: Host | None) -> Host:
        """Return a copy of an array in a chunk, in another block, or in pageable memory."""
        nbytes = source.size * dtype.itemsize
        block = self._block(nbytes) if chunk is None else chunk
        if block is None:
            staged = np.empty(source.shape, dtype)
        else:
            staged = block[:nbytes].view(dtype).reshape(source.shape)
        np.copyto(staged, source, casting="unsafe")
        return staged

    def _block(self, nbytes: int) -> Host | None:
        """Return bytes of CuPy's pool of page-locked memory; None if the driver pins no more."""
        try:
            memory = self._cupy.cuda.alloc_pinned_memory(nbytes)
        except self._cupy.cuda.runtime.CUDARuntimeError:
            return None
        return np.frombuffer(memory, np.uint8, nbytes)


def _limit(nbytes: int) -> int:
    """Return the bytes of a ring for a copy of some bytes; 0 to copy them whole."""
    return GLUONISH_STAGING_MB.value * _MB if nbytes >= LARGE else 0


def _pieces(source: Host, most: int) -> Iterator[Host]:
    """Split an array, in C order, into views of at most ``most`` elements."""
    if source.size <= most:
        yield source
    elif source.flags.c_contiguous:
        flat = source.reshape(-1)
        for start in range(0, flat.size, most):
            yield flat[start : start + most]
    elif rows := most // (source.size // len(source)):
        for start in range(0, len(source), rows):
            yield source[start : start + rows]
    else:
        for row in source:
            yield from _pieces(row, most)
