"""Waiting times, gluonish beside its peers in turns: a small call, the import, the first step.

    python -m benchmarks.cpu latency --mxnet-python .. --peers-python .. [--parts call,import,start]

call: a hybridized Dense(16) on 16 features, and its result as a NumPy array. import: the package,
in fresh processes. start: from hybridize (or torch.compile) to the first result of a training step
of ResNet-50, with no caches on disk (cold) and with those of the run before (warm); "set-up" is
that less the time of a later step.
"""

import argparse
import statistics
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks.interleaved.compare import Workplace
from benchmarks.interleaved.driver import Job, PeerError, Worker, process_environment
from benchmarks.interleaved.peers import add_arguments, make_job
from benchmarks.interleaved.report import Report, table

PARTS = ("call", "import", "start")
# The caches of compiled code that a peer keeps on disk.
CACHES = ("MXNET_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR")
CALLERS = ("gluonish", "mxnet", "torch_eager", "jax")
STARTERS = ("gluonish", "mxnet", "torch_compile")
PACKAGES = {"gluonish": "gluonish", "mxnet": "mxnet", "torch_eager": "torch", "jax": "jax"}

IMPORT = "import time; b = time.perf_counter(); import {}; print(time.perf_counter() - b)"


def call(place: Workplace, report: Report) -> None:
    """Time the small call."""
    rows = place.compare("DenseCall", {}, tolerance=1e-4)
    report.say("\nDense(16) on 16 features, call and result")
    texts = []
    for row in rows:
        found = row.samples
        if found is None:
            report.say(f"  {row.error}")
            continue
        microseconds = [seconds * 1e6 for seconds in found.seconds]
        median, least = statistics.median(microseconds), min(microseconds)
        texts.append((row.name, f"{median:.1f}", f"{least:.1f}", f"{row.ratio:.2f} x"))
        report.note(found.versions)
    report.say(table(("peer", "median us", "minimum us", "gluonish is"), texts))


def imports(place: Workplace, report: Report) -> None:
    """Time the imports, in turns."""
    arguments = place.arguments
    jobs = _jobs(place, CALLERS, "DenseCall", {}, report)
    samples: dict[str, list[float]] = {job.name: [] for job in jobs}
    environment = process_environment(arguments.threads)
    # An installed package has its bytecode; without it every import would compile again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for _ in range(arguments.rounds + 1):
        for job in list(jobs):
            command = [job.python, "-W", "ignore", "-c", IMPORT.format(PACKAGES[job.name])]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode:
                report.say(f"  {job.name}: {done.stderr.strip()[-200:]}")
                jobs.remove(job)
                del samples[job.name]
            else:
                samples[job.name].append(float(done.stdout))
    report.say("\nimport, milliseconds (fresh processes, files in the page cache)")
    texts = []
    for name, seconds in samples.items():
        found = [second * 1e3 for second in seconds[1:]]  # the first one warms the page cache
        texts.append((name, f"{statistics.median(found):.0f}", f"{min(found):.0f}"))
    report.say(table(("peer", "median", "minimum"), texts))


def start(place: Workplace, report: Report) -> None:
    """Time the first step, cold and warm."""
    arguments = place.arguments
    try:
        path, _ = place.describe("resnet50_v1")
    except PeerError as error:
        report.say(f"\n{error}")
        return
    options = {"network": path, "batch_size": arguments.batch_size}
    report.say(f"\nhybridize to first result, ResNet-50 training, batch {arguments.batch_size}, s")
    texts = []
    for job in _jobs(place, STARTERS, "Training", options, report):
        samples: dict[str, list[tuple[float, float]]] = {"cold": [], "warm": []}
        for _ in range(arguments.start_rounds):
            with tempfile.TemporaryDirectory(prefix="gluonish-caches-") as folder:
                for name in CACHES:
                    (Path(folder) / name).mkdir()
                    job.environment[name] = str(Path(folder) / name)
                try:
                    for state in samples.values():
                        state.append(_first_step(job, arguments.threads))
                except PeerError as error:
                    report.say(f"  {error}")
                    break
        if not samples["warm"]:
            continue
        for caches, pairs in samples.items():
            first, later = (statistics.median(column) for column in zip(*pairs, strict=True))
            texts.append((f"{job.name}, {caches}", f"{first:.2f}", f"{first - later:.2f}"))
    report.say(table(("peer", "first result", "set-up"), texts))


def _first_step(job: Job, threads: int) -> tuple[float, float]:
    """Seconds to the first result, and of a later step."""
    worker = Worker(job, threads)
    try:
        return worker.start_s, statistics.median(worker.run(1) for _ in range(3))
    finally:
        worker.end()


def _jobs(
    place: Workplace, known: tuple[str, ...], work: str, options: dict[str, object], report: Report
) -> list[Job]:
    """The jobs of the peers that were asked for and take part here."""
    jobs = []
    for name in place.names():
        if name.partition("+")[0] not in known:
            continue
        try:
            jobs.append(make_job(name, work, place.arguments, options))
        except PeerError as error:
            report.say(f"  {error}")
    return jobs


def main() -> None:
    """Measure the parts that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parts", default=",".join(PARTS), help="(default: %(default)s)")
    parser.add_argument("--batch-size", type=int, default=32, help="of the first training step")
    parser.add_argument("--start-rounds", type=int, default=1, help="cold and warm starts of each")
    parser.add_argument("--together", type=int, default=8)
    add_arguments(parser, "mxnet,torch_eager,torch_compile,jax")
    arguments = parser.parse_args()
    wanted = arguments.parts.split(",")
    if not set(wanted) <= set(PARTS):
        parser.error(f"expected --parts among {','.join(PARTS)}, got {arguments.parts}")
    report = Report()
    with ExitStack() as stack:
        place = Workplace(arguments, stack)
        asked = arguments.peers
        for part, run in zip(PARTS, (call, imports, start), strict=True):
            if part in wanted:
                keep = CALLERS if part == "call" else (*CALLERS, *STARTERS)
                arguments.peers = ",".join(n for n in asked.split(",") if n in keep)
                run(place, report)
        report.end()
