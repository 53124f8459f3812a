"""Checks of the variables of the engine: threads, teams of kernels, bulks and their trace."""

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np

from gluonish.autograd import record
from gluonish.core.config import (
    DMLC_LOG_STACK_TRACE_DEPTH,
    MXNET_CPU_PARALLEL_SIZE,
    MXNET_CPU_PRIORITY_NTHREADS,
    MXNET_CPU_WORKER_NTHREADS,
    MXNET_ENGINE_TYPE,
    MXNET_EXEC_BULK_EXEC_INFERENCE,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD,
    MXNET_EXEC_BULK_EXEC_TRAIN,
    MXNET_GPU_COPY_NTHREADS,
    MXNET_GPU_WORKER_NSTREAMS,
    MXNET_GPU_WORKER_NTHREADS,
    MXNET_USE_FUSION,
    MXNET_USE_NUM_CORES_OPERATOR_TUNING,
    MXNET_USE_OPERATOR_TUNING,
    OMP_NUM_THREADS,
    Flag,
)
from gluonish.core.device import gpu_count
from gluonish.core.errors import OperatorError
from gluonish.engine import current_engine, make_engine, use_engine
from gluonish.gluon.nn import HybridLambda
from gluonish.kernels import openmp
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.ndarray import ones
from gluonish.profiler.events import Job
from gluonish.profiler.state import recording
from gluonish.tools.env_checks.process import (
    CheckFailedError,
    NotHereError,
    expect,
    observes,
    run_program,
)
from gluonish_engine import Engine, Var

_WAIT_S = 30.0
_names = itertools.count()


def _nothing() -> None:
    """Do nothing."""


def _wait_at(barrier: threading.Barrier) -> None:
    """Wait for the other operators."""
    barrier.wait()


def _record_thread(threads: set[int]) -> None:
    threads.add(threading.get_ident())


def _new_lane(kind: str) -> tuple[str, str, str]:
    """Return the key of a new lane."""
    return ("cpu", f"check {next(_names)}", kind)


def _threads_of(lane: object) -> int:
    """Count the threads of a lane."""
    return sum(thread.name == f"gluonish-engine {lane}" for thread in threading.enumerate())


# Engines


@observes(MXNET_ENGINE_TYPE)
def engine_type() -> str:
    """Run operators of three devices on each kind of engine, and count the threads."""
    found = {}
    for kind in ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"):
        with MXNET_ENGINE_TYPE.override(kind), MXNET_CPU_WORKER_NTHREADS.override(1):
            engine = make_engine(MXNET_ENGINE_TYPE.value)
        lanes = [_new_lane("compute") for _ in range(3)]
        threads: set[int] = set()
        for lane in lanes:
            engine.push(partial(_record_thread, threads), (), (), lane)
        engine.wait_all()
        lane_threads = sum(_threads_of(lane) for lane in lanes)
        engine.shutdown()
        found[kind] = (threading.get_ident() in threads, lane_threads)
    expected = {
        "NaiveEngine": (True, 0),
        "ThreadedEngine": (False, 0),
        "ThreadedEnginePerDevice": (False, 3),
    }
    expect(MXNET_ENGINE_TYPE, found == expected, "the caller, one pool, a thread per device", found)
    return "operators of three devices ran in the caller, in one pool, and in a thread per device"


def _check_workers(flag: Flag[int], kind: str) -> str:
    found = []
    for count in (1, 3):
        with flag.override(count):
            engine = make_engine("ThreadedEnginePerDevice")
        lane = _new_lane(kind)
        barrier = threading.Barrier(count, timeout=_WAIT_S)
        for _ in range(count):
            engine.push(partial(_wait_at, barrier), (), (), lane)
        engine.wait_all()
        found.append(_threads_of(lane))
        engine.shutdown()
    expect(flag, found == [1, 3], "1 and 3 threads of a lane", found)
    return f"1 and 3 threads ran operators of a {kind} lane at once"


@observes(MXNET_CPU_WORKER_NTHREADS)
def cpu_workers() -> str:
    """Run operators of a compute lane that wait for each other."""
    return _check_workers(MXNET_CPU_WORKER_NTHREADS, "compute")


@observes(MXNET_CPU_PRIORITY_NTHREADS)
def cpu_priority_workers() -> str:
    """Run operators of a priority lane that wait for each other."""
    return _check_workers(MXNET_CPU_PRIORITY_NTHREADS, "priority")


class _HostStream:
    """A fake stream on the host, which runs launches immediately."""

    def launch(self, fn: Callable[[], None], name: str) -> None:
        fn()

    def record(self) -> Any:
        return None

    def wait_event(self, event: Any) -> None:
        """All events are complete."""

    def synchronize_event(self, event: Any) -> None:
        """All events are complete."""

    def event_done(self, event: Any) -> bool:
        return True


def _check_launchers(flag: Flag[int], kind: str) -> str:
    """Launch operators on a stream that depend on a promised value."""
    found = []
    for count in (1, 3):
        with flag.override(count):
            engine = make_engine("ThreadedEnginePerDevice")
        lane, var = _new_lane(kind), Var()
        engine.register_stream_lane(lane, _HostStream())
        promise: Any = engine.promise(var)
        barrier = threading.Barrier(count, timeout=_WAIT_S)
        for _ in range(count):
            engine.push(partial(_wait_at, barrier), (var,), (), lane)
        engine.fulfill(promise, _nothing, (), _new_lane("compute"))
        engine.wait_all()
        found.append(_threads_of(("launch", lane)))
        engine.shutdown()
    expect(flag, found == [1, 3], "1 and 3 threads that launch", found)
    return f"1 and 3 threads launched operators with pending inputs on a {kind} stream"


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
    """Open a device with 1 and 3 compute streams, in separate processes."""
    if not gpu_count():
        raise NotHereError("needs a GPU")
    program = """
from gluonish.core.context import gpu
from gluonish.core.device import device_of
compute = device_of(gpu(0)).compute
print(len({stream.raw.ptr for stream in (compute, *compute.siblings)}))
"""
    found = [
        int(run_program(program, MXNET_GPU_WORKER_NSTREAMS=count).split()[-1])
        for count in ("1", "3")
    ]
    expect(MXNET_GPU_WORKER_NSTREAMS, found == [1, 3], "1 and 3 streams", found)
    return "a GPU had 1 and 3 compute streams"


@observes(DMLC_LOG_STACK_TRACE_DEPTH)
def stack_trace_depth() -> str:
    """Count the frames of the pushing code in an operator's error."""

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
    return "an operator's error showed 0, 1 and 3 frames of its push"


_DOUBLE = """
def body(begin, end, words):
    y = {view}(words[0])
    x = {view}(words[1])
    for i in range(begin, end):
        independent()
        y[i] = x[i] + x[i]
"""


def _needs_teams() -> None:
    if not available() or not openmp.team().parallel or not os.path.isdir("/proc/self/task"):
        raise NotHereError("needs llvmlite, libgomp and Linux")


def _kernel(dtype: str) -> CompiledKernel:
    view = {"float32": "f32", "float64": "f64"}[dtype]
    source = _DOUBLE.replace("{view}", view).replace("        independent()\n", "")
    return compile_kernel(source)


def _grows_team(kernel: CompiledKernel, dtype: str, size: int, runs: int) -> bool:
    """Whether the last of ``runs`` runs of a kernel, in a new thread, used a team of threads."""
    x = np.arange(size, dtype=dtype)
    y = np.zeros_like(x)
    words = np.array([y.ctypes.data, x.ctypes.data], np.int64)
    grew: list[bool] = []

    def run() -> None:
        team = openmp.team()
        team.set_threads(3)
        for _ in range(runs - 1):
            kernel(size, words)
        # Ends threads of earlier runs.
        team.release()
        before = set(os.listdir("/proc/self/task"))
        kernel(size, words)
        grew.append(len(set(os.listdir("/proc/self/task")) - before) >= 2)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(_WAIT_S)
    if not np.array_equal(y, x + x):
        raise CheckFailedError("kernels: expected twice the numbers, got others")
    return grew[0]


@observes(MXNET_CPU_PARALLEL_SIZE)
def parallel_size() -> str:
    """Run an untuned kernel on arrays below and above the size."""
    _needs_teams()
    flag, kernel = MXNET_CPU_PARALLEL_SIZE, _kernel("float32")
    found = []
    with MXNET_USE_OPERATOR_TUNING.override(()):
        for size in (200_000, 10_000):
            with flag.override(size):
                found += [_grows_team(kernel, "float32", n, 1) for n in (size // 2, size * 2)]
    expect(flag, found == [False, True] * 2, "a team above the size only", found)
    return "a kernel had a team of threads for 400000 and 20000 elements, above 200000 and 10000"


@observes(MXNET_USE_OPERATOR_TUNING)
def operator_tuning() -> str:
    """Run kernels of two types on more elements than the fixed size, with and without tuning."""
    _needs_teams()
    flag = MXNET_USE_OPERATOR_TUNING
    found = []
    # A measurement with one thread never chooses more threads: this reveals a measurement.
    with (
        MXNET_CPU_PARALLEL_SIZE.override(1000),
        MXNET_USE_NUM_CORES_OPERATOR_TUNING.override(1),
    ):
        for types in ((), ("float32",), ("float32", "float64")):
            with flag.override(types):
                found.append(
                    [
                        _grows_team(_kernel(dtype), dtype, 30_000, 5)
                        for dtype in ("float32", "float64")
                    ]
                )
    wanted = [[True, True], [False, True], [False, False]]
    expect(flag, found == wanted, "the fixed size for untuned types only", found)
    return "kernels of no type, of float32, of both were measured; the others went by their size"


@observes(MXNET_USE_NUM_CORES_OPERATOR_TUNING)
def tuning_threads() -> str:
    """Run a tuned kernel on a large array, with measurements that assume 1 and 3 threads."""
    _needs_teams()
    flag, kernel = MXNET_USE_NUM_CORES_OPERATOR_TUNING, _kernel("float64")
    size = 60_000
    found = []
    for threads in (1, 3):
        with MXNET_USE_OPERATOR_TUNING.override(("float64",)), flag.override(threads):
            found.append(_grows_team(kernel, "float64", size, 5))
            found.append(_grows_team(kernel, "float64", 100 * size, 1))
    expect(flag, found[:2] == [False, False] and found[3], "a team with 3 threads only", found)
    return "a large array had a team when the measurement counted on 3 threads, and none with 1"


@observes(OMP_NUM_THREADS)
def kernel_threads() -> str:
    """Count the threads of kernels' teams and of oneDNN, in separate processes."""
    _needs_teams()
    program = "from gluonish.kernels import openmp; print(openmp.team().threads())"
    found = [int(run_program(program, OMP_NUM_THREADS=n).split()[-1]) for n in ("1", "3")]
    expect(OMP_NUM_THREADS, found == [1, 3], "teams of 1 and 3", found)
    return "kernels ran on teams of 1 and 3 threads"


@contextmanager
def engine_trace() -> Iterator[list[Job]]:
    """Context manager that records the operations pushed to the current engine.

    ``with engine_trace() as ran:`` returns a list, in the order of the pushes, which is filled at
    the end of the block, after all work is complete.

    Raises:
        NotSupportedError: The profiler is running already.
    """
    ran: list[Job] = []
    current_engine().wait_all()
    with recording() as recorder:
        yield ran
        current_engine().wait_all()
        ran += recorder.jobs()


def _chain(F: Any, x: Any) -> Any:
    """Apply a chain of twelve operators."""
    for _ in range(6):
        x = F.broadcast_mul(F.sin(x), x)
    return x


def _jobs(*scopes: AbstractContextManager[Any], train: bool) -> tuple[int, int]:
    """Return how many jobs a graph of twelve operators pushes in its forward and backward pass."""
    pushed: list[str] = []

    def count(fn: Callable[[], None], _lane: object, name: str) -> Callable[[], None]:
        pushed.append(name)
        return fn

    with ExitStack() as stack:
        for scope in (MXNET_USE_FUSION.override(False), *scopes):
            stack.enter_context(scope)
        engine = stack.enter_context(use_engine("ThreadedEngine"))
        block = HybridLambda(_chain)
        block.hybridize()
        x = ones((2, 3))
        x.attach_grad()
        block(x).wait_to_read()
        engine.on_push = count
        if not train:
            block(x).wait_to_read()
            return len(pushed), 0
        with record():
            y = block(x)
        forward = len(pushed)
        y.backward()
        engine.wait_all()
        return forward, len(pushed) - forward


@observes(MXNET_EXEC_BULK_EXEC_INFERENCE)
def bulk_inference() -> str:
    """Count the jobs of a graph outside training."""
    flag = MXNET_EXEC_BULK_EXEC_INFERENCE
    found = [_jobs(flag.override(on), train=False)[0] for on in (True, False)]
    expect(flag, found == [1, 12], "1 job and 12", found)
    return "a graph of 12 operators was 1 job, and 12 without"


@observes(MXNET_EXEC_BULK_EXEC_TRAIN)
def bulk_train() -> str:
    """Count the jobs of a graph in training."""
    flag = MXNET_EXEC_BULK_EXEC_TRAIN
    (on, on_back), (off, off_back) = (_jobs(flag.override(v), train=True) for v in (True, False))
    holds = on == 1 and off == 12 and off_back > 2 * on_back
    expect(flag, holds, "1 job forward and few backward, and 12 and many", (on, on_back, off))
    return f"12 operators were 1 job and {on_back} backward, {off} and {off_back} without"


def _check_segments(flag: Flag[int], forward: bool, backward: bool) -> str:
    few, many = (_jobs(flag.override(size), train=True) for size in (1000, 4))
    acts = (few[0] < many[0], few[1] < many[1])
    expect(flag, acts == (forward, backward), f"more jobs {(forward, backward)}", (few, many))
    expect(flag, not forward or (few[0], many[0]) == (1, 3), "1 and 3 jobs", (few, many))
    where = " and ".join(["forward"] * forward + ["backward"] * backward)
    return f"segments of up to 1000 and of 4 operators: {few} and {many} jobs, more {where}"


@observes(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN)
def bulk_nodes() -> str:
    """Count the jobs of both passes."""
    return _check_segments(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN, True, True)


@observes(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD)
def bulk_nodes_forward() -> str:
    """Count the jobs of the forward pass."""
    return _check_segments(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD, True, False)


@observes(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD)
def bulk_nodes_backward() -> str:
    """Count the jobs of the backward pass."""
    return _check_segments(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD, False, True)


# Teams of threads in kernels
