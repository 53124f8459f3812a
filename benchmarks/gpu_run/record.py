"""Record: what the rows of a stage gave, written to disk after each of them."""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.gpu_run.rows import State
from benchmarks.gpu_run.timeline import lines

_MOST_VALUES = 8  # that a table's cell shows; the JSON file has all


@dataclass
class Outcome:
    """How a row ended.

    Attributes:
        name: The row's.
        state: One of `State`.
        error: Why it is not ok.
        where: The line of code it came from.
        values: What it told, in order: ``what``, ``value``, ``unit`` and figures beside.
        seconds: From its beginning to its end, waiting for its turn included.
    """

    name: str
    state: str
    error: str = ""
    where: str = ""
    values: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


class Record:
    """The files of one stage: ``stageN.json`` and ``stageN.md``; or of a comparison of two sides.

    Args:
        folder: Where they go.
        stage: Its number, or the name of the files.
        about: Machine, command, date: what the head of the files says.
    """

    def __init__(self, folder: Path, stage: int | str, about: dict[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.outcomes: list[Outcome] = []
        self._title = f"stage{stage}" if isinstance(stage, int) else stage
        self._path = folder / f"{self._title}.json"
        self._stage = stage
        self._about = about
        self._write()

    def add(self, outcome: Outcome) -> None:
        """Add a row, and have it on disk when this returns."""
        self.outcomes.append(outcome)
        self._write()

    def _write(self) -> None:
        found = {"stage": self._stage, **self._about, "rows": [asdict(o) for o in self.outcomes]}
        _replace(self._path, json.dumps(found, indent=1) + "\n")
        head = (
            f"# {self._title.capitalize()}\n\n{self._about['command']}, {self._about['date']}\n\n"
        )
        text = head + markdown_table(found["rows"]) + timelines(found["rows"])
        _replace(self._path.with_suffix(".md"), text)


def _replace(path: Path, text: str) -> None:
    """Put a text into a file, whole or not at all, whatever ends the process."""
    beside = path.with_name(path.name + ".new")
    with beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def shown(value: Any) -> str:
    """Return a value for a table: three significant digits of a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _cell(values: Iterable[dict[str, Any]]) -> str:
    """Return what a row told, on one line."""
    texts = []
    for told in values:
        text = f"{told['what']} {shown(told['value'])} {told['unit']}".rstrip()
        ratio = told.get("ratio")
        texts.append(text if ratio is None else f"{text} ({ratio:.2f} x)")
    rest = [f"and {len(texts) - _MOST_VALUES} more"] if len(texts) > _MOST_VALUES else []
    return "; ".join(texts[:_MOST_VALUES] + rest)


def markdown_table(rows: Iterable[dict[str, Any]]) -> str:
    """Return a stage's rows as a table of Markdown."""
    lines = ["| row | state | found |", "|---|---|---|"]
    for row in rows:
        why = "" if row["state"] == State.OK else f" {row['error']} {row['where']}".rstrip()
        found = "; ".join(text for text in (_cell(row["values"]), why.strip()) if text)
        found = found.replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {row['name']} | {row['state']} | {found} |")
    return "\n".join(lines) + "\n"


def timelines(rows: Iterable[dict[str, Any]]) -> str:
    """Return the kernels that take the most time, of each row and contender that has a timeline."""
    made: list[str] = []
    for row in rows:
        for told in row["values"]:
            if told.get("timeline", {}).get("busy_us"):
                made += ["", f"## {row['name']}: {told['what']}", "", *lines(told["timeline"])]
    return "\n".join([*made, ""]) if made else ""
