"""Runs a program of the corpus under one interpreter, case by case, and compares two such runs."""

import json
import math
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
GOLDEN = FOLDER / "golden"
# Numbers of float32 networks agree this well, relative to the largest of the array.
TOLERANCE = 2e-3


@dataclass
class Case:
    """What became of one case."""

    name: str
    passed: bool
    value: Any = None
    error: str = ""
    traceback: list[str] = field(default_factory=list)


def run(
    python: list[str],
    program: str,
    path: list[Path],
    chosen: list[str] | None = None,
    timeout_s: float = 1800,
) -> dict[str, Case]:
    """Run ``program`` (a file's stem in programs/) by the command ``python``.

    ``path`` comes before everything else on sys.path. A process that dies, or is stopped after
    ``timeout_s`` seconds, costs the case it was in; the rest runs in another process.
    """
    names = chosen or _names(python, program, path)
    cases: dict[str, Case] = {}
    while missing := [name for name in names if name not in cases]:
        rows, end = _process(python, program, path, missing, timeout_s)
        cases |= rows
        if not rows.get("import", Case("import", passed=True)).passed:
            break
        rest = [name for name in missing if name not in cases]
        if rest:
            cases[rest[0]] = Case(rest[0], passed=False, error=end)
    return cases


def _environment(path: list[Path]) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "PYTHONWARNINGS": "ignore",
        "MPLBACKEND": "agg",
    }


def _names(python: list[str], program: str, path: list[Path]) -> list[str]:
    """The cases that the program has, or only ``import`` where it cannot be imported."""
    rows, _ = _process(python, program, path, ["-"], 600)
    if not rows["import"].passed:
        return ["import"]
    return ["import", *rows["import"].value]


def _process(
    python: list[str], program: str, path: list[Path], names: list[str], timeout_s: float
) -> tuple[dict[str, Case], str]:
    """One process: the cases that it ended, and how it ended itself."""
    results = Path(os.environ.get("TMPDIR", "/tmp")) / f"corpus-{os.getpid()}-{program}.jsonl"
    results.unlink(missing_ok=True)
    command = [
        *python,
        str(FOLDER / "cases.py"),
        str(FOLDER / "programs" / f"{program}.py"),
        str(results),
        *names,
    ]
    try:
        done = subprocess.run(
            command,
            env=_environment(path),
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        end = f"the process ended with status {done.returncode}: {done.stderr.strip()[-300:]}"
    except subprocess.TimeoutExpired:
        end = f"the process did not end within {timeout_s} s"
    rows = (
        [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    )
    results.unlink(missing_ok=True)
    cases = {
        row["case"]: Case(
            row["case"],
            row["passed"],
            row.get("value"),
            row.get("error", ""),
            row.get("traceback", []),
        )
        for row in rows
    }
    if "import" not in cases:
        cases["import"] = Case("import", passed=False, error=end)
    return cases, end


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two values written down by cases.py differ by more than round-off."""
    if isinstance(one, dict) and isinstance(other, dict):
        if "norm" in one and "norm" in other:
            return _array_differences(one, other, place)
        if one.keys() != other.keys():
            return [f"{place}: keys {sorted(one)} and {sorted(other)}"]
        return [line for key in one for line in differences(one[key], other[key], f"{place}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            line
            for i, (a, b) in enumerate(zip(one, other, strict=True))
            for line in differences(a, b, f"{place}[{i}]")
        ]
    if isinstance(one, float) and isinstance(other, float):
        close = math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-6) or (
            math.isnan(one) and math.isnan(other)
        )
        return [] if close else [f"{place}: {one:.6g} and {other:.6g}"]
    return [] if one == other else [f"{place}: {str(one)[:60]} and {str(other)[:60]}"]


def _array_differences(one: dict[str, Any], other: dict[str, Any], place: str) -> list[str]:
    if one["shape"] != other["shape"]:
        return [f"{place}: shapes {one['shape']} and {other['shape']}"]
    scale = max(one["norm"], 1e-6)
    lines = []
    for key in ("largest", "sum", "norm"):
        same = abs(one[key] - other[key]) <= TOLERANCE * scale or (
            math.isnan(one[key]) and math.isnan(other[key])
        )
        lines += [] if same else [f"{place}.{key}: {one[key]:.6g} and {other[key]:.6g}"]
    return lines


def golden(program: str) -> dict[str, Case]:
    """What became of the cases of ``program`` on MXNet 1.9.1."""
    return {
        row["name"]: Case(**row) for row in json.loads((GOLDEN / f"{program}.json").read_text())
    }


def record(program: str, cases: dict[str, Case]) -> None:
    """Keep what became of the cases on MXNet, without what is of its machine (the traceback)."""
    rows = [
        {
            "name": case.name,
            "passed": case.passed,
            "value": _rounded(case.value),
            "error": case.error.splitlines()[0] if case.error else "",
        }
        for case in cases.values()
    ]
    GOLDEN.mkdir(exist_ok=True)
    (GOLDEN / f"{program}.json").write_text(
        "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"
    )


def _rounded(value: Any) -> Any:
    """``value`` with seven digits: more are not compared."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def worse(expected: dict[str, Case], found: dict[str, Case]) -> list[str]:
    """A line for each case that passes on MXNet and fails here, or whose numbers differ."""
    lines = []
    for name, case in expected.items():
        if not case.passed:
            continue
        ours = found.get(name, Case(name, passed=False, error="it was not run"))
        if not ours.passed:
            place = " | ".join(line.strip() for line in ours.traceback[-4:-1])
            lines.append(
                f"{name}: {ours.error.splitlines()[0] if ours.error else 'failed'} ({place})"
            )
        elif name != "import":
            lines += [
                f"{name}: MXNet and gluonish differ at {line}"
                for line in differences(case.value, ours.value)[:2]
            ]
    return lines
