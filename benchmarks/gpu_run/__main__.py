"""Prove gluonish on a CUDA device and measure it, stage by stage.

    python -m benchmarks.gpu_run --stage N --out FOLDER
    python -m benchmarks.gpu_run --report FOLDER

Run from the repository's root; nothing needs to be installed but what gluonish and PyTorch need.
Stage 1 asks whether it works, 2 measures what the device and its libraries do, 3 compares the speed
with PyTorch's, 4 the accuracy with float64. Each ends by its deadline (300, 480, 480 and 360 s),
saves after each row, goes on after failures, and prints one table. ``--rehearse`` runs the same
code on the double of CuPy, with tiny sizes: for machines without a GPU. The exit status is 1 if a
row failed, or, in a rehearsal, was not run or refused for another reason than the double.
"""

import argparse
import datetime
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.gpu_run.record import Outcome, Record, markdown_table
from benchmarks.gpu_run.report import write_report
from benchmarks.gpu_run.rows import NOT_ON_DOUBLE, State
from benchmarks.gpu_run.stages import STAGES, rows_of
from benchmarks.gpu_run.workers import StageRun
from benchmarks.interleaved.report import machine

_RESERVE_S = 10.0  # of a deadline, for the last process to end


def _parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu_run",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--stage", type=int, choices=sorted(STAGES), help="0 tries the harness")
    parser.add_argument("--out", type=Path, help="folder of stageN.json and stageN.md")
    parser.add_argument("--rehearse", action="store_true", help="on the double of CuPy")
    parser.add_argument("--deadline", type=float, help="seconds (default: the stage's)")
    parser.add_argument(
        "--only", default="", help="rows whose name has this in it, or a part between |"
    )
    parser.add_argument("--no-compile", action="store_true", help="PyTorch eager and as a graph")
    parser.add_argument("--report", type=Path, metavar="FOLDER", help="join its stages' files")
    arguments = parser.parse_args(words)
    if arguments.report is None and (arguments.stage is None or arguments.out is None):
        parser.error("expected --stage and --out, or --report")
    return arguments


def _about(arguments: argparse.Namespace, words: list[str]) -> dict[str, Any]:
    now = datetime.datetime.now(datetime.UTC)
    return {
        "command": shlex.join(["python", "-m", "benchmarks.gpu_run", *words]),
        "date": now.strftime("%Y-%m-%d %H:%M UTC"),
        "rehearsal": arguments.rehearse,
        "machine": machine(),
    }


def _run(arguments: argparse.Namespace, words: list[str]) -> int:
    began = time.monotonic()
    stage = STAGES[arguments.stage]
    record = Record(arguments.out, arguments.stage, _about(arguments, words))
    deadline_s = (arguments.deadline or stage.deadline_s) - _RESERVE_S
    settings = {
        "stage": arguments.stage,
        "rehearse": arguments.rehearse,
        "only": arguments.only,
        "ends_at": time.time() + deadline_s,
        "compiles": not arguments.no_compile,
        "failures": str(arguments.out.resolve() / f"stage{arguments.stage}-failures.txt"),
    }

    def keep(outcome: Outcome) -> None:
        record.add(outcome)
        print(f"{time.monotonic() - began:6.1f} s  {outcome.state:8} {outcome.name}", flush=True)

    rows = rows_of(arguments.stage, arguments.only)
    StageRun(rows, settings, deadline_s, stage.beside, keep).run()
    print(f"\nStage {arguments.stage}, {stage.title}: {time.monotonic() - began:.0f} s\n")
    print(markdown_table(vars(outcome) for outcome in record.outcomes))
    return int(any(_is_bad(outcome, arguments.rehearse) for outcome in record.outcomes))


def _is_bad(outcome: Outcome, rehearsed: bool) -> bool:
    """Whether a row makes the exit status 1: in a rehearsal only the double may refuse one."""
    if outcome.state == State.FAILED or not rehearsed:
        return outcome.state == State.FAILED
    refused = outcome.state == State.REFUSED and outcome.error.startswith(NOT_ON_DOUBLE)
    return outcome.state != State.OK and not refused


def main(words: list[str]) -> int:
    """Run what the command line asks for; return the exit status."""
    arguments = _parse(words)
    if arguments.report is not None:
        print(write_report(arguments.report))
        return 0
    return _run(arguments, words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
