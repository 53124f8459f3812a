"""Peak memory of training, gluonish beside its peers, each alone in a process of its own.

    python -m benchmarks.cpu training_memory --mxnet-python .. --peers-python ..
    python -m benchmarks.cpu training_memory --network bert_base --batch-size 8 \\
        --peers torch_eager,torch_compile --peers-python ..

A step is forward, softmax cross entropy, backward, and SGD with momentum, on synthetic data in
float32. Base: what is resident with the library loaded, before there is a model. Peak: the most
that was resident until the last step ended. What counts is the difference: weights, gradients,
momentum, activations, scratch, and whatever was compiled. The losses of the first three steps are
compared with gluonish's. Time is that of the steps after the first, with the machine to itself.
"""

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.interleaved.compare import Workplace
from benchmarks.interleaved.driver import Job, PeerError, Worker
from benchmarks.interleaved.peers import add_arguments, make_job
from benchmarks.interleaved.report import Report, table

PEERS = "gluonish+mirror,mxnet,torch_eager,torch_cl,torch_compile"
BERT = "bert_base"  # of which MXNet has no published description
TOLERANCE = 0.01  # of losses three steps apart


def job_of(name: str, arguments: argparse.Namespace, network: str) -> Job:
    """Return what a peer does; ``network`` is a description's path, or ``bert_base``."""
    job = make_job(
        name, "Training", arguments, {"network": network, "batch_size": arguments.batch_size}
    )
    if network != BERT:
        return job
    is_own = name.startswith("gluonish")
    options: dict[str, Any] = {"batch_size": arguments.batch_size}
    options["package"] = "gluonish" if is_own else "torch"
    if job.options.get("compiled"):
        options["compiled"] = True
    kind = "Gluonish" if is_own else "Torch"
    return Job(name, job.python, "bert_jobs", kind, options, job.environment)


def measure(
    name: str, arguments: argparse.Namespace, network: str, folder: Path
) -> tuple[dict[str, Any], Any]:
    """Run one peer alone; return its figures and its losses.

    Raises:
        PeerError: if it fails.
    """
    worker = Worker(job_of(name, arguments, network), arguments.threads)
    try:
        losses = np.load(worker.check(folder))
        seconds = [worker.run(1) for _ in range(arguments.steps)]
    finally:
        worker.end()
    figures = {
        "base_mb": worker.base_mb,
        "peak_mb": worker.peak_mb,
        "above_base_mb": worker.peak_mb - worker.base_mb,
        "step_s": min(seconds),
        "versions": worker.versions,
    }
    return figures, losses


def main() -> None:
    """Measure one network."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--network", default="resnet50_v1")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--steps", type=int, default=2, help="after the three that are compared")
    add_arguments(parser, PEERS)
    arguments = parser.parse_args()
    report = Report()
    report.say(f"\n{arguments.network}, batch {arguments.batch_size}, float32, training")
    rows = []
    ours: dict[str, Any] = {}
    with ExitStack() as stack:
        place = Workplace(arguments, stack)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        path = BERT if arguments.network == BERT else place.describe(arguments.network)[0]
        for name in place.names():
            try:
                found, losses = measure(name, arguments, path, folder)
            except PeerError as error:
                report.say(f"{name}: {error}")
                continue
            if not ours:
                ours = {**found, "losses": losses}
            gap = float(np.abs(losses - ours["losses"]).max() / np.abs(ours["losses"]).max())
            share = ours["above_base_mb"] / found["above_base_mb"]
            rows.append(
                [
                    name,
                    *(f"{found[key]:.0f}" for key in ("base_mb", "peak_mb", "above_base_mb")),
                    f"{share:.2f} x",
                    f"{found['step_s']:.2f}",
                    "same" if gap <= TOLERANCE else f"losses {gap:.1%} off",
                ]
            )
            report.note(found["versions"])
    header = ["peer", "base MB", "peak MB", "above base", "gluonish takes", "s a step", "losses"]
    report.say(table(header, rows))
    report.end()
