"""NCCLReduction: sums over the GPUs of this process with NCCL, in buckets.

Arrays of a store are summed in groups of calls, which NCCL launches together: one for each bucket
of about ``GLUONISH_KVSTORE_BUCKET_MB``. A bucket is one operation of the engine, which runs as soon
as the gradients in it are written.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from gluonish.core.context import Context
from gluonish.core.errors import DeviceError, OperatorError
from gluonish.engine import current_engine
from gluonish.kvstore.device_sums import after_compute, private_array
from gluonish.kvstore.distributed.pieces import NamedArray, buckets
from gluonish.kvstore.nccl_team import (
    Team,
    bucket_nbytes,
    find_nccl,
    fits,
    nccl_dtype,
    sum_in_place,
)
from gluonish.ndarray import NDArray
from gluonish_engine import Var

_PATIENCE_S = 300.0  # for the launch of another thread; communicators of many GPUs take seconds


class NCCLReduction:
    """Sums dense arrays of several GPUs.

    Args:
        nccl: CuPy's NCCL module, or a stand-in.
    """

    def __init__(self, nccl: Any) -> None:
        self._nccl = nccl
        self._teams: dict[tuple[int, ...], Team] = {}
        # NCCL forbids two threads to make communicators, or to launch on them, at once.
        self._launch_lock = threading.RLock()
        self._is_launching = False

    def supports(self, values: Sequence[NDArray], context: Context) -> bool:
        """Whether arrays can be summed on a GPU; see `fits`."""
        return len(values) > 1 and context in [x.context for x in values] and fits(values)

    def reduce(
        self, lists: Sequence[Sequence[NDArray]], context: Context, priority: int
    ) -> list[NDArray]:
        """Return the sum of each list as a new array on one of the GPUs, for the store only.

        Args:
            lists: Supported arrays, see `supports`.
            context: GPU of the sums.
            priority: Operations of higher priority run first.

        Raises:
            OutOfMemoryError: There is not enough memory.
        """
        outs = [private_array(values[0], context) for values in lists]
        for bucket in buckets_of(lists):
            members = [(lists[i], outs[i]) for i in bucket]
            root = [value.context for value in members[0][0]].index(context)
            launch = partial(self._launch, members[0][0], partial(self._reduce, members, root))
            reads = [value._var for values, _ in members for value in values]
            writes = [out._var for _, out in members]
            _push(launch, reads, writes, outs[0], priority)
        return outs

    def allreduce(self, lists: Sequence[Sequence[NDArray]], priority: int) -> None:
        """Replace the arrays of each list by their sum.

        Args:
            lists: Arrays that `fits` accepts.
            priority: Operations of higher priority run first.
        """
        for bucket in buckets_of(lists):
            members = [lists[i] for i in bucket]
            launch = partial(
                self._launch, members[0], partial(sum_in_place, self._nccl, lists=members)
            )
            arrays = [value for values in members for value in values]
            _push(launch, after_compute(arrays), [x._var for x in arrays], members[0][0], priority)

    def broadcast(
        self, sources: Sequence[NDArray], lists: Sequence[Sequence[NDArray]], priority: int
    ) -> None:
        """Copy each source into the arrays of a list, which are unchanged if the source failed.

        Args:
            sources: Arrays on one of the GPUs.
            lists: For each source arrays of its shape and dtype that `supports` accepts.
            priority: Operations of higher priority run first.
        """
        for bucket in buckets_of(lists):
            members = [(sources[i], lists[i]) for i in bucket]
            targets = [target for _, values in members for target in values]
            context = members[0][0].context
            root = [target.context for target in members[0][1]].index(context)
            launch = partial(self._launch, members[0][1], partial(self._spread, members, root))
            writes = [target._var for target in targets]
            reads = [*(source._var for source, _ in members), *writes, *after_compute(targets)]
            _push(launch, reads, writes, members[0][0], priority)

    def _reduce(
        self, members: Sequence[tuple[Sequence[NDArray], NDArray]], root: int, team: Team
    ) -> None:
        nccl = self._nccl

        def sums() -> None:
            for i, value, comm, stream in team.places([values for values, _ in members]):
                out = members[i][1]
                target = out if value.context == out.context else value
                comm.reduce(
                    *(value._data.data.ptr, target._data.data.ptr, out.size),
                    *(nccl_dtype(nccl, out), nccl.NCCL_SUM, root, stream),
                )

        team.run(sums)

    def _spread(
        self, members: Sequence[tuple[NDArray, Sequence[NDArray]]], root: int, team: Team
    ) -> None:
        nccl = self._nccl

        def copies() -> None:
            for i, target, comm, stream in team.places([targets for _, targets in members]):
                source = members[i][0]
                origin = source if target.context == source.context else target
                comm.broadcast(
                    *(origin._data.data.ptr, target._data.data.ptr, target.size),
                    *(nccl_dtype(nccl, target), root, stream),
                )

        team.run(copies)

    def _launch(self, values: Sequence[NDArray], launch: Callable[[Team], None]) -> None:
        """Launch a group after the current stream's work; later work there waits for the group.

        The current stream keeps the arrays alive.

        Args:
            values: An array on each device.
            launch: Launches the group on the communicators of the devices.
        """
        with self._launching():
            launch(self._team_of(values))

    def join(self, values: Sequence[NDArray]) -> None:
        """Make the communicators of the arrays' devices, unless they are made.

        Raises:
            Exception: NCCL cannot make them.
        """
        with self._launching():
            self._team_of(values)

    def _team_of(self, values: Sequence[NDArray]) -> Team:
        devices = tuple(value.context.device_id for value in values)
        found = self._teams.get(devices)
        if found is None:
            communicators = self._nccl.NcclCommunicator.initAll(list(devices))
            found = Team(self._nccl, values[0]._device.xp, devices, communicators)
            self._teams[devices] = found
        return found

    @contextmanager
    def _launching(self) -> Iterator[None]:
        """Let only one thread at a time launch sums.

        Raises:
            OperatorError: A signal handler or a destructor interrupted a launch in this thread, or
                the launch of another thread does not end.
        """
        if not self._launch_lock.acquire(timeout=_PATIENCE_S):
            raise OperatorError(
                f"nccl: expected the sum that another thread launches to be launched within "
                f"{_PATIENCE_S:g} s, got one that still is not; look for a signal handler that "
                "interrupted it and waits"
            )
        try:
            if self._is_launching:
                raise OperatorError(
                    "nccl: expected no other sum while one is launched, got one from a signal "
                    "handler or a destructor; let the handler only set a flag"
                )
            self._is_launching = True
            try:
                yield
            finally:
                self._is_launching = False
        finally:
            self._launch_lock.release()


def find_reduction() -> NCCLReduction | None:
    """Return a reduction; None without NCCL, or if buckets are switched off."""
    try:
        return NCCLReduction(find_nccl()) if bucket_nbytes() else None
    except DeviceError:
        return None


def _push(
    launch: Callable[[], None],
    reads: Sequence[Var],
    writes: Sequence[Var],
    at: NDArray,
    priority: int,
) -> None:
    """Push a bucket to the stream for stores of an array's device."""
    lane = at._device.priority_lane
    current_engine().push(launch, reads, writes, lane, priority, "kvstore_nccl")


def buckets_of(lists: Sequence[Sequence[NDArray]]) -> Iterator[list[int]]:
    """Yield the positions of the lists of each bucket, all on the same devices, in order."""
    by_devices: dict[tuple[Context, ...], list[NamedArray]] = {}
    for i, values in enumerate(lists):
        devices = tuple(value.context for value in values)
        by_devices.setdefault(devices, []).append(NamedArray(str(i), values[0]))
    for named in by_devices.values():
        for bucket in buckets(named, bucket_nbytes()):
            yield [int(x.name) for x in bucket]
