"""Launches of several kernels in one call: in order, with any number of threads."""

import ctypes

import numpy as np
import pytest

from gluonish.core.config import changes
from gluonish.kernels import openmp
from gluonish.kernels.compiler import CompiledKernel, Launch, Series, available, compile_kernel

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

GRAIN = 64
DOUBLE = """
def body(begin, end, params):
    y, x = f32(params[0]), f32(params[1])
    for i in range(begin, end):
        y[i] = x[i] + x[i]
"""
ADD_INDEX = """
def body(begin, end, params):
    y, x = f32(params[0]), f32(params[1])
    for i in range(begin, end):
        y[i] = x[i] + float32(i)
"""


def _known(kernel: CompiledKernel, extent: int, params: int, threads: int) -> Launch:
    """Return how the kernel is launched, after as many runs as are timed."""
    for _ in range(8):
        launch = kernel.launch_of(extent, params, GRAIN, threads)
        if launch is not None:
            return launch
        kernel.run_at(extent, params, GRAIN)
    raise AssertionError("the kernel is still timed")


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("extent", [1, 63, 200, 5000])
def test_later_launches_read_what_earlier_ones_wrote(
    quick: bool, threads: int, extent: int
) -> None:
    x = np.arange(extent, dtype=np.float32)
    between, y = np.zeros_like(x), np.zeros_like(x)
    params = [
        (ctypes.c_int64 * 2)(to.ctypes.data, source.ctypes.data)
        for to, source in ((between, x), (y, between), (between, y))
    ]
    kernels = [compile_kernel(text) for text in (DOUBLE, ADD_INDEX, DOUBLE)]
    launches = [
        _known(kernel, extent, ctypes.addressof(given), threads)
        for kernel, given in zip(kernels, params, strict=True)
    ]
    between[...], y[...] = 0, 0
    Series(launches, quick=quick).run()
    np.testing.assert_array_equal(y, 3 * x)  # 2 x and the index
    np.testing.assert_array_equal(between, 6 * x)


def test_large_runs_have_the_team_and_small_ones_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = compile_kernel(DOUBLE)
    x, y = np.ones(1 << 16, np.float32), np.empty(1 << 16, np.float32)
    params = (ctypes.c_int64 * 2)(y.ctypes.data, x.ctypes.data)
    at = ctypes.addressof(params)
    kernel.run_at(1 << 16, at, GRAIN)
    monkeypatch.setattr(kernel, "_borders", {GRAIN: GRAIN})  # measured where there are two threads
    found = kernel.launch_of(1 << 16, at, GRAIN, 2)
    assert found is not None
    assert (found.threads, found.parallel) == (2, openmp.team().parallel)
    assert (found.extent, found.params) == (1 << 16, at)
    small = _known(kernel, 8, at, 2)
    assert (small.grain, small.threads, small.parallel) == (8, 1, 0)
    alone = kernel.launch_of(1 << 16, at, GRAIN, 1)
    assert alone is not None
    assert (alone.threads, alone.parallel) == (1, 0)


def test_launches_are_unknown_after_a_setting_changed() -> None:
    kernel = compile_kernel(DOUBLE)
    x = np.ones(1 << 16, np.float32)
    params = (ctypes.c_int64 * 2)(x.ctypes.data, x.ctypes.data)
    at = ctypes.addressof(params)
    _known(kernel, 1 << 16, at, 2)
    changes[0] += 1
    assert kernel.launch_of(1 << 16, at, GRAIN, 2) is None
