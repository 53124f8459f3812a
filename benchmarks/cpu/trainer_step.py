"""Time of one Trainer.step, against MXNet 1.9.1 and PyTorch's optimizers.

    python -m benchmarks.cpu trainer_step [--oracle python-with-mxnet] [--torch python-with-torch]

Two sets of float32 parameters: 200 of 1000 elements, and the 161 of ResNet-50 (25.6 million
elements). SGD with momentum 0.9 and weight decay, or with --optimizer another; gradients are there
and all work is done before a step, and its result is waited for. Each round starts a process of
each package in turn (A B A B); printed are medians over rounds of the median step of each process,
the smallest step of all, and the memory traffic that the median means when each array is read and
written once.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

MOMENTUM = {"sgd": 0.9}
# Arrays of a weight's size that a step reads, and that it writes.
TRAFFIC = {"sgd": 3 + 2, "adam": 4 + 3}


def small() -> list[int]:
    """Sizes of the 200 small parameters."""
    return [1000] * 200


def resnet50() -> list[int]:
    """Sizes of ResNet-50's parameters with gradients."""
    sizes = [64 * 3 * 49, 64, 64]
    width = 64
    for blocks, middle in ((3, 64), (4, 128), (6, 256), (3, 512)):
        out = 4 * middle
        for block in range(blocks):
            kernels = [(middle, width), (middle, 9 * middle), (out, middle)]
            kernels += [] if block else [(out, width)]
            sizes += [size for n, k in kernels for size in (n * k, n, n)]
            width = out
    return [*sizes, 1000 * 2048, 1000]


SETS = {"small": small, "resnet50": resnet50}


def gluon_step(mx: Any, sizes: list[int], optimizer: str) -> tuple[Callable[[], None], ...]:
    """Return what prepares a step, and the step."""
    params = [mx.gluon.Parameter(f"p{i}_weight", shape=(n,)) for i, n in enumerate(sizes)]
    for param in params:
        param.initialize(mx.init.Uniform(1))
    settings = {"learning_rate": 1e-3, "wd": 1e-4}
    if optimizer in MOMENTUM:
        settings["momentum"] = MOMENTUM[optimizer]
    trainer = mx.gluon.Trainer(params, optimizer, settings)

    def prepare() -> None:
        with mx.autograd.record():
            heads = [param.data() * 0.5 for param in params]
        mx.autograd.backward(heads)
        mx.nd.waitall()

    def step() -> None:
        trainer.step(1)
        mx.nd.waitall()

    return prepare, step


def torch_step(mode: str, sizes: list[int], optimizer: str) -> tuple[Callable[[], None], ...]:
    """The same with PyTorch's ``foreach`` or ``fused`` optimizers."""
    import torch

    params = [torch.nn.Parameter(torch.rand(n)) for n in sizes]
    for param in params:
        param.grad = torch.full_like(param, 0.5)
    settings = {"lr": 1e-3, "weight_decay": 1e-4, mode: True}
    if optimizer in MOMENTUM:
        settings["momentum"] = MOMENTUM[optimizer]
    kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
    return lambda: None, kinds[optimizer](params, **settings).step


def measure(package: str, sizes: list[int], optimizer: str, steps: int) -> tuple[float, float]:
    """Return the median and the smallest time of a step, in microseconds."""
    if package.startswith("torch_"):
        prepare, step = torch_step(package.removeprefix("torch_"), sizes, optimizer)
    else:
        prepare, step = gluon_step(__import__(package), sizes, optimizer)
    times = []
    for _ in range(steps + 3):
        prepare()
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return statistics.median(times[3:]) * 1e6, min(times[3:]) * 1e6


def _in_process(python: str, package: str, chosen: str, arguments: argparse.Namespace) -> Any:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'engine'}"}
    command = [python, "-W", "ignore", __file__, "--package", package, "--set", chosen]
    command += ["--optimizer", arguments.optimizer, "--steps", str(arguments.steps)]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=900, check=True
    )
    return [float(word) for word in result.stdout.split()[-2:]]


def main() -> None:
    """Measure the packages in turn, or one in this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", help="python of an environment with mxnet==1.9.1")
    parser.add_argument("--torch", help="python of an environment with torch")
    parser.add_argument("--package")
    parser.add_argument("--set", choices=tuple(SETS), help="only this set of parameters")
    parser.add_argument("--optimizer", choices=tuple(TRAFFIC), default="sgd")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.package:
        sizes = SETS[arguments.set]()
        print(*measure(arguments.package, sizes, arguments.optimizer, arguments.steps))
        return
    pythons = {"gluonish": sys.executable}
    if arguments.oracle:
        pythons["mxnet"] = arguments.oracle
    if arguments.torch:
        pythons |= {"torch_foreach": arguments.torch, "torch_fused": arguments.torch}
    for chosen in [arguments.set] if arguments.set else SETS:
        rounds: dict[str, list[list[float]]] = {name: [] for name in pythons}
        for _ in range(arguments.rounds):
            for name, python in pythons.items():
                rounds[name].append(_in_process(python, name, chosen, arguments))
        elements = sum(SETS[chosen]())
        print(f"{chosen}: {len(SETS[chosen]())} parameters, {elements} elements")
        ours = statistics.median(row[0] for row in rounds["gluonish"])
        for name, rows in rounds.items():
            median = statistics.median(row[0] for row in rows)
            speed = elements * 4 * TRAFFIC[arguments.optimizer] / median / 1e3
            print(
                f"  {name:14} median {median:8.0f} us   smallest {min(r[1] for r in rows):8.0f} us"
                f"   {speed:6.1f} GB/s   gluonish is {median / ours:.2f} x"
            )


if __name__ == "__main__":
    main()
