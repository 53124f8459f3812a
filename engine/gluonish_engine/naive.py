"""NaiveEngine: runs each operator at its push; the reference for tests of the threaded engines.

Invariants: one re-entrant lock is held while an operator runs, so operators of several threads
never overlap. Only this engine calls operators with a lock held. So an operator must not wait for
another thread that pushes. A push from inside an operator runs at once, inside it.
"""

import itertools
import sys
import threading
from collections.abc import Callable, Hashable, Sequence
from types import FrameType
from typing import Any

from gluonish_engine.base import Engine
from gluonish_engine.errors import for_caller
from gluonish_engine.promise import Promise
from gluonish_engine.streams import StreamLane
from gluonish_engine.var import Var, leave_failure, skip


class NaiveEngine(Engine):
    """The engine without threads, for debugging; errors are raised at waits, as in other engines.

    Bulk sizes and `shutdown` have no effect. A stream lane is synchronized after each launch.
    """

    def __init__(self, stack_trace_depth: int, error_type: type[Exception]) -> None:
        super().__init__(stack_trace_depth, error_type)
        self._lock = threading.RLock()
        self._sequence = itertools.count(1)

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
        """Run ``fn`` now; see `Engine.push`."""
        hook = self.on_push
        if hook is not None:
            fn = hook(fn, lane, name)
        with self._lock:
            for var in writes:
                var.version += 1
            for var in reads:
                if var.error is not None:
                    failure = var.error.standing(self._raises)
                    if failure is not None:
                        break
                    # Outdated for all later pushes, too, since this push is the newest.
                    var.error = None
            else:
                failure = None
                try:
                    if self._stream_lanes:
                        self._run(fn, lane, name)
                    else:
                        fn()
                except BaseException as error:
                    failure = self._fail(name, error, next(self._sequence), self._where())
                    of_caller = for_caller(error)
                    if of_caller is None:
                        leave_failure(reads, writes, failure)
                        return
                    self._note_raised(failure, self._is_inside())
                    skip(reads, writes, failure)
                    if of_caller is error:
                        raise
                    raise of_caller from error
                for var in writes:
                    var.error = None
                return
            skip(reads, writes, failure)

    def fulfill(
        self,
        promise: Promise,
        fn: Callable[[], None],
        reads: Sequence[Var],
        lane: Hashable,
        name: str = "",
    ) -> None:
        """Raise an error: this engine makes no promises; see `Engine.promise`."""
        self._refuse("keep: expected an engine that makes promises, got NaiveEngine")

    def wait(self, var: Var) -> None:
        """Raise the error of ``var`` if it has one; see `Engine.wait`."""
        with self._lock:
            failure = None if var.error is None else var.error.standing(self._raises)
        if failure is not None:
            self._note_raised(failure, self._is_inside(), var.error)
            self._raise(failure)

    def wait_written(self, var: Var) -> None:
        """Do nothing: everything is done at its push; see `Engine.wait_written`."""

    def wait_to_write(self, var: Var) -> None:
        """Do the same as `wait`: nothing runs in the background; see `Engine.wait_to_write`."""
        self.wait(var)

    def wait_all(self) -> None:
        """Raise the first unraised failure; see `Engine.wait_all`."""
        with self._lock:
            pass  # an operator of another thread may be running
        self._raise_unraised()

    def shutdown(self, timeout_s: float = 10.0) -> bool:
        """Return True: there is nothing to stop."""
        return True

    def set_bulk_size(self, size: int) -> int:
        """Store the size without effect, and return the previous one."""
        return self._swap_bulk_size(size)

    def after_fork_in_child(self) -> None:
        """Reset, with a new lock: a thread of the parent may hold the old one."""
        super().after_fork_in_child()
        self._lock = threading.RLock()

    def _is_inside(self) -> bool:
        """Whether the caller is inside an operator; searches the stack, at no cost for pushes."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            if frame.f_code is _PUSH and frame.f_locals["self"] is self:
                return True
            frame = frame.f_back
        return False

    def _run(self, fn: Callable[[], None], key: Hashable, name: str) -> None:
        target: Any = self._lanes.get(key)
        if isinstance(target, StreamLane):
            target.stream.launch(fn, name)
            target.launched += 1
            target.synchronize(target.launched)
        else:
            fn()


_PUSH = NaiveEngine.push.__code__
