"""ThreadedEngine: operators run in worker lanes, on streams, or inline when ready.

Invariants: all bookkeeping is in `gluonish_engine.scheduler`; this module runs operators and
streams, and `gluonish_engine.workers` the threads. While a thread runs an operator, it
owns the operator's variables. While ``_dropping``, operators fail instead of running, which ends
all waits in the usual way.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from gluonish_engine.base import Engine
from gluonish_engine.bulks import join
from gluonish_engine.errors import EngineError, Failure, for_caller, pushed_at
from gluonish_engine.forking import ForkHold
from gluonish_engine.idle import await_capacity, await_written, wait_idle, wait_quiescent
from gluonish_engine.inline import InlineOperators
from gluonish_engine.lanes import WorkerLane
from gluonish_engine.promise import Promise
from gluonish_engine.scheduler import Scheduler
from gluonish_engine.stream_order import StreamOrder
from gluonish_engine.streams import StreamLane
from gluonish_engine.var import (
    BlockingCall,
    Call,
    HostWait,
    Var,
    conflicts,
    frames_of,
    is_awaited,
    leave_failure,
    skip,
    standing_failure,
)
from gluonish_engine.workers import Workers

_EXIT_FLUSH_S = 60.0
_DROP_S = 1.0
_CALL_S = 0.1  # time limit of `call_in_idle_workers`


class ThreadedEngine(Engine):
    """The engine with worker threads; see `gluonish_engine.factory.create_engine` for its kinds.

    A push runs inline if nothing is pending on its variables, no variable carries an error or is in
    use by a stream, and no job is ready or running in its lane. All threads are daemons, started at
    the first push to their lane that is not inline.

    Args:
        workers: Number of threads by the last item of a lane key ("compute", "copy", "priority"),
            "compute" being the default; and of threads that launch on streams ("launch compute",
            "launch copy").
        per_device: Whether each lane key has dedicated threads. If not, one pool with the threads
            of "compute" and "copy" runs all lanes.
        stack_trace_depth: Number of stack frames saved at each push, for errors.
        error_type: Class of the errors that waits raise.
        most_pending: Number of unfinished calls of a lane beyond which pushes block.
    """

    launches_at_once = True

    def __init__(
        self,
        workers: dict[str, int],
        per_device: bool,
        stack_trace_depth: int,
        error_type: type[Exception],
        most_pending: int,
    ) -> None:
        super().__init__(stack_trace_depth, error_type)
        self._core = Scheduler()
        self._order = StreamOrder()
        self.run_inline = self._run_inline = InlineOperators(self._core, self).run
        self._workers = Workers(
            workers, per_device, self._core, self._thread, self._run, self._fail_call, most_pending
        )
        self._dropping = False
        self._bulks = False  # whether any thread ever set a bulk size
        self._fork = ForkHold(self._core, self._thread)

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
        """Submit ``fn`` to its lane, or run it at once; see `Engine.push`."""
        hook = self.on_push
        if hook is not None:
            fn = hook(fn, lane, name)
        target = self._lanes.get(lane) or self._add_lane(lane)
        if inline and not target.load:
            if self._run_inline(fn, reads, writes, name):
                return
            if self._stream_lanes and self._order.done(reads, writes):
                self.push(fn, reads, writes, lane, priority, name, inline, flush)
                return
        at_once = target.is_stream and not target.siblings and not self._core.pending
        if at_once:
            launch = partial(self._order.launch_inline, fn, reads, writes, target, name)
            if self._run_inline(launch, reads, writes, name, (), False, target):
                return
        where = pushed_at(self._depth) if self._depth else None
        local = self._thread.state
        try:
            if not (
                target.started
                and local.running is None
                and not (self._raises or self._stream_lanes or self._bulks)
            ):
                target, blocking = self._choose(target, reads, writes, local.running)
                call = BlockingCall() if blocking else Call()
                call.fill(fn, reads, writes, lane, target, priority, name, flush, where)
                self._push_call(call, target, blocking)
                return
            call = Call()
            call.fill(fn, reads, writes, lane, target, priority, name, flush, where)
            if target.backlog >= target.limit:
                self._await_capacity(target)
            self._core.submit(call)
        except EngineError as error:
            self._refuse(str(error))

    def launch(
        self,
        fn: Callable[[], None],
        reads: Sequence[Var],
        writes: Sequence[Var],
        lane: Hashable,
        name: str,
    ) -> bool:
        """Run a launch at once if its stream orders it; see `Engine.launch`."""
        core, target = self._core, self._lanes.get(lane)
        pushes = core.pushes
        if self.on_push is not None or target is None or not target.is_stream:
            return False
        if core.pending or target.siblings:
            return False
        # As `InlineOperators._is_free`, but for errors and variables that other streams read.
        for var in reads:
            use = var.stream
            last = None if use is None else use.write
            if use and last and last[0] is not target and not use.precedes(target, False):
                return False
            if var.active or var.queue or var.error:
                return False
        for var in writes:
            if var.stream or var.active or var.queue or var.error:
                return False
        launch = partial(self._order.launch_inline, fn, reads, writes, target, name)
        return self._run_inline(launch, reads, writes, name, (), False, target, pushes)

    def uses_workers(self) -> bool:
        """Whether pushes of the calling thread run in workers; see `Engine.uses_workers`."""
        return self._thread.state.lane is None

    def is_awaited(self, thread: int) -> bool:
        """Whether a thread waits for the operator that this worker runs; see `Engine`."""
        running = self._thread.state.running
        return running is not None and is_awaited(running, thread)

    def call_in_idle_workers(self, fn: Callable[[], None], name: str) -> bool:
        """Call ``fn`` once in every worker thread; see `Engine.call_in_idle_workers`."""
        if self._core.closed:
            return True
        if self._core.pending or self._thread.state.running is not None:
            return False
        lanes = {
            id(lane): (key, lane)
            for key, lane in tuple(self._lanes.items())
            if isinstance(lane, WorkerLane) and lane.started
        }
        alive = [sum(thread.is_alive() for thread in lane.threads) for _, lane in lanes.values()]
        if any(count != 1 for count in alive):
            return False
        for key, _ in lanes.values():
            self.push(fn, (), (), key, 0, name)
        wait_idle(self._core, _CALL_S)
        return True

    def promise(self, var: Var) -> Promise:
        """Reserve a variable that a later push will write; see `Engine.promise`."""
        self._flush_bulk()
        try:
            return Promise(
                self._core, var, self._submit, self._promise_failure, self._order.await_reads
            )
        except EngineError as error:
            self._refuse(str(error))

    def fulfill(
        self,
        promise: Promise,
        fn: Callable[[], None],
        reads: Sequence[Var],
        lane: Hashable,
        name: str = "",
    ) -> None:
        """Push the operator that writes a promised variable; see `Engine.fulfill`."""
        hook = self.on_push
        if hook is not None:
            fn = hook(fn, lane, name)
        self._flush_bulk()
        where = pushed_at(self._depth) if self._depth else None
        call = Call()
        call.fill(fn, reads, (), lane, None, 0, name, False, where)
        call.raises = self._raises_seen()
        promise.fulfill(call)

    def wait(self, var: Var) -> None:
        """Block until ``var`` can be read; see `Engine.wait`."""
        # `untracked` first, then the queue, then `active`: see gluonish_engine.var.
        if (
            self._core.untracked is not None
            or var.queue is not None
            or var.active < 0
            or var.error is not None
            or var.stream is not None
            or self._thread.state.bulk is not None
        ):
            self._wait(var, False)

    def wait_written(self, var: Var) -> None:
        """Block until ``var`` is written or failed; see `Engine.wait_written`."""
        local = self._thread.state
        pending = var.queue is not None or var.active < 0
        if pending and local.running is None is local.bulk and not self._core.promises:
            self._await(var, False, None)

    def wait_written_for(self, variables: Sequence[Var], timeout_s: float) -> bool:
        """Block until variables are written, or a time-out; see `Engine.wait_written_for`."""
        local = self._thread.state
        if local.running is not None or local.bulk is not None or self._core.promises:
            return False
        return await_written(self._core, variables, timeout_s)

    def wait_to_write(self, var: Var) -> None:
        """Block until ``var`` can be written; see `Engine.wait_to_write`."""
        self._wait(var, True)

    def wait_all(self) -> None:
        """Block until everything is done, streams included; see `Engine.wait_all`."""
        local = self._thread.state
        running = local.running
        self._flush_bulk()
        with self._workers.away(local.lane):
            if running is None:
                wait_idle(self._core, held=self._fork.own_pending())
            else:
                wait_quiescent(self._core, len(frames_of(running)))
        for lane in self._stream_lanes:
            try:
                lane.synchronize(lane.launched)
            except Exception as error:
                self._fail(f"stream {lane.key!r}", error, 0)
        self._raise_unraised(running is not None)

    def shutdown(self, timeout_s: float = 10.0) -> bool:
        """Finish or fail pending work, and end the threads; see `Engine.shutdown`."""
        if self._thread.state.running is not None:
            self._refuse("shutdown: expected a call from outside operators, got one from inside")
        core = self._core
        complete = wait_idle(core, timeout_s)
        core.closed = core.barred = True
        core.catch_up()
        complete = complete and not core.pending
        self._drop()
        lanes = {lane for lane in self._lanes.values() if isinstance(lane, WorkerLane)}
        self._lanes = {}
        for lane in lanes:
            lane.stop()
        return complete

    def set_bulk_size(self, size: int) -> int:
        """Set the bulk size of this thread, and flush its bulk; see `Engine.set_bulk_size`."""
        previous = self._swap_bulk_size(size)
        self._bulks = self._bulks or size > 1
        self._flush_bulk()
        return previous

    def before_fork(self) -> None:
        """Wait (at most 10 s) until nothing is pending; see `gluonish_engine.forking`."""
        self._fork.acquire(self._thread.state.running is not None)

    def after_fork_in_parent(self) -> None:
        """Resume pushes of other threads."""
        self._fork.release()

    def after_fork_in_child(self) -> None:
        """Reset: new locks, no threads, no pending work."""
        super().after_fork_in_child()
        self._workers.reset()
        self._thread.state.bulk = None
        self._fork.start_clean(self._thread.state.running)

    def finish_at_exit(self) -> None:
        """Wait at most 60 s for jobs that write files, then drop the rest within 1 s."""
        wait_idle(self._core, _EXIT_FLUSH_S, flushes_only=True)
        self._drop()

    def _add_lane(self, key: Hashable) -> Any:
        if self._core.closed:
            self._refuse("push: expected a running engine, got one that was shut down")
        return self._lanes.setdefault(key, self._workers.lane(key))

    def _choose(
        self, target: Any, reads: Sequence[Var], writes: Sequence[Var], running: Any
    ) -> tuple[Any, bool]:
        """Return the lane for a push, and whether the calling thread runs it."""
        inside = running is not None and conflicts(running, reads, writes)
        if not isinstance(target, StreamLane):
            return target, inside or not (target.started or self._workers.start(target))
        if self._core.promises and not inside:
            # Blocking until the variables are granted might never end: the caller may be about to
            # fulfill the promise. So a dedicated thread launches.
            target = self._launcher(target)
            return target, not (target.started or self._workers.start(target))
        return target.next(), True

    def _push_call(self, call: Call, target: Any, blocking: bool) -> None:
        local = self._thread.state
        if self._raises:
            call.raises = self._raises if local.raises is None else local.raises
        if isinstance(call, BlockingCall):
            self._flush_bulk()
            self._run_blocking(call, target)
            return
        if target.backlog >= target.limit:
            self._await_capacity(target)
        if self._stream_lanes:
            self._order.record(call)
        if local.bulk_size > 1:
            local.bulk = join(self._core, local.bulk, call, local.bulk_size)
            return
        self._core.submit(call)

    def _await_capacity(self, lane: WorkerLane) -> None:
        """Block until the lane has capacity, to throttle a caller that never waits.

        Returns at once inside an operator, which the lane may be waiting for, or while a promise
        is pending.
        """
        if self._thread.state.running is None and not self._core.promises:
            self._flush_bulk()
            await_capacity(self._core, lane)

    def _launcher(self, stream: StreamLane) -> WorkerLane:
        """Return the lane whose threads launch on a stream."""
        key = ("launch", stream.key)
        found: WorkerLane | None = self._lanes.get(key)
        if found is not None:
            return found
        made: WorkerLane = self._lanes.setdefault(key, self._workers.launcher(key, stream))
        return made

    def _submit(self, call: Call) -> None:
        """Submit a call that fulfills a promise."""
        call.lane = target = self._lanes.get(call.key) or self._add_lane(call.key)
        if isinstance(target, StreamLane) or not (target.started or self._workers.start(target)):
            self._refuse(f"keep: expected a lane of workers, got {call.key!r}")
        self._core.submit(call)

    def _promise_failure(self, name: str, error: BaseException) -> Failure:
        return self._fail(name, error, self._core.pushes, None)

    def _drop(self) -> None:
        """Fail all pending work, promises included."""
        for held in tuple(self._core.promises):
            error = EngineError("the engine stopped before it was fulfilled")
            self._core.drop_promise(held, self._promise_failure("promise", error))
        self._dropping = True
        wait_idle(self._core, _DROP_S)

    def _raises_seen(self) -> int:
        """Return the number of raises that precede this thread's current pushes and waits."""
        raises = self._thread.state.raises
        return self._raises if raises is None else raises

    def _run_blocking(self, call: BlockingCall, target: Any) -> None:
        """Run a call in the calling thread, after blocking until its variables are granted.

        Variables of the operators that the thread is inside of are already held.
        """
        core, local = self._core, self._thread.state
        outer = local.running
        call.lane, call.sequence, call.owner, call.outer = None, 0, outer, outer
        call.gate = threading.Lock()
        call.gate.acquire()
        for held in frames_of(outer):
            for var in (*held[0], *held[1]):
                call.held.pop(var, None)
        ran = False
        try:
            local.running = call
            core.submit(call)
            self._workers.block(call, local)
            interrupt = self._run(call, target if isinstance(target, StreamLane) else None, local)
            ran = True
        except BaseException as error:
            try:
                orphan = (call, None if ran else error)
                core.orphans += ((self._end_interrupted, orphan),)
            except MemoryError:
                core.reserve = None
                orphan = (call, None if ran else error)
                core.orphans += ((self._end_interrupted, orphan),)
            local.running = outer
            core.end_orphans()
            raise
        try:
            core.leaving[call] = None  # a step, with the line behind it
        except MemoryError:
            core.reserve = None
            core.leaving[call] = None
        local.running = outer
        core.release(call)
        if interrupt is not None:
            raise interrupt

    def _end_interrupted(self, call: BlockingCall, error: BaseException | None) -> None:
        """End a call whose thread was interrupted: with an error if the call had not run yet."""
        core = self._core
        if not call.sequence or call.to_release is not None or call in core.leaving:
            return  # the call never entered, or was released
        if core.entering is call:
            core.help(call)
        if error is not None:
            self._fail_call(call, error)
            call.fn = _nothing
        lane = self._lanes.get("interrupted") or self._add_lane("interrupted")
        can_start = lane.started or self._workers.start(lane)
        if call.wait and can_start:  # a step: the grant dispatches it to this lane
            lane.backlog += 1
            call.lane = lane
        if not call.wait and call.lane is None:
            core.leave(call)

    def _run(self, call: Call, lane: StreamLane | None, local: Any) -> BaseException | None:
        """Run a call whose variables are granted, and store its failure on its outputs.

        Returns:
            The exception if it is an interrupt of the program rather than a failure.
        """
        happened = Failure.happened
        if happened:
            failure = standing_failure(call.inputs, call.raises)
            if failure is not None:
                skip(call.inputs, call.writes, failure)
                return None
        outer, local.raises = local.raises, call.raises
        try:
            if self._dropping:
                raise EngineError("the engine stopped before the operator could run")
            if lane is not None:
                self._order.launch(call, lane)
            else:
                if self._stream_lanes:
                    self._order.await_call(call)
                call.fn()
        except BaseException as error:
            local.raises = outer
            return self._keep_error(call, error, local.running)
        local.raises = outer
        if happened:
            for var in call.writes:
                var.error = None
        return None

    def _keep_error(self, call: Call, error: BaseException, running: Any) -> BaseException | None:
        """Store the exception of a call on its outputs, and return it if it is an interrupt."""
        failure = self._fail(call.name, error, call.sequence, call.where)
        interrupt = None if isinstance(error, Exception) else error
        if isinstance(call, BlockingCall):
            interrupt = for_caller(error)
        if interrupt is None:
            leave_failure(call.inputs, call.writes, failure)
            return None
        self._note_raised(failure, running is not None and running.outer is not None)
        skip(call.inputs, call.writes, failure)
        return interrupt

    def _fail_call(self, call: Call, error: BaseException) -> None:
        """Store the failure of a call whose thread died on all its outputs."""
        failure = self._fail(call.name, error, call.sequence, call.where)
        for var in call.writes:
            var.error = failure

    def _wait(self, var: Var, write: bool) -> None:
        self._flush_bulk()
        running = self._thread.state.running
        for reads, writes in frames_of(running):
            if var in writes:
                return  # of a running operator: the current state counts as ready
            if var in reads:
                break
        else:
            self._block(var, write, running)
        carried = var.error
        if carried is None:
            return
        failure = carried.standing(self._raises_seen())
        if failure is not None:
            self._note_raised(failure, running is not None, carried)
            self._raise(failure)

    def _block(self, var: Var, write: bool, running: Any) -> None:
        if self._core.untracked is not None or self._core.leaving:
            self._core.catch_up()
        # The queue first, then `active`: see gluonish_engine.var.
        if var.queue is not None or (var.active if write else var.active < 0):
            self._await(var, write, running)
        if var.stream is not None:
            try:
                self._order.await_var(var, write)
            except Exception as error:
                # A stale mark would claim that the old value is valid.
                if not isinstance(var.error, Failure):
                    var.error = self._fail("stream", error, 0)

    def _await(self, var: Var, write: bool, running: Any) -> None:
        """Block until a variable can be read or, with ``write``, written."""
        wait = HostWait(var, write, running)
        try:
            self._core.enter_wait(wait)
            self._workers.block(wait, self._thread.state)
        except EngineError as error:
            self._refuse(str(error))

    def _flush_bulk(self) -> None:
        local = self._thread.state
        if local.bulk is not None:
            self._core.close(local.bulk)
            local.bulk = None


def _nothing() -> None:
    """Do nothing, in place of an operator that must not run any more."""
