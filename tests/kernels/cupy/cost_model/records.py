"""What a machine of the double was asked to do, in order: launches with their costs, and waits.

A `Cost` says what a launch moves and computes: each array once, by the elements that its strides
reach. It knows no rates; `rates` turns it into time, and `timeline` adds the order of events up.
"""

import math
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Clock = dict[str, int]  # steps by the names of streams, as in streams.py


class Convolution(NamedTuple):
    """The problem of a convolution, or of a gradient of it.

    Attributes:
        kind: ``forward``, ``data`` or ``filter``.
        layout: ``NHWC`` or ``NCHW``.
        data: (N, C, ...).
        weight: (K, C / groups, ...).
        out: (N, K, ...).
    """

    kind: str
    layout: str
    data: tuple[int, ...]
    weight: tuple[int, ...]
    out: tuple[int, ...]

    @property
    def groups(self) -> int:
        """Groups of channels."""
        return self.data[1] // self.weight[1]

    @property
    def flops(self) -> int:
        """Operations, two for each multiplication."""
        return 2 * math.prod(self.out) * math.prod(self.weight[1:])


class Product(NamedTuple):
    """The problem of a product of matrices, (m, k) by (k, n), of which there are several."""

    m: int
    n: int
    k: int
    batch: int

    @property
    def flops(self) -> int:
        """Operations, two for each multiplication."""
        return 2 * self.m * self.n * self.k * self.batch


_TILE = 128  # queries, and keys, that attention computes at once


class Attention(NamedTuple):
    """The problem of an attention that keeps no matrix of weights, or of its gradient."""

    batch: int
    queries: int
    keys: int
    width: int
    values: int
    backward: bool
    causal: bool = False

    @property
    def flops(self) -> int:
        """Operations, two for each multiplication; the gradient computes the scores again.

        Tiles beyond the diagonal are left out, but those beyond lengths count, as these are only on
        the device.
        """
        pairs = self.queries * self.keys
        if self.causal:
            tiles = [min(self.keys - self.queries + (i + 1) * _TILE, self.keys) for i in
                     range(-(-self.queries // _TILE))]  # fmt: skip
            last = self.queries - (len(tiles) - 1) * _TILE
            pairs = _TILE * sum(tiles[:-1]) + last * tiles[-1]
        scores = 2 * self.batch * pairs
        if self.backward:
            return scores * (3 * self.width + 2 * self.values)
        return scores * (self.width + self.values)


class Recurrence(NamedTuple):
    """The problem of recurrent layers, or of their gradients.

    Attributes:
        kind: ``forward``, ``backward data`` or ``backward weights``.
        cells: Steps of all layers and directions, one behind the other.
        flops: Operations, two for each multiplication.
    """

    kind: str
    cells: int
    flops: int


class Cost(NamedTuple):
    """What a launch moves and computes.

    Attributes:
        kind: How its time follows: ``own`` (a kernel of gluonish), ``cupy``, ``product``,
            ``convolution``, ``attention``, ``rnn`` or ``copy``.
        read: Bytes read, each array once.
        written: Bytes written, each array once.
        elements: Of its largest array.
        dtype: That of the multiplications, such as ``bfloat16`` or ``TF32``; else of that array.
        problem: Of all but kernels of elements and copies.
        launches: Kernels that it takes.
        row: Bytes of a row, where a kernel passes over rows more than once.
        threads: Threads of the grid; 0 if unknown.
        instructions: An element, of a kernel of gluonish.
    """

    kind: str
    read: int
    written: int
    elements: int = 0
    dtype: str = ""
    problem: Convolution | Product | Attention | Recurrence | None = None
    launches: int = 1
    row: int = 0
    threads: int = 0
    instructions: float = 0.0

    @property
    def nbytes(self) -> int:
        """Bytes read and written."""
        return self.read + self.written

    @property
    def flops(self) -> int:
        """Operations; one for each element where nothing else is known."""
        return self.elements if self.problem is None else self.problem.flops


IN_GRAPH = Cost("graph", 0, 0)  # of a step that a graph repeats: its own is in the graph's records


class Launch(NamedTuple):
    """A kernel, a memory set or a copy.

    Attributes:
        kernel: Its name.
        operator: The operator that asked for it; empty if nobody said.
        cost: What it moves and computes.
    """

    kernel: str
    operator: str
    cost: Cost


class Issued(NamedTuple):
    """Launches given to a stream at once: one, or those of a graph.

    Attributes:
        stream: Its name.
        first: The stream's step of the first launch.
        launches: In order.
        is_graph: Whether a graph holds them.
    """

    stream: str
    first: int
    launches: Sequence[Launch]
    is_graph: bool


class Waited(NamedTuple):
    """The host waited for steps of streams."""

    clock: Clock


class Ordered(NamedTuple):
    """A stream waits for steps of other streams."""

    stream: str
    clock: Clock


class StepEnd(NamedTuple):
    """A step of the program ended, by name."""

    name: str


class Called(NamedTuple):
    """What the host did since the event before.

    Attributes:
        calls: Calls of Python functions of gluonish and its engine.
        made: Arrays that CuPy made: new ones, and views.
    """

    calls: int
    made: int


Event = Issued | Waited | Ordered | StepEnd | Called


class _Here(threading.local):
    operator = ""


class Recorder:
    """Notes what a machine is asked to do.

    Attributes:
        events: In order.
        calls: Calls of Python functions since the last event.
        made: Arrays that were made since the last event.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.calls = self.made = 0
        self._here = _Here()

    def _add(self, event: Event) -> None:
        if self.calls or self.made:
            self.events.append(Called(self.calls, self.made))
            self.calls = self.made = 0
        self.events.append(event)

    def operator(self, name: str) -> None:
        """Say which operator the next launches of this thread belong to."""
        self._here.operator = name

    def note(
        self, stream: str, step: int, what: str, cost: Cost | None, captured: list[Launch] | None
    ) -> None:
        """Note a launch; ``captured`` is where those of a capturing stream go."""
        if cost is IN_GRAPH:
            return
        launch = Launch(what, self._here.operator, Cost("own", 0, 0) if cost is None else cost)
        if captured is None:
            self._add(Issued(stream, step, (launch,), False))
        else:
            captured.append(launch)

    def graph(self, stream: str, clock: Clock, launches: Sequence[Launch]) -> None:
        """Note the launch of a graph on a stream that has come as far as ``clock``."""
        self._add(Issued(stream, clock.get(stream, 0) + 1, launches, True))

    def wait(self, clock: Clock) -> None:
        """Note a wait of the host."""
        self._add(Waited(dict(clock)))

    def order(self, stream: str, clock: Clock) -> None:
        """Note that a stream waits for others."""
        self._add(Ordered(stream, dict(clock)))

    def end_step(self, name: str) -> None:
        """Note the end of a step."""
        self._add(StepEnd(name))


def touched(raw: Any) -> int:
    """Return the bytes that the elements of a NumPy array take, repeated ones once."""
    count = 1
    for extent, stride in zip(raw.shape, raw.strides, strict=True):
        count *= extent if stride else min(extent, 1)
    return int(count) * int(raw.dtype.itemsize)


def cost_of(kind: str, sources: Sequence[Any], outputs: Sequence[Any], **more: Any) -> Cost:
    """Return the cost of a launch that reads and writes NumPy arrays."""
    arrays = [*sources, *outputs]
    largest = max(arrays, key=lambda x: x.size, default=np.empty(0))
    read = {(x.ctypes.data, x.shape, x.strides): touched(x) for x in sources}
    return Cost(
        kind,
        sum(read.values()),
        sum(map(touched, outputs)),
        int(largest.size),
        str(largest.dtype),
        **more,
    )
