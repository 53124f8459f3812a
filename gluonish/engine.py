"""The user's view of the dependency engine, and the one engine of the process.

The engine is made at its first use, so that ``MXNET_ENGINE_TYPE`` and the thread counts may be set
after the import.
"""

import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gluonish.core.config import (
    DMLC_LOG_STACK_TRACE_DEPTH,
    MXNET_CPU_PRIORITY_NTHREADS,
    MXNET_CPU_WORKER_NTHREADS,
    MXNET_ENGINE_TYPE,
    MXNET_GPU_COPY_NTHREADS,
    MXNET_GPU_WORKER_NTHREADS,
    MXNET_PROFILER_AUTOSTART,
    report_without_effect,
)
from gluonish.core.device import Device, Lane, watch_devices
from gluonish.core.errors import (
    RUN_ERRORS,
    ArgumentError,
    ArgumentTypeError,
    OperatorError,
)
from gluonish.core.hooks import start_profiler
from gluonish.kernels import teams
from gluonish_engine import Engine, PushHook, Stream, Var, create_engine

__all__ = ["bulk", "current_engine", "set_bulk_size", "settle", "submit", "use_engine"]

# Of engines that are made at once the first one counts. Who makes one puts it into ``_engines``
# before it looks at the streams and the hook, and who changes those does so before it looks at the
# engines. So one may do again what the other did, but nothing is left out.
_engine: Engine | None = None

_streams: dict[Lane, Stream] = {}
_engines: list[weakref.ref[Engine]] = []
_push_hook: PushHook | None = None

_MOMENT_S = 1e-3


def current_engine() -> Engine:
    """Return the process's engine, making it as the environment says if there is none yet."""
    return _engine if _engine is not None else _create()


def _create() -> Engine:
    global _engine
    report_without_effect()
    if _engine is None:
        made = make_engine(MXNET_ENGINE_TYPE.value)
        if _engine is None:  # a step
            _engine = made
    if MXNET_PROFILER_AUTOSTART.value:
        start_profiler()
    return _engine


def make_engine(kind: str) -> Engine:
    """Return a new engine with the environment's thread counts and the devices' streams."""
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


def settle(variables: Iterable[Var]) -> None:
    """Wait a moment for variables that a worker is about to write; without, it costs little.

    For small work that shall run in the calling thread, which it can't while a worker has its
    arrays. What a worker does longer than `_MOMENT_S` is not waited for: the work follows it there.
    """
    held = [var for var in variables if var.queue is not None or var.active < 0]
    if held:
        current_engine().wait_written_for(held, _MOMENT_S)


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
) -> bool:
    """Push an operation to the calling thread, where it is small, or to a worker.

    Args:
        run: What it does.
        reads: What it reads.
        writes: What it writes.
        lane: Where it runs.
        name: For profiles and messages.
        small: Whether a hand-over to a worker would be a large part of the work.
        on_team: Whether it runs on a team of threads, which one thread has at a time.
        priority: Higher goes first among what waits on the same lane.

    Returns:
        Whether the calling thread runs it, unless what it touches is in use.
    """
    engine = _engine if _engine is not None else _create()  # a call less than `current_engine`
    if on_team and engine.hands_over():
        small = teams.claim(small=small)
        if small:
            settle(reads)
            settle(writes)
            run = partial(teams.run_and_leave, run)
    engine.push(run, reads, writes, lane, priority, name, small)
    return small


def end_idle_teams(end: Callable[[], None]) -> bool:
    """Have all workers end their teams of threads if no worker has anything to do.

    Args:
        end: Ends the team of the thread that calls it.
    """
    return current_engine().call_in_idle_workers(end, "end_team")


def _living() -> list[Engine]:
    """Return the engines that live."""
    return [engine for ref in tuple(_engines) if (engine := ref()) is not None]


def _register(engine: Engine, lane: Lane, stream: Stream) -> None:
    """Give an engine a stream, with those that take its operators in turn with it."""
    engine.register_stream_lane(lane, stream, *getattr(stream, "beside", ()))


def _add_streams(device: Device) -> None:
    """Give a device's stream lanes to every engine, those that another replaces for a while too."""
    _streams.update(device.streams)
    for engine in _living():
        for lane, stream in device.streams.items():
            _register(engine, lane, stream)


watch_devices(_add_streams)


def observe_pushes(hook: PushHook | None) -> None:
    """Hand the pushes of all engines, present and later ones, to a hook; None for none."""
    global _push_hook
    _push_hook = hook
    for engine in _living():
        engine.on_push = _push_hook  # that of who came last


class use_engine:
    """Scope that runs on another engine: ``with use_engine("NaiveEngine"):``; for tests.

    Args:
        kind: ``"NaiveEngine"``, ``"ThreadedEngine"`` or ``"ThreadedEnginePerDevice"``.
    """

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
        ArgumentError: It is negative.
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
        ArgumentError: It is negative.
    """

    def __init__(self, size: int) -> None:
        self._size = _checked_size(size)
        self._previous = 0

    def __enter__(self) -> None:
        self._previous = set_bulk_size(self._size)

    def __exit__(self, *exc_info: object) -> None:
        set_bulk_size(self._previous)
