"""Accuracy of the complete recipe of image_recipe.py on CIFAR-10, beside PyTorch and torchvision.

    python -m benchmarks.cpu image_recipe --torch PYTHON --cifar10 FOLDER [--minutes 20]

The tutorial ``image_recipe.py --only`` and `image_recipe_torch`, in an environment with torch and
torchvision, train in turns with the same seeds, one process at a time. Weights, batches and
augmentations are drawn from the same distributions by different generators. Printed are the
held-out accuracies of all seeds, and the difference of their means in standard deviations of a
seed. ``--minutes`` gives both packages equal time instead of equal epochs. ``--quick`` takes the
digits of gluonish instead.
"""

import argparse
import os
import sys
import tempfile
import time

from benchmarks.cpu.tutorial_losses import ROOT, loss_of, printed, row
from benchmarks.interleaved.report import table

FINAL = r"final held-out accuracy: (\S+)"


def accuracies(arguments: argparse.Namespace, seed: int) -> tuple[float, float]:
    """Return the accuracies of the tutorial and of its counterpart."""
    given = ["--seed", str(seed), "--workers", str(arguments.workers)]
    given += ["--width", str(arguments.width)]
    for name in ("epochs", "minutes"):
        if getattr(arguments, name) is not None:
            given += [f"--{name}", str(getattr(arguments, name))]
    given += ["--quick"] if arguments.quick else ["--data", arguments.cifar10]
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        tutorial = [sys.executable, "tutorials/image_recipe.py", "--only", *given, "--out", folder]
        ours = loss_of(printed(tutorial, f"{ROOT}{os.pathsep}{ROOT / 'engine'}"), FINAL)
    middle = time.perf_counter()
    peer = [arguments.torch, "-m", "benchmarks.cpu.image_recipe_torch", *given]
    theirs = loss_of(printed(peer, str(ROOT)), FINAL)
    took = middle - begin, time.perf_counter() - middle
    print(
        f"seed {seed}: gluonish {ours:.4f} in {took[0]:.0f} s, PyTorch {theirs:.4f} in "
        f"{took[1]:.0f} s",
        file=sys.stderr,
        flush=True,
    )
    return ours, theirs


def main() -> None:
    """Train in turns, and print the accuracies."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--torch", required=True, help="Python with torch and torchvision")
    parser.add_argument("--cifar10", help="folder of the .bin files of CIFAR-10")
    parser.add_argument("--seeds", default="1,2,3", help="comma-separated")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--epochs", type=int, help="of each training")
    length.add_argument("--minutes", type=float, help="of each training")
    parser.add_argument("--width", type=int, default=16, help="channels of the first layer")
    parser.add_argument("--workers", type=int, default=1, help="processes that load images")
    parser.add_argument("--quick", action="store_true", help="digits instead")
    arguments = parser.parse_args()
    if not arguments.quick and not arguments.cifar10:
        parser.error("--cifar10 or --quick is required")
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    ours, theirs = zip(*(accuracies(arguments, seed) for seed in seeds), strict=True)
    length_of = f"{arguments.epochs or 'the usual'} epochs"
    if arguments.minutes:
        length_of = f"{arguments.minutes} minutes"
    header = (f"accuracy after {length_of}", f"gluonish, seeds {arguments.seeds}", "PyTorch")
    rows = [row("complete recipe", list(ours), list(theirs))]
    print(table([*header, "in its range", "difference", "deviations"], rows))


if __name__ == "__main__":
    main()
