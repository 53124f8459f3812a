"""Engine: the interface, and what every kind keeps alike (failures, bulk sizes, stream lanes).

Invariants: ``_unraised`` holds the failures that no wait has raised yet, and ``_raises`` counts the
waits outside operators that raised one for the first time. Both, and ``raised_at`` of every
failure, change in steps (docs/engine.md says what a step is), without a lock. Bulk
sizes are per thread. Entries of ``_lanes`` are only added (by one ``setdefault``) while the engine
lives.

When an error goes away:

- A wait for a variable raises the variable's error, every time, until an operator that does not
  read the variable writes it with success: what was never computed cannot be read. So it is with
  everything that an operator writes that raised, and with what a skipped operator only writes.
- Of an operator that raised and has several outputs, the others hold no error once a wait outside
  operators has raised it for one, as in MXNet, but what the operator had written by then.
- An interrupt, or the full stack of the thread that pushed, is raised by the push and never again.
- An operator that is skipped because of a failure in its reads leaves a variable that it reads and
  writes, and that was computed before, *stale*: the value before the update is still there. A stale
  variable raises and passes on the failure as any other, until a wait outside operators has raised
  that failure once, for whatever variable. To pushes and waits after that raise it is a variable
  without an error. So one bad batch costs its own updates of weights and statistics, and no more.
- What comes after a raise is decided at the push, not when the operator happens to run; a push or
  wait inside an operator comes after the raises that the push of the operator came after.
- `Engine.wait_all` raises the first (in push order) of the failures that no wait has raised yet,
  names the others, and takes all of them as raised: called again it is silent, as in MXNet, and
  variables that were never computed still hold them.
- The engine itself never stops because of an error.
"""

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from types import TracebackType
from typing import Any, NoReturn

from gluonish_engine.bulks import Bulk
from gluonish_engine.errors import Failure, Output, pushed_at
from gluonish_engine.promise import Promise
from gluonish_engine.streams import Stream, StreamLane
from gluonish_engine.var import Call, Frame, Var

# operator, lane key, name; returns what runs in the operator's place
PushHook = Callable[[Callable[[], None], Hashable, str], Callable[[], None]]

# Failures that nobody waits for hold their tracebacks; a program that never calls wait_all must not
# grow.
_MAX_UNRAISED = 256


class _ThreadState:
    """What the engine knows about a thread.

    Attributes:
        bulk_size: See `Engine.set_bulk_size`.
        bulk: The bulk that this thread adds to; another thread may have closed it.
        running: What this thread is inside of.
        lane: The lane that this thread works for.
        raises: What the operator that this thread runs for a lane came after, in raises; None
            outside.
        task: What this thread of a lane has taken and not finished.
    """

    __slots__ = ("bulk", "bulk_size", "lane", "raises", "running", "task")

    def __init__(self) -> None:
        self.bulk_size = 0
        self.bulk: Bulk | None = None
        self.running: Frame | None = None
        self.lane: Any = None
        self.raises: int | None = None
        self.task: Call | None = None


class _Thread(threading.local):
    """The state of the calling thread: one look-up among threads finds all of it."""

    def __init__(self) -> None:
        self.state = _ThreadState()


class Engine(ABC):
    """Runs operators in an order that their read and write sets allow.

    Operators may push and may wait, wherever they run, and so may what comes in the middle of one,
    or of the engine's own code: a signal's handler, or a destructor. It is then as with
    `NaiveEngine`, where all that happens inside an operator happens at once. What the operator
    itself reads or writes is ready, as far as the operator came. A push that depends on that runs
    at once, in the calling thread. Work that waits for the end of the operator comes after what the
    operator waits for. `wait_all` waits until nothing can go on before the operator does. Two
    operators that wait for each other get an error, and so does `shutdown`.

    Attributes:
        on_push: None, or called in the pushing thread at the beginning of each push: what it
            returns is run in the operator's place, so it sees push, start, end and failure. It must
            not raise, nor push or wait. It may meet what it returned again, and leaves that alone.
        error_types: Classes of what an operator raised, each with that of the error that a wait
            raises for it; the first that fits counts. For all else it is the engine's own.
    """

    def __init__(self, stack_trace_depth: int, error_type: type[Exception]) -> None:
        self.on_push: PushHook | None = None
        self._depth = stack_trace_depth
        self._error_type = error_type
        self.error_types: Sequence[tuple[type[BaseException], type[Exception]]] = ()
        self._thread = _Thread()
        self._lanes: dict[Hashable, Any] = {}
        self._stream_lanes: list[StreamLane] = []
        self._unraised: list[Failure] = []
        self._raises = 0

    @abstractmethod
    def push(
        self,
        fn: Callable[[], None],
        reads: Sequence[Var],
        writes: Sequence[Var],
        lane: Hashable,
        priority: int = 0,
        name: str = "",
        inline: bool = False,
        flush: bool = False,
    ) -> None:
        """Run ``fn`` after everything pushed before that it depends on.

        A failure of ``fn`` goes to all of ``writes`` and is raised by a wait. If a variable of
        ``reads`` carries a failure, ``fn`` doesn't run and the failure goes on to ``writes``; those
        that stand in ``reads`` too keep their values and carry it only until it has been raised
        once. The caller keeps its hands off both sequences.

        Args:
            fn: The operator; it sees nothing but what it closes over.
            reads: Variables that it reads; duplicates do no harm.
            writes: Variables that it writes. One that stands in both is updated in place: it is
                written, and its failure counts as read.
            lane: Where it runs, for example ``("cpu", 0, "compute")``.
            priority: A higher one starts first among the ready jobs of the lane.
            name: Name for errors and for `on_push`.
            inline: The operator is cheap: if it can start now on an idle CPU lane, run it in the
                calling thread.
            flush: It writes to a file: interpreter exit waits for it.

        Raises:
            EngineError: The engine was shut down, or (on a stream lane, from inside an operator)
                the push would wait for the operator that pushes. An instance of the engine's error
                type.
        """

    def hands_over(self) -> bool:
        """Whether workers run what the calling thread pushes, unless that is inline."""
        return False  # without workers

    def in_idle_workers(self, fn: Callable[[], None], name: str) -> bool:
        """Have every worker thread call ``fn`` once, if nothing is pending, and wait for that.

        Args:
            fn: Cheap; it must not raise.
            name: For errors and `on_push`.

        Returns:
            Whether they did, or soon will: False while something is pending, or a lane has several
            threads.
        """
        return True  # without workers

    def promise(self, var: Var) -> Promise | None:
        """Hold a variable that a later push will write, so that what reads it waits for that.

        Whoever holds a promise must keep it or fail it: until then waits for the variable, and
        `wait_all`, block. `settle` does not wait while there are any.

        Args:
            var: A variable that nothing is pending on.

        Returns:
            None: this engine runs everything at its push, so that nothing can wait.

        Raises:
            EngineError: The engine was shut down, or the variable is in use.
        """
        return None

    @abstractmethod
    def keep(
        self,
        promise: Promise,
        fn: Callable[[], None],
        reads: Sequence[Var],
        lane: Hashable,
        name: str = "",
    ) -> None:
        """Push the operator that writes a promised variable; as `push`.

        If a variable of ``reads`` carries a failure, the promised one gets it.

        Args:
            promise: What `promise` returned.
            reads: Variables that it reads.
            lane: Where it runs; none of a stream.
            name: Name for errors.
        """

    @abstractmethod
    def wait(self, var: Var) -> None:
        """Block until all writes of ``var`` pushed so far are done (MXNet's wait_to_read).

        Raises:
            EngineError: The value could not be computed, or the wait can never end. An instance of
                the engine's error type.
        """

    @abstractmethod
    def settle(self, var: Var) -> None:
        """Block until all writes of ``var`` pushed so far have ended, without raising an error.

        It keeps a caller from running far ahead of the work. From inside an operator, while a bulk
        job is being gathered, or while there is a promise, which the caller may be on its way to
        keep, it returns at once.
        """

    def settle_soon(self, variables: Sequence[Var], timeout_s: float) -> bool:
        """Do what `settle` does for several variables, but for some time only.

        Args:
            variables: What is to be written.
            timeout_s: The longest wait in seconds.

        Returns:
            Whether they are written.
        """
        return True  # everything is done at its push

    @abstractmethod
    def wait_to_write(self, var: Var) -> None:
        """Block until all reads and writes of ``var`` pushed so far are done.

        Raises:
            EngineError: As `wait`.
        """

    @abstractmethod
    def wait_all(self) -> None:
        """Block until everything pushed so far is done.

        Raises:
            EngineError: The first failure that no wait has raised yet, or the call comes from
                inside an operator.
        """

    @abstractmethod
    def shutdown(self, timeout_s: float = 10.0) -> bool:
        """Finish what is pending within ``timeout_s`` seconds, fail the rest, and end the threads.

        Returns:
            Whether everything pushed was done.
        """

    @abstractmethod
    def set_bulk_size(self, size: int) -> int:
        """Let up to ``size`` consecutive pushes of this thread to one lane join; 0 or 1: none.

        Returns:
            The size in force before, in this thread.

        Raises:
            ValueError: ``size`` is negative or no integer.
        """

    def bulk(self, size: int) -> "BulkScope":
        """Return a scope that calls `set_bulk_size`, and restores the size at its end."""
        return BulkScope(self, size)

    def register_stream_lane(self, key: Hashable, stream: Stream, *beside: Stream) -> None:
        """Make ``key`` a GPU lane: a push to it launches on a stream in the calling thread.

        A push whose variables have pending CPU work blocks until that is done; while there is a
        promise, a thread of the lane's own blocks and launches in its place. Order between
        streams, and between a stream and the host, comes from events that are recorded only when
        they are needed.

        Args:
            key: The lane's.
            stream: Where its operators are launched.
            *beside: More streams, that take launches in turn with it; `NaiveEngine` needs none.

        Raises:
            ValueError: The key is in use by another stream.
            TypeError: A stream lacks a method of `Stream`.
        """
        for one in (stream, *beside):
            for method in ("launch", "record", "wait_event", "synchronize_event", "event_done"):
                if not callable(getattr(one, method, None)):
                    raise TypeError(
                        f"register_stream_lane: expected stream with method {method}, got {one!r}"
                    )
        lane = StreamLane(key, stream)
        lane.beside = [StreamLane(key, one) for one in beside]
        held = self._lanes.setdefault(key, lane)
        if held is not lane:
            if getattr(held, "stream", None) is stream:
                return  # two who found it missing at once
            raise ValueError(f"register_stream_lane: expected a key not in use, got {key!r}")
        self._stream_lanes += [lane, *lane.beside]

    def mark(self, lane: Hashable) -> None:
        """Let what comes behind a push to a GPU lane not come behind later pushes to it as well.

        Other lanes and the host wait for events, which are recorded when they are needed, behind
        all that the stream was given by then. This records one now. On a lane of workers, where
        order is exact, it does nothing.

        Args:
            lane: Its key.
        """
        found = self._lanes.get(lane)
        if isinstance(found, StreamLane):
            for one in (found, *found.beside):
                if one.newest():
                    one.event_for(one.newest())

    def before_fork(self) -> None:  # noqa: B027 (nothing to do is a fit answer)
        """Come to rest; called by `gluonish_engine.lifecycle` before a fork."""

    def after_fork_in_parent(self) -> None:  # noqa: B027
        """Go on; called by `gluonish_engine.lifecycle`."""

    def after_fork_in_child(self) -> None:
        """Start clean: no failure of the parent is pending, and no device can be reached."""
        self._unraised = []
        for lane in self._stream_lanes:
            lane.abandon()
        self._stream_lanes = []
        self._lanes = {}

    def finish_at_exit(self) -> None:  # noqa: B027
        """Wait for jobs that write files, drop the rest; called by `gluonish_engine.lifecycle`."""

    def _fail(self, name: str, cause: BaseException, sequence: int, where: Any = None) -> Failure:
        """Return a new failure that `wait_all` will raise unless another wait comes first."""
        failure = Failure(name, cause, sequence, where)
        unraised = self._unraised
        if len(unraised) >= _MAX_UNRAISED:
            for one in list(unraised):
                if one.raised:
                    with contextlib.suppress(ValueError):  # another thread has removed it
                        unraised.remove(one)
        if len(unraised) < _MAX_UNRAISED:
            unraised.append(failure)
        return failure

    def _where(self) -> Any:
        return pushed_at(self._depth) if self._depth > 0 else None

    def _note_raised(self, failure: Failure, inside: bool, carried: object = None) -> None:
        """Take note that a failure, ``carried`` so, is raised ``inside`` or to the program."""
        failure.raised = True
        if inside:
            return
        if failure.first is None and isinstance(carried, Output):
            failure.first = carried
        if failure.raised_at is None:  # a step
            self._raises += 1
            failure.raised_at = self._raises

    def _raise(self, failure: Failure, others: Sequence[Failure] = ()) -> NoReturn:
        message = failure.message()
        if others:
            message += f"\nAlso failed: {', '.join(other.name or '<unnamed>' for other in others)}"
        kinds = (kind for cause, kind in self.error_types if isinstance(failure.cause, cause))
        raise next(kinds, self._error_type)(message) from failure.cause

    def _raise_unraised(self, inside: bool = False) -> None:
        if not self._unraised:
            return
        none: list[Failure] = []
        unraised, self._unraised = self._unraised, none
        failures = sorted((one for one in unraised if not one.raised), key=lambda one: one.sequence)
        for one in unraised:
            self._note_raised(one, inside)
        if failures:
            self._raise(failures[0], failures[1:])

    def _refuse(self, message: str) -> NoReturn:
        """Raise for a use of the engine that cannot work."""
        raise self._error_type(message)

    def _swap_bulk_size(self, size: int) -> int:
        if not isinstance(size, int) or size < 0:
            raise ValueError(f"set_bulk_size: expected an integer of at least 0, got {size!r}")
        previous = self._thread.state.bulk_size
        self._thread.state.bulk_size = size
        return previous


class BulkScope:
    """Context of `Engine.bulk`: a bulk size for the calling thread, and a flush at the end."""

    __slots__ = ("_engine", "_previous", "_size")

    def __init__(self, engine: Engine, size: int) -> None:
        self._engine = engine
        self._size = size
        self._previous = 0

    def __enter__(self) -> None:
        self._previous = self._engine.set_bulk_size(self._size)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._engine.set_bulk_size(self._previous)
