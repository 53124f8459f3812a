"""Checks of the variables of kernels' teams of threads."""

import os
import threading

import numpy as np

from gluonish.core.config import (
    MXNET_CPU_PARALLEL_SIZE,
    MXNET_USE_NUM_CORES_OPERATOR_TUNING,
    MXNET_USE_OPERATOR_TUNING,
    OMP_NUM_THREADS,
)
from gluonish.kernels import openmp
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.tools.env_checks.check import CheckFailedError, NotHereError, expect, observes
from gluonish.tools.env_checks.process import run_program

__all__: list[str] = []

_WAIT_S = 30.0
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
    """Whether the last of some runs of a kernel, in a new thread, had a team of threads."""
    x = np.arange(size, dtype=dtype)
    y = np.zeros_like(x)
    words = np.array([y.ctypes.data, x.ctypes.data], np.int64)
    grew: list[bool] = []

    def run() -> None:
        team = openmp.team()
        team.set_threads(3)
        for _ in range(runs - 1):
            kernel(size, words)
        # What the runs before had started ends here.
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
    """Run kernels of two types on more elements than the fixed size allows one thread."""
    _needs_teams()
    flag = MXNET_USE_OPERATOR_TUNING
    found = []
    # A measurement that counts on one thread never wants more: so it shows who measures.
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
    """Run a tuned kernel that is worth a team, when the measurement counts on one thread."""
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
    """Ask kernels' teams and oneDNN for their threads, in processes of their own."""
    _needs_teams()
    program = "from gluonish.kernels import openmp; print(openmp.team().threads())"
    found = [int(run_program(program, OMP_NUM_THREADS=n).split()[-1]) for n in ("1", "3")]
    expect(OMP_NUM_THREADS, found == [1, 3], "teams of 1 and 3", found)
    return "kernels ran on teams of 1 and 3 threads"
