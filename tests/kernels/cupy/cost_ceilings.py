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
# By how much a figure may exceed its ceiling: threads free arrays a little earlier or later.
NOISE = {"peak": 0.001}
# What no ceiling may exceed: where PyTorch's compiled and captured steps, and the peaks of its
# memory, are on the same device. The table may be written anew only below these.
LIMITS: dict[str, dict[str, float]] = {
    "ResNet-50 training, 64, AMP": {
        "kernels": 520,
        "graphs": 4,
        "bytes": 24e9,
        "step_ms": 12.0,
        "peak": 3249e6,
    },
    "ResNet-50 training, 64, FP16": {"graphs": 4, "bytes": 24e9, "step_ms": 12.0, "peak": 3249e6},
    "ResNet-50 training, 64, TF32": {"step_ms": 20.0},
    "ResNet-50 inference, 64, AMP": {"step_ms": 2.8},
    "ResNet-50 inference, 1, TF32": {"step_ms": 0.55},
    "BERT-base training, 32 x 128, AMP": {"bytes": 16e9, "step_ms": 9.8, "peak": 4983e6},
    "BERT-base training, 32 x 128, lengths, AMP": {"step_ms": 9.8, "peak": 4983e6},
    "LSTM 2 x 650 training, TF32": {"step_ms": 3.0},
}
LAYER_KERNELS = 30  # of a layer of BERT and a step


def measured(name: str, layers: int = 0) -> dict[str, float]:
    """Return the figures of a row as it is now, from a process of its own.

    Args:
        name: The row's.
        layers: Of BERT, other than its own number.
    """
    command = [sys.executable, "-m", "tests.kernels.cupy.cost_model.rows", name, "--graphs"]
    command += ["--layers", str(layers)]
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
