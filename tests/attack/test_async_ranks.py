"""Ranks of a dist_async store that hang, stop or vanish: the others end, and name them."""

import time
import uuid

import pytest

from tests.kvstore.distributed.jobs import left, run_job

pytestmark = pytest.mark.slow

PROGRAM = """
import ctypes, os, signal, sys, time
import gluonish as mx
from gluonish import nd
kind, victim = sys.argv[1], int(sys.argv[2])
store = mx.kv.create("dist_async")
store.set_optimizer(mx.optimizer.SGD(learning_rate=0.1))
keys = [f"k{i}" for i in range(6)]  # of both servers
store.init(keys, [nd.ones(50) for _ in keys])
outs = [nd.zeros(50) for _ in keys]
for step in range(40):
    if store.rank == victim and step == 20:
        if kind == "sleeps":
            time.sleep(1000)
        if kind == "stops":
            os.kill(os.getpid(), signal.SIGSTOP)
        if kind == "holds the GIL":
            ctypes.PyDLL(None).sleep(1000)
        if kind == "is killed":
            os.kill(os.getpid(), 9)
        if kind == "ends":
            sys.exit(0)
        if kind == "vanishes":
            os._exit(0)
        if kind == "raises":
            raise ValueError("on purpose")
    store.push(keys, [nd.ones(50) for _ in keys])
    store.pull(keys, outs)
    outs[0].wait_to_read()
store.barrier()
print("through")
"""
SAID = {
    "sleeps": "got none of rank {victim} (",
    "stops": "a reply of the server within 2 s, got none of rank {victim} (",
    "holds the GIL": "a reply of the server within 2 s, got none of rank {victim} (",
    "is killed": "launch: rank {victim} was ended by SIGKILL",
    "ends": "the end of the program on rank {victim}",
    "vanishes": "launch: expected all ranks to end together",
    "raises": "ValueError: on purpose",
}


@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize("kind", SAID)
def test_a_fault_of_one_rank_ends_the_job(kind: str, victim: int) -> None:
    mark, start = str(uuid.uuid4()), time.perf_counter()
    job = run_job(
        *(2, PROGRAM, kind, str(victim)), GLUONISH_DISTRIBUTED_TIMEOUT="2", GLUONISH_MARK=mark
    )
    assert job.status != 0
    assert "through" not in job.lines
    assert SAID[kind].format(victim=victim) in job.errors
    assert time.perf_counter() - start < 40
    assert left(mark) == 0
