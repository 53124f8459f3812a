"""The stages: their rows, deadlines, and how many rows are prepared beside one that measures."""

import importlib
from typing import NamedTuple

from benchmarks.gpu_run.rows import Row


class Stage(NamedTuple):
    """One stage.

    Attributes:
        module: Where its rows are, under this package.
        deadline_s: When all of it has ended.
        beside: How many rows are prepared while another one measures.
        title: What it is about.
    """

    module: str
    deadline_s: float
    beside: int
    title: str


STAGES = {
    0: Stage("stage0", 60, 1, "what the harness does with rows that fail"),
    1: Stage("stage1", 600, 1, "is it there, and is it right"),
    2: Stage("stage2", 480, 1, "facts of the device and its libraries"),
    3: Stage("stage3", 480, 2, "speed of steps, against PyTorch"),
    4: Stage("stage4", 360, 1, "accuracy"),
    5: Stage("stage5", 480, 2, "speed of operators, and in other precisions, against PyTorch"),
}


def rows_of(stage: int, only: str = "") -> list[Row]:
    """Return a stage's rows whose name has ``only`` in it, or a part of it between bars."""
    module = importlib.import_module(f"benchmarks.gpu_run.{STAGES[stage].module}")
    rows: list[Row] = module.TABLE.rows
    return [row for row in rows if any(part in row.name for part in only.split("|"))]
