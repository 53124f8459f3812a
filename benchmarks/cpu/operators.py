"""A hundred operators, forward and with their gradients, small and large, beside MXNet and PyTorch.

    python -m benchmarks.cpu operators --mxnet-python .. --peers-python .. [--only softmax,take]
    python -m benchmarks.cpu operators --table products --without-onednn --peers torch_eager ..

The calls stand in interleaved/operator_table.py, and those of convolutions and dense layers of
networks in interleaved/product_table.py (``--table products``). Each framework runs in its own
process, in turns call by call. A time is that of many calls, and all their results waited for,
over their number. Results are compared before anything is timed (1e-3 of the largest). A ratio is
a peer's median over gluonish's: 2.0 x means that gluonish takes half the time.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.interleaved.driver import Job, PeerError, Worker, measure, workers
from benchmarks.interleaved.operator_jobs import TABLES
from benchmarks.interleaved.operator_table import Row
from benchmarks.interleaved.peers import add_arguments, make_job
from benchmarks.interleaved.report import Report, geometric_mean, table

TOLERANCE = 1e-3


class Cell(NamedTuple):
    """One call that is timed."""

    table: str
    row: Row
    size: str
    backward: bool

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of `select`."""
        position = TABLES[self.table].index(self.row)
        chosen = {"position": position, "size": self.size, "backward": self.backward}
        return {**chosen, "table": self.table}

    def __str__(self) -> str:
        return f"{self.row.name}, {self.size}{', with gradient' if self.backward else ''}"


def cells(table: str, only: str) -> Iterator[Cell]:
    """The calls of a table's rows whose names hold one of these comma-separated words."""
    words = [word.strip().lower() for word in only.split(",")]
    for size in ("small", "large"):
        for row in TABLES[table]:
            if any(word in row.name.lower() for word in words):
                for backward in (False, True) if row.backward else (False,):
                    yield Cell(table, row, size, backward)


def compare(cell: Cell, running: Sequence[Worker], folder: Path, report: Report) -> list[Worker]:
    """Select a cell everywhere; those that compute the same as the first."""
    ready: list[Worker] = []
    wanted = None
    for worker in running:
        try:
            worker.select(cell.options)
            found = np.load(worker.check(folder))
        except PeerError as error:
            report.say(f"  {cell}: {error}")
            continue
        if wanted is None:
            wanted = found
        scale = float(np.max(np.abs(wanted), initial=1e-30))
        same = found.shape == wanted.shape and np.max(np.abs(found - wanted), initial=0) / scale
        if same is False or not same <= TOLERANCE:
            report.say(f"  {cell}: {worker.name} computes something else ({same})")
            continue
        ready.append(worker)
    return ready


def time_all(arguments: argparse.Namespace, report: Report) -> dict[str, list[tuple[Cell, float]]]:
    """Time every cell; each peer's ratios."""
    errors: dict[str, str] = {}
    ratios: dict[str, list[tuple[Cell, float]]] = {}
    jobs: list[Job] = []
    for name in ("gluonish", *arguments.peers.split(",")):
        work = "TorchOperators" if name.startswith("torch") else "GluonOperators"
        job = make_job(name, work, arguments, {})
        job.module = "operator_jobs"
        if name == "gluonish" and arguments.without_onednn:
            job.environment["MXNET_MKLDNN_ENABLED"] = "0"
        jobs.append(job)
    with (
        tempfile.TemporaryDirectory() as folder,
        workers(jobs, arguments.threads, errors) as running,
    ):
        for cell in cells(arguments.table, arguments.only):
            ready = compare(cell, running, Path(folder), report)
            found = measure(ready, arguments.seconds, arguments.rounds, errors)
            running = [worker for worker in running if worker.name not in errors]
            if "gluonish" not in found:
                continue
            ours = found["gluonish"]
            texts = []
            for name, samples in found.items():
                ratio = samples.median_s / ours.median_s
                texts.append(f"{name} {samples.median_s * 1e6:.1f} us ({ratio:.2f} x)")
                if name != "gluonish":
                    ratios.setdefault(name, []).append((cell, ratio))
                report.note(samples.versions)
            report.say(f"{cell!s:46} {'  '.join(texts)}")
    for error in errors.values():
        report.say(error)
    return ratios


def summary(ratios: dict[str, list[tuple[Cell, float]]], report: Report) -> None:
    """Geometric means and the slowest cells of each peer."""
    lines = []
    for name, found in ratios.items():
        for size in ("small", "large"):
            for backward in (False, True):
                chosen = [r for c, r in found if c.size == size and c.backward == backward]
                if chosen:
                    word = "with gradient" if backward else "forward"
                    mean = f"{geometric_mean(chosen):.2f} x"
                    lines.append(
                        (f"{name}, {size}, {word}", str(len(chosen)), mean, f"{min(chosen):.2f} x")
                    )
        lines.append(
            (
                f"{name}, all",
                str(len(found)),
                f"{geometric_mean([r for _, r in found]):.2f} x",
                f"{min(r for _, r in found):.2f} x",
            )
        )
    report.say("\n" + table(("peer", "calls", "geometric mean", "smallest"), lines))
    for name, found in ratios.items():
        slow = sorted((r, str(c)) for c, r in found if r < 1)
        report.say(
            f"\nslower than {name}: " + (", ".join(f"{c} {r:.2f}" for r, c in slow) or "none")
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser, "mxnet,torch_eager")
    parser.add_argument("--table", choices=tuple(TABLES), default="operators")
    parser.add_argument("--without-onednn", action="store_true", help="gluonish as on ARM")
    parser.add_argument("--only", default="", help="words of the operators' names")
    arguments = parser.parse_args()
    report = Report()
    summary(time_all(arguments, report), report)
    report.end()
