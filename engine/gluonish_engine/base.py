"""Engine: the interface and the state that all engines share (failures, bulk sizes, stream lanes).

Invariants: ``_unraised`` holds the failures that no wait has raised yet, and ``_raises`` counts the
waits outside operators that raised one for the first time. Both, and ``raised_at`` of every
failure, change in steps (docs/engine.md says what a step is), without a lock. Bulk
sizes are per thread. Entries of ``_lanes`` are only added (by one ``setdefault``) while the engine
lives.

Lifetime of an error:

- A wait for a variable raises the variable's error every time, until an operator that does not read
  the variable writes it successfully: a value that was never computed cannot be read. This applies
  to all outputs of an operator that raised, and to the write-only outputs of a skipped operator.
- If an operator with several outputs raised, and a wait outside operators has raised its error for
  one output, the other outputs carry no error, as in MXNet. They hold what was written until then.
- An interrupt, or a full stack in the pushing thread, is raised by the push only.
- An operator that is skipped because of a failure in its reads leaves an input that it updates in
  place *stale*, if the input was computed before: the old value is still there. A stale variable
  raises and propagates the failure until a wait outside operators has raised that failure once, for
  any variable. Later pushes and waits find no error. So one bad batch loses only its own updates of
  weights and statistics.
- Whether an operation comes after a raise is decided at its push, not at its run. Pushes and waits
  inside an operator inherit the position of the operator's push.
- `Engine.wait_all` raises the first (in push order) of the failures that no wait has raised yet,
  names the others, and marks all as raised. A second call is silent, as in MXNet; variables that
  were never computed still carry their errors.
- The engine itself never stops because of an error.
"""

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from types import TracebackType
from typing import Any, ClassVar, NoReturn

from gluonish_engine.bulks import Bulk
from gluonish_engine.errors import Failure, Output, pushed_at
from gluonish_engine.promise import Promise
from gluonish_engine.streams import Stream, StreamLane
from gluonish_engine.var import Call, Frame, Var

# operator, lane key, name -> the function to run in place of the operator
PushHook = Callable[[Callable[[], None], Hashable, str], Callable[[], None]]

# fn, reads, writes, name, arguments, idle -> whether it ran
RunInline = Callable[..., bool]

# Failures hold tracebacks until they are raised; a program that never waits must not grow.
_MAX_UNRAISED = 256


class _ThreadState:
    """The engine's state of one thread.

    Attributes:
        bulk_size: See `Engine.set_bulk_size`.
        bulk: The bulk that this thread adds to; another thread may have closed it.
        running: The innermost operator that this thread runs.
        lane: The lane that this thread is a worker of.
        raises: Number of raises before the push of the running operator; None outside a worker's
            operator.
        task: The unfinished task of this worker.
    """

    __slots__ = ("bulk", "bulk_size", "lane", "raises", "running", "task")

    def __init__(self) -> None:
        self.bulk_size = 0
        self.bulk: Bulk | None = None
        self.running: Frame | None = None
        self.lane: Any = None
        self.raises: int | None = None
        self.task: Call | None = None


def _runs_nothing(*_arguments: object) -> bool:
    """Return False, as `Engine.run_inline` of an engine that has only `Engine.push`."""
    return False


class _Thread(threading.local):
    """The state of the calling thread, found by one thread-local lookup."""

    def __init__(self) -> None:
        self.state = _ThreadState()


class Engine(ABC):
    """Runs operators in an order that their read and write sets allow.

    Operators may push and wait in any thread. So may signal handlers and destructors that interrupt
    an operator or the engine's own code. The semantics are those of `NaiveEngine`, where nested
    work runs at once: the running operator's own variables count as ready, in their current state,
    and a push that depends on them runs at once in the calling thread. Work that waits for the end
    of the operator runs after the work that the operator waits for. `wait_all` waits until nothing
    can progress before the operator does. Two operators that wait for each other get an error, and
    so does `shutdown`.

    Attributes:
        launches_at_once: Whether `launch` may do so.
        on_push: None, or a hook that the pushing thread calls at the beginning of each push. The
            function that it returns runs in place of the operator. The hook must not raise, push or
            wait, and must return its own wrapper unchanged.
        error_types: Pairs of the class that an operator raised and the class that waits raise for
            it; the first match counts. The default is the engine's error type.
        run_inline: ``run_inline(fn, reads, writes, name, arguments, True)`` runs ``fn(*arguments)``
            as `push` does with ``inline``, if nothing is pending and nothing observes pushes, and
            returns whether it ran (or failed). If not, nothing has happened, and the caller pushes
            it. An attribute, since a method that forwards would be half of the cost of a push.
    """

    launches_at_once: ClassVar[bool] = False

    def __init__(self, stack_trace_depth: int, error_type: type[Exception]) -> None:
        self.on_push: PushHook | None = None
        self.run_inline: RunInline = _runs_nothing
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

        A failure of ``fn`` is stored on all of ``writes`` and raised by a wait. If a variable of
        ``reads`` carries a failure, ``fn`` doesn't run and the failure propagates to ``writes``;
        variables that are also in ``reads`` keep their values and carry the failure only until it
        has been raised once. The caller must not modify either sequence afterwards.

        Args:
            fn: The operator, called without arguments.
            reads: Variables that the operator reads; duplicates are allowed.
            writes: Variables that the operator writes. A variable in both is updated in place.
            lane: Lane that the operator runs in, for example ``("cpu", 0, "compute")``.
            priority: Ready jobs of a lane start in descending priority.
            name: Name for errors and for `on_push`.
            inline: Whether the operator is cheap: if it can start at once on an idle CPU lane, it
                runs in the calling thread.
            flush: Whether the operator writes to a file, so that interpreter exit waits for it.

        Raises:
            EngineError: The engine was shut down, or (on a stream lane, from inside an operator)
                the push would wait for the operator that pushes. An instance of the engine's error
                type.
        """

    def launch(
        self,
        fn: Callable[[], None],
        reads: Sequence[Var],
        writes: Sequence[Var],
        lane: Hashable,
        name: str,
    ) -> bool:
        """Run ``fn``, as `push` does, if it can be launched on its stream at once.

        That is so if its variables are free, or in use by launches that its stream comes behind
        anyway, and if nothing observes pushes.

        Returns:
            Whether it ran (or failed). If not, nothing has happened, and the caller pushes it.
        """
        return False

    def uses_workers(self) -> bool:
        """Whether pushes of the calling thread run in workers, unless they are inline."""
        return False  # without workers

    def is_awaited(self, thread: int) -> bool:
        """Whether a thread waits for the operator that the calling thread, a worker, runs.

        Args:
            thread: Identifier of the other thread.
        """
        return False  # without workers

    def call_in_idle_workers(self, fn: Callable[[], None], name: str) -> bool:
        """Call ``fn`` once in every worker thread, if nothing is pending, and wait for it.

        Args:
            fn: Cheap function that must not raise.
            name: Name for errors and for `on_push`.

        Returns:
            Whether ``fn`` was submitted: False while something is pending, or if a lane has several
            threads.
        """
        return True  # without workers

    def promise(self, var: Var) -> Promise | None:
        """Reserve a variable that a later push will write, so that its readers wait for that push.

        Every promise must be fulfilled or failed: until then waits for the variable, and
        `wait_all`, block. While promises are pending, `wait_written` returns at once.

        Args:
            var: A variable that nothing is pending on.

        Returns:
            The promise; None from an engine that runs everything at its push.

        Raises:
            EngineError: The engine was shut down, or the variable is in use.
        """
        return None

    @abstractmethod
    def fulfill(
        self,
        promise: Promise,
        fn: Callable[[], None],
        reads: Sequence[Var],
        lane: Hashable,
        name: str = "",
    ) -> None:
        """Push the operator that writes a promised variable, as `push` does.

        A failure of a variable in ``reads`` propagates to the promised variable.

        Args:
            promise: Result of `promise`.
            reads: Variables that the operator reads.
            lane: Lane that the operator runs in; not a stream lane.
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
    def wait_written(self, var: Var) -> None:
        """Block until all writes of ``var`` pushed so far have ended, without raising an error.

        Throttles a caller that runs far ahead of the workers. Returns at once inside an operator,
        while a bulk is open, or while a promise is pending, which the caller may be about to
        fulfill.
        """

    def wait_written_for(self, variables: Sequence[Var], timeout_s: float) -> bool:
        """Block like `wait_written` for several variables, at most ``timeout_s`` seconds.

        Returns:
            Whether all are written.
        """
        return True  # everything is done at its push

    @abstractmethod
    def wait_to_write(self, var: Var) -> None:
        """Block until all reads and writes of ``var`` pushed so far are done.

        Raises:
            EngineError: See `wait`.
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
        """Finish pending work within ``timeout_s`` seconds, fail the rest, and end the threads.

        Returns:
            Whether everything pushed was done.
        """

    @abstractmethod
    def set_bulk_size(self, size: int) -> int:
        """Group up to ``size`` consecutive pushes of this thread to one lane; 0 or 1: no groups.

        Returns:
            The previous size of this thread.

        Raises:
            ValueError: ``size`` is negative or no integer.
        """

    def bulk(self, size: int) -> "BulkScope":
        """Return a scope that calls `set_bulk_size` and restores the previous size at its end."""
        return BulkScope(self, size)

    def register_stream_lane(self, key: Hashable, stream: Stream, *siblings: Stream) -> None:
        """Make ``key`` a GPU lane: a push to it launches on a stream in the calling thread.

        A push whose variables have pending CPU work blocks until that is done; while a promise is
        pending, a dedicated thread blocks and launches instead. Streams are ordered with each other
        and with the host by events, which are recorded only when they are needed.

        Args:
            key: Key of the lane.
            stream: Stream that the lane's operators are launched on.
            *siblings: More streams, used round-robin with ``stream``; `NaiveEngine` ignores them.

        Raises:
            ValueError: The key is in use by another stream.
            TypeError: A stream lacks a method of `Stream`.
        """
        for one in (stream, *siblings):
            for method in ("launch", "record", "wait_event", "synchronize_event", "event_done"):
                if not callable(getattr(one, method, None)):
                    raise TypeError(
                        f"register_stream_lane: expected stream with method {method}, got {one!r}"
                    )
        lane = StreamLane(key, stream)
        lane.siblings = [StreamLane(key, one) for one in siblings]
        held = self._lanes.setdefault(key, lane)
        if held is not lane:
            if getattr(held, "stream", None) is stream:
                return  # another thread registered it at the same time
            raise ValueError(f"register_stream_lane: expected a key not in use, got {key!r}")
        self._stream_lanes += [lane, *lane.siblings]

    def mark(self, lane: Hashable) -> None:
        """Record an event on a GPU lane now, so that later waits do not include later pushes.

        Without `mark`, an event is recorded when another lane or the host needs one, after
        everything launched until then. Does nothing on a worker lane, where the order is exact.
        """
        found = self._lanes.get(lane)
        if isinstance(found, StreamLane):
            for one in (found, *found.siblings):
                if one.launched:
                    one.event_for(one.launched)

    def before_fork(self) -> None:  # noqa: B027 (a subclass may have nothing to do)
        """Pause before a fork; called by `gluonish_engine.lifecycle`."""

    def after_fork_in_parent(self) -> None:  # noqa: B027
        """Resume after a fork; called by `gluonish_engine.lifecycle`."""

    def after_fork_in_child(self) -> None:
        """Reset in a forked child: drop failures and lanes; no device can be reached."""
        self._unraised = []
        for lane in self._stream_lanes:
            lane.abandon()
        self._stream_lanes = []
        self._lanes = {}

    def finish_at_exit(self) -> None:  # noqa: B027
        """Wait for jobs that write files and drop the rest; see `gluonish_engine.lifecycle`."""

    def _fail(self, name: str, cause: BaseException, sequence: int, where: Any = None) -> Failure:
        """Return a new failure, which `wait_all` raises unless another wait does so first."""
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
        """Record that a wait raises a failure, ``inside`` an operator or in the program.

        Args:
            carried: The error of the variable that was waited for.
        """
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
        """Raise the engine's error type for an unsupported use."""
        raise self._error_type(message)

    def _swap_bulk_size(self, size: int) -> int:
        if not isinstance(size, int) or size < 0:
            raise ValueError(f"set_bulk_size: expected an integer of at least 0, got {size!r}")
        previous = self._thread.state.bulk_size
        self._thread.state.bulk_size = size
        return previous


class BulkScope:
    """Scope of `Engine.bulk` that sets a bulk size for the thread, and flushes at its end."""

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
