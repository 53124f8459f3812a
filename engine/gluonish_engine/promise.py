"""Promise: a variable whose writer is known later than its readers.

Invariants: a promise holds its variable for writing from the start, as a job that runs would, so
that whoever reads the variable queues behind it. ``Scheduler.promises`` has what every promise
holds; whoever takes it out of there lets go of the variable in the same step (docs/engine.md), so
that happens once. A promise that nobody has any more fails. A fork's child has none.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from gluonish_engine.errors import EngineError, Failure
from gluonish_engine.scheduler import Scheduler
from gluonish_engine.var import Call, Held, Var, standing_failure, waits_for


class _Submit(Protocol):
    def __call__(self, call: Call) -> None:
        """Hand a call to its lane."""
        raise NotImplementedError


class Promise:
    """A variable that is held until `keep` or `fail`; `ThreadedEngine.promise` makes it.

    Args:
        core: The engine's scheduler.
        var: A variable that nothing is pending on.
        submit: Pushes a call of the engine.
        failed: Makes the failure of an operator's name and exception.
        settle: Blocks until no stream writes these variables any more.
    """

    __slots__ = ("_core", "_failed", "_held", "_kept", "_settle", "_submit", "_var")

    def __init__(
        self,
        core: Scheduler,
        var: Var,
        submit: _Submit,
        failed: Callable[[str, BaseException], Failure],
        settle: Callable[[Sequence[Var]], None],
    ) -> None:
        self._core = core
        self._var = var
        self._submit = submit
        self._failed = failed
        self._settle = settle
        self._held = Held((), (var,))
        self._kept: Call | None = None
        core.hold_promise(self._held)

    @property
    def pending(self) -> bool:
        """Whether the variable is still held."""
        return self._held in self._core.promises

    def keep(self, call: Call) -> None:
        """Run a call that writes the variable, and let go of it then, whether the call failed or
        not.

        Args:
            call: ``inputs`` are what it reads; it runs when those are written, and not if one of
                them carries a failure, which the variable gets in place of its own.
        """
        fn, reads, name = call.fn, call.inputs, call.name

        def run() -> None:
            failure = standing_failure(reads, call.raises)
            if failure is None:
                try:
                    self._settle(reads)
                    fn()
                except Exception as error:
                    failure = self._failed(name, error)
            self._let_go(failure)

        # The scheduler waits for what it reads, but a failure there must not skip it.
        call.fn, call.inputs = run, ()
        self._kept = call
        self._submit(call)

    def fail(self, name: str, error: Exception) -> None:
        """Let go of the variable with a failure, unless that has happened; `keep` is void then."""
        if self.pending:
            self._let_go(self._failed(name, error))

    def drop(self) -> None:
        """Let go of the variable as it is: nobody has heard of the promise."""
        if self.pending:
            self._let_go(None)

    def stuck(self) -> bool:
        """Whether it is kept by a call that cannot start before it lets go: that will never be."""
        kept = self._kept
        if kept is None or not kept.wait:
            return False
        return waits_for(kept, ((), (self._var,), None))

    def _let_go(self, failure: Failure | None) -> None:
        self._core.drop_promise(self._held, failure)

    def __del__(self) -> None:
        # The last attribute that is set; an interrupt may have come before.
        if getattr(self, "_kept", self) is None and self.pending:
            self.fail("promise", EngineError("nobody can keep it any more"))
