"""A double of NCCL for several processes, whose sums MPI brings round.

It holds what the library demands: the communicators of a job have the numbers 0 to N - 1 and one
name, all processes make the same calls in the same order, and each call has a stream of its device.
"""

import ctypes
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import BFLOAT16
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.streams import Clock, merge
from tests.kernels.cupy.surface import ListedModule

_DTYPES = {0: np.int8, 7: np.float32, 6: np.float16, 8: np.float64, 2: np.int32, 9: BFLOAT16}


def make_nccl(comm: Any) -> Any:
    """Return a module like ``cupy.cuda.nccl``.

    Args:
        comm: A communicator of MPI for its own use.
    """
    made: list[Any] = []
    calls: list[tuple[Any, ...]] = []
    groups: list[int] = []  # how many sums each had

    class NcclCommunicator:
        def __init__(self, ndev: int, commId: bytes, rank: int, config: Any = None) -> None:
            assert len(commId) == 128, "the name of a job"
            self.facts = (ndev, commId, rank)
            made.append(self)

        def check_async_error(self) -> None:
            pass

        def abort(self) -> None:
            raise AssertionError("no call failed")

        def allReduce(
            self, sendbuf: int, recvbuf: int, count: int, datatype: int, op: int, stream: int
        ) -> None:
            assert sendbuf == recvbuf, "in place"
            assert op == 0, "a sum"
            calls.append((self.facts[2], sendbuf, count, datatype, stream))

    def get_unique_id() -> bytes:
        return bytes([comm.rank + 1]) * 128

    def groupStart() -> None:
        made.clear()
        calls.clear()

    def groupEnd() -> None:
        if made:
            joined = comm.allgather([one.facts for one in made])
            _check_members([facts for each in joined for facts in each])
            return
        _check_streams(calls)
        devices = list(dict.fromkeys(call[0] for call in calls))
        rounds = [calls[i : i + len(devices)] for i in range(0, len(calls), len(devices))]
        asked = comm.allgather([own[0][2:4] for own in rounds])
        assert all(other == asked[0] for other in asked), "the same calls in all processes"
        for own in rounds:
            assert [call[0] for call in own] == devices, "one array a device"
            _add_up(comm, own)
        groups.append(len(rounds))

    module: Any = ListedModule(
        "cuda.nccl",
        {
            **{f.__name__: f for f in (get_unique_id, groupStart, groupEnd)},
            "NcclCommunicator": NcclCommunicator,
        },
    )
    return module, groups


def _check_members(facts: list[tuple[int, bytes, int]]) -> None:
    assert len({name for _, name, _ in facts}) == 1, "one name"
    assert {count for count, _, _ in facts} == {len(facts)}
    assert sorted(number for _, _, number in facts) == list(range(len(facts)))


def _check_streams(calls: list[tuple[Any, ...]]) -> None:
    streams = {(number, stream) for number, *_, stream in calls}
    assert len(streams) == len({n for n, _ in streams}) == len({s for _, s in streams})


def _add_up(comm: Any, own: list[tuple[Any, ...]]) -> None:
    """Add up the arrays of one call on each device, in all processes."""
    count, dtype = own[0][2], np.dtype(_DTYPES[own[0][3]])
    nbytes = count * dtype.itemsize
    total = np.zeros(count, np.float64)
    for _, place, *_ in own:
        total += np.frombuffer(ctypes.string_at(place, nbytes), dtype).astype(np.float64)
    everything = sum(comm.allgather(total))
    result = np.asarray(everything).astype(dtype).tobytes()
    for _, place, *_ in own:
        ctypes.memmove(place, result, nbytes)


class LocalNCCL:
    """A double of NCCL for the GPUs of one machine, in one process; each group is one launch.

    A collective reads and writes on the streams that it is given, and each of them is ordered
    behind all others, so that the race detector sees it.

    Attributes:
        calls: The calls of each group: name, device, size and dtype.
        clocks: What the streams of each group knew when it began.
        aborted: Devices whose communicators were aborted.
    """

    NCCL_SUM = 0

    def __init__(self, machine: Machine) -> None:
        self.calls: list[list[tuple[str, int, int, int]]] = []
        self.clocks: list[Clock] = []
        self.aborted: list[int] = []
        self.open = False
        self.NcclCommunicator = SimpleNamespace(initAll=self.initAll)
        self._machine = machine
        self._pending: list[_Call] = []
        for name, number in _NUMBERS.items():
            setattr(self, name, number)

    @property
    def groups(self) -> int:
        """How many groups ended."""
        return len(self.calls)

    def initAll(self, devices: list[int]) -> list[Any]:  # the library's names from here on
        return [self._communicator(number) for number in devices]

    def _communicator(self, number: int) -> Any:
        return SimpleNamespace(
            allReduce=lambda send, recv, count, dtype, op, stream: self.add(
                _Call("allReduce", number, send, recv, count, dtype, None, stream)
            ),
            reduce=lambda send, recv, count, dtype, op, root, stream: self.add(
                _Call("reduce", number, send, recv, count, dtype, root, stream)
            ),
            broadcast=lambda send, recv, count, dtype, root, stream: self.add(
                _Call("broadcast", number, send, recv, count, dtype, root, stream)
            ),
            check_async_error=self.check_async_error,
            abort=lambda: self.aborted.append(number),
        )

    def add(self, call: "_Call") -> None:
        assert self.open, "one call for each device needs a group"
        self._pending.append(call)

    def check_async_error(self) -> None:
        """Report nothing."""

    def groupStart(self) -> None:
        assert not self.open, "one thread at a time"
        self.open, self._pending = True, []

    def groupEnd(self) -> None:
        self.open = False
        self.calls.append([(c.name, c.device, c.numbers, c.dtype) for c in self._pending])
        devices = list(dict.fromkeys(call.device for call in self._pending))
        if len(self._pending) % max(2, len(devices)):
            return  # a group that failed
        streams = {c.stream: self._stream(c) for c in self._pending}
        together: dict[str, int] = {}
        for stream in streams.values():
            merge(together, stream._clock)
        self.clocks.append(dict(together))
        for stream in streams.values():
            merge(stream._clock, together)
        for i in range(0, len(self._pending), len(devices)):
            own = self._pending[i : i + len(devices)]
            assert [call.device for call in own] == devices, "one array a device"
            self._collective(own, [streams[call.stream] for call in own])

    def _stream(self, call: "_Call") -> Any:
        stream = next(s for s in self._machine.streams if s.ptr == call.stream)
        assert stream.device_id == call.device, "a stream of the communicator's device"
        return stream

    def _collective(self, own: list["_Call"], streams: list[Any]) -> None:
        """Note what each device touches, and compute the result."""
        machine = self._machine
        (facts,) = {(c.name, c.numbers, c.dtype, c.root) for c in own}
        name, count, dtype, root = facts
        for call, stream in zip(own, streams, strict=True):
            writes = name != "reduce" or call is own[root or 0]
            used = [(machine._behind(call.send), False)]
            used += [(machine._behind(call.recv), True)] if writes else []
            machine.use(stream, used, f"nccl.{name}", counted=False)
        if not machine.executes:
            return
        kind = np.dtype(_DTYPES[dtype])
        nbytes = count * kind.itemsize
        values = [np.frombuffer(ctypes.string_at(c.send, nbytes), kind) for c in own]
        if name == "broadcast":
            total = values[root or 0]
        else:
            total = sum(x.astype(np.float64) for x in values).astype(kind)
        for call in own if name != "reduce" else own[root or 0 : (root or 0) + 1]:
            ctypes.memmove(call.recv, total.tobytes(), nbytes)


class _Call(NamedTuple):
    """A call of a communicator."""

    name: str
    device: int
    send: int
    recv: int
    numbers: int
    dtype: int
    root: int | None
    stream: int


_NUMBERS = {
    "NCCL_FLOAT16": 6,
    "NCCL_FLOAT32": 7,
    "NCCL_FLOAT64": 8,
    "NCCL_BFLOAT16": 9,
    "NCCL_INT32": 2,
    "NCCL_INT8": 0,
}
