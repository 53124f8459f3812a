"""Timing in turns."""

from benchmarks.gpu_run.timing import Contender, HostTimer, Sample, in_turns


class Given:
    """A timer that gives what it was told, and notes who was timed how often."""

    def __init__(self, name: str, log: list[tuple[str, int]], *device_ms: float) -> None:
        self._name, self._log, self._left = name, log, list(device_ms)

    def time(self, call: object, count: int) -> Sample:
        self._log.append((self._name, count))
        return Sample(self._left.pop(0), 0.5)


def test_contenders_take_turns() -> None:
    log: list[tuple[str, int]] = []
    timers = {name: Given(name, log, *[1.0] * 4) for name in "ab"}
    in_turns({name: Contender(print, timer) for name, timer in timers.items()}, 3, 0.0)
    assert [name for name, _ in log] == ["a", "b", *"ababab"]


def test_turn_has_as_many_calls_as_fit_into_its_seconds() -> None:
    log: list[tuple[str, int]] = []
    in_turns({"a": Contender(print, Given("a", log, 2.0, 2.0))}, 1, 0.05)
    assert log == [("a", 1), ("a", 25)]


def test_result_is_the_median_and_the_spread_of_the_turns() -> None:
    timer = Given("a", [], 1.0, 4.0, 2.0, 3.0)
    took = in_turns({"a": Contender(print, timer)}, 3, 0.0)["a"]
    assert (took.device_ms, took.host_ms, took.spread) == (3.0, 0.5, round(2 / 3, 3))


def test_host_timer_waits_before_and_after() -> None:
    log: list[str] = []
    HostTimer(lambda: log.append("wait")).time(lambda: log.append("call"), 2)
    assert log == ["wait", "call", "call", "wait"]
