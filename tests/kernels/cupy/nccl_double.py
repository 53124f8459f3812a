"""A double of NCCL for several processes, whose sums MPI brings round.

It holds what the library demands: the communicators of a job have the numbers 0 to N - 1 and one
name, all processes make the same calls in the same order, and each call has a stream of its device.
"""

import ctypes
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16
from tests.kernels.cupy.surface import ListedModule

_DTYPES = {7: np.float32, 6: np.float16, 8: np.float64, 2: np.int32, 9: BFLOAT16}


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
