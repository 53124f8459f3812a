"""Timing: by events of the device, in turns, so that a device that slows down slows all alike."""

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

Call = Callable[[], Any]
_MOST_CALLS = 2000


class Sample(NamedTuple):
    """What one call takes, of several in a row.

    Attributes:
        device_ms: From the first one's start on the device to the last one's end.
        host_ms: Until the host has given them to the device.
    """

    device_ms: float
    host_ms: float


class Timer(Protocol):
    """Times calls."""

    def time(self, call: Call, count: int) -> Sample:
        """Call ``count`` times, wait for the device, and return what one call took."""


class HostTimer:
    """Times by the host's clock.

    Args:
        wait: Waits for what was called.
    """

    def __init__(self, wait: Call) -> None:
        self._wait = wait

    def time(self, call: Call, count: int) -> Sample:
        """See `Timer`."""
        self._wait()
        begin = time.perf_counter()
        for _ in range(count):
            call()
        given = time.perf_counter()
        self._wait()
        done = time.perf_counter()
        return Sample(1e3 * (done - begin) / count, 1e3 * (given - begin) / count)


class EventTimer:
    """Times by events of CuPy.

    Args:
        cupy: The module.
        stream: Where the calls' work goes.
    """

    def __init__(self, cupy: Any, stream: Any) -> None:
        self._cuda = cupy.cuda
        self._stream = stream
        self._begin, self._end = cupy.cuda.Event(), cupy.cuda.Event()

    def time(self, call: Call, count: int) -> Sample:
        """See `Timer`."""
        self._stream.synchronize()
        self._begin.record(self._stream)
        begin = time.perf_counter()
        for _ in range(count):
            call()
        given = time.perf_counter()
        self._end.record(self._stream)
        self._end.synchronize()
        device_ms = self._cuda.get_elapsed_time(self._begin, self._end)
        return Sample(device_ms / count, 1e3 * (given - begin) / count)


class TorchTimer:
    """Times by events of PyTorch, on its current stream.

    Args:
        torch: The module.
    """

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def time(self, call: Call, count: int) -> Sample:
        """See `Timer`."""
        cuda = self._torch.cuda
        first, last = (cuda.Event(enable_timing=True) for _ in range(2))
        cuda.synchronize()
        first.record()
        begin = time.perf_counter()
        for _ in range(count):
            call()
        given = time.perf_counter()
        last.record()
        last.synchronize()
        return Sample(first.elapsed_time(last) / count, 1e3 * (given - begin) / count)


class Contender(NamedTuple):
    """A call, and what times it."""

    call: Call
    timer: Timer


class Timing(NamedTuple):
    """Medians over the turns, and (largest - smallest) / median of the device's times."""

    device_ms: float
    host_ms: float
    spread: float


def calls_of(contender: Contender, seconds: float) -> int:
    """Return how many calls take about so many seconds, at least one."""
    once = contender.timer.time(contender.call, 1)
    wall_s = max(once.device_ms, once.host_ms, 1e-3) / 1e3
    return max(1, min(_MOST_CALLS, int(seconds / wall_s)))


def in_turns(contenders: Mapping[str, Contender], rounds: int, seconds: float) -> dict[str, Timing]:
    """Time calls in turns, A B C A B C ..

    Args:
        contenders: By name; each was called before.
        rounds: Turns of each.
        seconds: About how long one turn of one contender is.
    """
    counts = {name: calls_of(contender, seconds) for name, contender in contenders.items()}
    samples: dict[str, list[Sample]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, (call, timer) in contenders.items():
            samples[name].append(timer.time(call, counts[name]))
    return {name: _medians(found) for name, found in samples.items()}


def _medians(samples: list[Sample]) -> Timing:
    device = [sample.device_ms for sample in samples]
    median = statistics.median(device)
    spread = (max(device) - min(device)) / median if median else 0.0
    return Timing(median, statistics.median(s.host_ms for s in samples), round(spread, 3))
