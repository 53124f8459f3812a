"""Sums over GPUs with NCCL.

A process drives all its GPUs, each with a dedicated stream. The streams wait for the operations
that the engine ordered before the sum, and later operations wait for all streams.

One communicator spans all devices of all processes. MPI broadcasts its id, and ranks agree by MPI
on each sum before they launch it, as NCCL hangs if a rank is missing. Data is not copied to host
memory.

The launch order is the same on all ranks: that of the exchanges of a `Channel`.

A group of calls that fails may be launched in part: some devices then wait for others for ever. So
a `Team` aborts its communicators when a call of a group raises, and rejects later sums.
"""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Any, Protocol

from gluonish.core.context import Context
from gluonish.core.device import gpu_count
from gluonish.core.errors import DeviceError, OperatorError
from gluonish.core.loading import IMPORT_FAILURES
from gluonish.kernels.cupy import libraries
from gluonish.kernels.cupy.device import health_of
from gluonish.kernels.cupy.health import Mark
from gluonish.kernels.cupy.stream import HIGH_PRIORITY, DeviceStream
from gluonish.kvstore.device_sums import new_array, private_array, push_async
from gluonish.kvstore.distributed.pieces import NamedArray, Purpose, buckets
from gluonish.ndarray import NDArray

# NumPy's dtype names, and NCCL's constants.
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

_PATIENCE_S = 300.0  # for the launch of another thread; communicators of many GPUs take seconds


def _import_nccl() -> ModuleType:
    libraries.load("nccl")  # otherwise CuPy's module is empty, with a warning
    from cupy.cuda import nccl

    module: ModuleType = nccl
    return module


def find_nccl(load: Callable[[], ModuleType] = _import_nccl) -> ModuleType:
    """Return CuPy's NCCL module.

    Args:
        load: Function that imports the module.

    Raises:
        DeviceError: There is no CuPy, no GPU, or no NCCL library.
    """
    try:
        module = load()
    except IMPORT_FAILURES as error:
        raise DeviceError(f"nccl: expected CuPy with NCCL, got {error}") from error
    if not getattr(module, "available", True):
        raise DeviceError(
            "nccl: expected the NCCL library, got none that CuPy finds; see gluonish doctor"
        )
    if not gpu_count():
        raise DeviceError("nccl: expected a GPU, got none")
    return module


@contextmanager
def _group(nccl: Any) -> Iterator[None]:
    """Launch the NCCL calls of a ``with`` block together; the group ends even if one raises."""
    nccl.groupStart()
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):  # the error of the call comes first
            nccl.groupEnd()
        raise
    nccl.groupEnd()


class Team:
    """NCCL communicators of GPUs of this process, with a stream for each.

    Args:
        nccl: CuPy's NCCL module, or a stand-in.
        cupy: CuPy.
        devices: Numbers of the GPUs.
        communicators: A communicator for each GPU.
    """

    def __init__(
        self, nccl: Any, cupy: Any, devices: tuple[int, ...], communicators: Sequence[Any]
    ) -> None:
        self._nccl, self._cupy = nccl, cupy
        self.communicators = communicators
        self.failed = False
        self.streams = [
            DeviceStream(cupy, cupy.cuda.Device(number), health_of(number), priority=HIGH_PRIORITY)
            for number in devices
        ]

    def run(self, launch: Callable[[], None]) -> None:
        """Launch collectives on the streams as one group, ordered with the current stream.

        Raises:
            OperatorError: An earlier sum failed, and the communicators were aborted.
            Exception: The error of a call, or one that NCCL reported since the last sum. The
                communicators are aborted.
        """
        if self.failed:
            raise OperatorError(
                "nccl: expected working communicators, got some that were aborted after an earlier "
                "failure of a sum; see the first error, and start the training again"
            )
        try:
            for communicator in self.communicators:
                communicator.check_async_error()
            self._run(launch)
        except BaseException:
            self._abort()
            raise

    def _run(self, launch: Callable[[], None]) -> None:
        cupy = self._cupy
        current = cupy.cuda.get_current_stream()
        ready = cupy.cuda.Event(disable_timing=True)
        ready.record(current)
        for stream in self.streams:
            stream.wait_event(Mark(ready, 0))
        with _group(self._nccl):
            launch()
        for stream in self.streams:
            current.wait_event(stream.record().event)

    def _abort(self) -> None:
        self.failed = True
        _abort_all(self.communicators)


def _abort_all(communicators: Sequence[Any]) -> None:
    """Abort communicators, so that nothing waits for other devices forever."""
    for communicator in communicators:
        with contextlib.suppress(Exception):  # all are to be aborted
            communicator.abort()


def nccl_dtype(nccl: Any, x: NDArray) -> int:
    """Return NCCL's constant for an array's dtype."""
    number: int = getattr(nccl, _DTYPES[x.dtype.__name__])
    return number


def fits(values: Sequence[NDArray]) -> bool:
    """Whether arrays are dense, contiguous, on different GPUs, and of dtypes that NCCL supports."""
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
        self, values: Sequence[NDArray], context: Context, priority: int, *, private: bool = False
    ) -> NDArray:
        """Return the sum as a new array on one of the GPUs.

        Args:
            values: Supported arrays, see `supports`.
            context: GPU of the sum.
            priority: Operations of higher priority run first.
            private: As in `gluonish.kvstore.device_sums.sum_arrays`.
        """
        out = private_array(values[0], context) if private else new_array(values[0], context)
        root = [value.context for value in values].index(context)
        push_async(
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
        """Launch the sum after the current stream's work; later work there waits for the sum."""
        cupy, nccl = out._device.xp, self._nccl
        devices = tuple(value.context.device_id for value in values)
        dtype = nccl_dtype(nccl, out)

        def sums() -> None:
            for value, comm, stream in zip(values, team.communicators, team.streams, strict=True):
                target = out if value.context == out.context else value
                comm.reduce(
                    *(value._data.data.ptr, target._data.data.ptr, out.size, dtype),
                    *(nccl.NCCL_SUM, root, stream.raw.ptr),
                )

        with self._launching():
            found = self._teams.get(devices)
            if found is None:
                communicators = nccl.NcclCommunicator.initAll(list(devices))
                found = self._teams[devices] = Team(nccl, cupy, devices, communicators)
            team = found
            team.run(sums)
        # The stream of ``out`` waits for the team's streams, and keeps the arrays alive.

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


_BUCKET_NBYTES = 25 << 20  # of arrays that one group of calls sums


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
            with _group(nccl):  # one thread joins several devices
                for i, number in enumerate(numbers):
                    with cupy.cuda.Device(number):
                        made = nccl.NcclCommunicator(len(devices), unique_id, first + i)
                        communicators.append(made)
        except BaseException:
            _abort_all(communicators)
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
        for bucket in buckets(named, _BUCKET_NBYTES):
            lists = [arrays_of[x.name] for x in bucket]
            team = self._teams[tuple(x.context for x in lists[0])]
            assert team is not None, "the arrays are supported"
            act = partial(self._launch, team, lists)
            lane = lists[0][0]._device.priority_lane
            self._ranks.exchange(purpose, bucket, act, [x for xs in lists for x in xs], lane)

    def _launch(self, team: Team, lists: Sequence[Sequence[NDArray]]) -> None:
        """Launch the sums of a bucket as one group."""
        nccl = self._nccl

        def sums() -> None:
            for arrays in lists:
                for x, comm, stream in zip(arrays, team.communicators, team.streams, strict=True):
                    pointer, dtype = x._data.data.ptr, nccl_dtype(nccl, x)
                    comm.allReduce(pointer, pointer, x.size, dtype, nccl.NCCL_SUM, stream.raw.ptr)

        team.run(sums)


def _identity(value: NDArray) -> str:
    """Return a globally unique id of a GPU, as two ranks cannot share one."""
    runtime = value._device.xp.cuda.runtime
    return f"{socket.gethostname()} {runtime.deviceGetPCIBusId(value.context.device_id)}"
