"""`mx.engine`, and the engine of the process.

The engine is created at its first use, so that ``MXNET_ENGINE_TYPE`` and the thread counts may be
set after the import.
"""

import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gluonish.core.config import (
    DMLC_LOG_STACK_TRACE_DEPTH,
    MXNET_CHECK_VALUES,
    MXNET_CPU_PRIORITY_NTHREADS,
    MXNET_CPU_WORKER_NTHREADS,
    MXNET_ENGINE_TYPE,
    MXNET_GPU_COPY_NTHREADS,
    MXNET_GPU_WORKER_NTHREADS,
    MXNET_PROFILER_AUTOSTART,
    report_without_effect,
)
from gluonish.core.device import Device, Lane, observe_devices
from gluonish.core.errors import (
    RUN_ERRORS,
    ArgumentError,
    ArgumentTypeError,
    OperatorError,
)
from gluonish.core.hooks import start_checks, start_profiler
from gluonish.core.object_repr import default_repr
from gluonish.kernels import teams
from gluonish_engine import Engine, PushHook, Stream, Var, create_engine

__all__ = ["bulk", "current_engine", "set_bulk_size", "submit", "use_engine", "wait_briefly"]

# If several threads create the engine at once, the first one is used. A new engine is added to
# ``_engines`` before it reads the streams and the hook; changes of those are made before
# ``_engines`` is read. So a change may be applied twice, but is never lost.
_engine: Engine | None = None

_streams: dict[Lane, Stream] = {}
_engines: list[weakref.ref[Engine]] = []
_push_hook: PushHook | None = None

_BRIEF_S = 1e-3


def current_engine() -> Engine:
    """Return the process's engine, created from the environment at the first use."""
    return _engine if _engine is not None else _create()


def _create() -> Engine:
    global _engine
    report_without_effect()
    if _engine is None:
        made = make_engine(MXNET_ENGINE_TYPE.value)
        if _engine is None:  # a step
            _engine = made
    if MXNET_CHECK_VALUES.value:
        start_checks()
    if MXNET_PROFILER_AUTOSTART.value:
        start_profiler()
    return _engine


def make_engine(kind: str) -> Engine:
    """Return a new engine with the thread counts of the environment and the devices' streams."""
    engine = create_engine(
        kind,
        cpu_workers=MXNET_CPU_WORKER_NTHREADS.value,
        priority_workers=MXNET_CPU_PRIORITY_NTHREADS.value,
        launch_workers=MXNET_GPU_WORKER_NTHREADS.value,
        launch_copy_workers=MXNET_GPU_COPY_NTHREADS.value,
        stack_trace_depth=DMLC_LOG_STACK_TRACE_DEPTH.value,
        error_type=OperatorError,
    )
    engine.error_types = RUN_ERRORS
    _engines.append(weakref.ref(engine, _engines.remove))
    engine.on_push = _push_hook
    for lane, stream in tuple(_streams.items()):
        _register(engine, lane, stream)
    return engine


def wait_briefly(variables: Iterable[Var]) -> None:
    """Wait up to `_BRIEF_S` for variables that workers write; cheap if there are none.

    This is for small work, which can run in the calling thread only if no worker holds its arrays.
    After a time-out, the work runs after the worker's operation, on its lane.
    """
    pending = [var for var in variables if var.queue is not None or var.active < 0]
    if pending:
        current_engine().wait_written_for(pending, _BRIEF_S)


def submit(
    run: Callable[[], None],
    reads: Sequence[Var],
    writes: Sequence[Var],
    lane: Lane,
    name: str,
    *,
    small: bool,
    on_team: bool = False,
    priority: int = 0,
    in_worker: bool = False,
    weight: int = 1,
) -> bool:
    """Push an operation, which runs in the calling thread if it is small, else in a worker.

    Args:
        run: The operation.
        reads: Variables that the operation reads.
        writes: Variables that the operation writes.
        lane: Lane that the operation runs in.
        name: Name in profiles and messages.
        small: Whether the overhead of a worker would be a large part of the operation's time.
        on_team: Whether the operation uses a team of threads, which serves one thread at a time.
        priority: Ready operations of a lane start in descending priority.
        in_worker: Whether a worker runs it even if it is small.
        weight: See `gluonish.kernels.teams.claim`.

    Returns:
        Whether the calling thread runs the operation, unless its variables are in use.
    """
    engine = _engine if _engine is not None else _create()  # inlined `current_engine`
    # `run_inline` does not order what is launched on streams.
    on_host = lane[0] == "cpu" and not in_worker
    if on_team and engine.uses_workers():
        small = teams.claim(small=small, weight=weight)
        if small:
            if on_host and engine.run_inline(
                teams.run_and_leave, reads, writes, name, (run,), True
            ):
                return True
            wait_briefly(reads)
            wait_briefly(writes)
            run = partial(teams.run_and_leave, run)
    elif small and on_host and engine.run_inline(run, reads, writes, name, (), True):
        return True
    small = small and not in_worker
    engine.push(run, reads, writes, lane, priority, name, small)
    return small


def end_idle_teams(end: Callable[[], None]) -> bool:
    """End the teams of threads of all workers, if no worker has anything to do.

    Args:
        end: Function that ends the team of the calling thread.
    """
    return current_engine().call_in_idle_workers(end, "end_team")


def _living() -> list[Engine]:
    """Return the live engines.

    This is a plain loop: CPython 3.11 crashed here in a comprehension with an assignment
    expression, when a tracing thread was interrupted in it and another thread entered it.
    """
    engines = []
    for ref in tuple(_engines):
        engine = ref()
        if engine is not None:
            engines.append(engine)
    return engines


def _register(engine: Engine, lane: Lane, stream: Stream) -> None:
    """Register a stream and its round-robin siblings with an engine."""
    engine.register_stream_lane(lane, stream, *getattr(stream, "siblings", ()))


def _add_streams(device: Device) -> None:
    """Register a device's stream lanes with every engine, temporarily replaced ones included."""
    _streams.update(device.streams)
    for engine in _living():
        for lane, stream in device.streams.items():
            _register(engine, lane, stream)


observe_devices(_add_streams)


def observe_pushes(hook: PushHook | None) -> None:
    """Set the push hook of all current and future engines; None removes it."""
    global _push_hook
    _push_hook = hook
    for engine in _living():
        engine.on_push = _push_hook  # read again: another thread may have changed it


class use_engine:
    """Scope that runs on another engine: ``with use_engine("NaiveEngine"):``; for tests.

    Args:
        kind: ``"NaiveEngine"``, ``"ThreadedEngine"`` or ``"ThreadedEnginePerDevice"``.
    """

    __repr__ = default_repr

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._previous: Engine | None = None

    def __enter__(self) -> Engine:
        global _engine
        self._previous = _engine
        if self._previous is not None:
            self._previous.wait_all()
        _engine = make_engine(self._kind)
        return _engine

    def __exit__(self, *exc_info: object) -> None:
        global _engine
        inner, _engine = _engine, self._previous
        if inner is not None:
            inner.shutdown(timeout_s=60.0)


def set_bulk_size(size: int) -> int:
    """Set how many consecutive operators may form one engine operation; return the old number.

    Raises:
        ArgumentTypeError: ``size`` is not an integer.
        ArgumentError: ``size`` is negative.
    """
    previous: int = current_engine().set_bulk_size(_checked_size(size))
    return previous


def _checked_size(size: Any) -> int:
    if not isinstance(size, int | np.integer):
        raise ArgumentTypeError(f"bulk: expected size to be an int, got {size!r}")
    if size < 0:
        raise ArgumentError(f"bulk: expected a size of at least 0, got {size}")
    return int(size)


class bulk:
    """Scope in which up to ``size`` consecutive operators form one engine operation.

    Args:
        size: Largest number of operators, at least 0; 0 and 1 switch bulking off.

    Raises:
        ArgumentTypeError: ``size`` is not an integer.
        ArgumentError: ``size`` is negative.
    """

    __repr__ = default_repr

    def __init__(self, size: int) -> None:
        self._size = _checked_size(size)
        self._previous = 0

    def __enter__(self) -> None:
        self._previous = set_bulk_size(self._size)

    def __exit__(self, *exc_info: object) -> None:
        set_bulk_size(self._previous)
