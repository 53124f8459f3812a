"""Base classes of the plans of convolutions whose filters are packed.

Plans are shared by all threads. A `Call`, the mutable state of a run, belongs to one thread from
its `pop` to its `append` on the plan's list of idle calls; both are atomic.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from ctypes import addressof, c_int64
from typing import Any

from gluonish.kernels.compiler import CompiledKernel
from gluonish.kernels.generated.winograd_code import POINTS
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.native_calls import Row, launch_row
from gluonish.kernels.onednn.native_chain import NativeMember
from gluonish.ops.kernel import Array, Key

_CACHED = 3 << 18  # bytes of transformed data and products that fit a core's cache

Arrays = Sequence[Array]


class Tiles:
    """The tiles of 2 x 2 outputs, and their split among threads.

    Args:
        shape: (N, C, H, W) of the outputs, or of their gradient.
        channels: Sum of input and output channels.
        threads: Available threads.
        fewest: Minimum tiles per pass, for any number of channels.
        least: Minimum tiles for each thread.

    Attributes:
        threads: Number of threads to use.
        rows: Tiles along an image's height.
        columns: Tiles along an image's width.
        total: Number of tiles of all images.
        share: Tiles per thread.
        chunk: Tiles per pass.
    """

    __slots__ = ("chunk", "columns", "rows", "share", "threads", "total")

    def __init__(
        self, shape: Sequence[int], channels: int, threads: int, *, fewest: int, least: int
    ) -> None:
        samples, _, height, width = shape
        self.rows, self.columns = -(-height // 2), -(-width // 2)
        self.total = samples * self.rows * self.columns
        self.threads = max(1, min(threads, self.total // least))
        self.share = -(-self.total // self.threads)
        cached = max(_CACHED // (4 * POINTS * channels), fewest)
        self.chunk = -(-self.share // -(-self.share // cached))


class Params:
    """A kernel and its params by name.

    Args:
        names: The names in order, separated by spaces.
        values: Initial values; others are zero.
    """

    __slots__ = ("_indices", "_kernel", "_params")

    def __init__(self, kernel: CompiledKernel, names: str, **values: int) -> None:
        self._kernel = kernel
        self._indices = {name: i for i, name in enumerate(names.split())}
        self._params = (c_int64 * len(self._indices))()
        self.set(**values)

    def set(self, **values: int) -> None:
        """Set params by name."""
        for name, value in values.items():
            self._params[self._indices[name]] = value

    def get(self, name: str) -> int:
        """Return the value of a param."""
        return self._params[self._indices[name]]

    def run(self, extent: int, grain: int = 0) -> None:
        """Run the kernel without the GIL.

        Args:
            extent: Number of steps.
            grain: Minimum steps for each thread; 0 for up to one thread per step.
        """
        self._kernel.run_at(extent, addressof(self._params), grain)

    def rows(self, extent: int, threads: int, grain: int = 0) -> list[Row] | None:
        """Return what `run` calls; None while runs are timed."""
        launch = self._kernel.launch_of(extent, addressof(self._params), grain, threads)
        return None if launch is None else [launch_row(launch)]


class Call(ABC):
    """The mutable state of one run of a plan.

    Attributes:
        is_native: Whether `gluonish.kernels.onednn.native_chain` may run it.
        engine: The engine of its scratch memory.
        nbytes: Size of the scratch memory.
    """

    __slots__ = ()

    is_native = False
    engine: Engine | None = None
    nbytes = 0

    @abstractmethod
    def run(self, arrays: Arrays) -> None:
        """Run on the operands."""

    def set_arrays(self, arrays: Arrays) -> None:
        """Set the addresses of the operands, for a native run."""
        raise NotImplementedError  # only called if it is native

    def set_base(self, base: int) -> None:
        """Set the address of the scratch memory, for a native run."""
        raise NotImplementedError  # only called with scratch memory

    def rows(self, threads: int) -> list[Row] | None:
        """Return the calls of a native run; None while runs are timed."""
        raise NotImplementedError  # only called if it is native

    def check(self) -> None:  # noqa: B027  # most cannot fail
        """Raise an error if the last native run failed."""

    def pack(self, arrays: Arrays) -> None:  # noqa: B027  # most have nothing to pack
        """Transform constant filters."""


class TilesPlan(ABC):
    """Base class of plans: what an operator's kernel returns as `Bound.plan`."""

    __slots__ = ("_idle",)

    def __init__(self) -> None:
        self._idle: list[Call] = []

    @abstractmethod
    def call(self, packed: Array | None = None) -> Call:
        """Return a new call, for filters packed in ``packed``."""

    def run(self, *arrays: Array, key: Key | None = None) -> None:
        """Run on outputs and inputs that have the plan's layouts."""
        try:
            call = self._idle.pop()
        except IndexError:
            call = self.call()
        call.run(arrays)
        self._idle.append(call)

    def packing(self, constant: Collection[int]) -> Array | None:
        """Return memory for transformed constant operands, or None."""
        return None

    def attach(
        self,
        operands: Sequence[int],
        arrays: Arrays,
        movable: Collection[int],
        packing: Array | None = None,
    ) -> "_Attached":
        """Bind the plan to memory, for one caller at a time."""
        return _Attached(self.call(packing), operands)


class _Attached(NativeMember):
    """A plan bound to memory: a call, and the indices of its operands among the arrays."""

    __slots__ = ("_call", "_operands")

    def __init__(self, call: Call, operands: Sequence[int]) -> None:
        self._call = call
        self._operands = tuple(operands)

    def run(self, arrays: Arrays) -> None:
        """Run on the arrays."""
        self._call.run([arrays[i] for i in self._operands])

    def pack(self, arrays: Arrays) -> None:
        """Transform constant filters."""
        self._call.pack([arrays[i] for i in self._operands])

    @property
    def is_native(self) -> bool:
        """Whether a chain may run the call."""
        return self._call.is_native

    @property
    def engine(self) -> Engine | None:
        """The engine of the scratch memory."""
        return self._call.engine

    @property
    def scratch_nbytes(self) -> int:
        """Size of the scratch memory."""
        return self._call.nbytes

    def update_addresses(self, arrays: Arrays) -> None:
        """Set the addresses of the operands."""
        self._call.set_arrays([arrays[i] for i in self._operands])

    def set_base(self, base: int) -> None:
        """Set the address of the scratch memory."""
        self._call.set_base(base)

    def rows(self, threads: int) -> list[Row] | None:
        """Return the calls; None while runs are timed."""
        return self._call.rows(threads)

    def check(self) -> None:
        """Raise an error if the last run failed."""
        self._call.check()


class WhenPacked:
    """Runs a plan if filters are packed in advance, else the direct plan."""

    __slots__ = ("_direct", "_plan")

    def __init__(self, plan: TilesPlan, other: Any) -> None:
        self._plan = plan
        self._direct = other

    def run(self, *arrays: Array, key: Key | None = None) -> None:
        """Run the direct plan."""
        self._direct.run(*arrays)

    def packing(self, constant: Collection[int]) -> Array | None:
        """Return memory for the packed filters if these are constant."""
        return self._plan.packing(constant)

    def attach(
        self,
        operands: Sequence[int],
        arrays: Arrays,
        movable: Collection[int],
        packing: Array | None = None,
    ) -> Any:
        """Bind the plan to memory, for one caller at a time."""
        plan = self._direct if packing is None else self._plan
        return plan.attach(operands, arrays, movable, packing)


@contextmanager
def scratch(engine: Engine, nbytes: int) -> Iterator[int]:
    """Acquire scratch memory for the scope; yield its address."""
    workspace = engine.workspaces.acquire(nbytes)
    try:
        yield workspace.address
    finally:
        engine.workspaces.release(workspace)
