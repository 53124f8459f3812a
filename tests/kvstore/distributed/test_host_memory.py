"""Exchanges through the memory of one host give what messages give, and fail as well as these."""

from itertools import pairwise

import pytest

from gluonish.kvstore.distributed.host_memory import shard_edges
from tests.kvstore.distributed.jobs import run_job

pytestmark = pytest.mark.dist

EXCHANGES = """
import numpy as np
from gluonish.kvstore.distributed.channel import channel
from gluonish.kvstore.distributed.host_memory import HostMemory
from gluonish.kvstore.distributed.host_memory import Messages, shard_edges
world = channel().world
host, messages = channel()._transport, Messages(world)
assert isinstance(host, HostMemory)
rank, size = world.rank, world.size

def values(n, dtype, of):
    random = np.random.default_rng((n, of))
    return (random.standard_normal(n) * 100).astype(dtype)

for n in (0, 1, 5, 1000, 300_001, 3_000_000):
    for dtype in ("float32", "float64", "int32", "uint8"):
        every = [values(n, dtype, of) for of in range(size)]
        total = every[0].copy()
        for other in every[1:]:
            total += other
        thirds = [n * i // 3 for i in range(size)] + [n]
        for edges in (shard_edges(n, size), [0] * size + [n], thirds):
            first, last = edges[rank : rank + 2]
            x = every[rank].copy()
            host.allreduce(x)
            assert (x == total).all(), "in the order of the ranks"
            x, y = every[rank].copy(), every[rank].copy()
            host.reduce_scatter(x, edges)
            messages.reduce_scatter(y, edges)
            assert (x[first:last] == total[first:last]).all()
            assert (x[:first] == every[rank][:first]).all(), "as it was"
            assert (x[last:] == every[rank][last:]).all()
            np.testing.assert_allclose(y, x, rtol=1e-5, atol=1e-4)
            for transport in (host, messages):
                z = np.zeros_like(total)
                z[first:last] = total[first:last]
                transport.all_gather(z, edges)
                assert (z == total).all()
        for transport in (host, messages):
            z = every[rank].copy()
            transport.broadcast(z)
            assert (z == every[0]).all()
            z = every[rank].copy()
            transport.allreduce(z)
            np.testing.assert_allclose(z, total, rtol=1e-5, atol=1e-4)
print("good")
"""


@pytest.mark.parametrize("ranks", [2, 3])
def test_sums_and_copies_are_those_of_messages(ranks: int) -> None:
    job = run_job(ranks, EXCHANGES)
    assert (job.status, job.errors, job.lines) == (0, "", ["good"] * ranks)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 1000, 100_000])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shares_cover_an_array(size: int, count: int) -> None:
    edges = shard_edges(size, count)
    assert len(edges) == count + 1
    assert (edges[0], edges[-1]) == (0, size)
    assert edges == sorted(edges)
    assert max(b - a for a, b in pairwise(edges)) <= size / count + 64


HALF_WAY = """
import os
import signal
import sys
import time
import numpy as np
from gluonish.kvstore.distributed.channel import channel
host = channel()._host
rank = host._world.rank
x = np.ones(8_000_000, np.float32)
host.allreduce(x)
if os.path.exists("/proc/self/maps"):
    maps = [line.strip() for line in open("/proc/self/maps") if "/shm" in line]
    # MPICH removes its first one when it ends.
    named = [x for x in maps if not x.endswith("(deleted)") and "mpich_shm_" not in x]
    assert not named, "its files are gone before anything can go wrong"
print("here", flush=True)

def at_the_third():
    if host._step == steps + 3:
        if sys.argv[1] == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(1000)
    meet()

if rank == 1:
    meet, steps, host._sync = host._sync, host._step, at_the_third
host.allreduce(x)
"""


@pytest.mark.parametrize("kind", ["killed", "stuck"])
def test_a_rank_that_ends_in_an_exchange_ends_the_job_and_leaves_no_memory(kind: str) -> None:
    job = run_job(2, HALF_WAY, kind, timeout=30, GLUONISH_DISTRIBUTED_TIMEOUT="1.5")
    assert job.status != 0
    assert job.lines.count("here") == 2
    if kind == "stuck":
        assert "continue an exchange within 1.5 s, got nothing from rank 1 (" in job.errors
