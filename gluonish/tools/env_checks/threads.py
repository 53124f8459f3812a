"""Checks of the variables of the engine: its kinds and its threads."""

import itertools
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from gluonish.core.config import (
    DMLC_LOG_STACK_TRACE_DEPTH,
    MXNET_CPU_PRIORITY_NTHREADS,
    MXNET_CPU_WORKER_NTHREADS,
    MXNET_ENGINE_TYPE,
    MXNET_GPU_COPY_NTHREADS,
    MXNET_GPU_WORKER_NSTREAMS,
    MXNET_GPU_WORKER_NTHREADS,
    Flag,
)
from gluonish.core.device import gpu_count
from gluonish.core.errors import OperatorError
from gluonish.engine import make_engine
from gluonish.tools.env_checks.check import NotHereError, expect, observes
from gluonish.tools.env_checks.process import run_program
from gluonish_engine import Engine, Var

__all__: list[str] = []

_WAIT_S = 30.0
_names = itertools.count()


def _nothing() -> None:
    """An operator."""


def _meet(barrier: threading.Barrier) -> None:
    """Wait for the others."""
    barrier.wait()


def _note_thread(seen: set[int]) -> None:
    seen.add(threading.get_ident())


def _new_lane(kind: str) -> tuple[str, str, str]:
    """Return the key of a lane that no engine has."""
    return ("cpu", f"check {next(_names)}", kind)


def _threads_of(lane: object) -> int:
    """Count the threads that there are for a lane."""
    return sum(thread.name == f"gluonish-engine {lane}" for thread in threading.enumerate())


# Engines


@observes(MXNET_ENGINE_TYPE)
def engine_type() -> str:
    """Run operators of two devices on the engine of each kind, and see in how many threads."""
    found = {}
    for kind in ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"):
        with MXNET_ENGINE_TYPE.override(kind), MXNET_CPU_WORKER_NTHREADS.override(1):
            engine = make_engine(MXNET_ENGINE_TYPE.value)
        lanes = [_new_lane("compute") for _ in range(3)]
        threads: set[int] = set()
        for lane in lanes:
            engine.push(partial(_note_thread, threads), (), (), lane)
        engine.wait_all()
        own = sum(_threads_of(lane) for lane in lanes)
        engine.shutdown()
        found[kind] = (threading.get_ident() in threads, own)
    wanted = {
        "NaiveEngine": (True, 0),
        "ThreadedEngine": (False, 0),
        "ThreadedEnginePerDevice": (False, 3),
    }
    expect(MXNET_ENGINE_TYPE, found == wanted, "the caller, one pool, a thread a device", found)
    return "operators of three devices ran in the caller, in one pool, and in a thread of each"


def _check_workers(flag: Flag[int], kind: str) -> str:
    found = []
    for count in (1, 3):
        with flag.override(count):
            engine = make_engine("ThreadedEnginePerDevice")
        lane = _new_lane(kind)
        meet = threading.Barrier(count, timeout=_WAIT_S)
        for _ in range(count):
            engine.push(partial(_meet, meet), (), (), lane)
        engine.wait_all()
        found.append(_threads_of(lane))
        engine.shutdown()
    expect(flag, found == [1, 3], "1 and 3 threads of a lane", found)
    return f"1 and 3 threads ran as many operators of a {kind} lane at once"


@observes(MXNET_CPU_WORKER_NTHREADS)
def cpu_workers() -> str:
    """Run operators of a compute lane that wait for each other."""
    return _check_workers(MXNET_CPU_WORKER_NTHREADS, "compute")


@observes(MXNET_CPU_PRIORITY_NTHREADS)
def cpu_priority_workers() -> str:
    """Run operators of a priority lane that wait for each other."""
    return _check_workers(MXNET_CPU_PRIORITY_NTHREADS, "priority")


class _HostStream:
    """A stream that is the host: what is launched is done."""

    def launch(self, fn: Callable[[], None], name: str) -> None:
        fn()

    def record(self) -> Any:
        return None

    def wait_event(self, event: Any) -> None:
        """Every event has been reached."""

    def synchronize_event(self, event: Any) -> None:
        """Every event has been reached."""

    def event_done(self, event: Any) -> bool:
        return True


def _check_launchers(flag: Flag[int], kind: str) -> str:
    """Launch what depends on a value that the caller is still to promise, on a stream."""
    found = []
    for count in (1, 3):
        with flag.override(count):
            engine = make_engine("ThreadedEnginePerDevice")
        lane, var = _new_lane(kind), Var()
        engine.register_stream_lane(lane, _HostStream())
        promise: Any = engine.promise(var)
        meet = threading.Barrier(count, timeout=_WAIT_S)
        for _ in range(count):
            engine.push(partial(_meet, meet), (var,), (), lane)
        engine.keep(promise, _nothing, (), _new_lane("compute"))
        engine.wait_all()
        found.append(_threads_of(("launch", lane)))
        engine.shutdown()
    expect(flag, found == [1, 3], "1 and 3 threads that launch", found)
    return f"1 and 3 threads launched on a {kind} stream what its caller could not wait for"


@observes(MXNET_GPU_WORKER_NTHREADS)
def gpu_workers() -> str:
    """Launch operators that wait for each other on a compute stream."""
    return _check_launchers(MXNET_GPU_WORKER_NTHREADS, "compute")


@observes(MXNET_GPU_COPY_NTHREADS)
def gpu_copy_workers() -> str:
    """Launch operators that wait for each other on a copy stream."""
    return _check_launchers(MXNET_GPU_COPY_NTHREADS, "copy")


@observes(MXNET_GPU_WORKER_NSTREAMS)
def gpu_streams() -> str:
    """Open a device with two compute streams, in a process of its own."""
    if not gpu_count():
        raise NotHereError("needs a GPU")
    program = """
from gluonish.core.context import gpu
from gluonish.core.device import device_of
compute = device_of(gpu(0)).compute
print(len({stream.raw.ptr for stream in (compute, *compute.beside)}))
"""
    found = [
        int(run_program(program, MXNET_GPU_WORKER_NSTREAMS=count).split()[-1])
        for count in ("1", "3")
    ]
    expect(MXNET_GPU_WORKER_NSTREAMS, found == [1, 3], "1 and 3 streams", found)
    return "a GPU had 1 and 3 streams for compute"


@observes(DMLC_LOG_STACK_TRACE_DEPTH)
def stack_trace_depth() -> str:
    """Count the frames that an operator's error shows of its push."""

    def fail() -> None:
        raise ValueError("on purpose")

    def push(engine: Engine, var: Var, calls: int) -> None:
        if calls:
            push(engine, var, calls - 1)
        else:
            engine.push(fail, (), (var,), _new_lane("compute"), name="check")

    found = []
    for depth in (0, 1, 3):
        with DMLC_LOG_STACK_TRACE_DEPTH.override(depth):
            engine = make_engine("ThreadedEnginePerDevice")
        var = Var()
        push(engine, var, 6)
        try:
            engine.wait(var)
        except OperatorError as error:
            found.append(str(error).count('File "'))
        engine.shutdown()
    expect(DMLC_LOG_STACK_TRACE_DEPTH, found == [0, 1, 3], "0, 1 and 3 frames", found)
    return "an operator's error showed 0, 1 and 3 calls of the push"
