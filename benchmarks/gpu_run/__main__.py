"""Prove gluonish on a CUDA device and measure it, stage by stage.

    python -m benchmarks.gpu_run --budget SECONDS --out FOLDER
    python -m benchmarks.gpu_run --stage N --out FOLDER
    python -m benchmarks.gpu_run --ab VARIABLE=a,b --out FOLDER
    python -m benchmarks.gpu_run --against CHECKOUT --out FOLDER
    python -m benchmarks.gpu_run --report FOLDER

Run from the repository's root; nothing needs to be installed but what gluonish and PyTorch need.
Stage 1 asks whether it works, 2 measures what the device and its libraries do, 3 compares the speed
of steps with PyTorch's, 4 the accuracy with float64, 5 the speed of operators and of steps in other
precisions. Each ends by its deadline (600, 480, 480, 360 and 480 s), saves after each row, goes on
after failures, and prints one table. ``--ab`` times big rows of stage 3 with two values of a
variable in turns, ``--against`` an older checkout and this one. ``--budget`` does all that fits, in
order of value: stage 1, the switches of `switches.SWITCHES`, stages 3, 2, 4 and 5. PyTorch is
compiled only with ``--compile``, which takes 75 to 124 s a row; else its figures on the same card
are those that a run recorded (`compiled_figures`). ``--rehearse`` runs the
same code on the double of CuPy, with tiny sizes: for machines without a GPU. The exit status is 1
if a row failed, or, in a rehearsal, was not run or refused for another reason than the double.
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
from benchmarks.gpu_run.switches import BIG, SWITCHES
from benchmarks.gpu_run.versus import Side, Versus, sides_of_checkout, sides_of_variable
from benchmarks.gpu_run.workers import StageRun
from benchmarks.interleaved.report import machine

_RESERVE_S = 10.0  # of a deadline, for the last process to end
_SWITCHES_SHARE = 0.4  # of a budget, at most
_STAGES_IN_ORDER = (3, 2, 4, 5)  # after stage 1 and the switches


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
    parser.add_argument("--compile", action="store_true", help="PyTorch compiled, too")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="all that fits")
    parser.add_argument("--ab", metavar="VARIABLE=a,b", help="compare two values of a variable")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="compare two checkouts")
    parser.add_argument("--report", type=Path, metavar="FOLDER", help="join its stages' files")
    arguments = parser.parse_args(words)
    asked = (arguments.stage, arguments.budget, arguments.ab, arguments.against)
    if arguments.report is None and (arguments.out is None or all(x is None for x in asked)):
        parser.error("expected --out and one of --stage, --budget, --ab and --against, or --report")
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
        "compiles": arguments.compile,
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


def _versus(
    arguments: argparse.Namespace, words: list[str], sides: tuple[Side, Side], number: int
) -> int:
    """Compare two sides; return the exit status."""
    only = arguments.only or "|".join(BIG)
    deadline_s = arguments.deadline or STAGES[3].deadline_s
    record = Record(arguments.out, f"versus{number}", _about(arguments, words))
    settings = {
        "stage": 3,
        "rehearse": arguments.rehearse,
        "only": only,
        "ends_at": time.time() + deadline_s,
        "compiles": False,
        "failures": str(arguments.out.resolve() / f"versus{number}-failures.txt"),
    }
    Versus(rows_of(3, only), sides, settings, deadline_s - _RESERVE_S, record.add).run()
    print(markdown_table(vars(outcome) for outcome in record.outcomes))
    return int(any(outcome.state == State.FAILED for outcome in record.outcomes))


def _all_that_fits(arguments: argparse.Namespace, words: list[str]) -> int:
    """Run stages and comparisons in order of value, until the budget is spent."""
    ends = time.monotonic() + arguments.budget

    def given(most: float, end: float = ends) -> argparse.Namespace:
        left = end - time.monotonic()
        return argparse.Namespace(**{**vars(arguments), "deadline": max(0.0, min(most, left))})

    def stage(number: int) -> int:
        asked = given(STAGES[number].deadline_s)
        asked.stage = number
        return _run(asked, words)

    status = stage(1)
    switched = min(ends, time.monotonic() + _SWITCHES_SHARE * arguments.budget)
    for number, switch in enumerate(SWITCHES):
        asked = given(switch.seconds, switched)
        asked.only = asked.only or "|".join(switch.rows)
        status |= _versus(asked, words, sides_of_variable(switch.text), number)
    for number in _STAGES_IN_ORDER:
        status |= stage(number)
    return status


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
    if arguments.budget is not None:
        return _all_that_fits(arguments, words)
    if arguments.ab is not None or arguments.against is not None:
        try:
            if arguments.ab is not None:
                sides = sides_of_variable(arguments.ab)
            else:
                sides = sides_of_checkout(arguments.against)
        except ValueError as error:
            print(error, file=sys.stderr)
            return 2
        return _versus(arguments, words, sides, 0)
    return _run(arguments, words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
