"""Inline operators: run by the pushing thread itself, because their variables are free.

A launch on a stream is inline, too, if the stream's own order, and waits that it already has, put
it behind all launches that may still use its variables.

Invariants: from push to end, the operator's frame (reads, writes, enclosing frame) is the thread's
``running``, and is ``untracked`` or in ``inline`` of the scheduler; both are set and cleared in one
step (docs/engine.md). An operator that raised, or whose end was interrupted, is added to the
scheduler's ``orphans`` in the same step.
"""

from collections.abc import Callable, Sequence
from typing import Any

from gluonish_engine.base import Engine
from gluonish_engine.errors import Failure, for_caller
from gluonish_engine.scheduler import Scheduler
from gluonish_engine.streams import StreamLane
from gluonish_engine.var import Hold, Var, leave_failure, skip, standing_failure


class InlineOperators:
    """Runs operators in the thread that pushes them.

    Args:
        engine: The engine, which owns the failures and the state of threads.
    """

    __slots__ = ("_core", "_engine")

    def __init__(self, core: Scheduler, engine: Engine) -> None:
        self._core = core
        self._engine = engine

    def run(
        self,
        fn: Callable[..., None],
        reads: Sequence[Var],
        writes: Sequence[Var],
        name: str,
        arguments: Sequence[Any] = (),
        idle: bool = False,
        lane: StreamLane | None = None,
        found_free: int = -1,
    ) -> bool:
        """Run an operator in this thread if its variables are free, and return whether it ran.

        Args:
            fn: The operator.
            reads: Variables that it reads.
            writes: Variables that it writes.
            name: Its name, for errors.
            arguments: Arguments of ``fn``.
            idle: Whether to run it only if nothing is pending and nothing observes pushes.
            lane: The stream that ``fn`` launches on; launches that precede its next one anyway may
                still use the variables. None for an operator on the host.
            found_free: Number of pushes before the caller found the variables free, with nothing
                pending; -1 if it has not looked.
        """
        core, engine = self._core, self._engine
        local = engine._thread.state
        outer = local.running
        frame = (reads, writes, outer)
        sequence = 0
        ended = False
        try:
            # While nothing is pending no variable is held or queued for, and before the first
            # failure none carries an error, so there is no need to check each variable.
            pushes = core.pushes if found_free < 0 else found_free
            may_differ = found_free < 0 and (Failure.happened or engine._stream_lanes)
            if (idle and (core.pending or core.barred or engine.on_push is not None)) or (
                may_differ and not core.pending and not self._is_free(reads, writes, local, lane)
            ):
                return False
            if core.pending or core.untracked is not None or core.pushes != pushes:
                sequence = self._begin(frame, local, lane)
                if not sequence:
                    return False
            else:  # a step
                sequence = pushes + 1
                core.untracked = frame
                core.pushes = sequence
                local.running = frame
            for var in writes:
                var.version += 1
            fn(*arguments)
            ended = True
            if core.untracked is frame:  # a step
                core.untracked = None
                local.running = outer
            else:
                self._end(frame, local)
        except BaseException as error:
            if local.running is not frame:  # the operator has not begun, or has ended
                raise
            try:
                orphan = (frame, name, sequence, None if ended else error)
                core.orphans += ((self._end_orphan, orphan),)
            except MemoryError:
                core.reserve = None
                orphan = (frame, name, sequence, None if ended else error)
                core.orphans += ((self._end_orphan, orphan),)
            local.running = outer
            core.end_orphans()
            if ended:
                raise
            of_caller = for_caller(error)
            if of_caller is error:
                raise
            if of_caller is not None:
                raise of_caller from error
        return True

    def _begin(self, frame: Any, local: Any, lane: StreamLane | None) -> int:
        """Begin an operator if its variables are free, while something is pending or has failed.

        Returns:
            The number of the push; 0 if the operator has not begun.
        """
        core, key = self._core, id(frame)
        while True:
            core.catch_up()
            pushes = core.pushes
            if core.barred or not self._is_free(frame[0], frame[1], local, lane):
                return 0
            held = Hold(frame[0], frame[1]) if core.pending else None
            # A step; nothing has entered since `pushes` was read, so the variables are still free.
            if core.pushes == pushes and core.untracked is None is core.entering:
                number = pushes + 1
                pending = core.pending + 1
                if held is not None:
                    core.inline[key] = held
                    core.entering = held
                    core.pushes = held.sequence = number
                    core.pending = pending
                    local.running = frame
                    break
                if not core.pending:
                    core.untracked = frame
                    core.pushes = number
                    local.running = frame
                    return number
        core.help(held)
        return number

    def _end(self, frame: Any, local: Any) -> None:
        """End a tracked operator that ran."""
        if Failure.happened:
            for var in frame[1]:
                var.error = None
        core, key = self._core, id(frame)
        held = core.inline[key]
        # A step.
        core.leaving[held] = None
        del core.inline[key]
        local.running = frame[2]
        core.release(held)

    def _end_orphan(self, frame: Any, name: str, sequence: int, error: Any) -> None:
        """End an operator that raised, or whose end was interrupted.

        An interrupt of the program (Ctrl-C) counts as a skip; see `Stale`.
        """
        if error is not None:
            self._leave_failure(frame, name, sequence, error)
        self._release(frame)

    def _leave_failure(self, frame: Any, name: str, sequence: int, error: BaseException) -> None:
        engine = self._engine
        reads, writes, outer = frame
        # First, because it may raise if the stack is full; then this function runs again.
        failed = for_caller(error) is None
        failure = engine._fail(name, error, sequence, engine._where())
        if failed:
            leave_failure(reads, writes, failure)
        else:
            engine._note_raised(failure, outer is not None)
            skip(reads, writes, failure)

    def _release(self, frame: Any) -> None:
        core, key = self._core, id(frame)
        if core.untracked is frame:  # a step
            core.untracked = None
            return
        held = core.inline.get(key)
        if held is not None and key in core.inline:  # a step
            core.leaving[held] = None
            del core.inline[key]
        if held is not None:
            core.release(held)

    def _is_free(
        self, reads: Sequence[Var], writes: Sequence[Var], local: Any, lane: StreamLane | None
    ) -> bool:
        """Whether an inline operator may use these variables now."""
        raises = self._engine._raises if local.raises is None else local.raises
        for var in reads:
            use = var.stream
            if use is not None:
                last = use.write
                if lane is None or (
                    (last is None or last[0] is not lane) and not use.precedes(lane, False)
                ):
                    return False
            if var.active < 0 or var.queue or (var.error and self._stands(var, raises)):
                return False
        for var in writes:
            use = var.stream
            if use is not None and (lane is None or not use.precedes(lane, True)):
                return False
            if var.active or var.queue or (var.error and self._stands(var, raises)):
                return False
        return True

    def _stands(self, var: Var, raises: int) -> bool:
        """Whether a variable's error keeps a push from being inline.

        An outdated stale mark is removed if nothing is pending: then all later users of the
        variable were pushed after the raise, too.
        """
        stands = standing_failure((var,), raises) is not None
        if not stands and not self._core.pending:  # a step
            var.error = None
        return var.error is not None
