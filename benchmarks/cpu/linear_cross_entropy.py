"""linear_cross_entropy beside a dense layer and softmax cross entropy of whole scores.

    python -m benchmarks.cpu linear_cross_entropy --shapes 4096x768x50257 [--dtype bfloat16]

A step is forward and backward of the mean loss over rows x features x classes, with gradients of
data and weight. Each kind runs in a process of its own, in turns; printed are the medians of the
CPU time of a step and of the peak of resident memory beyond data, weight and gradients, and the
ratios to whole scores: time above 1 is faster.
"""

import argparse
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import gluonish as mx

_KINDS = ("whole", "slices", "recompute")
_PAGE = 4096


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE


def _loss(kind: str, x: Any, weight: Any, label: Any) -> Any:
    if kind != "whole":
        return mx.nd.linear_cross_entropy(
            x, weight, label, reduction="mean", recompute=kind == "recompute"
        )
    scores = mx.nd.FullyConnected(x, weight, num_hidden=weight.shape[0], no_bias=True)
    return mx.gluon.loss.SoftmaxCrossEntropyLoss()(scores, label).mean()


def _one(kind: str, shape: tuple[int, ...], dtype: str, steps: int) -> None:
    """Print the CPU time of a step in seconds, and the peak of memory in bytes."""
    rows, features, classes = shape
    x = mx.nd.random.normal(shape=(rows, features)).astype(dtype)
    weight = (mx.nd.random.normal(shape=(classes, features)) * 0.02).astype(dtype)
    label = mx.nd.array(np.random.default_rng(0).integers(0, classes, rows), dtype="int32")
    for array in (x, weight):
        array.attach_grad()
        array.grad[:] = 1  # in memory
    _loss(kind, x[:64], weight, label[:64]).wait_to_read()
    before, peak = _resident(), 0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, _resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    took = []
    for _ in range(steps):
        begin = time.process_time()
        with mx.autograd.record():
            loss = _loss(kind, x, weight, label)
        loss.backward()
        mx.nd.waitall()
        took.append(time.process_time() - begin)
    done.set()
    watcher.join()
    print(min(took), peak - before)


def _measure(text: str, dtype: str, rounds: int, steps: int) -> None:
    found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in _KINDS}
    for _ in range(rounds):
        for kind in _KINDS:
            command = [sys.executable, "-m", "benchmarks.cpu", "linear_cross_entropy"]
            command += ["--one", kind, "--shapes", text, "--dtype", dtype, "--steps", str(steps)]
            made = subprocess.run(command, capture_output=True, text=True, check=True)
            seconds, nbytes = made.stdout.split()[-2:]
            found[kind].append((float(seconds), float(nbytes)))
    medians = {
        kind: [statistics.median(column) for column in zip(*rows, strict=True)]
        for kind, rows in found.items()
    }
    rows, _, classes = map(int, text.split("x"))
    scores = rows * classes * (2 if dtype == "bfloat16" else 4)
    seconds, nbytes = medians["whole"]
    for kind, (took, peak) in medians.items():
        print(
            f"{text:18} {dtype:9} {kind:10} {took:8.3f} s  {peak / 1e6:8.1f} MB  "
            f"time {seconds / took:.2f}  memory {peak / nbytes:.3f}, "
            f"of the scores alone {peak / scores:.3f}",
            flush=True,
        )


def main() -> None:
    """Measure the shapes that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", default="4096x768x50257")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--one", choices=_KINDS, help="measure one kind in this process")
    arguments = parser.parse_args()
    for text in arguments.shapes.split(","):
        if arguments.one:
            shape = tuple(map(int, text.split("x")))
            _one(arguments.one, shape, arguments.dtype, arguments.steps)
        else:
            _measure(text, arguments.dtype, arguments.rounds, arguments.steps)


if __name__ == "__main__":
    main()
