"""The size from which a kernel uses several threads: measured, or a fixed number of elements.

A kernel has a grain, an estimate of the steps for which waking a thread pays. If its type is tuned
(``MXNET_USE_OPERATOR_TUNING``), its first runs of about that size are timed in one thread, and then
the start of a team of threads. Then a run uses the team if that is faster, within a factor of four
of the estimate. If it is not tuned, ``MXNET_CPU_PARALLEL_SIZE`` elements are the border. Results
are bitwise the same: sums consist of chunks that do not depend on the threads, and chunks end at
vector boundaries. Still, ``MXNET_ENFORCE_DETERMINISM`` disables the measurement.
"""

import math
from collections.abc import Callable
from functools import cache
from time import perf_counter

from gluonish.core.config import (
    MXNET_CPU_PARALLEL_SIZE,
    MXNET_ENFORCE_DETERMINISM,
    MXNET_USE_NUM_CORES_OPERATOR_TUNING,
    MXNET_USE_OPERATOR_TUNING,
)
from gluonish.kernels import openmp

NEVER = 1 << 62  # steps

_RUNS = 3  # timed runs
FACTOR = 4  # maximum ratio of a measured border to its estimate
_MARGIN = 1.5  # a team must be faster by half of its start time
_VIEWS = {
    "float16": ("load_f16",),
    "float32": ("f32(",),
    "float64": ("f64(",),
    "int8": ("i8(",),
    "uint8": ("u8(",),
    "int32": ("i32(",),
    "int64": ("i64(",),
}


@cache
def types_of(source: str) -> frozenset[str]:
    """Return the element types of the views in a kernel's source; float32 if there are none."""
    found = {name for name, marks in _VIEWS.items() if any(mark in source for mark in marks)}
    return frozenset(found or {"float32"})


_starts_s: dict[int, float] = {}  # by the number of threads


def _team_start_s(threads: int) -> float:
    """Return the minimum time, in seconds, to start a team of threads.

    It is measured again for each border: a process begins with much work in other threads, for
    whose cores the team waits.
    """
    found = min(_starts_s.get(threads, math.inf), openmp.team().start_s(threads))
    _starts_s[threads] = found
    return found


def is_tuned(source: str) -> bool:
    """Whether a kernel's border is measured, instead of `fixed_border`."""
    if MXNET_ENFORCE_DETERMINISM.value:
        return False
    return types_of(source) <= set(MXNET_USE_OPERATOR_TUNING.value)


def fixed_border(grain: int, copy_grain: int) -> int:
    """Return the maximum steps in one thread, according to ``MXNET_CPU_PARALLEL_SIZE``.

    Args:
        grain: The kernel's estimated minimum steps for each thread.
        copy_grain: The same, in elements, for the cheapest operation. Kernels with more work per
            step have a smaller grain, and so a lower border.
    """
    return max(1, MXNET_CPU_PARALLEL_SIZE.value * grain // copy_grain)


class Timing:
    """Times the first runs of a kernel with some grain, until its border is known."""

    __slots__ = ("_best_s", "_grain", "_runs")

    def __init__(self, grain: int) -> None:
        self._grain = grain
        self._runs = 0
        self._best_s = math.inf  # minimum time per step

    def is_useful(self, extent: int) -> bool:
        """Whether a run of this extent is long enough to time, and short enough for one thread."""
        return extent > 0 and self._grain <= extent * FACTOR <= self._grain * FACTOR**2

    def run(self, extent: int, alone: Callable[[], None]) -> int:
        """Run the kernel in one thread, and time the run.

        Args:
            extent: Number of steps.
            alone: Function that runs the steps in this thread.

        Returns:
            The border in steps; 0 if more runs are needed.
        """
        start = perf_counter()
        alone()
        self._best_s = min(self._best_s, (perf_counter() - start) / extent)
        self._runs += 1
        return self._border() if self._runs >= _RUNS else 0

    def _border(self) -> int:
        team = openmp.team().threads()
        threads = min(team, MXNET_USE_NUM_CORES_OPERATOR_TUNING.value or team)
        if threads < 2:
            return NEVER
        saved_s = self._best_s * (1 - 1 / threads)  # per step
        steps = _MARGIN * _team_start_s(team) / max(saved_s, 1e-15)
        return max(1, int(min(max(steps, self._grain / FACTOR), self._grain * FACTOR)))
