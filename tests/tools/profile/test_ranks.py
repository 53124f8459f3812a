"""Traces of several ranks: what the page, the sums and the advice say of communication."""

from pathlib import Path
from typing import Any

import pytest

from gluonish.tools.profile.advice import advice
from gluonish.tools.profile.page import page
from gluonish.tools.profile.summary import Summary, summarize
from gluonish.tools.profile.trace import Trace, read_trace
from tests.tools.profile import traces
from tests.tools.profile.traces import metadata, span

# Rank 1 comes 300 us later than rank 0 to an exchange that takes 200 us, half of it behind compute.
COMES_US, TRANSFER_US = {0: 100.0, 1: 400.0}, 200.0


def of_rank(rank: int) -> list[dict[str, Any]]:
    first, came, met = 10 * rank, COMES_US[rank], max(COMES_US.values())
    device, others = (first + 1, 100 * rank + 11), (first + 2, 100 * rank + 21)
    program = (first + 3, 100 * rank + 31)
    rows = {device: "compute worker 1", others: "with other ranks", program: "MainThread"}
    processes = ("cpu/0", "communication", "python")
    events = [
        metadata("process_name", first + i, name=f"rank {rank}: {name}")
        for i, name in enumerate(processes, 1)
    ]
    events += [metadata("thread_name", *place, name=name) for place, name in rows.items()]
    whole = met + TRANSFER_US - came
    told = {"keys": ["'a'"], "bytes": 4000, "waiting_us": met - came, "transfer_us": TRANSFER_US}
    return [
        *events,
        span("dot", "operator", device, met, TRANSFER_US / 2),
        span("end", "operator", device, 999, 1),
        span("push of 'a'", "communication", others, came, whole, **told),
        span("waiting for ranks", "part of communication", others, came, met - came),
        span("transfer", "part of communication", others, met, TRANSFER_US),
        span("wait", "wait", program, came, 100.0),
        span("start", "push", program, 0, 1),
    ]


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    events = [*of_rank(1), *of_rank(0)]
    return read_trace(traces.write(tmp_path / "a.json", events))


@pytest.fixture
def summary(trace: Trace) -> Summary:
    return summarize(trace)


def test_rows_stand_by_rank_with_the_program_last(trace: Trace) -> None:
    own = ("cpu/0", "communication", "python")
    assert [row.process for row in trace.rows] == [f"rank {r}: {x}" for r in (0, 1) for x in own]
    assert [row.rank for row in trace.rows] == [0, 0, 0, 1, 1, 1]
    assert [row.is_device for row in trace.rows] == [True, False, False] * 2


def test_waiting_is_counted_apart_from_transfer(summary: Summary) -> None:
    first, second = summary.communication
    assert first == (0, 1, 4000, 300.0, 200.0, pytest.approx(0.5))
    assert second == (1, 1, 4000, 0.0, 200.0, pytest.approx(0.5))


def test_exchanges_are_neither_devices_nor_operators(summary: Summary) -> None:
    assert [device.name for device in summary.devices] == ["rank 0: cpu/0", "rank 1: cpu/0"]
    assert {operator.name for operator in summary.operators} == {"dot", "end"}


def test_waiting_of_the_program_is_that_of_a_rank_on_average(summary: Summary) -> None:
    assert (summary.waits, summary.wait_us) == (2, 100.0)


def test_a_rank_that_others_wait_for_is_named(trace: Trace, summary: Summary) -> None:
    (late,) = [x for x in advice(trace, summary) if "slow one" in x]
    assert late.startswith("Rank 0 waited for other ranks for 30.0 % of the time, rank 1 for 0.0 %")
    assert "rank 1 is the slow one" in late


def test_transfer_behind_nothing_is_told(trace: Trace, summary: Summary) -> None:
    slow = [found._replace(hidden=0.0) for found in summary.communication]
    told = advice(trace, summary._replace(communication=slow))
    (exposed,) = [x for x in told if "while no device computed" in x]
    assert exposed.startswith("Rank 0 spent 20.0 % of the time")
    assert not [x for x in advice(trace, summary) if "while no device computed" in x]


def test_the_page_has_a_table_of_ranks(trace: Trace, summary: Summary) -> None:
    text = page("x.py", trace, summary, [])
    assert "Communication between ranks" in text
    assert '<th scope="row">rank&nbsp;0</th><td>1</td><td>4 kB</td><td>300' in text
    alone = page("x.py", trace, summary._replace(communication=[]), [])
    assert "Communication between ranks" not in alone
