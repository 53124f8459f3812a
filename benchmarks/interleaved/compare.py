"""gluonish beside its peers on one piece of work: started, checked, measured, tabulated."""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.interleaved.driver import (
    ROOT,
    Job,
    PeerError,
    Samples,
    Worker,
    busy_core,
    measure,
    process_environment,
    workers,
)
from benchmarks.interleaved.graph import Network, read_network
from benchmarks.interleaved.peers import make_job
from benchmarks.interleaved.quota import cpu_quota
from benchmarks.interleaved.report import Report, geometric_mean, table

_PEAKS = ("PeakProduct", "PeakConvolution")
_FIRST = "gluonish"


class Row(NamedTuple):
    """One peer's result.

    Attributes:
        name: The peer.
        samples: What was measured; None after an error.
        ratio: How many times as fast gluonish was in the same turns; 0 where unknown.
        share: Of the machine's peak; 0 where unknown.
        error: What failed.
    """

    name: str
    samples: Samples | None
    ratio: float
    share: float
    error: str


class Workplace:
    """Runs comparisons with a script's arguments.

    Args:
        arguments: Those of `peers.add_arguments`, and ``together``: how many peers have their
            processes beside gluonish's at a time, for the memory's sake.
        stack: Keeps the folder of descriptions and outputs as long as it is open.
    """

    def __init__(self, arguments: argparse.Namespace, stack: ExitStack) -> None:
        self.arguments = arguments
        self._folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="gluonish-benchmark-"))
        )
        self.peaks: dict[str, float] = {}

    def describe(self, name: str) -> tuple[str, Network]:
        """The description of a network: the path of its file, and what is in it.

        Raises:
            PeerError: gluonish has no such network, or cannot be run.
        """
        path = self._folder / f"{name}.json"
        if not path.exists():
            command = [sys.executable, "-m", "benchmarks.interleaved.networks", name, str(path)]
            environment = process_environment(self.arguments.threads)
            done = subprocess.run(
                command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
            )
            if done.returncode:
                raise PeerError(f"{name}: expected a network, got {done.stderr.strip()[-200:]}")
        return str(path), read_network(str(path))

    def networks(self, names: str, report: Report) -> Iterator[tuple[str, Network]]:
        """The descriptions of comma-separated networks; reported are those that fail."""
        for name in names.split(","):
            try:
                yield self.describe(name)
            except PeerError as error:
                report.say(f"\n{error}")

    def names(self) -> list[str]:
        """gluonish, and the peers asked for."""
        return list(dict.fromkeys([_FIRST, *filter(None, self.arguments.peers.split(","))]))

    def compare(
        self,
        work: str,
        options: Mapping[str, Any],
        tolerance: float,
        flops: int = 0,
        dtype: str = "float32",
        extra: Iterable[Job] = (),
    ) -> list[Row]:
        """Measure one piece of work on gluonish and every peer.

        Args:
            work: The class of the jobs.
            options: Their arguments.
            tolerance: Largest difference from gluonish's values, relative to the largest of them,
                with which a peer is still said to compute the same.
            flops: Operations of one run, for the share of the machine's peak; 0 for no share.
            dtype: Of the peak.
            extra: Jobs beside, which are not checked.
        """
        errors: dict[str, str] = {}
        jobs = []
        for name in self.names():
            try:
                jobs.append(make_job(name, work, self.arguments, options))
            except PeerError as error:
                errors[name] = str(error)
        jobs += extra
        first, others = jobs[0], jobs[1:]
        together = self.arguments.together
        rows: dict[str, Row] = {}
        ours: list[Samples] = []
        for begin in range(0, max(1, len(others)), together):
            group = [first, *others[begin : begin + together]]
            unchecked = [job.name for job in extra]
            if flops:
                group += self._peak_jobs(dtype)
            samples = self._turns(group, tolerance, errors, unchecked)
            rows |= self._rows(group, samples, errors, flops, dtype)
            if _FIRST in samples:
                ours.append(samples[_FIRST])
        if ours:  # its row is that of all groups
            ours[-1].pool(ours[:-1])
        rows |= {
            name: Row(name, None, 0.0, 0.0, error)
            for name, error in errors.items()
            if name not in rows and name not in _PEAKS
        }
        return list(rows.values())

    def _peak_jobs(self, dtype: str) -> list[Job]:
        jobs = [make_job("onednn", work, self.arguments, {"dtype": dtype}) for work in _PEAKS]
        for job, work in zip(jobs, _PEAKS, strict=True):
            job.name = work
        return jobs

    def _turns(
        self,
        group: Sequence[Job],
        tolerance: float,
        errors: dict[str, str],
        unchecked: Sequence[str],
    ) -> dict[str, Samples]:
        arguments = self.arguments
        with workers(group, arguments.threads, errors) as running:
            compared = [w for w in running if w.name not in (*_PEAKS, *unchecked)]
            wrong = self._check(compared, tolerance, errors)
            rest = [worker for worker in running if worker not in wrong]
            processes = [worker.process_id for worker in rest]
            with busy_core(arguments.busy_core), cpu_quota(arguments.quota, processes):
                return measure(rest, arguments.seconds, arguments.rounds, errors)

    def _check(
        self, running: Sequence[Worker], tolerance: float, errors: dict[str, str]
    ) -> list[Worker]:
        """The workers whose values are not those of the first: a time of theirs means nothing."""
        wrong: list[Worker] = []
        wanted: Any = None
        for worker in running:
            try:
                found = np.load(worker.check(self._folder))
            except PeerError as error:
                errors[worker.name] = str(error)
                wrong.append(worker)
                continue
            if wanted is None:
                wanted = found
            difference = _difference(found, wanted)
            if not difference <= tolerance:
                errors[worker.name] = (
                    f"{worker.name}: expected {running[0].name}'s values within {tolerance}, "
                    f"got a difference of {difference:.3g}"
                )
                wrong.append(worker)
        return wrong

    def _rows(
        self,
        group: Sequence[Job],
        samples: Mapping[str, Samples],
        errors: Mapping[str, str],
        flops: int,
        dtype: str,
    ) -> dict[str, Row]:
        peak = max([samples[name].flops_per_s for name in _PEAKS if name in samples], default=0.0)
        if peak:
            self.peaks[dtype] = max(peak, self.peaks.get(dtype, 0.0))
        ours = samples.get(_FIRST)
        rows = {}
        for job in group:
            if job.name in _PEAKS:
                continue
            found = samples.get(job.name)
            ratio = found.median_s / ours.median_s if found and ours else 0.0
            share = flops / found.median_s / peak if found and peak else 0.0
            rows[job.name] = Row(job.name, found, ratio, share, errors.get(job.name, ""))
        return rows


def _difference(found: Any, wanted: Any) -> float:
    """The largest difference, relative to the largest value; NaN where a value is."""
    if found.shape != wanted.shape:
        return float("inf")
    return float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-30))


def comparison_table(rows: Sequence[Row], amount: float, unit: str, report: Report) -> None:
    """Print a comparison.

    Args:
        rows: What `Workplace.compare` returned.
        amount: How much one run does, in ``unit``.
        unit: Such as ``images``.
        report: Takes the text and the versions.
    """
    header = ("peer", f"{unit}/s", "gluonish is", "of peak", "spread", "peak MB", "start s")
    texts = []
    for row in rows:
        found = row.samples
        if found is None:
            texts.append((row.name, *("-" for _ in header[1:])))
            continue
        spread = (max(found.seconds) - min(found.seconds)) / found.median_s
        texts.append(
            (
                row.name,
                f"{amount / found.median_s:.1f}",
                f"{row.ratio:.3f} x" if row.ratio else "-",
                f"{row.share:.1%}" if row.share else "-",
                f"{spread:.1%}",
                f"{found.peak_mb:.0f}",
                f"{found.start_s:.1f}",
            )
        )
    report.say(table(header, texts))
    for row in rows:
        if row.error:
            report.say(f"  {row.error}")
        if row.samples is not None:
            report.note(row.samples.versions)


def _three(ratios: Sequence[float]) -> tuple[float, float, float]:
    return geometric_mean(ratios), min(ratios), max(ratios)


def summary(cells: Sequence[Sequence[Row]], report: Report) -> None:
    """Print the geometric mean, smallest and largest ratio to each peer over all cells."""
    ratios: dict[str, list[float]] = {}
    for rows in cells:
        for row in rows:
            if row.ratio and row.name != _FIRST:
                ratios.setdefault(row.name, []).append(row.ratio)
    if not ratios:
        return
    report.say("\nhow many times as fast gluonish is")
    header = ("peer", "geometric mean", "smallest", "largest", "cells")
    texts = [
        (name, *(f"{ratio:.3f}" for ratio in _three(found)), str(len(found)))
        for name, found in ratios.items()
    ]
    report.say(table(header, texts))
