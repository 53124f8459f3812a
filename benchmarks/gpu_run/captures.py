"""Capture of a stream's work as a CUDA graph, with CuPy."""

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.gpu_run.place import Place


class Captured(NamedTuple):
    """A graph, and the pool whose blocks it uses; it needs the pool as long as it lives."""

    graph: Any
    pool: Any


def capture(place: Place, stream: Any, run: Callable[[], Any], *, private: bool = True) -> Captured:
    """Run once, so that nothing lazy is left, then capture a second run.

    Args:
        place: Where.
        stream: A non-blocking stream of CuPy.
        run: Gives the stream work.
        private: Whether what it allocates comes from a pool of its own.

    Raises:
        Exception: what CuPy or CUDA refuses; the stream is out of capture mode then.
    """
    cuda = place.cupy.cuda
    place.require(stream, "begin_capture", "end_capture")
    private = private and not place.rehearsed  # pools of the double keep nothing
    with stream:
        run()
    stream.synchronize()
    with contextlib.ExitStack() as scopes:
        pool = cuda.MemoryPool() if private else None
        if pool is not None:
            scopes.enter_context(cuda.using_allocator(pool.malloc))
        scopes.enter_context(stream)
        stream.begin_capture()
        try:
            run()
        except BaseException:
            _abandon(stream)
            raise
        graph = stream.end_capture()
    graph.upload(stream)
    return Captured(graph, pool)


def _abandon(stream: Any) -> None:
    """Leave capture mode, whatever that says."""
    try:
        stream.end_capture()
    except Exception as error:
        print(f"end_capture after a failure: {error}")
