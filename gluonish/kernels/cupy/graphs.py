"""Capture launches on one GPU as CUDA graphs, to replay each by one call.

A capture runs on a separate stream, so that launches of other threads on ``compute`` do not enter
it. It executes nothing. Graphs are launched on ``compute`` only, so that one finishes before the
next begins.

Therefore all graphs of a device share one block for their temporaries
(`gluonish.kernels.cupy.scratch`), and the workspace that cuBLAS has on ``compute``. If a capture
needs a larger block, graphs that hold the old one are dropped first, and are captured again at
their next launch. Other memory that a graph reads and writes belongs to its owner.

A graph may be destroyed at any time, while the stream still runs it: its destructor only appends to
``_retired``, and a later call has the stream hold these graphs until it has finished. One capture
runs at a time; concurrent callers run without a graph.
"""

import contextlib
import gc
import logging
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

from gluonish.core.collection_pause import CollectionPause
from gluonish.core.config import (
    GLUONISH_CUBLASLT,
    GLUONISH_CUDA_COPIES,
    GLUONISH_CUDA_VECTORS,
    GLUONISH_CUDNN_RNN,
    GLUONISH_PAD_CHANNELS,
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_CUDNN_AUTOTUNE_DEFAULT,
    MXNET_CUDNN_ENABLED,
    MXNET_ENFORCE_DETERMINISM,
    Flag,
)
from gluonish.core.device import MovingArray
from gluonish.core.errors import DeviceError
from gluonish.kernels.cupy import cublas, cudnn, last_block
from gluonish.kernels.cupy.moving_arrays import Launch, find_moving, is_worth_moving
from gluonish.kernels.cupy.random_numbers import StoredKey
from gluonish.kernels.cupy.scratch import Scratch, Segment, Temporaries
from gluonish.kernels.cupy.stream import DeviceStream

_LOG = logging.getLogger("gluonish")
_OUT_OF_MEMORY = 2  # cudaErrorMemoryAllocation

# The flags that kernels read at each launch. A test compares the list with their sources.
LAUNCH_FLAGS: tuple[Flag[Any], ...] = (
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_CUDNN_AUTOTUNE_DEFAULT,
    MXNET_CUDNN_ENABLED,
    MXNET_ENFORCE_DETERMINISM,
    GLUONISH_CUBLASLT,
    GLUONISH_CUDA_COPIES,
    GLUONISH_CUDA_VECTORS,
    GLUONISH_CUDNN_RNN,
    GLUONISH_PAD_CHANNELS,
)

_SMALL_NBYTES = 1 << 20  # blocks of this size stay with their graphs
_MAX_PASSES = 3

# Forget the handles and counters of a stream, whose address a new stream may have.
_FORGET: tuple[Callable[[ModuleType, int], None], ...] = (
    *(cublas.forget, cudnn.forget, last_block.forget),
)


class Replay:
    """A captured CUDA graph, which repeats its launches on the same memory.

    Args:
        graphs: The device's graphs, to which this one belongs.
        graph: CuPy's Graph.
        segment: Memory of the kernels' temporaries, kept alive with the graph.

    Attributes:
        is_outgrown: Whether the graph was dropped so that its memory can be replaced; capturing it
            again uses the new memory.
        launches: Launches whose arguments are changed when an array has moved, by their nodes.
        moves: Arrays of the caller that it reads where they are, by the caller's index.
    """

    __slots__ = (
        *("__weakref__", "_graph", "_graphs", "_segment", "is_outgrown", "launches", "moves"),
    )

    def __init__(self, graphs: "Graphs", graph: Any, segment: Segment | None) -> None:
        self._graphs = graphs
        self._graph = graph
        self._segment = segment
        self.is_outgrown = False
        self.launches: dict[int, Launch] = {}
        self.moves: dict[int, MovingArray] = {}

    @property
    def segment(self) -> Segment | None:
        """Memory of the temporaries; None if there are none, or the graph was dropped."""
        return self._segment

    def launch(self) -> bool:
        """Launch the graph on ``compute``; return False if it was dropped or memory is short.

        Raises:
            Exception: A failure that the device reports.
        """
        segment = self._segment  # keeps it alive: another thread may call `drop`
        launched = self._graphs.launch(self._graph)
        del segment
        return launched

    def drop(self) -> None:
        """Release the graph and its memory once the stream has finished with them."""
        held = self._graph, self._segment
        self._graph = self._segment = None
        self._graphs.retire(held)

    def __del__(self) -> None:
        if self._graph is not None:
            self.drop()


class Graphs:
    """The CUDA graphs of a device.

    Args:
        device: CuPy's Device.
        compute: The stream to launch graphs on.
        scratch: Memory for the temporaries of captured kernels.

    Attributes:
        shortages: How often memory was too short for graphs.
        launches: Number of graph launches.
    """

    __slots__ = (
        "_compute",
        "_cupy",
        "_device",
        "_guard",
        "_idle",
        "_living",
        "_retired",
        "_scratch",
        "launches",
        "shortages",
    )

    def __init__(
        self, cupy: ModuleType, device: Any, compute: DeviceStream, scratch: Scratch
    ) -> None:
        self._cupy = cupy
        self._device = device
        self._compute = compute
        self._scratch = scratch
        self._guard: AbstractContextManager[None] = contextlib.nullcontext()
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
        with self._device, stream:
            guard = cublas.prepare(self._cupy, self._compute.raw.ptr)
            if guard is not None:
                self._guard = guard
            cudnn.prepare(self._cupy)
            last_block.prepare(self._cupy, self._compute.raw)
            grown: Any = None
            for _ in range(_MAX_PASSES):
                temporaries = Temporaries(self._scratch)
                graph = self._noted(stream, run, temporaries)
                if temporaries.fits:
                    made = Replay(self, graph, temporaries.segment if temporaries.needed else None)
                    self._living.add(made)
                    return made
                needed = temporaries.needed
                del graph, temporaries  # which hold the old block
                grown = self._grow(needed)  # lives until the next pass has it
            del grown
        raise DeviceError(
            "CUDA graph: expected kernels to allocate the same memory at each call, got more at "
            f"{_MAX_PASSES} calls in a row"
        )

    def _noted(self, stream: Any, run: Callable[[], None], temporaries: Temporaries) -> Any:
        """Return CuPy's Graph of the launches of a function."""
        with CollectionPause(), self._cupy.cuda.using_allocator(temporaries.allocate_pointer):
            stream.begin_capture()
            try:
                run()
            except BaseException:
                with contextlib.suppress(Exception):  # that the capture is invalid
                    stream.end_capture()
                raise
            graph = stream.end_capture()
        if temporaries.nbytes:
            gc.collect()
        if temporaries.nbytes:
            raise DeviceError(
                "CUDA graph: expected kernels to free their temporaries, got "
                f"{temporaries.nbytes} bytes that are still in use"
            )
        return graph

    def _grow(self, nbytes: int) -> Segment:
        """Replace the block of the temporaries by a larger one.

        Raises:
            MemoryError: The device has too little memory.
        """
        old = self._scratch.segment
        if old is not None and old.nbytes > _SMALL_NBYTES:
            for replay in tuple(self._living):
                if replay.segment is old:
                    replay.is_outgrown = True
                    replay.drop()
            self.release_retired()
            self._compute.synchronize_event(self._compute.record())
            self._compute.release()
        del old
        return self._scratch.grow(nbytes)

    def launch(self, graph: Any) -> bool:
        """Launch a graph on ``compute``; return False if it is None or memory is short."""
        if self._retired:
            self.release_retired()
        if graph is None:
            return False
        try:
            with self._guard:
                graph.launch(self._compute.raw)
        except Exception as error:
            if not self._is_shortage(error):
                raise
            self.shortages += 1
            return False
        self.launches += 1
        return True

    def is_worth_moving(self, nbytes: int) -> bool:
        """Whether to ask `find_moving` for an array of this size."""
        return is_worth_moving(self._cupy, nbytes)

    def find_moving(
        self,
        replay: Replay,
        run: Callable[[], None],
        array: Any,
        moved: Any,
        written: Sequence[Any],
    ) -> MovingArray | None:
        """Return an array that a replay can read at other addresses; None if it is to be copied.

        Args:
            replay: What `capture` returned for the work of ``run`` on ``array``.
            run: Launches the same work on ``moved``. It is captured, too, without executing it.
            array: The array, which the work only reads.
            moved: An array of the same size elsewhere.
            written: Arrays of the caller that the work writes.
        """
        try:
            other = self.capture(run)
        except Exception as error:
            _LOG.debug("CUDA graphs read copies of an array that moves: %.300s", error)
            return None
        graph = replay._graph
        if graph is None or other is None or other._graph is None:
            return None
        with self._device:
            moving = find_moving(self._cupy, graph, other._graph, array, moved, replay.launches)
        if moving is not None:
            moving.keep_apart(written)
        return moving

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
