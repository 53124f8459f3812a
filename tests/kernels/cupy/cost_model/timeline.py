"""What a program's events take on a device: the host beside the device's streams.

The host pays for each launch, graph and wait. A launch begins when the host has issued it, its
stream is through with what came before, and the device is free of the kernel before it; copies
from and to the host run beside kernels. Waits hold the host, and streams, until those steps end.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tests.kernels.cupy.cost_model.rates import Rates
from tests.kernels.cupy.cost_model.records import (
    Called,
    Clock,
    Event,
    Issued,
    Launch,
    Ordered,
    StepEnd,
    Waited,
)

_BESIDE = {"h2d": "upload_gb_s", "d2h": "download_gb_s"}


class Run(NamedTuple):
    """A launch with its times, in microseconds."""

    launch: Launch
    start_us: float
    device_us: float
    is_in_graph: bool


class Step(NamedTuple):
    """One step of a program, times in microseconds.

    Attributes:
        name: What ended it.
        runs: Its launches.
        submissions: Launches and graphs that the host issued.
        graphs: Graphs among them.
        uploads: Copies from the host.
        downloads: Copies to the host.
        waits: Waits of the host.
        calls: Python functions of gluonish and its engine that were called.
        kernels: Kernels, with those that cuDNN adds to a launch.
        host_us: What the host spent, without waiting.
        waited_us: What it waited.
        device_us: What the device computed, with the gaps between kernels.
        took_us: From the end of the step before to the end of this one, on the device or the host,
            whichever was later.
    """

    name: str
    runs: list[Run]
    submissions: int
    graphs: int
    uploads: int
    downloads: int
    waits: int
    calls: int
    kernels: int
    host_us: float
    waited_us: float
    device_us: float
    took_us: float

    @property
    def nbytes(self) -> int:
        """Bytes of all launches, copies from and to the host left out."""
        return sum(r.launch.cost.nbytes for r in self.runs if r.launch.kernel not in _BESIDE)

    @property
    def flops(self) -> int:
        """Operations of products and convolutions."""
        return sum(r.launch.cost.flops for r in self.runs if r.launch.cost.problem is not None)

    @property
    def launches(self) -> int:
        """Kernels, memory sets and copies within the device."""
        return sum(r.launch.cost.launches for r in self.runs if r.launch.kernel not in _BESIDE)


class _Counts:
    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.submissions = self.graphs = self.uploads = self.downloads = self.waits = 0
        self.calls = self.kernels = 0
        self.host_us = self.waited_us = self.device_us = 0.0


class Timeline:
    """Events played on a device.

    Args:
        rates: The device's.
        host: Figures of the host that differ from the table's.
    """

    def __init__(self, rates: Rates, host: Mapping[str, float] | None = None) -> None:
        self._rates = rates
        self._host: Any = {**rates.table["host"], **(host or {})}
        self._now = 0.0  # of the host
        self._free = 0.0  # when the device's last kernel ends
        self._ready: dict[str, float] = {}  # when streams may go on
        self._ends: dict[str, tuple[list[int], list[float]]] = {}
        self._began = 0.0
        self._counts = _Counts()

    def steps(self, events: Sequence[Event]) -> list[Step]:
        """Return the steps of events; what follows the last one is a step without a name."""
        made = []
        for event in events:
            if isinstance(event, Issued):
                self._issue(event)
            elif isinstance(event, Waited):
                self._counts.waits += 1
                behind = max(0.0, self._end_of(event.clock) - self._now)
                self._counts.waited_us += behind
                self._now += behind
            elif isinstance(event, Ordered):
                ready = max(self._ready.get(event.stream, 0.0), self._end_of(event.clock))
                self._ready[event.stream] = ready
                self._spend(self._host["event_us"])
            elif isinstance(event, Called):
                host = self._host
                self._spend(host["call_us"] * event.calls + host["array_us"] * event.made)
                self._counts.calls += event.calls
            elif isinstance(event, StepEnd):
                made.append(self._finish(event.name))
        if self._counts.runs:
            made.append(self._finish(""))
        return made

    def _finish(self, name: str) -> Step:
        ended = max(self._now, self._free)
        c = self._counts
        step = Step(
            name, c.runs, c.submissions, c.graphs, c.uploads, c.downloads, c.waits,
            c.calls, c.kernels, c.host_us, c.waited_us, c.device_us, ended - self._began,
        )  # fmt: skip
        self._began, self._counts = ended, _Counts()
        return step

    def _spend(self, us: float) -> None:
        self._now += us
        self._counts.host_us += us

    def _end_of(self, clock: Clock) -> float:
        latest = 0.0
        for stream, step in clock.items():
            steps, ends = self._ends.get(stream, ([], []))
            place = bisect_right(steps, step)
            if place:
                latest = max(latest, ends[place - 1])
        return latest

    def _issue(self, event: Issued) -> None:
        counts, host = self._counts, self._host
        counts.submissions += 1
        counts.graphs += event.is_graph
        if event.is_graph:
            self._spend(host["graph_us"])
        steps, ends = self._ends.setdefault(event.stream, ([], []))
        for number, launch in enumerate(event.launches):
            beside = launch.kernel in _BESIDE
            if beside:
                self._copy(event.stream, launch)
            else:
                self._run(event.stream, launch, event.is_graph)
            steps.append(event.first + number)
            ends.append(self._ready[event.stream])

    def _copy(self, stream: str, launch: Launch) -> None:
        """A copy from or to the host, which the host stages."""
        counts, nbytes = self._counts, launch.cost.read
        counts.uploads += launch.kernel == "h2d"
        counts.downloads += launch.kernel == "d2h"
        self._spend(self._host["library_us"]["copy"])
        us = nbytes / self._host[_BESIDE[launch.kernel]] / 1e3
        start = max(self._now, self._ready.get(stream, 0.0))
        self._ready[stream] = start + us
        counts.runs.append(Run(launch, start, us, False))

    def _run(self, stream: str, launch: Launch, is_in_graph: bool) -> None:
        table, counts = self._rates.table, self._counts
        if not is_in_graph:
            self._spend(self._host["library_us"][launch.cost.kind] * launch.cost.launches)
        gap = table["graph_node_us"] if is_in_graph else table["launch_gap_us"]
        us = self._rates.kernel_us(launch)
        us += (gap + self._rates.ramp_us(launch)) * self._rates.kernels(launch)
        start = max(self._now, self._ready.get(stream, 0.0), self._free)
        self._ready[stream] = self._free = start + us
        counts.device_us += us
        counts.kernels += self._rates.kernels(launch)
        counts.runs.append(Run(launch, start, us, is_in_graph))
