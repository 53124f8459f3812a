"""What becomes of programs published for MXNet, on MXNet 1.9.1 and here, as a table.

    python -m benchmarks.cpu corpus [PROGRAM ...] [--record] [--errors]

The table tells for each program of tests/corpus how many of its cases run on MXNet, how many of
these run here, and how many give the same numbers. What MXNet gave is read from
tests/corpus/golden; ``--record`` runs MXNet again and writes it. The exit status is 1 if a case
that runs on MXNet fails or differs here.
"""

import argparse
import sys

from tqdm import tqdm

from tests.corpus import environments, runner
from tests.corpus.catalogue import PROGRAMS, Program

# The programs are older than NumPy 2; --numpy1 puts back the names that it removed.
HERE = ("-m", "gluonish", "run", "--numpy1")


def row(program: Program, record: bool) -> tuple[tuple[str, int, int, int], list[str]]:
    """Name, cases that run on MXNet, of these here, of these equal; and what is worse here."""
    path = [environments.program_path(program)]
    if record:
        runner.record(
            program.cases, runner.run([str(environments.mxnet_python())], program.cases, path)
        )
    expected = runner.golden(program.cases)
    python = [str(environments.gluonish_python()), *HERE]
    found = runner.run(python, program.cases, path, list(expected))
    there = [name for name, case in expected.items() if case.passed]
    here = [name for name in there if name in found and found[name].passed]
    lines = runner.worse(expected, found)
    differing = {line.split(":")[0] for line in lines}
    return (
        program.cases,
        len(there),
        len(here),
        len([name for name in here if name not in differing]),
    ), lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "programs", nargs="*", help="names of tests/corpus/programs; all by default"
    )
    parser.add_argument(
        "--record", action="store_true", help="run MXNet, too, and keep what it gives"
    )
    parser.add_argument("--errors", action="store_true", help="print each case that is worse here")
    options = parser.parse_args()
    chosen = [
        program for program in PROGRAMS if not options.programs or program.cases in options.programs
    ]
    rows, worse = [], []
    for program in tqdm(chosen, unit="program"):
        figures, lines = row(program, options.record)
        rows.append(figures)
        worse += [f"{program.cases}.{line}" for line in lines]
    print(f"{'program':24} {'on MXNet':>9} {'here':>6} {'equal':>6}")
    for name, *counts in [
        *rows,
        ("all", *(sum(column) for column in zip(*(one[1:] for one in rows), strict=True))),
    ]:
        print(f"{name:24} {counts[0]:9} {counts[1]:6} {counts[2]:6}")
    if options.errors:
        print("\n".join(worse))
    sys.exit(bool(worse))
