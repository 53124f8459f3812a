"""Monitor: statistics of the outputs and arguments of executors, every few batches."""

import logging
import math
import re
from collections.abc import Callable
from typing import Any, Protocol

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.object_repr import default_repr
from gluonish.ndarray import NDArray, norm

Statistic = NDArray | list[NDArray]
# Batch, name of the array, statistic.
Record = tuple[int, str, Any]


class _Monitored(Protocol):
    """The part of an executor's interface that a monitor uses."""

    arg_arrays: list[NDArray]

    @property
    def arg_dict(self) -> dict[str, NDArray]:
        """Arguments by name."""
        raise NotImplementedError

    def set_monitor_callback(
        self, callback: Callable[[str, NDArray], object], monitor_all: bool = False
    ) -> None:
        """Report the operators' outputs to ``callback``."""
        raise NotImplementedError


def _mean_magnitude(x: NDArray) -> NDArray:
    """Return the norm of an array divided by the square root of its size."""
    magnitude: NDArray = norm(x) / math.sqrt(x.size)
    return magnitude


class Monitor:
    """Collects statistics of an executor's outputs and arguments, between `tic` and `toc`.

    Args:
        interval: Every ``interval``-th batch is monitored.
        stat_func: Function that takes an array and returns its statistic, an NDArray or a list of
            NDArrays. By default the norm divided by the square root of the size.
        pattern: Regular expression that must match the start of a name.
        sort: Whether `toc` sorts by name.
        monitor_all: Whether to include the inputs of operators, too.

    Attributes:
        activated: Whether the current batch is monitored.
        step: Number of calls of `tic`.
        exes: The executors.
        queue: Records since `tic`: (batch, name, statistic).

    Raises:
        ArgumentError: ``interval`` is not positive, or ``pattern`` is not a regular expression.
    """

    __repr__ = default_repr

    def __init__(
        self,
        interval: int,
        stat_func: Callable[[NDArray], Statistic] | None = None,
        pattern: str = ".*",
        sort: bool = False,
        monitor_all: bool = False,
    ) -> None:
        if interval < 1:
            raise ArgumentError(f"Monitor: expected a positive interval, got {interval}")
        try:
            self.re_prog = re.compile(pattern)
        except re.error as error:
            raise ArgumentError(
                f"Monitor: expected a regular expression as pattern, got {pattern!r} ({error})"
            ) from error
        self.stat_func = _mean_magnitude if stat_func is None else stat_func
        self.interval = interval
        self.activated = False
        self.queue: list[Record] = []
        self.step = 0
        self.exes: list[_Monitored] = []
        self.sort = sort
        self.monitor_all = monitor_all

    def stat_helper(self, name: str, array: NDArray) -> None:
        """Record the statistic of an array if the batch is monitored and the name matches.

        Args:
            name: Name of the array.
            array: The array.
        """
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe: _Monitored) -> None:
        """Monitor an executor, in addition to those installed before.

        Args:
            exe: The executor.

        Raises:
            ArgumentTypeError: ``exe`` is not an executor.
        """
        if not hasattr(exe, "set_monitor_callback"):
            raise ArgumentTypeError(
                f"Monitor.install: expected an Executor, got {type(exe).__name__}; bind a Symbol "
                "first"
            )
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)
        self.exes.append(exe)

    def tic(self) -> None:
        """Start a batch, before `forward`; every ``interval``-th batch is monitored."""
        if self.step % self.interval == 0:
            self._wait()
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self) -> list[tuple[int, str, str]]:
        """End a batch: return its records as a list of (batch, name, statistic as text).

        Arguments of the executors come last. The list is empty if the batch is not monitored.

        Raises:
            ArgumentTypeError: ``stat_func`` returned something other than NDArrays.
        """
        if not self.activated:
            return []
        self._wait()
        for exe in self.exes:
            for name, values in exe.arg_dict.items():
                self.stat_helper(name, values)
        self.activated = False
        records = sorted(self.queue, key=lambda record: record[1]) if self.sort else self.queue
        self.queue = []
        return [(step, name, _text(statistic)) for step, name, statistic in records]

    def toc_print(self) -> None:
        """End a batch like `toc`, and log the records."""
        for step, name, text in self.toc():
            logging.info("Batch: %7d %-30s %s", step, name, text)

    def _wait(self) -> None:
        """Wait for the executors, so that all statistics are of the same batch."""
        for exe in self.exes:
            for array in exe.arg_arrays:
                array.wait_to_read()


def _text(statistic: Any) -> str:
    """Return values as text, each followed by a tab."""
    values = statistic if isinstance(statistic, list) else [statistic]
    texts = []
    for value in values:
        if not isinstance(value, NDArray):
            raise ArgumentTypeError(
                "Monitor: expected stat_func to return an NDArray or a list of them, got "
                f"{type(value).__name__}"
            )
        texts.append(str(value.asscalar() if value.shape == (1,) else value.asnumpy()))
    return "".join(f"{text}\t" for text in texts)
