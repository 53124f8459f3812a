import re
from pathlib import Path
from typing import Any

import pytest

from gluonish.tools.profile.advice import advice
from gluonish.tools.profile.summary import summarize
from gluonish.tools.profile.trace import read_trace
from tests.tools.profile import traces
from tests.tools.profile.traces import FIRST, PROGRAM, SECOND, held, names, span

# A quiet run: two operators keep the device busy, and nothing waits.
BUSY = [
    span("a", "operator", FIRST, 0, 500),
    span("b", "operator", FIRST, 500, 500),
]


def said(folder: Path, *events: dict[str, Any], dropped: int = 0) -> list[str]:
    trace = read_trace(traces.write(folder / "a.json", [*names(), *events], dropped))
    return advice(trace, summarize(trace))


def test_nothing_is_said_of_a_busy_device(tmp_path: Path) -> None:
    assert said(tmp_path, *BUSY) == []


def test_a_run_without_operators_says_so(tmp_path: Path) -> None:
    block = span("net", "block", PROGRAM, 0, 10)
    assert said(tmp_path, block) == ["No operator ran while the profiler was running."]


REMARKS = {
    r"^cpu/0 was idle for 75\.0 % of the time": [span("net", "block", PROGRAM, 0, 4000)],
    r"^b failed in 1 of 2 runs\.$": [span("b", "operator", FIRST, 1000, 10, error="ValueError: x")],
    r"^cpu/0 and cpu/1 worked one after the other: they overlapped for 0\.0 %": [
        span("a", "operator", SECOND, 1000, 500)
    ],
    r"^The program waited for results 1 times, 78\.6 % of the time": [
        span("wait", "wait", PROGRAM, 300, 1100)
    ],
    r"^300 of 302 operators ran one by one, 8\.\d* µs|^302 of 302 operators ran one by one": [
        span("c", "operator", FIRST, 1000 + 6 * number, 5) for number in range(300)
    ],
    r"^c takes 66\.7 % of the time of all operators": [span("c", "operator", FIRST, 1000, 2000)],
    r"^One run of b took 200 ms of the 202 ms of all its runs, as when a kernel is comp": [
        span("b", "operator", FIRST, 1000, 200_000),
        *(span("b", "operator", FIRST, 201_000 + 500 * number, 500) for number in range(4)),
    ],
    r"^Memory of cpu/0 keeps growing, to 100 MB at the end": [
        held("cpu/0", 1, 10 * step, step * 1_000_000) for step in range(1, 101)
    ],
}


@pytest.mark.parametrize("pattern", REMARKS)
def test_what_stands_out_is_said(tmp_path: Path, pattern: str) -> None:
    sentences = said(tmp_path, *BUSY, *REMARKS[pattern])
    assert any(re.search(pattern, sentence) for sentence in sentences), sentences


def test_missing_events_are_told(tmp_path: Path) -> None:
    (sentence,) = said(tmp_path, *BUSY, dropped=1234)
    assert sentence.startswith("1,234 events are missing")


def test_waiting_for_a_busy_device_is_no_loss(tmp_path: Path) -> None:
    assert said(tmp_path, *BUSY, span("wait", "wait", PROGRAM, 0, 1000)) == []


def test_memory_that_comes_back_is_not_growing(tmp_path: Path) -> None:
    waves = [held("cpu/0", 1, 10 * step, (step % 7) * 20_000_000) for step in range(1, 101)]
    assert said(tmp_path, *BUSY, *waves) == []


def test_devices_that_overlap_are_not_remarked(tmp_path: Path) -> None:
    assert said(tmp_path, *BUSY, span("c", "operator", SECOND, 200, 700)) == []


@pytest.mark.parametrize("hybridized", [False, True])
def test_a_hybridized_program_is_not_told_to_hybridize(tmp_path: Path, hybridized: bool) -> None:
    """Both are idle for the most part, and call most operators one by one."""
    events = [span("mean", "operator", FIRST, 20 * i, 2) for i in range(400)]
    if hybridized:
        events += [span("net0", "segment", FIRST, 8000 + 20 * i, 4) for i in range(100)]
        events += [span("dot", "operator", FIRST, 8001 + 20 * i, 2) for i in range(100)]
    sentences = said(tmp_path, *events)
    assert any("idle" in sentence for sentence in sentences)
    assert any("ran one by one" in sentence for sentence in sentences)
    assert any("hybridize()" in sentence for sentence in sentences) == (not hybridized)
