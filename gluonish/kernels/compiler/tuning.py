"""From which size on a kernel uses several threads: by measurement, or by a number of elements.

A kernel comes with a grain, an estimate of the steps that are worth waking a thread for. Where its
type is tuned (``MXNET_USE_OPERATOR_TUNING``), its first runs of about that size are timed in one
thread, and so is once, in the process, how long a team of threads takes to start; then a run goes
to the team where that is quicker, whatever the estimate said, within a factor of four of it. Where
it is not tuned, ``MXNET_CPU_PARALLEL_SIZE`` elements are the border. Results are the same to the
bit: sums are made of parts that do not depend on the threads, and chunks end where vectors do.
``MXNET_ENFORCE_DETERMINISM`` turns the measurement off all the same.
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

_RUNS = 3  # that are timed
FACTOR = 4  # how far from its estimate a measured border may be
_MARGIN = 1.5  # a team has to be quicker by half of its start
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
    """Return the types of elements that a kernel's source has views of; float32 if it has none."""
    found = {name for name, marks in _VIEWS.items() if any(mark in source for mark in marks)}
    return frozenset(found or {"float32"})


@cache
def _team_start_s(threads: int) -> float:
    """Return the seconds in which a team does nothing; measured once."""
    return openmp.team().start_s(threads)


def is_tuned(source: str) -> bool:
    """Whether a kernel's border is measured; if not, `fixed_border` tells it."""
    if MXNET_ENFORCE_DETERMINISM.value:
        return False
    return types_of(source) <= set(MXNET_USE_OPERATOR_TUNING.value)


def fixed_border(grain: int, plain_grain: int) -> int:
    """Return the most steps in one thread that ``MXNET_CPU_PARALLEL_SIZE`` stands for.

    Args:
        grain: The kernel's estimate, in steps, of what is worth a thread.
        plain_grain: That of an operation that does next to nothing for each element, in elements:
            a kernel that does more, or does it for many elements a step, counts for as many more.
    """
    return max(1, MXNET_CPU_PARALLEL_SIZE.value * grain // plain_grain)


class Timing:
    """The first runs of a kernel with one grain, until its border is known.

    Args:
        grain: The kernel's estimate, in steps, of what is worth a thread.
    """

    __slots__ = ("_best_s", "_grain", "_runs")

    def __init__(self, grain: int) -> None:
        self._grain = grain
        self._runs = 0
        self._best_s = math.inf  # of a step

    def takes(self, extent: int) -> bool:
        """Whether a run of so many steps tells something, and is not too long for one thread."""
        return extent > 0 and self._grain <= extent * FACTOR <= self._grain * FACTOR**2

    def run(self, extent: int, alone: Callable[[], None]) -> int:
        """Time a run in one thread.

        Args:
            extent: How many steps it has.
            alone: Does them in this thread.

        Returns:
            The border, in steps; 0 while more runs are needed.
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
        saved_s = self._best_s * (1 - 1 / threads)  # of each step
        steps = _MARGIN * _team_start_s(team) / max(saved_s, 1e-15)
        return max(1, int(min(max(steps, self._grain / FACTOR), self._grain * FACTOR)))
