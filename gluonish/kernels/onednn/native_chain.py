"""NativeChain: attached plans of several kinds that run in one native call.

NativeMember: the base class of such plans.
"""

from abc import abstractmethod
from collections.abc import Sequence

from gluonish.core.config import changes
from gluonish.kernels import openmp
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.native_calls import NativeCalls, Row, native_calls
from gluonish.ops.kernel import Array


class NativeMember:
    """An attached plan that consists of primitives and launches of generated kernels."""

    __slots__ = ()

    @property
    def is_native(self) -> bool:
        """Whether a chain may run the plan."""
        return True

    @property
    def engine(self) -> Engine | None:
        """The engine of the plan's primitives and of its scratch memory; None without them."""
        return None

    @property
    def scratch_nbytes(self) -> int:
        """Size of the scratch memory that a run needs."""
        return 0

    @abstractmethod
    def run(self, arrays: Sequence[Array]) -> None:
        """Run the plan alone."""

    @abstractmethod
    def update_addresses(self, arrays: Sequence[Array]) -> None:
        """Update the addresses of arrays that were reallocated."""

    def set_base(self, base: int) -> None:
        """Set the address of the scratch memory."""
        raise NotImplementedError  # only called with scratch memory

    @abstractmethod
    def rows(self, threads: int) -> list[Row] | None:
        """Return the calls; None while runs are timed.

        Args:
            threads: How many threads a generated kernel may use.
        """

    def check(self) -> None:
        """Raise an error if the last run failed."""

    @classmethod
    def mixed(cls, members: "Sequence[NativeMember]") -> "NativeChain":
        """Return one that runs several, of any kind, in order."""
        return NativeChain(members)


class NativeChain:
    """Members that run in one call, as soon as it is known in how many threads each does."""

    __slots__ = ("_calls", "_engine", "_members", "_nbytes", "_scratch", "_version")

    def __init__(self, members: Sequence[NativeMember]) -> None:
        self._members = members
        self._engine = next((x.engine for x in members if x.engine is not None), None)
        self._scratch = [x for x in members if x.scratch_nbytes]
        self._nbytes = max([x.scratch_nbytes for x in members], default=0)
        self._calls: NativeCalls | None = None
        self._version = (-1, 0)  # of the flags, and number of threads, for which the calls are

    def run(self, arrays: Sequence[Array]) -> None:
        """Run the members in order.

        Raises:
            OneDNNError: A primitive failed.
        """
        threads = 1 if openmp.is_disabled() else openmp.team().threads()
        version = changes[0], threads
        if version != self._version:
            self._make_calls(version)
        calls, engine = self._calls, self._engine
        if calls is None or engine is None:
            for member in self._members:
                member.run(arrays)
            return
        for member in self._members:
            member.update_addresses(arrays)
        thread = engine.thread()
        base = thread.reserve(self._nbytes)
        for member in self._scratch:
            member.set_base(base)
        thread.run((), calls)
        for member in self._members:
            member.check()

    def _make_calls(self, version: tuple[int, int]) -> None:
        self._calls = None
        if self._engine is None:
            return
        rows: list[Row] = []
        for member in self._members:
            found = member.rows(version[1])
            if found is None:
                return  # its runs are timed
            rows += found
        self._calls = native_calls(self._engine.api, rows)
        self._version = version

    def pack(self, arrays: Sequence[Array]) -> None:
        """Do nothing: each of the members packs its own operands."""
