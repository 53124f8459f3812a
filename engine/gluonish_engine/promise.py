"""Promise: a variable whose writer is pushed after its readers.

Invariants: a promise holds its variable for writing from the start, like a running job, so readers
of the variable queue behind it. The holds of all promises are in ``Scheduler.promises``; a hold is
removed and its variable released in one step (docs/engine.md), so this happens once. A promise that
is garbage-collected fails. A forked child has none.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from gluonish_engine.errors import EngineError, Failure
from gluonish_engine.scheduler import Scheduler
from gluonish_engine.var import Call, Hold, Var, standing_failure, waits_for


class _Submit(Protocol):
    def __call__(self, call: Call) -> None:
        """Submit a call to its lane."""
        raise NotImplementedError


class Promise:
    """A promise to write a variable, held until `fulfill` or `fail`; see `Engine.promise`.

    Args:
        core: The engine's scheduler.
        var: A variable that nothing is pending on.
        submit: Function that pushes a call.
        failed: Function that returns a failure for an operator's name and exception.
        await_reads: Function that blocks until no stream writes the variables any more.
    """

    __slots__ = ("_await_reads", "_call", "_core", "_failed", "_held", "_submit", "_var")

    def __init__(
        self,
        core: Scheduler,
        var: Var,
        submit: _Submit,
        failed: Callable[[str, BaseException], Failure],
        await_reads: Callable[[Sequence[Var]], None],
    ) -> None:
        self._core = core
        self._var = var
        self._submit = submit
        self._failed = failed
        self._await_reads = await_reads
        self._held = Hold((), (var,))
        self._call: Call | None = None
        core.hold_promise(self._held)

    @property
    def pending(self) -> bool:
        """Whether the variable is still held."""
        return self._held in self._core.promises

    def fulfill(self, call: Call) -> None:
        """Push the call that writes the variable; the end of the call releases the variable.

        Args:
            call: The call; if one of its ``inputs`` failed, the variable gets the failure instead.
        """
        fn, reads, name = call.fn, call.inputs, call.name

        def run() -> None:
            failure = standing_failure(reads, call.raises)
            if failure is None:
                try:
                    self._await_reads(reads)
                    fn()
                except Exception as error:
                    failure = self._failed(name, error)
            self._release(failure)

        # The scheduler waits for the reads, but a failure there must not skip `run`.
        call.fn, call.inputs = run, ()
        self._call = call
        self._submit(call)

    def fail(self, name: str, error: Exception) -> None:
        """Release the variable with a failure, unless it was released before."""
        if self.pending:
            self._release(self._failed(name, error))

    def cancel(self) -> None:
        """Release the variable unchanged, for a promise that has no readers."""
        if self.pending:
            self._release(None)

    def is_deadlocked(self) -> bool:
        """Whether the promise's call waits for the promise itself, and so can never start."""
        call = self._call
        if call is None or not call.wait:
            return False
        return waits_for(call, ((), (self._var,), None))

    def _release(self, failure: Failure | None) -> None:
        self._core.drop_promise(self._held, failure)

    def __del__(self) -> None:
        # `_call` is set last; an interrupt may have come before.
        if getattr(self, "_call", self) is None and self.pending:
            self.fail("promise", EngineError("the promise was dropped before it was fulfilled"))
