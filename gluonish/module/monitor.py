"""Monitor: statistics of what flows through executors, every so many batches."""

import logging
import math
import re
from collections.abc import Callable
from typing import Any, Protocol

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import NDArray, norm

__all__ = ["Monitor"]

# What a statistic is: one array, or several.
Statistic = NDArray | list[NDArray]
# Batch, name of the array, statistic.
Record = tuple[int, str, Any]


class _Monitored(Protocol):
    """What a monitor needs of an executor."""

    arg_arrays: list[NDArray]

    @property
    def arg_dict(self) -> dict[str, NDArray]:
        """Arguments by name."""
        raise NotImplementedError

    def set_monitor_callback(
        self, callback: Callable[[str, NDArray], object], monitor_all: bool = False
    ) -> None:
        """Have what operators compute reported."""
        raise NotImplementedError


def _mean_magnitude(x: NDArray) -> NDArray:
    """Return the norm of an array over the square root of its size: the magnitude of an element."""
    magnitude: NDArray = norm(x) / math.sqrt(x.size)
    return magnitude


class Monitor:
    """Collects statistics of an executor's outputs and arguments, between `tic` and `toc`.

    Args:
        interval: Every how many batches it is active.
        stat_func: Takes an array and returns its statistic, an NDArray or a list of them. By
            default the norm over the square root of the size.
        pattern: Regular expression that a name must match from its beginning.
        sort: Whether `toc` sorts by name.
        monitor_all: Whether the inputs of operators are reported as well as their outputs.

    Attributes:
        activated: Whether it is between `tic` and `toc` of a batch that it looks at.
        step: How many times `tic` was called.
        exes: The executors.
        queue: What was collected since `tic`: (batch, name, statistic).

    Raises:
        ArgumentError: ``interval`` is not positive, or ``pattern`` no regular expression.
    """

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
        """Note the statistic of an array, where the monitor is active and the name matches."""
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe: _Monitored) -> None:
        """Watch an executor from now on, beside those that are watched already.

        Raises:
            ArgumentTypeError: ``exe`` is no executor.
        """
        if not hasattr(exe, "set_monitor_callback"):
            raise ArgumentTypeError(
                f"Monitor.install: expected an Executor, got {type(exe).__name__}; bind a Symbol "
                "first"
            )
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)
        self.exes.append(exe)

    def tic(self) -> None:
        """Begin a batch: every ``interval`` of them the monitor gets active; before `forward`."""
        if self.step % self.interval == 0:
            self._settle()
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self) -> list[tuple[int, str, str]]:
        """End a batch: return (batch, name, statistic as text) of all that was collected.

        The arguments of the executors come last. An inactive monitor returns an empty list.

        Raises:
            ArgumentTypeError: ``stat_func`` returned no NDArray.
        """
        if not self.activated:
            return []
        self._settle()
        for exe in self.exes:
            for name, values in exe.arg_dict.items():
                self.stat_helper(name, values)
        self.activated = False
        records = sorted(self.queue, key=lambda record: record[1]) if self.sort else self.queue
        self.queue = []
        return [(step, name, _text(statistic)) for step, name, statistic in records]

    def toc_print(self) -> None:
        """End a batch as `toc` does, and log what it returns."""
        for step, name, text in self.toc():
            logging.info("Batch: %7d %-30s %s", step, name, text)

    def _settle(self) -> None:
        """Let what the executors still compute finish, so that statistics are of one batch."""
        for exe in self.exes:
            for array in exe.arg_arrays:
                array.wait_to_read()


def _text(statistic: Any) -> str:
    """Return values as text, each with a tabulator after it."""
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
