"""NCCLExchange: sums over the GPUs of all processes of a job, through NCCL.

There is one communicator over all devices of all processes; MPI brings its name round, and ranks
agree by MPI on each sum before they launch it, as a sum that one of them does not know would never
end. What is added up does not pass through main memory.

Launches come in one order on all ranks: that of the `Channel`, whose exchanges they are.
"""

import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from gluonish.core.context import Context
from gluonish.kvstore.distributed.pieces import Named, Purpose, buckets
from gluonish.kvstore.nccl_reduce import Team, fits, nccl_dtype
from gluonish.ndarray import NDArray

__all__ = ["NCCLExchange", "Ranks"]

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
