"""Streams, events and graphs of a `Machine`, with the names of CuPy's.

A stream that captures notes what it is given instead of running it. The double does run it, since
shapes and later values follow from it, but what it wrote is undone when the capture ends, as none
of it has happened on a device. An event that a capturing stream records lets another stream join.
"""

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.kernels.cupy.cost_model.records import IN_GRAPH
from tests.kernels.cupy.surface import Listed

if TYPE_CHECKING:
    from tests.kernels.cupy.cost_model.records import Launch
    from tests.kernels.cupy.machine import Machine, Memory

    Used = list[tuple[Memory, bool]]  # and whether it is written

Clock = dict[str, int]
# cudaError_t of driver_types.h, with what cudaGetErrorString says.
_ERRORS = {
    1: "cudaErrorInvalidValue: invalid argument",
    2: "cudaErrorMemoryAllocation: out of memory",
    100: "cudaErrorNoDevice: no CUDA-capable device is detected",
    201: "cudaErrorDeviceUninitialized: invalid device context",
    401: "cudaErrorIllegalState: the operation cannot be performed in the present state",
    700: "cudaErrorIllegalAddress: an illegal memory access was encountered",
    704: "cudaErrorPeerAccessAlreadyEnabled: peer access is already enabled",
    719: "cudaErrorLaunchFailure: unspecified launch failure",
    900: "cudaErrorStreamCaptureUnsupported: operation not permitted when stream is capturing",
    901: "cudaErrorStreamCaptureInvalidated: operation failed due to a previous error during "
    "capture",
    905: "cudaErrorStreamCaptureIsolation: dependency created on uncaptured work in another stream",
    907: "cudaErrorCapturedEvent: operation not permitted on an event last recorded in a capturing "
    "stream",
}
_STATE, _UNSUPPORTED, _INVALIDATED, _ISOLATION, _CAPTURED_EVENT = 401, 900, 901, 905, 907


class CUDARuntimeError(RuntimeError):
    """What CUDA reports."""

    def __init__(self, status: int) -> None:
        super().__init__(_ERRORS[status])
        self.status = status


class CUDADriverError(CUDARuntimeError):
    """What the driver reports, in the same numbers; in CuPy no kin of the other."""


class KernelCall(NamedTuple):
    """A launch of a kernel whose arguments a graph can change.

    Attributes:
        function: Its handle.
        grid: Blocks.
        block: Threads.
        arguments: Their bytes.
        bind: Returns the memory that arguments refer to, and what the kernel does with them.
    """

    function: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: "tuple[bytes, ...]"
    bind: "Callable[[tuple[bytes, ...]], tuple[Used, Callable[[], object]]]"


class Step(NamedTuple):
    """A step of a capture: what it reads and writes, its name, and what it does."""

    memories: "Used"
    what: str
    work: Callable[[], object] | None
    kernel: KernelCall | None


class Capture:
    """What streams were given since one of them began to capture."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.launches: list[Launch] = []  # what a recorder was told of them
        self.before: dict[int, tuple[Memory, Any]] = {}
        self.failure: Exception | None = None
        self.owned: list[Any] = []  # memory that the driver shows of its steps

    def note(
        self,
        memories: "list[tuple[Memory, bool]]",
        what: str,
        work: Callable[[], object] | None,
        *,
        save: bool = True,
        kept: "Collection[Memory]" = (),
        kernel: KernelCall | None = None,
    ) -> None:
        """Add a step; if asked to, save what it will overwrite, which ``kept`` is not."""
        for memory, write in memories:
            if save and write and memory not in kept and id(memory) not in self.before:
                self.before[id(memory)] = memory, memory.raw.copy()
        self.steps.append(Step(memories, what, work, kernel))

    def undo(self) -> None:
        """Give memory the values back that it had."""
        for memory, values in self.before.values():
            memory.raw[...] = values

    def spoil(self, status: int) -> CUDARuntimeError:
        """Return an error that also invalidates the capture."""
        self.failure = self.failure or CUDARuntimeError(_INVALIDATED)
        return CUDARuntimeError(status)


class Stream(Listed):
    """A stream of the machine; as a scope it becomes the thread's current one."""

    _listed = "Stream"
    _machine: "Machine"

    def __init__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        priority: int | None = None,
    ) -> None:
        assert non_blocking, "a blocking stream waits for the null stream"
        assert not null, "the null stream waits for all others"
        assert not ptds, "a thread's default stream: not known to this double"
        machine = self._machine
        self.device_id = machine.here.device
        self.ptr = id(self)
        self._name = f"gpu{self.device_id}.stream{len(machine.streams)}"
        self._clock: Clock = {}
        self._us = 0.0  # what its kernels took, of those that say so
        self._deferred: list[tuple[int, Callable[[], object]]] = []
        self._capture: Capture | None = None
        self._origin = False
        machine.streams.append(self)

    is_non_blocking = True
    priority = 0

    def __enter__(self) -> "Stream":
        here = self._machine.here
        if here.device != self.device_id:
            raise AssertionError(f"{self._name} entered while device {here.device} is")
        here.streams.append(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._machine.here.streams.pop()

    def use(self) -> "Stream":
        """Make it the thread's current stream."""
        self._machine.here.streams[-1:] = [self]
        return self

    def _step(self) -> int:
        """Count a launch, which knows of the host's past."""
        with self._machine.lock:
            merge(self._clock, self._machine.host)
            self._clock[self._name] = self._clock.get(self._name, 0) + 1
            return self._clock[self._name]

    def record(self, event: "Event | None" = None) -> "Event":
        """Put a mark behind everything launched so far."""
        event = self._machine.bound(Event)(disable_timing=True) if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: "Event") -> None:
        """Hold later work back until the event."""
        self._machine.log.append(("wait", self._name, event._name))
        if event._capture is not self._capture:
            if event._capture is None and event._name and self._capture is not None:
                raise self._capture.spoil(_ISOLATION)
            self._capture = event._capture or self._capture
        with self._machine.lock:
            if self._machine.recorder is not None and self._capture is None:
                self._machine.recorder.order(self._name, event._clock)
            merge(self._clock, event._clock)

    def synchronize(self) -> None:
        """Block the host until everything is done."""
        self._refuse_capture()
        self._machine.counts.synchronizations += 1
        self._machine.arrive(dict(self._clock))

    @property
    def done(self) -> bool:
        """Whether the host knows that everything is done."""
        self._refuse_capture()
        with self._machine.lock:
            return all(self._machine.host.get(a, 0) >= n for a, n in self._clock.items())

    def _refuse_capture(self) -> None:
        if self._capture is not None:
            raise self._capture.spoil(_UNSUPPORTED)

    def begin_capture(self, mode: int | None = None) -> None:
        """Note what is given from here on instead of running it."""
        if self._capture is not None:
            raise CUDARuntimeError(_STATE)
        assert mode in (None, 2), "a mode other than relaxed: not known to this double"
        self._capture, self._origin = Capture(), True

    def end_capture(self) -> "Graph":
        """Return what was noted as a graph.

        Raises:
            CUDARuntimeError: The stream does not capture, or something broke the capture.
        """
        capture = self._capture
        if capture is None or not self._origin:
            raise CUDARuntimeError(_STATE)
        for stream in self._machine.streams:
            if stream._capture is capture:
                stream._capture, stream._origin = None, False
        capture.undo()
        if capture.failure is not None:
            raise capture.failure
        return self._machine.bound(Graph)(capture)

    def is_capturing(self) -> bool:
        """Whether it notes what it is given."""
        return self._capture is not None


class Event(Listed):
    """A mark on a stream."""

    _listed = "Event"
    _machine: "Machine"

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        self._timed = not disable_timing
        self._us: float | None = None
        self.ptr = id(self)
        self._name = ""
        self._clock: Clock = {}
        self._capture: Capture | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark behind everything launched so far."""
        machine = self._machine
        stream = machine.current() if stream is None else stream
        if machine.here.device != stream.device_id:
            raise AssertionError(f"event on {stream._name} with device {machine.here.device}")
        machine.log.append(("record", stream._name))
        with machine.lock:
            self._name = stream._name
            self._clock = dict(stream._clock)
            self._capture = stream._capture
            self._us = stream._us if self._timed else None

    def synchronize(self) -> None:
        """Block the host until the mark is reached."""
        machine = self._machine
        machine.log.append(("synchronize", self._name))
        self._refuse_capture()
        if machine.broken is not None:
            raise machine.broken
        machine.counts.synchronizations += 1
        machine.arrive(self._clock)

    @property
    def done(self) -> bool:
        """Whether the host knows that the mark was reached: never earlier than it must be."""
        self._refuse_capture()
        with self._machine.lock:
            return all(self._machine.host.get(a, 0) >= n for a, n in self._clock.items())

    def _refuse_capture(self) -> None:
        if self._capture is not None:
            raise self._capture.spoil(_CAPTURED_EVENT)


class Graph(Listed):
    """What streams noted, to be run as often as wanted on the same memory."""

    _listed = "Graph"
    _machine: "Machine"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        (self._capture,) = args
        self.graph = id(self._capture)
        self.graphExec = id(self)
        self._arguments: dict[int, tuple[bytes, ...]] = {}  # that were changed, by the step
        self._machine.graphs.update({self.graph: self, self.graphExec: self})

    def _steps(self) -> "Iterator[tuple[Used, str, Callable[[], object]]]":
        """Give the steps with the arguments that they have now."""
        for number, (memories, what, work, kernel) in enumerate(self._capture.steps):
            if number in self._arguments:
                assert kernel is not None
                memories, work = kernel.bind(self._arguments[number])
            assert work is not None, f"{what}: tell machine.use what it does, to have it again"
            yield memories, what, work

    def launch(self, stream: Stream | None = None) -> None:
        """Run everything on a stream, the current one by default; nothing comes in between."""
        machine = self._machine
        stream = machine.current() if stream is None else stream
        machine.counts.launches += 1
        machine.counts.graphs += 1
        steps = list(self._steps())
        machine.check_alive(pair[0] for step in steps for pair in step[0])
        with machine.lock:
            if machine.recorder is not None:
                machine.recorder.graph(stream._name, stream._clock, self._capture.launches)
            for memories, what, work in steps:
                machine.use(stream, memories, what, work, counted=False, cost=IN_GRAPH)

    def upload(self, stream: Stream | None = None) -> None:
        """Prepare a launch."""


def merge(clock: Clock, other: Clock) -> None:
    """Let ``clock`` know what ``other`` knows."""
    for actor, step in other.items():
        clock[actor] = max(step, clock.get(actor, 0))
