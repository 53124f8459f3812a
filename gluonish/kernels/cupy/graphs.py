"""Graphs: launches of one GPU that are captured as CUDA graphs, to be repeated by one call each.

A capture runs on a stream of its own, where nobody else launches: what another thread launches on
``compute`` meanwhile is none of its business. It executes nothing. The graph is then launched on
``compute``, and nowhere else, so that one is through before the next one begins.

Therefore all graphs of a device can share one pool of memory for what their kernels allocate in
between, which nothing else uses. Each graph holds the memory that it was captured with, so that the
pool may give back the rest at any time. What a graph reads and writes besides is its owner's.

A graph may go at any moment, and the stream may not be through with it: a destructor only appends
to ``_retired``, and whoever comes next hands it to the stream to keep until then. One capture goes
on at a time; who finds another one under way does without.
"""

import contextlib
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from gluonish.core.collection_pause import CollectionPause
from gluonish.kernels.cupy import cublas, cudnn
from gluonish.kernels.cupy.pool import Temporaries
from gluonish.kernels.cupy.random_numbers import StoredKey
from gluonish.kernels.cupy.stream import DeviceStream

_OUT_OF_MEMORY = 2  # cudaErrorMemoryAllocation

# Make what a library needs once for each stream; called with the one current that will capture.
_PREPARE: tuple[Callable[[ModuleType], None], ...] = (cublas.prepare, cudnn.prepare)


class Replay:
    """Launches that can be done once more, on the memory that they had.

    Args:
        graphs: Whose it is.
        graph: CuPy's Graph.
        memory: What its kernels allocate; only held.
    """

    __slots__ = ("__weakref__", "_graph", "_graphs", "_memory")

    def __init__(self, graphs: "Graphs", graph: Any, memory: list[Any]) -> None:
        self._graphs = graphs
        self._graph = graph
        self._memory = memory

    def launch(self) -> bool:
        """Launch it on ``compute``; False, and nothing was launched, where it cannot be any more.

        Raises:
            Exception: What the device reports.
        """
        memory = self._memory  # another thread may drop it in the middle
        launched = self._graphs.launch(self._graph)
        del memory
        return launched

    def drop(self) -> None:
        """Let graph and memory go when the stream is through with them."""
        held = self._graph, self._memory
        self._graph, self._memory = None, []
        self._graphs.retire(held)

    def __del__(self) -> None:
        if self._graph is not None:
            self.drop()


class Graphs:
    """The CUDA graphs of a device.

    Args:
        cupy: The module.
        device: CuPy's Device.
        compute: The stream that they are launched on.
        temporaries: Memory for what their kernels allocate.

    Attributes:
        shortages: How often there was too little memory for them.
        launches: How many were launched so far.
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
        self._idle: deque[Any] = deque([None])  # the stream of captures, made by the first
        self._living: weakref.WeakSet[Replay] = weakref.WeakSet()
        self._retired: deque[Any] = deque()
        self.shortages = 0
        self.launches = 0

    def here(self) -> bool:
        """Whether the current stream is the one that graphs are launched on."""
        return bool(self._cupy.cuda.get_current_stream().ptr == self._compute.raw.ptr)

    def capture(self, run: Callable[[], None]) -> Replay | None:
        """Return what a function launches, without having executed it.

        Args:
            run: Launches work on the current stream; it was run before, so that nothing is left
                that is made at a first call.

        Returns:
            None where another capture is under way, or there is too little memory.

        Raises:
            Exception: What ``run`` raises, or CUDA about what it did. Nothing was executed.
        """
        self.let_go()
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
            self._idle.append(None if _is_stuck(stream) else stream)

    def _captured(self, stream: Any, run: Callable[[], None]) -> Replay:
        memory: dict[int, Any] = {}
        cuda = self._cupy.cuda
        with self._device, stream:
            for prepare in _PREPARE:
                prepare(self._cupy)
            with (
                CollectionPause(),
                cuda.using_allocator(partial(self._temporaries.take, memory)),
            ):
                stream.begin_capture()
                try:
                    run()
                except BaseException:
                    with contextlib.suppress(Exception):  # it says that the capture is no good
                        stream.end_capture()
                    raise
                graph = stream.end_capture()
        made = Replay(self, graph, list(memory.values()))
        self._living.add(made)
        return made

    def launch(self, graph: Any) -> bool:
        """Launch a graph of CuPy's on ``compute``; False where it is gone, or lacks memory."""
        if self._retired:
            self.let_go()
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

    def copy(self, target: Any, source: Any) -> None:
        """Copy an array to another one without gaps of its size, on ``compute``."""
        runtime = self._cupy.cuda.runtime
        runtime.memcpyAsync(
            *(target.data.ptr, source.data.ptr, target.nbytes),
            *(runtime.memcpyDeviceToDevice, self._compute.raw.ptr),
        )

    def new_key(self) -> StoredKey:
        """Return room for a key that graphs read, on the current stream."""
        return StoredKey(self._cupy)

    def retire(self, held: Any) -> None:
        """Take what is to go when ``compute`` is through with it."""
        self._retired.append(held)

    def drop(self) -> None:
        """Let all graphs go, since their memory is wanted; they may be captured again."""
        living = [replay for replay in tuple(self._living) if replay._graph is not None]
        if living:
            self.shortages += 1
        for replay in living:
            replay.drop()

    def let_go(self) -> None:
        """Hand to the stream what was retired, to keep until it is through with it."""
        gone = []
        with contextlib.suppress(IndexError):
            while True:
                gone.append(self._retired.popleft())
        if gone:
            self._compute.keep(gone)

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
    """Whether a stream did not leave capture mode, or nobody knows."""
    try:
        return stream is not None and bool(stream.is_capturing())
    except Exception:
        return True
