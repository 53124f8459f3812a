"""Final losses of the tutorials of transformers, beside the same networks in PyTorch.

    python -m benchmarks.cpu tutorial_losses --torch PYTHON [--tutorials vit,lora] \\
        [--cifar10 FOLDER] [--mails FOLDER --weights FOLDER]

Each tutorial runs as it stands, and its counterpart of `tutorial_networks` in an environment with
torch and transformers, with the same seeds: batches and their order are equal, weights and dropout
are drawn from the same distributions by different generators. Printed are the losses of all seeds,
and the difference of their means in standard deviations of a seed (of both packages together). One
process runs at a time. ``--quick`` runs the quick forms.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.interleaved.report import table

ROOT = Path(__file__).resolve().parents[2]
# What a tutorial prints, by the names that its counterpart prints; the number is the group.
LOSSES = {
    "gpt_from_scratch": {"held-out loss": r"final held-out loss: (\S+)"},
    "vit": {"held-out loss": r"final held-out loss: (\d+\.\d+)"},
    "lora": {
        "base loss": r"read the novel: loss (\S+)",
        "all weights loss": r"all weights trained: final loss (\S+)",
        "adapter loss": r"adapter trained: final loss (\S+)",
    },
    "fine_tune_bert": {
        "random weights loss": r"random weights: final held-out loss (\d+\.\d+)",
        "given weights loss": r"given weights: final held-out loss (\d+\.\d+)",
    },
}


def printed(command: list[str], path: str) -> str:
    """Run a program; return what it printed."""
    environment = {**os.environ, "PYTHONPATH": path}
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode:
        sys.exit(f"{' '.join(command)}: {result.stderr[-2000:]}")
    return result.stdout


def loss_of(text: str, pattern: str) -> float:
    """Return the number that a pattern finds."""
    found = re.search(pattern, text)
    if found is None:
        sys.exit(f"expected {pattern!r} in what was printed, got:\n{text[-2000:]}")
    return float(found[1])


def losses(arguments: argparse.Namespace, name: str, seed: int) -> list[tuple[float, float]]:
    """Return each loss of a tutorial and of its counterpart with one seed."""
    given = ["--seed", str(seed), *(["--quick"] if arguments.quick else [])]
    ours, theirs = list(given), list(given)
    if name == "vit" and arguments.cifar10:
        ours += ["--data", arguments.cifar10]
        theirs += ["--data", arguments.cifar10]
    if name == "fine_tune_bert":
        ours += ["--mails", arguments.mails, "--weights", arguments.weights]
        theirs += ["--data", arguments.mails, "--weights", arguments.weights]
    with tempfile.TemporaryDirectory() as folder:
        tutorial = [sys.executable, f"tutorials/{name}.py", *ours, "--out", folder]
        here = printed(tutorial, f"{ROOT}{os.pathsep}{ROOT / 'engine'}")
    peer = [arguments.torch, "-m", "benchmarks.cpu.tutorial_networks", name, *theirs]
    there = printed(peer, str(ROOT))
    pairs = [
        (loss_of(here, pattern), loss_of(there, rf"{label}: (\S+)"))
        for label, pattern in LOSSES[name].items()
    ]
    print(f"{name}, seed {seed}: gluonish and PyTorch {pairs}", file=sys.stderr, flush=True)
    return pairs


def row(label: str, ours: list[float], theirs: list[float]) -> list[str]:
    """Return a line of the table."""
    inside = sum(min(theirs) <= x <= max(theirs) for x in ours)
    apart = statistics.mean(ours) - statistics.mean(theirs)
    spread = 0.0
    if len(ours) > 1:
        spread = ((statistics.variance(ours) + statistics.variance(theirs)) / 2) ** 0.5
    columns = [" ".join(f"{x:.4f}" for x in values) for values in (ours, theirs)]
    deviations = f"{apart / spread:+.1f}" if spread else "-"
    return [label, *columns, f"{inside} of {len(ours)}", f"{apart:+.4f}", deviations]


def main() -> None:
    """Run tutorials and counterparts, and print their losses."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--torch", required=True, help="Python with torch and transformers")
    parser.add_argument("--tutorials", default=",".join(LOSSES), help="comma-separated")
    parser.add_argument("--seeds", default="1,2,3", help="comma-separated")
    parser.add_argument("--cifar10", help="folder of the .bin files of CIFAR-10, for vit")
    parser.add_argument("--mails", help="folder of mails, for fine_tune_bert")
    parser.add_argument("--weights", help="folder of a BERT, for fine_tune_bert")
    parser.add_argument("--quick", action="store_true", help="the quick forms")
    arguments = parser.parse_args()
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    rows = []
    for name in arguments.tutorials.split(","):
        found = [losses(arguments, name, seed) for seed in seeds]
        for place, label in enumerate(LOSSES[name]):
            ours, theirs = zip(*(seed[place] for seed in found), strict=True)
            rows.append(row(f"{name}, {label}", list(ours), list(theirs)))
            print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    header = ("", f"gluonish, seeds {arguments.seeds}", "PyTorch, the same seeds")
    print(table([*header, "in its range", "difference", "deviations"], rows))
