"""A trace as the profiler writes it, with known times, for the tests of what reads it."""

import json
from pathlib import Path
from typing import Any

START_US = 1_700_000_000_000_000.0


def metadata(kind: str, pid: int, tid: int | None = None, **args: Any) -> dict[str, Any]:
    row = {} if tid is None else {"tid": tid}
    return {"ph": "M", "name": kind, "pid": pid, **row, "args": args}


def span(
    name: str, category: str, place: tuple[int, int], start: float, time: float, **args: Any
) -> dict[str, Any]:
    pid, tid = place
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "ts": START_US + start,
        "dur": time,
        "pid": pid,
        "tid": tid,
        "args": args,
    }


def held(device: str, pid: int, at: float, nbytes: int) -> dict[str, Any]:
    return {
        "name": f"Memory: {device}",
        "cat": "Device Storage",
        "ph": "C",
        "ts": START_US + at,
        "pid": pid,
        "tid": 0,
        "args": {"bytes": nbytes},
    }


FIRST, SECOND, PROGRAM = (1, 11), (2, 21), (3, 31)


def names() -> list[dict[str, Any]]:
    processes = {1: "cpu/0", 2: "cpu/1", 3: "python"}
    rows = {FIRST: "compute worker 1", SECOND: "compute worker 1", PROGRAM: "MainThread"}
    events = [metadata("process_name", pid, name=name) for pid, name in processes.items()]
    events += [metadata("process_sort_index", pid, sort_index=pid % 3) for pid in processes]
    return events + [metadata("thread_name", *place, name=name) for place, name in rows.items()]


def arrays(shape: list[int], nbytes: int) -> dict[str, Any]:
    return {
        "shapes": {"in": [shape], "out": [shape]},
        "dtypes": {"in": ["float32"], "out": ["float32"]},
        "bytes": {"in": nbytes, "out": nbytes},
    }


def events() -> list[dict[str, Any]]:
    """Two devices: one with a segment of three operators, the other with one, that overlap."""
    return [
        *names(),
        span("net", "block", PROGRAM, 0, 400),
        span("net", "push", PROGRAM, 50, 50, call=1),
        span("wait_all", "wait", PROGRAM, 500, 500),
        span("net0", "segment", FIRST, 100, 700, call=1, steps=3),
        span("Convolution", "operator", FIRST, 100, 400, node="conv0", **arrays([8, 3], 96)),
        span("relu", "operator", FIRST, 500, 100, node="relu0", **arrays([8, 3], 96)),
        span("Convolution", "operator", FIRST, 600, 200, node="conv1", **arrays([8, 3], 96)),
        span("dot</script>", "operator", SECOND, 700, 200, call=2, **arrays([2, 2], 16)),
        held("cpu/0", 1, 100, 1_000_000),
        held("cpu/0", 1, 300, 2_500_000),
        held("cpu/0", 1, 900, 500_000),
    ]


def write(path: Path, content: list[dict[str, Any]], dropped: int = 0) -> Path:
    path.write_text(json.dumps({"traceEvents": content, "otherData": {"dropped": dropped}}))
    return path
