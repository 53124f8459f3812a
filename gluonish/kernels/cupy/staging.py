"""Copies between ordinary host memory and a GPU, through page-locked chunks.

A GPU copies by DMA from and to page-locked memory only. While the DMA of one chunk runs, the
calling thread, with its team of threads, copies the next between ordinary memory and another chunk.
The chunks of a device form a ring of at most ``GLUONISH_STAGING_MB``, and a copy waits for the
oldest if all are in use. So only streams whose copies wait for no kernel use it; the others hold
blocks of CuPy's pool of page-locked memory until the copy has ended. Small uploads take one such
block. If the driver pins no memory, it copies from pageable memory, slower.

Invariant: a chunk belongs to the ring, together with the last copy that uses it, or to one thread.
There is no lock, which a forked child might find taken: a `deque` appends and pops atomically.
"""

from collections import deque
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import GLUONISH_STAGING_MB
from gluonish.kernels import teams
from gluonish.kernels.cupy.health import Mark
from gluonish.kernels.cupy.pool import is_pinned
from gluonish.kernels.cupy.stream import DeviceStream
from gluonish.kernels.generated import strided_copy

CHUNK_NBYTES = 2 << 20
LARGE = 1 << 16  # bytes from which a copy uses chunks; below, they cost more than the copy
_AHEAD = 4  # chunks of a download that the GPU fills before the first is read
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
    """

    __slots__ = ("_cupy", "_free", "_made")

    def __init__(self, cupy: ModuleType) -> None:
        self._cupy = cupy
        self._free: deque[_Chunk] = deque()
        self._made = 0  # threads that count at the same time may lose one: a chunk more is made

    def upload(
        self, source: Host, out: Any, stream: DeviceStream, *, constant: bool, ring: bool
    ) -> tuple[Host, ...]:
        """Copy an array to a contiguous one of the current device, and convert its dtype.

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
        if source.shape != out.shape:
            source = np.broadcast_to(source, out.shape)
        most = out.nbytes
        if most >= LARGE and GLUONISH_STAGING_MB.value:
            most = CHUNK_NBYTES
        else:
            ring = False
        held: list[Host] = []
        address = out.data.ptr
        try:
            for piece in _pieces(source, most // out.dtype.itemsize):
                address += self._upload_piece(piece, out.dtype, address, stream, held, ring=ring)
        except BaseException:
            stream.keep(*held)
            raise
        return tuple(held)

    def _upload_piece(
        self,
        piece: Host,
        dtype: np.dtype[Any],
        address: int,
        stream: DeviceStream,
        held: list[Host],
        *,
        ring: bool,
    ) -> int:
        """Copy one piece to an address, and append memory to hold; return the number of bytes."""
        nbytes = piece.size * dtype.itemsize
        chunk = self._take() if ring else None
        block = self._block(nbytes) if chunk is None else chunk
        try:
            staged = _staged(piece, dtype, block)
            if chunk is None:
                held.append(staged)
            self._start(address, staged.ctypes.data, nbytes, stream, upload=True)
        finally:
            if chunk is not None:
                self._free.append(_Chunk(chunk, stream, stream.record()))
        return nbytes

    def download(self, source: Any, out: Host, stream: DeviceStream) -> None:
        """Copy a contiguous array of the current device to one of the host, and wait for it."""
        if out.nbytes < LARGE or not GLUONISH_STAGING_MB.value or self._is_direct(out, source):
            self._start(out.ctypes.data, source.data.ptr, out.nbytes, stream, upload=False)
            stream.synchronize_event(stream.record())
            return
        target, address = out.reshape(-1).view(np.uint8), source.data.ptr
        started: deque[tuple[Host, _Chunk]] = deque()
        try:
            for start in range(0, target.size, CHUNK_NBYTES):
                piece = target[start : start + CHUNK_NBYTES]
                self._start_piece(piece, address + start, stream, started)
                if len(started) == _AHEAD:
                    self._finish_piece(*started.popleft())
            while started:
                self._finish_piece(*started.popleft())
        finally:
            self._free.extend(chunk for _, chunk in started)

    def _start_piece(
        self, piece: Host, address: int, stream: DeviceStream, started: deque[tuple[Host, _Chunk]]
    ) -> None:
        """Start the download of one piece; if there is no chunk, download it and wait."""
        chunk = self._take()
        place = piece if chunk is None else chunk
        self._start(place.ctypes.data, address, piece.size, stream, upload=False)
        mark = stream.record()
        if chunk is None:
            stream.synchronize_event(mark)
        else:
            started.append((piece, _Chunk(chunk, stream, mark)))

    def _finish_piece(self, piece: Host, chunk: _Chunk) -> None:
        """Wait until the GPU has filled a chunk, and copy it out."""
        chunk.stream.synchronize_event(chunk.mark)
        _fill(piece, chunk.memory[: piece.size])
        self._free.appendleft(chunk)

    @property
    def held(self) -> int:
        """Bytes of the chunks that no thread uses."""
        return sum(chunk.memory.nbytes for chunk in self._free)

    def clear(self) -> None:
        """Drop all chunks, when all work of the device has ended."""
        self._free.clear()
        self._made = 0

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

    def _take(self) -> Host | None:
        """Return a chunk that no copy uses; None if others have them all, or none can be made.

        Raises:
            DeviceError: The device is lost.
        """
        try:
            oldest = self._free.popleft()
        except IndexError:
            return self._new_chunk()
        if not oldest.stream.event_done(oldest.mark):
            made = self._new_chunk()
            if made is not None:
                self._free.appendleft(oldest)
                return made
            oldest.stream.synchronize_event(oldest.mark)
        return oldest.memory

    def _new_chunk(self) -> Host | None:
        """Return a new chunk; None if there are enough, or the driver pins no more memory."""
        if (self._made + 1) * CHUNK_NBYTES > GLUONISH_STAGING_MB.value * _MB:
            return None
        made = self._block(CHUNK_NBYTES)
        self._made += made is not None
        return made

    def _block(self, nbytes: int) -> Host | None:
        """Return bytes of CuPy's pool of page-locked memory; None if the driver pins no more."""
        try:
            memory = self._cupy.cuda.alloc_pinned_memory(nbytes)
        except self._cupy.cuda.runtime.CUDARuntimeError:
            return None
        return np.frombuffer(memory, np.uint8, nbytes)


def _staged(source: Host, dtype: np.dtype[Any], block: Host | None) -> Host:
    """Return a copy of an array in a block of memory; None for pageable memory."""
    if block is None:
        staged = np.empty(source.shape, dtype)
    else:
        staged = block[: source.size * dtype.itemsize].view(dtype).reshape(source.shape)
    _fill(staged, source)
    return staged


def _fill(target: Host, source: Host) -> None:
    """Copy host arrays of one shape, and convert the dtype; large ones on a team of threads."""
    if target.dtype == source.dtype and strided_copy.is_large(target) and teams.may_run_here():
        strided_copy.copy(target, source)
    else:
        np.copyto(target, source, casting="unsafe")


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
