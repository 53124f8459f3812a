"""What steps of whole networks cost on a modelled H200: cost_ceilings.json has the most.

Each row of `cost_model.rows` runs a few steps with CUDA graphs on a machine that executes nothing,
and the last step is held to its launches, kernels, graphs, submissions, calls of Python, bytes,
modelled time and peak of memory. ``python -m tests.kernels.cupy.cost_ceilings [NAME ...]`` writes
the table anew, after what a step costs was changed on purpose.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.kernels.cupy.cost_model.rows import ROWS

_PATH = Path(__file__).resolve().parent / "cost_ceilings.json"
_ROOT = _PATH.parents[3]
_LIMIT_S = 240
CEILINGS: dict[str, dict[str, float]] = (
    json.loads(_PATH.read_text(encoding="utf-8")) if _PATH.exists() else {}
)
# What is held, and how far below its ceiling a figure may lie before the ceiling is lowered.
FIGURES = {
    "launches": 0.02,
    "kernels": 0.02,
    "graphs": 0.0,
    "submissions": 0.02,
    "waits": 0.0,  # of the host; none in any row
    "calls": 0.3,  # newer Pythons call comprehensions no more
    "bytes": 0.02,
    "device_ms": 0.05,
    "step_ms": 0.3,  # of the host, where the device waits for it
    "peak": 0.05,
}


def measured(name: str) -> dict[str, float]:
    """Return the figures of a row as it is now, from a process of its own."""
    command = [sys.executable, "-m", "tests.kernels.cupy.cost_model.rows", name, "--graphs"]
    done = subprocess.run(
        command, cwd=_ROOT, capture_output=True, text=True, check=False, timeout=_LIMIT_S
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    found["peak"] = found["memory"]["peak"]
    return {what: found[what] for what in FIGURES}


def _write(names: list[str]) -> None:
    rows = dict(CEILINGS)
    for name in names or ROWS:
        rows[name] = measured(name)
        lines = [f"{json.dumps(row)}: {json.dumps(rows[row])}" for row in ROWS if row in rows]
        _PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    _write(sys.argv[1:])
