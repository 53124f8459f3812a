"""NCCLExchange: sums over the GPUs of all ranks with NCCL.

One communicator spans all devices of all processes. MPI broadcasts its id, and ranks agree by MPI
on each sum before they launch it, as NCCL hangs if a rank is missing. Data is not copied to host
memory. The launch order is the same on all ranks: that of the exchanges of a `Channel`.
"""

import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from gluonish.core.context import Context
from gluonish.kvstore.distributed.pieces import NamedArray, Purpose, buckets
from gluonish.kvstore.nccl_team import Team, abort_all, bucket_nbytes, fits, group, sum_in_place
from gluonish.ndarray import NDArray


class Ranks(Protocol):
    """The part of `gluonish.kvstore.distributed.channel.Channel` that `NCCLExchange` uses."""

    def gather(self, value: Any, what: str) -> list[Any]:
        """Return a list with the value that each rank passes, by rank."""
        raise NotImplementedError

    def exchange(
        self,
        what: str,
        named: Sequence[NamedArray],
        act: Callable[[], None],
        arrays: Sequence[NDArray],
        lane: Any,
    ) -> None:
        """Push an operation that all ranks run, after they have agreed on it."""
        raise NotImplementedError


class NCCLExchange:
    """Sums dense arrays over the GPUs of all ranks.

    Args:
        nccl: CuPy's NCCL module, or a stand-in; None if this rank lacks NCCL.
        ranks: Connection of the ranks.
    """

    def __init__(self, nccl: Any, ranks: Ranks) -> None:
        self._nccl = nccl
        self._ranks = ranks
        self.labels: Mapping[str, str] = {}  # names of arrays in messages
        self._teams: dict[tuple[Context, ...], Team | None] = {}

    def can_sum(self, values: Sequence[NDArray]) -> bool:
        """Whether all ranks can sum arrays like these, one on each of this rank's devices.

        The first call for a list of devices is collective.
        """
        contexts = tuple(value.context for value in values)
        if contexts not in self._teams:
            self._teams[contexts] = self._join(values)
        return self._teams[contexts] is not None and fits(values)

    def _join(self, values: Sequence[NDArray]) -> Team | None:
        """Create communicators over all ranks' devices; None if unsupported on any rank."""
        contexts = {x.context for x in values}
        nccl = self._nccl
        usable = nccl is not None and len(contexts) == len(values)
        usable = usable and all(context.is_gpu for context in contexts)
        local = [_identity(value) for value in values] if usable else None
        found = self._ranks.gather(local, "the devices of all ranks")
        devices = [device for rank in found for device in rank or ()]
        if nccl is None or None in found or len(set(devices)) < len(devices):
            return None
        rank = next(i for i, ids in enumerate(found) if ids == local)
        first = sum(map(len, found[:rank]))
        unique_id = self._ranks.gather(nccl.get_unique_id() if rank == 0 else None, "NCCL's id")[0]
        numbers = tuple(value.context.device_id for value in values)
        cupy = values[0]._device.xp
        communicators: list[Any] = []
        try:
            with group(nccl):  # one thread joins several devices
                for i, number in enumerate(numbers):
                    with cupy.cuda.Device(number):
                        made = nccl.NcclCommunicator(len(devices), unique_id, first + i)
                        communicators.append(made)
        except BaseException:
            abort_all(communicators)
            raise
        return Team(nccl, cupy, numbers, communicators)

    def allreduce(
        self, names: Sequence[str], values: Sequence[Sequence[NDArray]], what: str
    ) -> None:
        """Replace arrays by their sums over all devices of all ranks.

        Args:
            names: Names of the arrays, the same on all ranks, in the order of use.
            values: For each name supported arrays, see `can_sum`.
            what: The purpose, for messages, such as ``"push of"``.
        """
        arrays_of = dict(zip(names, values, strict=True))
        named = [NamedArray(n, xs[0], self.labels.get(n, "")) for n, xs in arrays_of.items()]
        purpose = Purpose.of(what, named[0])
        for bucket in buckets(named, bucket_nbytes()):
            lists = [arrays_of[x.name] for x in bucket]
            team = self._teams[tuple(x.context for x in lists[0])]
            assert team is not None, "the arrays are supported"
            act = partial(sum_in_place, self._nccl, team, lists)
            lane = lists[0][0]._device.priority_lane
            self._ranks.exchange(purpose, bucket, act, [x for xs in lists for x in xs], lane)


def _identity(value: NDArray) -> str:
    """Return a globally unique id of a GPU, as two ranks cannot share one."""
    runtime = value._device.xp.cuda.runtime
    return f"{socket.gethostname()} {runtime.deviceGetPCIBusId(value.context.device_id)}"
