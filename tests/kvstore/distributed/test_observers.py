"""Exchanges and requests, as those who watch are told of them."""

import json

import pytest

from gluonish.kvstore.distributed.observers import names_of, nbytes_of
from tests.kvstore.distributed.jobs import run_job

WATCHED = """
import json, sys, time
import gluonish as mx
from gluonish import nd
from gluonish.kvstore.distributed import observers
store = mx.kv.create(sys.argv[1])
told = []
observers.observers.append(told.append)
store.init("a", nd.ones((1000,)))
if store.rank == 1:
    time.sleep(1)
store.push("a", nd.ones((1000,)))
out = nd.zeros((1000,))
store.pull("a", out)
out.wait_to_read()
store.barrier()
nd.waitall()
found = [
    [x.kind, x.what, x.names, x.nbytes, x.ready_ns - x.start_ns, x.stop_ns - x.ready_ns]
    for x in told
]
print(json.dumps([store.rank, found]))
"""


def watched(kind: str) -> list[list[list[object]]]:
    job = run_job(2, WATCHED, kind)
    assert (job.status, job.errors) == (0, "")
    return [found for _, found in map(json.loads, job.lines)]


@pytest.mark.dist
def test_waiting_for_a_late_rank_is_told_apart_from_the_exchange() -> None:
    pushes = []
    for found in watched("dist_sync"):
        assert [x[1] for x in found] == ["init of 'a'", "push of 'a'", "a barrier"]
        assert found[1][:1] + found[1][2:4] == ["exchange", ["'a'"], 4000]
        pushes.append([float(str(x)) for x in found[1][4:]])
    (first_waited, first_took), (late_waited, late_took) = pushes
    assert first_waited > 10 * late_waited
    assert first_waited > 10 * max(first_took, late_took) > 0


@pytest.mark.dist
def test_requests_and_answers_of_servers_are_told() -> None:
    both = watched("dist_async")
    asked = [x for found in both for x in found if x[0] == "request" and "push" in str(x[1])]
    assert [(x[2], x[3]) for x in asked] == [(["'a'"], 4000)] * 2
    answered = [x for found in both for x in found if x[0] == "answer"]
    pulls = [x for x in answered if str(x[1]).startswith("pull of rank")]
    assert [(x[2], x[3]) for x in pulls] == [(["'a'"], 4000)] * 2


def test_bytes_of_arrays_are_counted_however_deep() -> None:
    class Held:
        nbytes = 12

    assert nbytes_of([{"a": Held(), "b": (Held(), "text", None)}, 7]) == 24
    assert names_of(({"a": 1, 2: 3}, None)) == ["'a'", "2"]
    assert names_of("command") == []
