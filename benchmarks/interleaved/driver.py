"""Peers as processes, and their turns.

Each peer is a process of its own environment (`worker`), which waits while another has its turn:
A B A B, so that a machine that slows down slows all of them. Standard library only.
"""

import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

_START_TIMEOUT_S = 1200.0
_RUN_TIMEOUT_S = 600.0
_END_TIMEOUT_S = 10.0
# Before each turn: threads of the peer that had the last one may spin for more work that long.
_PAUSE_S = 0.3


class PeerError(RuntimeError):
    """A peer's process failed, or did not answer in time."""


class Job:
    """What one process is to do.

    Args:
        name: The peer's name in the tables.
        python: Interpreter of its environment.
        module: The module in this folder.
        job: The class in it.
        options: Arguments of the class.
        environment: Variables set for the process beside the usual ones.
    """

    def __init__(
        self,
        name: str,
        python: str,
        module: str,
        job: str,
        options: Mapping[str, Any],
        environment: Mapping[str, str],
    ) -> None:
        self.name = name
        self.python = python
        self.module = module
        self.job = job
        self.options = dict(options)
        self.environment = dict(environment)


class Worker:
    """A started job.

    Args:
        job: The job.
        threads: Compute threads.

    Raises:
        PeerError: It cannot be started.
    """

    def __init__(self, job: Job, threads: int) -> None:
        self.name = job.name
        self.count = 0
        self.step_s = 0.0
        self.peak_mb = 0.0
        request = {"module": job.module, "job": job.job, "options": job.options}
        text = json.dumps(request | {"threads": threads})
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `end`
        self._process = subprocess.Popen(
            [job.python, "-W", "ignore", "-m", "benchmarks.interleaved.worker", text],
            env=process_environment(threads) | job.environment,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
        )
        try:
            found = self._answer(_START_TIMEOUT_S)
        except BaseException:
            self.end()
            raise
        self.start_s: float = found["start_s"]
        self.versions: dict[str, str] = found["versions"]
        self.flops: int = found["flops"]
        self.base_mb: float = found["base_mb"]  # resident with the library loaded, before the job

    @property
    def process_id(self) -> int:
        """The number of its process."""
        return self._process.pid

    def check(self, folder: Path) -> Path:
        """Have the job write what must be alike in all peers; the path of the .npy file."""
        path = folder / (self.name.replace("/", "_") + ".npy")  # a setting may be a path
        self._ask({"command": "check", "path": str(path)})
        return path

    def select(self, options: Mapping[str, Any]) -> None:
        """Have the job do another of the things that it can do, from the next run on."""
        self.count = 0
        self.step_s = 0.0
        self._ask({"command": "select", "options": dict(options)})

    def run(self, count: int) -> float:
        """Run the job ``count`` times; the seconds of one."""
        found = self._ask({"command": "run", "count": count, "step_s": self.step_s})
        self.peak_mb = found["peak_mb"]
        seconds: float = found["seconds"] / count
        return seconds

    def calibrate(self, seconds: float) -> None:
        """Find how often the job runs in about ``seconds``: its count in a turn."""
        count = 1
        self.step_s = self.run(1)
        while self.step_s * count < seconds / 4 and count < 1 << 20:
            count *= 4
            self.step_s = self.run(count)
        self.count = max(1, round(seconds / self.step_s))

    def _ask(self, command: Mapping[str, Any]) -> dict[str, Any]:
        pipe = self._process.stdin
        if pipe is None or self._process.poll() is not None:
            raise PeerError(f"{self.name}: has ended; {self._last_words()}")
        pipe.write(json.dumps(command).encode() + b"\n")
        return self._answer(_RUN_TIMEOUT_S)

    def _answer(self, timeout_s: float) -> dict[str, Any]:
        pipe = self._process.stdout
        if pipe is None:
            raise PeerError(f"{self.name}: expected a pipe, got none")
        end = time.monotonic() + timeout_s
        text = b""
        while not text.endswith(b"\n"):
            ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise PeerError(f"{self.name}: expected an answer within {timeout_s:.0f} s")
            piece = os.read(pipe.fileno(), 1 << 16)
            if not piece:
                raise PeerError(f"{self.name}: has ended; {self._last_words()}")
            text += piece
        found: dict[str, Any] = json.loads(text)
        if "error" in found:
            raise PeerError(f"{self.name}: {found['error']}")
        return found

    def _last_words(self) -> str:
        self._errors.seek(0)
        text = self._errors.read().decode(errors="replace").strip()
        return text[-400:]

    def end(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()


def process_environment(threads: int) -> dict[str, str]:
    """The variables of every peer's process."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    paths = [str(ROOT), str(ROOT / "engine")]
    return {
        **os.environ,
        **dict.fromkeys(names, str(threads)),
        "NUMBA_NUM_THREADS": str(threads),
        "PYTHONPATH": os.pathsep.join(paths),
        "KMP_BLOCKTIME": "1",
        "TORCHINDUCTOR_COMPILE_THREADS": str(threads),
    }


@contextmanager
def workers(jobs: Sequence[Job], threads: int, errors: dict[str, str]) -> Iterator[list[Worker]]:
    """Start jobs one after another, and end them all.

    Args:
        jobs: The jobs.
        threads: Compute threads of each.
        errors: Takes the message of each job that cannot be started, by its name.
    """
    started: list[Worker] = []
    try:
        for job in jobs:
            _tell(f"starting {job.name} ..")
            try:
                started.append(Worker(job, threads))
            except PeerError as error:
                errors[job.name] = str(error)
        _tell("")
        yield started
    finally:
        for worker in started:
            worker.end()


@contextmanager
def busy_core(number: int | None) -> Iterator[None]:
    """Keep a core busy by a process that computes nothing; None for no core."""
    if number is None:
        yield
        return
    spinning = f"import os; os.sched_setaffinity(0, [{number}])\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", spinning]) as process:
        try:
            yield
        finally:
            process.kill()


def _tell(text: str) -> None:
    """Progress, where somebody watches."""
    if sys.stderr.isatty():
        print(f"  {text:60}", end="\r", file=sys.stderr, flush=True)


class Samples:
    """What was measured of one peer.

    Args:
        worker: Its process.
        seconds: The seconds of one run, one number a turn.
    """

    def __init__(self, worker: Worker, seconds: Sequence[float]) -> None:
        self.seconds = list(seconds)
        self.median_s = statistics.median(seconds)
        self.start_s = worker.start_s
        self.peak_mb = worker.peak_mb
        self.versions = worker.versions
        self.flops_per_s = worker.flops / self.median_s

    def pool(self, others: Iterable["Samples"]) -> None:
        """Take in the samples of other processes that did the same."""
        for other in others:
            self.seconds += other.seconds
            self.peak_mb = max(self.peak_mb, other.peak_mb)
        self.median_s = statistics.median(self.seconds)


def measure(
    running: Sequence[Worker], seconds: float, rounds: int, errors: dict[str, str]
) -> dict[str, Samples]:
    """Give every worker its turn, ``rounds`` times over.

    Args:
        running: The workers.
        seconds: Length of a turn, about; at least one run of the job.
        rounds: Turns of each.
        errors: Takes the message of each worker that fails, by its name.

    Returns:
        Of each worker that did not fail, by its name.
    """
    samples: dict[str, list[float]] = {}
    alive = list(running)

    def attempt(worker: Worker) -> None:
        time.sleep(_PAUSE_S)
        try:
            if worker.count:
                samples[worker.name].append(worker.run(worker.count))
            else:
                worker.calibrate(seconds)
                samples[worker.name] = []
        except PeerError as error:
            errors[worker.name] = str(error)
            alive.remove(worker)

    for _ in range(rounds + 1):  # the first one finds the counts
        for worker in list(alive):
            attempt(worker)
    return {worker.name: Samples(worker, samples[worker.name]) for worker in alive}
