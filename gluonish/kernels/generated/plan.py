"""Plans of generated kernels: a compiled kernel and its params.

A plan depends on the layouts of its arrays. From call to call only their addresses, which are the
first params, and the key of random numbers change. Plans are shared by all threads. The params of a
call belong to one thread from their `pop` to their `append` on the plan's list of idle params; both
are atomic.
"""

import math
from collections.abc import Collection, Sequence
from ctypes import addressof, c_int64
from typing import Any

from gluonish.core.config import changes
from gluonish.kernels import openmp
from gluonish.kernels.compiler import CompiledKernel, Launch, Series
from gluonish.kernels.onednn.native_calls import Row, launch_row
from gluonish.kernels.onednn.native_chain import NativeMember
from gluonish.ops.kernel import Key, address


class KernelPlan:
    """A kernel with its params, for arrays of given dtypes, shapes and strides.

    Args:
        params: Initial params; the first are the addresses of operands, which each call sets.
        extent: Number of steps.
        grain: Minimum steps for each thread.
        key_at: Index of the random key in the params; 0 without random numbers.
    """

    __slots__ = ("_extent", "_grain", "_idle", "_kernel", "_key_at", "_params")

    def __init__(
        self,
        kernel: CompiledKernel,
        params: Sequence[int],
        extent: int,
        grain: int,
        key_at: int = 0,
    ) -> None:
        self._kernel = kernel
        self._params = params
        self._extent = extent
        self._grain = grain
        self._key_at = key_at
        self._idle: list[tuple[Any, int]] = []

    def new_params(self) -> tuple[Any, int]:
        """Return a copy of the params, and its address."""
        params = (c_int64 * len(self._params))(*self._params)
        return params, addressof(params)

    def launch(self, params: tuple[Any, int], key: Key | None) -> None:
        """Run on the arrays whose addresses are in the params."""
        if key is not None and self._key_at:
            params[0][self._key_at], params[0][self._key_at + 1] = key
        self._kernel.run_at(self._extent, params[1], self._grain)

    def launch_of(self, params: int, threads: int) -> Launch | None:
        """Return what `launch` calls; see `CompiledKernel.launch_of`."""
        return self._kernel.launch_of(self._extent, params, self._grain, threads)

    @property
    def turns(self) -> float:
        """The steps by those for which a thread pays; up to 1, releasing the GIL does not pay."""
        return self._extent / self._grain if self._grain else math.inf

    def run(self, *arrays: Any, key: Key | None = None) -> None:
        """Run on outputs and inputs that have the plan's layouts.

        Args:
            *arrays: Outputs, then inputs.
            key: The random key of this call.
        """
        try:
            params = self._idle.pop()
        except IndexError:
            params = self.new_params()
        values = params[0]
        for i, array in enumerate(arrays):
            values[i] = address(array)
        self.launch(params, key)
        self._idle.append(params)

    def packing(self, constant: Collection[int]) -> None:
        """Return None: nothing can be packed."""

    def attach(
        self,
        operands: Sequence[int],
        arrays: Sequence[Any],
        movable: Collection[int],
        packing: None = None,
    ) -> "Attached":
        """Bind the plan to memory; the arguments are those of `Attached`."""
        return Attached(self, operands, arrays, movable)


class Attached(NativeMember):
    """A plan bound to memory, for one caller at a time.

    Args:
        operands: For each operand, its index among the arrays of `run`.
        arrays: The current arrays.
        movable: Indices of arrays that may be reallocated between calls.
    """

    __slots__ = ("_movable", "_params", "_plan")

    def __init__(
        self,
        plan: KernelPlan,
        operands: Sequence[int],
        arrays: Sequence[Any],
        movable: Collection[int],
    ) -> None:
        self._plan = plan
        self._params = plan.new_params()
        self._movable: list[tuple[int, int]] = []
        for i, index in enumerate(operands):
            if index in movable:
                self._movable.append((i, index))
            else:
                self._params[0][i] = address(arrays[index])

    @classmethod
    def joined(cls, attached: "Sequence[Attached]") -> "_Joined":
        """Join plans into one call."""
        return _Joined(attached)

    def run(self, arrays: Sequence[Any]) -> None:
        """Run the kernel; arrays that are not movable must be those of the constructor."""
        self.update_addresses(arrays)
        self._plan.launch(self._params, None)

    def update_addresses(self, arrays: Sequence[Any]) -> None:
        """Update the addresses of arrays that were reallocated."""
        values = self._params[0]
        for i, index in self._movable:
            values[i] = address(arrays[index])

    def rows(self, threads: int) -> list[Row] | None:
        """Return the launch; None while runs are timed."""
        launch = self._plan.launch_of(self._params[1], threads)
        return None if launch is None else [launch_row(launch)]

    def pack(self, arrays: Sequence[Any]) -> None:
        """Do nothing."""


class _Joined:
    """Several attached plans that run in one call, as soon as it is known in how many threads."""

    __slots__ = ("_attached", "_movable", "_series", "_version")

    def __init__(self, attached: Sequence[Attached]) -> None:
        self._attached = attached
        self._movable = [
            (each._params[0], i, index) for each in attached for i, index in each._movable
        ]
        self._series: Series | None = None
        self._version = (-1, 0)  # of the flags, and number of threads, for which the series is

    def run(self, arrays: Sequence[Any]) -> None:
        """Run the kernels in order; see `Attached.run`."""
        threads = 1 if openmp.is_disabled() else openmp.team().threads()
        version = changes[0], threads
        if version != self._version:
            self._make_series(version)
        if self._series is None:
            for each in self._attached:
                each.run(arrays)
            return
        for values, i, index in self._movable:
            values[i] = address(arrays[index])
        self._series.run()

    def _make_series(self, version: tuple[int, int]) -> None:
        self._series = None
        launches = []
        for each in self._attached:
            launch = each._plan.launch_of(each._params[1], version[1])
            if launch is None:
                return  # they are timed, one by one
            launches.append(launch)
        quick = sum(each._plan.turns for each in self._attached) <= 1
        self._series = Series(launches, quick=quick)
        self._version = version

    def pack(self, arrays: Sequence[Any]) -> None:
        """Do nothing."""
