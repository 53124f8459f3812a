"""Capture launches on one GPU as CUDA graphs, to replay each by one call.

A capture runs on a separate stream, so that launches of other threads on ``compute`` do not enter
it. It executes nothing. Graphs are launched on ``compute`` only, so that one finishes before the
next begins.

Therefore all graphs of a device share one memory pool for their temporaries, which nothing else
uses. Each graph holds the memory that it was captured with, so that the pool may release the rest
at any time. Other memory that a graph reads and writes belongs to its owner.

A graph may be destroyed at any time, while the stream still runs it: its destructor only appends to
``_retired``, and a later call has the stream hold these graphs until it has finished. One capture
runs at a time; concurrent callers run without a graph.
"""

import contextlib
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from gluonish.core.collection_pause import CollectionPause
from gluonish.core.config import (
    GLUONISH_CUBLASLT,
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_CUDNN_ENABLED,
    MXNET_ENFORCE_DETERMINISM,
    Flag,
)
from gluonish.kernels.cupy import cublas, cudnn
from gluonish.kernels.cupy.pool import Temporaries
from gluonish.kernels.cupy.random_numbers import StoredKey
from gluonish.kernels.cupy.stream import DeviceStream

_OUT_OF_MEMORY = 2  # cudaErrorMemoryAllocation

# The flags that kernels read at each launch. A test compares the list with their sources.
LAUNCH_FLAGS: tuple[Flag[bool], ...] = (
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_CUDNN_ENABLED,
    MXNET_ENFORCE_DETERMINISM,
    GLUONISH_CUBLASLT,
)

# Functions that initialize a library for a stream; the capturing stream is current.
_PREPARE: tuple[Callable[[ModuleType], None], ...] = (cublas.prepare, cudnn.prepare)
# Forget the handles of a stream, whose address a new stream may have.
_FORGET: tuple[Callable[[ModuleType, int], None], ...] = (cublas.forget, cudnn.forget)


class Replay:
    """A captured CUDA graph, which repeats its launches on the same memory.

    Args:
        graphs: The device's graphs, to which this one belongs.
        graph: CuPy's Graph.
        memory: Memory of the kernels' temporaries, kept alive with the graph.
    """

    __slots__ = ("__weakref__", "_graph", "_graphs", "_memory")

    def __init__(self, graphs: "Graphs", graph: Any, memory: list[Any]) -> None:
        self._graphs = graphs
        self._graph = graph
        self._memory = memory

    def launch(self) -> bool:
        """Launch the graph on ``compute``; return False if it was dropped or memory is short.

        Raises:
            Exception: A failure that the device reports.
        """
        memory = self._memory  # keeps it alive: another thread may call `drop`
        launched = self._graphs.launch(self._graph)
        del memory
        return launched

    def drop(self) -> None:
        """Release the graph and its memory once the stream has finished with them."""
        held = self._graph, self._memory
        self._graph, self._memory = None, []
        self._graphs.retire(held)

    def __del__(self) -> None:
        if self._graph is not None:
            self.drop()


class Graphs:
    """The CUDA graphs of a device.

    Args:
        device: CuPy's Device.
        compute: The stream to launch graphs on.
        temporaries: Memory pool for the temporaries of captured kernels.

    Attributes:
        shortages: How often memory was too short for graphs.
        launches: Number of graph launches.
    """

    __slots__ = (
        "_compute",
        "_cupy",
        "_device",
        "_idle",
        "_living",
        "_retired",
        "_temporaries",
        "launches",
        "shortages",
    )

    def __init__(
        self, cupy: ModuleType, device: Any, compute: DeviceStream, temporaries: Temporaries
    ) -> None:
        self._cupy = cupy
        self._device = device
        self._compute = compute
        self._temporaries = temporaries
        self._idle: deque[Any] = deque([None])  # the capturing stream, made by the first capture
        self._living: weakref.WeakSet[Replay] = weakref.WeakSet()
        self._retired: deque[Any] = deque()
        self.shortages = 0
        self.launches = 0

    def can_capture(self) -> bool:
        """Whether the current stream is `compute`."""
        return bool(self._cupy.cuda.get_current_stream().ptr == self._compute.raw.ptr)

    def capture(self, run: Callable[[], None]) -> Replay | None:
        """Capture the launches of a function, without executing them.

        Args:
            run: Launches work on the current stream. It must have run once before, so that
                first-call initialization is done.

        Returns:
            None if another capture is running, or there is too little memory.

        Raises:
            Exception: What ``run`` raises, or a failure of CUDA. Nothing was executed.
        """
        self.release_retired()
        try:
            stream = self._idle.pop()
        except IndexError:
            return None
        try:
            if stream is None:
                with self._device:
                    stream = self._cupy.cuda.Stream(non_blocking=True)
            return self._captured(stream, run)
        except Exception as error:
            if not self._is_shortage(error):
                raise
            self.shortages += 1
            return None
        finally:
            if stream is not None and _is_stuck(stream):
                for forget in _FORGET:
                    forget(self._cupy, stream.ptr)
                stream = None
            self._idle.append(stream)

    def _captured(self, stream: Any, run: Callable[[], None]) -> Replay:
        memory: dict[int, Any] = {}
        cuda = self._cupy.cuda
        with self._device, stream:
            for prepare in _PREPARE:
                prepare(self._cupy)
            with (
                CollectionPause(),
                cuda.using_allocator(partial(self._temporaries.allocate_pointer, memory)),
            ):
                stream.begin_capture()
                try:
                    run()
                except BaseException:
                    with contextlib.suppress(Exception):  # that the capture is invalid
                        stream.end_capture()
                    raise
                graph = stream.end_capture()
        made = Replay(self, graph, list(memory.values()))
        self._living.add(made)
        return made

    def launch(self, graph: Any) -> bool:
        """Launch a graph on ``compute``; return False if it is None or memory is short."""
        if self._retired:
            self.release_retired()
        if graph is None:
            return False
        try:
            graph.launch(self._compute.raw)
        except Exception as error:
            if not self._is_shortage(error):
                raise
            self.shortages += 1
            return False
        self.launches += 1
        return True

    def settings(self) -> tuple[object, ...]:
        """Return a snapshot of the flags that kernels read at each launch."""
        return tuple([flag.state for flag in LAUNCH_FLAGS])

    def copy(self, target: Any, source: Any) -> None:
        """Copy between contiguous arrays of equal size, on ``compute``."""
        runtime = self._cupy.cuda.runtime
        runtime.memcpyAsync(
            *(target.data.ptr, source.data.ptr, target.nbytes),
            *(runtime.memcpyDeviceToDevice, self._compute.raw.ptr),
        )

    def new_key(self) -> StoredKey:
        """Allocate a random key that graphs read, on the current stream."""
        return StoredKey(self._cupy)

    def retire(self, held: Any) -> None:
        """Release an object once ``compute`` has finished with it."""
        self._retired.append(held)

    def drop(self) -> None:
        """Drop all graphs because their memory is needed; they may be captured again."""
        living = [replay for replay in tuple(self._living) if replay._graph is not None]
        if living:
            self.shortages += 1
        for replay in living:
            replay.drop()

    def release_retired(self) -> None:
        """Pass retired objects to the stream, which keeps them until it has finished with them."""
        retired = []
        with contextlib.suppress(IndexError):
            while True:
                retired.append(self._retired.popleft())
        if retired:
            self._compute.keep(retired)

    def _is_shortage(self, error: BaseException | None) -> bool:
        """Whether an error is due to too little memory."""
        reported = self._cupy.cuda.runtime.CUDARuntimeError
        while error is not None:
            status = getattr(error, "status", 0) if isinstance(error, reported) else 0
            if isinstance(error, MemoryError) or status == _OUT_OF_MEMORY:
                return True
            error = error.__cause__
        return False


def _is_stuck(stream: Any) -> bool:
    """Whether a stream is still in capture mode, or its state is unknown."""
    try:
        return stream is not None and bool(stream.is_capturing())
    except Exception:
        return True
