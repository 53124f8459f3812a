"""One thread or several: by measurement, or by a number of elements; results are the same."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.config import (
    MXNET_CPU_PARALLEL_SIZE,
    MXNET_ENFORCE_DETERMINISM,
    MXNET_USE_NUM_CORES_OPERATOR_TUNING,
    MXNET_USE_OPERATOR_TUNING,
)
from gluonish.kernels import (
    openmp,
)
from gluonish.kernels.compiler import (
    GRAIN,
    available,
    compile_kernel,
    tuning,
)
from gluonish.kernels.compiler.tuning import FACTOR, NEVER, Timing, fixed_border, is_tuned, types_of

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")

SOURCE = """
def body(begin, end, words):
    y = f32(words[0])
    x = f32(words[1])
    for i in range(begin, end):
        y[i] = x[i] * x[i] + 1
"""


class Clock:
    """A clock that a run sets forward."""

    def __init__(self, step_s: float) -> None:
        self.now = 0.0
        self.step_s = step_s

    def runs(self, extent: int) -> Any:
        def run() -> None:
            self.now += extent * self.step_s

        return run


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A team of two threads that starts in 10 us, and a clock; set the seconds of a step."""
    team = openmp.Team(None)
    team.threads = lambda: 2
    made = Clock(1e-9)
    monkeypatch.setattr(tuning.openmp, "team", lambda: team)  # type: ignore[attr-defined]
    monkeypatch.setattr(tuning, "_team_start_s", lambda threads: 10e-6)
    monkeypatch.setattr(tuning, "perf_counter", lambda: made.now)
    return made


def border(clock: Clock, grain: int, extent: int) -> int:
    timing = Timing(grain)
    found = [timing.run(extent, clock.runs(extent)) for _ in range(3)]
    assert found[:2] == [0, 0]
    return found[2]


def test_border_is_where_a_team_saves_more_than_its_start(clock: Clock) -> None:
    # 15 us, a start and a half, saved by half of the steps at 1 ns each: from 30000 steps on.
    assert border(clock, 20_000, 20_000) == pytest.approx(30_000, rel=1e-3)
    clock.step_s = 2e-9
    assert border(clock, 20_000, 40_000) == pytest.approx(15_000, rel=1e-3)


@pytest.mark.parametrize(("step_s", "factor"), [(1e-12, FACTOR), (1e-6, 1 / FACTOR)])
def test_border_keeps_near_the_estimate(clock: Clock, step_s: float, factor: float) -> None:
    clock.step_s = step_s
    assert border(clock, 1000, 1000) == 1000 * factor


def test_one_thread_is_never_a_team(clock: Clock) -> None:
    with MXNET_USE_NUM_CORES_OPERATOR_TUNING.override(1):
        assert border(clock, 1000, 1000) == NEVER
    with MXNET_USE_NUM_CORES_OPERATOR_TUNING.override(2):
        assert border(clock, 1000, 1000) < NEVER


@pytest.mark.parametrize(
    ("extent", "useful"), [(249, False), (250, True), (4000, True), (4001, False)]
)
def test_runs_far_from_the_estimate_are_not_timed(extent: int, useful: bool) -> None:
    assert Timing(1000).is_useful(extent) is useful


def test_a_run_of_no_steps_is_not_timed() -> None:
    assert not tuning.Timing(0).is_useful(0)


def test_fixed_border_is_elements_of_a_plain_operation() -> None:
    with MXNET_CPU_PARALLEL_SIZE.override(200_000):
        assert fixed_border(2 * GRAIN, 2 * GRAIN) == 200_000
        # A step worth a hundred plain elements.
        assert fixed_border(2 * GRAIN // 100, 2 * GRAIN) == pytest.approx(2000, rel=0.01)
        assert fixed_border(1, 2 * GRAIN) >= 1


def test_types_are_those_of_the_views() -> None:
    assert types_of(SOURCE) == {"float32"}
    assert types_of("y = f64(words[0]); x = i8(words[1])") == {"float64", "int8"}
    assert types_of("an assembly kernel") == {"float32"}
    with MXNET_USE_OPERATOR_TUNING.override(("float32",)):
        assert is_tuned(SOURCE)
        assert not is_tuned(SOURCE + "f64(")


@pytest.mark.parametrize("enforced", [False, True])
def test_measured_time_decides_nothing_where_determinism_is_enforced(
    monkeypatch: pytest.MonkeyPatch, enforced: bool
) -> None:
    timed = []

    def perf_counter() -> float:
        timed.append(1)
        return 0.0

    monkeypatch.setattr(tuning, "perf_counter", perf_counter)
    kernel = compile_kernel(SOURCE + "# measured, or not\n")
    x = np.ones(GRAIN, np.float32)
    with MXNET_ENFORCE_DETERMINISM.override(enforced):
        kernel(GRAIN, np.array([x.ctypes.data, x.ctypes.data], np.int64))
    assert bool(timed) is not enforced
    np.testing.assert_array_equal(x, 2)


def test_a_border_from_a_slow_start_is_determined_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has just begun, with other threads on the cores."""
    monkeypatch.setattr(openmp.team(), "threads", lambda: 2)
    starts_s = {2: 1.0}
    monkeypatch.setattr(tuning, "_team_start_s", starts_s.__getitem__)
    kernel = compile_kernel(SOURCE + "# starts slowly\n")
    grain = 1000
    x = np.ones(2 * grain, np.float32)
    words = np.array([x.ctypes.data, x.ctypes.data], np.int64)
    for _ in range(3):
        kernel(len(x), words, grain)
    assert kernel._borders == {grain: FACTOR * grain}
    starts_s[2] = 0.0
    for _ in range(64 + 3):
        kernel(len(x), words, grain)
    assert kernel._borders == {grain: grain // FACTOR}


@pytest.mark.parametrize("types", [(), ("float32",)])
@pytest.mark.parametrize("size", [1, 5000, 40_000])
def test_results_do_not_depend_on_the_choice(types: tuple[str, ...], size: int) -> None:
    kernel = compile_kernel(SOURCE)
    x = np.linspace(-3, 3, size, dtype=np.float32)
    y = np.zeros_like(x)
    words = np.array([y.ctypes.data, x.ctypes.data], np.int64)
    expected = x * x + np.float32(1)
    with MXNET_USE_OPERATOR_TUNING.override(types), MXNET_CPU_PARALLEL_SIZE.override(3000):
        for _ in range(5):
            y[:] = 0
            kernel(size, words)
            np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_an_empty_team_takes_time_to_start() -> None:
    team = openmp.team()
    if not team.parallel:
        pytest.skip("needs libgomp")
    assert 0 < team.start_s(1, 3) < 1
    assert openmp.Team(None).start_s(2) == np.inf
