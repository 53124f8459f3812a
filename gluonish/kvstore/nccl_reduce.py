"""Sums of devices by NCCL.

One process drives all GPUs. Each has a stream for its part: that waits for the work that the engine
ordered before the sum, and what comes after the sum waits for all of them.

There is one communicator over all devices of all processes; MPI brings its name round, and ranks
agree by MPI on each sum before they launch it, as a sum that one of them does not know would never
end. What is added up does not pass through main memory.

Launches come in one order on all ranks: that of the `Channel`, whose exchanges they are.
"""

import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any, Protocol

from gluonish.core.context import Context
from gluonish.core.device import gpu_count
from gluonish.core.errors import DeviceError
from gluonish.core.loading import IMPORT_FAILURES
from gluonish.core.timeout_lock import Turn
from gluonish.kernels.cupy import libraries
from gluonish.kernels.cupy.device import health_of
from gluonish.kernels.cupy.health import Mark
from gluonish.kernels.cupy.stream import DeviceStream
from gluonish.kvstore.distributed.pieces import Named, Purpose, buckets
from gluonish.kvstore.transfer import new_array, private_array, push_beside
from gluonish.ndarray import NDArray

# numpy's names of dtypes, and the library's constants.
_DTYPES = {
    "int8": "NCCL_INT8",
    "uint8": "NCCL_UINT8",
    "int32": "NCCL_INT32",
    "int64": "NCCL_INT64",
    "float16": "NCCL_FLOAT16",
    "bfloat16": "NCCL_BFLOAT16",
    "float32": "NCCL_FLOAT32",
    "float64": "NCCL_FLOAT64",
}


def _import_nccl() -> ModuleType:
    libraries.load("nccl")  # without it, CuPy's module leaves a warning and has nothing in it
    from cupy.cuda import nccl

    module: ModuleType = nccl
    return module


def find_nccl(load: Callable[[], ModuleType] = _import_nccl) -> ModuleType:
    """Return CuPy's module of NCCL.

    Args:
        load: Function that imports it.

    Raises:
        DeviceError: There is no CuPy, no GPU, or no NCCL library.
    """
    try:
        module = load()
    except IMPORT_FAILURES as error:
        raise DeviceError(f"nccl: expected CuPy with NCCL, got {error}") from error
    if not getattr(module, "available", True):
        raise DeviceError(
            "nccl: expected the library of NCCL, got none that CuPy finds; see gluonish doctor"
        )
    if not gpu_count():
        raise DeviceError("nccl: expected a GPU, got none")
    return module


class Team:
    """NCCL communicators of some GPUs of this process, with a stream for each.

    Args:
        nccl: CuPy's module of NCCL.
        cupy: CuPy.
        devices: Indices of the GPUs.
        communicators: One communicator for each GPU.
    """

    def __init__(
        self, nccl: Any, cupy: Any, devices: tuple[int, ...], communicators: Sequence[Any]
    ) -> None:
        self._nccl, self._cupy = nccl, cupy
        self.communicators = communicators
        self.streams = [
            DeviceStream(cupy, cupy.cuda.Device(number), health_of(number)) for number in devices
        ]

    def run(self, launch: Callable[[], None]) -> None:
        """Launch collectives on the streams as one group, ordered with the current streams.

        Args:
            launch: Function that launches the collectives of all GPUs.
        """
        cupy = self._cupy
        current = cupy.cuda.get_current_stream()
        ready = cupy.cuda.Event(disable_timing=True)
        ready.record(current)
        for stream in self.streams:
            stream.wait_event(Mark(ready, 0))
        self._nccl.groupStart()
        launch()
        self._nccl.groupEnd()
        for stream in self.streams:
            current.wait_event(stream.record().event)


def nccl_dtype(nccl: Any, x: NDArray) -> int:
    """Return NCCL's number of an array's dtype.

    Args:
        nccl: CuPy's module of NCCL.
        x: The array.
    """
    number: int = getattr(nccl, _DTYPES[x.dtype.__name__])
    return number


def fits(values: Sequence[NDArray]) -> bool:
    """Whether arrays are dense, contiguous, of a dtype that NCCL has, and on one GPU each.

    Args:
        values: The arrays.
    """
    return len({value.context for value in values}) == len(values) and all(
        x.context.is_gpu
        and x.stype == "default"
        and x.dtype.__name__ in _DTYPES
        and x._data.flags.c_contiguous
        for x in values
    )


class NCCLReduction:
    """Sums dense arrays of several GPUs.

    Args:
        nccl: CuPy's module of NCCL, or one like it.
    """

    def __init__(self, nccl: Any) -> None:
        self._nccl = nccl
        self._teams: dict[tuple[int, ...], Team] = {}
        self._turn = Turn()  # to launch, as several threads of one process should not at once

    def takes(self, values: Sequence[NDArray], context: Context) -> bool:
        """Whether arrays can be summed: dense, of a dtype that NCCL has, and on one GPU each.

        Args:
            values: The arrays.
            context: Device of the sum.
        """
        return len(values) > 1 and context in [x.context for x in values] and fits(values)

    def add_up(
        self, values: Sequence[NDArray], context: Context, priority: int, *, private: bool = False
    ) -> NDArray:
        """Return the sum as a new array on one of the GPUs.

        Args:
            values: Arrays that `takes` accepts.
            context: GPU of the sum.
            priority: Operations of higher priority run first.
            private: As in `gluonish.kvstore.transfer.sum_arrays`.
        """
        out = private_array(values[0], context) if private else new_array(values[0], context)
        root = [value.context for value in values].index(context)
        push_beside(
            partial(self._launch, values, out, root),
            [value._var for value in values],
            out._var,
            out._device,
            priority,
            "kvstore_nccl",
            private=private,
        )
        return out

    def _launch(self, values: Sequence[NDArray], out: NDArray, root: int) -> None:
        """Launch the sum behind the current stream, which goes on behind it."""
        cupy, nccl = out._device.xp, self._nccl
        devices = tuple(value.context.device_id for value in values)
        dtype = nccl_dtype(nccl, out)

        def sums() -> None:
            for value, own, stream in zip(values, team.communicators, team.streams, strict=True):
                target = out if value.context == out.context else value
                own.reduce(
                    *(value._data.data.ptr, target._data.data.ptr, out.size, dtype),
                    *(nccl.NCCL_SUM, root, stream.raw.ptr),
                )

        with self._turn:
            found = self._teams.get(devices)
            if found is None:
                made = Team(nccl, cupy, devices, nccl.NcclCommunicator.initAll(list(devices)))
                found = self._teams.setdefault(devices, made)
            team = found
            team.run(sums)
        # The stream of the sum is behind them all, and keeps the arrays.


_BUCKET_NBYTES = 25 << 20  # of arrays that one group of calls adds up


class Ranks(Protocol):
    """The part of `gluonish.kvstore.distributed.channel.Channel` that is used here."""

    def gather(self, value: Any, what: str) -> list[Any]:
        """Return a list with the value that each rank passes, by rank."""
        raise NotImplementedError

    def exchange(
        self,
        what: str,
        named: Sequence[Named],
        act: Callable[[], None],
        arrays: Sequence[NDArray],
        lane: Any,
    ) -> None:
        """Push an operation that all ranks run, after they have agreed on it."""
        raise NotImplementedError


class NCCLExchange:
    """Sums dense arrays over the GPUs of all ranks.

    Args:
        nccl: CuPy's module of NCCL, or one like it; None if this rank has none.
        ranks: Connection of the ranks.
    """

    def __init__(self, nccl: Any, ranks: Ranks) -> None:
        self._nccl = nccl
        self._ranks = ranks
        self.labels: Mapping[str, str] = {}  # what messages call arrays, by name
        self._teams: dict[tuple[Context, ...], Team | None] = {}

    def serves(self, values: Sequence[NDArray]) -> bool:
        """Whether all ranks can sum arrays like these.

        For devices that are new all ranks must call it at the same time.

        Args:
            values: One array on each of this rank's devices.
        """
        contexts = tuple(value.context for value in values)
        if contexts not in self._teams:
            self._teams[contexts] = self._join(values)
        return self._teams[contexts] is not None and fits(values)

    def _join(self, values: Sequence[NDArray]) -> Team | None:
        """Make communicators over all ranks' devices; None where a rank has none, or shares one."""
        contexts = {x.context for x in values}
        nccl = self._nccl
        usable = nccl is not None and len(contexts) == len(values)
        usable = usable and all(context.is_gpu for context in contexts)
        mine = [_identity(value) for value in values] if usable else None
        found = self._ranks.gather(mine, "the devices of all ranks")
        devices = [device for rank in found for device in rank or ()]
        if nccl is None or None in found or len(set(devices)) < len(devices):
            return None
        own = next(i for i, rank in enumerate(found) if rank == mine)
        first = sum(map(len, found[:own]))
        name = self._ranks.gather(nccl.get_unique_id() if own == 0 else None, "NCCL's name")
        numbers = tuple(value.context.device_id for value in values)
        cupy = values[0]._device.xp
        communicators = []
        nccl.groupStart()  # one thread joins several devices
        for i, number in enumerate(numbers):
            with cupy.cuda.Device(number):
                made = nccl.NcclCommunicator(len(devices), name[0], first + i)
            communicators.append(made)
        nccl.groupEnd()
        return Team(nccl, cupy, numbers, communicators)

    def add_up(self, names: Sequence[str], values: Sequence[Sequence[NDArray]], what: str) -> None:
        """Replace arrays by their sums over all devices of all ranks.

        Args:
            names: Names by which other ranks know the arrays, in the order in which they are
                needed.
            values: For each name an array on each of this rank's devices, which `serves` accepts.
            what: What is done to them, for messages, such as ``"push of"``.
        """
        of = dict(zip(names, values, strict=True))
        named = [Named(name, xs[0], self.labels.get(name, "")) for name, xs in of.items()]
        purpose = Purpose.of(what, named[0])
        for bucket in buckets(named, _BUCKET_NBYTES):
            lists = [of[x.name] for x in bucket]
            team = self._teams[tuple(x.context for x in lists[0])]
            assert team is not None, "it serves"
            act = partial(self._launch, team, lists)
            lane = lists[0][0]._device.priority_lane
            self._ranks.exchange(purpose, bucket, act, [x for xs in lists for x in xs], lane)

    def _launch(self, team: Team, lists: Sequence[Sequence[NDArray]]) -> None:
        """Launch the sums of a bucket as one group."""
        nccl = self._nccl

        def sums() -> None:
            for arrays in lists:
                for x, own, stream in zip(arrays, team.communicators, team.streams, strict=True):
                    place, dtype = x._data.data.ptr, nccl_dtype(nccl, x)
                    own.allReduce(place, place, x.size, dtype, nccl.NCCL_SUM, stream.raw.ptr)

        team.run(sums)


def _identity(value: NDArray) -> str:
    """Return what tells a GPU from all others: two ranks cannot share one."""
    runtime = value._device.xp.cuda.runtime
    return f"{socket.gethostname()} {runtime.deviceGetPCIBusId(value.context.device_id)}"
