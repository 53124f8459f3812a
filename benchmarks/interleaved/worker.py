"""A peer's process: makes one job, and runs it as often as it is told to.

    python -m benchmarks.interleaved.worker '{"module": .., "job": .., "options": {}, "threads": 2}'

Commands come as JSON, one a line, on standard input; each is answered by one line of JSON on what
was standard output (what a library prints goes to standard error). A job is a class with `start`
(from hybridize or compile to the first result), `run(count)` and `check()` (what must be alike in
all peers), `versions`, and `flops` where it knows the operations of a run; one that does several
things in turn has `select(**options)`, too. NumPy and the standard
library only, beside the job's own module.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

_WARM_BELOW_S = 0.1  # a job this short runs once untimed when its turn comes


def _resident_mb(field: str) -> float:
    """Resident memory of this process in MB of 10^6 bytes: ``VmRSS`` now, ``VmHWM`` at its peak."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def _make(request: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Make the job and run it for the first time."""
    if hasattr(os, "sched_setaffinity"):
        cpus = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cpus[: request["threads"]])
    module = importlib.import_module(f"benchmarks.interleaved.{request['module']}")
    if "package" in request["options"]:
        importlib.import_module(request["options"]["package"])
    base_mb = _resident_mb("VmRSS")
    job = getattr(module, request["job"])(threads=request["threads"], **request["options"])
    begin = time.perf_counter()
    job.start()
    start_s = time.perf_counter() - begin
    flops = getattr(job, "flops", 0)
    reply = {"start_s": start_s, "versions": job.versions, "flops": flops, "base_mb": base_mb}
    return job, reply


def _run(job: Any, count: int, step_s: float) -> dict[str, Any]:
    if step_s < _WARM_BELOW_S:
        job.run(1)
    begin = time.perf_counter()
    job.run(count)
    return {"seconds": time.perf_counter() - begin, "peak_mb": _resident_mb("VmHWM")}


def _answer(job: Any, command: dict[str, Any]) -> dict[str, Any]:
    if command["command"] == "run":
        return _run(job, command["count"], command["step_s"])
    if command["command"] == "check":
        np.save(command["path"], np.asarray(job.check(), np.float32))
        return {}
    if command["command"] == "select":
        job.select(**command["options"])
        return {}
    raise ValueError(f"worker: expected command run, check or select, got {command['command']}")


def _failure(error: Exception) -> str:
    return json.dumps({"error": f"{type(error).__name__}: {error}"[:400]})


def main() -> None:
    """Answer commands until standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    try:
        job, reply = _make(json.loads(sys.argv[1]))
        print(json.dumps(reply), file=replies)
    except Exception as error:
        print(_failure(error), file=replies)
        raise
    for line in sys.stdin:
        try:
            answer = json.dumps(_answer(job, json.loads(line)))
        except Exception as error:
            answer = _failure(error)
        print(answer, file=replies)


if __name__ == "__main__":
    main()
