"""StreamOrder: what a launch or a CPU operator must wait for because of streams.

Invariants: `StreamUse` of a variable changes under the scheduler's lock only, and streams are
called without it. Whoever calls here holds the variables (`gluonish_engine.var`), except for `done`
and for host waits, which only take finished uses away.
"""

import contextlib
from collections.abc import Sequence

from gluonish_engine.scheduler import Scheduler
from gluonish_engine.streams import StreamLane, StreamUse
from gluonish_engine.var import Call, Var

__all__ = ["StreamOrder"]


class StreamOrder:
    """Orders launches among streams, and between streams and the host, by events.

    Args:
        core: The scheduler, for its lock.
    """

    def __init__(self, core: Scheduler) -> None:
        self._core = core

    def launch(self, call: Call, lane: StreamLane) -> None:
        """Launch a call on its stream, after the work of other streams that it depends on."""
        with self._core.lock:
            before = [
                use
                for var, write in call.held.items()
                if var.stream is not None
                for use in var.stream.pending(write)
            ]
        for other, stamp in before:
            # The own stream keeps its order by itself.
            if other is not lane:
                lane.wait_for(other, stamp)
        try:
            lane.stream.launch(call.fn, call.name)
        finally:
            stamp = lane.mark()
            with self._core.lock:
                for var, write in call.held.items():
                    if write:
                        var.stream = StreamUse((lane, stamp))
                        continue
                    if var.stream is None:
                        var.stream = StreamUse()
                    var.stream.reads[lane] = stamp

    def await_call(self, call: Call) -> None:
        """Block until no stream stands in the way of a CPU operator.

        Raises:
            Exception: Whatever the device reports.
        """
        # Not `held`: the call that keeps a promise has seen to its reads itself.
        for writes, some in ((False, call.inputs), (True, call.writes)):
            for var in some:
                if var.stream is not None:
                    self.await_var(var, writes)

    def await_reads(self, reads: Sequence[Var]) -> None:
        """Block until no stream writes these variables any more.

        Raises:
            Exception: Whatever the device reports.
        """
        for var in reads:
            if var.stream is not None:
                self.await_var(var, False)

    def await_var(self, var: Var, write: bool) -> None:
        """Block until streams no longer write a variable and, with ``write``, no longer read it.

        Raises:
            Exception: Whatever the device reports.
        """
        with self._core.lock:
            use = var.stream
            before = [] if use is None else use.pending(write)
        for lane, stamp in before:
            lane.synchronize(stamp)
        self._retire(var, use, before)

    def _retire(self, var: Var, use: StreamUse | None, done: list[tuple[StreamLane, int]]) -> None:
        """Forget finished launches of a variable."""
        with self._core.lock:
            if use is None or var.stream is not use:
                return
            for lane, stamp in done:
                if use.write == (lane, stamp):
                    use.write = None
                elif use.reads.get(lane) == stamp:
                    del use.reads[lane]
            if use.write is None and not use.reads:
                var.stream = None

    def done(self, reads: Sequence[Var], writes: Sequence[Var]) -> bool:
        """Whether a variable was in use by streams and none is any more; does not block."""
        used = [var for var in (*reads, *writes) if var.stream is not None]
        try:
            for var in used:
                with self._core.lock:
                    use = var.stream
                    before = [] if use is None else use.pending(True)
                if not all(lane.finished(stamp) for lane, stamp in before):
                    return False
                self._retire(var, use, before)
        except Exception:
            # The device is broken; the operator will find that out in its lane, and keep the error.
            return False
        return bool(used)

    def record(self, call: Call) -> None:
        """Record the events that a CPU operator will need, before the streams get more work."""
        for var in (*call.inputs, *call.writes):
            use = var.stream
            if use is not None and use.write is not None:
                # What the device reports belongs to the operator that will wait for it.
                with contextlib.suppress(Exception):
                    use.write[0].event_for(use.write[1])
