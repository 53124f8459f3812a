"""Inline operators: those that the pushing thread runs itself, because their variables are free.

Invariants: from its push to its end, a frame (what the operator reads and writes, and the frame
around it) is ``quiet`` in the scheduler, or one of its ``inline`` ones, or, after Ctrl-C in the
middle of a step from the one to the other, neither: then nothing is marked, so nothing is to be
let go. Whatever is raised in the thread, in the operator or beside it, ends in `_end`, which can
find each of these; so a variable stays held only if a second interrupt follows within that.
"""

from collections.abc import Callable, Sequence

from gluonish_engine.base import Engine
from gluonish_engine.errors import Failure
from gluonish_engine.scheduler import Scheduler
from gluonish_engine.var import Frame, Var, skip, standing_failure

__all__ = ["InlineOperators"]


class InlineOperators:
    """Runs operators in the thread that pushes them.

    Args:
        core: The engine's scheduler.
        engine: Its failures, and the state of its threads.
    """

    __slots__ = ("_core", "_engine")

    def __init__(self, core: Scheduler, engine: Engine) -> None:
        self._core = core
        self._engine = engine

    def run(
        self, fn: Callable[[], None], reads: Sequence[Var], writes: Sequence[Var], name: str
    ) -> bool:
        """Run an operator in the calling thread if its variables are free; whether it ran."""
        core, engine = self._core, self._engine
        local = engine._thread.state
        outer = local.running
        frame = (reads, writes, outer)
        sequence = 0
        ended = False
        try:
            with core.lock:
                if core.quiet:
                    core.reveal()
                # With nothing pending no variable is held or queued for, and none carries an error
                # before the first failure, so an operator of hundreds need not look at each.
                looks = core.pending or Failure.happened or engine._stream_lanes
                if looks and not self._is_free(
                    reads, writes, engine._raises if local.raises is None else local.raises
                ):
                    return False
                for var in writes:
                    var.version += 1
                sequence = next(core.sequence)
                if core.pending:
                    core.hold(frame)
                else:
                    core.quiet[0] = frame
            local.running = frame
            fn()
            ended = True
            local.running = outer
            if core.quiet.pop(0, None) is None:
                with core.lock:
                    for var in writes:
                        var.error = None
                    core.let_go(frame)
        except BaseException as error:
            local.running = outer
            if not sequence:
                raise
            if self._end(frame, name, sequence, None if ended else error) or ended:
                raise
        return True

    def _end(self, frame: Frame, name: str, sequence: int, error: BaseException | None) -> bool:
        """End an operator that raised, or whose end an exception interrupted.

        An interrupt of the program (Ctrl-C) counts as if the operator had been skipped; see
        `Stale`.

        Args:
            frame: The operator's.
            name: Its name.
            sequence: Place of its push.
            error: What it raised; None: it ended.

        Returns:
            Whether what it raised belongs to the program.
        """
        core, engine = self._core, self._engine
        reads, writes, outer = frame
        interrupts = error is not None and not isinstance(error, Exception)
        failure = None
        if error is not None:
            failure = engine._fail(name, error, sequence, engine._where())
            if interrupts:
                engine._note_raised(failure, outer is not None)
        with core.lock:
            if core.quiet.get(0) is frame:
                core.reveal()
            if interrupts and failure is not None:
                skip(reads, writes, failure)
            elif failure is not None or id(frame) in core.inline:
                for var in writes:
                    var.error = failure
            core.let_go(frame)
        return interrupts

    def _is_free(self, reads: Sequence[Var], writes: Sequence[Var], raises: int) -> bool:
        """Whether an inline operator may have these variables now; under the lock.

        Args:
            reads: Variables that it reads.
            writes: Variables that it writes.
            raises: How many raises its push comes after.
        """
        for var in reads:
            if (
                var.active < 0
                or var.queue
                or var.stream
                or (var.error and self._stands(var, raises))
            ):
                return False
        for var in writes:
            if var.active or var.queue or var.stream or (var.error and self._stands(var, raises)):
                return False
        return True

    def _stands(self, var: Var, raises: int) -> bool:
        """Whether a variable's error keeps a push from being inline, under the lock.

        A stale mark that stands no more is taken away while nothing is pending: then whoever comes
        to the variable from now on was pushed after the raise, too.
        """
        if not self._core.pending and standing_failure((var,), raises) is None:
            var.error = None
        return var.error is not None
