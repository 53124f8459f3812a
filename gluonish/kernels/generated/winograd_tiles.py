"""What the plans of `gluonish.kernels.generated.winograd` have in common: tiles, calls, attachment.

Plans are shared by all threads; a `Call`, what a run writes into, belongs to one, from its `pop` to
its `append` on the plan's list of idle ones, both single steps of the interpreter.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from ctypes import addressof, c_int64

from gluonish.kernels.compiler import CompiledKernel
from gluonish.kernels.generated.winograd_code import POINTS
from gluonish.kernels.onednn.engine import Engine
from gluonish.ops.kernel import Array

_CACHED = 3 << 18  # bytes of transformed data and products that stay in a thread's cache

Arrays = Sequence[Array]


class Tiles:
    """The tiles of 2 x 2 outputs, and how the threads share them.

    Args:
        shape: (N, C, H, W) of the outputs, or of their gradient.
        channels: Of both sides together.
        threads: How many there are.
        fewest: Tiles that a pass should have, however many channels there are.
        least: Tiles that are worth a thread.

    Attributes:
        parts: How many threads share them.
        rows: Of an image.
        columns: Of an image.
        total: Of all images.
        share: Of a thread.
        chunk: Of one pass.
    """

    __slots__ = ("chunk", "columns", "parts", "rows", "share", "total")

    def __init__(
        self, shape: Sequence[int], channels: int, threads: int, *, fewest: int, least: int
    ) -> None:
        samples, _, height, width = shape
        self.rows, self.columns = -(-height // 2), -(-width // 2)
        self.total = samples * self.rows * self.columns
        self.parts = max(1, min(threads, self.total // least))
        self.share = -(-self.total // self.parts)
        wanted = max(_CACHED // (4 * POINTS * channels), fewest)
        self.chunk = -(-self.share // -(-self.share // wanted))


class Words:
    """The words that a kernel is called with, by their names.

    Args:
        kernel: The kernel.
        names: All of them, in order, with spaces between.
        values: Those that are known; the others are zero.
    """

    __slots__ = ("_kernel", "_places", "_words")

    def __init__(self, kernel: CompiledKernel, names: str, **values: int) -> None:
        self._kernel = kernel
        self._places = {name: i for i, name in enumerate(names.split())}
        self._words = (c_int64 * len(self._places))()
        self.set(**values)

    def set(self, **values: int) -> None:
        """Change words."""
        for name, value in values.items():
            self._words[self._places[name]] = value

    def get(self, name: str) -> int:
        """Return a word."""
        return self._words[self._places[name]]

    def run(self, extent: int) -> None:
        """Run the kernel without the interpreter's lock; each step is worth a thread."""
        self._kernel.run_at(extent, addressof(self._words), 0)


class Call(ABC):
    """What a run of a plan writes into."""

    __slots__ = ()

    @abstractmethod
    def run(self, arrays: Arrays) -> None:
        """Run on the operands."""

    def pack(self, arrays: Arrays) -> None:  # noqa: B027  # most have nothing to compute ahead
        """Compute what depends on the filters only."""


class TilesPlan(ABC):
    """A plan: `Bound.plan` of an operator's kernel."""

    __slots__ = ("_idle",)

    def __init__(self) -> None:
        self._idle: list[Call] = []

    @abstractmethod
    def call(self, packed: Array | None = None) -> Call:
        """Return a new call, for filters packed in ``packed``."""

    def run(self, *arrays: Array) -> None:
        """Run on outputs and inputs, which lie as those that the plan was made for."""
        try:
            call = self._idle.pop()
        except IndexError:
            call = self.call()
        call.run(arrays)
        self._idle.append(call)

    def packing(self, stable: Collection[int]) -> Array | None:
        """Return memory for what is computed ahead from operands that rarely change, or None."""
        return None

    def attach(
        self,
        operands: Sequence[int],
        arrays: Arrays,
        moving: Collection[int],
        packing: Array | None = None,
    ) -> "_Attached":
        """Return the plan for one caller at a time, on arrays at some places of a frame."""
        return _Attached(self.call(packing), operands)


class _Attached:
    """A call, and the places of its arrays in the frame that it runs on."""

    __slots__ = ("_call", "_operands")

    def __init__(self, call: Call, operands: Sequence[int]) -> None:
        self._call = call
        self._operands = tuple(operands)

    def run(self, frame: Arrays) -> None:
        """Run on the arrays at their places."""
        self._call.run([frame[i] for i in self._operands])

    def pack(self, frame: Arrays) -> None:
        """Compute what depends on the filters only."""
        self._call.pack([frame[i] for i in self._operands])


@contextmanager
def scratch(engine: Engine, nbytes: int) -> Iterator[int]:
    """Hold scratch memory within the scope; yields its address."""
    space = engine.workspaces.take(nbytes)
    try:
        yield space.address
    finally:
        engine.workspaces.give(space)
