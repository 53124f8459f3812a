"""A training step on two CPU devices: with everything overlapping, and the same in sequence.

    python -m benchmarks.cpu two_devices

ResNet-18 of the model zoo, hybridized, 16 images on each of cpu(0) and cpu(1), SGD with momentum
through the default store. Three programs take turns in processes of their own; printed are medians.

- overlap: one wait at the end of each step.
- phases: a wait after the forward pass, after the backward pass and at the end.
- sequence: the same under MXNET_ENGINE_TYPE=NaiveEngine: one operation after the other, each on all
  cores.

The first one also tells from a trace of one step how much of the stores' sums ran while the
backward pass did, and for how long both devices computed at once.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ENGINES = {
    "overlap": "ThreadedEnginePerDevice",
    "phases": "ThreadedEnginePerDevice",
    "sequence": "NaiveEngine",
}


def make_step(mode: str, batch_size: int, image_size: int) -> Any:
    """Return a function that does one training step and waits for it."""
    import gluonish as mx
    from gluonish import autograd, gluon, nd

    contexts = [mx.cpu(0), mx.cpu(1)]
    net = gluon.model_zoo.vision.get_model("resnet18_v1")
    net.initialize(mx.init.Xavier(), ctx=contexts)
    net.hybridize(static_alloc=True, static_shape=True)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    loss.hybridize()
    settings = {"learning_rate": 1e-3, "momentum": 0.9}
    trainer = gluon.Trainer(net.collect_params(), "sgd", settings)
    shape = (batch_size, 3, image_size, image_size)
    data = [nd.random.uniform(shape=shape, ctx=context) for context in contexts]
    labels = [nd.zeros((batch_size,), ctx=context) for context in contexts]

    def step() -> None:
        with autograd.record():
            losses = [loss(net(x), y) for x, y in zip(data, labels, strict=True)]
        if mode == "phases":
            nd.waitall()
        autograd.backward(losses)
        if mode == "phases":
            nd.waitall()
        trainer.step(2 * batch_size)
        nd.waitall()

    return step


def covered(intervals: list[tuple[float, float]], others: list[tuple[float, float]]) -> float:
    """Return for how long one of some intervals and one of others hold at the same time."""
    marks = sorted({t for pair in (*intervals, *others) for t in pair})
    total = 0.0
    for start, end in pairwise(marks):
        if any(a <= start and end <= b for a, b in intervals) and any(
            a <= start and end <= b for a, b in others
        ):
            total += end - start
    return total


def trace(step: Any) -> dict[str, float]:
    """Return what one step's trace says, in seconds."""
    from gluonish.tools.env_checks.threads import engine_trace

    with engine_trace() as ran:
        step()

    def seconds(job: Any) -> tuple[float, float]:
        return job.start_ns / 1e9, job.stop_ns / 1e9

    sums = [seconds(x) for x in ran if x.name.startswith("kvstore")]
    backward = [seconds(x) for x in ran if x.name.endswith("_backward")]
    compute = [[seconds(x) for x in ran if x.lane == ("cpu", i, "compute")] for i in range(2)]
    return {
        "step_s": max(seconds(x)[1] for x in ran) - min(seconds(x)[0] for x in ran),
        "sums_s": sum(end - start for start, end in sums),
        "sums_during_backward_s": covered(sums, backward),
        "both_devices_compute_s": covered(*compute),
        "first_sum_before_end_of_backward_s": max(b for _, b in backward) - min(a for a, _ in sums),
    }


def work(mode: str, batch_size: int, image_size: int) -> None:
    """Be one of the programs: do steps when asked, and print how long they took."""
    step = make_step(mode, batch_size, image_size)
    for _ in range(3):
        step()
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "trace":
            print(json.dumps(trace(step)), flush=True)
            continue
        start = time.perf_counter()
        for _ in range(int(line)):
            step()
        print((time.perf_counter() - start) / int(line), flush=True)


class Program:
    """One of the programs in a process of its own."""

    def __init__(self, mode: str, arguments: argparse.Namespace) -> None:
        environment = {
            **os.environ,
            "MXNET_ENGINE_TYPE": ENGINES[mode],
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'engine'}",
        }
        command = [sys.executable, __file__, "--work", mode]
        command += ["--batch-size", str(arguments.batch_size)]
        command += ["--image-size", str(arguments.image_size)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, env=environment, stdin=pipe, stdout=pipe, text=True
        )
        assert self._read() == "ready"

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            raise RuntimeError("the program ended")
        return line

    def ask(self, question: str) -> str:
        """Send a line and return the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{question}\n")
        self._process.stdin.flush()
        return self._read()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def main() -> None:
    """Measure all programs in turn, or be one of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", choices=tuple(ENGINES), help=argparse.SUPPRESS)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--image-size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=2, help="steps in a turn")
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work, arguments.batch_size, arguments.image_size)
        return
    programs = {mode: Program(mode, arguments) for mode in ENGINES}
    samples: dict[str, list[float]] = {mode: [] for mode in programs}
    for _ in range(arguments.rounds):
        for mode, program in programs.items():
            samples[mode].append(float(program.ask(str(arguments.steps))))
    traced = json.loads(programs["overlap"].ask("trace"))
    for program in programs.values():
        program.close()
    ours = statistics.median(samples["overlap"])
    for mode, taken in samples.items():
        median = statistics.median(taken)
        print(f"{mode:9} {median:7.4f} s a step (best {min(taken):.4f}), {median / ours:.2f} x")
    for name, value in traced.items():
        print(f"  {name:36} {value:7.4f}")


if __name__ == "__main__":
    main()
