"""Stage 1: versions, first results, the tests of tests/gpu, memory that runs out, a fault."""

import importlib
import importlib.metadata
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gpu_run.measured import MEASURED
from benchmarks.gpu_run.place import Place
from benchmarks.gpu_run.programs import pytest_run, run_module, tell_tests
from benchmarks.gpu_run.rows import Note, NotOnDouble, Refused, Table
from benchmarks.gpu_run.timing import Contender, in_turns

TABLE = Table()
_PARTS = 64  # blocks that fill the device
_ALONE = ("tests/gpu/test_contexts.py", "tests/gpu/test_memory.py")  # they look at all memory
_MODULES = (
    "numpy",
    "ml_dtypes",
    "llvmlite",
    "torch",
    "torchvision",
    "triton",
    "pytest",
    "hypothesis",
)


def _from_cuda(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


@TABLE.row("versions", 60)
def _versions(place: Place, note: Note) -> None:
    cupy = place.cupy
    note("gluonish", place.mx.__version__)
    note("cupy", cupy.__version__)
    runtime = cupy.cuda.runtime
    note("CUDA runtime", _from_cuda(runtime.runtimeGetVersion()))
    note("CUDA driver", _from_cuda(runtime.driverGetVersion()))
    for name in _MODULES:
        try:
            note(name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            note(name, "missing")
    for name, find in (("cuDNN", _cudnn_version), ("NCCL", _nccl_version)):
        try:
            note(name, find(place))
        except (Refused, ImportError, OSError, AttributeError) as error:
            note(name, f"missing: {error}")
    free, total = place.mx.context.gpu_memory_info(0)
    note("memory", total / 2**30, "GiB", free_gib=free / 2**30)
    if not place.rehearsed:
        properties = runtime.getDeviceProperties(0)
        note("device", properties["name"].decode())
        note("multiprocessors", properties["multiProcessorCount"])


def _cudnn_version(place: Place) -> str:
    return str(place.frontend.backend_version_string())


def _nccl_version(place: Place) -> str:
    return str(place.nccl.get_version())


@TABLE.row("copies", 30)
def _copies(place: Place, note: Note) -> None:
    nd, gpu = place.mx.nd, place.mx.gpu(0)
    values = np.random.default_rng(1).random((place.pick(64 << 20, 1 << 10),), np.float32)
    there = nd.array(values, ctx=gpu)
    np.testing.assert_array_equal(there.asnumpy(), values)
    other = nd.zeros(values.shape, ctx=gpu)
    contender = Contender(lambda: there.copyto(other), place.timer())
    took = in_turns({"device": contender}, 3, place.pick(0.1, 0.01))["device"]
    note("device to device", 2 * values.nbytes / took.device_ms / 1e6, "GB/s")
    for way, copy in (
        ("host to device", lambda: nd.array(values, ctx=gpu)),
        ("device to host", there.asnumpy),
    ):
        copy()
        begin = time.perf_counter()
        copy()
        nd.waitall()
        note(way, values.nbytes / (time.perf_counter() - begin) / 1e9, "GB/s")
    np.testing.assert_array_equal(other.asnumpy(), values)


@TABLE.row("products", 60)
def _products(place: Place, note: Note) -> None:
    nd, gpu = place.mx.nd, place.mx.gpu(0)
    random, size = np.random.default_rng(2), place.pick(4096, 48)
    pair = [random.standard_normal((size, size)) for _ in range(2)]
    want = pair[0][:8] @ pair[1]
    for dtype, limit in (
        ("float32", 1e-5),
        ("bfloat16", 2e-2),
        ("float16", 3e-3),
        ("float64", 1e-12),
    ):
        a, b = (nd.array(x, ctx=gpu, dtype=dtype) for x in pair)
        out = nd.zeros((size, size), ctx=gpu, dtype=dtype)
        call = lambda a=a, b=b, out=out: nd.dot(a, b, out=out)  # noqa: E731
        call()
        got = out[:8].astype("float64").asnumpy()
        error = float(np.linalg.norm(got - want) / np.linalg.norm(want))
        took = in_turns({"ours": Contender(call, place.timer())}, 3, place.pick(0.1, 0.01))
        rate = 2 * size**3 / took["ours"].device_ms / 1e9
        note(dtype, rate, "TFLOP/s", error=error)
        assert error < limit, f"{dtype}: expected an error below {limit}, got {error}"


@TABLE.row("three training steps", 90)
def _training(place: Place, note: Note) -> None:
    mx = place.mx
    train = importlib.import_module("tests.kernels.cupy.programs").train
    for how in ({}, {"active": True}, {"static_alloc": True, "static_shape": True}):
        got, want = train([mx.gpu(0)], **how), train([mx.cpu()], **how)
        difference = max(float(np.abs(got[name] - want[name]).max()) for name in want)
        note("difference from cpu(0), " + (", ".join(how) or "eager"), difference)
        for name, value in want.items():
            np.testing.assert_allclose(got[name], value, rtol=1e-3, atol=1e-4, err_msg=name)


@TABLE.row("tests/gpu: contexts and memory", 110, alone=True)
def _contexts(place: Place, note: Note) -> None:
    paths = list(_ALONE)
    only = place.pick("", "copies or gradient or follow")
    limit_s = place.remaining_s(100)
    tell_tests(pytest_run(place, paths, 0, limit_s, only), note)


@TABLE.row("memory that runs out, and recovery", 60, fresh=True, alone=True)
def _out_of_memory(place: Place, note: Note) -> None:
    mx, gpu = place.mx, place.mx.gpu(0)
    total = gpu.memory_info().total
    errors = importlib.import_module("gluonish.core.errors")
    kept: list[Any] = []
    size = total // _PARTS // 8  # elements, few enough for 32 bits
    try:
        for _ in range(2 * _PARTS):
            kept.append(mx.nd.full((size,), len(kept), ctx=gpu, dtype="float64"))
        raise AssertionError(f"{len(kept)} blocks of {8 * size} bytes fitted into {total}")
    except errors.OutOfMemoryError as error:
        note("error", str(error)[:200])
    note("blocks", len(kept), "", nbytes=8 * size)
    # One block goes first: reading an element takes memory, too.
    kept.pop()
    assert [int(x[-1].asscalar()) for x in kept] == list(range(len(kept)))
    count = len(kept) // 8
    kept.clear()
    mx.nd.waitall()
    larger = [mx.nd.full((4 * size,), i, ctx=gpu, dtype="float64") for i in range(count)]
    assert [int(x[-1].asscalar()) for x in larger] == list(range(count))
    note("then", f"{count} blocks of four times the size, for which the held ones went back")


@TABLE.row("a kernel that faults, in its own process", 60)
def _fault(place: Place, note: Note) -> None:
    words = ["--rehearse"] if place.rehearsed else []
    begin = time.perf_counter()
    said = run_module("benchmarks.gpu_run.faulting", words, 50)
    note("error", said.strip().splitlines()[-1][:300])
    note("process", time.perf_counter() - begin, "s")


@TABLE.row("a device after another process's fault", 30)
def _after_fault(place: Place, note: Note) -> Iterator[None]:
    place.mx.nd.ones((3,), ctx=place.mx.gpu(0)).asnumpy()
    yield
    assert place.mx.nd.ones((3,), ctx=place.mx.gpu(0)).sum().asscalar() == 3
    note("sum of three ones", 3)


def _gpu_tests() -> list[str]:
    """Return the files of tests/gpu but those that look at all memory."""
    found = sorted(path.as_posix() for path in Path("tests/gpu").glob("test_*.py"))
    return [path for path in found if path not in _ALONE]


def _changed_tests(place: Place) -> list[str]:
    """Return the files of tests/gpu that changed since the last measured commit.

    Raises:
        Refused: Git does not know, as in an archive.
    """
    command = ["git", "diff", "--name-only", "--diff-filter=d", MEASURED, "--", "tests/gpu"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        why = f"commit {MEASURED}: {error}"
        raise NotOnDouble(why) if place.rehearsed else Refused(f"no {why}") from error
    changed = {Path(line).name for line in done.stdout.splitlines()}
    return [path for path in _gpu_tests() if Path(path).name in changed]


@TABLE.row("tests/gpu: what changed since the last measured commit", 120, alone=True)
def _changed(place: Place, note: Note) -> None:
    paths = _changed_tests(place)
    note("files", len(paths))
    if paths:
        processes, only = place.pick((15, "not zoo"), (0, "skipped_on or other_random"))
        tell_tests(pytest_run(place, paths, processes, place.remaining_s(110), only), note)


@TABLE.row("tests/gpu: operators and the rest", 200, alone=True)
def _operators(place: Place, note: Note) -> None:
    processes, only = place.pick((15, ""), (0, "sigmoid or batch_dot"))
    limit_s = place.remaining_s(190)
    tell_tests(pytest_run(place, _gpu_tests(), processes, limit_s, only), note)


@TABLE.row("tests/gpu: the same without CUDA graphs", 200, alone=True,
           environment={"MXNET_ENABLE_CUDA_GRAPHS": "0"})  # fmt: skip
def _without_graphs(place: Place, note: Note) -> None:
    _operators(place, note)
