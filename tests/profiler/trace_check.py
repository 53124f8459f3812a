"""Whether a trace is as it should be: for every test that writes one."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

Event = dict[str, Any]


def start_ns(event: Event) -> int:
    return round(event["ts"] * 1000)


def stop_ns(event: Event) -> int:
    return round((event["ts"] + event["dur"]) * 1000)


def checked_trace(path: Path) -> list[Event]:
    """Return the events of a trace without metadata, after looking at rows, spans and arrows."""
    events = json.loads(path.read_text())["traceEvents"]
    rest = [event for event in events if event["ph"] != "M"]
    _check_names(events)
    _check_spans([event for event in rest if event["ph"] == "X"])
    _check_arrows(rest)
    for event in rest:
        assert event["ts"] >= 0, event
        assert {"name", "cat", "ts", "pid", "tid"} <= event.keys(), event
    return rest


def process_names(path: Path) -> dict[int, str]:
    """Return the names of processes by number."""
    events = json.loads(path.read_text())["traceEvents"]
    return {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}


def row_names(path: Path) -> dict[tuple[str, int], str]:
    """Return the names of rows by process and number."""
    processes = process_names(path)
    events = json.loads(path.read_text())["traceEvents"]
    return {
        (processes[e["pid"]], e["tid"]): e["args"]["name"]
        for e in events
        if e["name"] == "thread_name"
    }


def _check_names(events: list[Event]) -> None:
    """Each process and row that is used has one name, and no two rows of a process have one."""
    processes = [e["pid"] for e in events if e["name"] == "process_name"]
    rows = [(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"]
    assert len(processes) == len(set(processes))
    assert len(rows) == len(set(rows))
    assert {e["pid"] for e in events} == set(processes)
    used = {(e["pid"], e["tid"]) for e in events if e["ph"] not in "MC"}
    assert used == set(rows)
    assert len({tid for _, tid in rows}) == len(rows)


def _check_spans(spans: list[Event]) -> None:
    """Spans of one row nest: a span that begins inside another ends inside it."""
    rows = defaultdict(list)
    for event in spans:
        assert event["dur"] >= 0, event
        rows[event["pid"], event["tid"]].append(event)
    for row in rows.values():
        row.sort(key=lambda e: (start_ns(e), -stop_ns(e)))
        around: list[Event] = []
        for event in row:
            while around and stop_ns(around[-1]) <= start_ns(event):
                around.pop()
            assert not around or stop_ns(event) <= stop_ns(around[-1]), (event, around[-1])
            around.append(event)


def _check_arrows(events: list[Event]) -> None:
    """Each arrow leads from the push of a job to its run, and each job has one."""
    ends = {
        letter: {e["id"]: e for e in events if e["ph"] == letter and e["cat"] == "flow"}
        for letter in "sf"
    }
    assert sum(e["cat"] == "flow" for e in events) == 2 * len(ends["s"])
    jobs = {}
    for event in events:
        args = event.get("args", {})
        if event["cat"] in ("exchange", "operator", "segment") and "node" not in args:
            assert args["call"] not in jobs, event
            jobs[args["call"]] = event
    pushes = {e["args"]["call"]: e for e in events if e["cat"] == "push"}
    assert jobs.keys() == pushes.keys() == ends["s"].keys() == ends["f"].keys()
    for call, job in jobs.items():
        begin, end = ends["s"][call], ends["f"][call]
        assert begin["ts"] <= end["ts"]
        for arrow, span in ((begin, pushes[call]), (end, job)):
            assert (arrow["pid"], arrow["tid"], arrow["ts"]) == (
                span["pid"],
                span["tid"],
                span["ts"],
            )
