"""The report: what the stages in a folder gave, as one file of Markdown and one of JSON."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.gpu_run.compiled_figures import record
from benchmarks.gpu_run.record import markdown_table
from benchmarks.gpu_run.stages import STAGES

_VERSIONS = "versions"  # the row of stage 1 that has them


def _versions(stages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the row of versions told."""
    rows = [row for stage in stages for row in stage["rows"] if row["name"] == _VERSIONS]
    return {told["what"]: told["value"] for row in rows for told in row["values"]}


def _head(stages: list[dict[str, Any]]) -> list[str]:
    machine = stages[0]["machine"]
    versions = _versions(stages)
    lines = ["# gluonish on a GPU", ""]
    if any(stage["rehearsal"] for stage in stages):
        lines += ["A rehearsal on the double of CuPy: figures say nothing about a device.", ""]
    lines += [
        f"- Device: {versions.get('device', 'not told')}",
        f"- Host: {machine['processor']}, {machine['cpus']} processors, "
        f"{machine['memory_gb']} GB, {machine['system']}, Python {machine['python']}",
        "- Versions: " + ", ".join(f"{k} {v}" for k, v in versions.items() if k != "device"),
        "- Commands: " + "; ".join(f"`{stage['command']}` ({stage['date']})" for stage in stages),
    ]
    return lines


def _section(stage: dict[str, Any]) -> list[str]:
    states = Counter(row["state"] for row in stage["rows"])
    counts = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    title = STAGES[stage["stage"]].title
    rows = [row for row in stage["rows"] if row["name"] != _VERSIONS]
    return [f"## Stage {stage['stage']}: {title}", "", f"Rows: {counts}.", "", markdown_table(rows)]


def write_report(folder: Path) -> str:
    """Write ``report.md`` and ``report.json`` into a folder of stages' files.

    Figures of PyTorch compiled are recorded (`compiled_figures`), unless this was a rehearsal.

    Returns:
        The text of ``report.md``.

    Raises:
        FileNotFoundError: the folder has no stage's file.
    """
    paths = [folder / f"stage{number}.json" for number in STAGES if number]
    stages = [json.loads(path.read_text("utf-8")) for path in paths if path.exists()]
    if not stages:
        raise FileNotFoundError(f"report: expected stageN.json in the folder, got none in {folder}")
    lines = [*_head(stages), ""]
    for stage in stages:
        lines += _section(stage)
    text = "\n".join(lines)
    (folder / "report.md").write_text(text, encoding="utf-8")
    versions = _versions(stages)
    found = {"versions": versions, "stages": stages}
    (folder / "report.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if not any(stage["rehearsal"] for stage in stages):
        record((row for stage in stages for row in stage["rows"]), versions)
    return text
