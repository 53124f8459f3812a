"""StreamOrder: makes launches and CPU operators wait for the streams that they depend on.

Invariants: a `StreamUse` changes in steps (docs/engine.md). Callers hold the variables
(`gluonish_engine.var`), except for `done` and for host waits, which only remove finished uses.
"""

import contextlib
from collections.abc import Callable, Sequence

from gluonish_engine.streams import StreamLane, StreamUse
from gluonish_engine.var import Call, Var


class StreamOrder:
    """Orders launches among streams, and between streams and the host, by events."""

    def launch(self, call: Call, lane: StreamLane) -> None:
        """Launch a call on its stream, after the work of other streams that it depends on."""
        before = []
        # Not `call.held`, which lacks the variables of enclosing operators.
        for write, some in ((False, call.inputs), (True, call.writes)):
            for var in some:
                use = var.stream
                if use is not None:
                    before += use.pending(write)
        for other, stamp in before:
            # Work on one stream is ordered anyway.
            if other is not lane:
                lane.wait_for(other, stamp)
        self.launch_inline(call.fn, call.inputs, call.writes, lane, call.name)

    def launch_inline(
        self,
        fn: Callable[[], None],
        reads: Sequence[Var],
        writes: Sequence[Var],
        lane: StreamLane,
        name: str,
    ) -> None:
        """Launch an operator that no launch precedes which its stream would have to wait for."""
        try:
            lane.stream.launch(fn, name)
        finally:
            lane.launched = stamp = lane.launched + 1  # a step
            for var in reads:
                made = StreamUse()
                made.write, made.reads = None, {}
                if var.stream is None:  # a step
                    var.stream = made
                var.stream.reads[lane] = stamp
            for var in writes:  # behind the reads, which a write of the same variable covers
                made = StreamUse()
                made.write, made.reads = (lane, stamp), {}
                var.stream = made

    def await_call(self, call: Call) -> None:
        """Block until no stream uses the variables of a CPU operator.

        Raises:
            Exception: The error that the device reports.
        """
        # Not `held`: a call that fulfills a promise waits for its reads itself.
        for writes, some in ((False, call.inputs), (True, call.writes)):
            for var in some:
                if var.stream is not None:
                    self.await_var(var, writes)

    def await_reads(self, reads: Sequence[Var]) -> None:
        """Block until no stream writes these variables any more.

        Raises:
            Exception: The error that the device reports.
        """
        for var in reads:
            if var.stream is not None:
                self.await_var(var, False)

    def await_var(self, var: Var, write: bool) -> None:
        """Block until streams no longer write a variable and, with ``write``, no longer read it.

        Raises:
            Exception: The error that the device reports.
        """
        use = var.stream
        before = [] if use is None else use.pending(write)
        for lane, stamp in before:
            lane.synchronize(stamp)
        self._retire(var, use, before)

    def _retire(self, var: Var, use: StreamUse | None, done: list[tuple[StreamLane, int]]) -> None:
        """Remove finished launches from the use of a variable."""
        if use is None:
            return
        for lane, stamp in done:  # each turn is a step
            if use.write is not None and use.write[0] is lane and use.write[1] == stamp:
                use.write = None
            elif lane in use.reads and use.reads[lane] == stamp:
                del use.reads[lane]
        if var.stream is use and use.write is None and not use.reads:  # a step
            var.stream = None

    def done(self, reads: Sequence[Var], writes: Sequence[Var]) -> bool:
        """Whether streams used any of these variables, and all uses have ended; does not block."""
        used = [var for var in (*reads, *writes) if var.stream is not None]
        try:
            for var in used:
                use = var.stream
                before = [] if use is None else use.pending(True)
                if not all(lane.finished(stamp) for lane, stamp in before):
                    return False
                self._retire(var, use, before)
        except Exception:
            # The device is broken; the operator will fail in its lane.
            return False
        return bool(used)

    def record(self, call: Call) -> None:
        """Record the events that a CPU operator will need, before more work is launched."""
        for var in (*call.inputs, *call.writes):
            use = var.stream
            if use is not None and use.write is not None:
                # Errors of the device are raised in the operator that waits for the event.
                with contextlib.suppress(Exception):
                    use.write[0].event_for(use.write[1])
