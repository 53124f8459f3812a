"""Time of one inference and one training step of a model-zoo network, against MXNet 1.9.1.

    python benchmarks/model_step.py --oracle /path/to/python-with-mxnet [--model resnet18_v1]

Each round starts a process of either package in turn (A B A B); printed are medians over rounds of
the median step of each process, and the ratio. Float32, 3x224x224, hybridized with static_alloc,
SGD with momentum, all cores.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def measure(mx: Any, model: str, batch_size: int, steps: int) -> tuple[float, float]:
    """Return the median times of an inference and of a training step, in milliseconds."""
    net = getattr(mx.gluon.model_zoo.vision, model)()
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True)
    images = mx.nd.random.uniform(shape=(batch_size, 3, 224, 224))
    labels = mx.nd.zeros((batch_size,))
    loss_function = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(
        net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9}
    )

    def infer() -> None:
        net(images).wait_to_read()

    def train() -> None:
        with mx.autograd.record():
            loss = loss_function(net(images), labels)
        loss.backward()
        trainer.step(batch_size)
        mx.nd.waitall()

    return _median_ms(infer, steps), _median_ms(train, steps)


def _median_ms(step: Any, steps: int) -> float:
    step()
    step()
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def _in_process(python: str, package: str, arguments: argparse.Namespace) -> list[float]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'engine'}"}
    command = [python, "-W", "ignore", __file__, "--package", package, "--model", arguments.model]
    command += ["--batch-size", str(arguments.batch_size), "--steps", str(arguments.steps)]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=900, check=True
    )
    return [float(word) for word in result.stdout.split()[-2:]]


def main() -> None:
    """Measure both packages in turn, or one in this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", help="python of an environment with mxnet==1.9.1")
    parser.add_argument("--package", choices=("gluonish", "mxnet"))
    parser.add_argument("--model", default="resnet18_v1")
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.package:
        package = __import__(arguments.package)
        print(*measure(package, arguments.model, arguments.batch_size, arguments.steps))
        return
    pythons = {"gluonish": sys.executable}
    if arguments.oracle:
        pythons["mxnet"] = arguments.oracle
    rounds: dict[str, list[list[float]]] = {name: [] for name in pythons}
    for _ in range(arguments.rounds):
        for name, python in pythons.items():
            rounds[name].append(_in_process(python, name, arguments))
    medians = {
        name: [statistics.median(column) for column in zip(*rows, strict=True)]
        for name, rows in rounds.items()
    }
    print(f"{arguments.model}, batch {arguments.batch_size}: milliseconds a step")
    for name, (inference, training) in medians.items():
        print(f"{name:10} inference {inference:8.1f}   training {training:8.1f}")
    if len(medians) == 2:
        ours, theirs = medians["gluonish"], medians["mxnet"]
        print(f"mxnet / gluonish: {theirs[0] / ours[0]:.2f}, {theirs[1] / ours[1]:.2f}")


if __name__ == "__main__":
    main()
