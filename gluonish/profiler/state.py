"""Start and stop the profiler, and write its records.

Invariants: once ``_applied`` equals ``_changes``, hooks are installed if and only if the profiler
runs. A signal handler may start, stop or dump in the middle of a change. So the requested state is
set in one step, and the thread that is applying changes continues until none is left.

Deprecated names of the profiler's functions; each warns and calls the new one.
"""

import ctypes
import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.core.operating_system import on_fork
from gluonish.core.timeout_lock import TimeoutLock
from gluonish.profiler.api_calls import observe_blocks, observe_calls
from gluonish.profiler.operators import observe_engine, observe_steps, observe_updates
from gluonish.profiler.options import Options, is_worker, read_options
from gluonish.profiler.ranks import observe_exchanges
from gluonish.profiler.recorder import Recorder, observe_memory, recorder
from gluonish.profiler.tables import as_json, as_table, check_order
from gluonish.profiler.trace_file import write_alone, write_together

_LOG = logging.getLogger("gluonish")
_STATES = {"run": True, "stop": False}
# Minimum pause between writes of the trace, as a multiple of the time of a write.
_PAUSE = 20
_STOP_WAIT_S = 60.0

profiler_kvstore_handle = ctypes.c_void_p()


class _Writer(threading.Thread):
    """Writes the trace periodically until it is stopped."""

    def __init__(self, period_s: float) -> None:
        super().__init__(name="gluonish-profiler", daemon=True)
        self._period_s = period_s
        self._stopped = threading.Event()

    def run(self) -> None:
        """Write the trace if there are new events; end if the file cannot be written."""
        written = 0
        pause_s = self._period_s
        while not self._stopped.wait(pause_s):
            count = recorder.event_count()
            if count in (0, written):
                continue
            start_s = time.perf_counter()
            try:
                _write(finished=False)
            except OSError as error:
                _LOG.warning("profiler: the trace cannot be written: %s", error)
                return
            written = count
            pause_s = max(self._period_s, _PAUSE * (time.perf_counter() - start_s))

    def stop(self) -> None:
        """End the thread after its current write."""
        self._stopped.set()
        self.join(_STOP_WAIT_S)


_lock = TimeoutLock()
_file_lock = TimeoutLock()  # for the writes of the file, which are atomic
_options = Options()
_running = False
_changes = 0  # number of requested changes
_applied = 0  # number of applied changes
_tries = 0  # number of attempts to apply them
_applying: list[int] = []  # the threads inside `_apply_state`
_unhook: list[Callable[[], None]] = []
_writer: _Writer | None = None
_finished = False  # whether `dump` has ended a trace


def set_kvstore_handle(handle: Any) -> None:
    """Store the handle of a kvstore in ``profiler_kvstore_handle``, for MXNet's programs.

    MXNet uses it to reach servers; here it has no effect, see ``profile_process`` in `set_config`.

    Args:
        handle: A ``ctypes.c_void_p``, an address, or None.
    """
    profiler_kvstore_handle.value = getattr(handle, "value", handle)


def set_config(**kwargs: Any) -> None:
    """Set the profiler's options; omitted options get their defaults.

    Args:
        **kwargs: ``profile_symbolic`` records graphs (hybridized Blocks, executors, their backward
            passes) and each operator in them, ``profile_imperative`` all other operators and
            Blocks, ``profile_memory`` how many bytes of arrays, created since the profiler
            started, are allocated on each device, and ``profile_api`` calls of public functions,
            and waits; all are True by default. ``profile_all`` is all of these. ``filename`` is
            the path of the trace file, ``continuous_dump`` says whether to rewrite it every
            ``dump_period`` seconds while the profiler runs, and ``aggregate_stats`` whether to
            collect statistics for `dumps`. ``profile_process`` is ``"worker"``, this process, or
            ``"server"``, which has no effect: the servers of dist_async are threads of the
            workers, and their work is in the workers' traces.

    A trace contains the first 1,000,000 events since the last ``dump()``; statistics contain all.

    Raises:
        ArgumentError: An argument is unknown or invalid.

    Example::

        mx.profiler.set_config(filename="profile.json", aggregate_stats=True)
        mx.profiler.set_state("run")
        train(net)
        mx.nd.waitall()
        mx.profiler.set_state("stop")
        print(mx.profiler.dumps())  # a table of times by operator
        mx.profiler.dump()  # profile.json, for chrome://tracing or ui.perfetto.dev
    """
    global _options, _changes
    options = read_options(kwargs)
    if not is_worker("set_config", options.profile_process):
        return
    _options = options  # a step
    _changes += _running
    _apply_state(_running and not recorder.active)


def set_state(state: str = "stop", profile_process: str = "worker") -> None:
    """Start or stop the profiler.

    Operators that are unfinished when it stops are not recorded: call ``nd.waitall()`` first.

    Args:
        state: ``"run"`` or ``"stop"``.
        profile_process: ``"worker"``, this process; ``"server"`` has no effect, see `set_config`.

    Raises:
        ArgumentError: ``state`` or ``profile_process`` is not one of those.
    """
    global _running, _changes
    if state not in _STATES:
        raise ArgumentError(f"set_state: expected 'run' or 'stop', got {state!r}")
    if not is_worker("set_state", profile_process):
        return
    running = _STATES[state]
    if running == _running:  # a step
        return
    _running = running
    _changes += 1
    if _apply_state():
        _write(finished=False)


def _apply_state(paused: bool = False) -> bool:
    """Start or stop the profiler until the requested state is applied.

    Args:
        paused: Whether to start paused.

    Returns:
        Whether a writer thread was stopped and the profiler no longer runs.
    """
    global _applied, _tries
    writers: list[_Writer] = []
    with _lock:
        me = threading.get_ident()
        if me in _applying:  # a handler: the interrupted call continues
            return False
        _applying.append(me)
        try:
            while True:
                if _applied == _changes:  # a step, up to the call
                    _applying.remove(me)
                    break
                target = _changes
                _tries += 1
                mine = _tries
                writer = _end()
                if writer is not None:
                    writers.append(writer)
                if _running:
                    _begin()
                    recorder.active = not paused
                if _tries == mine:  # a step: no other attempt meanwhile
                    _applied = target
        finally:
            if me in _applying:
                _applying.remove(me)
    for writer in writers:
        writer.stop()
    return bool(writers) and not _running


def _begin() -> None:
    """Install hooks, and start recording."""
    global _writer
    _remove_hooks()
    options = _options
    recorder.keeps_totals = options.aggregate_stats
    everything = options.profile_all
    imperative = everything or options.profile_imperative
    symbolic = everything or options.profile_symbolic
    _unhook.append(observe_blocks(imperative=imperative, symbolic=symbolic))
    _unhook.append(observe_engine(imperative=imperative, symbolic=symbolic))
    if imperative:
        _unhook.append(observe_updates())
    _unhook.append(observe_steps(enabled=symbolic))
    _unhook.append(observe_exchanges())
    if everything or options.profile_memory:
        _unhook.append(observe_memory())
    if everything or options.profile_api:
        _unhook.append(observe_calls())
    recorder.active = True
    if options.continuous_dump:
        _writer = _Writer(options.dump_period)
        _writer.start()


def _end() -> _Writer | None:
    """Remove hooks, and return the writer to stop."""
    global _writer
    recorder.active = False
    _remove_hooks()
    writer, _writer = _writer, None
    return writer


def _remove_hooks() -> None:
    while True:
        if not _unhook:  # a step, up to the call
            return
        _unhook.pop()()


@contextmanager
def recording() -> Iterator[Recorder]:
    """Context manager that records everything in memory and drops it at the end; for tests.

    Events recorded before are dropped, too. Wait inside the block for the work to be observed: work
    that has not finished at its end is not recorded.

    Raises:
        NotSupportedError: The profiler is running already.
    """
    global _options
    if _running:
        raise NotSupportedError(
            "recording: expected a stopped profiler, got a running one; stop it first"
        )
    before = _options
    set_config(profile_all=True, continuous_dump=False, aggregate_stats=True)
    recorder.clear()
    set_state("run")
    try:
        yield recorder
    finally:
        set_state("stop")
        recorder.clear()
        _options = before


def pause(profile_process: str = "worker") -> None:
    """Pause recording until `resume`.

    Args:
        profile_process: As in `set_state`.
    """
    if not is_worker("pause", profile_process):
        return
    recorder.active = False


def resume(profile_process: str = "worker") -> None:
    """Continue recording after `pause`, if the profiler is running.

    Args:
        profile_process: As in `set_state`.
    """
    if not is_worker("resume", profile_process):
        return
    recorder.active = _running


def was_finished() -> bool:
    """Whether the program has called `dump` with ``finished=True``."""
    return _finished


def dump(finished: bool = True, profile_process: str = "worker") -> None:
    """Write the trace to the file set by `set_config`.

    In a job of several processes all of them call this, and rank 0 writes one file with all their
    traces: processes that profile wait for each other, for up to 10 s. Their clocks are compared,
    and all times are by rank 0's clock. A process that is left out logs a warning, and writes its
    own file.

    Args:
        finished: Whether to end the trace: the next one contains only later events.
        profile_process: As in `set_state`.

    Raises:
        MissingFileError: The file's folder does not exist.
        OSError: The file cannot be written.
    """
    if not is_worker("dump", profile_process):
        return
    _write(finished=finished, together=True)


def dump_alone() -> None:
    """Write the trace like `dump`, but do not wait for other ranks."""
    _write(finished=True)


def _write(*, finished: bool, together: bool = False) -> None:
    global _finished
    with _file_lock:
        events = recorder.events()
        write = write_together if together else write_alone
        write(_options.filename, events, recorder.dropped)
        if finished:
            recorder.drop(len(events), events[0] if events else None)
            _finished = True


def _start_clean() -> None:
    """Reset the state in a forked child, which has neither the parent's writer nor its events.

    Hooks stay until the next start, without recording: their removal needs locks that a thread of
    the parent may have held.
    """
    global _lock, _file_lock, _running, _applied, _writer, _finished
    _lock, _file_lock = TimeoutLock(), TimeoutLock()
    _running, _writer, _finished = False, None, False
    _applied = _changes
    _applying.clear()


on_fork(after_in_child=_start_clean)


def dumps(
    reset: bool = False,
    format: str = "table",  # noqa: A002  # MXNet's name
    sort_by: str = "total",
    ascending: bool = False,
) -> str:
    """Return statistics of the events as text: count, total, minimum, maximum and mean time.

    Statistics are collected after ``set_config(aggregate_stats=True)``.

    Args:
        reset: Whether to start new statistics afterwards.
        format: ``"table"`` or ``"json"``.
        sort_by: ``"total"``, ``"avg"``, ``"min"``, ``"max"`` or ``"count"``.
        ascending: Whether to list the smallest first.

    Raises:
        ArgumentError: ``format`` or ``sort_by`` is not one of those.
    """
    formats = {"table": as_table, "json": as_json}
    if format not in formats:
        raise ArgumentError(f"dumps: expected format 'table' or 'json', got {format!r}")
    check_order(sort_by)
    totals = recorder.totals(clear=reset)
    if not totals and not _options.aggregate_stats and format == "table":
        _LOG.warning("dumps: there are no totals; call set_config(aggregate_stats=True) first")
        return ""
    return formats[format](totals, sort_by, ascending)


_MODES = ("symbolic", "imperative", "api", "memory", "all")


def profiler_set_config(mode: str = "symbolic", filename: str = "profile.json") -> None:
    """Set what to record and the trace file; deprecated, use `set_config`.

    Args:
        mode: ``"symbolic"``, ``"imperative"``, ``"api"``, ``"memory"`` or ``"all"``.
        filename: Path of the trace file.

    Raises:
        ArgumentError: ``mode`` is not one of those.
    """
    _deprecated("profiler_set_config", "set_config")
    if mode not in _MODES:
        raise ArgumentError(f"profiler_set_config: expected a mode among {_MODES}, got {mode!r}")
    set_config(**{f"profile_{mode}": True}, filename=filename)


def profiler_set_state(state: str = "stop") -> None:
    """Start or stop the profiler; deprecated, use `set_state`.

    Args:
        state: ``"run"`` or ``"stop"``.
    """
    _deprecated("profiler_set_state", "set_state")
    set_state(state)


def dump_profile() -> None:
    """Write the trace file; deprecated, use `dump`."""
    _deprecated("dump_profile", "dump")
    dump(True)


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"profiler.{old} is deprecated; use profiler.{new}", UserWarning, stacklevel=3)
