"""Two of ours against each other: with another variable, or another checkout.

Each side of a row is a process of its own, prepared before anything is measured; then they take
turns, A B A B .., so that a device that slows down slows both. A row says whether B is better, the
same or worse than A: the same where their medians differ by less than the turns of a side do.
"""

import queue
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.gpu_run.record import Outcome
from benchmarks.gpu_run.rows import Row, State
from benchmarks.gpu_run.workers import ROOT, START_S, Worker

_TURNS = 7
_TURN_S = 30.0
_LEAST_S = 5.0  # a row is not begun with less left


class Side(NamedTuple):
    """One of the two.

    Attributes:
        name: In the tables.
        environment: Variables of its processes.
        root: The checkout that it runs.
    """

    name: str
    environment: Mapping[str, str]
    root: Path = ROOT


def sides_of_variable(text: str) -> tuple[Side, Side]:
    """Return the sides of ``NAME=a,b``.

    Raises:
        ValueError: The text is none such.
    """
    name, _, values = text.partition("=")
    first, comma, second = values.partition(",")
    if not (name and comma) or "," in second:
        raise ValueError(f"--ab: expected NAME=a,b, got {text!r}")
    return Side(f"{name}={first}", {name: first}), Side(f"{name}={second}", {name: second})


def sides_of_checkout(folder: Path) -> tuple[Side, Side]:
    """Return an older checkout and this one.

    Raises:
        ValueError: The folder holds no harness.
    """
    if not (folder / "benchmarks" / "gpu_run" / "versus.py").exists():
        raise ValueError(f"--against: expected a checkout with benchmarks/gpu_run, got {folder}")
    return Side(folder.name, {}, folder.resolve()), Side("this checkout", {})


def verdict(first: Sequence[float], second: Sequence[float]) -> tuple[float, str]:
    """Return the ratio of the medians, second through first, and what it means.

    Args:
        first: Times of A's turns.
        second: Times of B's turns.

    Returns:
        The ratio, and ``better`` where B takes less time, ``worse`` where more, else ``same``.
    """
    spread = max((max(x) - min(x)) / statistics.median(x) for x in (first, second))
    ratio = statistics.median(second) / statistics.median(first)
    if abs(ratio - 1) <= spread:
        return ratio, "same"
    return ratio, "better" if ratio < 1 else "worse"


class _Failure(Exception):
    """A side did not do what it was asked."""


class _Contender:
    """A row on one side.

    Args:
        side: Which.
        row: The row.
        number: Its number among the side's rows.
        settings: What the process is started with.
    """

    def __init__(self, side: Side, row: Row, number: int, settings: Mapping[str, Any]) -> None:
        self.side = side
        self.times: list[float] = []
        self.peak_mb = 0.0
        self._number = number
        self._limit_s = row.limit_s + START_S
        environment = {**row.environment, **side.environment}
        self._worker = Worker({**settings, "turns": True}, environment, side.root)
        self._worker.send("prepare", number)

    def prepared(self, deadline: float) -> None:
        """Wait until it is prepared."""
        self._follow("prepared", min(time.monotonic() + self._limit_s, deadline))

    def turn(self, deadline: float) -> None:
        """Take a turn."""
        self._worker.send("turn", self._number)
        self._follow("turned", min(time.monotonic() + _TURN_S, deadline))

    def _follow(self, until: str, limit: float) -> None:
        while True:
            try:
                message = self._worker.receive(limit - time.monotonic())
            except queue.Empty:
                where = self._worker.last_words(hangs=True)
                raise _Failure(f"{self.side.name}: no answer in time, at {where}") from None
            if message is None:
                raise _Failure(f"{self.side.name}: its process died: {self._worker.last_words()}")
            if message["kind"] == until:
                return
            if message["kind"] == "end":
                raise _Failure(f"{self.side.name}: {message['error']} {message.get('where', '')}")
            if message["kind"] == "value" and message["what"] == "turn":
                self.times.append(message["value"])
            if message["kind"] == "value" and message["what"] == "peak":
                self.peak_mb = message["value"]

    def kill(self) -> None:
        """End its process."""
        self._worker.kill()


class Versus:
    """Takes rows on two sides in turn, until they end or the deadline comes.

    Args:
        rows: In order, with their numbers among all rows that the settings choose.
        sides: A and B.
        settings: What each process is started with.
        deadline_s: Seconds from now.
        keep: Called with each outcome, at once.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        sides: tuple[Side, Side],
        settings: Mapping[str, Any],
        deadline_s: float,
        keep: Callable[[Outcome], None],
    ) -> None:
        self._rows = rows
        self._sides = sides
        self._settings = settings
        self._deadline = time.monotonic() + deadline_s
        self._keep = keep

    def run(self) -> None:
        """Run the rows; no row's failure stops it."""
        for number, row in enumerate(self._rows):
            name = f"{row.name}: {self._sides[1].name} against {self._sides[0].name}"
            if self._deadline - time.monotonic() < _LEAST_S:
                self._keep(Outcome(name, State.NOT_RUN, "deadline"))
            else:
                self._keep(self._outcome(name, row, number))

    def _outcome(self, name: str, row: Row, number: int) -> Outcome:
        began = time.monotonic()
        contenders: list[_Contender] = []
        try:
            for side in self._sides:
                contenders.append(_Contender(side, row, number, self._settings))
            for contender in contenders:
                contender.prepared(self._deadline)
            for _ in range(_TURNS):
                for contender in contenders:
                    contender.turn(self._deadline)
        except _Failure as error:
            return Outcome(name, State.FAILED, str(error), seconds=time.monotonic() - began)
        finally:
            for contender in contenders:
                contender.kill()
        first, second = contenders
        ratio, found = verdict(first.times, second.times)
        values: list[dict[str, Any]] = [{"what": "B is", "value": found, "unit": ""}]
        for contender in contenders:
            middle = statistics.median(contender.times)
            values.append({"what": contender.side.name, "value": middle, "unit": "ms"})
            values[-1] |= {"turns": contender.times, "peak_mb": contender.peak_mb}
        values[-1]["ratio"] = round(ratio, 3)
        seconds = round(time.monotonic() - began, 2)
        return Outcome(name, State.OK, values=values, seconds=seconds)
