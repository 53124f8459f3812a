"""What goes wrong on one rank ends the job with the right words; nothing hangs."""

import os
import signal
import time
import uuid

import pytest

from tests.kvstore.distributed.jobs import interrupt_job, left, run_job

pytestmark = pytest.mark.dist

FAULTS = """
import os, sys, time
import gluonish as mx
from gluonish import nd
from gluonish.kvstore.distributed import channel
kind = sys.argv[1]
if sys.argv[2:] == ["messages"]:  # as between hosts
    channel.__globals__["host_memory"] = lambda world: None
store = mx.kv.create("dist_sync")
rank = store.rank
store.init(["a", "b"], [nd.ones((3, 4)), nd.ones((2,))])
out = nd.zeros((3, 4))
for step in range(6):
    gradient = nd.ones((3, 4))
    if rank == 1 and step == 3:
        open(os.environ.get("GLUONISH_TEST_FAULT", os.devnull), "w").close()  # for its time
        if kind == "raises":
            raise ValueError("on purpose")
        if kind == "exits 0":
            sys.exit(0)
        if kind == "vanishes":
            os._exit(0)
        if kind == "is killed":
            os.kill(os.getpid(), 9)
        if kind == "sleeps":
            time.sleep(1000)
        if kind == "pushes another key":
            store.push("b", nd.ones((2,)))
        if kind == "pushes another shape":
            store._stored["a"] = gradient = nd.ones((5, 4))
        if kind == "fails in an operator":
            gradient = gradient * nd.take(gradient, nd.array([100]), mode="raise").sum()
    if kind == "waits" and step == 3:
        print("here", flush=True)
        time.sleep(1000)
    store.push("a", gradient)
    store.pull("a", out) if gradient.shape == out.shape else None
    nd.waitall()
if rank == 1 and kind == "runs one step more":
    store.push("a", nd.ones((3, 4)))
    nd.waitall()
print(rank, "is through")
"""
MORE = "each rank must run the same number of steps"


KINDS: dict[str, list[str]] = {
    "raises": ["rank 1", "ValueError: on purpose"],
    "exits 0": ["the end of the program on rank 1", MORE],
    "vanishes": ["launch: expected all ranks to end together", "of rank 0, 1"],
    "is killed": ["launch: expected all ranks to end together", "of rank 0, 1"],
    "sleeps": ["within 1.5 s", "rank 1 (", "last at push of 'a'"],
    "pushes another key": ["push of 'a', 1 arrays on rank 0", "push of 'b', 1 arrays on"],
    "pushes another shape": ["'a' float32(3, 4) on rank 0", "'a' float32(5, 4) on rank 1"],
    "fails in an operator": ["take: expected positions", "on rank 1"],
    "runs one step more": ["the end of the program on rank 0", MORE],
}


@pytest.mark.parametrize("transport", ["host memory", "messages"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_of_one_rank_ends_the_job(kind: str, transport: str) -> None:
    start = time.perf_counter()
    job = run_job(2, FAULTS, kind, transport, timeout=30, GLUONISH_DISTRIBUTED_TIMEOUT="1.5")
    assert job.status != 0
    assert time.perf_counter() - start < 15  # here others take the cores, too
    for word in KINDS[kind]:
        assert word in job.errors
    if kind != "runs one step more":
        assert job.lines == [line for line in job.lines if "is through" not in line]


def test_without_a_fault_it_ends_well() -> None:
    job = run_job(2, FAULTS, "none")
    assert (job.status, job.errors) == (0, "")
    assert job.lines == ["0 is through", "1 is through"]


def test_an_interrupt_of_the_launcher_ends_all_ranks() -> None:
    seconds, job = interrupt_job(2, FAULTS, "waits")
    assert job.status == 130
    assert seconds < 10


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_launcher_alone_ends_all_ranks(number: signal.Signals) -> None:
    mark = f"{os.getpid()}-{uuid.uuid4()}"
    seconds, job = interrupt_job(2, FAULTS, "waits", number=number, GLUONISH_TEST_JOB=mark)
    assert job.status == 128 + number
    assert seconds < 10
    assert left(mark) == 0
